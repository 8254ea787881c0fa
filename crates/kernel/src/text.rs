//! Bounded texts, and HTML written by people and shown in other people's browsers. Characters that look alike are
//! normalized: composed and decomposed letters, invisible characters, no-break spaces.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use unicode_normalization::UnicodeNormalization;

/// Returns `true` if the text has a byte that control characters consist of: below the space, `DEL`, or the first byte
/// of U+0080 to U+009F. The scan without branches decides most texts of a catalog fast.
#[expect(clippy::needless_bitwise_bool, reason = "without a branch per byte the bytes are looked at in blocks")]
fn may_have_controls(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | (byte < b' ') | (byte == 0x7F) | (byte == 0xC2))
}

/// Reason why a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text is empty or only white space.
    #[error("must not be empty")]
    Empty,
    /// The text has more characters than the field allows.
    #[error("must have at most {0} characters")]
    TooLong(usize),
    /// The text contains control characters.
    #[error("must not contain control characters")]
    ControlCharacter,
}

/// One line of text: trimmed, 1 to `MAX` characters, no control characters. Texts that look alike are equal: letters
/// are composed (NFC), no-break spaces become spaces, soft hyphens and zero-width characters are removed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line<const MAX: usize>(String);

/// Name of a record: one line of at most 255 characters.
pub type Name = Line<255>;

