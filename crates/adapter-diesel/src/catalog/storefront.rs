//! The storefront list: one range of `storefront_offers`, then names and stock of the rows of the page.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use kontor_catalog::model::{NomenclatureKind, Packaging, PhotoUrl, Reference};
use kontor_catalog::storefront::ports::Shelves;
use kontor_catalog::storefront::{
    PriceRange, Product, ProductCard, ProductFilter, ProductOrder, ShelfBrand, ShelfCategory,
};
use kontor_kernel::{AppScope, CategoryId, InvalidId, Money, NomenclatureId, Page, PageRequest, Quantity, StoreError};

use super::storefront_query::{OfferQuery, any_discount};
use super::{storefront_card, storefront_shelves};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::by_place;
use crate::stored;

by_place! {
    /// The first columns of [`super::storefront_query::product`].
    pub(super) struct ProductRow {
        id: i64 as BigInt,
        kind_id: i64 as BigInt,
        name: String as Text,
        article: Option<String> as Nullable<Text>,
        price: i64 as BigInt,
        wholesale: bool as Bool,
        pieces_per_pack: i32 as Integer,
        quantity_pack: i32 as Integer,
        photos: Option<String> as Nullable<Text>,
        category_id: Option<i64> as Nullable<BigInt>,
        category_name: Option<String> as Nullable<Text>,
        brand_id: Option<i64> as Nullable<BigInt>,
        brand_name: Option<String> as Nullable<Text>,
        quantity: i64 as BigInt,
        reduction: i64 as BigInt,
    }
}

impl TryFrom<ProductRow> for Product {
    type Error = StoreError;

    fn try_from(row: ProductRow) -> Result<Self, StoreError> {
        let full = stored::money(row.price)?;
        let price = full.saturating_sub(stored::money(row.reduction)?);
        let pack = |count: i32| Quantity::new(count.into()).map_err(StoreError::corrupt);
        Ok(Self {
            id: stored::id(row.id)?,
            kind: NomenclatureKind::try_from(row.kind_id).map_err(StoreError::corrupt)?,
            name: stored::owned(row.name)?,
            article: row.article.map(stored::owned).transpose()?,
            price,
            old_price: (price < full).then_some(full),
            quantity: u64::try_from(row.quantity).map_err(StoreError::corrupt)?,
            photos: row.photos.iter().flat_map(|urls| urls.split('\n')).map(photo).collect::<Result<_, _>>()?,
            category: reference(row.category_id, row.category_name)?,
            brand: reference(row.brand_id, row.brand_name)?,
            packaging: Packaging {
                wholesale: row.wholesale,
                pieces_per_pack: pack(row.pieces_per_pack)?,
                quantity_pack: pack(row.quantity_pack)?,
            },
        })
    }
}

pub(super) fn photo(url: &str) -> Result<PhotoUrl, StoreError> {
    PhotoUrl::parse(url).map_err(StoreError::corrupt)
}

/// A record on the other side of an outer join.
pub(super) fn reference<Id: TryFrom<i64, Error = InvalidId>>(
    id: Option<i64>,
    name: Option<String>,
) -> Result<Option<Reference<Id>>, StoreError> {
    let (Some(id), Some(name)) = (id, name) else { return Ok(None) };
    Ok(Some(Reference { id: stored::id(id)?, name: stored::owned(name)? }))
}

by_place! {
    struct TotalRow {
        total: i64 as BigInt,
    }
}

by_place! {
    struct AnswerRow {
        answer: bool as Bool,
    }
}

by_place! {
    struct RangeRow {
        lowest: Option<i64> as Nullable<BigInt>,
        highest: Option<i64> as Nullable<BigInt>,
    }
}

/// Only an answer that depends on prices has to know whether discounts change them.
fn discounted(
    connection: &mut AnyConnection,
    app: AppScope,
    at: DateTime<Utc>,
    needed: bool,
) -> Result<bool, Abort<StoreError>> {
    if !needed {
        return Ok(false);
    }
    let row: AnswerRow = any_discount(app, at).row(connection)?;
    Ok(row.answer)
}

/// Whether one range of an index answers; a search in texts, in tags or in discounts may take longer.
fn walks_an_index(filter: &ProductFilter) -> bool {
    filter.query.is_none() && filter.tag_ids.is_empty() && !filter.on_sale
}

/// A page that is not full tells the size of the whole list by itself.
fn known_total(page: PageRequest, rows: usize) -> Option<i64> {
    let rows = i64::try_from(rows).ok()?;
    (rows < page.limit() && (rows > 0 || page.offset() == 0)).then(|| page.offset() + rows)
}

