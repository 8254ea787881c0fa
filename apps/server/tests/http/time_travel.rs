//! `POST /control/clock` of the demo: months pass in one request, and every event in them happens.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, tests_with};
use serde_json::{Value, json};

use crate::member::{DemoFixture, Member};
use crate::support::send;

const DAY: i64 = 24 * 3_600;
const YEAR: i64 = 366;

/// Returns a script for a year: a decline followed by a successful retry, one that succeeds two days later, a charge
/// that is pending for hours, and a lost response.
fn script() -> Value {
    json!([
        { "outcome": "succeed", "times": 2 },
        { "outcome": "decline", "reason": "insufficient_funds" },
        { "outcome": "succeed", "times": 2 },
        { "outcome": "pending", "after_seconds": 30_000, "then": "succeed" },
        { "outcome": "decline", "reason": "issuer_unavailable", "times": 2 },
        { "outcome": "succeed" },
        { "outcome": "succeed", "fault": "http_500_after_commit" },
        { "outcome": "succeed", "notifications": "duplicate", "notifies_first": true },
        { "outcome": "succeed", "times": null },
    ])
}

/// Common properties of the charges of two years with different starts.
struct ChargePattern {
    lasts: Vec<TimeDelta>,
    charges: Vec<Value>,
    status: Value,
    ends: TimeDelta,
}

fn moment(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

async fn reported(member: &Member, charges: Vec<Value>) -> ChargePattern {
    let subscription = member.subscription().await;
    // Every attempt as the customer sees it afterwards must match the clock's report.
    let path = format!("/api/counterparty/subscriptions/{}/payments?per_page=100", member.id);
    let seen = send(member.customer_client.request(reqwest::Method::GET, &path)).await.expect(200);
    let payments = seen["data"].as_array().unwrap();
    let begun = moment(&payments.last().unwrap()["created_at"]);
    assert_eq!(payments.len(), charges.len() + 1, "{payments:?} {charges:?}");
    for (payment, charge) in payments.iter().rev().skip(1).zip(&charges) {
        assert_eq!((&payment["id"], &payment["period"]), (&charge["payment_id"], &charge["period"]));
        assert_eq!(charge["amount"], "490.00");
    }
    ChargePattern {
        lasts: charges.iter().map(|charge| moment(&charge["at"]) - begun).collect(),
        charges: payments
            .iter()
            .map(|payment| json!([payment["period"], payment["attempt"], payment["status"]]))
            .collect(),
        status: subscription["status"].clone(),
        ends: moment(&subscription["current_period_end"]) - begun,
    }
}

fn merged(all: &mut Vec<Value>, answer: &Value) {
    for charge in answer["charges"].as_array().unwrap() {
        // A charge that began on the day before has ended on this one.
        match all.iter_mut().find(|known| known["payment_id"] == charge["payment_id"]) {
            Some(known) => *known = charge.clone(),
            None => all.push(charge.clone()),
        }
    }
}

database_tests! {
    async fn a_year_at_once_is_the_year_day_by_day(db: TestDatabase) {
        let other_application = TestDatabase::fresh(db.kind);
        let whole = DemoFixture::open(db).await;
        let member = whole.member().await;
        member.direct(script()).await;
        let year = member.moves(json!({ "advance_seconds": YEAR * DAY })).await.expect(200);
        assert_eq!(year["total"], year["charges"].as_array().unwrap().len());
        assert!(year["moments"].as_u64().unwrap() >= 12, "{year}");
        let year = reported(&member, year["charges"].as_array().unwrap().clone()).await;
        whole.end().await;

        let daily = DemoFixture::open(other_application).await;
        let member = daily.member().await;
        member.direct(script()).await;
        let mut charges = Vec::new();
        for _ in 0..YEAR {
            merged(&mut charges, &member.moves(json!({ "advance_seconds": DAY })).await.expect(200));
        }
        let days = reported(&member, charges).await;
        daily.end().await;

        assert_eq!((year.charges.len(), &year.charges), (days.charges.len(), &days.charges));
        assert_eq!((&year.status, &days.status), (&json!("active"), &json!("active")));
        // One member joined a little later than the other, and retries on salary days come at a fixed hour.
        let near = |(one, other): (&TimeDelta, &TimeDelta)| (*one - *other).abs() < TimeDelta::minutes(10);
        assert!(near((&year.ends, &days.ends)), "{} {}", year.ends, days.ends);
        assert!(year.lasts.iter().zip(&days.lasts).all(near), "{:?} {:?}", year.lasts, days.lasts);
        let failed = year.charges.iter().filter(|charge| charge[2] == "failed").count();
        assert_eq!((failed, year.charges.len()), (3, 16), "thirteen periods are paid: {:?}", year.charges);
    }

    async fn a_dry_run_reports_what_the_import_does(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let member = fixture.member().await;
        let before = (member.subscription().await, member.now().await);
        let days = json!({ "advance_seconds": 400 * DAY, "dry_run": true });
        let predicted = member.moves(days).await.expect(200);
        let would = predicted["would_charge"].as_array().unwrap().clone();
        assert_eq!((would.len(), &predicted["total"]), (13, &json!(13)), "{predicted}");
        assert_eq!(would[0]["at"], json!(moment(&before.0["current_period_end"]).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)));
        assert_eq!(member.subscription().await, before.0, "nothing moved");
        assert!(member.now().await - before.1 < TimeDelta::hours(1));

        let happened = member.moves(json!({ "advance_seconds": 400 * DAY })).await.expect(200);
        let charged: Vec<Value> = happened["charges"].as_array().unwrap().iter().map(|charge| {
            assert_eq!((&charge["state"], &charge["origin"]), (&json!("succeeded"), &json!("renewal")));
            let fields = ["at", "subscription_id", "period", "amount", "currency"];
            fields.iter().map(|field| ((*field).to_owned(), charge[*field].clone())).collect::<serde_json::Map<_, _>>().into()
        }).collect();
        assert_eq!(charged, would);
        // A canceled subscription is not charged.
        member.post(&format!("{}/{}/cancel", crate::subscription_fixture::ROOT, member.id), &json!({})).await.expect(200);
        let none = member.moves(json!({ "advance_seconds": 400 * DAY, "dry_run": true })).await.expect(200);
        assert_eq!(none["would_charge"], json!([]));
        fixture.end().await;
    }

    async fn time_goes_forward_only_and_wrong_fields_are_named(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let member = fixture.member().await;
        let now = member.now().await;
        for (body, complaints) in [
            (json!({}), vec!["advance_seconds: is required"]),
            (json!({ "advance_to": (now - TimeDelta::days(1)).to_rfc3339() }), vec!["advance_to: must not be before"]),
            (json!({ "advance_to": (now + TimeDelta::days(3_700)).to_rfc3339() }), vec!["advance_to: must be at most"]),
            (json!({ "advance_seconds": 1, "advance_to": "2099-01-01T00:00:00Z" }), vec!["must not be sent together"]),
            (
                json!({ "advance_seconds": 1.5, "advance_to": "tomorrow", "dry_run": 1, "days": 3 }),
                vec!["advance_seconds: must be", "advance_to: must be a moment", "dry_run: must be", "days: unknown field"],
            ),
        ] {
            let message = member.moves(body.clone()).await.expect(422)["message"].as_str().unwrap().to_owned();
            assert!(complaints.iter().all(|complaint| message.contains(complaint)), "{body}: {message}");
        }
        assert!(member.now().await - now < TimeDelta::hours(1), "nothing moved");
        let to = now + TimeDelta::days(45);
        let moved = member.moves(json!({ "advance_to": to.to_rfc3339() })).await.expect(200);
        assert_eq!((moment(&moved["now"]), moved["charges"].as_array().unwrap().len()), (to, 1), "{moved}");
        let again = member.moves(json!({ "advance_seconds": 0 })).await.expect(200);
        assert_eq!((&again["charges"], &again["total"]), (&json!([]), &json!(0)));
        // Existing logins stay valid.
        assert_eq!(member.subscription().await["status"], "active");
        fixture.end().await;
    }
}

