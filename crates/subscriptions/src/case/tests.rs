//! Lives of subscriptions without a database: changes are applied as a storage would.

use chrono::TimeDelta;
use kontor_kernel::NomenclatureId;

use super::*;
use crate::forecast::forecast;
use crate::retry::RetryReason;
use crate::state::grants_access;
use crate::terms::Terms;
use crate::testing::samples::{active, begun, open_attempt, terms};

mod staff;

pub fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Writes a change, as a storage would.
fn written(case: &SubscriptionCase, change: &SubscriptionChange) -> SubscriptionCase {
    let mut after = case.with_change(change);
    if let Some(attempt) = &change.attempt {
        open_attempt(&mut after, attempt, change.at);
    }
    let lately = change.at - TimeDelta::days(31);
    after.paid_at.retain(|moment| *moment > lately);
    after.customer_paid_at.retain(|moment| *moment > lately);
    after.method_tries.retain(|moment| *moment > lately);
    after
}

fn reported(case: &SubscriptionCase, reason: Option<&str>, now: DateTime<Utc>) -> SubscriptionCase {
    let event_context = EventContext { reason: reason.map(str::to_owned), ..EventContext::default() };
    let standing = if reason.is_some() { PaymentStanding::Failed } else { PaymentStanding::Succeeded };
    written(case, &case.apply_outcome(standing, &event_context, now).unwrap().unwrap())
}

/// Every charge gets the same outcome, over a number of days. Returns the charges, by day.
fn live(
    case: SubscriptionCase,
    days: i64,
    says: impl Fn(usize) -> Option<&'static str>,
) -> (SubscriptionCase, Vec<DateTime<Utc>>) {
    let (case, charged, _) = reported_life(case, days, says);
    (case, charged)
}

/// Notices to a customer, with their times.
type Notices = Vec<(SubscriptionNotice, DateTime<Utc>)>;

/// The same, with the notices to the customer.
fn reported_life(
    mut case: SubscriptionCase,
    days: i64,
    says: impl Fn(usize) -> Option<&'static str>,
) -> (SubscriptionCase, Vec<DateTime<Utc>>, Notices) {
    let (mut charged, mut notices) = (Vec::new(), Vec::new());
    let mut now = case.subscription.period.map_or_else(|| at("2027-01-31T09:00:00Z"), |period| period.start);
    for _ in 0..days * 4 {
        now += TimeDelta::hours(6);
        while case.subscription.wake_at.is_some_and(|wake| wake <= now) {
            let change = case.due(now);
            let before = case.subscription.clone();
            case = written(&case, &change);
            notices.extend(change.notices.iter().map(|notice| (*notice, now)));
            if change.attempt.is_some() {
                case = reported(&case, says(charged.len()), now);
                charged.push(now);
            } else {
                assert_ne!(case.subscription, before, "a worker would look at it for ever");
            }
        }
        let (status, end) = (case.subscription.status, case.subscription.period.map(|period| period.end));
        assert_eq!(
            grants_access(status, end, now),
            status == SubscriptionStatus::Active && case.subscription.is_paid(now)
        );
    }
    (case, charged, notices)
}

#[test]
fn ten_years_are_a_hundred_and_twenty_charges() {
    let (case, charged) = live(active(at("2027-01-31T09:00:00Z")), 3_653, |_| None);
    assert_eq!(charged.len(), 120);
    assert_eq!(case.subscription.period.unwrap().number, 121);
    assert_eq!(charged[0].to_string(), "2027-02-28 09:00:00 UTC");
    assert_eq!(charged[1].to_string(), "2027-03-31 09:00:00 UTC");
}

#[test]
fn a_year_of_declines_ends_within_its_limits() {
    for reason in
        ["insufficient_funds", "general_decline", "call_issuer", "card_expired", "3d_secure_failed", "new one"]
    {
        let (case, charged) = live(active(at("2027-01-31T09:00:00Z")), 365, |_| Some(reason));
        assert_eq!(case.subscription.status, SubscriptionStatus::Canceled, "{reason}");
        assert!((1..=8).contains(&charged.len()), "{reason}: {charged:?}");
        let days: Vec<_> = charged.iter().map(|moment| Zone::default().local(*moment).date()).collect();
        assert!(days.is_sorted_by(|one, next| one < next), "{reason}: {charged:?}");
        let hard = matches!(reason, "card_expired" | "3d_secure_failed");
        assert!(!hard || charged.len() == 1, "{reason}: {charged:?}");
    }
}

