//! Text indexes of PostgreSQL, where available.
//!
//! They need the extensions `pg_trgm` and `btree_gin`. A server without them returns the same results from the same
//! columns, but reads more rows.

use std::time::{Duration, Instant};

use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use kontor_kernel::{ProjectId, StoreError};

use crate::database::{Abort, AnyConnection, Database, conclude, is_lost};
use crate::statement::Statement;

const EXTENSIONS: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE EXTENSION IF NOT EXISTS btree_gin;";

const TABLES: [&str; 3] = ["nomenclatures", "counterparties", "pages"];

/// Share of all items from which the index is read without the project: the list of such a project is about as long as
/// the table, and would be read with every word.
const LARGE: &str = "0.2";

/// Time until the shares are read again.
const SHARES_LIFETIME: Duration = Duration::from_mins(10);

fn are_indexed(connection: &mut AnyConnection) -> Result<bool, Abort<StoreError>> {
    let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() \
        AND indexname IN ('nomenclatures_search', 'counterparties_search', 'pages_search')";
    let count: i64 = Statement::new(indexes).scalar(connection)?;
    Ok(usize::try_from(count) == Ok(TABLES.len()))
}

/// Returns the projects that have a large share of all items, by the statistics of the server.
fn large_projects(connection: &mut AnyConnection) -> QueryResult<Vec<i64>> {
    if let Some((_, projects)) =
        connection.large_projects.as_ref().filter(|(read_at, _)| read_at.elapsed() < SHARES_LIFETIME)
    {
        return Ok(projects.clone());
    }
    let shares = "SELECT v.id FROM pg_stats s, \
        unnest(s.most_common_vals::text::bigint[], s.most_common_freqs) AS v(id, share) \
        WHERE s.schemaname = current_schema() AND s.tablename = 'nomenclatures' AND s.attname = 'project_id' \
        AND v.share >= ";
    let projects: Vec<i64> = Statement::new(shares).sql(LARGE).scalars(connection)?;
    connection.large_projects = Some((Instant::now(), projects.clone()));
    Ok(projects)
}

/// Returns the condition that an item `s` belongs to the project. Searches of customers and pages take the plain one: they
/// are in the order of an index that begins with the project.
pub(super) fn of_project(connection: &mut AnyConnection, project: ProjectId) -> QueryResult<Statement> {
    // An expression, so that the index is not read for the project.
    let all = if large_projects(connection)?.contains(&project.get()) { " + 0" } else { "" };
    Ok(Statement::new(format!("s.project_id{all} = ")).value(project.get()))
}

fn make(connection: &mut AnyConnection) -> QueryResult<()> {
    connection.batch_execute(EXTENSIONS)?;
    for table in TABLES {
        connection.batch_execute(&format!(
            "CREATE INDEX IF NOT EXISTS {table}_search ON {table} USING gin (project_id, search_text gin_trgm_ops)"
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
