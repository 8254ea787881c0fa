//! The statements of the storefront lists. `o` is always a row of `storefront_offers`.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{AppScope, CustomerScope, Line, PageRequest, Visitor};

use super::storefront_reductions::Reductions;
use crate::projections::offer_counts::EVERY_CATEGORY;
use crate::projections::search::Search;
use crate::statement::Statement;

/// What the first columns of a list or a card are, in the order of `ProductRow`.
const COLUMNS: &str = "SELECT o.nomenclature_id, o.kind_id, o.name, o.article, o.price, o.wholesale, \
    o.pieces_per_pack, o.quantity_pack, o.photos, c.id, c.name, b.id, b.name, ";

/// From so many rows before a page on, they are passed over inside the index.
const FAR: i64 = 500;

/// Joins what [`product`] needs.
pub(super) const JOINS: &str =
    " LEFT JOIN categories c ON c.id = o.category_id LEFT JOIN brands b ON b.id = o.brand_id";

/// Starts a statement whose first columns make a `ProductRow`.
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

/// Whether the visitor keeps the product: one look into a unique index per row, and none without a customer.
fn kept(visitor: Visitor) -> Statement {
    let Some(customer) = visitor.counterparty_id else { return Statement::new("FALSE") };
    Statement::new("EXISTS (SELECT 1 FROM favourites f WHERE f.project_id = ")
        .value(visitor.app.project_id.get())
        .sql(" AND f.counterparty_id = ")
        .value(customer.get())
        .sql(" AND f.nomenclature_id = o.nomenclature_id)")
}

/// What a customer keeps and the application shows, kept last first.
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

/// How many these are.
pub(super) fn count_favourites(customer: CustomerScope) -> Statement {
    Statement::new("SELECT count(*) AS total").then(shown_favourites(customer))
}

fn shown_favourites(customer: CustomerScope) -> Statement {
    Statement::new(
        " FROM favourites v JOIN storefront_offers o ON o.nomenclature_id = v.nomenclature_id AND o.application_id = ",
    )
    .value(customer.app.application_id.get())
    .sql(" WHERE v.project_id = ")
    .value(customer.app.project_id.get())
    .sql(" AND v.counterparty_id = ")
    .value(customer.counterparty_id.get())
}

/// What is asked of the offers of one application at one moment.
pub(super) struct OfferQuery<'a> {
    pub visitor: Visitor,
    pub filter: &'a ProductFilter,
    pub order: Option<ProductOrder>,
    pub at: DateTime<Utc>,
    /// The discounts that change prices now: then prices are computed, else they come from the index.
    pub discounted: Option<&'a Reductions>,
}