#[test]
fn every_other_charge_that_fails_keeps_the_day() {
    let (case, _) =
        live(active(at("2027-01-31T09:00:00Z")), 360, |count| (count % 2 == 0).then_some("issuer_unavailable"));
    assert_eq!(case.subscription.status, SubscriptionStatus::Active);
    assert_eq!(case.subscription.period.unwrap().end.to_string(), "2028-01-31 09:00:00 UTC");
}

#[test]
fn after_any_pause_one_charge_is_due() {
    for days in [1, 29, 40, 65, 200, 1_000] {
        let now = at("2027-01-31T09:00:00Z") + TimeDelta::days(28 + days);
        let case = active(at("2027-01-31T09:00:00Z"));
        let change = case.due(now);
        let attempt = change.attempt.clone().unwrap();
        let paid = reported(&written(&case, &change), None, now);
        let period = paid.subscription.period.unwrap();
        assert!(period.covers(now) && period.number == attempt.period, "{days}");
        // The next charge may be near enough to announce it.
        let next = paid.due(now);
        assert!(next.attempt.is_none() && next.subscription.wake_at.unwrap() > now);
    }
}

#[test]
fn terms_that_were_agreed_on_begin_with_the_next_charge() {
    let start = at("2027-01-31T09:00:00Z");
    let case = active(start);
    let silver = Terms { amount: "490.00".parse().unwrap(), billing_months: 3, ..terms() };
    let consent = ConsentedTerms {
        terms: silver.clone(),
        text_version: "1".to_owned(),
        at: start,
        address: None,
        application: None,
    };
    let agreed = EventContext { consent: Some(consent), ..EventContext::default() };
    let change = case.after(SubscriptionEvent::ChangePlan, &agreed, start).unwrap();
    let case = written(&case, &change);
    assert_eq!(
        (case.subscription.terms.amount.to_string(), case.subscription.status),
        ("990.00".to_owned(), SubscriptionStatus::Active)
    );
    let due = at("2027-02-28T09:00:00Z");
    let change = case.due(due);
    assert_eq!(change.attempt.as_ref().unwrap().terms, silver);
    let case = reported(&written(&case, &change), None, due);
    assert_eq!(case.subscription.terms, silver);
    assert_eq!(case.subscription.period.unwrap().end.to_string(), "2027-05-31 09:00:00 UTC");
}

/// Changes the plan this many days before the renewal. Returns the case, the time of the charge, and the notices
/// before it.
fn changed_before_renewal(days: i64) -> (SubscriptionCase, DateTime<Utc>, Notices) {
    let start = at("2027-01-31T09:00:00Z");
    let (case, _, mut notified_before) = reported_life(active(start), 28 - days, |_| None);
    let now = start + TimeDelta::days(28 - days);
    let silver = Terms { amount: "490.00".parse().unwrap(), ..terms() };
    let consent =
        ConsentedTerms { terms: silver, text_version: "1".to_owned(), at: now, address: None, application: None };
    let agreed = EventContext { consent: Some(consent), ..EventContext::default() };
    let change = case.after(SubscriptionEvent::ChangePlan, &agreed, now).unwrap();
    let mut case = written(&case, &change);
    let announced = case.due(now);
    notified_before.extend(announced.notices.iter().map(|notice| (*notice, now)));
    case = written(&case, &announced);
    let mut now = now;
    loop {
        now += TimeDelta::hours(6);
        while case.subscription.wake_at.is_some_and(|wake| wake <= now) {
            let change = case.due(now);
            case = written(&case, &change);
            notified_before.extend(change.notices.iter().map(|notice| (*notice, now)));
            if change.attempt.is_some() {
                return (case, now, notified_before);
            }
        }
    }
}

#[test]
fn other_terms_are_announced_before_they_are_charged() {
    let renewal = at("2027-02-28T09:00:00Z");
    for (days, charged_at, ahead) in [(10, renewal, 1), (3, renewal, 2), (1, renewal + TimeDelta::days(2), 2)] {
        let (case, charged, reported) = changed_before_renewal(days);
        assert_eq!(case.open().map(|attempt| attempt.amount.to_string()).as_deref(), Some("490.00"), "{days}");
        let delay = charged - charged_at;
        assert!(delay >= TimeDelta::zero() && delay < TimeDelta::hours(6), "{days}: {charged}");
        let ahead_of: Vec<_> =
            reported.iter().filter(|(notice, _)| *notice == SubscriptionNotice::SubscriptionChargeAhead).collect();
        assert_eq!(ahead_of.len(), ahead, "{days}: {reported:?}");
        assert!(
            charged - ahead_of.last().unwrap().1 >= TimeDelta::days(3) - TimeDelta::hours(6),
            "{days}: {reported:?}"
        );
    }
}

