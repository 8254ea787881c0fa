use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::AssortmentError;
use kontor_catalog::model::{Brand, Category, Shift};
use kontor_catalog::ports::{ApplicationDirectory, AssortmentRepository};
use kontor_kernel::{ApplicationId, BrandId, CategoryId, Listing, Page, ProjectId, StoreError};

use super::assortment_order::Links;
use super::{brands as brand_records, categories as category_records, found, hold, in_order};
use crate::database::marks::{Topic, note};
use crate::database::{Abort, AnyConnection, Database};
use crate::listing::{Source, key_contains};
use crate::schema::{application_brands, application_categories, applications, brands, categories};
use crate::statement::Statement;
use crate::stored;

/// What the application shows changes.
fn mark(connection: &mut AnyConnection, application: ApplicationId) -> QueryResult<()> {
    let project: Option<i64> =
        applications::table.find(application.get()).select(applications::project_id).first(connection).optional()?;
    if let Some(project) = project {
        note(Topic::Shelves, project);
    }
    Ok(())
}

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
                    let records = $load(connection, &ids)?;
                    Ok(in_order(&ids, records, |record: &$record| record.id.get()))
                })
                .await
            }

            async fn page(&self, application: ApplicationId, listing: Listing) -> Result<Page<$record>, StoreError> {
                const SHOWN: Source = Source {
                    from: concat!(
                        stringify!($links),
                        " l JOIN ",
                        stringify!($records),
                        " r ON r.id = l.",
                        stringify!($item)
                    ),
                    id: concat!("l.", stringify!($item)),
                    fields: &[
                        (stringify!($place), concat!("l.", stringify!($place))),
                        ("id", concat!("l.", stringify!($item))),
                        ("name", "r.name_key"),
                    ],
                    search: |text| key_contains("r.name_key", text),
                };
                self.read_snapshot(move |connection| {
                    let own = Statement::new("l.application_id = ").value(application.get());
                    let found = SHOWN.page(connection, own, &listing)?;
                    let records = $load(connection, &found.items)?;
                    Ok(Page {
                        items: in_order(&found.items, records, |record| record.id.get()),
                        total: found.total,
                        request: found.request,
                    })
                })
                .await
            }

            async fn shown(&self, application: ApplicationId, id: $id) -> Result<Option<$record>, StoreError> {
                self.read_snapshot(move |connection| {
                    if !found!(connection, $links::table.find((application.get(), id.get())))? {
                        return Ok(None);
                    }
                    Ok($load(connection, &[id.get()])?.pop())
                })
                .await
            }

            async fn shift(
                &self,
                application: ApplicationId,
                id: $id,
                shift: Shift,
            ) -> Result<$record, AssortmentError> {
                let links = Links {
                    table: stringify!($links),
                    item: stringify!($item),
                    place: stringify!($place),
                    lowest_first: $step > 0,
                };
                self.write(move |connection| {
                    mark(connection, application)?;
                    hold!(connection, applications::table.find(application.get()).select(applications::id));
                    if !links.shift(connection, application.get(), id.get(), shift)? {
                        return Err(Abort::Refused(AssortmentError::NotShown));
                    }
                    $load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(AssortmentError::NotShown))
                })
                .await
            }

            async fn withdraw(&self, application: ApplicationId, id: $id) -> Result<(), AssortmentError> {
                self.write(move |connection| {
                    mark(connection, application)?;
                    hold!(connection, applications::table.find(application.get()).select(applications::id));
                    let gone = diesel::delete($links::table.find((application.get(), id.get()))).execute(connection)?;
                    if gone == 0 { Err(Abort::Refused(AssortmentError::NotShown)) } else { Ok(()) }
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
                    note(Topic::Shelves, project.get());
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
