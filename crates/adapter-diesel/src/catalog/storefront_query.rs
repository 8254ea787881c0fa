//! Statements of the storefront lists. `o` is always a row of `storefront_offers`.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{AppScope, CustomerScope, Line, PageRequest, Visitor};

use super::storefront_reductions::ActiveDiscounts;
use crate::read_models::offers::ALL_CATEGORIES;
use crate::read_models::search::{MAX_FOUND_BY_CUSTOMERS, Search};
use crate::statement::Statement;

/// First columns of a list or of product details, in the order of `ProductRow`.
const COLUMNS: &str = "SELECT o.nomenclature_id, o.kind_id, o.name, o.article, o.price, o.wholesale, \
    o.pieces_per_pack, o.quantity_pack, o.photos, c.id, c.name, b.id, b.name, ";

/// Minimum rows before a page for which they are skipped inside the index.
const DISTANT_PAGE_OFFSET: i64 = 500;

/// Joins that [`product`] needs.
pub(super) const JOINS: &str =
    " LEFT JOIN categories c ON c.id = o.category_id LEFT JOIN brands b ON b.id = o.brand_id";

/// Starts a statement whose first columns form a `ProductRow`.
pub(super) fn product(visitor: Visitor, at: DateTime<Utc>) -> Statement {
    let app = visitor.app;
    Statement::new(COLUMNS)
        .then(stock(app))
        .sql(", CASE WHEN EXISTS (SELECT 1 FROM discounts d WHERE ")
        .then(automatic(app))
        .sql(") THEN ")
        .then(reduction(app, at))
        .sql(" ELSE 0 END, ")
        .then(kept(visitor))
}

/// Selects whether the product is a favourite of the visitor: one lookup in a unique index per row, and none without a
/// customer.
fn kept(visitor: Visitor) -> Statement {
    let Some(customer) = visitor.counterparty_id else { return Statement::new("FALSE") };
    Statement::new("EXISTS (SELECT 1 FROM favourites f WHERE f.project_id = ")
        .value(visitor.app.project_id.get())
        .sql(" AND f.counterparty_id = ")
        .value(customer.get())
        .sql(" AND f.nomenclature_id = o.nomenclature_id)")
}

/// Selects the favourites of a customer that the application shows, latest first.
pub(super) fn favourites(customer: CustomerScope, limit: i64, offset: i64, at: DateTime<Utc>) -> Statement {
    product(customer.into(), at)
        .sql(" FROM (SELECT o.*, v.id AS place")
        .then(shown_favourites(customer))
        .sql(" ORDER BY v.id DESC LIMIT ")
        .value(limit)
        .sql(" OFFSET ")
        .value(offset)
        .sql(") AS o")
        .sql(JOINS)
        .sql(" ORDER BY o.place DESC")
}

/// Counts these favourites.
pub(super) fn count_favourites(customer: CustomerScope) -> Statement {
    Statement::new("SELECT count(*) AS total").then(shown_favourites(customer))
}

fn shown_favourites(customer: CustomerScope) -> Statement {
    Statement::new(
        " FROM favourites v JOIN storefront_offers o ON o.project_id = v.project_id \
         AND o.nomenclature_id = v.nomenclature_id AND o.application_id = ",
    )
    .value(customer.app.application_id.get())
    .sql(" WHERE v.project_id = ")
    .value(customer.app.project_id.get())
    .sql(" AND v.counterparty_id = ")
    .value(customer.counterparty_id.get())
}

/// Query for the offers of one application at one time.
pub(super) struct OfferQuery<'a> {
    pub visitor: Visitor,
    pub filter: &'a ProductFilter,
    pub order: Option<ProductOrder>,
    pub at: DateTime<Utc>,
    /// Discounts that change prices now. Prices are computed if set, and read from the index otherwise.
    pub discounted: Option<&'a ActiveDiscounts>,
}

