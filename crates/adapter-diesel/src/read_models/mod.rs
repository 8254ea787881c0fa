//! Read models of the catalog, updated in the transactions that change it: offers of applications, their counts, and
//! the search index of items and customers; and counts of views.

pub(crate) mod offers;
pub(crate) mod search;

use diesel::result::QueryResult;

use crate::database::{AnyConnection, Topic};
use crate::lease::is_here;
use crate::locks::lock_rows;
use crate::statement::Statement;

/// Maximum records of a batch.
pub(crate) const VIEW_BATCH: usize = 500;

/// Adds views to the records of a table, ordered by id, so that two processes storing views wait for each other instead
/// of deadlocking. Returns the ids.
pub(crate) fn add_views(
    connection: &mut AnyConnection,
    table: &'static str,
    views: &[(i64, u64)],
) -> QueryResult<Vec<i64>> {
    let ids: Vec<i64> = views.iter().map(|(id, _)| *id).collect();
    lock_rows(connection, table, &ids)?;
    let count = |(id, count): &(i64, u64)| format!("WHEN {id} THEN {}", i64::try_from(*count).unwrap_or(i64::MAX));
    let counts = views.iter().map(count).collect::<Vec<_>>().join(" ");
    Statement::new(format!("UPDATE {table} SET views_count = views_count + CASE id {counts} ELSE 0 END WHERE id"))
        .among(&ids)
        .sql(format!(" AND {}", is_here(table)))
        .once()
        .run(connection)?;
    let projects = Statement::new(format!("SELECT DISTINCT project_id FROM {table} WHERE id")).among(&ids);
    let projects: Vec<i64> = projects.scalars(connection)?;
    connection.declare_unchanged(Topic::Storefront);
    for project in projects {
        connection.invalidate(Topic::Views, project);
    }
    Ok(ids)
}
