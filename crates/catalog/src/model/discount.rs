use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    CounterpartyId, DiscountId, DiscountStatus, DiscountTarget, DiscountValue, InvalidDiscountValue, Line, Money, Name,
    OrderId, PromoCode, Prose, Quantity, Resource, Word,
};

use super::{EndsBeforeStart, Period, Phase};

/// A discount; with a promo code it is taken by customers who know the code, without one it applies by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discount {
    /// The number of the discount.
    pub id: DiscountId,
    /// What staff say about it.
    pub terms: DiscountTerms,
    /// The name of the category or product it is for.
    pub target_name: Option<Name>,
    /// Whether it may be in force.
    pub status: DiscountStatus,
    /// How many orders use its promo code.
    pub used_count: u64,
    /// What these orders were let off by the code.
    pub used_amount: Money,
    /// Grows by one with every change.
    pub version: u64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
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

/// What staff say about a discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscountTerms {
    /// Its name for people.
    pub name: Name,
    /// What it is for.
    pub description: Option<Prose>,
    /// How much it takes off.
    pub value: DiscountValue,
    /// What it applies to.
    pub target: DiscountTarget,
    /// The cart's original price from which it applies.
    pub minimum_sum: Money,
    /// When it is in force.
    pub period: Period,
    /// The promo code; `None` for a discount that applies by itself.
    pub promo: Option<PromoTerms>,
}

/// A promo code and how often it may be used. Nothing but promo codes has limits: nobody takes an automatic discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromoTerms {
    /// What customers type.
    pub code: PromoCode,
    /// How many orders may use it.
    pub usage_limit: Option<Quantity>,
    /// How many orders of one customer may use it.
    pub customer_limit: Option<Quantity>,
}

/// What a discount is to staff at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DiscountState {
    /// In force.
    Active,
    /// Waits for its beginning.
    Scheduled,
    /// Its end has passed.
    Expired,
    /// Stopped for now.
    Paused,
    /// Stopped for good.
    Archived,
}

/// Why a discount does not change its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StatusRefused {
    /// Archived discounts stay as they are.
    #[error("the discount is archived for good")]
    Archived,
    /// It could not be in force any more.
    #[error("the period of the discount is over; give it another end first")]
    PeriodOver,
}

impl Discount {
    /// What it is at a moment: its dates count while it is active.
    pub fn state(&self, at: DateTime<Utc>) -> DiscountState {
        match (self.status, self.terms.period.phase(at)) {
            (DiscountStatus::Archived, _) => DiscountState::Archived,
            (DiscountStatus::Paused, _) => DiscountState::Paused,
            (DiscountStatus::Active, Phase::Ahead) => DiscountState::Scheduled,
            (DiscountStatus::Active, Phase::Running) => DiscountState::Active,
            (DiscountStatus::Active, Phase::Over) => DiscountState::Expired,
        }
    }

    /// Stops it for now. One that is stopped stays so.
    pub fn pause(&self) -> Result<DiscountStatus, StatusRefused> {
        self.changeable().map(|()| DiscountStatus::Paused)
    }

    /// Puts it in force within its dates. One that is stays so.
    pub fn activate(&self, at: DateTime<Utc>) -> Result<DiscountStatus, StatusRefused> {
        self.changeable()?;
        if self.terms.period.phase(at) == Phase::Over {
            return Err(StatusRefused::PeriodOver);
        }
        Ok(DiscountStatus::Active)
    }

    /// Stops it for good.
    pub fn archive(&self) -> DiscountStatus {
        DiscountStatus::Archived
    }

    /// Whether staff may still change anything.
    pub fn changeable(&self) -> Result<(), StatusRefused> {
        if self.status == DiscountStatus::Archived { Err(StatusRefused::Archived) } else { Ok(()) }
    }
}

/// How the number of a discount is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DiscountKind {
    /// A share.
    Percent,
    /// An amount.
    Fixed,
}

impl DiscountKind {
    fn of(value: DiscountValue) -> Self {
        match value {
            DiscountValue::Percent(_) => Self::Percent,
            DiscountValue::Fixed(_) => Self::Fixed,
        }
    }

    /// The value with this number: percent, or an amount.
    fn value(self, number: Money) -> Result<DiscountValue, TermsRefusal> {
        Ok(match self {
            Self::Percent => DiscountValue::percent(number)?,
            Self::Fixed => DiscountValue::fixed(number)?,
        })
    }
}

/// What kind of thing a discount is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TargetKind {
    /// The whole cart.
    Cart,
    /// A category and those below it.
    Category,
    /// A product.
    Product,
}

/// What makes terms impossible, and in which field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TermsRefusal {
    /// The number does not fit its type.
    #[error(transparent)]
    Value(#[from] InvalidDiscountValue),
    /// Ten percent are not ten roubles.
    #[error("is required when the type changes")]
    ValueRequired,
    /// A discount is for one thing.
    #[error("a discount is for a category or for a product, not for both")]
    TwoTargets,
    /// The named kind and the named record differ.
    #[error("does not go with the category or product that is named")]
    TargetContradicted,
    /// Taking the record away would silently make it a discount on everything.
    #[error("must be `cart` when it is no longer for a category or product")]
    TargetRequired,
    /// A discount on a category names it.
    #[error("is required for a discount on a category")]
    CategoryRequired,
    /// A discount on a product names it.
    #[error("is required for a discount on a product")]
    ProductRequired,
    /// It would never be in force.
    #[error(transparent)]
    Period(#[from] EndsBeforeStart),
    /// Without its code a promo code would be a discount for every customer.
    #[error("must stay a code: archive the promo code and add another discount instead")]
    CodeRequired,
    /// Nobody takes an automatic discount, so nobody counts.
    #[error("goes with a promo code only")]
    UsageLimitWithoutCode,
    /// Nobody takes an automatic discount, so nobody counts.
    #[error("goes with a promo code only")]
    CustomerLimitWithoutCode,
}

mod change;
pub use change::{DiscountChange, DiscountDraft, TargetChange};

/// The use of a promo code by an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscountUsage {
    /// The order.
    pub order_id: OrderId,
    /// Whose order it is.
    pub counterparty_id: CounterpartyId,
    /// What the code took off.
    pub amount: Money,
    /// What was left to pay.
    pub final_price: Money,
    /// When the order was made.
    pub created_at: DateTime<Utc>,
}

/// Which discounts are listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscountFilter {
    /// Part of the name or of the promo code, in any case.
    pub query: Option<Line<255>>,
    /// What they are now.
    pub state: Option<DiscountState>,
    /// With a promo code, or without.
    pub has_code: Option<bool>,
}

/// The discounts of a project in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiscountStats {
    /// In force.
    pub active: u64,
    /// Waiting for their beginning.
    pub scheduled: u64,
    /// Past their end.
    pub expired: u64,
    /// Stopped for now.
    pub paused: u64,
    /// Stopped for good.
    pub archived: u64,
    /// With a promo code.
    pub promo_codes: u64,
    /// Orders that use a promo code.
    pub usages: u64,
    /// What promo codes let them off.
    pub amount: Money,
}

impl DiscountStats {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.active + self.scheduled + self.expired + self.paused + self.archived
    }
}
