//! What filters of lists become in SQL.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use diesel::prelude::*;

use crate::database::AnyConnection;

/// What boxed queries are built for.
pub(super) type Backend = <AnyConnection as Connection>::Backend;

/// Escapes what a `LIKE` pattern would understand.
pub(super) const ESCAPE: char = '\\';

/// The pattern of a key that contains this text; the text is lower case already.
pub(super) fn containing(key: &str) -> String {
    let mut pattern = String::with_capacity(key.len() + 2);
    pattern.push('%');
    for letter in key.chars() {
        if matches!(letter, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// Whether the name or the article of an item contains this text, in any case.
macro_rules! item_contains {
    ($text:expr) => {{
        let pattern = $crate::catalog::search::containing(&$text.key());
        let named = nomenclatures::name_key.like(pattern.clone()).escape($crate::catalog::search::ESCAPE);
        let article = nomenclatures::article_key.assume_not_null();
        let numbered = article.like(pattern).escape($crate::catalog::search::ESCAPE);
        named.or(nomenclatures::article_key.is_not_null().and(numbered))
    }};
}
pub(super) use item_contains;

/// The first moment of a day.
pub(super) fn start(day: NaiveDate) -> NaiveDateTime {
    day.and_time(NaiveTime::MIN)
}

/// The first moment after a day.
pub(super) fn end(day: NaiveDate) -> NaiveDateTime {
    day.succ_opt().map_or(NaiveDateTime::MAX, start)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_pattern_means_its_text_and_nothing_else() {
        assert_eq!(super::containing("50%_\\"), "%50\\%\\_\\\\%");
    }
}
