//! Product views, added in batches.

use async_trait::async_trait;
use kontor_catalog::storefront::ports::ViewCounter;
use kontor_kernel::{NomenclatureId, StoreError};

use crate::database::Database;
use crate::read_models::views::{VIEWED, add_views};
use crate::statement::Statement;

#[async_trait]
impl ViewCounter for Database {
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError> {
        let mut views: Vec<(i64, u64)> = views.into_iter().map(|(id, count)| (id.get(), count)).collect();
        views.sort_unstable();
        self.write(move |connection| {
            for views in views.chunks(VIEWED) {
                let ids = add_views(connection, "nomenclatures", views)?;
                Statement::new(
                    "UPDATE storefront_offers SET popularity = (SELECT n.views_count FROM nomenclatures n \
                     WHERE n.id = storefront_offers.nomenclature_id) WHERE nomenclature_id",
                )
                .among(&ids)
                .run(connection)?;
            }
            Ok(())
        })
        .await
    }
}
