//! Sort keys of names, where a migration cleared them.

use diesel::sql_types::{BigInt, Text};

use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, repeat_until_zero};
use crate::statement::{Statement, by_place};

by_place! {
    struct NameRow {
        id: i64 as BigInt,
        name: String as Text,
    }
}

/// Fills in missing sort keys of names; those of items are filled in with their search texts. Each batch is one
/// transaction, unless a transaction is open; the next run continues with the rest.
pub(crate) fn fill_sort_keys<R>(connection: &mut AnyConnection) -> Result<(), Abort<R>> {
    for table in ["branches", "brands", "categories", "shops", "warehouses"] {
        repeat_until_zero(connection, |connection| {
            let missing = format!("SELECT id, name FROM {table} WHERE sort_key IS NULL ORDER BY id LIMIT 500");
            let rows: Vec<NameRow> = Statement::new(missing).rows(connection)?;
            if !rows.is_empty() {
                Statement::new(format!("UPDATE {table} SET sort_key = v.column2 FROM (VALUES "))
                    .tuples(rows.iter().map(|row| [row.id.into(), sort_key(&row.name).into()]))
                    .once()
                    .sql(format!(") AS v WHERE {table}.id = v.column1"))
                    .run(connection)?;
            }
            Ok(rows.len())
        })?;
    }
    Ok(())
}
