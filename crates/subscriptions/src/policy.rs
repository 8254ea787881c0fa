//! Dunning policy of a project, with limits that no project can raise, and bounds on charges. A charge above a bound
//! waits for another day, or parks the subscription. Charges that fall due together also have a rate limit.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::AuditedField;
use kontor_kernel::{Money, Word as _, Zone};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::model::SubscriptionPolicy;
use crate::terms::Terms;

/// Errors of a dunning policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDunningPolicy {
    /// The days are not ascending, not 1 to 30, or too many.
    #[error("after_days must be at most {} ascending numbers from 1 to 30", DunningPolicy::MAX_ATTEMPTS - 1)]
    AfterDays,
    /// The salary days are not ascending, or no days of a month.
    #[error("salary_days must be ascending days of a month, 1 to 31")]
    SalaryDays,
    /// Not an hour of a day.
    #[error("hour must be from 0 to 23")]
    Hour,
    /// The limit of a period is 0, or above the maximum.
    #[error("tries_per_period must be from 1 to {}", DunningPolicy::MAX_ATTEMPTS)]
    TriesPerPeriod,
    /// The limit of a method is 0, or above the maximum.
    #[error("tries_per_method must be from 1 to {}", DunningPolicy::MAX_METHOD_ATTEMPTS)]
    TriesPerMethod,
}

/// Dunning policy of a project: the attempts to charge a period.
///
/// Defaults:
/// - attempts 1, 3, 5 and 7 days after the first one, then once on the next 1st, 10th or 25th at noon
/// - at most 8 planned attempts of a period, and 8 more that customers and staff request
/// - at most 15 attempts of a method in 30 days
///
/// At most one planned attempt per local day; this is fixed.
/// ```
/// use kontor_subscriptions::DunningPolicy;
///
/// let policy: DunningPolicy = serde_json::from_str(r#"{"after_days": [2, 4], "salary_days": []}"#)?;
/// assert_eq!((policy.after_days(), policy.tries_per_period()), (&[2, 4][..], 8));
/// assert!(serde_json::from_str::<DunningPolicy>(r#"{"tries_per_method": 16}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "DunningTerms", into = "DunningTerms")]
pub struct DunningPolicy(DunningTerms);

/// Unchecked fields of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DunningTerms {
    /// Days between the first attempt of a period and the next ones, ascending, 1 to 30.
    pub after_days: Vec<u8>,
    /// Salary days of a month, ascending.
    pub salary_days: Vec<u8>,
    /// Local hour of an attempt on a salary day.
    pub hour: u8,
    /// Maximum planned attempts of a period, and maximum additional ones that customers and staff may request.
    pub tries_per_period: u8,
    /// Maximum attempts of a method in 30 days.
    pub tries_per_method: u8,
}

impl Default for DunningTerms {
    fn default() -> Self {
        Self {
            after_days: vec![1, 3, 5, 7],
            salary_days: vec![1, 10, 25],
            hour: 12,
            tries_per_period: DunningPolicy::MAX_ATTEMPTS,
            tries_per_method: DunningPolicy::MAX_METHOD_ATTEMPTS,
        }
    }
}

impl From<DunningPolicy> for DunningTerms {
    fn from(policy: DunningPolicy) -> Self {
        policy.0
    }
}

fn ascending(days: &[u8], most: u8) -> bool {
    days.iter().all(|day| (1..=most).contains(day)) && days.is_sorted_by(|one, next| one < next)
}

impl TryFrom<DunningTerms> for DunningPolicy {
    type Error = InvalidDunningPolicy;

    fn try_from(terms: DunningTerms) -> Result<Self, InvalidDunningPolicy> {
        // The first error is enough: stored policies are checked one by one.
        Self::validated(terms).map_err(|wrong| wrong.into_iter().next().unwrap_or(InvalidDunningPolicy::Hour))
    }
}

impl DunningPolicy {
    /// Checks a policy. Returns all errors.
    pub fn validated(terms: DunningTerms) -> Result<Self, Vec<InvalidDunningPolicy>> {
        let rules = [
            (
                ascending(&terms.after_days, 30) && terms.after_days.len() < usize::from(Self::MAX_ATTEMPTS),
                InvalidDunningPolicy::AfterDays,
            ),
            (ascending(&terms.salary_days, 31), InvalidDunningPolicy::SalaryDays),
            (terms.hour < 24, InvalidDunningPolicy::Hour),
            ((1..=Self::MAX_ATTEMPTS).contains(&terms.tries_per_period), InvalidDunningPolicy::TriesPerPeriod),
            ((1..=Self::MAX_METHOD_ATTEMPTS).contains(&terms.tries_per_method), InvalidDunningPolicy::TriesPerMethod),
        ];
        let wrong: Vec<_> = rules.into_iter().filter_map(|(kept, broken)| (!kept).then_some(broken)).collect();
        if wrong.is_empty() { Ok(Self(terms)) } else { Err(wrong) }
    }
}

impl DunningPolicy {
    /// Upper limit of the attempts of a period that a project may allow, of either kind.
    pub const MAX_ATTEMPTS: u8 = 8;
    /// Upper limit of the attempts of a method in [`Self::METHOD_DAYS`] that a project may allow. Card networks
    /// fine for more.
    pub const MAX_METHOD_ATTEMPTS: u8 = 15;
    /// Days over which the attempts of a method are counted.
    pub const METHOD_DAYS: u8 = 30;

    /// Days between the first attempt of a period and the next ones, ascending.
    pub fn after_days(&self) -> &[u8] {
        &self.0.after_days
    }

    /// Salary days of a month, ascending.
    pub fn salary_days(&self) -> &[u8] {
        &self.0.salary_days
    }

