//! Normalization of texts that look alike: composed and decomposed letters, invisible characters, no-break spaces.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

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
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
