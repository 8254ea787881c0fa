use super::cell_list;
use crate::model::{Gallery, PhotoUrl};

/// Photos of an item in one cell: addresses, separated by white space, `|`, `,` or `;`.
///
/// These signs separate only where the next address begins or the text ends. An address that contains one can therefore
/// be written unescaped; see [`cell_list`].
pub(super) struct PhotoCell;

impl PhotoCell {
    /// Parses the addresses of a text.
    pub fn read(text: &str) -> Result<Gallery, String> {
        let photos: Result<Vec<PhotoUrl>, _> = text
            .split(char::is_whitespace)
            .flat_map(|text| cell_list::parts(text, starts_address))
            .filter(|url| !url.is_empty())
            .map(|url| PhotoUrl::parse(&url).map_err(|error| format!("{}: {error}", cut(&url))))
            .collect();
        Gallery::new(photos?).map_err(|error| error.to_string())
    }

    /// Returns the text that [`PhotoCell::read`] reads; `None` without photos.
    pub fn text_of(gallery: &Gallery) -> Option<String> {
        let urls: Vec<String> =
            gallery.photos().iter().map(|url| cell_list::escaped(url.as_str(), starts_address)).collect();
        (!urls.is_empty()).then(|| urls.join("\n"))
    }
}

/// Returns `true` if an address or only further separators follow.
fn starts_address(_: &str, _: char, after: &str) -> bool {
    let text = cell_list::after_separators(after);
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    text.is_empty() || begins("http://") || begins("https://")
}

/// Returns the start of an address, which leaves room for the reason.
fn cut(url: &str) -> String {
    url.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        PhotoCell::read(text).unwrap().photos().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn photos_are_read_back_as_they_were_written() {
        for urls in [
            vec!["https://a/1", "https://a/2"],
            vec!["https://a/x|y"],
            vec!["https://a/x|https://b/y", "https://c/|", "https://d/||e"],
            vec!["https://a/x,y;z", "https://a/x,", "https://a/x;|,", "https://a/x,https://b/y", "https://a/x\\,y"],
            vec!["https://a/x\\|y", "https://a/x\\\\|", "https://a/\\"],
        ] {
            let photos = urls.iter().map(|url| PhotoUrl::parse(url).unwrap()).collect();
            let gallery = Gallery::new(photos).unwrap();
            assert_eq!(PhotoCell::read(&PhotoCell::text_of(&gallery).unwrap()).unwrap(), gallery, "{urls:?}");
        }
        assert_eq!(PhotoCell::text_of(&Gallery::default()), None);
    }

    #[test]
    fn photos_are_split_at_the_usual_separators() {
        assert_eq!(
            read(" https://a/1|HTTP://a/2 | https://a/3||https://a/4| "),
            ["https://a/1", "HTTP://a/2", "https://a/3", "https://a/4"]
        );
        for text in [
            "https://a/1, https://a/2",
            "https://a/1;https://a/2;",
            "https://a/1,\nhttps://a/2",
            "https://a/1 ; https://a/2",
        ] {
            assert_eq!(read(text), ["https://a/1", "https://a/2"], "{text}");
        }
        assert_eq!(read("https://a/w_100,h_100/1.jpg"), ["https://a/w_100,h_100/1.jpg"]);
        assert_eq!(read("https://a/crop|100x100"), ["https://a/crop|100x100"], "as an earlier version wrote it");
        assert!(PhotoCell::read("https://a/1 a.jpg").is_err());
    }
}
