//! Addresses of photos.

use std::fmt;

/// Reason why a text is not the address of a photo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PhotoUrlError {
    /// The address is not `http` or `https`.
    #[error("must be an http or https address")]
    NotHttp,
    /// The address has too many characters.
    #[error("must have at most {} characters", PhotoUrl::MAX)]
    TooLong,
}

/// Returns `true` if the text contains white space or a control character. Nearly every address is visible ASCII, which
/// the scan without branches confirms fast.
fn has_gaps(text: &str) -> bool {
    let other = text.bytes().fold(false, |found, byte| found | !byte.is_ascii_graphic());
    other && text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// Address of a photo: an absolute `http` or `https` URL of at most 2048 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhotoUrl(String);

impl PhotoUrl {
    /// Maximum length, in characters.
    pub const MAX: usize = 2048;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, PhotoUrlError> {
        let text = text.trim();
        // A text never has more characters than bytes.
        if text.len() > Self::MAX && text.chars().count() > Self::MAX {
            return Err(PhotoUrlError::TooLong);
        }
        let (scheme, rest) = text.split_once(':').ok_or(PhotoUrlError::NotHttp)?;
        let rest = rest.strip_prefix("//").ok_or(PhotoUrlError::NotHttp)?;
        let http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        if !http || rest.is_empty() || rest.starts_with(['/', '?', '#']) || has_gaps(rest) {
            return Err(PhotoUrlError::NotHttp);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<PhotoUrl> for String {
    fn from(url: PhotoUrl) -> Self {
        url.0
    }
}

impl fmt::Display for PhotoUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photo_is_found_over_http() {
        for good in ["https://cdn.example/a.jpg", " http://localhost:8080 ", "HTTPS://пример.рф/фото.png?v=2"]
        {
            assert!(PhotoUrl::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.jpg",
            "http:",
            "http:/a",
            "http:a://b",
            "http://#a",
            "http://a\u{85}b",
            "//cdn.example/a",
            "ftp://a/b",
            "javascript:alert(1)",
            "https:///a",
            "http://a b/c",
        ] {
            assert_eq!(PhotoUrl::parse(bad), Err(PhotoUrlError::NotHttp), "{bad}");
        }
        assert_eq!(PhotoUrl::parse(&format!("https://a/{}", "x".repeat(2048))), Err(PhotoUrlError::TooLong));
    }

    #[test]
    fn an_address_is_kept_as_it_was_written_up_to_its_longest() {
        let longest = format!("https://a/{}", "ф".repeat(2038));
        assert_eq!(longest.chars().count(), PhotoUrl::MAX);
        for text in ["http://a/b.jpg", &longest] {
            let url = PhotoUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.to_string().as_str()), (text, text));
            assert_eq!(String::from(url), text);
        }
        assert_eq!(PhotoUrl::parse(&format!("{longest}ф")), Err(PhotoUrlError::TooLong));
        assert!(PhotoUrl::parse(&format!("https://a/{}", "x".repeat(2038))).is_ok());
    }
}
