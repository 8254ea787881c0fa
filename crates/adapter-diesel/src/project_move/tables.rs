//! Tables of a project as the catalog of the target describes them, and the statements over any of them. Both databases
//! have the same tables and columns; only the target has types.
//!
//! A row travels as a JSON array of texts, one per column: any column type has a text form that the target reads back.

use std::collections::BTreeMap;

use diesel::result::QueryResult;

use super::ProjectMoveError;
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// Maximum rows per statement.
pub(super) const PAGE: usize = 500;

struct Column {
    name: String,
    /// Type on PostgreSQL.
    kind: String,
}

impl Column {
    /// Returns the value of a row (such as `t.`) as text.
    fn text(&self, row: &str, is_postgres: bool) -> String {
        let name = format!("{row}\"{}\"", self.name);
        match self.kind.as_str() {
            "text" => name,
            "bytea" if is_postgres => format!("encode({name}, 'hex')"),
            // `hex` of NULL is an empty text.
            "bytea" => format!("iif({name} IS NULL, NULL, hex({name}))"),
            _ => format!("CAST({name} AS text)"),
        }
    }

    /// Converts such a text to the type of the column. SQLite compares numbers with numbers only.
    fn value(&self, text: &str, is_postgres: bool) -> String {
        match self.kind.as_str() {
            "bytea" if is_postgres => format!("decode({text}, 'hex')"),
            kind if is_postgres => format!("CAST({text} AS {kind})"),
            "bigint" | "integer" => format!("CAST({text} AS INTEGER)"),
            _ => text.to_owned(),
        }
    }
}

/// Table with rows of projects.
pub(super) struct Table {
    pub name: String,
    /// Column with the project.
    pub tenant: &'static str,
    /// `true` if values other than the key are unique, at least within a project.
    has_unique: bool,
    columns: Vec<Column>,
    /// Places of the columns of the primary key, in its order.
    key: Vec<usize>,
}

by_place! {
    struct ColumnRow {
        table_name: String,
        name: String,
        kind: String,
        key_place: Option<i64>,
        has_project: bool,
        has_unique: bool,
    }
}

const COLUMNS: &str = "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL), \
     CAST(array_position(k.conkey, a.attnum) AS BIGINT), \
     EXISTS (SELECT 1 FROM pg_attribute p WHERE p.attrelid = c.oid AND p.attname = 'project_id'), \
     EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary) \
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' \
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') \
    AND c.relname NOT IN ('project_moves', 'project_move_changes') ORDER BY c.relname, a.attnum";

/// Reads all tables: those with rows of projects, and the others by name.
pub(super) fn read(target: &mut AnyConnection) -> Result<(Vec<Table>, BTreeMap<String, Table>), ProjectMoveError> {
    let columns: Vec<ColumnRow> = Statement::new(COLUMNS).rows(target)?;
    let (mut tenants, mut others) = (Vec::new(), BTreeMap::new());
    for rows in columns.chunk_by(|left, right| left.table_name == right.table_name) {
        let Some(first) = rows.first() else { continue };
        let name = first.table_name.clone();
        let mut key: Vec<(i64, usize)> =
            rows.iter().enumerate().filter_map(|(place, row)| Some((row.key_place?, place))).collect();
        key.sort_unstable();
        let table = Table {
            tenant: if first.has_project { "project_id" } else { "id" },
            has_unique: first.has_project && first.has_unique,
            columns: rows.iter().map(|row| Column { name: row.name.clone(), kind: row.kind.clone() }).collect(),
            key: key.into_iter().map(|(_, place)| place).collect(),
            name: name.clone(),
        };
        if first.has_project || name == "projects" {
            if table.key.is_empty() {
                return Err(ProjectMoveError::Refused(format!("table {name} has no primary key")));
            }
            tenants.push(table);
        } else {
            others.insert(name, table);
        }
    }
    Ok((tenants, others))
}

