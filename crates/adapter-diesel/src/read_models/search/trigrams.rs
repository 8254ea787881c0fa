//! Text indexes of PostgreSQL, where available.
//!
//! They need the extension `pg_trgm`. A server without it returns the same results from the same columns, but reads more
//! rows. The indexes do not contain the project: for a project with most records, its list would be as long as the table
//! and be read with every word. The server combines them with an index by project where that is less work.

use diesel::connection::SimpleConnection;
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, Database, conclude, is_lost};
use crate::statement::Statement;

const EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";

const TABLES: [&str; 3] = ["nomenclatures", "counterparties", "pages"];

fn are_indexed(connection: &mut AnyConnection) -> Result<bool, Abort<StoreError>> {
    let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() \
        AND indexname IN ('nomenclatures_search', 'counterparties_search', 'pages_search')";
    let count: i64 = Statement::new(indexes).scalar(connection)?;
    Ok(usize::try_from(count) == Ok(TABLES.len()))
}

fn make(connection: &mut AnyConnection) -> diesel::QueryResult<()> {
    connection.batch_execute(EXTENSION)?;
    for table in TABLES {
        connection.batch_execute(&format!(
            "CREATE INDEX IF NOT EXISTS {table}_search ON {table} USING gin (search_text gin_trgm_ops)"
        ))?;
    }
    Ok(())
}

/// Creates missing indexes, unless the server does not support them.
pub(crate) fn index_texts(connection: &mut AnyConnection) -> Result<(), Abort<StoreError>> {
    if !connection.is_postgres() || are_indexed(connection)? {
        return Ok(());
    }
    match make(connection) {
        Err(error) if is_lost(&error) => Err(error.into()),
        // Another process created them in the meantime.
        Err(_) if are_indexed(connection)? => Ok(()),
        Err(error) => {
            tracing::warn!(%error, "the server has no trigram index; searches scan all records of a project");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

impl Database {
    /// Returns `true` if searches use indexes instead of reading every record of a project.
    pub fn searches_are_indexed(&self) -> Result<bool, StoreError> {
        self.with_connection(|connection| {
            if !connection.is_postgres() {
                return Ok(true);
            }
            are_indexed(connection).map_err(conclude)
        })
    }
}
