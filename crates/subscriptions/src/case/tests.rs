//! Lives of subscriptions, without a database: what follows is applied as a storage would.

use kontor_kernel::{CounterpartyId, NomenclatureId, OrderId, ProjectId, SubscriptionId, SubscriptionPaymentId};

use super::*;
use crate::access::grants_access;
use crate::forecast::forecast;
use crate::terms::Terms;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn terms() -> Terms {
    Terms {
        plan: NomenclatureId::new(1).unwrap(),
        plan_slug: "gold".to_owned(),
        amount: "990.00".parse().unwrap(),
        currency: "RUB".to_owned(),
        billing_months: 1,
        method: SavedMethodId::new(1).ok(),
    }
}

/// A subscription whose first charge is open.
fn begun(now: DateTime<Utc>) -> SubscriptionCase {
    let subscription = Subscription {
        id: SubscriptionId::new(1).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        application_id: None,
        counterparty_id: CounterpartyId::new(1).unwrap(),
        status: SubscriptionStatus::Charging,
        terms: terms(),
        next_terms: None,
        schedule: None,
        period: None,
        unpaid: None,
        next_charge_at: None,
        wake_at: None,
        canceled_at: None,
        parked: None,
        created_at: now,
    };
    let first = NewAttempt { period: 1, number: 1, origin: ChargeOrigin::First, planned: false, terms: terms() };
    let mut case = SubscriptionCase {
        subscription,
        zone: Zone::default(),
        policy: SubscriptionPolicy::default(),
        plan: PlanStanding::Available,
        method_active: true,
        attempts: Vec::new(),
        method_tries: Vec::new(),
        paid_at: Vec::new(),
        customer_paid_at: Vec::new(),
    };
    open(&mut case, &first, now);
    case
}

fn open(case: &mut SubscriptionCase, new: &NewAttempt, now: DateTime<Utc>) {
    let id = i64::from(new.period) * 100 + i64::from(new.number);
    case.attempts.retain(|attempt| attempt.period == new.period);
    case.attempts.push(Attempt {
        id: SubscriptionPaymentId::new(id).unwrap(),
        period: new.period,
        number: new.number,
        origin: new.origin,
        planned: new.planned,
        state: AttemptState::Processing,
        order: OrderId::new(id).unwrap(),
        amount: new.terms.amount,
        currency: new.terms.currency.clone(),
        method: new.terms.method,
        reason: None,
        started_at: now,
        ended_at: None,
    });
    case.method_tries.push(now);
}

/// Writes a change, as a storage would.
fn written(case: &SubscriptionCase, change: &SubscriptionChange) -> SubscriptionCase {
    let mut after = case.followed_by(change);
    if let Some(attempt) = &change.attempt {
        open(&mut after, attempt, change.at);
    }
    if change.ended == Some(AttemptEnd::Succeeded) {
        after.paid_at.push(change.at);
        after.customer_paid_at.push(change.at);
    }
    let lately = change.at - TimeDelta::days(31);
    after.paid_at.retain(|moment| *moment > lately);
    after.customer_paid_at.retain(|moment| *moment > lately);
    after.method_tries.retain(|moment| *moment > lately);
    after
}

fn told(case: &SubscriptionCase, reason: Option<&str>, now: DateTime<Utc>) -> SubscriptionCase {
    let occasion = Occasion { reason: reason.map(str::to_owned), ..Occasion::default() };
    let standing = if reason.is_some() { PaymentStanding::Failed } else { PaymentStanding::Succeeded };
    written(case, &case.heard(standing, &occasion, now).unwrap().unwrap())
}

fn active(now: DateTime<Utc>) -> SubscriptionCase {
    told(&begun(now), None, now)
}

