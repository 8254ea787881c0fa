//! Dunning: the next attempt after a failed charge, and the meaning of decline reasons for it.

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use kontor_kernel::Zone;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::period::on_day;
use crate::policy::DunningPolicy;

/// Finished attempt to charge a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastAttempt {
    /// Time of the attempt.
    pub at: DateTime<Utc>,
    /// `true` if the dunning plan made it, `false` if a customer or an employee requested it. Only planned
    /// attempts advance the plan.
    pub planned: bool,
    /// Decline of the method that is charged next; `None` if the attempt used another method, or failed
    /// otherwise.
    pub decline: Option<Decline>,
}

/// Limit that allows no further attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exhausted {
    /// The plan is finished.
    PlanDone,
    /// The period has had its planned attempts.
    PeriodLimit,
    /// The acquirer repeated a reason that allows no further attempt.
    SameReason,
}

/// Next step for an unpaid period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// An attempt at this time, never before now.
    At(DateTime<Utc>),
    /// No attempts are left.
    Exhausted(Exhausted),
    /// No attempt until the customer acts: requests an attempt, or agrees to another method.
    CustomerMustAct,
    /// No further attempt with this method.
    MethodDead,
}

/// Maximum delay of a planned attempt to reach a salary day, for a method without funds.
const MAX_SALARY_DELAY: TimeDelta = TimeDelta::days(3);

/// Returns the next attempt.
///
/// `tries` are the attempts of the period, by ascending time. `method_tries` are those of the method that is
/// charged next over all its subscriptions, in any order, for at least [`DunningPolicy::METHOD_DAYS`]. Both
/// include attempts requested by customers and staff. These do not advance the plan; they keep a planned attempt
/// off their own day, and count for the limit of the method.
///
/// A worker calls this again in the commit that writes the attempt, with all attempts locked. It may continue
/// only if the result is `At` with a time that has come, since another subscription may have used up the method.
/// ```
/// use kontor_kernel::Zone;
/// use kontor_subscriptions::{Decline, DunningPolicy, NextAttempt, PastAttempt, next_try};
///
/// let first = "2027-03-04T06:30:00Z".parse()?;
/// let declined = PastAttempt { at: first, planned: true, decline: Some(Decline::of(Some("issuer_unavailable"))) };
/// let next = next_try(&DunningPolicy::default(), Zone::default(), &[declined], &[first], first);
/// assert_eq!(next, NextAttempt::At("2027-03-05T06:30:00Z".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn next_try(
    policy: &DunningPolicy,
    zone: Zone,
    tries: &[PastAttempt],
    method_tries: &[DateTime<Utc>],
    now: DateTime<Utc>,
) -> NextAttempt {
    // A hard decline stops the method, planned or not.
    if tries.last().and_then(|last| last.decline).is_some_and(Decline::is_hard) {
        return NextAttempt::MethodDead;
    }
    let of_plan: Vec<PastAttempt> = tries.iter().copied().filter(|done| done.planned).collect();
    if let Some(stop) = stop(policy, &of_plan) {
        return stop;
    }
    let Some(planned) = planned(policy, zone, &of_plan, now) else {
        return NextAttempt::Exhausted(Exhausted::PlanDone);
    };
    let wanted = planned.max(now);
    let on_its_day = tries.last().map_or(wanted, |last| not_on_the_day_of(policy, zone, last.at, wanted));
    NextAttempt::At(next_time_method_is_free(policy, method_tries, on_its_day))
}

/// Returns `true` if customers and staff may request another attempt for the period. Their limit is separate and
/// equal to that of planned attempts; the limit of the method is shared. Several on one day are allowed.
pub fn allows_unplanned_try(
    policy: &DunningPolicy,
    unplanned_tries_of_period: usize,
    method_tries: &[DateTime<Utc>],
    now: DateTime<Utc>,
) -> bool {
    let left = unplanned_tries_of_period < policy.tries_per_period().into();
    left && next_time_method_is_free(policy, method_tries, now) == now
}

