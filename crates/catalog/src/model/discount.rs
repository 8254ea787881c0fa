use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    CounterpartyId, DiscountId, DiscountStatus, DiscountTarget, DiscountValue, InvalidDiscountValue, Money, Name,
    OrderId, PromoCode, Prose, Quantity, Resource, Word,
};

use super::{EndsBeforeStart, Period, Phase};

/// Discount. With a promo code, customers enter the code; without one, the discount applies automatically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discount {
    /// Identifier.
    pub id: DiscountId,
    /// Terms.
    pub terms: DiscountTerms,
    /// Name of the target category or product.
    pub target_name: Option<Name>,
    /// Status.
    pub status: DiscountStatus,
    /// Number of orders that use its promo code.
    pub used_count: u64,
    /// Total discount of these orders by the code.
    pub used_amount: Money,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Discount {
    const RESOURCE: Resource = Resource::Discounts;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let terms = &self.terms;
        let (category, item) = match terms.target {
            DiscountTarget::Cart => (None, None),
            DiscountTarget::Category(id) => (Some(id.to_string()), None),
            DiscountTarget::Product(id) => (None, Some(id.to_string())),
        };
        let promo = terms.promo.as_ref();
        let moment = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
        let limit = |limit: Option<Quantity>| limit.map(|limit| limit.get().to_string());
        vec![
            ("name", Some(terms.name.to_string())),
            ("description", terms.description.as_deref().map(str::to_owned)),
            ("code", promo.map(|promo| promo.code.to_string())),
            ("type", Some(terms.value.kind().to_owned())),
            ("value", Some(terms.value.to_string())),
            ("category_id", category),
            ("nomenclature_id", item),
            ("minimum_sum", Some(terms.minimum_sum.to_string())),
            ("starts_at", moment(terms.period.starts_at())),
            ("ends_at", moment(terms.period.ends_at())),
            ("usage_limit", limit(promo.and_then(|promo| promo.usage_limit))),
            ("customer_limit", limit(promo.and_then(|promo| promo.customer_limit))),
            ("status", Some(self.status.word().to_owned())),
        ]
    }
}

/// Terms of a discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscountTerms {
    /// Name shown to people.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Prose>,
    /// Amount or percentage.
    pub value: DiscountValue,
    /// Target.
    pub target: DiscountTarget,
    /// Minimum original price of the cart.
    pub minimum_sum: Money,
    /// Period in which it is in force.
    pub period: Period,
    /// Promo code; `None` for an automatic discount.
    pub promo: Option<PromoTerms>,
}

/// Promo code and its usage limits. Automatic discounts have no limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromoTerms {
    /// Code that customers enter.
    pub code: PromoCode,
    /// Maximum number of orders that use it.
    pub usage_limit: Option<Quantity>,
    /// Maximum number of orders of one customer that use it.
    pub customer_limit: Option<Quantity>,
}

/// State of a discount at a time, as shown to staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DiscountState {
    /// In force.
    Active,
    /// Not started yet.
    Scheduled,
    /// Ended.
    Expired,
    /// Paused; can become active again.
    Paused,
    /// Archived; never active again.
    Archived,
}

/// Reason why the status of a discount does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StatusRefusal {
    /// Archived discounts cannot be changed.
    #[error("the discount is archived and cannot be changed")]
    Archived,
    /// The period is over, so the discount could not be in force.
    #[error("the discount has expired; set a later end first")]
    PeriodOver,
}

impl Discount {
    /// Returns the state at a time. The dates matter only while the discount is active.
    pub fn state(&self, at: DateTime<Utc>) -> DiscountState {
        match (self.status, self.terms.period.phase(at)) {
            (DiscountStatus::Archived, _) => DiscountState::Archived,
            (DiscountStatus::Paused, _) => DiscountState::Paused,
            (DiscountStatus::Active, Phase::Upcoming) => DiscountState::Scheduled,
            (DiscountStatus::Active, Phase::Running) => DiscountState::Active,
            (DiscountStatus::Active, Phase::Ended) => DiscountState::Expired,
        }
    }

    /// Returns the paused status. Idempotent.
    pub fn pause(&self) -> Result<DiscountStatus, StatusRefusal> {
        self.changeable().map(|()| DiscountStatus::Paused)
    }

