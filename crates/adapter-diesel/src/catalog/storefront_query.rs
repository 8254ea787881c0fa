//! The statements of the storefront lists. `o` is always a row of `storefront_offers`.

use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{AppScope, Line, PageRequest};

use super::search::containing;
use crate::statement::Statement;

/// What the first columns of a list or a card are, in the order of `ProductRow`.
const COLUMNS: &str = "SELECT o.nomenclature_id, o.kind_id, o.name, o.article, o.price, o.wholesale, \
    o.pieces_per_pack, o.quantity_pack, o.photos, c.id, c.name, b.id, b.name, ";

/// Joins what [`product`] needs.
pub(super) const JOINS: &str =
    " LEFT JOIN categories c ON c.id = o.category_id LEFT JOIN brands b ON b.id = o.brand_id";

/// Starts a statement whose first columns make a `ProductRow`.
pub(super) fn product(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(COLUMNS)
        .then(stock(app))
        .sql(", CASE WHEN EXISTS (SELECT 1 FROM discounts d WHERE ")
        .then(automatic(app))
        .sql(") THEN ")
        .then(reduction(app, at))
        .sql(" ELSE 0 END")
}

/// What is asked of the offers of one application at one moment.
pub(super) struct OfferQuery<'a> {
    pub app: AppScope,
    pub filter: &'a ProductFilter,
    pub order: Option<ProductOrder>,
    pub at: DateTime<Utc>,
    /// Whether discounts may change prices now: then prices are computed, else they come from the index.
    pub discounted: bool,
}

impl OfferQuery<'_> {
    /// Whether the answer depends on prices after discounts.
    pub fn needs_prices(filter: &ProductFilter, order: Option<ProductOrder>) -> bool {
        let by_price = matches!(order, Some(ProductOrder::PriceAscending | ProductOrder::PriceDescending));
        by_price || filter.price_from.is_some() || filter.price_to.is_some()
    }

    /// One page, with the names and the stock of these rows alone.
    pub fn page(&self, page: PageRequest) -> Statement {
        let offers = Statement::new("SELECT o.* FROM storefront_offers o WHERE ")
            .then(self.condition())
            .sql(" ORDER BY ")
            .then(self.ordering())
            .sql(" LIMIT ")
            .value(page.limit())
            .sql(" OFFSET ")
            .value(page.offset());
        product(self.app, self.at)
            .sql(" FROM (")
            .then(offers)
            .sql(") AS o")
            .sql(JOINS)
            .sql(" ORDER BY ")
            .then(self.ordering())
    }

    /// How many products match.
    pub fn count(&self) -> Statement {
        Statement::new("SELECT count(*) AS total FROM storefront_offers o WHERE ").then(self.condition())
    }

    /// The cheapest and the dearest price; two searches, each of which an index can answer from its end.
    pub fn price_range(&self) -> Statement {
        Statement::new("SELECT (SELECT min(")
            .then(self.price())
            .sql(") FROM storefront_offers o WHERE ")
            .then(self.condition())
            .sql(") AS lowest, (SELECT max(")
            .then(self.price())
            .sql(") FROM storefront_offers o WHERE ")
            .then(self.condition())
            .sql(") AS highest")
    }

    fn price(&self) -> Statement {
        let price = Statement::new("o.price");
        if self.discounted { price.sql(" - ").then(reduction(self.app, self.at)) } else { price }
    }

    fn ordering(&self) -> Statement {
        let by = |column: &'static str| Statement::new(column);
        match self.order {
            None => by("o.nomenclature_id"),
            Some(ProductOrder::NameAscending) => by("o.name_key, o.nomenclature_id"),
            Some(ProductOrder::NameDescending) => by("o.name_key DESC, o.nomenclature_id DESC"),
            Some(ProductOrder::PopularityAscending) => by("o.popularity, o.nomenclature_id"),
            Some(ProductOrder::PopularityDescending) => by("o.popularity DESC, o.nomenclature_id DESC"),
            Some(ProductOrder::PriceAscending) => self.price().sql(", o.nomenclature_id"),
            Some(ProductOrder::PriceDescending) => self.price().sql(" DESC, o.nomenclature_id DESC"),
        }
    }

    fn condition(&self) -> Statement {
        let filter = self.filter;
        let mut condition = Statement::new("o.application_id = ").value(self.app.application_id.get());
        let lists: [(&'static str, Vec<i64>); 3] = [
            (" AND o.category_id", filter.category_ids.iter().map(|id| id.get()).collect()),
            (" AND o.brand_id", filter.brand_ids.iter().map(|id| id.get()).collect()),
            (" AND o.country_id", filter.country_ids.iter().map(|id| id.get()).collect()),
        ];
        for (column, list) in lists {
            if !list.is_empty() {
                condition = condition.sql(column).among(&list);
            }
        }
        if !filter.tag_ids.is_empty() {
            let tags: Vec<i64> = filter.tag_ids.iter().map(|id| id.get()).collect();
            condition = condition
                .sql(" AND EXISTS (SELECT 1 FROM nomenclature_tags t WHERE t.nomenclature_id = o.nomenclature_id AND t.tag_id")
                .among(&tags)
                .sql(")");
        }
        if let Some(query) = &filter.query {
            condition = condition.sql(" AND ").then(mentions(query));
        }
        if let Some(from) = filter.price_from {
            condition = condition.sql(" AND ").then(self.price()).sql(" >= ").value(from.minor());
        }
        if let Some(to) = filter.price_to {
            condition = condition.sql(" AND ").then(self.price()).sql(" <= ").value(to.minor());
        }
        if filter.on_sale {
            condition = condition.sql(" AND ").then(reduction(self.app, self.at)).sql(" > 0");
        }
        condition
    }
}

