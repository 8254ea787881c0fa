//! Bounds on charges. A charge above a bound waits for another day, or parks the subscription. Charges that fall due
//! together also have a rate limit.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
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

/// Token bucket: charges per second, with a burst of the unused charges of the last two seconds.
pub struct Pace {
    per_second: u32,
    bucket: Mutex<Option<Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Thousandths of a charge.
    left: i64,
    at: DateTime<Utc>,
}

const THOUSAND: i64 = 1_000;
/// Time for which unused charges are kept.
const BURST_PERIOD: TimeDelta = TimeDelta::seconds(2);

impl Pace {
    /// Creates a bucket with this many charges per second, at least one.
    pub fn per_second(charges: u32) -> Self {
        Self { per_second: charges.max(1), bucket: Mutex::new(None) }
    }

    /// Takes up to `most` charges. Returns how many are allowed now.
    pub fn take(&self, most: u32, now: DateTime<Utc>) -> u32 {
        let rate = i64::from(self.per_second);
        let full = rate * BURST_PERIOD.num_milliseconds();
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let left = bucket.map_or(full, |Bucket { left, at }| {
            // A clock that was set back adds nothing.
            let passed = (now - at).num_milliseconds().clamp(0, BURST_PERIOD.num_milliseconds());
            (left + passed * rate).min(full)
        });
        let taken = (left / THOUSAND).min(most.into());
        *bucket = Some(Bucket { left: left - taken * THOUSAND, at: now });
        u32::try_from(taken).unwrap_or(most)
    }

    /// Returns unused charges.
    pub fn give_back(&self, charges: u32) {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = bucket.as_mut() {
            let full = i64::from(self.per_second) * BURST_PERIOD.num_milliseconds();
            bucket.left = (bucket.left + i64::from(charges) * THOUSAND).min(full);
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::Word;

    use super::*;
    use crate::checkout::MAX_PLANS;
    use crate::testing::samples::terms;

    /// 0:30 of the day in Moscow, still the day before in UTC.
    fn now() -> DateTime<Utc> {
        "2027-03-10T21:30:00Z".parse().unwrap()
    }

    #[test]
    fn a_charge_never_exceeds_the_consent() {
        let terms = Terms { amount: "499.00".parse().unwrap(), ..terms() };
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

    #[test]
    fn over_any_time_no_more_is_taken_than_the_rate_and_what_was_kept() {
        let pace = Pace::per_second(20);
        let begin = DateTime::UNIX_EPOCH;
        let mut taken = 0;
        for step in 0..600 {
            taken += pace.take(50, begin + TimeDelta::milliseconds(100) * step);
        }
        assert_eq!(taken, 40 + 20 * 60 - 2);
        assert_eq!(pace.take(u32::MAX, begin + TimeDelta::days(1)), 40, "a day of rest is two seconds");
        assert_eq!(pace.take(1, begin), 0, "a clock that is set back gives nothing");
    }

    #[test]
    fn what_was_not_needed_comes_back() {
        let pace = Pace::per_second(1);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 2);
        pace.give_back(5);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 2);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 0);
    }

    #[test]
    fn no_more_is_taken_than_was_asked_for_and_time_gives_it_back() {
        let pace = Pace::per_second(10);
        let at = |millis| DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis);
        assert_eq!([pace.take(3, at(0)), pace.take(50, at(0)), pace.take(50, at(0))], [3, 17, 0]);
        assert_eq!([pace.take(50, at(99)), pace.take(50, at(100)), pace.take(50, at(1_100))], [0, 1, 10]);
        pace.give_back(4);
        assert_eq!(pace.take(50, at(1_100)), 4);
        // At least one charge a second, or nothing would ever be charged.
        assert_eq!(Pace::per_second(0).take(50, at(0)), 2);
        let unused = Pace::per_second(10);
        unused.give_back(5);
        assert_eq!(unused.take(50, at(0)), 20);
    }
}
