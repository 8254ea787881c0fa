//! Commands of staff, and forecasts.

use super::*;

/// Applies a timing command and lets three months pass.
fn after_timing(timing: ScheduleCommand) -> (SubscriptionCase, Vec<String>) {
    let case = active(at("2027-01-31T09:00:00Z"));
    let change = case.change_timing(timing, at("2027-02-10T00:00:00Z")).unwrap();
    assert_eq!(change.notices, [SubscriptionNotice::SubscriptionRescheduled]);
    let case = written(&case, &change);
    let (after, charged) = live(case.clone(), 100, |_| None);
    assert!(after.subscription.missed.is_empty());
    (case, charged.iter().map(|at| at.format("%Y-%m-%d").to_string()).collect())
}

#[test]
fn staff_put_the_next_charge_off() {
    let until = at("2027-04-10T09:00:00Z");
    let (case, charged) = after_timing(ScheduleCommand::PauseUntil(until));
    assert_eq!(charged, ["2027-04-10", "2027-05-10"]);
    let (period, next) = (case.subscription.period.unwrap(), case.subscription.next_charge_at);
    assert_eq!((period.end.to_string(), next), ("2027-02-28 09:00:00 UTC".to_owned(), Some(until)));
    let in_between = at("2027-03-15T00:00:00Z");
    assert!(
        !grants_access(case.subscription.status, Some(period.end), in_between)
            && !case.subscription.is_paid(in_between)
    );
    assert!(case.due(in_between).attempt.is_none());

    let (case, charged) = after_timing(ScheduleCommand::SkipNext);
    assert_eq!(charged, ["2027-03-31", "2027-04-30"]);
    assert_eq!(case.subscription.period.unwrap().end.to_string(), "2027-02-28 09:00:00 UTC");

    let (case, charged) = after_timing(ScheduleCommand::BillingDay(15));
    assert_eq!(charged, ["2027-03-15", "2027-04-15"]);
    assert_eq!(case.subscription.period.unwrap().end.to_string(), "2027-03-15 09:00:00 UTC");
}

#[test]
fn a_refused_postponement_has_a_reason() {
    let now = at("2027-02-10T00:00:00Z");
    let case = active(at("2027-01-31T09:00:00Z"));
    let says = |case: &SubscriptionCase, timing| case.change_timing(timing, now).unwrap_err().to_string();
    let earlier = says(&case, ScheduleCommand::PauseUntil(at("2027-02-20T00:00:00Z")));
    assert!(earlier.contains("must not become shorter"), "{earlier}");
    assert!(says(&case, ScheduleCommand::PauseUntil(now)).contains("must not become shorter"));
    assert!(says(&case, ScheduleCommand::PauseUntil(at("2029-06-01T00:00:00Z"))).contains("two years"));
    assert!(says(&case, ScheduleCommand::BillingDay(32)).contains("a day from 1 to 31"));
    let (past_due, _) = live(case.clone(), 29, |_| Some("insufficient_funds"));
    assert_eq!(says(&past_due, ScheduleCommand::SkipNext), "the subscription is past due");
    let open = written(&case, &case.due(at("2027-02-28T09:00:00Z")));
    assert_eq!(says(&open, ScheduleCommand::BillingDay(32)), "a charge is in progress");
}

#[test]
fn a_parked_subscription_continues_after_review() {
    let now = at("2027-02-28T09:00:00Z");
    let case = active(at("2027-01-31T09:00:00Z"));
    let doubtful = case.after(SubscriptionEvent::ChargeContradicted, &EventContext::default(), now).unwrap();
    assert_eq!(doubtful.notices, [SubscriptionNotice::SubscriptionOnHold]);
    let released = written(&case, &doubtful);
    let once_more = released.after(SubscriptionEvent::ChargeContradicted, &EventContext::default(), now).unwrap();
    assert_eq!(once_more.notices, [], "they know");
    assert_eq!(released.view(None, now).retry, (false, RetryReason::Parked));
    assert_eq!((released.due(now).attempt, released.subscription.wake_at), (None, None));
    let change = released.after(SubscriptionEvent::Release, &EventContext::default(), now).unwrap();
    assert_eq!((change.subscription.parked, change.subscription.wake_at), (None, Some(now)));
    let again = written(&released, &change).after(SubscriptionEvent::Release, &EventContext::default(), now);
    assert_eq!(again.unwrap_err().to_string(), "the subscription is not parked");
}

#[test]
fn a_forecast_is_what_a_life_charges() {
    let start = at("2027-01-31T09:00:00Z");
    let yearly = Terms { amount: "4900.00".parse().unwrap(), billing_months: 12, ..terms() };
    let consent =
        ConsentedTerms { terms: yearly, text_version: "1".to_owned(), at: start, address: None, application: None };
    let agreed = EventContext { consent: Some(consent), ..EventContext::default() };
    let change = active(start).after(SubscriptionEvent::ChangePlan, &agreed, start).unwrap();
    let changing = written(&active(start), &change);
    let (owing, tried) = live(active(start), 29, |_| Some("insufficient_funds"));
    assert_eq!(owing.subscription.status, SubscriptionStatus::PastDue, "{tried:?}");
    for (case, days) in [(active(start), 3_653), (changing, 1_000), (owing, 0)] {
        let begin = case.subscription.period.unwrap().start;
        let until = begin + TimeDelta::days(days.max(60));
        let (_, charged) = live(case.clone(), days.max(60), |_| None);
        let predicted = forecast(&case, begin, until);
        // A simulated life is checked every six hours.
        let near = |one: &DateTime<Utc>, other: &DateTime<Utc>| *one - *other < TimeDelta::hours(6) && one >= other;
        assert_eq!(predicted.len(), charged.len(), "{predicted:?} {charged:?}");
        assert!(
            charged.iter().zip(&predicted).all(|(lived, predicted)| near(lived, &predicted.at)),
            "{predicted:?} {charged:?}"
        );
        assert!(predicted.is_sorted_by(|one, next| one.at < next.at && one.period < next.period));
    }
    let canceled = active(start).after(SubscriptionEvent::Cancel, &EventContext::default(), start).unwrap();
    assert_eq!(forecast(&written(&active(start), &canceled), start, start + TimeDelta::days(400)), []);
}

#[test]
fn overdue_charges_are_forecast_for_now() {
    let (case, now) = (active(at("2027-01-31T09:00:00Z")), at("2027-05-20T00:00:00Z"));
    let predicted = forecast(&case, now, at("2027-06-30T00:00:00Z"));
    let moments: Vec<String> = predicted.iter().map(|charge| charge.at.to_string()).collect();
    assert_eq!(moments, ["2027-05-20 00:00:00 UTC", "2027-05-31 09:00:00 UTC"]);
}
