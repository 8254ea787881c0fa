use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::NomenclatureError;
use kontor_catalog::model::{BillingPeriod, Card, Nomenclature, NomenclatureFilter, NomenclatureSort};
use kontor_catalog::ports::NomenclatureRepository;
use kontor_kernel::{Line, NomenclatureId, Page, PageRequest, ProjectId, StoreError};

use super::search::{Backend, end, item_contains, start};
use super::{cards, found, offers, on_duplicate};
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::{inventories, nomenclatures};

/// The items a filter lets through.
fn matching(project: ProjectId, filter: &NomenclatureFilter) -> nomenclatures::BoxedQuery<'static, Backend> {
    let mut query = nomenclatures::table.filter(nomenclatures::project_id.eq(project.get())).into_boxed();
    if let Some(text) = &filter.query {
        query = query.filter(item_contains!(text));
    }
    if !filter.category_ids.is_empty() {
        let ids: Vec<i64> = filter.category_ids.iter().map(|id| id.get()).collect();
        query = query.filter(nomenclatures::category_id.assume_not_null().eq_any(ids));
    }
    if !filter.brand_ids.is_empty() {
        let ids: Vec<i64> = filter.brand_ids.iter().map(|id| id.get()).collect();
        query = query.filter(nomenclatures::brand_id.assume_not_null().eq_any(ids));
    }
    if !filter.kinds.is_empty() {
        let ids: Vec<i64> = filter.kinds.iter().map(|kind| kind.id()).collect();
        query = query.filter(nomenclatures::kind_id.eq_any(ids));
    }
    if let Some(day) = filter.created_from {
        query = query.filter(nomenclatures::created_at.ge(start(day)));
    }
    if let Some(day) = filter.created_to {
        query = query.filter(nomenclatures::created_at.lt(end(day)));
    }
    query
}

/// The filtered items in the order asked for; equal ones by number.
fn ordered(project: ProjectId, filter: &NomenclatureFilter) -> nomenclatures::BoxedQuery<'static, Backend> {
    let query = matching(project, filter);
    let query = match (filter.order.by, filter.order.descending) {
        (NomenclatureSort::Id, false) => return query.order(nomenclatures::id.asc()),
        (NomenclatureSort::Id, true) => return query.order(nomenclatures::id.desc()),
        (NomenclatureSort::Name, false) => query.order(nomenclatures::name_key.asc()),
        (NomenclatureSort::Name, true) => query.order(nomenclatures::name_key.desc()),
        (NomenclatureSort::Price, false) => query.order(nomenclatures::price.asc()),
        (NomenclatureSort::Price, true) => query.order(nomenclatures::price.desc()),
        (NomenclatureSort::CreatedAt, false) => query.order(nomenclatures::created_at.asc()),
        (NomenclatureSort::CreatedAt, true) => query.order(nomenclatures::created_at.desc()),
        (NomenclatureSort::UpdatedAt, false) => query.order(nomenclatures::updated_at.asc()),
        (NomenclatureSort::UpdatedAt, true) => query.order(nomenclatures::updated_at.desc()),
    };
    query.then_order_by(nomenclatures::id)
}

/// The columns staff write, from a card.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = nomenclatures, treat_none_as_null = true)]
struct CardRow<'a> {
    article: Option<String>,
    article_key: Option<String>,
    name: &'a str,
    name_key: String,
    kind_id: i64,
    category_id: Option<i64>,
    brand_id: Option<i64>,
    country_id: Option<i64>,
    storage_unit_id: Option<i64>,
    vat_id: Option<i64>,
    price: i64,
    description: Option<String>,
    characteristics: Option<String>,
    is_subscription: bool,
    billing_period_months: Option<i32>,
    wholesale: bool,
    pieces_per_pack: i32,
    quantity_pack: i32,
    updated_at: NaiveDateTime,
}