#[test]
fn a_payer_without_a_saved_method_is_notified_at_once() {
    let now = at("2027-01-31T09:00:00Z");
    let mut case = begun(now);
    case.subscription.terms.method = None;
    let change = case.apply_outcome(PaymentStanding::Succeeded, &EventContext::default(), now).unwrap().unwrap();
    let reported = [SubscriptionNotice::SubscriptionActivated, SubscriptionNotice::SubscriptionMethodNeeded];
    assert_eq!(change.notices, reported);
    let saved = EventContext { saved_method: SavedMethodId::new(1).ok(), ..EventContext::default() };
    let change = case.apply_outcome(PaymentStanding::Succeeded, &saved, now).unwrap().unwrap();
    assert_eq!(change.notices, [SubscriptionNotice::SubscriptionActivated]);
}

#[test]
fn a_failed_payment_is_retried_while_its_terms_are_the_same() {
    let (start, due) = (at("2027-01-31T09:00:00Z"), at("2027-02-28T09:00:00Z"));
    let case = active(start);
    let failed = reported(&written(&case, &case.due(due)), Some("insufficient_funds"), due);
    let reason_with = |terms: Terms| {
        let subscription = Subscription { next_terms: Some(terms), ..failed.subscription.clone() };
        SubscriptionCase { subscription, ..failed.clone() }.view(None, due).retry
    };
    assert_eq!(reason_with(terms()), (true, RetryReason::Available));
    let others = [
        Terms { plan: NomenclatureId::new(2).unwrap(), ..terms() },
        Terms { billing_months: 3, ..terms() },
        Terms { amount: "1.00".parse().unwrap(), ..terms() },
        Terms { currency: "EUR".to_owned(), ..terms() },
        Terms { method: SavedMethodId::new(2).ok(), ..terms() },
    ];
    for other in others {
        assert_eq!(reason_with(other.clone()), (false, RetryReason::TermsChanged), "{other:?}");
    }
    let named = Terms { plan_slug: "gold-2027".to_owned(), ..terms() };
    assert_eq!(reason_with(named), (true, RetryReason::Available), "another name makes no other plan");
}

/// A second payment of a subscription on a day, and payments beyond the limit of its customer.
#[test]
fn above_a_bound_of_the_day_the_charge_comes_on_the_next_one() {
    let now = at("2027-02-28T09:00:00Z");
    let case = active(at("2027-01-31T09:00:00Z"));
    let reported = SubscriptionCase {
        subscription: Subscription { last_notice: Some((2, Announcement::Charge)), ..case.subscription.clone() },
        ..case
    };
    let paid_today = SubscriptionCase { paid_at: vec![now], customer_paid_at: vec![now], ..reported.clone() };
    let customer_paid = SubscriptionCase { customer_paid_at: vec![now; 20], ..reported.clone() };
    for limited in [paid_today, customer_paid] {
        let change = limited.due(now);
        assert_eq!((&change.attempt, change.subscription.parked), (&None, None));
        let midnight = at("2027-02-28T21:00:00Z");
        let planned = (change.subscription.next_charge_at, change.subscription.wake_at);
        assert_eq!(planned, (Some(midnight), Some(midnight)));
        assert_eq!(change.subscription.status, SubscriptionStatus::Active);
        assert_eq!(change.notices, [SubscriptionNotice::SubscriptionRescheduled]);
        let waiting = written(&limited, &change);
        assert_eq!(waiting.view(None, now).retry, (false, RetryReason::DailyLimit));
        assert_eq!(waiting.due(now).notices, [], "told once");
        let refused = waiting.after(SubscriptionEvent::ChargeStarted, &EventContext::default(), now).unwrap_err();
        assert_eq!(refused.reason, crate::error::RefusalReason::DailyLimit);
        let next_day = waiting.due(midnight);
        assert_eq!(next_day.attempt.map(|attempt| attempt.period), Some(2));
    }
    let twenty = SubscriptionCase { customer_paid_at: vec![now; 19], ..reported };
    assert!(twenty.due(now).attempt.is_some(), "as many plans as a checkout has renew on one day");
}

