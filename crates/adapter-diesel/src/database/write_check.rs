//! In tests: which tables a step writes to, so that none changes what others remember without invalidating it, and none
//! changes a record without raising its version.

use std::cell::RefCell;

use super::invalidation::Invalidations;
use super::tables::{Tables, VersionedTable};

const WRITES: [&str; 3] = ["INSERT INTO ", "UPDATE ", "DELETE FROM "];

struct Write {
    verb: &'static str,
    table: String,
    /// The columns that an update changes.
    columns: Vec<String>,
}

thread_local! {
    static WRITTEN: RefCell<Vec<Write>> = RefCell::default();
}

fn identifier(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches(['"', '`']);
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether a column is set to itself: the row is locked by that, and nothing else.
fn is_same(column: &str, value: &str) -> bool {
    let value = value.trim().trim_end_matches(['"', '`']);
    value.strip_suffix(column).is_some_and(|before| before.is_empty() || before.ends_with(['.', '"', '`']))
}

/// The columns that are set by what follows `UPDATE `, as far as they get another value.
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

/// What a statement writes to, and how.
fn writes(statement: &str) -> impl Iterator<Item = Write> {
    let text = statement.split(" -- binds:").next().unwrap_or_default();
    WRITES.into_iter().flat_map(move |verb| {
        text.match_indices(verb).map(move |(place, _)| {
            let rest = text.get(place + verb.len()..).unwrap_or_default();
            let columns = if verb == "UPDATE " { columns(rest) } else { Vec::new() };
            Write { verb, table: identifier(rest).to_owned(), columns }
        })
    })
}

/// Remembers what the statement writes to.
pub(super) fn statement(statement: &str) {
    WRITTEN.with_borrow_mut(|written| written.extend(writes(statement)));
}

/// Forgets what an earlier step on this thread wrote.
pub(super) fn forget() {
    WRITTEN.take();
}

fn keeps_version(write: &Write, versioned: &[VersionedTable]) -> bool {
    let Some(row) = versioned.iter().find(|row| row.table == write.table) else { return false };
    let mut changed = write.columns.iter().filter(|column| !row.apart.contains(&column.as_str()));
    changed.next().is_some() && !write.columns.iter().any(|column| column == "version")
}

/// A table that was written to without invalidating its topic, or without raising the versions of its records.
pub(super) fn forgotten(invalidations: &Invalidations, tables: &'static Tables) -> Option<String> {
    let missing = |write: Write| {
        let Write { verb, table, .. } = &write;
        let rows = tables.invalidating.iter().filter(|row| row.table == table && row.verbs.contains(verb));
        if let Some(topic) = rows.flat_map(|row| row.topics).find(|topic| !invalidations.tells_of(**topic)) {
            return Some(format!("{verb}{table}: {topic:?}, and does not invalidate it"));
        }
        let forgets = !invalidations.are_total() && keeps_version(&write, tables.versioned);
        forgets.then(|| format!("{table}: {:?}, and raises no version", write.columns))
    };
    WRITTEN.take().into_iter().find_map(missing)
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
    fn a_change_without_a_version_is_noticed() {
        const TABLES: &[VersionedTable] = &[VersionedTable { table: "brands", apart: &["sort_key"] }];
        let keeps = |text: &str| writes(text).any(|write| keeps_version(&write, TABLES));
        assert!(keeps("UPDATE brands SET name = ?, sort_key = ? WHERE id = 1"));
        assert!(!keeps("UPDATE brands SET version = version + 1, name = ? WHERE id = 1"));
        assert!(!keeps("UPDATE brands SET sort_key = ? WHERE id = 1"));
        assert!(!keeps("UPDATE tags SET name = ? WHERE id = 1"));
    }
}
