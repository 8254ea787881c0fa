//! The client against the emulated acquirer, and against servers that are not the acquirer.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod receipts;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_acquirer::{AcquirerClient, AcquirerConfig};
use kontor_kernel::{FixedClock, Money, OrderId, SavedMethodId, SubscriptionId, VerificationId};
use kontor_payments::model::{
    ChargePurpose, ChargeRequest, GatewayPayment, GatewayStatus, MethodReference, PaymentMethod, ProviderId,
    RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;

struct AcquirerFixture {
    sandbox: SandboxHandle,
    client: AcquirerClient,
    http: reqwest::Client,
}

fn at() -> DateTime<Utc> {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn config(url: &str) -> AcquirerConfig {
    let secret = "test_sandbox_secret_key".to_owned().into();
    AcquirerConfig { timeout: Duration::from_secs(3), ..AcquirerConfig::new(format!("{url}/v3"), "100500", secret) }
}

fn request(key: u128) -> ChargeRequest {
    ChargeRequest {
        renewal: None,
        purpose: ChargePurpose::Order(OrderId::new(7).unwrap()),
        key: Uuid::from_u128(key),
        amount: Money::from_minor(26_550).unwrap(),
        currency: "RUB".to_owned(),
        method: PaymentMethod::BankCard,
        description: "Order 7".to_owned(),
        return_url: "https://shop.example/7".to_owned(),
        save_method: false,
        saved_method: None,
        receipt: None,
    }
}

impl AcquirerFixture {
    async fn start() -> Self {
        let sandbox = Sandbox::start(SandboxConfig::new(Arc::new(FixedClock::at(at())))).await.unwrap();
        let client = AcquirerClient::new(config(sandbox.url())).unwrap();
        Self { sandbox, client, http: reqwest::Client::new() }
    }

    async fn control(&self, path: &str, body: Value) {
        let url = format!("{}/control{path}", self.sandbox.url());
        let response = self.http.post(url).json(&body).send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    }

    async fn payments(&self) -> usize {
        let url = format!("{}/control/payments", self.sandbox.url());
        let list: Value = self.http.get(url).send().await.unwrap().json().await.unwrap();
        list["payments"].as_array().unwrap().len()
    }

    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        self.client.create(request).await
    }
}

#[tokio::test]
async fn a_payment_is_created_read_and_found() {
    let fixture = AcquirerFixture::start().await;
    let request = request(1);
    let Answer::Known(created) = fixture.create(&request).await else { panic!("not created") };
    assert_eq!((created.status, created.amount), (GatewayStatus::Pending, request.amount));
    assert_eq!((created.purpose, created.key), (Some(request.purpose), Some(request.key)));
    assert!(created.confirmation_url.as_ref().is_some_and(|url| url.starts_with("http")));
    assert_eq!(fixture.create(&request).await, Answer::Known(created.clone()), "the key works once");
    assert_eq!(fixture.payments().await, 1);

    fixture.control(&format!("/payments/{}", created.id), json!({ "outcome": "succeed" })).await;
    let Reading::Known(paid) = fixture.client.read(&created.id).await else { panic!("not read") };
    assert_eq!((paid.status, paid.id), (GatewayStatus::Succeeded, created.id.clone()));
    for n in 2..=120 {
        fixture.create(&self::request(n)).await;
    }
    let since = at() - TimeDelta::minutes(5);
    assert!(matches!(fixture.client.find(&request, since).await, Reading::Known(found) if found.id == created.id));
    assert_eq!(fixture.client.find(&self::request(999), since).await, Reading::Absent);
    let nobody = ProviderId::parse("22e12f66-000f-5000-8000-18db351245c7").unwrap();
    assert_eq!(fixture.client.read(&nobody).await, Reading::Absent);
}

impl AcquirerFixture {
    /// Returns a captured payment.
    async fn paid(&self, key: u128) -> GatewayPayment {
        let purpose = ChargePurpose::Verification(VerificationId::new(3).unwrap());
        let request = ChargeRequest { purpose, method: PaymentMethod::Sbp, ..request(key) };
        let Answer::Known(created) = self.create(&request).await else { panic!("not created") };
        assert_eq!(created.purpose, Some(purpose));
        self.control(&format!("/payments/{}", created.id), json!({ "outcome": "succeed" })).await;
        created
    }

    async fn refunds(&self) -> usize {
        let request = self.http.get(format!("{}/v3/refunds?limit=100", self.sandbox.url()));
        let request = request.basic_auth("100500", Some("test_sandbox_secret_key"));
        let list: Value = request.send().await.unwrap().json().await.unwrap();
        list["items"].as_array().unwrap().len()
    }
}

fn way_back(payment: &GatewayPayment, key: u128) -> RefundRequest {
    RefundRequest {
        payment: payment.id.clone(),
        key: Uuid::from_u128(key),
        amount: payment.amount,
        whole: true,
        currency: "RUB".to_owned(),
        description: "Verification 3".to_owned(),
        receipt: None,
    }
}

#[tokio::test]
async fn money_is_refunded_once_per_key() {
    let fixture = AcquirerFixture::start().await;
    let payment = fixture.paid(1).await;
    assert_eq!(fixture.client.find_refund(&way_back(&payment, 2)).await, Reading::Absent);
    let request = way_back(&payment, 2);
    let Answer::Known(refund) = fixture.client.refund(&request).await else { panic!("not refunded") };
    assert_eq!(
        (refund.status, refund.amount, &refund.payment),
        (GatewayStatus::Succeeded, payment.amount, &payment.id)
    );
    assert_eq!(fixture.client.refund(&request).await, Answer::Known(refund.clone()), "the key works once");
    assert!(matches!(fixture.client.refund(&way_back(&payment, 3)).await, Answer::Refused { .. }));
    assert_eq!(fixture.client.read_refund(&refund.id).await, Reading::Known(refund.clone()));
    assert_eq!(fixture.client.find_refund(&way_back(&payment, 2)).await, Reading::Known(refund));
    let other = fixture.paid(4).await;
    assert_eq!(fixture.client.find_refund(&way_back(&other, 5)).await, Reading::Absent);
    let nobody = ProviderId::parse("22e12f66-000f-5000-8000-18db351245c7").unwrap();
    assert_eq!(fixture.client.read_refund(&nobody).await, Reading::Absent);
    assert_eq!(fixture.refunds().await, 1);
}

#[tokio::test]
async fn unknown_refunds_end_in_one_refund() {
    for fault in ["timeout", "http_500", "http_500_after_commit", "drop"] {
        let fixture = AcquirerFixture::start().await;
        let request = way_back(&fixture.paid(1).await, 2);
        fixture.control("/faults", json!({ "service": "acquirer", "fault": fault })).await;
        let answer = fixture.client.refund(&request).await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{fault}: {answer:?}");
        let answer = fixture.client.refund(&request).await;
        assert!(matches!(answer, Answer::Known(_)), "{fault}: {answer:?}");
        assert_eq!(fixture.refunds().await, 1, "{fault}");
    }
}

#[tokio::test]
async fn a_rejected_refund_does_not_count() {
    let fixture = AcquirerFixture::start().await;
    let payment = fixture.paid(1).await;
    fixture.control("/acquirer", json!({ "refunds": "canceled" })).await;
    let Answer::Known(refund) = fixture.client.refund(&way_back(&payment, 2)).await else { panic!("not known") };
    assert_eq!((refund.status, refund.reason.is_some()), (GatewayStatus::Canceled, true));
    assert_eq!(fixture.client.find_refund(&way_back(&payment, 2)).await, Reading::Absent);
    fixture.control("/acquirer", json!({ "refunds": "pending" })).await;
    let Answer::Known(refund) = fixture.client.refund(&way_back(&payment, 3)).await else { panic!("not known") };
    assert_eq!(refund.status, GatewayStatus::Pending);
    assert_eq!(fixture.client.find_refund(&way_back(&payment, 2)).await, Reading::Known(refund));
}

#[tokio::test]
async fn a_canceled_payment_says_why() {
    let fixture = AcquirerFixture::start().await;
    let Answer::Known(created) = fixture.create(&request(1)).await else { panic!("not created") };
    let decline = json!({ "outcome": "decline", "reason": "insufficient_funds" });
    fixture.control(&format!("/payments/{}", created.id), decline).await;
    let Reading::Known(canceled) = fixture.client.read(&created.id).await else { panic!("not read") };
    assert_eq!((canceled.status, canceled.reason.as_deref()), (GatewayStatus::Canceled, Some("insufficient_funds")));
}

#[tokio::test]
async fn unknown_outcomes_end_in_one_payment() {
    for fault in ["timeout", "http_500", "http_500_after_commit", "drop"] {
        let fixture = AcquirerFixture::start().await;
        fixture.control("/faults", json!({ "service": "acquirer", "fault": fault })).await;
        let answer = fixture.create(&request(1)).await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{fault}: {answer:?}");
        let answer = fixture.create(&request(1)).await;
        assert!(matches!(answer, Answer::Known(_)), "{fault}: {answer:?}");
        assert_eq!(fixture.payments().await, 1, "{fault}");
    }
}

#[tokio::test]
async fn refusals_and_unknown_outcomes_are_distinguished() {
    let fixture = AcquirerFixture::start().await;
    fixture.control("/faults", json!({ "service": "acquirer", "fault": "refuse" })).await;
    assert!(matches!(fixture.create(&request(1)).await, Answer::Refused { .. }));
    let outsider = AcquirerConfig { shop_id: "1".to_owned(), ..config(fixture.sandbox.url()) };
    let outsider = AcquirerClient::new(outsider).unwrap();
    let answer = outsider.create(&request(2)).await;
    assert!(matches!(&answer, Answer::Refused { code, .. } if code == "invalid_credentials"), "{answer:?}");
    assert!(matches!(outsider.find(&request(2), at()).await, Reading::Unknown { .. }));

    let key = request(3);
    assert!(matches!(fixture.create(&key).await, Answer::Known(_)));
    let other = ChargeRequest { amount: Money::from_minor(1).unwrap(), ..key };
    let answer = fixture.create(&other).await;
    assert!(matches!(answer, Answer::Unknown { .. }), "a key in use may mean a payment: {answer:?}");
}

#[tokio::test]
async fn a_request_that_was_never_sent_is_refused() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let nobody = AcquirerClient::new(config(&url)).unwrap();
    let answer = nobody.create(&request(1)).await;
    assert!(matches!(&answer, Answer::Refused { code, .. } if code == "unreachable"), "{answer:?}");
    let id = ProviderId::parse("p").unwrap();
    assert!(matches!(nobody.read(&id).await, Reading::Unknown { .. }));
}