impl OfferQuery<'_> {
    /// Whether the answer depends on discounts.
    pub fn needs_prices(filter: &ProductFilter, order: Option<ProductOrder>) -> bool {
        let by_price = matches!(order, Some(ProductOrder::PriceAscending | ProductOrder::PriceDescending));
        by_price || filter.on_sale || filter.price_from.is_some() || filter.price_to.is_some()
    }

    /// Whether so many rows come before the page that it is worth knowing first how many there are in all.
    pub fn is_far(page: PageRequest) -> bool {
        page.offset() >= FAR
    }

    /// One page, with the names and the stock of these rows alone. `total` is how many rows there are, if that is known.
    pub fn page(&self, page: PageRequest, total: Option<i64>) -> Statement {
        let (offers, ordering) = match (self.discounted, self.order) {
            (Some(reductions), Some(ProductOrder::PriceAscending)) => self.by_reduced_price(reductions, "", page),
            (Some(reductions), Some(ProductOrder::PriceDescending)) => self.by_reduced_price(reductions, " DESC", page),
            _ if Self::is_far(page) => return self.far_page(page, total),
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
            .sql(" LIMIT ")
            .value(page.limit())
            .sql(" OFFSET ")
            .value(page.offset())
            .sql(") AS o")
            .sql(JOINS)
            .sql(" ORDER BY ")
            .then(ordering)
    }

    /// A page with many rows before it: these are passed over inside the index, and nothing but the page is read. From the
    /// end, when that is nearer. The first pages would only pay for looking their rows up a second time.
    fn far_page(&self, page: PageRequest, total: Option<i64>) -> Statement {
        let before = page.offset();
        let after = total.map(|total| (total - before - page.limit()).max(0));
        let (skipped, from_end) = match after {
            Some(after) if after < before => (after, true),
            _ => (before, false),
        };
        let rows = total.map_or(page.limit(), |total| (total - before).clamp(0, page.limit()));
        let (entrance, ordering) = match total {
            Some(_) if self.is_of_everything() => self.walk_of_everything(from_end),
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
            // `CROSS` has SQLite look up the rows of the page; it would walk all of them in their order instead.
            .sql(") AS p CROSS JOIN storefront_offers o")
            .sql(JOINS)
            .sql(" WHERE o.nomenclature_id = p.item AND ")
            .then(self.condition())
            .sql(" ORDER BY ")
            .then(self.ordering())
    }

    fn is_of_everything(&self) -> bool {
        self.filter.category_ids.is_empty() && self.filter.is_by_category()
    }

    /// Where a walk through all offers of the application enters the index, and the order it takes. How many rows it passes
    /// and takes is known, so that it needs no other end: SQLite would compare every row with one, which is two fifths of the
    /// work. Should the count be wrong, what belongs to others is left out when the rows are looked up.
    fn walk_of_everything(&self, from_end: bool) -> (Statement, Statement) {
        let (entrance, direction) =
            if self.ascends(from_end) { ("o.application_id >= ", "") } else { ("o.application_id <= ", " DESC") };
        let entrance = Statement::new(entrance).value(self.visitor.app.application_id.get());
        let ordering = Statement::new("o.application_id").sql(direction).sql(", ");
        (entrance, ordering.then(self.ordered(from_end)))
    }

    /// The search that the filter asks for, among what it lets through otherwise.
    pub fn search(&self, text: &Line<255>) -> Search {
        let offers = ("storefront_offers o", "o.nomenclature_id", "o.name_key");
        Search::new(self.visitor.app.project_id, text, offers, self.condition())
    }

    /// These products, in no particular order.
    pub fn these(&self, ids: &[i64]) -> Statement {
        product(self.visitor, self.at)
            .sql(" FROM storefront_offers o")
            .sql(JOINS)
            .sql(" WHERE o.application_id = ")
            .value(self.visitor.app.application_id.get())
            .sql(" AND o.nomenclature_id")
            .among(ids)
    }

    /// The offers by what they cost now, of each part as many as the page could need. Returns the order of all of them
    /// together, too.
    fn by_reduced_price(
        &self,
        reductions: &Reductions,
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

    /// The offers in parts that have nothing in common, each with its price and what is asked of it: those that no
    /// discount concerns, whose price is the one in the index; those of reduced categories; other reduced items.
    fn parts(&self, reductions: &Reductions) -> [(Statement, Statement); 3] {
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

    /// Whether the filter looks at prices as they are now.
    fn narrows_by_price(&self) -> bool {
        self.filter.on_sale || self.filter.price_from.is_some() || self.filter.price_to.is_some()
    }

    /// How many products match.
    pub fn count(&self) -> Statement {
        match self.discounted {
            Some(reductions) if self.narrows_by_price() => {
                let mut sum = Statement::new("SELECT 0");
                for (_, condition) in self.parts(reductions) {
                    sum = sum.sql(" + (SELECT count(*) FROM storefront_offers o WHERE ").then(condition).sql(")");
                }
                sum.sql(" AS total")
            }
            _ => Statement::new("SELECT count(*) AS total FROM storefront_offers o WHERE ").then(self.condition()),
        }
    }

    /// The same from the counts that are kept for categories. Only for a filter by nothing else.
    pub fn kept_count(&self) -> Statement {
        let kept = Statement::new(
            "SELECT CAST(coalesce(sum(k.total), 0) AS BIGINT) AS total FROM offer_counts k WHERE k.application_id = ",
        )
        .value(self.visitor.app.application_id.get())
        .sql(" AND k.category_id");
        let categories: BTreeSet<i64> = self.filter.category_ids.iter().map(|id| id.get()).collect();
        let categories: Vec<i64> = categories.into_iter().collect();
        kept.among(if categories.is_empty() { &[EVERY_CATEGORY] } else { &categories })
    }

    /// The cheapest and the dearest price; two searches, each of which an index can answer from its end.
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

    /// What one piece costs.
    pub fn price(&self) -> Statement {
        let price = Statement::new("o.price");
        match self.discounted {
            None => price,
            Some(reductions) => price.sql(" - ").then(reductions.amount()),
        }
    }

    /// The order asked for; equal products by number.
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

    /// That an offer `o` is one of the list.
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
            // Nothing costs more than before its discount: this much an index can answer. Reduced items are found by their
            // own.
            if self.discounted.is_none_or(Reductions::concern_categories) {
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

/// The ends of a range of prices.
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
    largest(app, at).sql(
        " AND (d.target = 'product' AND d.target_id = o.nomenclature_id \
         OR d.target = 'category' AND d.target_id IN (WITH RECURSIVE above (id) AS (SELECT o.category_id UNION \
         SELECT up.parent_id FROM categories up JOIN above ON up.id = above.id) SELECT id FROM above))), 0)",
    )
}

/// Starts with the largest amount that a discount in force takes off; how these are narrowed and the end are to follow.
fn largest(app: AppScope, at: DateTime<Utc>) -> Statement {
    Statement::new(
        "coalesce((SELECT max(CASE WHEN d.kind = 'percent' AND d.value < 10000 THEN (o.price * d.value + 5000) / 10000 \
         WHEN d.kind = 'fixed' AND d.value < o.price THEN d.value ELSE o.price END) FROM discounts d WHERE ",
    )
    .then(in_force(app, at))
    .sql(" AND d.minimum_sum <= o.price")
}

/// The same of those on the item itself, which an index finds.
pub(super) fn reduction_of_item(app: AppScope, at: DateTime<Utc>) -> Statement {
    largest(app, at).sql(" AND d.target = 'product' AND d.target_id = o.nomenclature_id), 0)")
}

/// Discounts that apply by themselves to a product or a category, whenever they are in force. Nothing in it depends on
/// the row, so that it is asked once for a whole page.
fn automatic(app: AppScope) -> Statement {
    Statement::new("d.project_id = ")
        .value(app.project_id.get())
        .sql(" AND d.status = 'active' AND d.code IS NULL AND d.target <> 'cart'")
}

/// Those of them that are in force.
pub(super) fn in_force(app: AppScope, at: DateTime<Utc>) -> Statement {
    automatic(app)
        .sql(" AND (d.starts_at IS NULL OR d.starts_at <= ")
        .value(at.naive_utc())
        .sql(") AND (d.ends_at IS NULL OR d.ends_at > ")
        .value(at.naive_utc())
        .sql(")")
}
