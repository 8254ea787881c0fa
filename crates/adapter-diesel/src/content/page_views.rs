//! Views of content pages, added in batches.

use diesel::result::QueryResult;
use kontor_kernel::PageId;

use crate::database::{AnyConnection, Topic};
use crate::statement::Statement;

const CHUNK: usize = 500;

/// Adds views, ordered by page, so that two processes storing views wait for each other instead of deadlocking.
pub(super) fn add(connection: &mut AnyConnection, mut views: Vec<(PageId, u64)>) -> QueryResult<()> {
    views.sort_unstable();
    for views in views.chunks(CHUNK) {
        let ids: Vec<i64> = views.iter().map(|(id, _)| id.get()).collect();
        if connection.is_postgres() {
            let rows = Statement::new("SELECT id FROM pages WHERE id").among(&ids);
            rows.sql(" ORDER BY id FOR NO KEY UPDATE").run(connection)?;
        }
        let counts: Vec<String> = views.iter().map(|(id, count)| format!("WHEN {id} THEN {count}")).collect();
        let counts = counts.join(" ");
        Statement::new(format!("UPDATE pages SET views_count = views_count + CASE id {counts} ELSE 0 END WHERE id"))
            .among(&ids)
            .once()
            .run(connection)?;
        let projects = Statement::new("SELECT DISTINCT project_id FROM pages WHERE id").among(&ids);
        let projects: Vec<i64> = projects.scalars(connection)?;
        connection.declare_unchanged(Topic::Storefront);
        for project in projects {
            connection.invalidate(Topic::Views, project);
        }
    }
    Ok(())
}
