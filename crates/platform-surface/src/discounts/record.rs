//! Record, list and table of discounts.

use actix_web::HttpRequest;
use chrono::{DateTime, Utc};
use kontor_catalog::model::{Discount, DiscountState, DiscountStats, DiscountUsage, TargetKind};
use kontor_kernel::listing::Sort;
use kontor_kernel::{DiscountTarget, Name, Page, Quantity, Word as _};
use kontor_web::envelope::{list, one};
use kontor_web::paging::Pagination;
use kontor_web::wire::NamedRecord;
use serde::Serialize;
use utoipa::ToSchema;

use crate::table::{Cell, Column, Filter, Table, list_params};

#[derive(Serialize, ToSchema)]
pub(super) struct DiscountRecord {
    id: i64,
    name: String,
    description: Option<String>,
    /// Promo code. `null` if the discount applies automatically.
    code: Option<String>,
    /// `percent` or `fixed`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Percentage or amount, decimal string.
    value: String,
    /// `cart`, `category` or `product`.
    target: &'static str,
    /// Category of a discount on a category.
    category: Option<NamedRecord>,
    /// Product of a discount on a product.
    nomenclature: Option<NamedRecord>,
    /// Minimum original price of the cart, decimal string.
    minimum_sum: String,
    starts_at: Option<DateTime<Utc>>,
    /// End of the discount, exclusive.
    ends_at: Option<DateTime<Utc>>,
    /// Maximum number of orders with the promo code. `null` if unlimited.
    usage_limit: Option<u32>,
    /// Maximum number of orders per customer with the promo code. `null` if unlimited.
    customer_limit: Option<u32>,
    /// Number of orders that use the promo code.
    used_count: u64,
    /// Total discount that the promo code gave these orders, decimal string.
    used_amount: String,
    /// `active`, `scheduled`, `expired`, `paused` or `archived`.
    status: &'static str,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl DiscountRecord {
    /// Builds the record with the status at `at`.
    pub(super) fn of(discount: Discount, at: DateTime<Utc>) -> Self {
        let status = discount.state(at).word();
        let terms = discount.terms;
        let named = |id: i64| discount.target_name.clone().map(|name| NamedRecord::new(id, name));
        let (category, nomenclature) = match terms.target {
            DiscountTarget::Cart => (None, None),
            DiscountTarget::Category(id) => (named(id.get()), None),
            DiscountTarget::Product(id) => (None, named(id.get())),
        };
        let limits = terms.promo.as_ref().map(|promo| (promo.usage_limit, promo.customer_limit));
        let (usage_limit, customer_limit) = limits.unwrap_or_default();
        Self {
            id: discount.id.get(),
            name: terms.name.into(),
            description: terms.description.map(Into::into),
            code: terms.promo.map(|promo| promo.code.to_string()),
            kind: terms.value.kind(),
            value: terms.value.to_string(),
            target: target_word(terms.target),
            category,
            nomenclature,
            minimum_sum: terms.minimum_sum.to_string(),
            starts_at: terms.period.starts_at(),
            ends_at: terms.period.ends_at(),
            usage_limit: usage_limit.map(Quantity::get),
            customer_limit: customer_limit.map(Quantity::get),
            used_count: discount.used_count,
            used_amount: discount.used_amount.to_string(),
            status,
            created_at: discount.created_at,
            updated_at: discount.updated_at,
        }
    }
}

/// Returns the word of a target.
pub(super) fn target_word(target: DiscountTarget) -> &'static str {
    let kind = match target {
        DiscountTarget::Cart => TargetKind::Cart,
        DiscountTarget::Category(_) => TargetKind::Category,
        DiscountTarget::Product(_) => TargetKind::Product,
    };
    kind.word()
}

one!(pub(super) DiscountResponse { discount: DiscountRecord });

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DiscountData {
    discounts: Vec<DiscountRecord>,
    discounts_count: u64,
    pagination: Pagination,
}

#[derive(Serialize, ToSchema)]
pub(super) struct DiscountList {
    data: DiscountData,
    links: PageLinks,
    meta: PageMeta,
}

impl DiscountList {
    /// Builds a page of records with their status at `at`.
    pub(super) fn of(page: Page<Discount>, address: &ListAddress, at: DateTime<Utc>) -> Self {
        let (links, meta, pagination) = (address.links(&page), address.meta(&page), Pagination::from(&page));
        let discounts_count = page.total;
        let discounts = page.items.into_iter().map(|discount| DiscountRecord::of(discount, at)).collect();
        Self { data: DiscountData { discounts, discounts_count, pagination }, links, meta }
    }
}

/// Use of a promo code by an order. Canceled orders are not included.
#[derive(Serialize, ToSchema)]
struct UsageRecord {
    order_id: i64,
    counterparty_id: i64,
    /// Discount by the code, decimal string.
    discount_amount: String,
    /// Price after all discounts, decimal string.
    final_price: String,
    created_at: DateTime<Utc>,
}

impl From<DiscountUsage> for UsageRecord {
    fn from(usage: DiscountUsage) -> Self {
        Self {
            order_id: usage.order_id.get(),
            counterparty_id: usage.counterparty_id.get(),
            discount_amount: usage.amount.to_string(),
            final_price: usage.final_price.to_string(),
            created_at: usage.created_at,
        }
    }
}

list!(pub(super) UsageList { usages: [UsageRecord], usages_count of all, pagination });

