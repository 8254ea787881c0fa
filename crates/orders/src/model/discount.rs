//! Discounts and promo codes.

use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, DiscountId, DiscountStatus, DiscountTarget, DiscountValue, Money, NomenclatureId};
use strum::IntoStaticStr;

/// A discount; with a code it is a promo code, without one it applies by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discount {
    /// The number of the discount.
    pub id: DiscountId,
    /// Its name for people.
    pub name: String,
    /// The promo code; `None` for an automatic discount.
    pub code: Option<String>,
    /// How much it takes off.
    pub value: DiscountValue,
    /// What it applies to.
    pub target: DiscountTarget,
    /// The cart's original price from which it applies.
    pub minimum_sum: Money,
    /// From when.
    pub starts_at: Option<DateTime<Utc>>,
    /// Until when, exclusive.
    pub ends_at: Option<DateTime<Utc>>,
    /// How many orders may use a promo code.
    pub usage_limit: Option<u64>,
    /// How many orders of one customer may use a promo code.
    pub customer_limit: Option<u64>,
    /// How many orders use it.
    pub used_count: u64,
    /// Whether it is in force.
    pub status: DiscountStatus,
    /// Grows by one whenever staff change it.
    pub version: u64,
}

impl Discount {
    /// Whether it is in force at `at`, whatever the cart.
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

    /// Whether it applies to an item in these categories (its own and those above).
    pub fn covers(&self, item: NomenclatureId, categories: &[CategoryId]) -> bool {
        match self.target {
            DiscountTarget::Cart => true,
            DiscountTarget::Category(category) => categories.contains(&category),
            DiscountTarget::Product(product) => product == item,
        }
    }
}

/// A promo code a customer gave, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promo {
    /// The discount with this code, if there is one.
    pub discount: Option<Discount>,
    /// How many orders of the customer already use it; 0 when nobody is signed in.
    pub used_by_customer: u64,
}

impl Promo {
    /// The discount, when it may be used at `at` in a cart with this original price.
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

/// Why a promo code takes nothing off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PromoProblem {
    /// No such code.
    #[error("there is no such promo code")]
    Unknown,
    /// Not yet.
    #[error("the promo code is not valid yet")]
    NotStarted,
    /// No longer.
    #[error("the promo code is no longer valid")]
    Expired,
    /// Stopped for now.
    #[error("the promo code is paused")]
    Paused,
    /// As many orders use it as may.
    #[error("the promo code has been used up")]
    LimitReached,
    /// As many orders of this customer use it as may.
    #[error("you have already used the promo code")]
    CustomerLimit,
    /// The cart is worth too little.
    #[error("the promo code is valid from a sum of {0}")]
    MinimumSum(Money),
    /// Nothing in the cart is covered.
    #[error("the promo code does not apply to these products")]
    NotApplicable,
}

impl PromoProblem {
    /// The code of `discount_error`.
    pub fn code(self) -> &'static str {
        self.into()
    }
}
