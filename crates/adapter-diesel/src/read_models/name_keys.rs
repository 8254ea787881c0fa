//! Search keys of names that were stored before the keys existed.

use diesel::sql_types::{BigInt, Text};
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, in_turns};
use crate::statement::{Statement, by_place};

by_place! {
    struct NameRow {
        id: i64 as BigInt,
        name: String as Text,
    }
}

/// Fills in the lower-case names. A migration cannot: SQLite only knows ASCII letters, and so does PostgreSQL with
/// `LC_CTYPE` `C`. Each batch is one transaction; the next run continues with the rest.
pub(crate) fn fill_name_keys(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    for table in ["branches", "discounts", "shops"] {
        in_turns(connection, |connection| {
            let missing =
                format!("SELECT id, name FROM {table} WHERE name_key = '' AND name <> '' ORDER BY id LIMIT 500");
            let rows: Vec<NameRow> = Statement::new(missing).rows(connection)?;
            if !rows.is_empty() {
                Statement::new(format!("UPDATE {table} SET name_key = v.column2 FROM (VALUES "))
                    .tuples(rows.iter().map(|row| [row.id.into(), row.name.to_lowercase().into()]))
                    .once()
                    .sql(format!(") AS v WHERE {table}.id = v.column1"))
                    .run(connection)?;
            }
            Ok(rows.len())
        })?;
    }
    Ok(())
}
