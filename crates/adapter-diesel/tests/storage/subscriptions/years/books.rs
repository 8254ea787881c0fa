//! Invariants of subscriptions.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamp};
use kontor_adapter_diesel::{Abort, AnyConnection};
use kontor_kernel::{StoreError, Zone};
use kontor_payments::model::GatewayStatus;

use super::SubscriptionFixture;

/// Subscriptions that are active although their period has ended, and wait for nothing.
pub fn active_and_unpaid(now: DateTime<Utc>) -> String {
    let now = now.format("%Y-%m-%d %H:%M:%S");
    format!(
        "subscriptions WHERE status = 'active' AND period_end <= '{now}' AND parked IS NULL \
         AND (next_charge_at IS NULL OR next_charge_at <= '{now}') AND wake_at <= '{now}'"
    )
}

#[derive(QueryableByName)]
struct AttemptRow {
    #[diesel(sql_type = BigInt)]
    subscription_id: i64,
    #[diesel(sql_type = BigInt)]
    period: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    saved_method_id: Option<i64>,
    #[diesel(sql_type = Text)]
    origin: String,
    #[diesel(sql_type = diesel::sql_types::Bool)]
    planned: bool,
    #[diesel(sql_type = Timestamp)]
    started_at: NaiveDateTime,
    #[diesel(sql_type = Text)]
    state: String,
}

#[derive(QueryableByName)]
struct EventRow {
    #[diesel(sql_type = BigInt)]
    subscription_id: i64,
    #[diesel(sql_type = BigInt)]
    counterparty_id: i64,
    #[diesel(sql_type = Text)]
    event: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = Text)]
    changes: String,
    #[diesel(sql_type = Timestamp)]
    created_at: NaiveDateTime,
}

#[derive(QueryableByName)]
struct NoticeRow {
    #[diesel(sql_type = BigInt)]
    counterparty_id: i64,
    #[diesel(sql_type = Text)]
    code: String,
    #[diesel(sql_type = Timestamp)]
    created_at: NaiveDateTime,
}