/// Responds to one call with these bytes.
async fn once(answer: &'static str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 8_192];
        let _ = socket.read(&mut buffer).await;
        let _ = socket.write_all(answer.as_bytes()).await;
    });
    url
}

#[tokio::test]
async fn unexpected_responses_are_unknown_outcomes() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id\":",
        "HTTP/1.1 202 Accepted\r\nContent-Length: 21\r\n\r\n{\"type\":\"processing\"}",
        "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n",
    ] {
        let client = AcquirerClient::new(config(&once(answer).await)).unwrap();
        let outcome = client.create(&request(1)).await;
        assert!(matches!(outcome, Answer::Unknown { .. }), "{answer}: {outcome:?}");
        let client = AcquirerClient::new(config(&once(answer).await)).unwrap();
        let outcome = client.read(&ProviderId::parse("p").unwrap()).await;
        assert!(matches!(outcome, Reading::Unknown { .. }), "{answer}: {outcome:?}");
    }
    let busy = "HTTP/1.1 429 Busy\r\nContent-Length: 22\r\n\r\n{\"retry_after\":120000}";
    let client = AcquirerClient::new(config(&once(busy).await)).unwrap();
    let outcome = client.create(&request(1)).await;
    let asked = Some(Duration::from_mins(2));
    assert!(matches!(outcome, Answer::Unknown { retry_after, .. } if retry_after == asked), "{outcome:?}");
    // A 404 of another server reveals nothing about a payment.
    let client = AcquirerClient::new(config(&once("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n").await)).unwrap();
    let outcome = client.read(&ProviderId::parse("p").unwrap()).await;
    assert!(matches!(outcome, Reading::Unknown { .. }), "{outcome:?}");
}

