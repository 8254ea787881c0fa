//! Rows of a project in every table: adds them, changes them, and reads them in a form that both databases share.

use std::collections::{BTreeMap, BTreeSet};

use diesel::RunQueryDsl;
use diesel::sql_types::{Bool, Nullable, Text};
use kontor_kernel::{ProjectId, StoreError};

use super::{Kind, TestDatabase, must};
use crate::Abort;

const AT: &str = "'2026-01-01 00:00:00.25'";
const LATER: &str = "'2026-02-02 00:00:00.5'";

/// Values that checks over several columns demand: table, column and value.
const VALUES: [(&str, &str, &str); 3] = [
    ("reservations", "product_discount", "0"),
    ("reservations", "promo_discount", "0"),
    ("ticket_scans", "outcome", "'unknown'"),
];

/// Columns of the tables with rows of projects. The first text of a check is one of the words that it allows.
const COLUMNS: &str = "SELECT c.relname::text AS table_name, a.attname::text AS name, \
     format_type(a.atttypid, NULL) AS kind, \
     a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS is_needed, \
     (SELECT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid \
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey) LIMIT 1) AS parent, \
     (SELECT substring(pg_get_constraintdef(k.oid) FROM '''([^'']*)''::text') FROM pg_constraint k \
      WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum] LIMIT 1) AS word \
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') \
    AND c.relname NOT IN ('project_moves', 'project_move_changes') \
    AND (c.relname = 'projects' OR EXISTS (SELECT 1 FROM pg_attribute p \
     WHERE p.attrelid = c.oid AND p.attname = 'project_id' AND NOT p.attisdropped)) ORDER BY c.relname, a.attnum";

#[derive(diesel::QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    name: String,
    /// Type on PostgreSQL.
    #[diesel(sql_type = Text)]
    kind: String,
    /// `true` if a new row needs a value.
    #[diesel(sql_type = Bool)]
    is_needed: bool,
    /// Table that it refers to.
    #[diesel(sql_type = Nullable<Text>)]
    parent: Option<String>,
    /// Value that a check allows.
    #[diesel(sql_type = Nullable<Text>)]
    word: Option<String>,
}

impl Column {
    /// Returns the value as text.
    fn text(&self, kind: Kind) -> String {
        let name = format!("\"{}\"", self.name);
        let text = match (self.kind.as_str(), kind) {
            ("text", _) => name,
            ("boolean", _) => format!("CASE WHEN {name} THEN 'true' WHEN NOT {name} THEN 'false' END"),
            ("bytea", Kind::Postgres) => format!("encode({name}, 'hex')"),
            ("bytea", Kind::Sqlite) => format!("CASE WHEN {name} IS NOT NULL THEN lower(hex({name})) END"),
            // SQLite keeps the zeros of a fraction.
            ("timestamp without time zone", Kind::Sqlite) => {
                format!("iif(instr({name}, '.'), rtrim({name}, '0'), {name})")
            }
            _ => format!("CAST({name} AS text)"),
        };
        format!("coalesce({text}, 'NULL')")
    }

    /// Returns an assignment that changes the value, and its rank among those of a row. `None` for references.
    fn change(&self) -> Option<(u8, String)> {
        let Self { name, kind, is_needed, parent, word, .. } = self;
        if !is_needed || parent.is_some() || word.is_some() || ["id", "project_id"].contains(&name.as_str()) {
            return None;
        }
        match kind.as_str() {
            "text" => Some((0, format!("\"{name}\" = \"{name}\" || '.'"))),
            "bigint" | "integer" => Some((1, format!("\"{name}\" = \"{name}\" + 1"))),
            "timestamp without time zone" => Some((2, format!("\"{name}\" = {LATER}"))),
            _ => None,
        }
    }
}

/// Returns the column with the project.
fn tenant(table: &str) -> &'static str {
    if table == "projects" { "id" } else { "project_id" }
}

/// Tables with rows of projects. SQLite has the same as PostgreSQL, without types.
pub struct TenantTables(BTreeMap<String, Vec<Column>>);

