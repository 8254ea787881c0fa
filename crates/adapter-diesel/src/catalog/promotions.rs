use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{PhotoUrl, Promotion, PromotionChange, PromotionDraft, PromotionStats};
use kontor_catalog::ports::PromotionRepository;
use kontor_catalog::{PromotionError, PromotionList, PromotionReference, PromotionRefusal};
use kontor_kernel::{
    DiscountId, NomenclatureId, Page, PageRequest, ProjectId, ProjectScoped, PromotionId, Stamp, StoreError,
};

use super::discounts::period;
use super::storefront::photo;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::decode::{self, reference};
use crate::records::{self, StoredRecord};
use crate::schema::{
    discounts, keyed, nomenclatures, promotion_discounts, promotion_nomenclatures, promotions, referred,
};
use crate::statement::{Statement, by_place};

#[derive(Queryable, Selectable)]
#[diesel(table_name = promotions)]
struct PromotionRow {
    id: i64,
    project_id: i64,
    name: String,
    description: Option<String>,
    photo: Option<String>,
    starts_at: Option<NaiveDateTime>,
    ends_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// Records linked to promotions, by promotion: id and name, in the order set by staff.
type Links = BTreeMap<i64, Vec<(i64, String)>>;

fn by_promotion(rows: Vec<(i64, i64, String)>) -> Links {
    let mut links = Links::new();
    for (promotion, id, name) in rows {
        links.entry(promotion).or_default().push((id, name));
    }
    links
}

fn promotion(row: PromotionRow, shown: &[(i64, String)], items: &[(i64, String)]) -> Result<Promotion, StoreError> {
    Ok(Promotion {
        id: decode::id(row.id)?,
        name: decode::owned(row.name)?,
        description: row.description.map(decode::owned).transpose()?,
        photo: row.photo.as_deref().map(photo).transpose()?,
        period: period(row.starts_at, row.ends_at)?,
        discounts: shown.iter().map(|(id, name)| reference(*id, name)).collect::<Result<_, _>>()?,
        nomenclatures: items.iter().map(|(id, name)| reference(*id, name)).collect::<Result<_, _>>()?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Adds the linked records to promotions, with two more statements.
fn complete<R>(connection: &mut AnyConnection, rows: Vec<PromotionRow>) -> Result<Vec<Promotion>, Abort<R>> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let shown: Vec<(i64, i64, String)> = promotion_discounts::table
        .inner_join(referred!(discounts, promotion_discounts::discount_id))
        .filter(promotion_discounts::promotion_id.eq_any(ids.clone()))
        .order((promotion_discounts::promotion_id, promotion_discounts::position))
        .select((promotion_discounts::promotion_id, discounts::id, discounts::name))
        .load(connection)?;
    let items: Vec<(i64, i64, String)> = promotion_nomenclatures::table
        .inner_join(referred!(nomenclatures, promotion_nomenclatures::nomenclature_id))
        .filter(promotion_nomenclatures::promotion_id.eq_any(ids))
        .order((promotion_nomenclatures::promotion_id, promotion_nomenclatures::position))
        .select((promotion_nomenclatures::promotion_id, nomenclatures::id, nomenclatures::name))
        .load(connection)?;
    let (shown, items) = (by_promotion(shown), by_promotion(items));
    let of = |links: &Links, id: i64| links.get(&id).cloned().unwrap_or_default();
    rows.into_iter()
        .map(|row| {
            let (shown, items) = (of(&shown, row.id), of(&items, row.id));
            promotion(row, &shown, &items).map_err(Abort::Store)
        })
        .collect()
}

/// Returns those of these records that belong to the project and locks them until the commit.
fn own(
    connection: &mut AnyConnection,
    table: &'static str,
    project: ProjectId,
    ids: &[i64],
) -> QueryResult<BTreeSet<i64>> {
    let own = Statement::new(format!("SELECT id FROM {table} WHERE project_id = ")).value(project.get());
    let own: Vec<i64> = own.sql(" AND id").among(ids).locked(connection, " FOR KEY SHARE").scalars(connection)?;
    Ok(own.into_iter().collect())
}

fn foreign(list: PromotionList, wanted: &[i64], own: &BTreeSet<i64>) -> Vec<PromotionReference> {
    let foreign = wanted.iter().enumerate().filter(|(_, id)| !own.contains(id));
    foreign.map(|(place, _)| PromotionReference { list, place }).collect()
}

impl StoredRecord for Promotion {
    const TABLE: &'static str = "promotions";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<PromotionRow> =
            promotions::table.find(id).select(PromotionRow::as_select()).first(connection).optional()?;
        let Some(row) = row else { return Ok(None) };
        let project = row.project_id;
        let promotion = complete(connection, vec![row])?.pop();
        Ok(promotion.map(|promotion| records::of_project(project, Ok(promotion))).transpose()?)
    }
}

by_place! {
    struct StatsRow {
        discounts: i64,
        promo_codes: i64,
        usages: i64,
        amount: i64,
    }
}

/// Replaces the lists of a promotion; `None` leaves a list as it is. Refuses with all records that do not belong to the
/// project.
fn replace_links(
    connection: &mut AnyConnection,
    project: ProjectId,
    promotion: i64,
    discount_ids: Option<&[DiscountId]>,
    nomenclature_ids: Option<&[NomenclatureId]>,
) -> Result<(), Abort<PromotionError>> {
    let shown: Option<Vec<i64>> = discount_ids.map(|ids| ids.iter().map(|id| id.get()).collect());
    let items: Option<Vec<i64>> = nomenclature_ids.map(|ids| ids.iter().map(|id| id.get()).collect());
    let mut unknown = Vec::new();
    if let Some(shown) = &shown {
        unknown.extend(foreign(PromotionList::Discounts, shown, &own(connection, "discounts", project, shown)?));
    }
    if let Some(items) = &items {
        let own = own(connection, "nomenclatures", project, items)?;
        unknown.extend(foreign(PromotionList::Nomenclatures, items, &own));
    }
    if !unknown.is_empty() {
        return Err(Abort::refused(PromotionRefusal::UnknownReferences(unknown)));
    }
    if let Some(shown) = shown {
        let of_promotion = promotion_discounts::table
            .filter(promotion_discounts::project_id.eq(project.get()))
            .filter(promotion_discounts::promotion_id.eq(promotion));
        diesel::delete(of_promotion).execute(connection)?;
        let link = |(place, discount): (i64, i64)| {
            (
                promotion_discounts::project_id.eq(project.get()),
                promotion_discounts::promotion_id.eq(promotion),
                promotion_discounts::discount_id.eq(discount),
                promotion_discounts::position.eq(place),
            )
        };
        let links: Vec<_> = places(&shown).into_iter().map(link).collect();
        on_each!(connection, concrete => {
            diesel::insert_into(promotion_discounts::table).values(&links).execute(concrete)?
        });
    }
    if let Some(items) = items {
        let of_promotion = promotion_nomenclatures::table
            .filter(promotion_nomenclatures::project_id.eq(project.get()))
            .filter(promotion_nomenclatures::promotion_id.eq(promotion));
        diesel::delete(of_promotion).execute(connection)?;
        let link = |(place, item): (i64, i64)| {
            (
                promotion_nomenclatures::project_id.eq(project.get()),
                promotion_nomenclatures::promotion_id.eq(promotion),
                promotion_nomenclatures::nomenclature_id.eq(item),
                promotion_nomenclatures::position.eq(place),
            )
        };
        let links: Vec<_> = places(&items).into_iter().map(link).collect();
        on_each!(connection, concrete => {
            diesel::insert_into(promotion_nomenclatures::table).values(&links).execute(concrete)?
        });
    }
    Ok(())
}

/// Returns every record once, with its position in the list.
fn places(wanted: &[i64]) -> Vec<(i64, i64)> {
    let mut seen = BTreeSet::new();
    (1..).zip(wanted.iter().copied().filter(|id| seen.insert(*id))).collect()
}

#[async_trait]
impl PromotionRepository for Database {
    async fn list(&self, project: ProjectId, page: PageRequest) -> Result<Page<Promotion>, StoreError> {
        self.snapshot(move |connection| {
            let of_project = || promotions::table.filter(promotions::project_id.eq(project.get()));
            let total: i64 = of_project().count().get_result(connection)?;
            let rows: Vec<PromotionRow> = of_project()
                .order(promotions::id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select(PromotionRow::as_select())
                .load(connection)?;
            Ok(Page { items: complete(connection, rows)?, total: decode::count(total)?, request: page })
        })
        .await
    }

    async fn find(&self, id: PromotionId) -> Result<Option<ProjectScoped<Promotion>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn stats(&self, id: PromotionId) -> Result<PromotionStats, StoreError> {
        self.read(move |connection| {
            let row: StatsRow = Statement::new(
                "SELECT count(*), count(d.code), CAST(coalesce(sum(d.used_count), 0) AS BIGINT), \
                 CAST(coalesce(sum(d.used_amount), 0) AS BIGINT) FROM promotion_discounts p \
                 JOIN discounts d ON d.id = p.discount_id AND d.project_id = p.project_id WHERE p.promotion_id = ",
            )
            .value(id.get())
            .row(connection)?;
            Ok(PromotionStats {
                discounts: decode::count(row.discounts)?,
                promo_codes: decode::count(row.promo_codes)?,
                usages: decode::count(row.usages)?,
                amount: decode::money(row.amount)?,
            })
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        records::insert(self, stamp, move |connection| {
            let id: i64 = diesel::insert_into(promotions::table)
                .values((
                    promotions::project_id.eq(stamp.project_id.get()),
                    promotions::name.eq(draft.name.as_str()),
                    promotions::description.eq(draft.description.as_deref()),
                    promotions::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    promotions::starts_at.eq(draft.period.starts_at().map(|at| at.naive_utc())),
                    promotions::ends_at.eq(draft.period.ends_at().map(|at| at.naive_utc())),
                    promotions::created_at.eq(stamp.at.naive_utc()),
                    promotions::updated_at.eq(stamp.at.naive_utc()),
                ))
                .returning(promotions::id)
                .get_result(connection)?;
            let (shown, items) = (draft.discount_ids.as_slice(), draft.nomenclature_ids.as_slice());
            replace_links(connection, stamp.project_id, id, Some(shown), Some(items))?;
            Ok(id)
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: PromotionId,
        change: PromotionChange,
    ) -> Result<Promotion, PromotionError> {
        records::change(self, stamp, id.get(), move |connection, before: &Promotion| {
            let period = match change.period(before.period) {
                Ok(period) => period,
                Err(wrong) => return Err(Abort::refused(PromotionRefusal::Period(wrong))),
            };
            let written = diesel::update(keyed!(promotions, id.get(), stamp.project_id))
                .set((
                    change.name.as_set().map(|name| promotions::name.eq(name.as_str())),
                    change.description.as_set().map(|text| promotions::description.eq(text.as_deref())),
                    change.photo.as_set().map(|photo| promotions::photo.eq(photo.as_ref().map(PhotoUrl::as_str))),
                    promotions::starts_at.eq(period.starts_at().map(|at| at.naive_utc())),
                    promotions::ends_at.eq(period.ends_at().map(|at| at.naive_utc())),
                    promotions::version.eq(promotions::version + 1),
                    promotions::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)?;
            let shown = change.discount_ids.as_set().map(Vec::as_slice);
            let items = change.nomenclature_ids.as_set().map(Vec::as_slice);
            replace_links(connection, stamp.project_id, id.get(), shown, items)?;
            Ok(written)
        })
        .await
    }

    async fn delete(&self, stamp: Stamp, id: PromotionId) -> Result<(), PromotionError> {
        records::delete(self, stamp, id.get(), move |connection, _: &Promotion| {
            Ok(diesel::delete(keyed!(promotions, id.get(), stamp.project_id)).execute(connection)?)
        })
        .await
    }
}
