//! When a charge is tried again.

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use kontor_kernel::Zone;

use crate::decline::{Decline, DeclineClass};
use crate::period::on_day;
use crate::policy::DunningPolicy;

/// A try to charge a period, which is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Try {
    /// When it was made.
    pub at: DateTime<Utc>,
    /// `true` if the dunning plan made it, `false` if a customer or an employee asked for it. Only planned tries move the plan on.
    pub planned: bool,
    /// How the method that is charged next was declined; `None` when it was another method, or the try failed otherwise.
    pub decline: Option<Decline>,
}

/// Which limit leaves nothing to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exhausted {
    /// All that was planned is done.
    PlanDone,
    /// The period has had its planned tries.
    PeriodLimit,
    /// The acquirer gave a reason again that is worth no further try.
    SameReason,
}

/// What comes next for a period that is not paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// A try at this moment, never before now.
    At(DateTime<Utc>),
    /// Nothing is left to try.
    Exhausted(Exhausted),
    /// No try before the customer did something: asked for a try themselves, or agreed on another method.
    CustomerMustAct,
    /// No try with this method ever.
    MethodDead,
}

/// A salary day on the day of a planned try, or so soon after it, is the better one for a method without money.
const SALARY_REACH: TimeDelta = TimeDelta::days(3);

/// When to try next.
///
/// `tries` are those of the period, by ascending time; `method_tries` those of the method that is charged next by all its
/// subscriptions, in any order, of [`DunningPolicy::METHOD_DAYS`] at least. Both contain those of customers and staff, which
/// never use up the plan: they only keep a planned try off their own day, and count for the limit of the method.
///
/// A worker asks once more in the commit that writes the attempt, with all tries locked: only when the answer then is
/// `At` a moment that has come may it go on, since another subscription may have used up the method meanwhile.
/// ```
/// use kontor_kernel::Zone;
/// use kontor_subscriptions::{Decline, DunningPolicy, NextTry, Try, next_try};
///
/// let first = "2027-03-04T06:30:00Z".parse()?;
/// let declined = Try { at: first, planned: true, decline: Some(Decline::of(Some("issuer_unavailable"))) };
/// let next = next_try(&DunningPolicy::default(), Zone::default(), &[declined], &[first], first);
/// assert_eq!(next, NextTry::At("2027-03-05T06:30:00Z".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn next_try(
    policy: &DunningPolicy,
    zone: Zone,
    tries: &[Try],
    method_tries: &[DateTime<Utc>],
    now: DateTime<Utc>,
) -> NextTry {
    // Planned or not: a hard decline stops the method.
    if tries.last().and_then(|last| last.decline).is_some_and(Decline::is_hard) {
        return NextTry::MethodDead;
    }
    let of_plan: Vec<Try> = tries.iter().copied().filter(|done| done.planned).collect();
    if let Some(stop) = stop(policy, &of_plan) {
        return stop;
    }
    let Some(planned) = planned(policy, zone, &of_plan, now) else {
        return NextTry::Exhausted(Exhausted::PlanDone);
    };
    let wanted = planned.max(now);
    let on_its_day = tries.last().map_or(wanted, |last| not_on_the_day_of(policy, zone, last.at, wanted));
    NextTry::At(once_the_method_is_free(policy, method_tries, on_its_day))
}

/// Returns `true` if customers and staff may ask for another try of the period. They have a limit of their own, as high as
/// that of planned tries, and share the limit of the method; they may use them on one day.
pub fn allows_unplanned_try(
    policy: &DunningPolicy,
    unplanned_tries_of_period: usize,
    method_tries: &[DateTime<Utc>],
    now: DateTime<Utc>,
) -> bool {
    let left = unplanned_tries_of_period < policy.tries_per_period().into();
    left && once_the_method_is_free(policy, method_tries, now) == now
}

/// Returns what rules out another planned try, by the planned ones so far. A method that was not tried yet has one try at least.
fn stop(policy: &DunningPolicy, planned: &[Try]) -> Option<NextTry> {
    let last = planned.last().and_then(|last| last.decline)?;
    if let Decline { class, more_tries: Some(budget), .. } = last {
        let same = planned.iter().filter(|done| done.decline == Some(last)).count();
        if same > budget.into() {
            return Some(match class {
                DeclineClass::CustomerMustAct => NextTry::CustomerMustAct,
                DeclineClass::Later => NextTry::Exhausted(Exhausted::SameReason),
                DeclineClass::NeverAgain => NextTry::MethodDead,
            });
        }
    }
    (planned.len() >= policy.tries_per_period().into()).then_some(NextTry::Exhausted(Exhausted::PeriodLimit))
}

/// When the plan has the next try, by all planned ones so far. `None` when all are done.
fn planned(policy: &DunningPolicy, zone: Zone, tries: &[Try], now: DateTime<Utc>) -> Option<DateTime<Utc>> {
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
            Some(salary.filter(|salary| *salary - step <= SALARY_REACH).unwrap_or(step))
        }
        None if done == policy.after_days().len() => salary_day(last.at),
        None => None,
    }
}

/// The hour of the policy on the next salary day whose date is later than that of `after`; in a month that lacks the day,
/// on its last.
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

/// At most one planned try a local day: a moment on the day of the last try becomes the hour of the policy on the next.
fn not_on_the_day_of(policy: &DunningPolicy, zone: Zone, last: DateTime<Utc>, wanted: DateTime<Utc>) -> DateTime<Utc> {
    let day = zone.local(last).date();
    if zone.local(wanted).date() > day {
        return wanted;
    }
    day.succ_opt().and_then(|next| at_hour(policy, zone, next)).unwrap_or(wanted)
}

/// The first moment from `wanted` on at which the method has had fewer tries than it may.
fn once_the_method_is_free(
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

#[cfg(test)]
mod tests;
