//! Links that people follow, and addresses of photos and files.

use std::fmt;

use crate::{Line, Random, TextError};

/// Reason why a text is not a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The scheme is not allowed: following it could run code.
    #[error("must be a path or an http, https, mailto or tel address")]
    Scheme,
    /// The text is not a valid line.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// Link such as that of a banner, at most 500 characters: an `http`, `https`, `mailto` or `tel` address, or one
/// relative to the page. Following it cannot run code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(Line<{ Link::MAX }>);

impl Link {
    /// Maximum length, in characters.
    pub const MAX: usize = 500;

    /// Trims and checks the text. Control characters are refused, because browsers ignore them within a scheme.
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let line = Line::parse(text)?;
        if has_allowed_scheme(&line) { Ok(Self(line)) } else { Err(LinkError::Scheme) }
    }

    /// Returns the link.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Returns `true` if the text has an allowed scheme or none. A colon before the first `/`, `?` or `#` ends a scheme.
fn has_allowed_scheme(text: &str) -> bool {
    let head = text.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((scheme, _)) = head.split_once(':') else { return true };
    let rest = text.get(scheme.len() + 1..).unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => {
            rest.strip_prefix("//").is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#', '\\']))
        }
        "mailto" | "tel" => !rest.is_empty(),
        _ => false,
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Link> for String {
    fn from(link: Link) -> Self {
        link.0.into()
    }
}

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
}

crate::wraps_text!(PhotoUrl);

impl From<PhotoUrl> for String {
    fn from(url: PhotoUrl) -> Self {
        url.0
    }
}

/// Error: the text is not a file key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a file key must have {} letters and digits", FileKey::LENGTH)]
pub struct InvalidFileKey;

/// Key under which a file is stored: random letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileKey(String);

impl FileKey {
    /// Number of letters and digits: 238 random bits.
    pub const LENGTH: usize = 40;

    /// Generates a random key.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(Self::LENGTH))
    }

    /// Refuses other lengths and characters.
    pub fn parse(text: &str) -> Result<Self, InvalidFileKey> {
        let fits = text.len() == Self::LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidFileKey) }
    }
}

crate::wraps_text!(FileKey);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_link_leads_to_the_web_a_mailbox_a_phone_or_a_path() {
        for link in [
            "https://shop.example/sale?from=banner#top",
            "HTTP://shop.example",
            "https://пример.рф:8443/скидки",
            "mailto:shop@example.com?subject=Hi",
            "tel:+7 900 123-45-67",
            "/sale",
            "/sale?at=10:00",
            "//cdn.example/x",
            "sale/новый год",
            "?page=2",
            "#top:1",
        ] {
            assert_eq!(Link::parse(link).unwrap().as_str(), link);
        }
        assert_eq!(Link::parse(" /x ").unwrap().to_string(), "/x");
    }

    #[test]
    fn nothing_that_runs_is_a_link() {
        for link in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "javascript://shop.example/%0Aalert(1)",
            "vbscript:x",
            "data:text/html,<script>alert(1)</script>",
            "blob:https://shop.example/1",
            "file:///etc/passwd",
            "ftp://shop.example",
            "http:shop.example",
            "https:///shop.example",
            "http://",
            "http:\\\\shop.example",
            "mailto:",
            "tel:",
            "при:вет",
            ":x",
            "\u{feff}javascript:alert(1)",
        ] {
            assert_eq!(Link::parse(link), Err(LinkError::Scheme), "{link:?}");
        }
        for link in ["java\tscript:alert(1)", "java\nscript:alert(1)", "\u{1}javascript:alert(1)", "/a\u{85}b"] {
            assert_eq!(Link::parse(link), Err(LinkError::Text(TextError::ControlCharacter)), "{link:?}");
        }
        assert_eq!(Link::parse(" "), Err(LinkError::Text(TextError::Empty)));
        assert_eq!(Link::parse(&"x".repeat(501)), Err(LinkError::Text(TextError::TooLong(500))));
    }

    proptest! {
        #[test]
        fn normalizing_a_link_twice_changes_nothing(text in "[a-zA-Z:/?#\\\\ .%@\t\u{e000}-]{0,30}") {
            if let Ok(link) = Link::parse(&text) {
                prop_assert_eq!(Link::parse(link.as_str()), Ok(link.clone()));
                let runs = ["javascript:", "data:", "vbscript:"];
                prop_assert!(!runs.iter().any(|scheme| link.as_str().to_lowercase().starts_with(scheme)));
            }
        }
    }

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

    #[test]
    fn keys_are_letters_and_digits_of_one_length() {
        let key = "aZ09".repeat(10);
        assert_eq!(FileKey::parse(&key).map(|key| key.to_string()), Ok(key));
        for wrong in ["", "../../../../../../../../../../etc/passwd", "a", &"a".repeat(41), &"ё".repeat(20)] {
            assert_eq!(FileKey::parse(wrong), Err(InvalidFileKey), "{wrong}");
        }
    }

    #[test]
    fn a_new_key_is_a_key_and_its_own() {
        let random = crate::testing::CountingRandom::new();
        let (one, other) = (FileKey::generate(&random), FileKey::generate(&random));
        assert_eq!(FileKey::parse(one.as_str()), Ok(one.clone()));
        assert_ne!(one, other);
    }
}
