//! Consented terms.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, Money, NomenclatureId, SavedMethodId};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::model::PlanOffer;

/// Terms of a charge: amount, plan, period and method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Plan.
    pub plan: NomenclatureId,
    /// Slug of the plan. Another slug does not make it another plan.
    pub plan_slug: String,
    /// Price of a period.
    pub amount: Money,
    /// Currency of the amount, ISO 4217.
    pub currency: String,
    /// Length of a period in months, 1 to 24.
    pub billing_months: u8,
    /// Saved method; `None` while the method of a first payment is not saved yet.
    pub method: Option<SavedMethodId>,
}

impl Terms {
    /// Returns `true` if the plan is offered with the same price and length.
    pub fn are_offered(&self, offer: &PlanOffer) -> bool {
        (offer.amount, &offer.currency, offer.billing_months) == (self.amount, &self.currency, self.billing_months)
    }
}

/// Record of a consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentedTerms {
    /// Consented terms.
    pub terms: Terms,
    /// Version of the text that was shown.
    pub text_version: String,
    /// Time of the consent.
    pub at: DateTime<Utc>,
    /// Network address of the consent, if known.
    pub address: Option<String>,
    /// Application of the consent; `None` if it belongs to none.
    pub application: Option<ApplicationId>,
}

/// Difference between two sets of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum TermsDifference {
    /// Another plan.
    Plan,
    /// Another price, even a lower one, or another currency.
    Price,
    /// Another length of the period.
    Period,
    /// Another method.
    Method,
}

/// Returns the differences that require a new consent; empty if the old one covers the new terms. The contract
/// requires one if plan, price, period or method changes.
pub fn needs_consent(old: &Terms, new: &Terms) -> Vec<TermsDifference> {
    // The method of a first payment is saved after the consent, which covers it.
    let other_method = old.method.is_some() && old.method != new.method;
    let differences = [
        (old.plan != new.plan, TermsDifference::Plan),
        (old.amount != new.amount || old.currency != new.currency, TermsDifference::Price),
        (old.billing_months != new.billing_months, TermsDifference::Period),
        (other_method, TermsDifference::Method),
    ];
    differences.into_iter().filter_map(|(differs, difference)| differs.then_some(difference)).collect()
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word;

    use super::*;
    use crate::testing::samples::terms;

    #[test]
    fn each_of_plan_price_period_and_method_needs_a_consent() {
        let old = terms();
        let other_method = SavedMethodId::new(4).ok();
        for (new, expected) in [
            (Terms { plan: NomenclatureId::new(8).unwrap(), ..terms() }, vec![TermsDifference::Plan]),
            (Terms { amount: "499.01".parse().unwrap(), ..terms() }, vec![TermsDifference::Price]),
            (Terms { amount: "1.00".parse().unwrap(), ..terms() }, vec![TermsDifference::Price]),
            (Terms { currency: "BYN".to_owned(), ..terms() }, vec![TermsDifference::Price]),
            (Terms { billing_months: 12, ..terms() }, vec![TermsDifference::Period]),
            (Terms { method: other_method, ..terms() }, vec![TermsDifference::Method]),
            (Terms { method: None, ..terms() }, vec![TermsDifference::Method]),
            (Terms { plan_slug: "month".to_owned(), ..terms() }, vec![]),
            (terms(), vec![]),
        ] {
            assert_eq!(needs_consent(&old, &new), expected, "{new:?}");
        }
        let all = Terms {
            plan: NomenclatureId::new(8).unwrap(),
            amount: Money::ZERO,
            billing_months: 2,
            method: other_method,
            ..terms()
        };
        assert_eq!(needs_consent(&old, &all), TermsDifference::VARIANTS);
        assert_eq!(needs_consent(&Terms { method: None, ..terms() }, &terms()), []);
        let words: Vec<_> = TermsDifference::VARIANTS.iter().map(|difference| difference.word()).collect();
        assert_eq!(words, ["plan", "price", "period", "method"]);
    }

    #[test]
    fn terms_are_offered_if_price_and_length_are_the_same() {
        let Terms { plan, plan_slug: slug, amount, currency, billing_months, .. } = terms();
        let offer = PlanOffer { plan, slug, name: "Monthly".to_owned(), amount, currency, billing_months };
        assert!(terms().are_offered(&offer));
        assert!(!terms().are_offered(&PlanOffer { amount: Money::ZERO, ..offer.clone() }));
        assert!(!terms().are_offered(&PlanOffer { currency: "BYN".to_owned(), ..offer.clone() }));
        assert!(!terms().are_offered(&PlanOffer { billing_months: 2, ..offer }));
    }
}