#[tokio::test]
async fn of_several_refunds_each_is_found_by_its_key() {
    let fixture = AcquirerFixture::start().await;
    let payment = fixture.paid(1).await;
    let part = |key| {
        let amount = Money::from_minor(100).unwrap();
        RefundRequest { amount, whole: false, ..way_back(&payment, key) }
    };
    let Answer::Known(first) = fixture.client.refund(&part(2)).await else { panic!("not refunded") };
    let Answer::Known(second) = fixture.client.refund(&part(3)).await else { panic!("not refunded") };
    assert_eq!(fixture.client.find_refund(&part(2)).await, Reading::Known(first));
    assert_eq!(fixture.client.find_refund(&part(3)).await, Reading::Known(second));
    assert_eq!(fixture.client.find_refund(&part(4)).await, Reading::Absent);
}

#[tokio::test]
async fn a_method_is_saved_and_charged_without_the_customer() {
    let fixture = AcquirerFixture::start().await;
    let saving = ChargeRequest { save_method: true, ..request(1) };
    let Answer::Known(created) = fixture.create(&saving).await else { panic!("not created") };
    fixture.control(&format!("/payments/{}", created.id), json!({ "outcome": "succeed" })).await;
    let Reading::Known(paid) = fixture.client.read(&created.id).await else { panic!("not read") };
    let method = paid.saved_method.unwrap();
    assert_eq!((method.method, method.card_last_4.map(|digits| digits.len())), (PaymentMethod::BankCard, Some(4)));
    let saved_method = Some(MethodReference { id: SavedMethodId::new(1).unwrap(), provider_id: method.provider_id });
    let purpose = ChargePurpose::Subscription(SubscriptionId::new(9).unwrap());
    let Answer::Known(charged) = fixture.create(&ChargeRequest { purpose, saved_method, ..request(2) }).await else {
        panic!("not charged")
    };
    assert_eq!((charged.status, charged.purpose), (GatewayStatus::Succeeded, Some(purpose)));
    assert_eq!(charged.confirmation_url, None);
    // A method that was not requested is not saved.
    let other = fixture.paid(3).await;
    let Reading::Known(other) = fixture.client.read(&other.id).await else { panic!("not read") };
    assert_eq!(other.saved_method, None);
}

