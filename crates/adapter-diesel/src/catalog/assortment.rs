//! Assortment of an application, and its order.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_catalog::model::{Brand, Category, MoveDirection};
use kontor_catalog::ports::{ApplicationDirectory, AssortmentRepository};
use kontor_catalog::{AssortmentError, AssortmentRefusal};
use kontor_kernel::history::FieldChange;
use kontor_kernel::{ApplicationId, BrandId, CategoryId, Listing, Page, ProjectScoped, Resource, Stamp, StoreError};

use super::{brands as brand_records, categories as category_records};
use crate::applications::owner;
use crate::database::{Abort, AnyConnection, Database, Topic, found};
use crate::listing::{Source, in_order, key_contains};
use crate::locks::lock_rows;
use crate::schema::{application_brands, application_categories, brands, categories};
use crate::statement::{Statement, by_place};
use crate::{histories, unreadable};

/// Outcome of moving a record.
pub(super) enum MoveOutcome {
    /// The application does not show the record.
    NotShown,
    /// The record is at the end already.
    AtEnd,
    /// The record changed places with this one.
    SwappedWith(i64),
}

/// Table with the records that an application shows, and their order.
pub(super) struct Links {
    /// Table, keyed by `application_id` and `item`.
    pub table: &'static str,
    /// Column with the id of the record.
    pub item: &'static str,
    /// Column with the position of the record.
    pub place: &'static str,
    /// `true` if the lowest position comes first, `false` if the highest does.
    pub lowest_first: bool,
}

by_place! {
    struct SpotRow {
        place: i64,
        neighbour: Option<i64>,
        neighbour_place: Option<i64>,
    }
}

impl Links {
    fn order(&self) -> String {
        let direction = if self.lowest_first { "ASC" } else { "DESC" };
        format!("ORDER BY {} {direction}, {}", self.place, self.item)
    }

    /// Returns the position of a record and its neighbour.
    fn position_and_neighbour(
        &self,
        connection: &mut AnyConnection,
        application: i64,
        id: i64,
        shift: MoveDirection,
    ) -> QueryResult<Option<SpotRow>> {
        let Self { table, item, place, .. } = self;
        let beside = match shift {
            MoveDirection::Up => "LAG",
            MoveDirection::Down => "LEAD",
        };
        let order = self.order();
        let spot = Statement::new(format!(
            "SELECT place, neighbour, neighbour_place FROM (SELECT {item} AS item, {place} AS place, \
             {beside}({item}) OVER ({order}) AS neighbour, {beside}({place}) OVER ({order}) AS neighbour_place \
             FROM {table} WHERE application_id = "
        ))
        .value(application)
        .sql(") AS shown WHERE item = ")
        .value(id);
        Ok(spot.rows(connection)?.pop())
    }

    /// Swaps a record with its neighbour, if it has one. The caller has locked the application.
    pub fn shift(
        &self,
        connection: &mut AnyConnection,
        (project, application): (i64, i64),
        id: i64,
        shift: MoveDirection,
    ) -> QueryResult<MoveOutcome> {
        let Some(mut spot) = self.position_and_neighbour(connection, application, id, shift)? else {
            return Ok(MoveOutcome::NotShown);
        };
        if spot.neighbour_place == Some(spot.place) {
            self.spread(connection, project, application)?;
            let Some(spread) = self.position_and_neighbour(connection, application, id, shift)? else {
                return Ok(MoveOutcome::NotShown);
            };
            spot = spread;
        }
        let (Some(neighbour), Some(place)) = (spot.neighbour, spot.neighbour_place) else {
            return Ok(MoveOutcome::AtEnd);
        };
        let Self { table, item, place: column, .. } = self;
        Statement::new(format!("UPDATE {table} SET version = version + 1, {column} = CASE {item} WHEN "))
            .value(id)
            .sql(" THEN ")
            .value(place)
            .sql(" ELSE ")
            .value(spot.place)
            .sql(" END WHERE project_id = ")
            .value(project)
            .sql(" AND application_id = ")
            .value(application)
            .sql(format!(" AND {item}"))
            .among(&[id, neighbour])
            .run(connection)?;
        Ok(MoveOutcome::SwappedWith(neighbour))
    }

    /// Assigns a distinct position to every record, keeping the order.
    fn spread(&self, connection: &mut AnyConnection, project: i64, application: i64) -> QueryResult<()> {
        let Self { table, item, place, lowest_first } = self;
        let sign = if *lowest_first { "" } else { "-" };
        let order = self.order();
        Statement::new(format!(
            "UPDATE {table} SET version = {table}.version + 1, {place} = {sign}spread.place FROM (SELECT {item} AS item, \
             ROW_NUMBER() OVER ({order}) AS place FROM {table} WHERE application_id = "
        ))
        .value(application)
        .sql(format!(") AS spread WHERE {table}.{item} = spread.item AND {table}.application_id = "))
        .value(application)
        .sql(format!(" AND {table}.project_id = "))
        .value(project)
        .run(connection)?;
        Ok(())
    }
}

/// Writes to the history of the application how its assortment, in the order shown to customers, changed.
fn record_order<R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    application: ApplicationId,
    field: &str,
    old: &[i64],
    new: &[i64],
) -> Result<(), Abort<R>> {
    let text = |ids: &[i64]| {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| ids.join(", "))
    };
    let change = FieldChange { field: field.to_owned(), old: text(old), new: text(new) };
    histories::changed_many(connection, stamp, Resource::Applications, &[(application.get(), vec![change])])
}

