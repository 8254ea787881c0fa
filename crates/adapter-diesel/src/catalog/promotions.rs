use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{PhotoUrl, Promotion, PromotionDraft};
use kontor_catalog::ports::PromotionRepository;
use kontor_catalog::{PromotionError, PromotionList, PromotionReference, PromotionRefusal};
use kontor_kernel::{Page, PageRequest, ProjectId, Stamp, StoreError};

use super::categories::reference;
use super::staff_discounts::period;
use super::storefront::photo;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::decode;
use crate::histories;
use crate::schema::{discounts, nomenclatures, promotion_discounts, promotion_nomenclatures, promotions};
use crate::statement::Statement;

#[derive(Queryable, Selectable)]
#[diesel(table_name = promotions)]
struct PromotionRow {
    id: i64,
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
        .inner_join(discounts::table.on(discounts::id.eq(promotion_discounts::discount_id)))
        .filter(promotion_discounts::promotion_id.eq_any(ids.clone()))
        .order((promotion_discounts::promotion_id, promotion_discounts::position))
        .select((promotion_discounts::promotion_id, discounts::id, discounts::name))
        .load(connection)?;
    let items: Vec<(i64, i64, String)> = promotion_nomenclatures::table
        .inner_join(nomenclatures::table.on(nomenclatures::id.eq(promotion_nomenclatures::nomenclature_id)))
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

/// Returns every record once, with its position in the list.
fn places(wanted: &[i64]) -> Vec<(i64, i64)> {
    let mut seen = BTreeSet::new();
    (1..).zip(wanted.iter().copied().filter(|id| seen.insert(*id))).collect()
}

#[async_trait]
impl PromotionRepository for Database {
    async fn list(&self, project: ProjectId, page: PageRequest) -> Result<Page<Promotion>, StoreError> {
        self.read_snapshot(move |connection| {
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

    async fn insert(&self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError> {
        self.write(move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            let shown: Vec<i64> = draft.discount_ids.iter().map(|id| id.get()).collect();
            let items: Vec<i64> = draft.nomenclature_ids.iter().map(|id| id.get()).collect();
            let known = own(connection, "discounts", project, &shown)?;
            let mut unknown = foreign(PromotionList::Discounts, &shown, &known);
            let own = own(connection, "nomenclatures", project, &items)?;
            unknown.extend(foreign(PromotionList::Nomenclatures, &items, &own));
            if !unknown.is_empty() {
                return Err(Abort::refused(PromotionRefusal::UnknownReferences(unknown)));
            }
            let id: i64 = diesel::insert_into(promotions::table)
                .values((
                    promotions::project_id.eq(project.get()),
                    promotions::name.eq(draft.name.as_str()),
                    promotions::description.eq(draft.description.as_deref()),
                    promotions::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    promotions::starts_at.eq(draft.period.starts_at().map(|at| at.naive_utc())),
                    promotions::ends_at.eq(draft.period.ends_at().map(|at| at.naive_utc())),
                    promotions::created_at.eq(at.naive_utc()),
                    promotions::updated_at.eq(at.naive_utc()),
                ))
                .returning(promotions::id)
                .get_result(connection)?;
            let shown: Vec<_> = places(&shown)
                .into_iter()
                .map(|(place, discount)| {
                    (
                        promotion_discounts::promotion_id.eq(id),
                        promotion_discounts::discount_id.eq(discount),
                        promotion_discounts::position.eq(place),
                    )
                })
                .collect();
            let items: Vec<_> = places(&items)
                .into_iter()
                .map(|(place, item)| {
                    (
                        promotion_nomenclatures::promotion_id.eq(id),
                        promotion_nomenclatures::nomenclature_id.eq(item),
                        promotion_nomenclatures::position.eq(place),
                    )
                })
                .collect();
            on_each!(connection, concrete => {
                diesel::insert_into(promotion_discounts::table).values(&shown).execute(concrete)?;
                diesel::insert_into(promotion_nomenclatures::table).values(&items).execute(concrete)?
            });
            let row = promotions::table.find(id).select(PromotionRow::as_select()).first(connection)?;
            let created = complete(connection, vec![row])?.pop();
            let created = created.ok_or_else(|| StoreError::Failed("a new promotion cannot be found".to_owned()))?;
            histories::created(connection, &stamp, &created)?;
            Ok(created)
        })
        .await
    }
}