#[async_trait]
impl Shelves for Database {
    async fn products(
        &self,
        app: AppScope,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        let walks_an_index = walks_an_index(&filter);
        let work = move |connection: &mut AnyConnection| -> Result<Page<Product>, Abort<StoreError>> {
            let needed = OfferQuery::needs_prices(&filter, order);
            let discounted = discounted(connection, app, at, needed)?;
            let query = OfferQuery { app, filter: &filter, order, at, discounted };
            let rows: Vec<ProductRow> = query.page(page).rows(connection)?;
            let total = match known_total(page, rows.len()) {
                Some(total) => total,
                None => query.count().row::<TotalRow>(connection)?.total,
            };
            Ok(Page {
                items: rows.into_iter().map(Product::try_from).collect::<Result<_, _>>()?,
                total: u64::try_from(total).map_err(StoreError::corrupt)?,
                request: page,
            })
        };
        if walks_an_index { self.read_page(work).await } else { self.read(work).await }
    }

    async fn product(
        &self,
        app: AppScope,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard>, StoreError> {
        self.read_brief(move |connection| storefront_card::read(connection, app, id, at)).await
    }

    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError> {
        self.read(move |connection| {
            let discounted = discounted(connection, app, at, true)?;
            let query = OfferQuery { app, filter: &filter, order: None, at, discounted };
            let row: RangeRow = query.price_range().row(connection)?;
            let (Some(lowest), Some(highest)) = (row.lowest, row.highest) else { return Ok(None) };
            let money = |minor: i64| Money::from_minor(minor).map_err(StoreError::corrupt);
            Ok(Some(PriceRange { lowest: money(lowest)?, highest: money(highest)? }))
        })
        .await
    }

    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<ShelfCategory>, StoreError> {
        self.read_page(move |connection| storefront_shelves::categories(connection, app, parent, limit)).await
    }

    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<ShelfBrand>, StoreError> {
        self.read_page(move |connection| storefront_shelves::brands(connection, app, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::storefront_query::stock;
    use super::*;
    use crate::statement::Statement;
    use crate::testing::{Kind, TestDatabase};
    use diesel::{QueryableByName, RunQueryDsl};
    use kontor_kernel::{ApplicationId, BrandId, ProjectId};

    #[derive(QueryableByName)]
    struct PlanRow {
        #[diesel(sql_type = Text)]
        detail: String,
    }

    fn app() -> AppScope {
        let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(1).unwrap());
        AppScope { project_id, application_id, wholesale: false }
    }

    async fn plan(db: &TestDatabase, statement: Statement) -> String {
        let explained = Statement::new("EXPLAIN QUERY PLAN ").then(statement);
        let rows: Vec<PlanRow> = db
            .database
            .read(move |connection| explained.clone().load(connection).map_err(Abort::<StoreError>::Query))
            .await
            .unwrap();
        rows.into_iter().map(|row| row.detail + "\n").collect()
    }

    fn filters() -> [ProductFilter; 3] {
        let category_ids = vec![CategoryId::new(3).unwrap()];
        let brand_ids = vec![BrandId::new(4).unwrap()];
        let narrow = ProductFilter { category_ids, ..ProductFilter::default() };
        [ProductFilter::default(), ProductFilter { brand_ids, ..narrow.clone() }, narrow]
    }

    #[tokio::test]
    async fn every_order_walks_an_index_and_sorts_one_page_at_most() {
        let db = TestDatabase::fresh(Kind::Sqlite).unwrap();
        let orders = ProductOrder::ALL.map(|(_, order)| Some(order));
        for filter in filters() {
            for order in orders.into_iter().chain([None]) {
                let at = DateTime::UNIX_EPOCH;
                let query = OfferQuery { app: app(), filter: &filter, order, at, discounted: false };
                let plan = plan(&db, query.page(PageRequest::new(1, 10, 100).unwrap())).await;
                let (inner, outer) = plan.split_once("SCAN o\n").unwrap();
                assert!(inner.contains("SEARCH o USING INDEX"), "{filter:?} {order:?}\n{plan}");
                assert!(!inner.contains("TEMP B-TREE"), "{filter:?} {order:?}\n{plan}");
                assert!(!outer.contains("SCAN n") && !outer.contains("SCAN i"), "{plan}");
            }
        }
    }

    #[tokio::test]
    async fn counting_and_price_ranges_stay_inside_an_index() {
        let db = TestDatabase::fresh(Kind::Sqlite).unwrap();
        let [all, _, narrow] = filters();
        for filter in [all, narrow] {
            let query =
                OfferQuery { app: app(), filter: &filter, order: None, at: DateTime::UNIX_EPOCH, discounted: false };
            let count = plan(&db, query.count()).await;
            assert!(count.contains("USING COVERING INDEX"), "{count}");
            let range = plan(&db, query.price_range()).await;
            assert_eq!(range.matches("SEARCH o USING COVERING INDEX").count(), 2, "{range}");
            assert_eq!(range.matches("price").count(), 2, "{range}");
        }
        assert!(
            !plan(
                &db,
                Statement::new("SELECT ")
                    .then(stock(app()))
                    .sql(" FROM storefront_offers o WHERE o.application_id = 1")
            )
            .await
            .contains("SCAN i")
        );
    }
}
