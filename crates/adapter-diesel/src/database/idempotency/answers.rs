//! Table of stored responses. Rows are in the order of their requests, separate from the keys: a response is appended
//! at the end of its table, while its key is inserted at a random place of another.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use diesel::result::QueryResult;

use super::rows::StoredResponse;
use crate::database::AnyConnection;
use crate::statement::{Statement, Value};

/// Lifetime of a key and of its response.
pub(super) const KEY_LIFE: TimeDelta = TimeDelta::hours(48);

/// Low bits of a number, which distinguish responses of the same millisecond. The higher bits are milliseconds since
/// the epoch and suffice until the year 2109.
const BITS: u32 = 21;

/// Generator of the response numbers of a process.
#[derive(Debug, Default)]
pub struct ResponseNumbers {
    last: AtomicI64,
}

impl ResponseNumbers {
    /// Returns the number for the response to a request of this time. Random bits keep processes apart. If two
    /// processes draw the same number, the second response is not stored. The first is never sent for the other
    /// request, because only its own client can decrypt it.
    pub fn next(&self, at: DateTime<Utc>, random: u32) -> i64 {
        let number = first_of(at) + i64::from(random & ((1 << BITS) - 1));
        let after = |last: i64| Some(number.max(last + 1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        number.max(last.unwrap_or_default() + 1)
    }
}

fn first_of(moment: DateTime<Utc>) -> i64 {
    moment.timestamp_millis() << BITS
}

/// Returns the greatest number whose response has expired.
pub(crate) fn last_expired_number(now: DateTime<Utc>) -> i64 {
    first_of(now - KEY_LIFE) + (1 << BITS) - 1
}

/// Maximum responses per statement.
const CHUNK: usize = 64;

/// Stores responses whose keys still hold the number of the response.
pub(super) fn insert(connection: &mut AnyConnection, answers: &[&StoredResponse]) -> QueryResult<()> {
    for some in answers.chunks(CHUNK) {
        let rows = some.iter().map(|saved| -> [Value; 3] {
            [saved.claim.id.as_str().into(), saved.claim.answer_number.into(), saved.answer.clone().into()]
        });
        let insert = Statement::new(
            "INSERT INTO idempotency_answers (number, answer) SELECT k.answer_number, v.column3 FROM (VALUES ",
        )
        .tuples(rows)
        .sql(") AS v JOIN idempotency_keys k ON k.id = v.column1 AND k.answer_number = v.column2 WHERE TRUE")
        // A concurrent deletion of the key waits, and then deletes the response too.
        .locked(connection, " FOR SHARE OF k")
        .sql(" ON CONFLICT (number) DO NOTHING");
        // A single response and a full chunk are the common cases; their statements stay prepared.
        let insert = if matches!(some.len(), 1 | CHUNK) { insert } else { insert.once() };
        insert.run(connection)?;
    }
    Ok(())
}

/// Deletes responses.
pub(super) fn forget(connection: &mut AnyConnection, numbers: &[i64]) -> QueryResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    Statement::new("DELETE FROM idempotency_answers WHERE number").among(numbers).run(connection).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_ascend_and_hold_as_long_as_their_keys() {
        let at = moment("2026-06-30T12:00:00.500Z");
        let numbers = ResponseNumbers::default();
        let (first, second) = (numbers.next(at, u32::MAX), numbers.next(at, 0));
        assert_eq!(second, first + 1);
        assert!(numbers.next(at + TimeDelta::seconds(1), 0) > second);
        assert!(ResponseNumbers::default().next(at, 1) != ResponseNumbers::default().next(at, 2));
        let end = at + KEY_LIFE;
        assert!(last_expired_number(end - TimeDelta::milliseconds(1)) < first && first <= last_expired_number(end));
    }

    #[test]
    fn there_are_numbers_for_a_long_time() {
        assert!(ResponseNumbers::default().next(moment("2109-01-01T00:00:00Z"), u32::MAX) > 0);
    }
}
