//! What filters of lists become in SQL.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use kontor_kernel::Line;

use crate::database::AnyConnection;
use crate::schema::nomenclatures;

/// What boxed queries are built for.
pub(super) type Backend = <AnyConnection as Connection>::Backend;

/// Escapes what a `LIKE` pattern would understand.
const ESCAPE: char = '\\';

/// The pattern of a key that contains this text; the text is lower case already.
fn containing(key: &str) -> String {
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
pub(super) fn item_contains(
    text: &Line<255>,
) -> Box<dyn BoxableExpression<nomenclatures::table, Backend, SqlType = Bool>> {
    let pattern = containing(&text.key());
    let named = nomenclatures::name_key.like(pattern.clone()).escape(ESCAPE);
    let numbered = nomenclatures::article_key.assume_not_null().like(pattern).escape(ESCAPE);
    Box::new(named.or(nomenclatures::article_key.is_not_null().and(numbered)))
}

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