#[async_trait]
impl ApplicationDirectory for Database {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        owner(self, application).await
    }
}

/// Implements the same two transactions for categories and for brands. They differ in the direction of the position:
/// the first category has the lowest `position`, the first brand the highest `priority`.
macro_rules! assortment {
    ($record:ident ($id:ty) from $records:ident by $load:path;
     $links:ident($item:ident, $place:ident) from $first:ident to $extreme:ident and then $step:literal) => {
        #[async_trait]
        impl AssortmentRepository<$record> for Database {
            async fn assigned(&self, application: ApplicationId) -> Result<Vec<$record>, StoreError> {
                self.snapshot(move |connection| {
                    let ids: Vec<i64> = $links::table
                        .filter($links::application_id.eq(application.get()))
                        .order(($links::$place.$first(), $links::$item))
                        .select($links::$item)
                        .load(connection)?;
                    let records = unreadable::records(connection, stringify!($records), &ids, $load)?;
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
                        ("name", "r.sort_key"),
                    ],
                    search: |text| key_contains("r.name_key", text),
                };
                self.snapshot(move |connection| {
                    let own = Statement::new("l.application_id = ").value(application.get());
                    let found = SHOWN.page(connection, own, &listing)?;
                    let records = unreadable::records(connection, stringify!($records), &found.items, $load)?;
                    Ok(found.with_items(in_order(&found.items, records, |record| record.id.get())))
                })
                .await
            }

            async fn shown(&self, application: ApplicationId, id: $id) -> Result<Option<$record>, StoreError> {
                self.snapshot(move |connection| {
                    if !found!(connection, $links::table.find((application.get(), id.get())))? {
                        return Ok(None);
                    }
                    Ok($load(connection, &[id.get()])?.pop())
                })
                .await
            }

            async fn shift(
                &self,
                stamp: Stamp,
                application: ApplicationId,
                id: $id,
                shift: MoveDirection,
            ) -> Result<$record, AssortmentError> {
                let links = Links {
                    table: stringify!($links),
                    item: stringify!($item),
                    place: stringify!($place),
                    lowest_first: $step > 0,
                };
                self.write(move |connection| {
                    connection.invalidate(Topic::Storefront, stamp.project_id.get());
                    lock_rows(connection, "applications", &[application.get()])?;
                    let of_application = (stamp.project_id.get(), application.get());
                    match links.shift(connection, of_application, id.get(), shift)? {
                        MoveOutcome::NotShown => return Err(Abort::Refused(AssortmentError::NotFound)),
                        MoveOutcome::AtEnd => {}
                        MoveOutcome::SwappedWith(neighbour) => {
                            let (old, new) = match shift {
                                MoveDirection::Up => ([neighbour, id.get()], [id.get(), neighbour]),
                                MoveDirection::Down => ([id.get(), neighbour], [neighbour, id.get()]),
                            };
                            record_order(connection, &stamp, application, stringify!($records), &old, &new)?;
                        }
                    }
                    $load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(AssortmentError::NotFound))
                })
                .await
            }

            async fn withdraw(&self, stamp: Stamp, application: ApplicationId, id: $id) -> Result<(), AssortmentError> {
                self.write(move |connection| {
                    connection.invalidate(Topic::Storefront, stamp.project_id.get());
                    lock_rows(connection, "applications", &[application.get()])?;
                    let link = $links::table.find((application.get(), id.get()));
                    let own = link.filter($links::project_id.eq(stamp.project_id.get()));
                    let gone = diesel::delete(own).execute(connection)?;
                    if gone == 0 {
                        return Err(Abort::Refused(AssortmentError::NotFound));
                    }
                    record_order(connection, &stamp, application, stringify!($records), &[id.get()], &[])
                })
                .await
            }

            async fn assign(
                &self,
                stamp: Stamp,
                application: ApplicationId,
                id: $id,
            ) -> Result<$record, AssortmentError> {
                self.write(move |connection| {
                    let project = stamp.project_id.get();
                    connection.invalidate(Topic::Storefront, project);
                    let own = $records::table.find(id.get()).filter($records::project_id.eq(project));
                    if !found!(connection, own)? {
                        return Err(Abort::refused(AssortmentRefusal::UnknownRecord));
                    }
                    lock_rows(connection, "applications", &[application.get()])?;
                    connection.note_created(stringify!($records), id.get());
                    if !found!(connection, $links::table.find((application.get(), id.get())))? {
                        let last: Option<i64> = $links::table
                            .filter($links::application_id.eq(application.get()))
                            .select(diesel::dsl::$extreme($links::$place))
                            .first(connection)?;
                        diesel::insert_into($links::table)
                            .values((
                                $links::project_id.eq(project),
                                $links::application_id.eq(application.get()),
                                $links::$item.eq(id.get()),
                                $links::$place.eq(last.unwrap_or_default() + $step),
                            ))
                            .execute(connection)?;
                        record_order(connection, &stamp, application, stringify!($records), &[], &[id.get()])?;
                    }
                    $load(connection, &[id.get()])?.pop().ok_or(Abort::refused(AssortmentRefusal::UnknownRecord))
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
