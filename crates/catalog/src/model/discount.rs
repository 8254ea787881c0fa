//! Discounts, and the input of staff for one: the resulting terms, or all validation errors at once.

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    CategoryId, CounterpartyId, DiscountId, DiscountStatus, DiscountTarget, DiscountValue, InvalidDiscountValue, Money,
    Name, NomenclatureId, OrderId, PromoCode, Prose, Quantity, Resource, Word,
};

use super::{EndsBeforeStart, Period, Phase};
use crate::model::Edit;

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

/// Fields of a new discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscountDraft {
    /// Name shown to people.
    pub name: Name,
    /// Type of the value.
    pub kind: DiscountKind,
    /// Percentage or amount.
    pub number: Money,
    /// Initial status.
    pub status: DiscountStatus,
    /// Optional fields.
    pub rest: DiscountChange,
}

/// Change of a discount, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscountChange {
    /// See [`DiscountTerms::name`].
    pub name: Edit<Name>,
    /// See [`DiscountTerms::description`].
    pub description: Edit<Option<Prose>>,
    /// Type of the value.
    pub kind: Edit<DiscountKind>,
    /// Percentage or amount.
    pub number: Edit<Money>,
    /// See [`DiscountTerms::target`].
    pub target: TargetChange,
    /// See [`DiscountTerms::minimum_sum`].
    pub minimum_sum: Edit<Money>,
    /// See [`Period::starts_at`].
    pub starts_at: Edit<Option<DateTime<Utc>>>,
    /// See [`Period::ends_at`].
    pub ends_at: Edit<Option<DateTime<Utc>>>,
    /// See [`PromoTerms::code`]. The code of a promo code can be changed but not removed. Limits need a code.
    pub code: Edit<Option<PromoCode>>,
    /// See [`PromoTerms::usage_limit`].
    pub usage_limit: Edit<Option<Quantity>>,
    /// See [`PromoTerms::customer_limit`].
    pub customer_limit: Edit<Option<Quantity>>,
}

/// Target of a discount as staff enter it, in three fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetChange {
    /// Target kind; derived from the records by default.
    pub kind: Edit<TargetKind>,
    /// Category.
    pub category_id: Edit<Option<CategoryId>>,
    /// Product.
    pub nomenclature_id: Edit<Option<NomenclatureId>>,
}

impl DiscountDraft {
    /// Returns the terms, or all validation errors.
    pub fn terms(self) -> Result<DiscountTerms, Vec<TermsRefusal>> {
        let value = match self.kind.value(self.number) {
            Ok(value) => value,
            Err(refusal) => {
                // The other fields are checked nevertheless.
                let other = DiscountKind::Fixed.value(Money::MAX).map_err(|refusal| vec![refusal])?;
                let mut refused = vec![refusal];
                refused.extend(self.rest.apply(bare(self.name, other)).err().into_iter().flatten());
                return Err(refused);
            }
        };
        self.rest.apply(bare(self.name, value))
    }
}

fn bare(name: Name, value: DiscountValue) -> DiscountTerms {
    DiscountTerms {
        name,
        description: None,
        value,
        target: DiscountTarget::Cart,
        minimum_sum: Money::ZERO,
        period: Period::default(),
        promo: None,
    }
}