impl<'a> CardRow<'a> {
    fn new(card: &'a Card, at: DateTime<Utc>) -> Result<Self, StoreError> {
        let count = |pieces: u32| i32::try_from(pieces).map_err(StoreError::corrupt);
        Ok(Self {
            article: card.article.clone().map(String::from),
            article_key: card.article.as_ref().map(Line::key),
            name: card.name.as_str(),
            name_key: card.name.key(),
            kind_id: card.kind.id(),
            category_id: card.category_id.map(i64::from),
            brand_id: card.brand_id.map(i64::from),
            country_id: card.country_id.map(i64::from),
            storage_unit_id: card.storage_unit_id.map(i64::from),
            vat_id: card.vat_id.map(i64::from),
            price: card.price.minor(),
            description: card.description.clone().map(String::from),
            characteristics: card.characteristics.clone().map(String::from),
            is_subscription: card.subscription.is_some(),
            billing_period_months: card.subscription.map(|period| BillingPeriod::get(period).into()),
            wholesale: card.packaging.wholesale,
            pieces_per_pack: count(card.packaging.pieces_per_pack.get())?,
            quantity_pack: count(card.packaging.quantity_pack.get())?,
            updated_at: at.naive_utc(),
        })
    }
}

fn require_known(
    connection: &mut AnyConnection,
    project: ProjectId,
    card: &Card,
) -> Result<(), Abort<NomenclatureError>> {
    let unknown = cards::unknown(connection, project, card)?;
    if unknown.is_empty() { Ok(()) } else { Err(Abort::Refused(NomenclatureError::UnknownReferences(unknown))) }
}

/// Writes what hangs on a card, and what the applications sell by it, and reads everything back.
fn finish(connection: &mut AnyConnection, item: i64, card: &Card) -> Result<Nomenclature, Abort<NomenclatureError>> {
    cards::hang(connection, item, card)?;
    offers::refresh(connection, &[item])?;
    cards::load(connection, &[item])?.pop().ok_or(Abort::Refused(NomenclatureError::NotFound))
}

#[async_trait]
impl NomenclatureRepository for Database {
    async fn list(
        &self,
        project: ProjectId,
        filter: NomenclatureFilter,
        page: PageRequest,
    ) -> Result<Page<Nomenclature>, StoreError> {
        self.read_snapshot(move |connection| {
            let total: i64 = matching(project, &filter).count().get_result(connection)?;
            let ids: Vec<i64> = ordered(project, &filter)
                .limit(page.limit())
                .offset(page.offset())
                .select(nomenclatures::id)
                .load(connection)?;
            let items = cards::load(connection, &ids)?;
            Ok(Page { items, total: u64::try_from(total).map_err(StoreError::corrupt)?, request: page })
        })
        .await
    }

    async fn find(&self, id: NomenclatureId) -> Result<Option<Nomenclature>, StoreError> {
        self.read_snapshot(move |connection| Ok(cards::load(connection, &[id.get()])?.pop())).await
    }

    async fn insert(
        &self,
        project: ProjectId,
        card: Card,
        at: DateTime<Utc>,
    ) -> Result<Nomenclature, NomenclatureError> {
        self.write(move |connection| {
            require_known(connection, project, &card)?;
            let id: i64 = diesel::insert_into(nomenclatures::table)
                .values((
                    nomenclatures::project_id.eq(project.get()),
                    CardRow::new(&card, at)?,
                    nomenclatures::views_count.eq(0),
                    nomenclatures::version.eq(1),
                    nomenclatures::created_at.eq(at.naive_utc()),
                ))
                .returning(nomenclatures::id)
                .get_result(connection)
                .map_err(on_duplicate(NomenclatureError::ArticleTaken))?;
            finish(connection, id, &card)
        })
        .await
    }

    async fn replace(
        &self,
        project: ProjectId,
        id: NomenclatureId,
        version: u64,
        card: Card,
        at: DateTime<Utc>,
    ) -> Result<Nomenclature, NomenclatureError> {
        let version = i64::try_from(version).map_err(StoreError::corrupt)?;
        self.write(move |connection| {
            require_known(connection, project, &card)?;
            let seen = nomenclatures::table
                .find(id.get())
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::version.eq(version));
            let written = diesel::update(seen)
                .set((CardRow::new(&card, at)?, nomenclatures::version.eq(version + 1)))
                .execute(connection)
                .map_err(on_duplicate(NomenclatureError::ArticleTaken))?;
            if written == 0 {
                return Err(Abort::Refused(NomenclatureError::Stale));
            }
            let stock = inventories::table.filter(inventories::nomenclature_id.eq(id.get()));
            if !card.is_stocked() && found!(connection, stock)? {
                return Err(Abort::Refused(NomenclatureError::Stocked));
            }
            finish(connection, id.get(), &card)
        })
        .await
    }
}
