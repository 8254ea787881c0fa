//! The table of answers. They stand in the order of their requests, apart from the keys: an answer is an entry at the end of
//! one table, while its key is a row among random ones.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use diesel::result::QueryResult;

use super::rows::SavedAnswer;
use crate::database::AnyConnection;
use crate::statement::{Statement, Value};

/// How long a key holds, and its answer with it.
pub(super) const KEY_LIFE: TimeDelta = TimeDelta::hours(48);

/// Bits that tell answers of one moment apart. Those before them are milliseconds, enough of them until the year 2109.
const BITS: u32 = 21;

/// The numbers that a process gives to the answers of its requests.
#[derive(Debug, Default)]
pub struct AnswerNumbers {
    last: AtomicI64,
}

impl AnswerNumbers {
    /// The number of the answer to a request of this moment. Random bits keep processes apart; should two of them give the
    /// same number after all, the second answer is not kept, and none is given out for the other: it is sealed.
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

/// The last number whose answer holds no longer.
pub(crate) fn last_over(now: DateTime<Utc>) -> i64 {
    first_of(now - KEY_LIFE) + (1 << BITS) - 1
}

/// Answers that a statement stores at once.
const CHUNK: usize = 64;

/// Stores answers of those requests whose keys still are what they stored.
pub(super) fn insert(connection: &mut AnyConnection, answers: &[&SavedAnswer]) -> QueryResult<()> {
    for some in answers.chunks(CHUNK) {
        let rows = some.iter().map(|saved| -> [Value; 3] {
            [saved.claim.id.as_str().into(), saved.claim.answer_number.into(), saved.answer.clone().into()]
        });
        let insert = Statement::new(
            "INSERT INTO idempotency_answers (number, answer) SELECT k.answer_number, v.column3 FROM (VALUES ",
        )
        .tuples(rows)
        .sql(") AS v JOIN idempotency_keys k ON k.id = v.column1 AND k.answer_number = v.column2 WHERE TRUE")
        // Whoever forgets the key meanwhile finds the answer, too.
        .locked(connection, " FOR SHARE OF k")
        .sql(" ON CONFLICT (number) DO NOTHING");
        // One answer and a full statement are the common cases, and stay prepared.
        let insert = if matches!(some.len(), 1 | CHUNK) { insert } else { insert.once() };
        insert.run(connection)?;
    }
    Ok(())
}

/// Forgets answers.
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
        let numbers = AnswerNumbers::default();
        let (first, second) = (numbers.next(at, u32::MAX), numbers.next(at, 0));
        assert_eq!(second, first + 1);
        assert!(numbers.next(at + TimeDelta::seconds(1), 0) > second);
        assert!(AnswerNumbers::default().next(at, 1) != AnswerNumbers::default().next(at, 2));
        let end = at + KEY_LIFE;
        assert!(last_over(end - TimeDelta::milliseconds(1)) < first && first <= last_over(end));
    }

    #[test]
    fn there_are_numbers_for_a_long_time() {
        assert!(AnswerNumbers::default().next(moment("2109-01-01T00:00:00Z"), u32::MAX) > 0);
    }
}