impl DiscountChange {
    /// Returns the terms after the change, or all validation errors.
    pub fn apply(self, terms: DiscountTerms) -> Result<DiscountTerms, Vec<TermsRefusal>> {
        let mut refused = Vec::new();
        let value = match (self.kind, self.number) {
            (Edit::Keep, Edit::Keep) => Ok(terms.value),
            (Edit::Keep, Edit::Set(number)) => DiscountKind::of(terms.value).value(number),
            (Edit::Set(kind), Edit::Set(number)) => kind.value(number),
            (Edit::Set(kind), Edit::Keep) if kind == DiscountKind::of(terms.value) => Ok(terms.value),
            (Edit::Set(_), Edit::Keep) => Err(TermsRefusal::ValueRequired),
        };
        let value = value.unwrap_or_else(|refusal| {
            refused.push(refusal);
            terms.value
        });
        let target = self.target.apply(terms.target).unwrap_or_else(|refusal| {
            refused.push(refusal);
            terms.target
        });
        let starts_at = self.starts_at.or(terms.period.starts_at());
        let period = Period::new(starts_at, self.ends_at.or(terms.period.ends_at())).unwrap_or_else(|refusal| {
            refused.push(refusal.into());
            terms.period
        });
        let known = terms.promo.as_ref().map(|promo| promo.code.clone());
        if known.is_some() && matches!(self.code, Edit::Set(None)) {
            refused.push(TermsRefusal::CodeRequired);
        }
        let code = self.code.or(known);
        let limits = terms.promo.as_ref().map(|promo| (promo.usage_limit, promo.customer_limit));
        let (usage_limit, customer_limit) = limits.unwrap_or_default();
        let promo = if let Some(code) = code {
            let usage_limit = self.usage_limit.or(usage_limit);
            Some(PromoTerms { code, usage_limit, customer_limit: self.customer_limit.or(customer_limit) })
        } else {
            if matches!(self.usage_limit, Edit::Set(Some(_))) {
                refused.push(TermsRefusal::UsageLimitWithoutCode);
            }
            if matches!(self.customer_limit, Edit::Set(Some(_))) {
                refused.push(TermsRefusal::CustomerLimitWithoutCode);
            }
            None
        };
        let changed = DiscountTerms {
            name: self.name.or(terms.name),
            description: self.description.or(terms.description),
            value,
            target,
            minimum_sum: self.minimum_sum.or(terms.minimum_sum),
            period,
            promo,
        };
        if refused.is_empty() { Ok(changed) } else { Err(refused) }
    }
}

