//! Checkpoint of the rows of a PostgreSQL database: restored for every run of a test, and compared without regard to
//! the numbers of new rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{PgConnection, RunQueryDsl};

use super::{Keep, TestDatabase, must};

/// Distance between the first numbers of two tables after the checkpoint. So a number shows which table a new row
/// belongs to, wherever it occurs.
const STEP: i64 = 10_000_000;

/// Counters and bookkeeping of the database itself.
const APART: &str = "'change_marks', '__diesel_schema_migrations'";

/// New connections detect deadlocks early.
const QUICK_DEADLOCKS: &str = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ' || quote_literal('20ms'), \
     current_database()); END $$;";

#[derive(diesel::QueryableByName)]
struct NameRow {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(diesel::QueryableByName)]
struct StoredRow {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    content: String,
}

#[derive(diesel::QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Labels of new rows by number: the name of their sequence, and their position among its rows by content.
#[derive(Debug, Default)]
pub struct Labels(HashMap<i64, String>);

/// Changes since a checkpoint.
#[derive(Debug)]
pub struct Changes {
    /// New rows and new contents (`+`), deleted rows and old contents (`-`), with labels in place of the numbers of new
    /// rows.
    pub rows: Vec<String>,
    /// Labels that replaced the numbers of new rows.
    pub labels: Labels,
}

/// Rows of a database, copied to another schema.
pub struct Checkpoint {
    connection: PgConnection,
    tables: Vec<String>,
    sequences: Vec<String>,
    rows: BTreeMap<(String, String), i64>,
    changed: BTreeSet<String>,
}

impl Checkpoint {
    /// Copies the rows of a database on a server.
    ///
    /// # Panics
    /// If the database is not on a server, or cannot be written.
    #[must_use]
    pub fn take(db: &TestDatabase) -> Self {
        let Keep::Server { database: fresh } = &db.keep else { return must(Err("only PostgreSQL has checkpoints")) };
        let mut connection = must(fresh.administrator());
        let named = |connection: &mut PgConnection, query: &str| -> Vec<String> {
            let rows: Vec<NameRow> = must(diesel::sql_query(query).load(connection));
            rows.into_iter().map(|row| row.name).collect()
        };
        let tables = format!(
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ({APART}) ORDER BY 1"
        );
        let tables = named(&mut connection, &tables);
        let sequences = "SELECT sequencename::text AS name FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1";
        let sequences = named(&mut connection, sequences);
        let keep = tables.iter().map(|table| format!("CREATE TABLE kept.{table} AS TABLE public.{table};"));
        must(connection.batch_execute(&format!("CREATE SCHEMA kept; {} {QUICK_DEADLOCKS}", keep.collect::<String>())));
        let mut checkpoint = Self { connection, tables, sequences, rows: BTreeMap::new(), changed: BTreeSet::new() };
        checkpoint.rows = checkpoint.stored();
        checkpoint.restore();
        checkpoint
    }

    fn stored(&mut self) -> BTreeMap<(String, String), i64> {
        let of =
            |table: &String| format!("SELECT '{table}' AS name, to_jsonb(t)::text AS content FROM public.{table} t");
        let all = self.tables.iter().map(of).collect::<Vec<_>>().join(" UNION ALL ");
        let rows: Vec<StoredRow> = must(diesel::sql_query(all).load(&mut self.connection));
        let mut counted = BTreeMap::new();
        for StoredRow { name, content } in rows {
            *counted.entry((name, content)).or_default() += 1;
        }
        counted
    }

    /// Restores the tables that [`Checkpoint::changes`] found changed, and the sequences.
    ///
    /// # Panics
    /// If the database cannot be written.
    pub fn restore(&mut self) {
        let tables = std::mem::take(&mut self.changed);
        let tables = tables
            .iter()
            .map(|table| format!("DELETE FROM public.{table}; INSERT INTO public.{table} SELECT * FROM kept.{table};"));
        let numbers =
            (1..).zip(&self.sequences).map(|(place, name)| format!("setval('public.{name}', {})", place * STEP));
        let (tables, numbers) = (tables.collect::<String>(), numbers.collect::<Vec<_>>().join(", "));
        must(self.connection.batch_execute(&format!(
            "BEGIN; SET LOCAL session_replication_role = replica; {tables} SELECT {numbers}; COMMIT;"
        )));
    }

    /// Returns rows stored since the checkpoint and rows no longer stored.
    ///
    /// # Panics
    /// If the database cannot be read.
    #[must_use]
    pub fn changes(&mut self) -> Changes {
        let now = self.stored();
        let mut rows = Vec::new();
        for (row, count) in &now {
            let more = count - self.rows.get(row).copied().unwrap_or_default();
            rows.extend((0..more).map(|_| ('+', &row.0, row.1.as_str())));
        }
        for (row, count) in &self.rows {
            let fewer = count - now.get(row).copied().unwrap_or_default();
            rows.extend((0..fewer).map(|_| ('-', &row.0, row.1.as_str())));
        }
        let changed: BTreeSet<String> = rows.iter().map(|(_, table, _)| (*table).clone()).collect();
        let rows: Vec<_> = rows.into_iter().map(|(sign, table, content)| (sign, table, comparable(content))).collect();
        let labels = Labels::of(rows.iter().map(|(_, _, content)| content.as_str()), &self.sequences);
        let named = rows.iter().map(|(sign, table, content)| format!("{sign} {table} {}", labels.replace(content)));
        let mut rows: Vec<String> = named.collect();
        rows.sort_unstable();
        self.changed.extend(changed);
        Changes { rows, labels }
    }