/// Events and notices of a customer, a line each.
fn story(customer: i64, events: &[EventRow], notices: &[NoticeRow]) -> String {
    let happened = events.iter().filter(|one| one.counterparty_id == customer).map(|one| {
        let EventRow { subscription_id, event, status, changes, created_at, .. } = one;
        (created_at, format!("{created_at} subscription {subscription_id}: {event}, {status} {changes}"))
    });
    let reported = notices.iter().filter(|one| one.counterparty_id == customer);
    let reported = reported.map(|one| (&one.created_at, format!("{} notice: {}", one.created_at, one.code)));
    let mut lines: Vec<_> = happened.chain(reported).collect();
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Limits: 8 planned attempts of a period and 8 requested ones, one planned attempt per local day, 15 attempts of a
/// method in 30 days.
fn tries(attempts: &[AttemptRow], wrong: &mut Vec<String>) {
    let zone = Zone::default();
    let (mut of_period, mut of_day, mut of_method) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for attempt in attempts {
        let at = attempt.started_at.and_utc();
        *of_period.entry((attempt.subscription_id, attempt.period, attempt.planned)).or_insert(0_u32) += 1;
        if attempt.planned && attempt.origin == "recovery" {
            *of_day.entry((attempt.subscription_id, attempt.period, zone.local(at).date())).or_insert(0_u32) += 1;
        }
        if let Some(method) = attempt.saved_method_id {
            of_method.entry(method).or_insert_with(Vec::new).push(at);
        }
    }
    wrong.extend(
        of_period.iter().filter(|(_, tries)| **tries > 8).map(|(key, tries)| format!("{tries} tries of {key:?}")),
    );
    wrong.extend(
        of_day.iter().filter(|(_, tries)| **tries > 1).map(|(key, tries)| format!("{tries} planned on {key:?}")),
    );
    for (method, moments) in of_method {
        let crowded = moments.windows(16).find(|window| window[15] - window[0] < TimeDelta::days(30));
        wrong.extend(crowded.map(|window| format!("16 tries of method {method} since {}", window[0])));
    }
}

/// Checks of the rows of a project with subscriptions.
pub struct Books<'a, 'b> {
    pub fixture: &'a SubscriptionFixture<'b>,
}

impl Books<'_, '_> {
    pub async fn count(&self, state: &str) -> u64 {
        let count = self.fixture.shop.count(&format!("subscription_payments WHERE state = '{state}'")).await;
        u64::try_from(count).unwrap()
    }

    async fn sum(&self, query: &str) -> i64 {
        self.fixture.shop.stock_fixture.number(format!("SELECT CAST(coalesce({query}, 0) AS BIGINT) AS number")).await
    }

    async fn rows<T>(&self, query: &'static str) -> Vec<T>
    where
        T: QueryableByName<<AnyConnection as Connection>::Backend> + Send + 'static,
    {
        let read = self.fixture.shop.stock_fixture.db.database.read(move |connection| {
            let rows = diesel::sql_query(query).load(connection)?;
            Ok::<_, Abort<StoreError>>(rows)
        });
        read.await.unwrap()
    }

    /// All violations.
    pub async fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.money(&mut wrong).await;
        self.periods(&mut wrong).await;
        let attempts = self.attempts().await;
        tries(&attempts, &mut wrong);
        self.notices(&attempts, &mut wrong).await;
        wrong
    }

    /// Captured money equals the consented price of the paid periods; other money has been refunded.
    async fn money(&self, wrong: &mut Vec<String>) {
        let (captured, refunded) = {
            let acquirer = &self.fixture.shop.acquirer;
            let paid = acquirer.payments.lock().unwrap();
            let paid = paid.iter().filter(|(_, payment)| payment.status == GatewayStatus::Succeeded);
            let captured: i64 = paid.map(|(_, payment)| payment.amount.minor()).sum();
            let back = acquirer.refunds.lock().unwrap();
            let back = back.iter().filter(|(_, refund)| refund.status == GatewayStatus::Succeeded);
            (captured, back.map(|(_, refund)| refund.amount.minor()).sum::<i64>())
        };
        let periods = self.sum("(SELECT sum(amount) FROM subscription_payments WHERE state = 'succeeded')").await;
        let unwanted = self
            .sum(
                "(SELECT sum(c.amount) FROM charges c WHERE c.state = 'succeeded' AND EXISTS (SELECT 1 FROM \
                 subscription_payments a WHERE a.charge_id = c.id AND a.state = 'failed'))",
            )
            .await;
        if captured != periods + unwanted {
            wrong.push(format!("captured {captured}, periods {periods}, for canceled orders {unwanted}"));
        }
        let booked = self.sum("(SELECT sum(amount) FROM refunds WHERE state = 'succeeded')").await;
        if refunded != booked {
            wrong.push(format!("{refunded} went back, {booked} are in the books"));
        }
        let kept = "charges c WHERE c.state = 'succeeded' AND EXISTS (SELECT 1 FROM subscription_payments a \
                    WHERE a.charge_id = c.id AND a.state = 'failed') AND c.amount <> (SELECT coalesce(sum(r.amount), 0) \
                    FROM refunds r WHERE r.charge_id = c.id AND r.state IN ('succeeded', 'pending'))";
        let unagreed = "subscription_payments a WHERE NOT EXISTS (SELECT 1 FROM subscription_consents n WHERE \
                        n.subscription_id = a.subscription_id AND n.amount = a.amount AND n.currency = a.currency \
                        AND n.created_at <= a.started_at)";
        let open = "subscription_payments WHERE state IN ('processing', 'needs_reconciliation')";
        let apart = "subscription_payments a JOIN charges c ON c.id = a.charge_id JOIN orders o ON o.id = a.order_id \
                     WHERE a.state = 'succeeded' AND (c.state <> 'succeeded' OR o.paid_at IS NULL)";
        for (rows, what) in [
            (kept, "payments for canceled orders that were kept"),
            (unagreed, "attempts at a price that nobody consented to"),
            (open, "attempts without an outcome"),
            (apart, "paid periods whose order or charge is not"),
        ] {
            self.none(rows, what, wrong).await;
        }
    }

    async fn none(&self, rows: &str, what: &str, wrong: &mut Vec<String>) {
        let found = self.fixture.shop.count(rows).await;
        if found > 0 {
            wrong.push(format!("{found} {what}"));
        }
    }

    /// Checks periods and plans: no period is paid twice or granted without a payment, and no subscription remains in
    /// the state `charging`. A plan has one subscription per customer, and deleted customers have none.
    async fn periods(&self, wrong: &mut Vec<String>) {
        let twice = "(SELECT 1 FROM subscription_payments WHERE state = 'succeeded' GROUP BY subscription_id, period \
                     HAVING count(*) > 1) AS twice";
        let ungranted = "subscriptions s WHERE s.period_number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \
                         subscription_payments a WHERE a.subscription_id = s.id AND a.period = s.period_number AND \
                         a.state = 'succeeded')";
        let charging = "subscriptions WHERE status = 'charging'";
        let pairs = "(SELECT 1 FROM (SELECT s.id, s.counterparty_id, s.nomenclature_id AS plan FROM subscriptions s WHERE \
                     s.status <> 'canceled' UNION SELECT s.id, s.counterparty_id, n.nomenclature_id FROM subscriptions s \
                     JOIN subscription_consents n ON n.id = s.next_consent_id WHERE s.status <> 'canceled') AS named \
                     GROUP BY counterparty_id, plan HAVING count(DISTINCT id) > 1) AS pairs";
        let gone = "subscriptions s JOIN counterparties c ON c.id = s.counterparty_id WHERE c.deleted_at IS NOT NULL AND \
                    s.status <> 'canceled'";
        for (rows, what) in [
            (twice, "periods paid twice"),
            (ungranted, "periods granted that nobody paid"),
            (charging, "subscriptions that charge for ever"),
            (pairs, "subscriptions of one customer to one plan"),
            (gone, "subscriptions of customers who left"),
        ] {
            self.none(rows, what, wrong).await;
        }
    }

    async fn attempts(&self) -> Vec<AttemptRow> {
        self.rows(
            "SELECT subscription_id, period, saved_method_id, origin, planned, started_at, state FROM \
             subscription_payments ORDER BY id",
        )
        .await
    }

    /// Checks that each charge of a period after a paid one is announced once, and each payment reported once.
    async fn notices(&self, attempts: &[AttemptRow], wrong: &mut Vec<String>) {
        let events: Vec<EventRow> = self
            .rows(
                "SELECT e.subscription_id, s.counterparty_id, e.event, e.status, e.changes, e.created_at FROM \
                 subscription_events e JOIN subscriptions s ON s.id = e.subscription_id JOIN counterparties c ON \
                 c.id = s.counterparty_id WHERE c.deleted_at IS NULL ORDER BY e.subscription_id, e.id",
            )
            .await;
        let notices: Vec<NoticeRow> = self
            .rows(
                "SELECT n.counterparty_id, n.code, n.created_at FROM notifications n JOIN counterparties c ON \
                 c.id = n.counterparty_id WHERE c.deleted_at IS NULL ORDER BY n.id",
            )
            .await;
        let mut of_subscriptions: BTreeMap<i64, Vec<&AttemptRow>> = BTreeMap::new();
        for attempt in attempts {
            of_subscriptions.entry(attempt.subscription_id).or_default().push(attempt);
        }
        // For each customer: notices before charges and of payments, expected and sent.
        let mut of_customers: BTreeMap<i64, [u32; 4]> = BTreeMap::new();
        // Period of the last notice: a period that waited for an operator may be over when it is charged.
        let (mut reported, mut of) = (None, 0);
        for EventRow { subscription_id, counterparty_id, event, status, created_at, .. } in &events {
            let [expected, renewed, _, _] = of_customers.entry(*counterparty_id).or_default();
            if *subscription_id != of {
                (of, reported) = (*subscription_id, None);
            }
            let attempts = of_subscriptions.get(subscription_id).map(Vec::as_slice).unwrap_or_default();
            match event.as_str() {
                "charge_announced" => {
                    let paid = attempts.iter().filter(|one| one.state == "succeeded" && one.started_at <= *created_at);
                    let next = paid.map(|one| one.period + 1).max();
                    if reported == next {
                        wrong.push(format!("subscription {of} was told twice of one charge"));
                    }
                    (reported, *expected) = (next, *expected + 1);
                }
                "period_due" if status == "charging" => {
                    let charged = attempts.iter().find(|one| one.started_at == *created_at).map(|one| one.period);
                    if reported != charged {
                        (reported, *expected) = (charged, *expected + 1);
                    }
                }
                "charge_succeeded" if status != "canceled" => *renewed += 1,
                "pause" | "skip" | "move_day" | "resume" | "plan_withdrawn" | "change_plan" => reported = None,
                _ => {}
            }
        }
        for NoticeRow { counterparty_id, code, .. } in &notices {
            let [_, _, ahead, paid] = of_customers.entry(*counterparty_id).or_default();
            match code.as_str() {
                "subscription_charge_ahead" => *ahead += 1,
                "subscription_activated" | "subscription_renewed" | "subscription_missed_paid" => *paid += 1,
                _ => {}
            }
        }
        for (customer, [expected, renewed, ahead, paid]) in of_customers {
            if (ahead, paid) == (expected, renewed) {
                continue;
            }
            wrong.push(format!(
                "customer {customer}: {ahead} notices before charges instead of {expected}, {paid} of payments instead of \
                 {renewed}\n{}",
                story(customer, &events, &notices)
            ));
        }
    }

    /// Checks that each of these falsifications is detected.
    pub async fn notice_what_is_falsified(&self) {
        let a_payment =
            "(SELECT min(id) FROM subscription_payments WHERE state = 'succeeded' AND saved_method_id IS NOT NULL)";
        for (falsify, restore) in [
            (
                "UPDATE subscription_payments SET amount = amount + 1 WHERE id = ",
                "UPDATE subscription_payments SET amount = amount - 1 WHERE id = ",
            ),
            (
                "UPDATE subscription_payments SET period = period + 1000 WHERE id = ",
                "UPDATE subscription_payments SET period = period - 1000 WHERE id = ",
            ),
        ] {
            let mine = |statement: &str| format!("{statement}{a_payment}");
            let before = self.wrong().await;
            // Changes the last paid period, so that one of them is missing.
            let of_last = "UPDATE subscription_payments SET period = period + 1000 WHERE id IN (SELECT max(id) FROM \
                           subscription_payments WHERE state = 'succeeded' GROUP BY subscription_id)";
            let last = falsify.contains("period");
            self.fixture.shop.stock_fixture.run(if last { of_last.to_owned() } else { mine(falsify) }).await;
            assert!(before.is_empty() && !self.wrong().await.is_empty(), "{falsify} is not noticed");
            let back = of_last.replace("period + 1000", "period - 1000");
            self.fixture.shop.stock_fixture.run(if last { back } else { mine(restore) }).await;
        }
        for falsify in [
            "UPDATE subscriptions SET status = 'charging', canceled_at = NULL WHERE id = (SELECT min(id) FROM subscriptions)",
            "UPDATE notifications SET code = 'subscription_ended' WHERE id = (SELECT max(id) FROM notifications WHERE code = \
             'subscription_renewed' AND EXISTS (SELECT 1 FROM counterparties c WHERE c.id = counterparty_id AND c.deleted_at \
             IS NULL))",
        ] {
            self.fixture.shop.stock_fixture.run(falsify.to_owned()).await;
            assert!(!self.wrong().await.is_empty(), "{falsify} is not noticed");
        }
    }
}