impl OfferQuery<'_> {
    /// Returns `true` if the response depends on discounts.
    pub fn needs_prices(filter: &ProductFilter, order: Option<ProductOrder>) -> bool {
        let by_price = matches!(order, Some(ProductOrder::PriceAscending | ProductOrder::PriceDescending));
        by_price || filter.on_sale || filter.price_from.is_some() || filter.price_to.is_some()
    }

    /// Returns `true` if so many rows precede the page that the total should be read first.
    pub fn is_far(page: PageRequest) -> bool {
        page.offset() >= DISTANT_PAGE_OFFSET
    }

    /// Selects one page, with the names and the stock of these rows only. `total` is the number of rows, if known.
    pub fn page(&self, page: PageRequest, total: Option<i64>) -> Statement {
        let (offers, ordering) = match (self.discounted, self.order) {
            (Some(reductions), Some(ProductOrder::PriceAscending)) => self.by_reduced_price(reductions, "", page),
            (Some(reductions), Some(ProductOrder::PriceDescending)) => self.by_reduced_price(reductions, " DESC", page),
            _ if Self::is_far(page) => return self.distant_page(page, total),
            _ => {
                let offers = Statement::new("SELECT o.* FROM storefront_offers o WHERE ").then(self.condition());
                (offers, self.ordering())
            }
        };
        product(self.visitor, self.at)
            .sql(" FROM (")
            .then(offers)
            .sql(" ORDER BY ")
            .then(ordering.clone())
            .page(page)
            .sql(") AS o")
            .sql(JOINS)
            .sql(" ORDER BY ")
            .then(ordering)
    }

    /// Selects a page far from the start. The rows before it are skipped inside the index, and only the page is read.
    /// Starts from the end if that is nearer. For the first pages, looking up rows a second time would cost more than
    /// it saves.
    fn distant_page(&self, page: PageRequest, total: Option<i64>) -> Statement {
        let before = page.offset();
        let after = total.map(|total| (total - before - page.limit()).max(0));
        let (skipped, from_end) = match after {
            Some(after) if after < before => (after, true),
            _ => (before, false),
        };
        let rows = total.map_or(page.limit(), |total| (total - before).clamp(0, page.limit()));
        let (entrance, ordering) = match total {
            Some(_) if self.is_unfiltered() => self.walk_of_everything(from_end),
            _ => (self.condition(), self.ordered(from_end)),
        };
        let places = Statement::new("SELECT o.nomenclature_id AS item FROM storefront_offers o WHERE ")
            .then(entrance)
            .sql(" ORDER BY ")
            .then(ordering)
            .sql(" LIMIT ")
            .value(rows)
            .sql(" OFFSET ")
            .value(skipped);
        product(self.visitor, self.at)
            .sql(" FROM (")
            .then(places)
            // `CROSS` makes SQLite look up the rows of the page instead of reading all rows in their order.
            .sql(") AS p CROSS JOIN storefront_offers o")
            .sql(JOINS)
            .sql(" WHERE o.nomenclature_id = p.item AND ")
            .then(self.condition())
            .sql(" ORDER BY ")
            .then(self.ordering())
    }

    fn is_unfiltered(&self) -> bool {
        self.filter.category_ids.is_empty() && self.filter.is_by_category()
    }

    /// Returns the entry point into the index and the order for a scan of all offers of the application. The numbers of
    /// skipped and returned rows are known, so no end condition is needed: comparing every row with one would be two
    /// fifths of SQLite's work. If the count is wrong, offers of other applications are excluded when the rows are
    /// looked up.
    fn walk_of_everything(&self, from_end: bool) -> (Statement, Statement) {
        let (entrance, direction) =
            if self.ascends(from_end) { ("o.application_id >= ", "") } else { ("o.application_id <= ", " DESC") };
        let entrance = Statement::new(entrance).value(self.visitor.app.application_id.get());
        let ordering = Statement::new("o.application_id").sql(direction).sql(", ");
        (entrance, ordering.then(self.ordered(from_end)))
    }

    /// Returns the search of the filter, limited to the offers that match the rest of the filter.
    pub fn search(&self, text: &Line<255>) -> Search {
        let offers = ("storefront_offers o", "o.nomenclature_id", "o.name_key");
        Search::new(self.visitor.app.project_id, text, offers, self.condition(), MAX_FOUND_BY_CUSTOMERS)
    }

    /// Selects these products, in no particular order.
    pub fn these(&self, ids: &[i64]) -> Statement {
        product(self.visitor, self.at)
            .sql(" FROM storefront_offers o")
            .sql(JOINS)
            .sql(" WHERE o.application_id = ")
            .value(self.visitor.app.application_id.get())
            .sql(" AND o.nomenclature_id")
            .among(ids)
    }

    /// Selects the offers by their reduced price, from each part as many as the page could need. Also returns the order
    /// of the combined parts.
    fn by_reduced_price(
        &self,
        reductions: &ActiveDiscounts,
        direction: &'static str,
        page: PageRequest,
    ) -> (Statement, Statement) {
        let ordering = || Statement::new("o.reduced").sql(direction).sql(", o.nomenclature_id").sql(direction);
        let most = page.offset().saturating_add(page.limit());
        let mut offers = Statement::new("SELECT o.* FROM (");
        for (place, (price, condition)) in self.parts(reductions).into_iter().enumerate() {
            offers = offers
                .sql(if place == 0 { "SELECT * FROM (SELECT o.*, " } else { " UNION ALL SELECT * FROM (SELECT o.*, " })
                .then(price)
                .sql(" AS reduced FROM storefront_offers o WHERE ")
                .then(condition)
                .sql(" ORDER BY reduced")
                .sql(direction)
                .sql(", o.nomenclature_id")
                .sql(direction)
                .sql(" LIMIT ")
                .value(most)
                .sql(format!(") AS part_{place}"));
        }
        (offers.sql(") AS o"), ordering())
    }

    /// Splits the offers into disjoint parts, each with its price and its condition:
    /// - offers without a discount, whose price is read from the index
    /// - offers of reduced categories
    /// - other reduced items
    fn parts(&self, reductions: &ActiveDiscounts) -> [(Statement, Statement); 3] {
        let plain = Self { discounted: None, ..*self };
        let of_items = reductions.of_items();
        let Self { visitor, filter, order, at, .. } = *self;
        let items = OfferQuery { visitor, filter, order, at, discounted: Some(&of_items) };
        let [untouched, in_category, by_item] = reductions.parts();
        [
            (plain.price(), plain.condition().sql(" AND ").then(untouched)),
            (self.price(), self.condition().sql(" AND ").then(in_category)),
            (items.price(), items.condition().sql(" AND ").then(by_item)),
        ]
    }

    /// Returns `true` if the filter depends on current prices.
    fn filters_by_price(&self) -> bool {
        self.filter.on_sale || self.filter.price_from.is_some() || self.filter.price_to.is_some()
    }

    /// Counts the matching products.
    pub fn count(&self) -> Statement {
        match self.discounted {
            Some(reductions) if self.filters_by_price() => {
                let mut sum = Statement::new("SELECT 0");
                for (_, condition) in self.parts(reductions) {
                    sum = sum.sql(" + (SELECT count(*) FROM storefront_offers o WHERE ").then(condition).sql(")");
                }
                sum.sql(" AS total")
            }
            _ => Statement::new("SELECT count(*) AS total FROM storefront_offers o WHERE ").then(self.condition()),
        }
    }

    /// Reads the same number from the stored counts per category. Only for filters by category alone.
    pub fn stored_count(&self) -> Statement {
        let kept = Statement::new(
            "SELECT CAST(coalesce(sum(k.total), 0) AS BIGINT) AS total FROM offer_counts k WHERE k.application_id = ",
        )
        .value(self.visitor.app.application_id.get())
        .sql(" AND k.category_id");
        let categories: BTreeSet<i64> = self.filter.category_ids.iter().map(|id| id.get()).collect();
        let categories: Vec<i64> = categories.into_iter().collect();
        kept.among(if categories.is_empty() { &[ALL_CATEGORIES] } else { &categories })
    }

    /// Selects the lowest and the highest price with two searches. An index can answer each from its end.
    pub fn price_range(&self) -> Statement {
        let Some(reductions) = self.discounted else {
            return extremes(Statement::new("o.price"), self.condition());
        };
        let [untouched, in_category, by_item] =
            self.parts(reductions).map(|(price, condition)| extremes(price, condition));
        Statement::new("SELECT min(lowest) AS lowest, max(highest) AS highest FROM (")
            .then(untouched)
            .sql(" UNION ALL ")
            .then(in_category)
            .sql(" UNION ALL ")
            .then(by_item)
            .sql(") AS ends")
    }

    /// Price of one unit.
    pub fn price(&self) -> Statement {
        let price = Statement::new("o.price");
        match self.discounted {
            None => price,
            Some(reductions) => price.sql(" - ").then(reductions.amount()),
        }
    }

    /// Requested order; equal products are sorted by id.
    pub fn ordering(&self) -> Statement {
        self.ordered(false)
    }

    fn ascends(&self, from_end: bool) -> bool {
        use ProductOrder::{NameDescending, PopularityDescending, PriceDescending};
        matches!(self.order, Some(NameDescending | PopularityDescending | PriceDescending)) == from_end
    }

    fn ordered(&self, from_end: bool) -> Statement {
        use ProductOrder::{
            NameAscending, NameDescending, PopularityAscending, PopularityDescending, PriceAscending, PriceDescending,
        };
        let key = match self.order {
            None => None,
            Some(NameAscending | NameDescending) => Some(Statement::new("o.sort_key")),
            Some(PopularityAscending | PopularityDescending) => Some(Statement::new("o.popularity")),
            Some(PriceAscending | PriceDescending) => Some(self.price()),
        };
        let direction = if self.ascends(from_end) { "" } else { " DESC" };
        let ordered = key.map_or_else(Statement::default, |key| key.sql(direction).sql(", "));
        ordered.sql("o.nomenclature_id").sql(direction)
    }

    /// Condition that an offer `o` is part of the list.
    pub fn condition(&self) -> Statement {
        let filter = self.filter;
        let mut condition = Statement::new("o.application_id = ").value(self.visitor.app.application_id.get());
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
        if let Some(from) = filter.price_from {
            // No price exceeds the price before its discount; an index can answer this condition. Reduced items are
            // found by their own index.
            if self.discounted.is_none_or(ActiveDiscounts::has_category_discounts) {
                condition = condition.sql(" AND o.price >= ").value(from.minor());
            }
            if self.discounted.is_some() {
                condition = condition.sql(" AND ").then(self.price()).sql(" >= ").value(from.minor());
            }
        }
        if let Some(to) = filter.price_to {
            condition = condition.sql(" AND ").then(self.price()).sql(" <= ").value(to.minor());
        }
        if filter.on_sale {
            condition = match self.discounted {
                None => condition.sql(" AND 1 = 0"),
                Some(reductions) => condition.sql(" AND ").then(reductions.amount()).sql(" > 0"),
            };
        }
        condition
    }
}