/// Returns the result that rules out another planned attempt, given the planned ones so far. A method without
/// attempts has at least one.
fn stop(policy: &DunningPolicy, planned: &[PastAttempt]) -> Option<NextAttempt> {
    let last = planned.last().and_then(|last| last.decline)?;
    if let Decline { class, more_tries: Some(budget), .. } = last {
        let same = planned.iter().filter(|done| done.decline == Some(last)).count();
        if same > budget.into() {
            return Some(match class {
                DeclineClass::CustomerMustAct => NextAttempt::CustomerMustAct,
                DeclineClass::Later => NextAttempt::Exhausted(Exhausted::SameReason),
                DeclineClass::NeverAgain => NextAttempt::MethodDead,
            });
        }
    }
    (planned.len() >= policy.tries_per_period().into()).then_some(NextAttempt::Exhausted(Exhausted::PeriodLimit))
}

/// Time of the next planned attempt, given all planned ones so far. `None` if all are done.
fn planned(policy: &DunningPolicy, zone: Zone, tries: &[PastAttempt], now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let (Some(first), Some(last)) = (tries.first(), tries.last()) else {
        return Some(now);
    };
    let Some(decline) = last.decline else {
        return Some(now);
    };
    let done = tries.len().saturating_sub(1);
    let salary_day = |after| next_salary_day(policy, zone, after);
    match policy.after_days().get(done) {
        Some(days) => {
            let step = zone.first_at(zone.local(first.at).checked_add_days(Days::new((*days).into()))?);
            let salary = if decline.salary_day_helps { salary_day(step - TimeDelta::days(1)) } else { None };
            Some(salary.filter(|salary| *salary - step <= MAX_SALARY_DELAY).unwrap_or(step))
        }
        None if done == policy.after_days().len() => salary_day(last.at),
        None => None,
    }
}

/// The policy's hour on the next salary day after the date of `after`; in a shorter month, on its last day.
fn next_salary_day(policy: &DunningPolicy, zone: Zone, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let today = zone.local(after).date();
    let month = today.with_day(1)?;
    let months = [Some(month), month.checked_add_months(Months::new(1))];
    let days = |month: NaiveDate| policy.salary_days().iter().filter_map(move |day| on_day(month, *day));
    let next = months.into_iter().flatten().flat_map(days).find(|day| *day > today)?;
    at_hour(policy, zone, next)
}

fn at_hour(policy: &DunningPolicy, zone: Zone, day: NaiveDate) -> Option<DateTime<Utc>> {
    Some(zone.first_at(day.and_time(NaiveTime::from_hms_opt(policy.hour().into(), 0, 0)?)))
}

/// Allows at most one planned attempt per local day: a time on the day of the last attempt moves to the policy's
/// hour on the next day.
fn not_on_the_day_of(policy: &DunningPolicy, zone: Zone, last: DateTime<Utc>, wanted: DateTime<Utc>) -> DateTime<Utc> {
    let day = zone.local(last).date();
    if zone.local(wanted).date() > day {
        return wanted;
    }
    day.succ_opt().and_then(|next| at_hour(policy, zone, next)).unwrap_or(wanted)
}

/// First time from `wanted` on at which the method is below its limit of attempts.
fn next_time_method_is_free(
    policy: &DunningPolicy,
    method_tries: &[DateTime<Utc>],
    wanted: DateTime<Utc>,
) -> DateTime<Utc> {
    let mut newest_first = method_tries.to_vec();
    newest_first.sort_unstable_by(|one, other| other.cmp(one));
    let oldest_that_counts = newest_first.get(usize::from(policy.tries_per_method()).saturating_sub(1));
    let free = oldest_that_counts.map(|oldest| *oldest + TimeDelta::days(DunningPolicy::METHOD_DAYS.into()));
    free.map_or(wanted, |free| free.max(wanted))
}

/// Consequence of a decline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DeclineClass {
    /// The method must not be charged again.
    NeverAgain,
    /// The customer must act before another attempt can succeed.
    CustomerMustAct,
    /// A later attempt may succeed.
    Later,
}

