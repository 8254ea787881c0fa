//! Product list of a storefront: one range of `storefront_offers`, then names and stock of the rows of the page.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::result::Error as QueryError;
use kontor_catalog::model::{NomenclatureKind, Packaging, PhotoUrl, Reference};
use kontor_catalog::storefront::ports::StorefrontReader;
use kontor_catalog::storefront::{
    Facets, PriceRange, Product, ProductCard, ProductFilter, ProductOrder, StorefrontBrand, StorefrontCategory,
};
use kontor_kernel::{
    AppScope, CategoryId, InvalidId, Line, NomenclatureId, Page, PageRequest, Prose, Quantity, StoreError, Visitor,
};

use super::storefront_facets::facets;
use super::storefront_query::OfferQuery;
use super::storefront_reductions::ActiveDiscounts;
use super::{showcase, storefront_card};
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::listing::{Recent, in_order};
use crate::read_models::search::FrequentMatches;
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

by_place! {
    /// First columns of [`super::storefront_query::product`].
    pub(super) struct ProductRow {
        pub(super) id: i64,
        kind_id: i64,
        name: String,
        article: Option<String>,
        price: i64,
        wholesale: bool,
        pieces_per_pack: i32,
        quantity_pack: i32,
        photos: Option<String>,
        category_id: Option<i64>,
        category_name: Option<String>,
        brand_id: Option<i64>,
        brand_name: Option<String>,
        quantity: i64,
        reduction: i64,
        is_favourite: bool,
    }
}

impl TryFrom<ProductRow> for Product {
    type Error = StoreError;

    fn try_from(row: ProductRow) -> Result<Self, StoreError> {
        let full = decode::money(row.price)?;
        let price = full.saturating_sub(decode::money(row.reduction)?);
        let pack = |count: i32| Quantity::new(count.into()).map_err(StoreError::corrupt);
        Ok(Self {
            id: decode::id(row.id)?,
            kind: NomenclatureKind::try_from(row.kind_id)
                .map_err(|_| decode::unknown("nomenclatures", row.id, "kind_id", row.kind_id))?,
            name: decode::owned(row.name)?,
            article: row.article.map(decode::owned).transpose()?,
            price,
            old_price: (price < full).then_some(full),
            quantity: decode::count(row.quantity)?,
            photos: row.photos.iter().flat_map(|urls| urls.split('\n')).map(photo).collect::<Result<_, _>>()?,
            category: reference(row.category_id, row.category_name)?,
            brand: reference(row.brand_id, row.brand_name)?,
            packaging: Packaging {
                wholesale: row.wholesale,
                pieces_per_pack: pack(row.pieces_per_pack)?,
                quantity_pack: pack(row.quantity_pack)?,
            },
            is_favourite: row.is_favourite,
        })
    }
}

pub(super) fn photo(url: &str) -> Result<PhotoUrl, StoreError> {
    PhotoUrl::parse(url).map_err(StoreError::corrupt)
}

/// Decodes a reference from an outer join.
pub(super) fn reference<Id: TryFrom<i64, Error = InvalidId>>(
    id: Option<i64>,
    name: Option<String>,
) -> Result<Option<Reference<Id>>, StoreError> {
    let (Some(id), Some(name)) = (id, name) else { return Ok(None) };
    Ok(Some(Reference { id: decode::id(id)?, name: decode::owned(name)? }))
}

by_place! {
    pub(super) struct RangeRow {
        lowest: Option<i64>,
        highest: Option<i64>,
    }
}

impl RangeRow {
    /// Returns the price range, if there are prices.
    pub(super) fn range(self) -> Result<Option<PriceRange>, StoreError> {
        let (Some(lowest), Some(highest)) = (self.lowest, self.highest) else { return Ok(None) };
        price_range(lowest, highest).map(Some)
    }
}

pub(super) fn price_range(lowest: i64, highest: i64) -> Result<PriceRange, StoreError> {
    Ok(PriceRange { lowest: decode::money(lowest)?, highest: decode::money(highest)? })
}