#[test]
fn an_overdue_period_that_is_paid_on_its_last_day_leaves_the_renewal_for_the_next() {
    let (case, _) = live(active(at("2027-01-31T09:00:00Z")), 29, |_| Some("insufficient_funds"));
    let last_day = at("2027-03-31T06:00:00Z");
    let tried = written(&case, &case.after(SubscriptionEvent::Retry, &EventContext::default(), last_day).unwrap());
    let paid = reported(&tried, None, last_day);
    let midnight = Some(at("2027-03-31T21:00:00Z"));
    assert_eq!((paid.subscription.status, paid.subscription.next_charge_at), (SubscriptionStatus::Active, midnight));
    assert_eq!(paid.subscription.period.unwrap().end, at("2027-03-31T09:00:00Z"));
    let (mut later, mut moments) = (paid, Vec::new());
    while later.subscription.status == SubscriptionStatus::Active {
        let wake = later.subscription.wake_at.unwrap();
        moments.push(wake);
        later = written(&later, &later.due(wake));
        assert!(moments.len() < 5 && later.subscription.parked.is_none(), "{moments:?}");
    }
    assert_eq!(moments.last().copied(), midnight);
    assert_eq!(later.open().map(|attempt| attempt.period), Some(3));
}

/// Dunning ends it; the customer resumes it, on the same day, with and without another method.
#[test]
fn a_subscription_ended_by_declines_is_charged_on_resume() {
    let (ended, _) = live(active(at("2027-01-31T09:00:00Z")), 58, |_| Some("general_decline"));
    assert_eq!(ended.subscription.status, SubscriptionStatus::Canceled);
    let now = at("2027-03-15T06:00:00Z");
    let (reason, canceled_at) = (RetryReason::Canceled, ended.subscription.canceled_at);
    assert_eq!((ended.view(None, now).retry, canceled_at.is_some()), ((false, reason), true));
    let mut other_method = ended.clone();
    other_method.subscription.terms.method = SavedMethodId::new(2).ok();
    for case in [ended, other_method] {
        let resumed = case.after(SubscriptionEvent::Resume, &EventContext::default(), now).unwrap();
        assert_eq!(resumed.notices, [SubscriptionNotice::SubscriptionResumed]);
        let one = &resumed.subscription;
        assert_eq!((one.status, one.next_charge_at, one.canceled_at), (SubscriptionStatus::PastDue, Some(now), None));
        let resumed = written(&case, &resumed);
        let due = resumed.due(now);
        let attempt = due.attempt.clone().unwrap();
        assert_eq!((attempt.number, attempt.planned, attempt.origin), (1, true, ChargeOrigin::Recovery));
        let charging = written(&resumed, &due);
        let paid = reported(&charging, None, now);
        assert_eq!(paid.subscription.status, SubscriptionStatus::Active);
        assert_eq!(paid.subscription.period.unwrap().end.to_string(), "2027-04-15 06:00:00 UTC");
        // A decline starts the dunning plan from its first day.
        let declined = reported(&charging, Some("general_decline"), now);
        assert_eq!(declined.subscription.status, SubscriptionStatus::PastDue);
        assert_eq!(declined.subscription.next_charge_at, Some(now + TimeDelta::days(1)));
    }
}

/// The dunning plan ends a subscription; retries by customers and charges by staff do not.
#[test]
fn tries_that_are_asked_for_never_end_a_subscription() {
    for reason in ["general_decline", "unheard_of", "call_issuer"] {
        let due = at("2027-02-28T09:00:00Z");
        let case = active(at("2027-01-31T09:00:00Z"));
        let mut case = reported(&written(&case, &case.due(due)), Some(reason), due);
        let planned = case.subscription.next_charge_at;
        for number in 1..=8 {
            assert_eq!(case.view(None, due).retry, (true, RetryReason::Available), "{reason} {number}");
            let event = if number % 2 == 0 { SubscriptionEvent::Retry } else { SubscriptionEvent::ChargeStarted };
            let change = case.after(event, &EventContext::default(), due).unwrap();
            case = reported(&written(&case, &change), Some(reason), due);
            assert_eq!(case.subscription.status, SubscriptionStatus::PastDue, "{reason} {number}");
            assert_eq!(case.subscription.next_charge_at, planned, "{reason} {number}");
        }
        assert_eq!(case.view(None, due).retry, (false, RetryReason::TooManyTries), "{reason}");
        let (case, charged) = live(case, 60, |_| Some("general_decline"));
        assert_eq!(case.subscription.status, SubscriptionStatus::Canceled, "{reason}");
        assert!(charged.len() == 5 || reason != "general_decline", "the plan has five tries left: {charged:?}");
    }
}

/// Number of notices of this kind.
fn count(notices: &[(SubscriptionNotice, DateTime<Utc>)], of: SubscriptionNotice) -> usize {
    notices.iter().filter(|(notice, _)| *notice == of).count()
}

#[test]
fn each_charge_is_announced_once_three_days_ahead() {
    let (_, charged, notices) = reported_life(active(at("2027-01-31T09:00:00Z")), 3_653, |_| None);
    let ahead: Vec<_> = notices
        .iter()
        .filter(|(notice, _)| *notice == SubscriptionNotice::SubscriptionChargeAhead)
        .map(|(_, at)| *at + TimeDelta::days(3))
        .collect();
    assert_eq!(ahead, charged);
}