/// Rule for a declined charge, by the acquirer's reason:
///
/// | Reason | Class | More attempts | Salary day helps |
/// |---|---|---|---|
/// | `card_expired` | `never_again` | 0 | no |
/// | `permission_revoked` | `never_again` | 0 | no |
/// | `payment_method_restricted` | `never_again` | 0 | no |
/// | `invalid_card_number` | `never_again` | 0 | no |
/// | `country_forbidden` | `never_again` | 0 | no |
/// | `fraud_suspected` | `never_again` | 0 | no |
/// | `3d_secure_failed` | `customer_must_act` | 0 | no |
/// | `identification_required` | `customer_must_act` | 0 | no |
/// | `call_issuer` | `customer_must_act` | 1 | no |
/// | `insufficient_funds` | `later` | as planned | yes |
/// | `payment_method_limit_exceeded` | `later` | as planned | yes |
/// | `issuer_unavailable` | `later` | as planned | no |
/// | `internal_timeout` | `later` | as planned | no |
/// | `general_decline` | `later` | as planned | no |
/// | `rejected_by_timeout` | `later` | as planned | no |
/// | any other | `later` | 1 | no |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decline {
    /// Consequence.
    pub class: DeclineClass,
    /// Maximum attempts after declines of this kind in a period; `None` for as many as the project plans.
    pub more_tries: Option<u8>,
    /// `true` if an attempt on a salary day is better than an earlier one.
    pub salary_day_helps: bool,
}

const NEVER_AGAIN: Decline = Decline { class: DeclineClass::NeverAgain, more_tries: Some(0), salary_day_helps: false };
const CUSTOMER_MUST_ACT: Decline =
    Decline { class: DeclineClass::CustomerMustAct, more_tries: Some(0), salary_day_helps: false };
const ONE_MORE_THEN_ACT: Decline = Decline { more_tries: Some(1), ..CUSTOMER_MUST_ACT };
const LATER: Decline = Decline { class: DeclineClass::Later, more_tries: None, salary_day_helps: false };
const LATER_WITH_MONEY: Decline = Decline { salary_day_helps: true, ..LATER };
const UNKNOWN: Decline = Decline { more_tries: Some(1), ..LATER };

/// Reasons of the acquirer (`cancellation_details.reason`) and their rules. A test compares
/// `docs/reference/subscription-states.md`.
const REASONS: &[(&str, Decline)] = &[
    ("card_expired", NEVER_AGAIN),
    ("permission_revoked", NEVER_AGAIN),
    ("payment_method_restricted", NEVER_AGAIN),
    ("invalid_card_number", NEVER_AGAIN),
    ("country_forbidden", NEVER_AGAIN),
    ("fraud_suspected", NEVER_AGAIN),
    ("3d_secure_failed", CUSTOMER_MUST_ACT),
    ("identification_required", CUSTOMER_MUST_ACT),
    ("call_issuer", ONE_MORE_THEN_ACT),
    ("insufficient_funds", LATER_WITH_MONEY),
    ("payment_method_limit_exceeded", LATER_WITH_MONEY),
    ("issuer_unavailable", LATER),
    ("internal_timeout", LATER),
    ("general_decline", LATER),
    ("rejected_by_timeout", LATER),
];

impl Decline {
    /// Returns the rule for the acquirer's reason. An unknown or missing reason means later, with the fewest
    /// attempts.
    ///
    /// Only a decline by the acquirer stops a method; the expiry date of a card does not.
    /// ```
    /// use kontor_subscriptions::{Decline, DeclineClass};
    ///
    /// assert_eq!(Decline::of(Some("permission_revoked")).class, DeclineClass::NeverAgain);
    /// assert!(Decline::of(Some("insufficient_funds")).salary_day_helps);
    /// assert_eq!(Decline::of(Some("never heard of")).more_tries, Some(1));
    /// ```
    pub fn of(reason: Option<&str>) -> Self {
        let known = REASONS.iter().find(|(known, _)| reason == Some(*known));
        known.map_or(UNKNOWN, |(_, decline)| *decline)
    }

