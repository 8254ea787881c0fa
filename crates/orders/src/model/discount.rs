//! Discounts and promo codes.

use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, DiscountId, DiscountStatus, DiscountTarget, DiscountValue, Money, NomenclatureId};
use strum::IntoStaticStr;

/// Discount. With a code it is a promo code; without one it applies automatically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discount {
    /// Identifier of the discount.
    pub id: DiscountId,
    /// Display name.
    pub name: String,
    /// Promo code; `None` for an automatic discount.
    pub code: Option<String>,
    /// Amount or rate.
    pub value: DiscountValue,
    /// Items it applies to.
    pub target: DiscountTarget,
    /// Minimum original price of the cart.
    pub minimum_sum: Money,
    /// Start of its validity.
    pub starts_at: Option<DateTime<Utc>>,
    /// End of its validity, exclusive.
    pub ends_at: Option<DateTime<Utc>>,
    /// Maximum orders that may use a promo code.
    pub usage_limit: Option<u64>,
    /// Maximum orders of one customer that may use a promo code.
    pub customer_limit: Option<u64>,
    /// Number of orders that use it.
    pub used_count: u64,
    /// Status.
    pub status: DiscountStatus,
    /// Version; grows by one with every change by staff.
    pub version: u64,
}

impl Discount {
    /// Returns `true` if it is active and valid at `at`, for any cart.
    pub fn is_current(&self, at: DateTime<Utc>) -> bool {
        self.currency_problem(at).is_none()
    }

    fn currency_problem(&self, at: DateTime<Utc>) -> Option<PromoProblem> {
        match self.status {
            DiscountStatus::Paused => Some(PromoProblem::Paused),
            DiscountStatus::Archived => Some(PromoProblem::Expired),
            DiscountStatus::Active if self.starts_at.is_some_and(|start| at < start) => Some(PromoProblem::NotStarted),
            DiscountStatus::Active if self.ends_at.is_some_and(|end| at >= end) => Some(PromoProblem::Expired),
            DiscountStatus::Active => None,
        }
    }

    /// Returns `true` if it applies to an item in these categories (its own and those above).
    pub fn covers(&self, item: NomenclatureId, categories: &[CategoryId]) -> bool {
        match self.target {
            DiscountTarget::Cart => true,
            DiscountTarget::Category(category) => categories.contains(&category),
            DiscountTarget::Product(product) => product == item,
        }
    }
}

/// Promo code of a request with the stored data about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promo {
    /// Discount with this code, if there is one.
    pub discount: Option<Discount>,
    /// Number of the customer's orders that already use it; 0 without a customer.
    pub used_by_customer: u64,
}

impl Promo {
    /// Returns the discount if it may be used at `at` in a cart with this original price.
    pub fn usable(&self, original: Money, at: DateTime<Utc>) -> Result<&Discount, PromoProblem> {
        let discount = self.discount.as_ref().ok_or(PromoProblem::Unknown)?;
        let reached = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        match discount.currency_problem(at) {
            Some(problem) => Err(problem),
            None if reached(discount.usage_limit, discount.used_count) => Err(PromoProblem::LimitReached),
            None if reached(discount.customer_limit, self.used_by_customer) => Err(PromoProblem::CustomerLimit),
            None if original < discount.minimum_sum => Err(PromoProblem::MinimumSum(discount.minimum_sum)),
            None => Ok(discount),
        }
    }
}

/// Reasons why a promo code does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PromoProblem {
    /// No such code.
    #[error("there is no such promo code")]
    Unknown,
    /// The discount has not started.
    #[error("the promo code is not valid yet")]
    NotStarted,
    /// The discount has ended or is archived.
    #[error("the promo code is no longer valid")]
    Expired,
    /// Paused.
    #[error("the promo code is paused")]
    Paused,
    /// The maximum number of orders use it.
    #[error("the promo code has been used up")]
    LimitReached,
    /// The maximum number of orders of this customer use it.
    #[error("you have already used the promo code")]
    CustomerLimit,
    /// The original price of the cart is below this minimum.
    #[error("the promo code requires an order of at least {0}")]
    MinimumSum(Money),
    /// It reduces no line of the cart.
    #[error("the promo code does not apply to these products")]
    NotApplicable,
}

impl PromoProblem {
    /// Returns the code of `discount_error`.
    pub fn code(self) -> &'static str {
        self.into()
    }
}
