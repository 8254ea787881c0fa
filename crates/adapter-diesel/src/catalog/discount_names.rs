//! Search keys of discounts that were stored before there were any.

use diesel::Connection as _;
use diesel::sql_types::{BigInt, Text};
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection};
use crate::statement::{Statement, by_place};

by_place! {
    struct NameRow {
        id: i64 as BigInt,
        name: String as Text,
    }
}

/// Fills in the names in lower case. No migration can: SQLite knows the letters of ASCII only, and so does PostgreSQL where
/// `LC_CTYPE` is `C`. Every step is a commit of its own; what was not reached is found the next time.
pub(crate) fn fill_names(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    loop {
        let filled = connection.transaction::<_, Abort<StoreError>, _>(|connection| {
            let missing = "SELECT id, name FROM discounts WHERE name_key = '' AND name <> '' ORDER BY id LIMIT 500";
            let rows: Vec<NameRow> = Statement::new(missing).rows(connection)?;
            if !rows.is_empty() {
                let update = Statement::new("UPDATE discounts SET name_key = v.column2 FROM (VALUES ");
                update
                    .tuples(rows.iter().map(|row| [row.id.into(), row.name.to_lowercase().into()]))
                    .once()
                    .sql(") AS v WHERE discounts.id = v.column1")
                    .run(connection)?;
            }
            Ok(rows.len())
        })?;
        if filled == 0 {
            return Ok(());
        }
    }
}