impl<const MAX: usize> Line<MAX> {
    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let text = plain(text);
        let text = text.trim();
        Self::check(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Does the same as [`Line::parse`] and reuses the allocation if there is nothing to trim.
    pub fn from_string(text: String) -> Result<Self, TextError> {
        if text.trim().len() < text.len() || matches!(plain(&text), Cow::Owned(_)) {
            return Self::parse(&text);
        }
        Self::check(&text)?;
        Ok(Self(text))
    }

    fn check(text: &str) -> Result<(), TextError> {
        if text.is_empty() {
            return Err(TextError::Empty);
        }
        if may_have_controls(text) && text.chars().any(char::is_control) {
            return Err(TextError::ControlCharacter);
        }
        // A text never has more characters than bytes.
        if text.len() > MAX && text.chars().count() > MAX { Err(TextError::TooLong(MAX)) } else { Ok(()) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text in lower case, the form in which names are compared and sorted.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl<const MAX: usize> fmt::Display for Line<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MAX: usize> Deref for Line<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> From<Line<MAX>> for String {
    fn from(line: Line<MAX>) -> Self {
        line.0
    }
}

/// Lets types that wrap one checked text be read: `as_str` and `Display` return it.
#[macro_export]
macro_rules! wraps_text {
    ($name:ident) => {
        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Text of several lines, such as an HTML description: 1 to 65,535 characters, kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prose(String);

impl Prose {
    /// Maximum length, in characters.
    pub const MAX: usize = 65_535;

    /// Refuses an empty text, a longer text, and control characters other than line breaks and tabs.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        if text.trim().is_empty() {
            return Err(TextError::Empty);
        }
        let forbidden = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if may_have_controls(text) && text.chars().any(forbidden) {
            return Err(TextError::ControlCharacter);
        }
        if text.len() > Self::MAX && text.chars().count() > Self::MAX {
            Err(TextError::TooLong(Self::MAX))
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Prose {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Prose> for String {
    fn from(prose: Prose) -> Self {
        prose.0
    }
}

/// Returns `false` for texts of ASCII, Greek and Cyrillic letters alone. The scan without branches decides most texts
/// fast.
#[expect(clippy::needless_bitwise_bool, reason = "without a branch per byte the bytes are looked at in blocks")]
fn may_have_look_alikes(text: &str) -> bool {
    text.bytes().fold(false, |found, byte| found | (byte == 0xC2) | (byte == 0xCC) | (byte == 0xCD) | (byte >= 0xD6))
}

/// Soft hyphens, zero-width spaces, byte order marks. Direction marks are not included, because they change how a text
/// looks.
fn is_invisible(sign: char) -> bool {
    matches!(sign, '\u{AD}' | '\u{34F}' | '\u{180E}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
}

/// Returns `true` if zero-width joiners after this letter have no effect. Other scripts and emoji need them.
fn is_joined_by_nothing(before: char) -> bool {
    before < '\u{590}' || matches!(before, '\u{1E00}'..='\u{1FFF}')
}

/// Returns the text with composed letters and ordinary spaces, without invisible characters.
fn plain(text: &str) -> Cow<'_, str> {
    if !may_have_look_alikes(text) {
        return Cow::Borrowed(text);
    }
    let mut before = ' ';
    let seen = text.chars().filter_map(|sign| match sign {
        '\u{A0}' | '\u{2007}' | '\u{202F}' => {
            before = ' ';
            Some(' ')
        }
        '\u{200C}' | '\u{200D}' if is_joined_by_nothing(before) => None,
        sign if is_invisible(sign) => None,
        sign => {
            before = sign;
            Some(sign)
        }
    });
    let plain: String = seen.nfc().collect();
    if plain == text { Cow::Borrowed(text) } else { Cow::Owned(plain) }
}

/// Encodes bytes as lower-case hexadecimal, two digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
    let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    String::from_utf8(digits).unwrap_or_default()
}

/// Removes everything from HTML that can do more than show text: scripts, event handlers, frames of other sites,
/// styles. Cleaning is idempotent.
pub trait HtmlCleaner: Send + Sync {
    /// Returns the cleaned HTML.
    fn clean(&self, html: &str) -> String;
}

/// Cleaned HTML, never blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeHtml(String);

impl SafeHtml {
    /// Cleans the HTML. Returns `None` if nothing remains.
    pub fn of(html: &str, cleaner: &dyn HtmlCleaner) -> Option<Self> {
        let left = cleaner.clean(html);
        (!left.trim().is_empty()).then_some(Self(left))
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<SafeHtml> for String {
    fn from(html: SafeHtml) -> Self {
        html.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_where_it_is_and_checked_alike() {
        for text in [
            "ёжи",
            " ёжи ",
            "",
            "и\u{306}",
            "a\u{ad}b",
            "\u{200b}",
            "a\nb",
            "a\u{85}b",
            "a\u{7f}",
            "a\u{a0}b",
            "длинный текст",
        ] {
            assert_eq!(Line::<4>::from_string(text.to_owned()), Line::parse(text), "{text:?}");
        }
        for control in (0..=0x2FF).filter_map(char::from_u32).filter(|c| c.is_control()) {
            assert_eq!(Name::parse(&format!("a{control}b")), Err(TextError::ControlCharacter), "{control:?}");
        }
    }

    #[test]
    fn bounds_count_characters() {
        assert_eq!(Line::<3>::parse("  ёжи ").unwrap().as_str(), "ёжи");
        assert_eq!(Line::<3>::parse("ёжик"), Err(TextError::TooLong(3)));
        assert_eq!(Name::parse("\u{a0}\t"), Err(TextError::Empty));
        assert_eq!(Name::parse("\u{200b}\u{feff} \u{ad}"), Err(TextError::Empty));
        assert_eq!(Line::<2>::parse("\u{feff}и\u{306}\u{a0}").unwrap().as_str(), "й");
        assert_eq!(Name::parse("a\nb"), Err(TextError::ControlCharacter));
        assert!(Prose::parse("<p>a</p>\n<p>b</p>").is_ok());
    }

    #[test]
    fn a_text_has_no_other_form_than_its_own() {
        let name = Name::parse(" Ёж ").unwrap();
        assert_eq!((&*name, name.as_str(), name.to_string().as_str(), name.key().as_str()), ("Ёж", "Ёж", "Ёж", "ёж"));
        assert_eq!(String::from(name), "Ёж");
        let prose = Prose::parse(" a\r\n\tb ").unwrap();
        assert_eq!((&*prose, prose.as_str()), (" a\r\n\tb ", " a\r\n\tb "), "kept as written");
        assert_eq!(String::from(prose), " a\r\n\tb ");
    }

    #[test]
    fn prose_has_its_own_bounds() {
        assert_eq!(Prose::parse(" \n"), Err(TextError::Empty));
        for control in ["a\u{0}", "a\u{1b}", "a\u{7f}", "a\u{85}"] {
            assert_eq!(Prose::parse(control), Err(TextError::ControlCharacter), "{control:?}");
        }
        for letter in ["a", "ё"] {
            assert!(Prose::parse(&letter.repeat(Prose::MAX)).is_ok());
            assert_eq!(Prose::parse(&letter.repeat(Prose::MAX + 1)), Err(TextError::TooLong(Prose::MAX)));
        }
    }

    #[test]
    fn look_alikes_are_one_text() {
        for text in ["\u{A0}a\u{202F}b", "a\u{200B}\u{AD}b", "\u{FEFF}ab", "a\u{200D}b", "a\u{2060}b"] {
            assert_eq!(plain(text).replace(' ', ""), "ab", "{text:?}");
        }
        for (typed, text) in [
            ("Чайный дом", "Чайный дом"),
            ("Чаи\u{306}ныи\u{306} дом\u{200B}", "Чайный дом"),
            ("Чайный\u{A0}дом", "Чайный дом"),
            ("e\u{200B}\u{301}", "é"),
            ("\u{1EB9}\u{200D}", "\u{1EB9}"),
            ("👩\u{200D}🍳 Chef", "👩\u{200D}🍳 Chef"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"),
            ("\u{200B}\u{AD}\u{FEFF}", ""),
        ] {
            assert_eq!(plain(typed), text);
            assert!(matches!(plain(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex(&[0x00, 0x09, 0x0a, 0x90, 0xa0, 0xff]), "00090a90a0ff");
        assert_eq!(hex(&[]), "");
    }

    struct NoTags;

    impl HtmlCleaner for NoTags {
        fn clean(&self, html: &str) -> String {
            html.replace("<b>", "")
        }
    }

    #[test]
    fn nothing_left_is_nothing() {
        assert_eq!(SafeHtml::of("<b>a", &NoTags).map(String::from).as_deref(), Some("a"));
        assert_eq!(SafeHtml::of("<b> ", &NoTags), None);
    }

    #[test]
    fn clean_html_is_what_the_cleaner_left() {
        assert_eq!(SafeHtml::of("<b> a ", &NoTags).unwrap().as_str(), " a ");
    }
}
