//! Product views, added in batches.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_catalog::storefront::ports::ViewCounter;
use kontor_kernel::{NomenclatureId, StoreError};

use crate::database::{AnyConnection, Database, Topic};
use crate::schema::nomenclatures;
use crate::statement::Statement;

const CHUNK: usize = 500;

/// Adds views, ordered by item, so that two processes storing views wait for each other instead of deadlocking.
fn add(connection: &mut AnyConnection, views: &[(i64, i64)]) -> Result<(), QueryError> {
    let ids: Vec<i64> = views.iter().map(|(id, _)| *id).collect();
    if connection.is_postgres() {
        Statement::new("SELECT id FROM nomenclatures WHERE id")
            .among(&ids)
            .sql(" ORDER BY id FOR NO KEY UPDATE")
            .execute(connection)?;
    }
    let counts: Vec<String> = views.iter().map(|(id, count)| format!("WHEN {id} THEN {count}")).collect();
    let counts = counts.join(" ");
    Statement::new(format!(
        "UPDATE nomenclatures SET views_count = views_count + CASE id {counts} ELSE 0 END WHERE id"
    ))
    .among(&ids)
    .once()
    .execute(connection)?;
    Statement::new(
        "UPDATE storefront_offers SET popularity = (SELECT n.views_count FROM nomenclatures n \
         WHERE n.id = storefront_offers.nomenclature_id) WHERE nomenclature_id",
    )
    .among(&ids)
    .execute(connection)?;
    let projects: Vec<i64> = nomenclatures::table
        .filter(nomenclatures::id.eq_any(ids))
        .select(nomenclatures::project_id)
        .distinct()
        .load(connection)?;
    connection.declare_unchanged(Topic::Storefront);
    for project in projects {
        connection.invalidate(Topic::Views, project);
    }
    Ok(())
}

#[async_trait]
impl ViewCounter for Database {
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError> {
        let mut views: Vec<(i64, i64)> =
            views.into_iter().map(|(id, count)| (id.get(), i64::try_from(count).unwrap_or(i64::MAX))).collect();
        views.sort_unstable();
        self.write(move |connection| {
            for chunk in views.chunks(CHUNK) {
                add(connection, chunk)?;
            }
            Ok(())
        })
        .await
    }
}