impl TargetChange {
    fn apply(self, current: DiscountTarget) -> Result<DiscountTarget, TermsRefusal> {
        let category = self.category_id.as_set().copied().flatten();
        let product = self.nomenclature_id.as_set().copied().flatten();
        let named = match (category, product) {
            (Some(_), Some(_)) => return Err(TermsRefusal::TwoTargets),
            (Some(category), None) => Some(DiscountTarget::Category(category)),
            (None, Some(product)) => Some(DiscountTarget::Product(product)),
            (None, None) => None,
        };
        // Remaining target if this change removes the current target record.
        let left = match current {
            DiscountTarget::Category(_) if matches!(self.category_id, Edit::Set(None)) => None,
            DiscountTarget::Product(_) if matches!(self.nomenclature_id, Edit::Set(None)) => None,
            current => Some(current),
        };
        let Edit::Set(kind) = self.kind else {
            return named.or(left).ok_or(TermsRefusal::TargetRequired);
        };
        match (kind, named, left) {
            (TargetKind::Cart, None, _) => Ok(DiscountTarget::Cart),
            (TargetKind::Category, Some(target @ DiscountTarget::Category(_)), _)
            | (TargetKind::Category, None, Some(target @ DiscountTarget::Category(_)))
            | (TargetKind::Product, Some(target @ DiscountTarget::Product(_)), _)
            | (TargetKind::Product, None, Some(target @ DiscountTarget::Product(_))) => Ok(target),
            (_, Some(_), _) => Err(TermsRefusal::TargetContradicted),
            (TargetKind::Category, None, _) => Err(TermsRefusal::CategoryRequired),
            (TargetKind::Product, None, _) => Err(TermsRefusal::ProductRequired),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn money(text: &str) -> Money {
        text.parse().unwrap()
    }

    fn category(id: i64) -> CategoryId {
        CategoryId::new(id).unwrap()
    }

    fn product(id: i64) -> NomenclatureId {
        NomenclatureId::new(id).unwrap()
    }

    fn draft(kind: DiscountKind, number: &str, rest: DiscountChange) -> DiscountDraft {
        let name = Name::parse("Spring").unwrap();
        DiscountDraft { name, kind, number: money(number), status: DiscountStatus::Active, rest }
    }

    fn ten_percent() -> DiscountTerms {
        draft(DiscountKind::Percent, "10", DiscountChange::default()).terms().unwrap()
    }

    #[test]
    fn a_draft_without_more_is_an_automatic_discount_on_the_cart() {
        let terms = ten_percent();
        assert_eq!((terms.value, terms.target), (DiscountValue::Percent(1_000), DiscountTarget::Cart));
        assert_eq!((terms.promo, terms.period), (None, Period::default()));
    }

    #[test]
    fn all_errors_are_reported_together() {
        let later = DateTime::UNIX_EPOCH + TimeDelta::days(1);
        let rest = DiscountChange {
            starts_at: Edit::Set(Some(later)),
            ends_at: Edit::Set(Some(DateTime::UNIX_EPOCH)),
            usage_limit: Edit::Set(Some(Quantity::ONE)),
            customer_limit: Edit::Set(Some(Quantity::ONE)),
            target: TargetChange { kind: Edit::Set(TargetKind::Product), ..TargetChange::default() },
            ..DiscountChange::default()
        };
        let refused = draft(DiscountKind::Percent, "100.01", rest).terms().unwrap_err();
        assert_eq!(
            refused,
            [
                TermsRefusal::Value(InvalidDiscountValue::Percent),
                TermsRefusal::ProductRequired,
                TermsRefusal::Period(EndsBeforeStart),
                TermsRefusal::UsageLimitWithoutCode,
                TermsRefusal::CustomerLimitWithoutCode,
            ]
        );
    }

    #[test]
    fn ten_percent_do_not_become_ten_roubles_by_themselves() {
        let fixed = DiscountChange { kind: Edit::Set(DiscountKind::Fixed), ..DiscountChange::default() };
        assert_eq!(fixed.clone().apply(ten_percent()), Err(vec![TermsRefusal::ValueRequired]));
        let fixed = DiscountChange { number: Edit::Set(money("5")), ..fixed };
        assert_eq!(fixed.apply(ten_percent()).unwrap().value, DiscountValue::Fixed(money("5")));
        let same = DiscountChange { kind: Edit::Set(DiscountKind::Percent), ..DiscountChange::default() };
        assert_eq!(same.apply(ten_percent()).unwrap(), ten_percent());
    }

    #[test]
    fn a_target_is_one_thing_and_never_widens_by_silence() {
        use TargetKind::{Cart, Category, Product};
        use TermsRefusal as Refused;

        let (cart, shelf, vase) =
            (DiscountTarget::Cart, DiscountTarget::Category(category(3)), DiscountTarget::Product(product(7)));
        let change = |kind: Option<TargetKind>, shelf: Option<Option<i64>>, item: Option<Option<i64>>| TargetChange {
            kind: kind.into(),
            category_id: shelf.map(|id| id.map(category)).into(),
            nomenclature_id: item.map(|id| id.map(product)).into(),
        };
        for (current, change, expected) in [
            (shelf, change(None, None, None), Ok(shelf)),
            (cart, change(None, Some(Some(3)), None), Ok(shelf)),
            (shelf, change(None, None, Some(Some(7))), Ok(vase)),
            (shelf, change(Some(Category), None, None), Ok(shelf)),
            (shelf, change(Some(Cart), Some(None), None), Ok(cart)),
            (shelf, change(Some(Product), None, Some(Some(7))), Ok(vase)),
            (cart, change(None, Some(Some(3)), Some(Some(7))), Err(Refused::TwoTargets)),
            (shelf, change(None, Some(None), None), Err(Refused::TargetRequired)),
            (shelf, change(None, None, Some(None)), Ok(shelf)),
            (cart, change(Some(Category), None, None), Err(Refused::CategoryRequired)),
            (shelf, change(Some(Product), None, None), Err(Refused::ProductRequired)),
            (cart, change(Some(Cart), Some(Some(3)), None), Err(Refused::TargetContradicted)),
            (cart, change(Some(Product), Some(Some(3)), None), Err(Refused::TargetContradicted)),
        ] {
            assert_eq!(change.apply(current), expected, "{current:?} {change:?}");
        }
    }

    #[test]
    fn limits_go_with_their_code() {
        let code = |text: &str| Edit::Set(Some(PromoCode::parse(text).unwrap()));
        let coded = DiscountChange {
            code: code("SPRING"),
            usage_limit: Edit::Set(Some(Quantity::new(5).unwrap())),
            ..DiscountChange::default()
        };
        let terms = coded.apply(ten_percent()).unwrap();
        assert_eq!(terms.promo.as_ref().unwrap().usage_limit, Some(Quantity::new(5).unwrap()));
        let renamed = DiscountChange { code: code("SUMMER"), ..DiscountChange::default() }.apply(terms).unwrap();
        assert_eq!(renamed.promo.unwrap().usage_limit, Some(Quantity::new(5).unwrap()));
    }

    #[test]
    fn a_promo_code_never_becomes_an_automatic_discount() {
        let code = Edit::Set(Some(PromoCode::parse("SPRING").unwrap()));
        let terms = DiscountChange { code, ..DiscountChange::default() }.apply(ten_percent()).unwrap();
        let uncoded = DiscountChange { code: Edit::Set(None), ..DiscountChange::default() };
        assert_eq!(uncoded.clone().apply(terms), Err(vec![TermsRefusal::CodeRequired]));
        assert_eq!(uncoded.apply(ten_percent()).unwrap(), ten_percent());
    }
}