fn list(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn array(texts: String, is_postgres: bool) -> String {
    if is_postgres { format!("CAST(json_build_array({texts}) AS text)") } else { format!("json_array({texts})") }
}

/// Returns a text constant of a statement.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Table {
    fn key(&self) -> impl Iterator<Item = &Column> {
        self.key.iter().filter_map(|place| self.columns.get(*place))
    }

    /// `true` if the table has ids of its own, which must be unique among all projects of a database.
    pub fn has_ids(&self) -> bool {
        self.tenant != "id" && self.key().next().is_some_and(|column| column.name == "id")
    }

    /// Returns the columns of the key, for example `OLD.id, OLD.project_id`.
    pub fn key_columns(&self, row: &str) -> String {
        list(self.key().map(|column| format!("{row}\"{}\"", column.name)))
    }

    /// Returns the key of a row as a JSON array.
    pub fn key_json(&self, row: &str, is_postgres: bool) -> String {
        array(list(self.key().map(|column| column.text(row, is_postgres))), is_postgres)
    }

    /// Returns a row as a JSON array.
    pub fn row_json(&self, row: &str, is_postgres: bool) -> String {
        array(list(self.columns.iter().map(|column| column.text(row, is_postgres))), is_postgres)
    }

    /// Selects the rows that meet a condition and follow another one, in the order of the key.
    pub fn page(&self, condition: &str, after: Option<&str>, is_postgres: bool) -> Result<Statement, ProjectMoveError> {
        let (name, row) = (&self.name, self.row_json("", is_postgres));
        let mut page = Statement::new(format!("SELECT {row} FROM {name} WHERE {condition}")).once();
        let own: Vec<usize> = self
            .key
            .iter()
            .copied()
            .filter(|place| self.columns.get(*place).is_some_and(|column| column.name != self.tenant))
            .collect();
        if !own.is_empty() {
            let names = list(own.iter().filter_map(|place| Some(format!("\"{}\"", self.columns.get(*place)?.name))));
            if let Some(after) = after {
                let texts: Vec<Option<String>> = serde_json::from_str(after)
                    .map_err(|error| ProjectMoveError::Refused(format!("a row of {name} cannot be read: {error}")))?;
                let value = |place: &usize| {
                    let text = literal(texts.get(*place)?.as_deref()?);
                    Some(self.columns.get(*place)?.value(&text, is_postgres))
                };
                page = page.sql(format!(" AND ({names}) > ({})", list(own.iter().filter_map(value))));
            }
            page = page.sql(format!(" ORDER BY {names}"));
        }
        Ok(page.sql(format!(" LIMIT {PAGE}")))
    }

    /// Returns the condition that row `t` of the project has one of the keys in the list `noted`.
    fn is_noted(&self, project: i64, is_postgres: bool) -> String {
        let equal = self.key().enumerate().map(|(place, column)| {
            let noted =
                if is_postgres { format!("r->>{place}") } else { format!("json_extract(noted.value, '$[{place}]')") };
            format!("t.\"{}\" = {}", column.name, column.value(&noted, is_postgres))
        });
        format!("t.{} = {project} AND {}", self.tenant, equal.collect::<Vec<_>>().join(" AND "))
    }

    /// Selects those rows of the project that have one of the keys.
    pub fn noted(&self, what: &str, project: i64, keys: String, is_postgres: bool) -> Statement {
        let (before, after) = if is_postgres {
            ("json_array_elements(CAST(", " AS json)) AS noted(r)")
        } else {
            ("json_each(", ") AS noted")
        };
        // SQLite keeps the order of a cross join.
        Statement::new(format!("SELECT {what} FROM {before}"))
            .value(keys)
            .sql(format!("{after} CROSS JOIN {} AS t WHERE {}", self.name, self.is_noted(project, is_postgres)))
            .once()
    }

    /// Deletes the rows of the project with these keys from the target.
    pub fn delete(&self, target: &mut AnyConnection, project: i64, keys: &[&str]) -> QueryResult<()> {
        if keys.is_empty() {
            return Ok(());
        }
        Statement::new(format!("DELETE FROM {} AS t USING json_array_elements(CAST(", self.name))
            .value(format!("[{}]", keys.join(",")))
            .sql(format!(" AS json)) AS noted(r) WHERE {}", self.is_noted(project, true)))
            .once()
            .run(target)?;
        Ok(())
    }

    /// Deletes rows with these keys that are to be written again, if unique values may have passed between them. They
    /// pass through a project without records first, so that no row of another table is deleted with them.
    pub fn set_aside(&self, target: &mut AnyConnection, project: i64, keys: &[&str]) -> QueryResult<()> {
        if !self.has_unique {
            return Ok(());
        }
        let Self { name, .. } = self;
        let is_noted = self.is_noted(project, true);
        Statement::new(format!("UPDATE {name} AS t SET project_id = -{project} FROM json_array_elements(CAST("))
            .value(format!("[{}]", keys.join(",")))
            .sql(format!(" AS json)) AS noted(r) WHERE t.project_id = {project} AND {is_noted}"))
            .once()
            .run(target)?;
        Statement::new(format!("DELETE FROM {name} WHERE project_id = -{project}")).once().run(target).map(drop)
    }

    /// Deletes idempotency keys of the target that have another number than one of these rows. Rows of other tables are
    /// left alone.
    pub fn delete_same_keys(&self, target: &mut AnyConnection, rows: &[String]) -> QueryResult<()> {
        let value = |name: &str| self.values().find(|(column, _)| column.name == name).map(|(_, value)| value);
        let (Some(id), Some(number)) = (value("id"), value("number")) else { return Ok(()) };
        Statement::new("DELETE FROM idempotency_keys AS t USING json_array_elements(CAST(")
            .value(format!("[{}]", rows.join(",")))
            .sql(format!(" AS json)) AS noted(r) WHERE t.id = {id} AND t.number <> {number}"))
            .once()
            .run(target)
            .map(drop)
    }

    /// Inserts rows into the target, with this action on rows that have the same key.
    fn insert(
        &self,
        target: &mut AnyConnection,
        rows: &[String],
        on_conflict: &str,
    ) -> Result<usize, ProjectMoveError> {
        if rows.is_empty() {
            return Ok(0);
        }
        let Self { name, .. } = self;
        let columns = list(self.columns.iter().map(|column| format!("\"{}\"", column.name)));
        let values = list(self.values().map(|(_, value)| value));
        Statement::new(format!("INSERT INTO {name} ({columns}) SELECT {values} FROM json_array_elements(CAST("))
            .value(format!("[{}]", rows.join(",")))
            .sql(format!(" AS json)) AS noted(r) ON CONFLICT ({}) {on_conflict}", self.key_columns("")))
            .once()
            .run(target)
            .map_err(|error| ProjectMoveError::Refused(format!("the target refuses rows of {name}: {error}")))
    }

    /// Returns the columns, each with its value in the row `r`.
    fn values(&self) -> impl Iterator<Item = (&Column, String)> {
        self.columns.iter().enumerate().map(|(place, column)| (column, column.value(&format!("r->>{place}"), true)))
    }

    /// Inserts or replaces rows of the project in the target.
    pub fn write(&self, target: &mut AnyConnection, project: i64, rows: &[String]) -> Result<(), ProjectMoveError> {
        let Self { name, tenant, .. } = self;
        let set = self.assignments();
        let written = self.insert(target, rows, &format!("DO UPDATE SET {set} WHERE {name}.{tenant} = {project}"))?;
        if written != rows.len() {
            return Err(ProjectMoveError::Refused(format!("the target has other rows of {name} with the same keys")));
        }
        Ok(())
    }

    /// Inserts or replaces rows without a project.
    pub fn replace(&self, target: &mut AnyConnection, rows: &[String]) -> Result<(), ProjectMoveError> {
        self.insert(target, rows, &format!("DO UPDATE SET {}", self.assignments())).map(drop)
    }

    fn assignments(&self) -> String {
        list(self.columns.iter().map(|column| format!("\"{0}\" = EXCLUDED.\"{0}\"", column.name)))
    }

    /// Adds rows without a project to the target, unless it has equal ones.
    pub fn add_shared(&self, target: &mut AnyConnection, rows: &[String]) -> Result<(), ProjectMoveError> {
        if rows.is_empty() {
            return Ok(());
        }
        let name = &self.name;
        if self.insert(target, rows, "DO NOTHING")? > 0 {
            let greatest = Statement::new(format!("SELECT max(id) FROM {name}")).once().scalar(target)?;
            raise_sequence(target, name, greatest)?;
        }
        let equal = self.values().map(|(column, value)| format!("t.\"{}\" IS NOT DISTINCT FROM {value}", column.name));
        let equal = equal.collect::<Vec<_>>().join(" AND ");
        let found: i64 = Statement::new("SELECT count(*) FROM json_array_elements(CAST(")
            .value(format!("[{}]", rows.join(",")))
            .sql(format!(" AS json)) AS noted(r) JOIN {name} AS t ON {equal}"))
            .once()
            .scalar(target)?;
        if usize::try_from(found) != Ok(rows.len()) {
            return Err(ProjectMoveError::Refused(format!("{name} of the source and of the target differ")));
        }
        Ok(())
    }
}

/// Moves the sequence of the ids of a table past an id.
pub(super) fn raise_sequence(target: &mut AnyConnection, table: &str, id: i64) -> QueryResult<()> {
    // The table of imports issues the ids of exports too.
    let issuer = if table == "exports" { "jobs" } else { table };
    let raise = format!(
        "SELECT setval(CAST(s AS regclass), GREATEST(nextval(CAST(s AS regclass)), {id})) \
         FROM (SELECT pg_get_serial_sequence('{issuer}', 'id')) AS q(s) WHERE s IS NOT NULL"
    );
    Statement::new(raise).once().scalars::<i64>(target).map(drop)
}