/// `docs/guides/subscriptions.sh`, run unchanged.
async fn what_the_guide_tries_works_as_it_stands() {
    let fixture = DemoFixture::open(TestDatabase::fresh(Kind::Sqlite)).await;
    let script = include_str!("../../../../docs/guides/subscriptions.sh");
    let shell = tokio::process::Command::new("sh").arg("-c").arg(script).env("DEMO", fixture.demo_file()).output();
    let output = shell.await.unwrap();
    let (text, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    let reported: Vec<&str> = text.lines().filter(|line| !line.starts_with('{')).collect();
    let expected = [
        "paid: \"status\":\"active\"",
        "renewed: 4 payments, \"status\":\"active\"",
        "declined: ",
        "another card: \"status\":\"active\"",
        "canceled: \"status\":\"canceled\"",
        "resumed: \"status\":\"active\"",
    ];
    assert_eq!(reported.len(), expected.len(), "{text}\n{errors}");
    assert!(reported.iter().zip(expected).all(|(line, expected)| line.starts_with(expected)), "{reported:#?}\n{text}");
    let tries: u32 = reported[2].split(' ').nth(1).unwrap().parse().unwrap();
    assert!((2..=5).contains(&tries) && reported[2].ends_with("\"status\":\"past_due\""), "{}", reported[2]);
    assert!(text.contains("\"would_charge\":[{"), "{text}");
    fixture.end().await;
}

tests_with!(curl: what_the_guide_tries_works_as_it_stands);