#[test]
fn a_retry_is_announced_only_by_the_notice_of_the_failure() {
    let (case, charged, notices) =
        reported_life(active(at("2027-01-31T09:00:00Z")), 60, |_| Some("insufficient_funds"));
    assert_eq!(count(&notices, SubscriptionNotice::SubscriptionChargeAhead), 1);
    assert_eq!((case.subscription.status, charged.len() > 2), (SubscriptionStatus::Canceled, true));
}

#[test]
fn a_pause_of_the_service_over_the_notice_notifies_with_the_charge() {
    let start = at("2027-01-31T09:00:00Z");
    let change = active(start).due(at("2027-03-01T00:00:00Z"));
    assert_eq!((change.attempt.is_some(), change.notices), (true, vec![SubscriptionNotice::SubscriptionChargeAhead]));
}

#[test]
fn a_withdrawn_plan_is_announced_before_its_end_and_no_longer_charged() {
    let withdrawn = SubscriptionCase { plan: PlanStanding::Ends, ..active(at("2027-01-31T09:00:00Z")) };
    let (case, charged, notices) = reported_life(withdrawn, 90, |_| None);
    assert_eq!((charged, case.subscription.status), (vec![], SubscriptionStatus::Canceled));
    let reported: Vec<_> = notices.iter().map(|(notice, at)| (*notice, at.to_string())).collect();
    let expected = [
        (SubscriptionNotice::SubscriptionEnding, "2027-02-25 09:00:00 UTC".to_owned()),
        (SubscriptionNotice::SubscriptionEnded, "2027-02-28 09:00:00 UTC".to_owned()),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn a_past_due_subscription_ends_with_its_plan() {
    let start = at("2027-01-31T09:00:00Z");
    let (case, _) = live(active(start), 29, |_| Some("insufficient_funds"));
    assert_eq!(case.subscription.status, SubscriptionStatus::PastDue);
    let case = SubscriptionCase { plan: PlanStanding::Ends, ..case };
    let change = case.due(case.subscription.wake_at.unwrap());
    assert_eq!((change.subscription.status, change.attempt), (SubscriptionStatus::Canceled, None));
    assert_eq!(change.notices, [SubscriptionNotice::SubscriptionEnded]);
}

fn collecting(mut case: SubscriptionCase) -> SubscriptionCase {
    case.policy.missed = MissedPeriods::Collect;
    case
}

/// Three months of downtime: the current period is charged at once, the two missed ones on separate days, each
/// once.
#[test]
fn missed_periods_are_collected_one_a_day_where_the_project_says_so() {
    let back = at("2027-05-12T06:00:00Z");
    let case = collecting(active(at("2027-01-31T09:00:00Z")));
    let change = case.due(back);
    assert_eq!(
        change.attempt.as_ref().map(|attempt| (attempt.period, attempt.origin)),
        Some((4, ChargeOrigin::Renewal))
    );
    let mut case = reported(&written(&case, &change), None, back);
    assert_eq!(case.subscription.missed, [2, 3]);
    let mut collected = Vec::new();
    let mut now = back;
    while now < at("2027-05-30T00:00:00Z") {
        now += TimeDelta::hours(6);
        if case.subscription.wake_at.is_some_and(|wake| wake <= now) {
            let change = case.due(now);
            case = written(&case, &change);
            if let Some(attempt) = change.attempt {
                collected.push((attempt.period, attempt.origin, now.to_string()));
                case = reported(&case, None, now);
            }
        }
    }
    let expected = [
        (2, ChargeOrigin::Missed, "2027-05-13 12:00:00 UTC".to_owned()),
        (3, ChargeOrigin::Missed, "2027-05-14 12:00:00 UTC".to_owned()),
    ];
    assert_eq!(collected, expected);
    assert_eq!((case.subscription.missed.len(), case.subscription.period.unwrap().number), (0, 4));
}

#[test]
fn periods_canceled_in_between_are_not_missed() {
    let start = at("2027-01-31T09:00:00Z");
    let case = collecting(active(start));
    let ended = written(&case, &case.after(SubscriptionEvent::Cancel, &EventContext::default(), start).unwrap());
    let back = at("2027-06-10T00:00:00Z");
    let resumed = written(&ended, &ended.after(SubscriptionEvent::Resume, &EventContext::default(), back).unwrap());
    let change = resumed.due(back);
    assert!(change.attempt.is_some() && change.subscription.missed.is_empty());
}