    /// `true` while a transaction waits for a lock of another.
    ///
    /// # Panics
    /// If the server does not respond.
    #[must_use]
    pub fn is_blocked(&mut self) -> bool {
        let blocked = "SELECT count(*) AS number FROM pg_stat_activity WHERE datname = current_database() \
                       AND cardinality(pg_blocking_pids(pid)) > 0";
        let row: CountRow = must(diesel::sql_query(blocked).get_result(&mut self.connection));
        row.number > 0
    }
}

impl Labels {
    /// Creates labels for the numbers in these rows, which are JSON objects. Rows of one table are distinguished by
    /// their contents, in which numbers are replaced by the labels found so far.
    fn of<'a>(rows: impl Iterator<Item = &'a str> + Clone, sequences: &[String]) -> Self {
        let mut labels = Self::default();
        let name = |number: i64| {
            let place = usize::try_from(number / STEP).ok()?.checked_sub(1)?;
            sequences.get(place).filter(|_| number % STEP > 0)
        };
        for number in rows.clone().flat_map(numbers) {
            if let Some(sequence) = name(number) {
                labels.0.insert(number, sequence.clone());
            }
        }
        // Each round follows one more reference.
        for _ in 0..4 {
            let mut contents: BTreeMap<&String, BTreeMap<String, Vec<i64>>> = BTreeMap::new();
            for row in rows.clone() {
                let content: serde_json::Value = must(serde_json::from_str(row));
                let id = content.get("id").and_then(serde_json::Value::as_i64);
                if let Some((id, sequence)) = id.and_then(|id| Some((id, name(id)?))) {
                    contents.entry(sequence).or_default().entry(labels.replace(row)).or_default().push(id);
                }
            }
            for (sequence, contents) in contents {
                for (place, ids) in contents.into_values().enumerate() {
                    labels.0.extend(ids.into_iter().map(|id| (id, format!("{sequence}#{place}"))));
                }
            }
        }
        labels
    }

    /// Replaces the numbers of new rows in a text by their labels.
    #[must_use]
    pub fn replace(&self, text: &str) -> String {
        let (mut replaced, mut digits) = (String::with_capacity(text.len()), String::new());
        for letter in text.chars().chain(['\0']) {
            if letter.is_ascii_digit() {
                digits.push(letter);
                continue;
            }
            match digits.parse().ok().and_then(|number: i64| self.0.get(&number)) {
                Some(label) => replaced.push_str(label),
                None => replaced.push_str(&digits),
            }
            digits.clear();
            if letter != '\0' {
                replaced.push(letter);
            }
        }
        replaced
    }
}

/// Returns a row without values that may differ: its UUIDs, because a repeated decision creates another key, and the
/// time of the next check, because two workers that check at once both plan an early one.
fn comparable(row: &str) -> String {
    let mut content: serde_json::Value = must(serde_json::from_str(row));
    if let Some(columns) = content.as_object_mut() {
        columns.remove("next_check_at");
    }
    without_keys(&content.to_string())
}

/// Returns a text without its UUIDs.
fn without_keys(text: &str) -> String {
    let is_key = |part: &str| {
        part.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let (mut kept, mut end_of_key) = (String::with_capacity(text.len()), 0);
    for (place, letter) in text.char_indices() {
        if place < end_of_key {
            continue;
        }
        if text.get(place..place + 36).is_some_and(is_key) {
            kept.push_str("key");
            end_of_key = place + 36;
        } else {
            kept.push(letter);
        }
    }
    kept
}

/// Returns the numbers in a text.
fn numbers(text: &str) -> impl Iterator<Item = i64> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_left_out() {
        let key = "00000000-0000-43e8-8000-0000000003e9";
        assert_eq!(
            without_keys(&format!("a-b {key}, \"/{key}-1\" of 2026-03-01")),
            "a-b key, \"/key-1\" of 2026-03-01"
        );
        assert_eq!(without_keys("нет ключа"), "нет ключа");
    }

    #[test]
    fn rows_are_distinguished_by_contents_and_not_by_numbers() {
        let sequences = ["orders_id_seq".to_owned(), "lines_id_seq".to_owned()];
        let labeled = |rows: [&str; 4]| {
            let labels = Labels::of(rows.into_iter(), &sequences);
            let mut rows = rows.map(|row| labels.replace(row));
            rows.sort_unstable();
            rows
        };
        let one = labeled([
            r#"{"id": 10000001, "of": "a"}"#,
            r#"{"id": 10000002, "of": "b"}"#,
            r#"{"id": 20000001, "text": "order 10000001", "price": 5}"#,
            r#"{"id": 20000002, "text": "order 10000002", "price": 5}"#,
        ]);
        let other = labeled([
            r#"{"id": 10000007, "of": "b"}"#,
            r#"{"id": 10000009, "of": "a"}"#,
            r#"{"id": 20000004, "text": "order 10000009", "price": 5}"#,
            r#"{"id": 20000003, "text": "order 10000007", "price": 5}"#,
        ]);
        assert_eq!(one, other);
        let mixed = labeled([
            r#"{"id": 10000001, "of": "a"}"#,
            r#"{"id": 10000002, "of": "b"}"#,
            r#"{"id": 20000001, "text": "order 10000002", "price": 5}"#,
            r#"{"id": 20000002, "text": "order 10000002", "price": 5}"#,
        ]);
        assert_ne!(one, mixed);
    }
}