    /// Returns `true` if the method must not be charged again.
    pub fn is_hard(self) -> bool {
        self.class == DeclineClass::NeverAgain
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word;
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn declined(text: &str, reason: &str) -> PastAttempt {
        PastAttempt { at: at(text), planned: true, decline: Some(Decline::of(Some(reason))) }
    }

    /// The next attempt by the default policy in Moscow, requested at the time of the last one.
    fn next(tries: &[PastAttempt]) -> NextAttempt {
        let method: Vec<_> = tries.iter().map(|done| done.at).collect();
        next_try(&DunningPolicy::default(), Zone::default(), tries, &method, tries.last().unwrap().at)
    }

    fn all(tries: &[(&str, &str)]) -> Vec<PastAttempt> {
        tries.iter().map(|(text, reason)| declined(text, reason)).collect()
    }

    #[test]
    fn the_first_try_is_now() {
        let now = at("2027-03-04T06:30:00Z");
        assert_eq!(next_try(&DunningPolicy::default(), Zone::default(), &[], &[], now), NextAttempt::At(now));
    }

    #[test]
    fn the_plan_goes_by_days_and_ends_on_a_salary_day() {
        let mut tries = all(&[("2027-03-11T06:30:00Z", "general_decline")]);
        for expected in ["2027-03-12T06:30:00Z", "2027-03-14T06:30:00Z", "2027-03-16T06:30:00Z", "2027-03-18T06:30:00Z"]
        {
            assert_eq!(next(&tries), NextAttempt::At(at(expected)));
            tries.push(declined(expected, "issuer_unavailable"));
        }
        assert_eq!(next(&tries), NextAttempt::At(at("2027-03-25T09:00:00Z")));
        tries.push(declined("2027-03-25T09:00:00Z", "insufficient_funds"));
        assert_eq!(next(&tries), NextAttempt::Exhausted(Exhausted::PlanDone));
    }

    #[test]
    fn money_is_looked_for_on_the_day_salaries_come() {
        // The step of 8 March waits for the 10th; that of 12 March does not wait for the 25th.
        assert_eq!(
            next(&all(&[("2027-03-07T06:30:00Z", "insufficient_funds")])),
            NextAttempt::At(at("2027-03-10T09:00:00Z"))
        );
        let limit = all(&[("2027-03-11T06:30:00Z", "payment_method_limit_exceeded")]);
        assert_eq!(next(&limit), NextAttempt::At(at("2027-03-12T06:30:00Z")));
        // On the salary day itself noon is better than the night.
        let night = all(&[("2027-03-08T22:30:00Z", "insufficient_funds")]);
        assert_eq!(next(&night), NextAttempt::At(at("2027-03-10T09:00:00Z")));
        assert_eq!(
            next(&all(&[("2027-03-07T06:30:00Z", "general_decline")])),
            NextAttempt::At(at("2027-03-08T06:30:00Z"))
        );
    }

    #[test]
    fn a_salary_day_that_a_month_lacks_is_its_last() {
        let policy: DunningPolicy = serde_json::from_str(r#"{"after_days": [], "salary_days": [31]}"#).unwrap();
        let tries = all(&[("2027-02-10T06:30:00Z", "general_decline")]);
        let next = |now| next_try(&policy, Zone::UTC, &tries, &[], at(now));
        assert_eq!(next("2027-02-10T06:30:00Z"), NextAttempt::At(at("2027-02-28T12:00:00Z")));
        let none: DunningPolicy = serde_json::from_str(r#"{"after_days": [], "salary_days": []}"#).unwrap();
        assert_eq!(next_try(&none, Zone::UTC, &tries, &[], tries[0].at), NextAttempt::Exhausted(Exhausted::PlanDone));
    }

    #[test]
    fn hard_reasons_stop_the_method_and_others_ask_the_customer() {
        assert_eq!(next(&all(&[("2027-03-11T06:30:00Z", "card_expired")])), NextAttempt::MethodDead);
        assert_eq!(next(&all(&[("2027-03-11T06:30:00Z", "3d_secure_failed")])), NextAttempt::CustomerMustAct);
        let mut issuer = all(&[("2027-03-11T06:30:00Z", "call_issuer")]);
        assert_eq!(next(&issuer), NextAttempt::At(at("2027-03-12T06:30:00Z")));
        issuer.push(declined("2027-03-12T06:30:00Z", "call_issuer"));
        assert_eq!(next(&issuer), NextAttempt::CustomerMustAct);
        // Declines of another method do not count.
        let other = [PastAttempt { decline: None, ..issuer[1] }];
        assert_eq!(next(&other), NextAttempt::At(at("2027-03-13T09:00:00Z")));
    }

    #[test]
    fn an_unknown_reason_is_worth_one_more_try() {
        let mut tries = all(&[("2027-03-11T06:30:00Z", "brand_new")]);
        assert_eq!(next(&tries), NextAttempt::At(at("2027-03-12T06:30:00Z")));
        tries.push(declined("2027-03-12T06:30:00Z", "another_new"));
        assert_eq!(next(&tries), NextAttempt::Exhausted(Exhausted::SameReason));
    }

    #[test]
    fn tries_of_customers_and_staff_leave_the_plan_as_it_is_and_have_a_limit_of_their_own() {
        let mut tries = all(&[("2027-03-11T06:30:00Z", "general_decline")]);
        tries.push(PastAttempt { planned: false, ..declined("2027-03-12T05:00:00Z", "general_decline") });
        assert_eq!(next(&tries), NextAttempt::At(at("2027-03-13T09:00:00Z")));
        for (hour, reason) in
            (6..13).zip(["general_decline", "unheard_of", "call_issuer", "3d_secure_failed"].iter().cycle())
        {
            let text = format!("2027-03-12T{hour:02}:00:00Z");
            tries.push(PastAttempt { planned: false, ..declined(&text, reason) });
            assert_eq!(next(&tries), NextAttempt::At(at("2027-03-13T09:00:00Z")), "{reason}");
        }
        // The plan continues: its second day comes next.
        tries.push(declined("2027-03-13T09:00:00Z", "general_decline"));
        assert_eq!(next(&tries), NextAttempt::At(at("2027-03-14T06:30:00Z")));
        let hard = PastAttempt { planned: false, ..declined("2027-03-13T10:00:00Z", "card_expired") };
        assert_eq!(next(&[tries[0], hard]), NextAttempt::MethodDead);
        let policy = DunningPolicy::default();
        assert!(!allows_unplanned_try(&policy, 8, &[], at("2027-04-01T00:00:00Z")));
        assert!(allows_unplanned_try(&policy, 7, &[], at("2027-04-01T00:00:00Z")));
    }

    #[test]
    fn a_method_that_is_agreed_on_when_the_plan_is_done_is_tried() {
        let policy: DunningPolicy = serde_json::from_str(r#"{"tries_per_period": 2}"#).unwrap();
        let tries = all(&[("2027-03-11T06:30:00Z", "general_decline"), ("2027-03-12T06:30:00Z", "call_issuer")]);
        let next = |tries: &[PastAttempt]| next_try(&policy, Zone::default(), tries, &[], at("2027-03-14T06:30:00Z"));
        assert_eq!(next(&tries), NextAttempt::Exhausted(Exhausted::PeriodLimit));
        let other = PastAttempt { decline: None, ..tries[1] };
        assert_eq!(next(&[tries[0], other]), NextAttempt::At(at("2027-03-14T06:30:00Z")));
    }

    #[test]
    fn a_method_that_is_used_up_waits() {
        let tries = all(&[("2027-03-11T06:30:00Z", "general_decline")]);
        let others: Vec<_> =
            (0..14).map(|day| at("2027-02-20T10:00:00Z") + TimeDelta::days(day)).chain([tries[0].at]).collect();
        let policy = DunningPolicy::default();
        let free = at("2027-02-20T10:00:00Z") + TimeDelta::days(30);
        assert_eq!(next_try(&policy, Zone::default(), &tries, &others, tries[0].at), NextAttempt::At(free));
        assert!(!allows_unplanned_try(&policy, 1, &others, free - TimeDelta::seconds(1)));
        assert!(allows_unplanned_try(&policy, 1, &others, free));
    }

    #[test]
    fn tries_missed_in_a_pause_of_the_service_continue() {
        let tries = all(&[("2027-03-11T06:30:00Z", "general_decline")]);
        let late = at("2027-03-20T15:00:00Z");
        let policy = DunningPolicy::default();
        assert_eq!(next_try(&policy, Zone::default(), &tries, &[], late), NextAttempt::At(late));
        let tries = [tries[0], PastAttempt { at: late, ..tries[0] }];
        assert_eq!(next_try(&policy, Zone::default(), &tries, &[], late), NextAttempt::At(at("2027-03-21T09:00:00Z")));
    }

    const TRIED_REASONS: [&str; 8] = [
        "general_decline",
        "insufficient_funds",
        "payment_method_limit_exceeded",
        "issuer_unavailable",
        "rejected_by_timeout",
        "call_issuer",
        "brand_new",
        "card_expired",
    ];

    /// A subscription in the simulated year.
    #[derive(Default)]
    struct Simulated {
        tries: Vec<PastAttempt>,
        periods: Vec<Vec<PastAttempt>>,
    }

    /// A random year: each step has the hours that pass, the actor, and the reason of the decline.
    fn year() -> impl Strategy<Value = Vec<(u8, u8, u8, usize)>> {
        prop::collection::vec((0..3_u8, 1..30_u8, 0..10_u8, 0..200_usize), 500)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

        /// A year of declines of three subscriptions that share a method, requested at all hours: no limit is
        /// exceeded, no next attempt is in the past, and no day has two planned attempts.
        #[test]
        fn a_year_of_declines_keeps_all_limits(
            steps in year(), start in 1_700_000_000..1_900_000_000_i64, few in any::<bool>(),
            zone in prop::sample::select(vec!["Europe/Moscow", "America/New_York", "Asia/Kamchatka", "Europe/Berlin"]),
        ) {
            let zone = Zone::parse(zone).unwrap();
            let policy = if few { r#"{"tries_per_period":5,"tries_per_method":6}"# } else { r#"{"after_days":[1,2,3,4,5,6,7]}"# };
            let policy: DunningPolicy = serde_json::from_str(policy).unwrap();
            let start = DateTime::from_timestamp(start, 0).unwrap();
            let (mut now, mut method) = (start, Vec::new());
            let mut subscriptions: [Simulated; 3] = Default::default();
            for (which, hours, actor, reason) in steps {
                now += TimeDelta::hours(hours.into());
                if now > start + TimeDelta::days(366) {
                    break;
                }
                let subscription = &mut subscriptions[usize::from(which)];
                if subscription.tries.first().is_some_and(|first| now - first.at > TimeDelta::days(31)) {
                    subscription.periods.push(std::mem::take(&mut subscription.tries));
                }
                let asked_for = subscription.tries.iter().filter(|done| !done.planned).count();
                let unplanned = actor == 0 && allows_unplanned_try(&policy, asked_for, &method, now);
                let planned = match next_try(&policy, zone, &subscription.tries, &method, now) {
                    NextAttempt::At(moment) => {
                        prop_assert!(moment >= now);
                        let again = next_try(&policy, zone, &subscription.tries, &method, moment);
                        prop_assert_eq!(again, NextAttempt::At(moment), "what is planned holds when it comes");
                        moment == now
                    }
                    _ => false,
                };
                if planned || unplanned {
                    if let (Some(last), false) = (subscription.tries.last(), unplanned) {
                        prop_assert!(zone.local(last.at).date() < zone.local(now).date());
                    }
                    let reason = TRIED_REASONS.get(reason / 25).copied().filter(|reason| *reason != "card_expired");
                    let decline = Some(Decline::of(reason));
                    subscription.tries.push(PastAttempt { at: now, planned: !unplanned, decline });
                    method.push(now);
                }
            }
            prop_assert!(method.len() >= 6, "too little happened: {}", method.len());
            let most = usize::from(policy.tries_per_method());
            for (newest, moment) in method.iter().enumerate() {
                let within = method[..=newest].iter().filter(|other| *moment - **other < TimeDelta::days(30)).count();
                prop_assert!(within <= most && within <= 15, "{within} tries of a method");
            }
            for subscription in subscriptions {
                for tries in subscription.periods.iter().chain([&subscription.tries]) {
                    let days: Vec<_> = tries.iter().filter(|done| done.planned).map(|done| zone.local(done.at).date()).collect();
                    let most = usize::from(policy.tries_per_period()).min(8);
                    prop_assert!(days.len() <= most && tries.len() - days.len() <= most);
                    prop_assert!(days.is_sorted_by(|one, next| one < next), "two planned tries on a day");
                }
            }
        }
    }

    const DOCS: &str = include_str!("../../../docs/reference/subscription-states.md");

    fn reported(reason: &str, decline: Decline) -> String {
        let tries = decline.more_tries.map_or("as planned".to_owned(), |tries| tries.to_string());
        let salary = if decline.salary_day_helps { "yes" } else { "" };
        format!("| {reason} | {} | {tries} | {salary} |", decline.class.word())
    }

    #[test]
    fn the_docs_show_the_same_table() {
        let known = REASONS.iter().map(|(reason, decline)| reported(&format!("`{reason}`"), *decline));
        let expected: Vec<_> = known.chain([reported("any other, or none", UNKNOWN)]).collect();
        let rows = DOCS.lines().skip_while(|line| !line.starts_with("| Reason | Class |")).skip(2);
        let shown: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(shown, expected, "docs/reference/subscription-states.md should have\n{}", expected.join("\n"));
    }

    #[test]
    fn rustdoc_shows_the_same_table() {
        let row = |reason: &str, decline: Decline| {
            let tries = decline.more_tries.map_or("as planned".to_owned(), |tries| tries.to_string());
            let salary = if decline.salary_day_helps { "yes" } else { "no" };
            format!("{reason} | `{}` | {tries} | {salary} |", decline.class.word())
        };
        let known = REASONS.iter().map(|(reason, decline)| row(&format!("`{reason}`"), *decline));
        let expected: Vec<String> = known.chain([row("any other", UNKNOWN)]).collect();
        let rows = include_str!("dunning.rs").lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn reasons_are_classed_as_the_acquirer_means_them() {
        let of = |class| REASONS.iter().filter(move |(_, decline)| decline.class == class).count();
        assert_eq!(
            [of(DeclineClass::NeverAgain), of(DeclineClass::CustomerMustAct), of(DeclineClass::Later)],
            [6, 3, 6]
        );
        for (index, (reason, decline)) in REASONS.iter().enumerate() {
            assert_eq!(Decline::of(Some(reason)), *decline);
            assert_eq!(REASONS.iter().position(|(other, _)| other == reason), Some(index), "{reason} stands twice");
            assert_eq!(decline.is_hard(), index < 6);
        }
        assert_eq!(Decline::of(Some("call_issuer")).more_tries, Some(1));
        let mut later = REASONS.iter().filter(|(_, known)| known.class == DeclineClass::Later);
        assert!(later.all(|(_, known)| known.more_tries.is_none()));
    }

    #[test]
    fn unknown_reasons_have_the_fewest_attempts() {
        for reason in [None, Some(""), Some("CARD_EXPIRED"), Some("invalid_csc"), Some("deal_expired"), Some("unknown")]
        {
            let decline = Decline::of(reason);
            assert_eq!(decline.class, DeclineClass::Later, "{reason:?}");
            assert_eq!(decline.more_tries, Some(1));
        }
    }
}