impl TenantTables {
    /// Reads the tables of a PostgreSQL database.
    pub async fn read(catalog: &TestDatabase) -> Self {
        let read = catalog.database.read(|connection| {
            let columns: Vec<Column> = diesel::sql_query(COLUMNS).load(connection)?;
            Ok::<_, Abort<StoreError>>(columns)
        });
        let mut tables = BTreeMap::<String, Vec<Column>>::new();
        for column in must(read.await) {
            tables.entry(column.table_name.clone()).or_default().push(column);
        }
        Self(tables)
    }

    /// Returns all rows of a project by table, in any order of the database.
    pub async fn rows(&self, db: &TestDatabase, project: ProjectId) -> BTreeMap<String, Vec<String>> {
        let mut found = BTreeMap::new();
        for (table, columns) in &self.0 {
            let texts: Vec<String> = columns.iter().map(|column| column.text(db.kind)).collect();
            let query = format!(
                "SELECT {} AS name, CAST(1 AS BIGINT) AS number FROM {table} WHERE {} = {project}",
                texts.join(" || '|' || "),
                tenant(table)
            );
            let mut rows: Vec<String> = db.named_numbers(query).await.into_iter().map(|(row, _)| row).collect();
            rows.sort_unstable();
            found.insert(table.clone(), rows);
        }
        found
    }

    /// Adds a row to every table in which the project has none.
    ///
    /// # Panics
    /// If tables refer to each other, or a check over several columns refuses a row: add a value for it here.
    pub async fn fill(&self, db: &TestDatabase, project: ProjectId) {
        let rows = self.rows(db, project).await;
        let mut empty: BTreeSet<String> =
            rows.into_iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
        while !empty.is_empty() {
            let waits = |column: &Column| column.parent.as_ref().is_some_and(|parent| empty.contains(parent));
            let (waiting, ready): (BTreeSet<String>, BTreeSet<String>) =
                empty.iter().cloned().partition(|table| self.filled(table).any(waits));
            assert!(!ready.is_empty(), "these tables refer to each other: {waiting:?}");
            let inserts: Vec<String> = ready.iter().map(|table| self.insert(table, project, db.kind)).collect();
            db.run(inserts.join("; ")).await;
            empty = waiting;
        }
    }

    /// Returns a statement per table that changes all rows of the project. Where they consist of references, it deletes
    /// them.
    pub fn changes(&self, project: ProjectId) -> Vec<String> {
        let statements = self.0.iter().map(|(table, columns)| {
            let tenant = tenant(table);
            columns.iter().filter_map(Column::change).min().map_or_else(
                || format!("DELETE FROM {table} WHERE {tenant} = {project}"),
                |(_, change)| format!("UPDATE {table} SET {change} WHERE {tenant} = {project}"),
            )
        });
        statements.collect()
    }

    /// Returns the columns of a new row.
    fn filled(&self, table: &str) -> impl Iterator<Item = &Column> {
        let columns = self.0.get(table).into_iter().flatten();
        columns.filter(|column| column.is_needed || column.name == "project_id")
    }

    fn insert(&self, table: &str, project: ProjectId, kind: Kind) -> String {
        let names: Vec<String> = self.filled(table).map(|column| format!("\"{}\"", column.name)).collect();
        let values: Vec<String> = self.filled(table).map(|column| self.value(column, project, kind)).collect();
        format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))
    }

    fn value(&self, column: &Column, project: ProjectId, kind: Kind) -> String {
        let Column { table_name, name, parent, word, .. } = column;
        if name == "project_id" {
            return project.to_string();
        }
        if let Some((_, _, value)) = VALUES.iter().find(|(table, known, _)| table == table_name && known == name) {
            return (*value).to_owned();
        }
        if let Some(parent) = parent {
            let is_tenant = self.0.contains_key(parent);
            let condition = if is_tenant { format!("project_id = {project}") } else { "TRUE".to_owned() };
            return format!("(SELECT min(id) FROM {parent} WHERE {condition})");
        }
        match (column.kind.as_str(), word) {
            (_, Some(word)) => format!("'{word}'"),
            ("text", None) => format!("'{table_name} {name}'"),
            ("bigint" | "integer", None) => "1".to_owned(),
            ("boolean", None) => "FALSE".to_owned(),
            ("bytea", None) if kind == Kind::Postgres => r"'\x00ff'".to_owned(),
            ("bytea", None) => "X'00ff'".to_owned(),
            _ => AT.to_owned(),
        }
    }
}