/// Returns `true` if one range of an index answers the query. A search by text, tags or discounts may take longer.
fn is_index_scan(filter: &ProductFilter) -> bool {
    filter.query.is_none() && filter.tag_ids.is_empty() && !filter.on_sale
}

/// Returns the size of the whole list if the page shows it: a page that is not full is the last one.
pub(super) fn known_total(page: PageRequest, rows: usize) -> Option<i64> {
    let rows = i64::try_from(rows).ok()?;
    (rows < page.limit() && (rows > 0 || page.offset() == 0)).then(|| page.offset() + rows)
}

/// Returns a page of a search: first the ids, then the products.
fn searched(
    connection: &mut AnyConnection,
    query: &OfferQuery<'_>,
    text: &Line<255>,
    page: PageRequest,
    frequent: &Arc<FrequentMatches>,
) -> Result<Page<Product>, Abort<StoreError>> {
    let search = query.search(text).cached(frequent);
    let found = match query.order {
        None => search.ranked_page(connection, page)?,
        Some(_) => search.sorted(connection, page, &Statement::new(" ORDER BY ").then(query.ordering()))?,
    };
    let rows: Vec<ProductRow> =
        if found.ids.is_empty() { Vec::new() } else { query.these(&found.ids).rows(connection)? };
    let rows = in_order(&found.ids, rows, |row| row.id);
    Ok(decode::page(unreadable::rows("nomenclatures", rows, |row| row.id, Product::try_from)?, found.total, page)?)
}

/// Returns the number of products, from the stored counts or by counting.
fn total(connection: &mut AnyConnection, query: &OfferQuery<'_>) -> Result<i64, QueryError> {
    let statement = if query.filter.is_by_category() { query.stored_count() } else { query.count() };
    statement.scalar(connection)
}

#[async_trait]
impl StorefrontReader for Database {
    async fn products(
        &self,
        visitor: Visitor,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        let quick = is_index_scan(&filter);
        let frequent = self.memory::<FrequentMatches>();
        // With discounts in force, a list by price reads every offer. Such a query must not occupy the threads for
        // short reads.
        let work =
            move |connection: &mut AnyConnection, quick: bool| -> Result<Option<Page<Product>>, Abort<StoreError>> {
                let needed = OfferQuery::needs_prices(&filter, order);
                let reductions = if needed { ActiveDiscounts::load(connection, visitor.app, at)? } else { None };
                if quick && reductions.is_some() {
                    return Ok(None);
                }
                let query = OfferQuery { visitor, filter: &filter, order, at, discounted: reductions.as_ref() };
                if let Some(text) = &filter.query {
                    return searched(connection, &query, text, page, &frequent).map(Some);
                }
                let is_counted_first = OfferQuery::is_far(page) && filter.is_by_category();
                let kept = is_counted_first.then(|| total(connection, &query)).transpose()?;
                let rows: Vec<ProductRow> = query.page(page, kept).rows(connection)?;
                let total = match kept.or_else(|| known_total(page, rows.len())) {
                    Some(total) => total,
                    None => total(connection, &query)?,
                };
                let products = unreadable::rows("nomenclatures", rows, |row| row.id, Product::try_from)?;
                Ok(Some(decode::page(products, total, page)?))
            };
        if quick {
            let work = work.clone();
            if let Some(read) = self.expecting(Extent::Page).read(move |connection| work(connection, true)).await? {
                return Ok(read);
            }
        }
        let read = self.read(move |connection| work(connection, false)).await?;
        read.ok_or_else(|| StoreError::Failed("a page was not read".to_owned()))
    }

