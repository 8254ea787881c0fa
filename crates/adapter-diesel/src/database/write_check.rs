//! Checks on the statements of a write operation, in tests:
//!
//! - An operation that changes cached data invalidates it.
//! - An operation that changes a record raises its version.
//! - A statement that locks rows reads no others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::invalidation::Invalidations;
use super::{Tables, VersionedTable};

const WRITES: [&str; 3] = ["INSERT INTO ", "UPDATE ", "DELETE FROM "];

struct Write {
    verb: &'static str,
    table: String,
    /// Columns that an update changes.
    columns: Vec<String>,
}

const LOCKS: [&str; 4] = [" FOR UPDATE", " FOR NO KEY UPDATE", " FOR SHARE", " FOR KEY SHARE"];

/// Statements of the operation that runs on a connection. The connection and its instrumentation share them.
#[derive(Clone, Default)]
pub(super) struct WriteCheck(Arc<Mutex<Statements>>);

#[derive(Default)]
struct Statements {
    written: Vec<Write>,
    /// Statement that locks rows and reads others.
    mixed: Option<String>,
}

/// Returns the text of a statement without its values.
fn text(statement: &str) -> &str {
    statement.split(" -- binds:").next().unwrap_or_default()
}

/// Start of the names of parts of a statement (`WITH`) that lock the rows they select.
const LOCKED: &str = "locked_";

/// Returns the number of tables that a statement reads. Lists of values and rows that it has locked do not count.
fn tables(text: &str) -> usize {
    let named = ["FROM ", "JOIN "].into_iter().flat_map(|word| text.split(word).skip(1));
    named.filter(|rest| !rest.trim_start_matches('(').starts_with("VALUES ") && !rest.starts_with(LOCKED)).count()
}

/// `true` if a statement locks rows and reads others. When such a statement waits for a lock, PostgreSQL returns the
/// locked rows as they are after the wait, but rows of joins and subqueries as they were before.
fn is_mixed(statement: &str) -> bool {
    let text = text(statement).replace(" AS (SELECT ", " AS SELECT ");
    let counted = format!("(SELECT count(*) FROM {LOCKED}");
    let locks: usize = LOCKS.iter().map(|lock| text.matches(lock).count()).sum();
    locks > 0 && (tables(&text) != locks || text.replace(&counted, "").contains("(SELECT "))
}

fn identifier(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches(['"', '`']);
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// `true` if a column is set to itself: this only locks the row.
fn is_same(column: &str, value: &str) -> bool {
    let value = value.trim().trim_end_matches(['"', '`']);
    value.strip_suffix(column).is_some_and(|before| before.is_empty() || before.ends_with(['.', '"', '`']))
}

/// Returns the columns that an update sets to another value. The argument is the text after `UPDATE `.
fn columns(update: &str) -> Vec<String> {
    let Some((_, set)) = update.split_once(" SET ") else { return Vec::new() };
    let (mut depth, mut start, mut columns) = (0_usize, 0, Vec::new());
    let mut column = |part: &str| {
        if let Some((name, value)) = part.split_once('=') {
            let name = identifier(name);
            if !is_same(name, value) {
                columns.push(name.to_owned());
            }
        }
    };
    for (place, letter) in set.char_indices() {
        let rest = set.get(place..).unwrap_or_default();
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                column(set.get(start..place).unwrap_or_default());
                start = place + 1;
            }
            ' ' if depth == 0 && [" WHERE ", " FROM ", " RETURNING "].iter().any(|end| rest.starts_with(end)) => {
                column(set.get(start..place).unwrap_or_default());
                return columns;
            }
            _ => {}
        }
    }
    column(set.get(start..).unwrap_or_default());
    columns
}

/// Returns the writes of a statement.
fn writes(statement: &str) -> impl Iterator<Item = Write> {
    let text = text(statement);
    WRITES.into_iter().flat_map(move |verb| {
        text.match_indices(verb).map(move |(place, _)| {
            let rest = text.get(place + verb.len()..).unwrap_or_default();
            let columns = if verb == "UPDATE " { columns(rest) } else { Vec::new() };
            Write { verb, table: identifier(rest).to_owned(), columns }
        })
    })
}

/// `true` if the write changes visible columns of these tables without this column.
fn leaves(column: &str, write: &Write, tables: &[VersionedTable]) -> bool {
    let Some(row) = tables.iter().find(|row| row.table == write.table) else { return false };
    let mut changed = write.columns.iter().filter(|column| !row.apart.contains(&column.as_str()));
    changed.next().is_some() && !write.columns.iter().any(|changed| changed == column)
}

impl WriteCheck {
    fn statements(&self) -> MutexGuard<'_, Statements> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the writes of a statement and any forbidden lock.
    pub fn statement(&self, statement: &str) {
        let mut statements = self.statements();
        if is_mixed(statement) {
            statements.mixed = Some(text(statement).to_owned());
        }
        statements.written.extend(writes(statement));
    }

    /// Clears the records of an earlier operation.
    pub fn forget(&self) {
        *self.statements() = Statements::default();
    }

