use std::collections::HashMap;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::AssortmentError;
use kontor_catalog::model::{Brand, Category};
use kontor_catalog::ports::{ApplicationDirectory, AssortmentRepository};
use kontor_kernel::{ApplicationId, BrandId, CategoryId, ProjectId, StoreError};

use super::{brands as brand_records, categories as category_records, found, hold};
use crate::database::{Abort, Database};
use crate::schema::{application_brands, application_categories, applications, brands, categories};
use crate::stored;

#[async_trait]
impl ApplicationDirectory for Database {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectId>, StoreError> {
        self.read(move |connection| {
            let owner: Option<i64> = applications::table
                .find(application.get())
                .select(applications::project_id)
                .first(connection)
                .optional()?;
            Ok(stored::optional_id(owner)?)
        })
        .await
    }
}

/// The same two steps on the tables of categories and on those of brands. They differ in the direction of the place:
/// the first category has the lowest `position`, the first brand the highest `priority`.
macro_rules! assortment {
    ($record:ident ($id:ty) from $records:ident by $load:path;
     $links:ident($item:ident, $place:ident) from $first:ident to $extreme:ident and then $step:literal) => {
        #[async_trait]
        impl AssortmentRepository<$record> for Database {
            async fn assigned(&self, application: ApplicationId) -> Result<Vec<$record>, StoreError> {
                self.read_snapshot(move |connection| {
                    let ids: Vec<i64> = $links::table
                        .filter($links::application_id.eq(application.get()))
                        .order(($links::$place.$first(), $links::$item))
                        .select($links::$item)
                        .load(connection)?;
                    let mut records: HashMap<i64, $record> =
                        $load(connection, &ids)?.into_iter().map(|record| (record.id.get(), record)).collect();
                    Ok(ids.iter().filter_map(|id| records.remove(id)).collect())
                })
                .await
            }

            async fn assign(
                &self,
                project: ProjectId,
                application: ApplicationId,
                id: $id,
            ) -> Result<$record, AssortmentError> {
                self.write(move |connection| {
                    let own = $records::table.find(id.get()).filter($records::project_id.eq(project.get()));
                    if !found!(connection, own)? {
                        return Err(Abort::Refused(AssortmentError::UnknownRecord));
                    }
                    hold!(connection, applications::table.find(application.get()).select(applications::id));
                    if !found!(connection, $links::table.find((application.get(), id.get())))? {
                        let last: Option<i64> = $links::table
                            .filter($links::application_id.eq(application.get()))
                            .select(diesel::dsl::$extreme($links::$place))
                            .first(connection)?;
                        diesel::insert_into($links::table)
                            .values((
                                $links::application_id.eq(application.get()),
                                $links::$item.eq(id.get()),
                                $links::$place.eq(last.unwrap_or_default() + $step),
                            ))
                            .execute(connection)?;
                    }
                    $load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(AssortmentError::UnknownRecord))
                })
                .await
            }
        }
    };
}

assortment! {
    Category (CategoryId) from categories by category_records::load;
    application_categories(category_id, position) from asc to max and then 1
}

assortment! {
    Brand (BrandId) from brands by brand_records::load;
    application_brands(brand_id, priority) from desc to min and then -1
}
