//! Bounds on charges. A charge above a bound waits for another day, or parks the subscription.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, Zone};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::terms::Terms;

/// Reason why a subscription is parked, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Park {
    /// The subscription was already paid on that day. Only earlier versions parked for this; now the charge
    /// waits for the next day.
    PaidToday,
    /// The customer had all payments of that day. Only earlier versions parked for this; now the charge waits
    /// for the next day.
    CustomerLimit,
    /// The charge exceeds the consented amount, or has another currency.
    AboveConsent,
    /// The acquirer gave contradicting outcomes of one charge.
    ContradictingAnswers,
    /// The worker failed repeatedly to process the subscription. The log has the errors.
    WorkFailed,
}

impl Park {
    /// Checks a charge before its attempt is written: it must not exceed the consent.
    pub(crate) fn check_amount(consented: &Terms, amount: Money, currency: &str) -> Result<(), Self> {
        let covered = amount <= consented.amount && currency == consented.currency;
        if covered { Ok(()) } else { Err(Self::AboveConsent) }
    }
}

/// Bounds set by a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Maximum payments of one customer on a local day, over all their subscriptions. Plans paid together count
    /// once.
    pub customer_per_day: u16,
}

impl Default for Bounds {
    /// The maximum number of plans in a checkout: they renew on the same day.
    fn default() -> Self {
        Self { customer_per_day: 20 }
    }
}

impl Bounds {
    /// Returns the start of the next local day if no more charges are allowed today. That is the case if the
    /// subscription was paid today, or its customer reached the maximum. One payment of a subscription per day
    /// is fixed. The lists contain the times of recent successful payments; those of the customer include those
    /// of the subscription.
    pub fn closed_until(
        self,
        of_subscription: &[DateTime<Utc>],
        of_customer: &[DateTime<Utc>],
        zone: Zone,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let today = zone.local(now).date();
        let on_this_day =
            |moments: &[DateTime<Utc>]| moments.iter().filter(|moment| zone.local(**moment).date() == today).count();
        let reached = on_this_day(of_subscription) > 0 || on_this_day(of_customer) >= self.customer_per_day.into();
        today.succ_opt().filter(|_| reached).map(|tomorrow| zone.start_of(tomorrow))
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::{NomenclatureId, Word};

    use super::*;
    use crate::checkout::MAX_PLANS;

    /// 0:30 of the day in Moscow, still the day before in UTC.
    fn now() -> DateTime<Utc> {
        "2027-03-10T21:30:00Z".parse().unwrap()
    }

    #[test]
    fn a_charge_never_exceeds_the_consent() {
        let terms = Terms {
            plan: NomenclatureId::new(7).unwrap(),
            plan_slug: "monthly".to_owned(),
            amount: "499.00".parse().unwrap(),
            currency: "RUB".to_owned(),
            billing_months: 1,
            method: None,
        };
        let judged = |amount: &str, currency| Park::check_amount(&terms, amount.parse().unwrap(), currency);
        assert_eq!(judged("499.00", "RUB"), Ok(()));
        assert_eq!(judged("1.00", "RUB"), Ok(()));
        assert_eq!(judged("499.01", "RUB"), Err(Park::AboveConsent));
        assert_eq!(judged("499.00", "USD"), Err(Park::AboveConsent));
    }

    #[test]
    fn above_a_bound_the_charge_waits_for_the_next_day_of_the_project() {
        let (today, yesterday) = (TimeDelta::minutes(29), TimeDelta::minutes(31));
        let tomorrow: Option<DateTime<Utc>> = "2027-03-11T21:00:00Z".parse().ok();
        let closed_until = |own: &[TimeDelta], all: &[TimeDelta]| {
            let ago = |moments: &[TimeDelta]| moments.iter().map(|ago| now() - *ago).collect::<Vec<_>>();
            Bounds { customer_per_day: 2 }.closed_until(&ago(own), &ago(all), Zone::default(), now())
        };
        assert_eq!(closed_until(&[today], &[today]), tomorrow);
        assert_eq!(closed_until(&[yesterday], &[yesterday]), None);
        assert_eq!(closed_until(&[], &[today]), None);
        assert_eq!(closed_until(&[], &[today, yesterday]), None);
        assert_eq!(closed_until(&[], &[today, today]), tomorrow);
    }

    #[test]
    fn stored_words_do_not_change() {
        let words: Vec<_> = Park::VARIANTS.iter().map(|park| park.word()).collect();
        assert_eq!(words, ["paid_today", "customer_limit", "above_consent", "contradicting_answers", "work_failed"]);
        assert_eq!(usize::from(Bounds::default().customer_per_day), MAX_PLANS);
    }
}
