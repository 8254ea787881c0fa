use std::ops::Deref;

use kontor_kernel::wraps_text;

/// Error: the text is not a slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} lowercase Latin letters, digits, hyphens and underscores", Slug::MAX)]
pub struct InvalidSlug;

/// Slug of a record: 1 to 100 of `a` to `z`, `0` to `9`, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slug(String);

impl Slug {
    /// Maximum length, in characters.
    pub const MAX: usize = 100;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, InvalidSlug> {
        let text = text.trim();
        let fits = |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, b'-' | b'_');
        let formed = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(fits);
        if formed { Ok(Self(text.to_owned())) } else { Err(InvalidSlug) }
    }

    /// Creates a slug from a name, transliterated to Latin letters. Returns `instead` if nothing of it is a letter or a
    /// digit.
    pub fn of(name: &str, instead: &'static str) -> Self {
        let whole = slug::slugify(name);
        let short: String = whole.chars().take(Self::MAX).collect();
        let trimmed = short.trim_matches('-');
        Self(if trimmed.is_empty() { instead.to_owned() } else { trimmed.to_owned() })
    }

    /// Returns the slug with a number appended, for use if it is taken.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Self {
        let end = format!("-{number}");
        let room = Self::MAX.saturating_sub(end.len());
        let start: String = self.0.chars().take(room).collect();
        Self(format!("{}{end}", start.trim_end_matches('-')))
    }
}

wraps_text!(Slug);

impl Deref for Slug {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Slug> for String {
    fn from(slug: Slug) -> Self {
        slug.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_part_of_an_address() {
        for good in ["about", " nav_panel ", "2026-11", &"a".repeat(100)] {
            assert!(Slug::parse(good).is_ok(), "{good}");
        }
        for bad in ["", " ", "a/b", "..", "a.b", "About", "о-нас", "a b", "\u{202e}a", "a\u{200f}", &"a".repeat(101)]
        {
            assert_eq!(Slug::parse(bad), Err(InvalidSlug), "{bad}");
        }
    }

    #[test]
    fn a_name_becomes_latin() {
        for (name, slug) in [
            ("О компании", "o-kompanii"),
            ("Щука и ёж!", "shchuka-i-iozh"),
            ("Größe & Maße", "grosse-masse"),
            ("  --  ", "page"),
            ("\u{202e}", "page"),
        ] {
            assert_eq!(Slug::of(name, "page").as_str(), slug, "{name}");
        }
        let long = Slug::of(&"слово ".repeat(60), "page");
        assert!(long.len() <= Slug::MAX && Slug::parse(&long).is_ok());
        assert_eq!(Slug::of("a", "page").numbered(12).as_str(), "a-12");
        let numbered = long.numbered(1_000_000);
        assert!(numbered.len() <= Slug::MAX && Slug::parse(&numbered).is_ok(), "{numbered}");
    }
}