/// Whether any discount may change a price now.
pub(super) fn any_discount(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new("SELECT EXISTS (SELECT 1 FROM discounts d WHERE ").then(in_force(app, at)).sql(") AS answer")
}

/// Unreserved pieces in the warehouses of the application.
pub(super) fn stock(app: AppScope) -> Statement {
    Statement::new(
        "(SELECT CAST(coalesce(sum(i.quantity - i.reserved), 0) AS BIGINT) FROM inventories i \
         JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.application_id = ",
    )
    .value(app.application_id.get())
    .sql(" WHERE i.nomenclature_id = o.nomenclature_id)")
}

/// What the best automatic discount on the product, its category or one above takes off one piece, as an order of one
/// piece would: shares in basis points are rounded half up, and nothing costs less than nothing.
pub(super) fn reduction(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(
        "coalesce((SELECT max(CASE WHEN d.kind = 'percent' AND d.value < 10000 THEN (o.price * d.value + 5000) / 10000 \
         WHEN d.kind = 'fixed' AND d.value < o.price THEN d.value ELSE o.price END) FROM discounts d WHERE ",
    )
    .then(in_force(app, at))
    .sql(
        " AND d.minimum_sum <= o.price AND (d.target = 'product' AND d.target_id = o.nomenclature_id \
         OR d.target = 'category' AND d.target_id IN (WITH RECURSIVE above (id) AS (SELECT o.category_id UNION \
         SELECT up.parent_id FROM categories up JOIN above ON up.id = above.id) SELECT id FROM above))), 0)",
    )
}

/// Discounts that apply by themselves to a product or a category, whenever they are in force. Nothing in it depends on
/// the row, so that it is asked once for a whole page.
fn automatic(app: AppScope) -> Statement {
    Statement::new("d.project_id = ")
        .value(app.project_id.get())
        .sql(" AND d.status = 'active' AND d.code IS NULL AND d.target <> 'cart'")
}

fn in_force(app: AppScope, at: DateTime<Utc>) -> Statement {
    automatic(app)
        .sql(" AND (d.starts_at IS NULL OR d.starts_at <= ")
        .value(at.naive_utc())
        .sql(") AND (d.ends_at IS NULL OR d.ends_at > ")
        .value(at.naive_utc())
        .sql(")")
}

fn mentions(query: &Line<255>) -> Statement {
    let pattern = containing(&query.key());
    Statement::new("(o.name_key LIKE ")
        .value(pattern.as_str())
        .sql(" ESCAPE '\\' OR EXISTS (SELECT 1 FROM nomenclatures s WHERE s.id = o.nomenclature_id AND s.article_key LIKE ")
        .value(pattern)
        .sql(" ESCAPE '\\'))")
}