    /// Local hour of an attempt on a salary day.
    pub fn hour(&self) -> u8 {
        self.0.hour
    }

    /// Maximum planned attempts of a period, including the first one. Customers and staff may request as many
    /// more.
    pub fn tries_per_period(&self) -> u8 {
        self.0.tries_per_period
    }

    /// Maximum attempts of a method in 30 days, over all its subscriptions.
    pub fn tries_per_method(&self) -> u8 {
        self.0.tries_per_method
    }
}

impl SubscriptionPolicy {
    /// Returns every field for history entries, by its name in requests.
    pub fn audited_fields(&self) -> Vec<AuditedField> {
        let days = |days: &[u8]| Some(days.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let dunning = &self.dunning;
        vec![
            ("after_days", days(dunning.after_days())),
            ("salary_days", days(dunning.salary_days())),
            ("hour", Some(dunning.hour().to_string())),
            ("tries_per_period", Some(dunning.tries_per_period().to_string())),
            ("tries_per_method", Some(dunning.tries_per_method().to_string())),
            ("payments_per_customer_and_day", Some(self.bounds.customer_per_day.to_string())),
            ("missed_periods", Some(self.missed.word().to_owned())),
            ("withdrawn_plans_renew", Some(self.withdrawn_plans_renew.to_string())),
            ("notice_days", Some(self.notice.get().to_string())),
        ]
    }
}

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
pub struct ChargeLimiter {
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

impl ChargeLimiter {
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

    use super::*;
    use crate::checkout::MAX_PLANS;
    use crate::testing::samples::terms;

    #[test]
    fn the_default_is_stored_and_read_again() {
        let stored = serde_json::to_string(&DunningPolicy::default()).unwrap();
        let expected =
            r#"{"after_days":[1,3,5,7],"salary_days":[1,10,25],"hour":12,"tries_per_period":8,"tries_per_method":15}"#;
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_str::<DunningPolicy>(&stored).unwrap(), DunningPolicy::default());
        assert_eq!(serde_json::from_str::<DunningPolicy>("{}").unwrap(), DunningPolicy::default());
    }

    #[test]
    fn all_errors_are_reported_together() {
        let terms = DunningTerms { after_days: vec![0], hour: 24, tries_per_method: 16, ..DunningTerms::default() };
        let expected =
            [InvalidDunningPolicy::AfterDays, InvalidDunningPolicy::Hour, InvalidDunningPolicy::TriesPerMethod];
        assert_eq!(DunningPolicy::validated(terms).unwrap_err(), expected);
        assert_eq!(DunningPolicy::validated(DunningTerms::default()), Ok(DunningPolicy::default()));
    }

    #[test]
    fn no_project_raises_the_limits() {
        for (stored, problem) in [
            (r#"{"after_days":[3,1]}"#, "after_days"),
            (r#"{"after_days":[1,1]}"#, "after_days"),
            (r#"{"after_days":[0]}"#, "after_days"),
            (r#"{"after_days":[31]}"#, "after_days"),
            (r#"{"after_days":[1,2,3,4,5,6,7,8]}"#, "after_days"),
            (r#"{"salary_days":[0]}"#, "salary_days"),
            (r#"{"salary_days":[32]}"#, "salary_days"),
            (r#"{"salary_days":[25,1]}"#, "salary_days"),
            (r#"{"hour":24}"#, "hour"),
            (r#"{"tries_per_period":9}"#, "tries_per_period"),
            (r#"{"tries_per_period":0}"#, "tries_per_period"),
            (r#"{"tries_per_method":16}"#, "tries_per_method"),
            (r#"{"tries_per_day":2}"#, "unknown field"),
        ] {
            let refused = serde_json::from_str::<DunningPolicy>(stored).unwrap_err().to_string();
            assert!(refused.starts_with(problem), "{stored}: {refused}");
        }
    }

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
        let limiter = ChargeLimiter::per_second(20);
        let begin = DateTime::UNIX_EPOCH;
        let mut taken = 0;
        for step in 0..600 {
            taken += limiter.take(50, begin + TimeDelta::milliseconds(100) * step);
        }
        assert_eq!(taken, 40 + 20 * 60 - 2);
        assert_eq!(limiter.take(u32::MAX, begin + TimeDelta::days(1)), 40, "a day of rest is two seconds");
        assert_eq!(limiter.take(1, begin), 0, "a clock that is set back gives nothing");
    }

    #[test]
    fn unused_tokens_are_returned() {
        let limiter = ChargeLimiter::per_second(1);
        assert_eq!(limiter.take(10, DateTime::UNIX_EPOCH), 2);
        limiter.give_back(5);
        assert_eq!(limiter.take(10, DateTime::UNIX_EPOCH), 2);
        assert_eq!(limiter.take(10, DateTime::UNIX_EPOCH), 0);
    }

    #[test]
    fn no_more_is_taken_than_was_asked_for_and_time_gives_it_back() {
        let limiter = ChargeLimiter::per_second(10);
        let at = |millis| DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis);
        assert_eq!([limiter.take(3, at(0)), limiter.take(50, at(0)), limiter.take(50, at(0))], [3, 17, 0]);
        assert_eq!([limiter.take(50, at(99)), limiter.take(50, at(100)), limiter.take(50, at(1_100))], [0, 1, 10]);
        limiter.give_back(4);
        assert_eq!(limiter.take(50, at(1_100)), 4);
        // At least one charge a second, or nothing would ever be charged.
        assert_eq!(ChargeLimiter::per_second(0).take(50, at(0)), 2);
        let unused = ChargeLimiter::per_second(10);
        unused.give_back(5);
        assert_eq!(unused.take(50, at(0)), 20);
    }
}