    async fn product(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| storefront_card::read(connection, storefront_card::shown(), visitor, id, at))
            .await
    }

    async fn sold_out(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError> {
        self.read(move |connection| {
            storefront_card::read(connection, storefront_card::sold_out(visitor, id), visitor, id, at)
        })
        .await
    }

    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError> {
        self.read(move |connection| {
            let reductions = ActiveDiscounts::load(connection, app, at)?;
            let query =
                OfferQuery { visitor: app.into(), filter: &filter, order: None, at, discounted: reductions.as_ref() };
            let statement = match &filter.query {
                None => query.price_range(),
                Some(text) => match query.search(text).extremes(connection, query.price())? {
                    Some(statement) => statement,
                    None => return Ok(None),
                },
            };
            Ok(statement.row::<RangeRow>(connection)?.range()?)
        })
        .await
    }

    async fn facets(&self, app: AppScope, filter: ProductFilter, at: DateTime<Utc>) -> Result<Facets, StoreError> {
        let (recent, frequent) = (self.memory::<Recent<Facets>>(), self.memory::<FrequentMatches>());
        self.snapshot(move |connection| facets((&recent, &frequent), connection, app, &filter, at)).await
    }

    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<StorefrontCategory>, StoreError> {
        self.expecting(Extent::Page).read(move |connection| showcase::categories(connection, app, parent, limit)).await
    }

    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<StorefrontBrand>, StoreError> {
        self.expecting(Extent::Page).read(move |connection| showcase::brands(connection, app, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;
    use kontor_kernel::{ApplicationId, BrandId, CounterpartyId, CustomerScope, Money, ProjectId, TokenId, Word as _};

    use super::super::storefront_query::{count_favourites, favourites, stock};
    use super::*;
    use crate::database_tests;
    use crate::testing::{Kind, TestDatabase};

    fn app() -> AppScope {
        let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(1).unwrap());
        AppScope { project_id, application_id, wholesale: false }
    }

    fn customer() -> CustomerScope {
        let (counterparty_id, token_id) = (CounterpartyId::new(1).unwrap(), TokenId::new(1).unwrap());
        CustomerScope { app: app(), counterparty_id, token_id }
    }

    async fn plan(db: &TestDatabase, statement: Statement) -> String {
        let explained =
            db.database.read(move |connection| statement.clone().plan(connection).map_err(Abort::<StoreError>::Query));
        explained.await.unwrap()
    }

    fn filters() -> [ProductFilter; 3] {
        let category_ids = vec![CategoryId::new(3).unwrap()];
        let brand_ids = vec![BrandId::new(4).unwrap()];
        let narrow = ProductFilter { category_ids, ..ProductFilter::default() };
        [ProductFilter::default(), ProductFilter { brand_ids, ..narrow.clone() }, narrow]
    }

    #[tokio::test]
    async fn every_order_walks_an_index_and_sorts_one_page_at_most() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let orders = ProductOrder::all().iter().copied().map(Some);
        for filter in filters() {
            for order in orders.clone().chain([None]) {
                let at = DateTime::UNIX_EPOCH;
                for visitor in [app().into(), customer().into()] {
                    let query = OfferQuery { visitor, filter: &filter, order, at, discounted: None };
                    let plan = plan(&db, query.page(PageRequest::new(1, 10, 100).unwrap(), None)).await;
                    let (inner, outer) = plan.split_once("SCAN o\n").unwrap();
                    assert!(inner.contains("SEARCH o USING INDEX"), "{filter:?} {order:?}\n{plan}");
                    assert!(!inner.contains("TEMP B-TREE"), "{filter:?} {order:?}\n{plan}");
                    assert!(!outer.contains("SCAN n") && !outer.contains("SCAN i"), "{plan}");
                    assert!(!plan.contains("SCAN f"), "{plan}");
                }
            }
        }
    }

    const DISCOUNTS: &str = "INSERT INTO projects (id, name, currency, created_at) VALUES (1, 'P', 'RUB', '2026-01-01'); \
        INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, created_at, \
        updated_at) VALUES (1, 'A', 'percent', 500, 'category', 3, 0, 0, 'active', '2026-01-01', '2026-01-01'), \
        (1, 'B', 'fixed', 70, 'product', 7, 0, 0, 'active', '2026-01-01', '2026-01-01')";

    #[tokio::test]
    async fn with_discounts_a_list_by_price_goes_by_an_index_for_what_they_spare_and_what_they_reduce() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let (app, at) = (app(), DateTime::UNIX_EPOCH);
        db.database
            .write_and_invalidate_all(|connection| Ok::<_, Abort<StoreError>>(connection.batch_execute(DISCOUNTS)?))
            .await
            .unwrap();
        let found =
            db.database.read(move |connection| Ok::<_, Abort<StoreError>>(ActiveDiscounts::load(connection, app, at)?));
        let reductions = found.await.unwrap().unwrap();
        let ranges = [
            "SEARCH o USING INDEX storefront_offers_by_price (application_id=?",
            "storefront_offers_by_category",
            "(application_id=? AND nomenclature_id=?",
        ];
        let narrow =
            ProductFilter { price_from: Some(Money::ZERO), price_to: Some(Money::MAX), ..ProductFilter::default() };
        for (filter, order) in [
            (ProductFilter::default(), ProductOrder::PriceAscending),
            (narrow.clone(), ProductOrder::PriceDescending),
            (ProductFilter { on_sale: true, ..narrow }, ProductOrder::PriceAscending),
        ] {
            let query = OfferQuery {
                visitor: app.into(),
                filter: &filter,
                order: Some(order),
                at,
                discounted: Some(&reductions),
            };
            let page = plan(&db, query.page(PageRequest::new(1, 10, 100).unwrap(), None)).await;
            for range in ranges {
                assert!(page.contains(range), "{range} {filter:?}\n{page}");
            }
            let (count, ends) = (plan(&db, query.count()).await, plan(&db, query.price_range()).await);
            assert!(!count.contains("SCAN o") && !ends.contains("SCAN o"), "{count}\n{ends}");
        }
    }

    #[tokio::test]
    async fn many_discounts_make_no_long_statement() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let (app, at) = (app(), DateTime::UNIX_EPOCH);
        let run = async |statements: String| {
            let work = move |connection: &mut AnyConnection| {
                Ok::<_, Abort<StoreError>>(connection.batch_execute(&statements)?)
            };
            db.database.write_and_invalidate_all(work).await.unwrap();
        };
        run(DISCOUNTS.to_owned()).await;
        let mut sizes = Vec::new();
        for (target, from, to) in
            [("product", 10, 11), ("product", 11, 2_000), ("category", 10, 500), ("category", 500, 1_000)]
        {
            run(format!(
                "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, created_at, \
                 updated_at) WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {to}) \
                 SELECT 1, 'N', 'fixed', i, '{target}', i, 0, 0, 'active', '2026-01-01', '2026-01-01' FROM n"
            ))
            .await;
            let load = move |connection: &mut AnyConnection| {
                Ok::<_, Abort<StoreError>>(ActiveDiscounts::load(connection, app, at)?)
            };
            let reductions = db.database.read(load).await.unwrap().unwrap();
            let (filter, order) = (ProductFilter::default(), Some(ProductOrder::PriceAscending));
            let query = OfferQuery { visitor: app.into(), filter: &filter, order, at, discounted: Some(&reductions) };
            sizes.push(format!("{:?}", query.page(PageRequest::new(1, 10, 100).unwrap(), None)).len());
        }
        assert_eq!(sizes[0], sizes[1], "discounts on items are looked up");
        assert!(sizes[3] - sizes[1] < (sizes[2] - sizes[1]) * 22 / 10, "{sizes:?}");
        assert!(sizes[3] < 300_000, "{sizes:?}");
    }

    /// A project with two categories among two hundred projects with twenty.
    const MANY_PROJECTS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 201) \
        INSERT INTO projects (id, name, currency, created_at) SELECT i, 'P', 'RUB', '2026-01-01' FROM n; \
        INSERT INTO branches (id, project_id, name, created_at, updated_at) \
        SELECT id, id, 'B', '2026-01-01', '2026-01-01' FROM projects; \
        INSERT INTO applications (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
        updated_at) SELECT id, id, id, 'A', id, true, false, '2026-01-01', '2026-01-01' FROM projects; \
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 22000) \
        INSERT INTO nomenclatures (id, project_id, name, name_key, kind_id, price, is_subscription, wholesale, \
        pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
        SELECT i, CASE WHEN i <= 2000 THEN 1 ELSE 2 + i % 200 END, 'N', 'n', 2, i, false, false, 1, 1, 0, 1, \
        '2026-01-01', '2026-01-01' FROM n; \
        INSERT INTO storefront_offers (project_id, application_id, nomenclature_id, category_id, name_key, price, popularity) \
        SELECT project_id, project_id, id, project_id * 100 + id / 200 % CASE WHEN project_id = 1 THEN 2 ELSE 20 END, 'n', id, 0 \
        FROM nomenclatures";

    database_tests! {
        async fn among_many_projects_the_ends_of_a_category_are_found_by_its_prices(db: TestDatabase) {
            let fill = |connection: &mut AnyConnection| Ok::<_, Abort<StoreError>>(connection.batch_execute(MANY_PROJECTS)?);
            db.database.write_and_invalidate_all(fill).await.unwrap();
            db.database.analyze_tables().await;
            for category in [100, 320] {
                let category_ids = vec![CategoryId::new(category).unwrap()];
                let filter = ProductFilter { category_ids, ..ProductFilter::default() };
                let visitor = if category == 100 { app() } else {
                    AppScope { application_id: ApplicationId::new(3).unwrap(), ..app() }
                };
                let at = DateTime::UNIX_EPOCH;
                let query = OfferQuery { visitor: visitor.into(), filter: &filter, order: None, at, discounted: None };
                let plan = plan(&db, query.price_range()).await;
                assert_eq!(plan.matches("storefront_offers_by_category_price").count(), 2, "{plan}");
            }
        }
    }

    #[tokio::test]
    async fn favourites_walk_the_index_of_their_customer() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let page = PageRequest::new(1, 10, 100).unwrap();
        let list = plan(&db, favourites(customer(), page.limit(), page.offset(), DateTime::UNIX_EPOCH)).await;
        let (inner, _) = list.split_once("SCAN o\n").unwrap();
        let count = plan(&db, count_favourites(customer())).await;
        for plan in [inner, count.as_str()] {
            assert!(plan.contains("SEARCH v USING") && plan.contains("SEARCH o USING"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{plan}");
        }
    }

    #[tokio::test]
    async fn a_far_page_passes_over_its_index_alone() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let orders = ProductOrder::all().iter().copied().map(Some);
        let [all, _, narrow] = filters();
        for (filter, order) in orders.chain([None]).flat_map(|order| [(&all, order), (&narrow, order)]) {
            let query = OfferQuery { visitor: app().into(), filter, order, at: DateTime::UNIX_EPOCH, discounted: None };
            let plans = [None, Some(1_000_000), Some(1_500)]
                .map(|total| plan(&db, query.page(PageRequest::new(100, 10, 100).unwrap(), total)));
            for (plan, is_counted) in plans.into_iter().zip([false, true, true]) {
                let plan = plan.await;
                assert!(plan.contains("SEARCH o USING COVERING INDEX"), "{filter:?} {order:?}\n{plan}");
                assert!(plan.contains("SCAN p\nSEARCH o USING INDEX"), "{filter:?} {order:?}\n{plan}");
                let has_no_end = plan.contains("(application_id>?)") || plan.contains("(application_id<?)");
                assert_eq!(has_no_end, is_counted && filter.category_ids.is_empty(), "{order:?}\n{plan}");
                assert_eq!(plan.matches("TEMP B-TREE").count(), 1, "the page alone is sorted\n{plan}");
            }
        }
    }

    #[tokio::test]
    async fn counting_and_price_ranges_stay_inside_an_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let [all, _, narrow] = filters();
        for filter in [all, narrow] {
            let query = OfferQuery {
                visitor: app().into(),
                filter: &filter,
                order: None,
                at: DateTime::UNIX_EPOCH,
                discounted: None,
            };
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
