//! Dunning: the next attempt after a failed charge.

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use kontor_kernel::Zone;

use crate::decline::{Decline, DeclineClass};
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

#[cfg(test)]
mod tests;
