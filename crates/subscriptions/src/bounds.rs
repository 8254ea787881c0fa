//! Bounds behind everything else: what goes beyond them is not charged, and people look at it.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, Zone};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::terms::Terms;

/// Why a subscription is parked, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Park {
    /// It has been paid today; a second payment on the same day is a mistake of somebody.
    PaidToday,
    /// The customer has paid as often today as a customer may.
    CustomerLimit,
    /// More would be taken than the customer consented to, or in another currency.
    AboveConsent,
    /// The acquirer says of one charge what cannot both be true.
    ContradictingAnswers,
    /// The worker failed again and again to carry out what is due. The log has the errors.
    WorkFailed,
}

/// What a project allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// The most successful charges of one customer on a local day, over all their subscriptions.
    pub customer_per_day: u16,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { customer_per_day: 5 }
    }
}

/// A charge that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intended<'a> {
    /// What would be taken.
    pub amount: Money,
    /// Its currency.
    pub currency: &'a str,
    /// What the customer consented to for this period.
    pub consented: &'a Terms,
    /// When charges of this subscription succeeded lately.
    pub of_subscription: &'a [DateTime<Utc>],
    /// When charges of any subscription of the customer succeeded lately, this one's among them.
    pub of_customer: &'a [DateTime<Utc>],
}

impl Bounds {
    /// Judges a charge before its attempt is written. At most one success per subscription and local day is no setting.
    pub fn before_charge(self, intended: Intended<'_>, zone: Zone, now: DateTime<Utc>) -> Result<(), Park> {
        let today = zone.local(now).date();
        let on_this_day =
            |moments: &[DateTime<Utc>]| moments.iter().filter(|moment| zone.local(**moment).date() == today).count();
        if intended.amount > intended.consented.amount || intended.currency != intended.consented.currency {
            Err(Park::AboveConsent)
        } else if on_this_day(intended.of_subscription) > 0 {
            Err(Park::PaidToday)
        } else if on_this_day(intended.of_customer) >= self.customer_per_day.into() {
            Err(Park::CustomerLimit)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::{NomenclatureId, Word};

    use super::*;

    fn terms() -> Terms {
        Terms {
            plan: NomenclatureId::new(7).unwrap(),
            plan_slug: "monthly".to_owned(),
            amount: "499.00".parse().unwrap(),
            currency: "RUB".to_owned(),
            billing_months: 1,
            method: None,
        }
    }

    /// 0:30 of the day in Moscow, still the day before in UTC.
    fn now() -> DateTime<Utc> {
        "2027-03-10T21:30:00Z".parse().unwrap()
    }

    fn judged(amount: &str, currency: &str, own: &[TimeDelta], all: &[TimeDelta]) -> Result<(), Park> {
        let ago = |moments: &[TimeDelta]| moments.iter().map(|ago| now() - *ago).collect::<Vec<_>>();
        let (own, all, consented) = (ago(own), ago(all), terms());
        let amount = amount.parse().unwrap();
        let intended = Intended { amount, currency, consented: &consented, of_subscription: &own, of_customer: &all };
        Bounds { customer_per_day: 2 }.before_charge(intended, Zone::default(), now())
    }

    #[test]
    fn no_more_is_taken_than_was_consented_to() {
        assert_eq!(judged("499.00", "RUB", &[], &[]), Ok(()));
        assert_eq!(judged("1.00", "RUB", &[], &[]), Ok(()));
        assert_eq!(judged("499.01", "RUB", &[], &[]), Err(Park::AboveConsent));
        assert_eq!(judged("499.00", "USD", &[], &[]), Err(Park::AboveConsent));
    }

    #[test]
    fn days_are_those_of_the_project() {
        let (today, yesterday) = (TimeDelta::minutes(29), TimeDelta::minutes(31));
        assert_eq!(judged("499.00", "RUB", &[today], &[today]), Err(Park::PaidToday));
        assert_eq!(judged("499.00", "RUB", &[yesterday], &[yesterday]), Ok(()));
        assert_eq!(judged("499.00", "RUB", &[], &[today]), Ok(()));
        assert_eq!(judged("499.00", "RUB", &[], &[today, yesterday]), Ok(()));
        assert_eq!(judged("499.00", "RUB", &[], &[today, today]), Err(Park::CustomerLimit));
    }

    #[test]
    fn the_words_of_stored_rows_stay_as_they_are() {
        let words: Vec<_> = Park::VARIANTS.iter().map(|park| park.word()).collect();
        assert_eq!(words, ["paid_today", "customer_limit", "above_consent", "contradicting_answers", "work_failed"]);
        assert_eq!(Bounds::default().customer_per_day, 5);
    }
}