/// Discount statistics of the project.
#[derive(Serialize, ToSchema)]
struct StatsRecord {
    total: u64,
    active: u64,
    scheduled: u64,
    expired: u64,
    paused: u64,
    archived: u64,
    /// Number of discounts with a promo code.
    promo_codes: u64,
    /// Number of orders that use a promo code.
    usages: u64,
    /// Total discount that promo codes gave these orders, decimal string.
    discount_amount: String,
}

impl From<DiscountStats> for StatsRecord {
    fn from(stats: DiscountStats) -> Self {
        Self {
            total: stats.total(),
            active: stats.active,
            scheduled: stats.scheduled,
            expired: stats.expired,
            paused: stats.paused,
            archived: stats.archived,
            promo_codes: stats.promo_codes,
            usages: stats.usages,
            discount_amount: stats.amount.to_string(),
        }
    }
}

one!(pub(super) DiscountFigures { stats: StatsRecord });

/// Table of `GET /api/tables/discounts`. A row is a discount with its current state.
pub(super) const TABLE: Table<(DiscountState, Discount)> = Table {
    id: 81,
    resource: "discounts",
    version: Some(|(_, discount)| discount.version.into()),
    columns: &[
        Column::new("id", "No.", |(_, discount)| Cell::plain(discount.id.get())),
        Column::with_icon("name", "Name", |(_, discount)| {
            Cell::linked(discount.terms.name.as_str(), format!("/api/discounts/{}", discount.id))
        }),
        Column::new("code", "Promo code", |(_, discount)| {
            Cell::plain(discount.terms.promo.as_ref().map(|promo| promo.code.to_string()))
        }),
        Column::new("type", "Type", |(_, discount)| Cell::plain(discount.terms.value.kind())),
        Column::new("value", "Value", |(_, discount)| Cell::plain(discount.terms.value.to_string())),
        Column::new("target", "Target", |(_, discount)| Cell::plain(target_word(discount.terms.target))),
        Column::new("target_name", "Applies to", |(_, discount)| {
            Cell::plain(discount.target_name.as_ref().map(Name::as_str))
        }),
        Column::new("status", "Status", |(state, _)| Cell::plain(state.word())),
        Column::new("starts_at", "From", |(_, discount)| Cell::moment(discount.terms.period.starts_at())),
        Column::new("ends_at", "Until", |(_, discount)| Cell::moment(discount.terms.period.ends_at())),
        Column::new("usage_limit", "Limit", |(_, discount)| {
            let limit = discount.terms.promo.as_ref().and_then(|promo| promo.usage_limit);
            Cell::plain(limit.map(Quantity::get))
        }),
        Column::new("used_count", "Orders", |(_, discount)| Cell::plain(discount.used_count)),
        Column::new("used_amount", "Given", |(_, discount)| Cell::plain(discount.used_amount.to_string())),
        Column::new("created_at", "Created", |(_, discount)| Cell::moment(discount.created_at)),
    ],
    sorts: &["id"],
    filters: &[
        Filter::word::<DiscountState>("status", "Currently in these states."),
        Filter::flag("has_code", "`1` returns only discounts with a promo code, `0` only those without."),
        Filter::word::<TargetKind>("target", "With these targets."),
    ],
    search: Some("Part of the name or the promo code, in any case."),
    period: None,
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/discounts`.
    DiscountParams of TABLE
}

/// URLs of other pages. They keep the rest of the query string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageLinks {
    first: String,
    last: String,
    /// `null` on the first page.
    prev: Option<String>,
    /// `null` on the last page.
    next: Option<String>,
}

/// Position of the page in its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageMeta {
    current_page: u32,
    /// Number of the first record, from 1; `null` if the page is empty.
    from: Option<u64>,
    last_page: u64,
    /// URL of the list without a query string.
    path: String,
    per_page: u32,
    /// Number of the last record; `null` if the page is empty.
    to: Option<u64>,
    total: u64,
}

/// URL of a list and the rest of its query string.
pub struct ListAddress {
    path: String,
    rest: String,
}

impl ListAddress {
    /// Combines `public_url` with the path and the query string of a request.
    pub fn of(request: &HttpRequest, public_url: &str) -> Self {
        let others = form_urlencoded::parse(request.query_string().as_bytes()).filter(|(key, _)| key != "page");
        let rest = form_urlencoded::Serializer::new(String::new()).extend_pairs(others).finish();
        Self { path: format!("{}{}", public_url.trim_end_matches('/'), request.path()), rest }
    }

    fn page(&self, number: u64) -> String {
        let separator = if self.rest.is_empty() { "" } else { "&" };
        format!("{}?{}{separator}page={number}", self.path, self.rest)
    }

    /// Returns the links of a page.
    pub fn links<T>(&self, page: &Page<T>) -> PageLinks {
        let (current, last) = (u64::from(page.request.page()), page.last_page());
        PageLinks {
            first: self.page(1),
            last: self.page(last),
            // Beyond the end of the list, the previous page is the last page.
            prev: (current > 1).then(|| self.page((current - 1).min(last))),
            next: (current < last).then(|| self.page(current + 1)),
        }
    }

    /// Returns the position of a page.
    pub fn meta<T>(&self, page: &Page<T>) -> PageMeta {
        PageMeta {
            current_page: page.request.page(),
            from: page.from(),
            last_page: page.last_page(),
            path: self.path.clone(),
            per_page: page.request.per_page(),
            to: page.to(),
            total: page.total,
        }
    }
}