    /// Returns the active status. Idempotent. Refuses a discount whose period is over.
    pub fn activate(&self, at: DateTime<Utc>) -> Result<DiscountStatus, StatusRefusal> {
        self.changeable()?;
        if self.terms.period.phase(at) == Phase::Ended {
            return Err(StatusRefusal::PeriodOver);
        }
        Ok(DiscountStatus::Active)
    }

    /// Returns the archived status.
    pub fn archive(&self) -> DiscountStatus {
        DiscountStatus::Archived
    }

    /// Returns an error if the discount is archived.
    pub fn changeable(&self) -> Result<(), StatusRefusal> {
        if self.status == DiscountStatus::Archived { Err(StatusRefusal::Archived) } else { Ok(()) }
    }
}

/// Type of a discount value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DiscountKind {
    /// Percentage.
    Percent,
    /// Amount.
    Fixed,
}

impl DiscountKind {
    fn of(value: DiscountValue) -> Self {
        match value {
            DiscountValue::Percent(_) => Self::Percent,
            DiscountValue::Fixed(_) => Self::Fixed,
        }
    }

    /// Creates the value from a number: percentage or amount.
    fn value(self, number: Money) -> Result<DiscountValue, TermsRefusal> {
        Ok(match self {
            Self::Percent => DiscountValue::percent(number)?,
            Self::Fixed => DiscountValue::fixed(number)?,
        })
    }
}

/// Kind of discount target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TargetKind {
    /// Whole cart.
    Cart,
    /// Category with its subcategories.
    Category,
    /// Product.
    Product,
}

/// Reason why terms are refused, by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TermsRefusal {
    /// The number does not fit the type.
    #[error(transparent)]
    Value(#[from] InvalidDiscountValue),
    /// The type changes without a new value.
    #[error("is required when the type changes")]
    ValueRequired,
    /// Both a category and a product are given.
    #[error("a discount is for a category or for a product, not for both")]
    TwoTargets,
    /// The target kind does not fit the given record.
    #[error("does not match the given category or product")]
    TargetContradicted,
    /// The target record is removed without the target kind `cart`. This prevents an unintended discount on everything.
    #[error("must be `cart` when it is no longer for a category or product")]
    TargetRequired,
    /// A discount on a category needs the category.
    #[error("is required for a discount on a category")]
    CategoryRequired,
    /// A discount on a product needs the product.
    #[error("is required for a discount on a product")]
    ProductRequired,
    /// The period is empty.
    #[error(transparent)]
    Period(#[from] EndsBeforeStart),
    /// Removing the code would make the promo code a discount for every customer.
    #[error("cannot be removed from a promo code: archive it and create another discount instead")]
    CodeRequired,
    /// Only promo codes have limits, since uses of automatic discounts are not counted.
    #[error("is allowed for a promo code only")]
    UsageLimitWithoutCode,
    /// Only promo codes have limits, since uses of automatic discounts are not counted.
    #[error("is allowed for a promo code only")]
    CustomerLimitWithoutCode,
}

mod change;
pub use change::{DiscountChange, DiscountDraft, TargetChange};

/// Use of a promo code by an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscountUsage {
    /// Order.
    pub order_id: OrderId,
    /// Customer of the order.
    pub counterparty_id: CounterpartyId,
    /// Discount by the code.
    pub amount: Money,
    /// Final price of the order.
    pub final_price: Money,
    /// Time of the order.
    pub created_at: DateTime<Utc>,
}

/// Discount statistics of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiscountStats {
    /// In force.
    pub active: u64,
    /// Not started yet.
    pub scheduled: u64,
    /// Ended.
    pub expired: u64,
    /// Paused; can become active again.
    pub paused: u64,
    /// Archived; never active again.
    pub archived: u64,
    /// With a promo code.
    pub promo_codes: u64,
    /// Orders that use a promo code.
    pub usages: u64,
    /// Total discount by promo codes.
    pub amount: Money,
}

impl DiscountStats {
    /// Returns the number of all discounts.
    pub fn total(&self) -> u64 {
        self.active + self.scheduled + self.expired + self.paused + self.archived
    }
}