/// One word of the acquirer for every charge, as days go by. Returns the charges, by day.
fn live(
    mut case: SubscriptionCase,
    days: i64,
    says: impl Fn(usize) -> Option<&'static str>,
) -> (SubscriptionCase, Vec<DateTime<Utc>>) {
    let mut charged = Vec::new();
    let mut now = case.subscription.period.map_or_else(|| at("2027-01-31T09:00:00Z"), |period| period.start);
    for _ in 0..days * 4 {
        now += TimeDelta::hours(6);
        while case.subscription.wake_at.is_some_and(|wake| wake <= now) {
            let change = case.due(now);
            let before = case.subscription.clone();
            case = written(&case, &change);
            if change.attempt.is_some() {
                case = told(&case, says(charged.len()), now);
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
    (case, charged)
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
        let paid = told(&written(&case, &change), None, now);
        let period = paid.subscription.period.unwrap();
        assert!(period.covers(now) && period.number == attempt.period, "{days}");
        assert!(paid.due(now).attempt.is_none());
        assert!(paid.subscription.wake_at.unwrap() > now);
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
    let agreed = Occasion { consent: Some(consent), ..Occasion::default() };
    let change = case.after(SubscriptionEvent::ChangePlan, &agreed, start).unwrap();
    let case = written(&case, &change);
    assert_eq!(
        (case.subscription.terms.amount.to_string(), case.subscription.status),
        ("990.00".to_owned(), SubscriptionStatus::Active)
    );
    let due = at("2027-02-28T09:00:00Z");
    let change = case.due(due);
    assert_eq!(change.attempt.as_ref().unwrap().terms, silver);
    let case = told(&written(&case, &change), None, due);
    assert_eq!(case.subscription.terms, silver);
    assert_eq!(case.subscription.period.unwrap().end.to_string(), "2027-05-31 09:00:00 UTC");
}

#[test]
fn a_second_payment_on_a_day_is_looked_at_by_people() {
    let now = at("2027-02-28T09:00:00Z");
    let case = SubscriptionCase { paid_at: vec![now], ..active(at("2027-01-31T09:00:00Z")) };
    let change = case.due(now);
    assert_eq!((change.attempt.is_none(), change.subscription.parked), (true, Some(Park::PaidToday)));
    assert_eq!((change.subscription.wake_at, change.subscription.status), (None, SubscriptionStatus::Active));
}

#[test]
fn a_forecast_is_what_a_life_charges() {
    let start = at("2027-01-31T09:00:00Z");
    let yearly = Terms { amount: "4900.00".parse().unwrap(), billing_months: 12, ..terms() };
    let consent =
        ConsentedTerms { terms: yearly, text_version: "1".to_owned(), at: start, address: None, application: None };
    let agreed = Occasion { consent: Some(consent), ..Occasion::default() };
    let change = active(start).after(SubscriptionEvent::ChangePlan, &agreed, start).unwrap();
    let changing = written(&active(start), &change);
    let (owing, tried) = live(active(start), 29, |_| Some("insufficient_funds"));
    assert_eq!(owing.subscription.status, SubscriptionStatus::PastDue, "{tried:?}");
    for (case, days) in [(active(start), 3_653), (changing, 1_000), (owing, 0)] {
        let begin = case.subscription.period.unwrap().start;
        let until = begin + TimeDelta::days(days.max(60));
        let (_, charged) = live(case.clone(), days.max(60), |_| None);
        let foreseen = forecast(&case, begin, until);
        // A life is looked at every six hours.
        let near = |one: &DateTime<Utc>, other: &DateTime<Utc>| *one - *other < TimeDelta::hours(6) && one >= other;
        assert_eq!(foreseen.len(), charged.len(), "{foreseen:?} {charged:?}");
        assert!(
            charged.iter().zip(&foreseen).all(|(lived, foreseen)| near(lived, &foreseen.at)),
            "{foreseen:?} {charged:?}"
        );
        assert!(foreseen.is_sorted_by(|one, next| one.at < next.at && one.period < next.period));
    }
    let canceled = active(start).after(SubscriptionEvent::Cancel, &Occasion::default(), start).unwrap();
    assert_eq!(forecast(&written(&active(start), &canceled), start, start + TimeDelta::days(400)), []);
}

#[test]
fn what_waited_is_foreseen_for_now() {
    let (case, now) = (active(at("2027-01-31T09:00:00Z")), at("2027-05-20T00:00:00Z"));
    let foreseen = forecast(&case, now, at("2027-06-30T00:00:00Z"));
    let moments: Vec<String> = foreseen.iter().map(|charge| charge.at.to_string()).collect();
    assert_eq!(moments, ["2027-05-20 00:00:00 UTC", "2027-05-31 09:00:00 UTC"]);
}
