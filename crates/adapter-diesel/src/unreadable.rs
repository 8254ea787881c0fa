//! Stored rows with invalid values: lists skip them, the log names them, a counter counts them. Reading a single such
//! row is an error, and so is a decision that depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use diesel::result::Error as QueryError;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection};

/// Maximum number of rows remembered as logged; beyond it a row may be logged again.
const MAX_LOGGED_ROWS: usize = 10_000;

#[derive(Default)]
struct LeftOut {
    by_table: BTreeMap<&'static str, u64>,
    named: BTreeSet<(&'static str, i64)>,
}

static LEFT_OUT: Mutex<LeftOut> = Mutex::new(LeftOut { by_table: BTreeMap::new(), named: BTreeSet::new() });

fn left_out() -> MutexGuard<'static, LeftOut> {
    LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns how often lists of this process skipped a row, by table.
pub fn count() -> Vec<(&'static str, u64)> {
    left_out().by_table.iter().map(|(table, count)| (*table, *count)).collect()
}

/// Counts a row that a list skips. It is logged once.
fn skip_unreadable(table: &'static str, id: i64, reason: &str) {
    let mut left_out = left_out();
    *left_out.by_table.entry(table).or_default() += 1;
    if left_out.named.len() >= MAX_LOGGED_ROWS {
        left_out.named.clear();
    }
    let is_new = left_out.named.insert((table, id));
    drop(left_out);
    if is_new {
        tracing::error!(table, id, reason, "a stored row cannot be read; lists leave it out");
    }
}

/// Returns the reason why a row cannot be read, if the error is of that kind.
fn reason<R>(abort: &Abort<R>) -> Option<String> {
    match abort {
        Abort::Store(error @ StoreError::Corrupt(_)) => Some(error.to_string()),
        Abort::Query(error @ QueryError::DeserializationError(_)) => Some(error.to_string()),
        _ => None,
    }
}

/// Readable records, and number and reason of each unreadable one.
pub(crate) type Partitioned<T> = (Vec<T>, Vec<(i64, String)>);

/// Loads records by their numbers. If one of them cannot be read, each is loaded separately.
pub(crate) fn apart<T, R>(
    connection: &mut AnyConnection,
    ids: &[i64],
    mut load: impl FnMut(&mut AnyConnection, &[i64]) -> Result<Vec<T>, Abort<R>>,
) -> Result<Partitioned<T>, Abort<R>> {
    match load(connection, ids) {
        Err(abort) if reason(&abort).is_some() => one_by_one(connection, ids, load),
        loaded => Ok((loaded?, Vec::new())),
    }
}

fn one_by_one<T, R>(
    connection: &mut AnyConnection,
    ids: &[i64],
    mut load: impl FnMut(&mut AnyConnection, &[i64]) -> Result<Vec<T>, Abort<R>>,
) -> Result<Partitioned<T>, Abort<R>> {
    let (mut records, mut unreadable) = (Vec::new(), Vec::new());
    for id in ids {
        match load(connection, &[*id]) {
            Ok(loaded) => records.extend(loaded),
            Err(abort) => match reason(&abort) {
                Some(reason) => unreadable.push((*id, reason)),
                None => return Err(abort),
            },
        }
    }
    Ok((records, unreadable))
}

fn without<T>(table: &'static str, (records, unreadable): Partitioned<T>) -> Vec<T> {
    for (id, reason) in unreadable {
        skip_unreadable(table, id, &reason);
    }
    records
}

/// Returns the records of a list with these numbers, without unreadable ones.
pub(crate) fn records<T, R>(
    connection: &mut AnyConnection,
    table: &'static str,
    ids: &[i64],
    load: impl FnMut(&mut AnyConnection, &[i64]) -> Result<Vec<T>, Abort<R>>,
) -> Result<Vec<T>, Abort<R>> {
    Ok(without(table, apart(connection, ids, load)?))
}

/// Returns the records of a list that `whole` reads, without unreadable ones. Only if there are unreadable ones, the
/// numbers are read and each record is loaded separately, in their order.
pub(crate) fn whole<T, R>(
    connection: &mut AnyConnection,
    table: &'static str,
    whole: impl FnOnce(&mut AnyConnection) -> Result<Vec<T>, Abort<R>>,
    numbers: impl FnOnce(&mut AnyConnection) -> Result<Vec<i64>, Abort<R>>,
    load: impl FnMut(&mut AnyConnection, &[i64]) -> Result<Vec<T>, Abort<R>>,
) -> Result<Vec<T>, Abort<R>> {
    match whole(connection) {
        Err(abort) if reason(&abort).is_some() => {}
        read => return read,
    }
    let ids = numbers(connection)?;
    Ok(without(table, one_by_one(connection, &ids, load)?))
}

/// Converts the rows of a list to records, without unreadable ones.
pub(crate) fn rows<Row, T>(
    table: &'static str,
    rows: impl IntoIterator<Item = Row>,
    id: impl Fn(&Row) -> i64,
    mut read: impl FnMut(Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut records = Vec::new();
    for row in rows {
        let id = id(&row);
        match read(row) {
            Ok(record) => records.push(record),
            Err(error @ StoreError::Corrupt(_)) => skip_unreadable(table, id, &error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_cannot_be_read_is_left_out_and_counted() {
        let read = |number: i64| match number {
            2 => Err(StoreError::corrupt("two")),
            number => Ok(number * 10),
        };
        let counted = || count().into_iter().find(|(table, _)| *table == "numbers").map_or(0, |(_, rows)| rows);
        assert_eq!(counted(), 0);
        assert_eq!(rows("numbers", [1, 2, 3], |number| *number, read).unwrap(), [10, 30]);
        assert_eq!(rows("numbers", [2], |number| *number, read).unwrap(), [0; 0]);
        assert_eq!(counted(), 2);
        let lost = |_: i64| Err::<i64, _>(StoreError::Unavailable("gone".to_owned()));
        assert!(rows("numbers", [1], |number| *number, lost).is_err(), "nothing is known of the row");
    }
}
