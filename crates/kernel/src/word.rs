//! Enums whose values are words.

use std::str::FromStr;

use strum::VariantArray;

/// Enum whose values have one word each, the same on the wire, in storage and in history entries. Use the derive macro:
///
/// ```
/// use kontor_kernel::Word;
///
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
/// #[strum(serialize_all = "snake_case")]
/// enum Season {
///     EarlySpring,
///     Summer,
/// }
///
/// assert_eq!(Season::EarlySpring.word(), "early_spring");
/// assert_eq!(Season::from_word("summer"), Some(Season::Summer));
/// assert_eq!(Season::from_word("SUMMER"), None);
/// assert_eq!(Season::all().len(), 2);
/// ```
pub trait Word: Copy + 'static {
    /// Returns the word.
    fn word(self) -> &'static str;

    /// Returns the value with exactly this word.
    fn from_word(word: &str) -> Option<Self>;

    /// Returns every value, in the order of declaration.
    fn all() -> &'static [Self];
}

impl<T: Copy + Into<&'static str> + FromStr + VariantArray> Word for T {
    fn word(self) -> &'static str {
        self.into()
    }

    fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    fn all() -> &'static [Self] {
        Self::VARIANTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HistoryAction;
    use crate::{Action, DiscountStatus};

    fn words<T: Word>() -> Vec<&'static str> {
        T::all().iter().map(|value| value.word()).collect()
    }

    #[test]
    fn stored_words_do_not_change() {
        assert_eq!(words::<Action>(), ["view", "create", "edit", "approve"]);
        assert_eq!(words::<HistoryAction>(), ["created", "changed", "deleted"]);
        assert_eq!(words::<DiscountStatus>(), ["active", "paused", "archived"]);
    }
    #[test]
    fn a_stored_word_is_read_as_what_it_was_written_of() {
        for status in DiscountStatus::all() {
            assert_eq!(DiscountStatus::from_word(status.word()), Some(*status));
        }
        assert_eq!(DiscountStatus::from_word("forgotten"), None);
    }
}