    /// Returns the fault of the operation, if any: a missing invalidation, a version that was not raised, or a locking
    /// statement that reads other rows.
    pub fn fault(&self, invalidations: &Invalidations, tables: &'static Tables) -> Option<String> {
        let Statements { written, mixed } = std::mem::take(&mut *self.statements());
        if let Some(mixed) = mixed {
            return Some(format!("a step locks rows by a statement that reads others: {mixed}"));
        }
        let missing = |write: Write| {
            let Write { verb, table, .. } = &write;
            let rows = tables.invalidating.iter().filter(|row| row.table == table && row.verbs.contains(verb));
            if let Some(topic) = rows.flat_map(|row| row.topics).find(|topic| !invalidations.covers_topic(**topic)) {
                return Some(format!("a step changes {verb}{table}: {topic:?}, and does not invalidate it"));
            }
            if invalidations.are_total() {
                return None;
            }
            let column = if leaves("version", &write, tables.versioned) {
                "version"
            } else if leaves("updated_at", &write, tables.followed) {
                "updated_at"
            } else {
                return None;
            };
            Some(format!("a step changes {table}: {:?}, and leaves {column}", write.columns))
        };
        written.into_iter().find_map(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_found_in_any_spelling() {
        let of =
            |text: &str| writes(text).map(|Write { verb, table, .. }| format!("{verb}{table}")).collect::<Vec<_>>();
        assert_eq!(of("UPDATE `brands` SET x = 1 -- binds: [\"DELETE FROM tags\"]"), ["UPDATE brands"]);
        assert_eq!(of("INSERT INTO \"tags\" (id) VALUES (1)"), ["INSERT INTO tags"]);
        assert_eq!(of("DELETE FROM storefront_offers WHERE id IN (1)"), ["DELETE FROM storefront_offers"]);
        assert_eq!(of("SELECT 1 FROM brands"), [""; 0]);
    }

    #[test]
    fn columns_that_change_are_found_in_any_spelling() {
        let of = |text: &str| writes(text).flat_map(|write| write.columns).collect::<Vec<_>>();
        let wide = "UPDATE `brands` SET `name` = ?, `version` = (`brands`.`version` + ?) WHERE (`brands`.`id` = ?)";
        assert_eq!(of(wide), ["name", "version"]);
        let values = "UPDATE stock SET price = COALESCE(v.column3, stock.price), updated_at = $1 FROM (VALUES ";
        assert_eq!(of(values), ["price", "updated_at"]);
        assert_eq!(of("UPDATE \"users\" SET \"is_banned\" = \"users\".\"is_banned\" WHERE id = 1"), [""; 0]);
        assert_eq!(of("UPDATE users SET a = CASE id WHEN 1 THEN 2 END, b = a RETURNING id"), ["a", "b"]);
        assert_eq!(of("SELECT 1 FROM t FOR NO KEY UPDATE"), [""; 0]);
    }

    #[test]
    fn a_lock_that_reads_other_rows_is_noticed() {
        for alone in [
            "SELECT id FROM orders WHERE id IN (1, 2) ORDER BY id FOR NO KEY UPDATE -- binds: [\" JOIN \"]",
            "SELECT \"a\".\"id\" FROM \"a\" WHERE (\"a\".\"id\" = $1)  FOR SHARE",
            "INSERT INTO a (id) SELECT k.id FROM (VALUES ($1)) AS v JOIN keys k ON k.id = v.column1 FOR SHARE OF k",
            "SELECT a.id FROM a JOIN b ON b.id = a.id WHERE EXISTS (SELECT 1 FROM c)",
            "WITH locked_a AS (SELECT id FROM a WHERE id = $1 FOR SHARE), locked_b AS (SELECT id FROM b WHERE id = $2 \
             AND (SELECT count(*) FROM locked_a) = 1 FOR UPDATE) SELECT id FROM locked_a",
        ] {
            assert!(!is_mixed(alone), "{alone}");
        }
        for mixed in [
            "SELECT s.id, n.id FROM s LEFT JOIN n ON n.id = s.n WHERE s.id = $1 FOR NO KEY UPDATE OF s",
            "SELECT \"a\".\"id\" FROM (\"a\" INNER JOIN \"b\" ON (1 = 1)) FOR UPDATE",
            "SELECT id FROM a WHERE id = (SELECT a FROM b WHERE id = $1) FOR SHARE",
            "SELECT id, EXISTS (SELECT 1 FROM b) FROM a FOR KEY SHARE",
            "UPDATE a SET b = $1 WHERE id IN (SELECT id FROM a ORDER BY id LIMIT 3 FOR UPDATE SKIP LOCKED)",
            "WITH locked_a AS (SELECT id FROM a WHERE id = $1 FOR SHARE) SELECT b.id FROM b",
            "WITH locked_a AS (SELECT a.id FROM a JOIN b ON b.id = a.id FOR SHARE) SELECT id FROM locked_a",
        ] {
            assert!(is_mixed(mixed), "{mixed}");
        }
    }

    #[test]
    fn a_change_without_a_version_is_noticed() {
        const TABLES: &[VersionedTable] = &[VersionedTable { table: "brands", apart: &["sort_key"] }];
        let keeps = |text: &str| writes(text).any(|write| leaves("version", &write, TABLES));
        assert!(keeps("UPDATE brands SET name = ?, sort_key = ? WHERE id = 1"));
        assert!(!keeps("UPDATE brands SET version = version + 1, name = ? WHERE id = 1"));
        assert!(!keeps("UPDATE brands SET sort_key = ? WHERE id = 1"));
        assert!(!keeps("UPDATE tags SET name = ? WHERE id = 1"));
    }
}
