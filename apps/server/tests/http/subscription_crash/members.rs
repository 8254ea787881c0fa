//! Customers with subscriptions, due periods, and the expected payments at the acquirer.

use std::time::{Duration, Instant};

use chrono::{DateTime, Months, TimeDelta, Utc};
use kontor::adapters::SystemClock;
use kontor_adapter_diesel::retry_until;
use kontor_kernel::{Clock as _, Zone};
use kontor_subscriptions::Anchor;
use reqwest::Method;
use serde_json::{Value, json};

use crate::crash::PAUSES_PASS;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::subscription_fixture::ROOT;
use crate::support::send;

const MEMBERS: i64 = 6;
/// Prices of the plans, in hundredths. Every member has all of them.
const PRICES: [i64; 3] = [10_001, 20_002, 30_003];
/// Counts attempts without an outcome.
const OPEN: &str = "SELECT count(*) AS id FROM subscription_payments WHERE ended_at IS NULL";

/// A project with subscriptions.
pub struct Members {
    pub environment: ProcessEnvironment,
    owner_client: OwnerClient,
    /// The acquirer's identifiers of the charged methods, one of each member.
    pub cards: Vec<String>,
    /// Number of periods after the first one.
    pub rounds: u32,
    pub expected: Expected,
}

/// Expected payments at the acquirer.
#[derive(Default)]
pub struct Expected {
    pub succeeded: i64,
    pub declined: i64,
    /// In hundredths.
    pub taken: i64,
}

fn plans() -> i64 {
    i64::try_from(PRICES.len()).unwrap()
}

/// Returns the number of subscriptions.
pub fn subscriptions() -> i64 {
    MEMBERS * plans()
}

impl Members {
    /// Subscribes every member to every plan. Each member pays the first periods with one payment.
    pub async fn join(environment: ProcessEnvironment) -> Self {
        let owner_client = OwnerClient::sign_in(&environment, environment.create_project("owner")).await;
        let warehouse = json!({ "name": "Main", "branch_id": owner_client.project["branch_id"] });
        send(owner_client.request(Method::POST, "/api/warehouses").json(&warehouse)).await.expect(201);
        let assignments =
            format!("/api/applications/{}/subscription-nomenclatures", owner_client.project["application_id"]);
        let mut offered = Vec::new();
        for (number, price) in PRICES.into_iter().enumerate() {
            let card = json!({
                "name": format!("Plan {number}"), "kind_id": 1, "is_subscription": true, "billing_period_months": 1,
                "price": format!("{}.{:02}", price / 100, price % 100),
            });
            let made = send(owner_client.request(Method::POST, "/api/nomenclatures").json(&card)).await.expect(201);
            let plan = made.as_object().unwrap().values().next().unwrap()["id"].clone();
            let assignment = json!({ "nomenclature_id": plan, "plan_slug": format!("plan-{number}") });
            send(owner_client.request(Method::POST, &assignments).json(&assignment)).await.expect(201);
            offered.push(plan);
        }
        let mut members =
            Self { environment, owner_client, cards: Vec::new(), rounds: 0, expected: Expected::default() };
        for number in 0..MEMBERS {
            let front = &members.owner_client.front;
            let customer_client = front.sign_in(&format!("7900555020{number}")).await;
            let checkout = json!({ "nomenclature_ids": offered, "autopay_consent": true });
            let begun = customer_client.request(Method::POST, &format!("{ROOT}/checkout")).json(&checkout);
            let order = send(begun).await.expect(201)["order_id"].as_i64().unwrap();
            front.pay(order).await;
            let payment = front.payment_of(order).await;
            members.cards.push(payment["id"].as_str().unwrap().to_owned());
        }
        members.expected.succeeded = MEMBERS;
        members.expected.taken = MEMBERS * PRICES.iter().sum::<i64>();
        members.settle().await;
        members
    }

    /// Sets the outcomes of the next charges of a member.
    pub async fn direct(&self, member: usize, steps: Value) {
        let path = format!("{}/control/payment_methods/{}/script", self.environment.sandbox.url(), self.cards[member]);
        send(self.environment.http.post(path).json(&json!({ "steps": steps }))).await.expect(200);
    }

    /// Makes the next period of every subscription due for three days, without a charge since. Some charges will
    /// decline.
    ///
    /// The clock of a process cannot be moved, so all stored times move back.
    pub async fn fall_due(&mut self, declining: i64) {
        self.rounds += 1;
        let first = SystemClock.now() - TimeDelta::days(3);
        let first = first.checked_sub_months(Months::new(self.rounds)).unwrap();
        let anchor = Anchor::new(first, Zone::default(), 1).unwrap();
        let schedule = json!([{
            "from": 1, "first": first.to_rfc3339(), "zone": anchor.zone().name(), "months": anchor.months(), "day": anchor.day(),
        }]);
        let text = |moment: DateTime<Utc>| moment.format("%Y-%m-%d %H:%M:%S").to_string();
        let last = text(anchor.period(self.rounds).unwrap().start);
        let due = text(anchor.period(self.rounds + 1).unwrap().start);
        let mut statements =
            vec![format!("UPDATE subscription_payments SET started_at = '{last}', ended_at = '{last}'")];
        for number in 1..=self.rounds {
            let period = anchor.period(number).unwrap();
            let (start, end) = (text(period.start), text(period.end));
            statements.push(format!(
                "UPDATE subscriptions SET period_start = '{start}', period_end = '{end}' WHERE period_number = {number}"
            ));
        }
        statements.push(format!(
            "UPDATE subscriptions SET schedule = '{schedule}', next_charge_at = '{due}', wake_at = '{due}'"
        ));
        self.environment.execute(&statements).await;
        let paying = MEMBERS - declining;
        self.expected.succeeded += paying * plans();
        self.expected.declined += declining * plans();
        self.expected.taken += paying * PRICES.iter().sum::<i64>();
    }

    /// Returns the number of open attempts.
    pub async fn open(&self) -> i64 {
        self.environment.number(OPEN).await
    }

    /// Returns the number of attempts that ended since subscriptions fell due.
    pub async fn ended(&self) -> i64 {
        let ended = "SELECT count(*) AS id FROM subscription_payments WHERE ended_at IS NOT NULL";
        self.environment.number(ended).await - subscriptions() * i64::from(self.rounds)
    }

    /// Returns `true` if every subscription was charged since it fell due, with a known outcome.
    pub async fn is_settled(&self) -> bool {
        let charges = "SELECT count(*) AS id FROM charges WHERE state IN ('prepared', 'pending')";
        self.ended().await >= subscriptions() && self.environment.number(charges).await == 0
    }

    /// Waits until all charges have outcomes.
    pub async fn settle(&self) {
        let until = Instant::now() + PATIENCE;
        while !self.is_settled().await {
            let (ended, open) = (self.ended().await, self.open().await);
            self.environment.execute(&PAUSES_PASS).await;
            retry_until!(until, every Duration::from_millis(50), "{ended} attempts have ended, {open} are open");
        }
    }

    /// Returns the payment at the acquirer of the only open attempt. It is null without a payment, and `None` without an
    /// attempt. One statement reads both: the attempt may end at any time.
    pub async fn payment(&self) -> Option<Value> {
        let only = "SELECT CASE count(*) WHEN 0 THEN 0 WHEN 1 THEN max(order_id) ELSE -1 END AS id \
            FROM subscription_payments WHERE ended_at IS NULL";
        match self.environment.number(only).await {
            0 => None,
            order => {
                assert!(order > 0, "one subscription is charged at a time");
                Some(self.owner_client.front.payment_of(order).await)
            }
        }
    }
}
