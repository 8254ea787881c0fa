//! Discounts as staff see them.

use chrono::{DateTime, Utc};
use kontor_catalog::model::{Discount, DiscountStats, DiscountUsage};
use kontor_kernel::{DiscountTarget, Page, Quantity, Word as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::envelope::{list, one};
use crate::http::paging::Pagination;
use crate::http::resource_page::{ListAddress, PageLinks, PageMeta};
use crate::http::wire::NamedRecord;

#[derive(Serialize, ToSchema)]
struct DiscountRecord {
    id: i64,
    name: String,
    description: Option<String>,
    /// The promo code; `null` for a discount that applies by itself.
    code: Option<String>,
    /// `percent` or `fixed`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Decimal string: percent, or an amount.
    value: String,
    /// `cart`, `category` or `product`.
    target: &'static str,
    /// What a discount on a category is for.
    category: Option<NamedRecord>,
    /// What a discount on a product is for.
    nomenclature: Option<NamedRecord>,
    /// Decimal string: the cart's original price from which it applies.
    minimum_sum: String,
    starts_at: Option<DateTime<Utc>>,
    /// Exclusive.
    ends_at: Option<DateTime<Utc>>,
    usage_limit: Option<u32>,
    customer_limit: Option<u32>,
    /// Orders that use the promo code.
    used_count: u64,
    /// Decimal string: what the promo code let them off.
    used_amount: String,
    /// `active`, `scheduled`, `expired`, `paused` or `archived`.
    status: &'static str,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl DiscountRecord {
    fn of(discount: Discount, at: DateTime<Utc>) -> Self {
        let status = discount.state(at).word();
        let terms = discount.terms;
        let named = |id: i64| discount.target_name.clone().map(|name| NamedRecord::new(id, name));
        let (target, category, nomenclature) = match terms.target {
            DiscountTarget::Cart => ("cart", None, None),
            DiscountTarget::Category(id) => ("category", named(id.get()), None),
            DiscountTarget::Product(id) => ("product", None, named(id.get())),
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
            target,
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

#[derive(Serialize, ToSchema)]
pub(super) struct OneDiscount {
    discount: DiscountRecord,
}

impl OneDiscount {
    /// A discount as it is at `at`.
    pub(super) fn of(discount: Discount, at: DateTime<Utc>) -> Self {
        Self { discount: DiscountRecord::of(discount, at) }
    }
}

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
    /// A page of discounts as they are at `at`.
    pub(super) fn of(page: Page<Discount>, address: &ListAddress, at: DateTime<Utc>) -> Self {
        let (links, meta, pagination) = (address.links(&page), address.meta(&page), Pagination::from(&page));
        let discounts_count = page.total;
        let discounts = page.items.into_iter().map(|discount| DiscountRecord::of(discount, at)).collect();
        Self { data: DiscountData { discounts, discounts_count, pagination }, links, meta }
    }
}

/// The use of a promo code by an order. Orders that were canceled have given it back.
#[derive(Serialize, ToSchema)]
struct UsageRecord {
    order_id: i64,
    counterparty_id: i64,
    /// Decimal string: what the code took off.
    discount_amount: String,
    /// Decimal string: what was left to pay.
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

/// The discounts of the project in figures.
#[derive(Serialize, ToSchema)]
struct StatsRecord {
    total: u64,
    active: u64,
    scheduled: u64,
    expired: u64,
    paused: u64,
    archived: u64,
    /// Discounts with a promo code.
    promo_codes: u64,
    /// Orders that use a promo code.
    usages: u64,
    /// Decimal string: what promo codes let them off.
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