#[tokio::test]
async fn an_unpaid_payment_is_canceled_if_the_acquirer_supports_it() {
    let fixture = AcquirerFixture::start().await;
    let Answer::Known(created) = fixture.create(&request(1)).await else { panic!("not created") };
    let kept = fixture.client.cancel(&created.id, Uuid::from_u128(2)).await;
    assert!(matches!(&kept, Answer::Refused { code, .. } if code == "invalid_request"), "{kept:?}");
    fixture.control("/faults", json!({ "service": "acquirer", "fault": "http_500" })).await;
    let lost = fixture.client.cancel(&created.id, Uuid::from_u128(3)).await;
    assert!(matches!(lost, Answer::Unknown { .. }), "{lost:?}");
    fixture.control("/acquirer", json!({ "cancels_unpaid": true })).await;
    for _ in 0..2 {
        let Answer::Known(canceled) = fixture.client.cancel(&created.id, Uuid::from_u128(4)).await else {
            panic!("not canceled")
        };
        let reported = (canceled.id.clone(), canceled.status, canceled.reason.as_deref());
        assert_eq!(reported, (created.id.clone(), GatewayStatus::Canceled, Some("canceled_by_merchant")));
    }
    let outsider = ProviderId::parse("22e12f66-000f-5000-8000-18db351245c7").unwrap();
    assert!(matches!(fixture.client.cancel(&outsider, Uuid::from_u128(5)).await, Answer::Refused { .. }));
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let fixture = AcquirerFixture::start().await;
    for key in 0..103 {
        fixture.create(&request(key)).await;
    }
    let paid = fixture.paid(200).await;
    let Answer::Known(back) = fixture.client.refund(&way_back(&paid, 300)).await else { panic!("not refunded") };
    let (mut page, mut sizes, mut keys) = (None, Vec::new(), std::collections::BTreeSet::new());
    loop {
        let Reading::Known(listed) = fixture.client.list_payments(at() - TimeDelta::minutes(1), page).await else {
            panic!("not listed")
        };
        sizes.push(listed.items.len());
        keys.extend(listed.items.iter().map(|payment| payment.key));
        page = listed.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!((sizes, keys.len()), (vec![100, 4], 104));
    let Reading::Known(refunds) = fixture.client.list_refunds(at() - TimeDelta::minutes(1), None).await else {
        panic!("not listed")
    };
    assert_eq!((refunds.items, refunds.next), (vec![back], None));
    let Reading::Known(none) = fixture.client.list_refunds(at() + TimeDelta::days(1), None).await else {
        panic!("not listed")
    };
    assert_eq!(none.items, []);
}