/// Selects the ends of a range of prices.
fn extremes(price: Statement, condition: Statement) -> Statement {
    Statement::new("SELECT (SELECT min(")
        .then(price.clone())
        .sql(") FROM storefront_offers o WHERE ")
        .then(condition.clone())
        .sql(") AS lowest, (SELECT max(")
        .then(price)
        .sql(") FROM storefront_offers o WHERE ")
        .then(condition)
        .sql(") AS highest")
}

/// Available units in the warehouses of the application.
pub(super) fn stock(app: AppScope) -> Statement {
    Statement::new(
        "(SELECT CAST(coalesce(sum(i.quantity - i.reserved), 0) AS BIGINT) FROM inventories i \
         JOIN warehouse_applications w ON w.warehouse_id = i.warehouse_id AND w.application_id = ",
    )
    .value(app.application_id.get())
    .sql(" WHERE i.nomenclature_id = o.nomenclature_id)")
}

/// Amount that the best automatic discount on the product, its category or an ancestor takes off one unit. Computed as
/// for an order of one unit: percentages in basis points are rounded half up, and no price is below zero.
pub(super) fn reduction(app: AppScope, at: DateTime<Utc>) -> Statement {
    largest(app, at).sql(
        " AND (d.target = 'product' AND d.target_id = o.nomenclature_id \
         OR d.target = 'category' AND d.target_id IN (WITH RECURSIVE above (id) AS (SELECT o.category_id UNION \
         SELECT up.parent_id FROM categories up JOIN above ON up.id = above.id) SELECT id FROM above))), 0)",
    )
}

