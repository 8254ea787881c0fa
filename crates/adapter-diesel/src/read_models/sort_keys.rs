//! Sort keys of names, where a migration cleared them, and names of files in lower case, where a migration added them.

use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, repeat_until_zero};
use crate::statement::{Statement, Value, by_place};

by_place! {
    struct NameRow {
        id: i64,
        name: String,
    }
}

/// Fills in missing sort keys of names; those of items are filled in with their search texts. Each batch is one
/// transaction, unless a transaction is open; the next run continues with the rest.
pub(crate) fn fill_sort_keys<R>(connection: &mut AnyConnection) -> Result<(), Abort<R>> {
    for table in ["branches", "brands", "categories", "shops", "warehouses"] {
        fill(connection, table, "sort_key", |name| sort_key(name).into())?;
    }
    Ok(())
}

/// Fills in missing names of files in lower case, as [`fill_sort_keys`].
pub(crate) fn fill_file_names<R>(connection: &mut AnyConnection) -> Result<(), Abort<R>> {
    fill(connection, "files", "name_key", |name| name.to_lowercase().into())
}

fn fill<R>(
    connection: &mut AnyConnection,
    table: &'static str,
    column: &'static str,
    key: fn(&str) -> Value,
) -> Result<(), Abort<R>> {
    repeat_until_zero(connection, |connection| {
        let missing = format!("SELECT id, name FROM {table} WHERE {column} IS NULL ORDER BY id LIMIT 500");
        let rows: Vec<NameRow> = Statement::new(missing).rows(connection)?;
        if !rows.is_empty() {
            Statement::new(format!("UPDATE {table} SET {column} = v.column2 FROM (VALUES "))
                .tuples(rows.iter().map(|row| [row.id.into(), key(&row.name)]))
                .once()
                .sql(format!(") AS v WHERE {table}.id = v.column1"))
                .run(connection)?;
        }
        Ok(rows.len())
    })
}
