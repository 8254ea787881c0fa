//! Input of staff for a discount, and the resulting terms or all validation errors at once.

use chrono::{DateTime, Utc};
use kontor_kernel::{
    CategoryId, DiscountStatus, DiscountTarget, Money, Name, NomenclatureId, PromoCode, Prose, Quantity,
};

use super::{DiscountKind, DiscountTerms, PromoTerms, TargetKind, TermsRefusal};
use crate::model::{Edit, Period};

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

fn bare(name: Name, value: kontor_kernel::DiscountValue) -> DiscountTerms {
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
    use super::*;
    use chrono::TimeDelta;
    use kontor_kernel::DiscountValue;

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
                TermsRefusal::Value(kontor_kernel::InvalidDiscountValue::Percent),
                TermsRefusal::ProductRequired,
                TermsRefusal::Period(crate::model::EndsBeforeStart),
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