/// Starts the expression for the largest amount that a discount in force takes off. The caller appends conditions and
/// the end.
fn largest(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(
        "coalesce((SELECT max(CASE WHEN d.kind = 'percent' AND d.value < 10000 THEN (o.price * d.value + 5000) / 10000 \
         WHEN d.kind = 'fixed' AND d.value < o.price THEN d.value ELSE o.price END) FROM discounts d WHERE ",
    )
    .then(in_force(app, at))
    .sql(" AND d.minimum_sum <= o.price")
}

/// The same for discounts on the item itself, which an index finds.
pub(super) fn reduction_of_item(app: AppScope, at: DateTime<Utc>) -> Statement {
    largest(app, at).sql(" AND d.target = 'product' AND d.target_id = o.nomenclature_id), 0)")
}

/// Condition for automatic discounts on a product or a category, regardless of time. It does not depend on the row, so
/// it is evaluated once for a whole page.
fn automatic(app: AppScope) -> Statement {
    Statement::new("d.project_id = ")
        .value(app.project_id.get())
        .sql(" AND d.status = 'active' AND d.code IS NULL AND d.target <> 'cart'")
}

/// Condition for those of them that are in force.
pub(super) fn in_force(app: AppScope, at: DateTime<Utc>) -> Statement {
    automatic(app)
        .sql(" AND (d.starts_at IS NULL OR d.starts_at <= ")
        .value(at.naive_utc())
        .sql(") AND (d.ends_at IS NULL OR d.ends_at > ")
        .value(at.naive_utc())
        .sql(")")
}
