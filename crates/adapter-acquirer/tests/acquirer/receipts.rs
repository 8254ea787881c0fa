//! Receipts, against the emulated acquirer and its register.

use kontor_kernel::{Money, Phone, Quantity};
use kontor_payments::model::{
    ChargeRequest, GatewayReceipt, HandOverRequest, PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem,
    RefundRequest, Registration, VatCode,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use serde_json::json;

use crate::{AcquirerFixture, request, way_back};

/// 265.50 for three units and a service.
fn items() -> Vec<ReceiptItem> {
    let item = |name: &str, pieces, total, subject| ReceiptItem {
        name: name.to_owned(),
        quantity: Quantity::new(pieces).unwrap(),
        total: Money::from_minor(total).unwrap(),
        vat: VatCode::new(4).unwrap(),
        subject,
        mode: PaymentMode::FullPrepayment,
    };
    vec![item("Tea", 3, 10_000, PaymentSubject::Commodity), item("Courier", 1, 16_550, PaymentSubject::Service)]
}

fn receipt() -> Receipt {
    let customer = ReceiptContact::Phone(Phone::parse("79001234567").unwrap());
    Receipt::new(customer, None, &items(), Money::from_minor(26_550).unwrap()).unwrap()
}

fn with_receipt(key: u128) -> ChargeRequest {
    ChargeRequest { receipt: Some(receipt()), ..request(key) }
}

impl AcquirerFixture {
    async fn paid_with_receipt(&self, key: u128) -> kontor_payments::model::GatewayPayment {
        let Answer::Known(created) = self.create(&with_receipt(key)).await else { panic!("not created") };
        self.control(&format!("/payments/{}", created.id), json!({ "outcome": "succeed" })).await;
        let Reading::Known(paid) = self.client.read(&created.id).await else { panic!("not read") };
        paid
    }
}

#[tokio::test]
async fn a_payment_contains_its_receipt_state() {
    let fixture = AcquirerFixture::start().await;
    assert_eq!(fixture.paid(1).await.receipt, None, "it has none");
    assert_eq!(fixture.paid_with_receipt(2).await.receipt, Some(Registration::Succeeded));
    fixture.control("/acquirer", json!({ "receipts": "pending" })).await;
    let waiting = fixture.paid_with_receipt(3).await;
    assert_eq!(waiting.receipt, Some(Registration::Pending));
    fixture.control("/acquirer", json!({ "receipts": "canceled" })).await;
    let Reading::Known(canceled) = fixture.client.read(&waiting.id).await else { panic!("not read") };
    assert_eq!(canceled.receipt, Some(Registration::Canceled));
}

#[tokio::test]
async fn a_receipt_about_other_money_is_refused_with_its_payment() {
    let fixture = AcquirerFixture::start().await;
    let other = ChargeRequest { amount: Money::from_minor(26_549).unwrap(), ..with_receipt(1) };
    let answer = fixture.create(&other).await;
    assert!(matches!(&answer, Answer::Refused { code, .. } if code == "invalid_request"), "{answer:?}");
    assert_eq!(fixture.payments().await, 0);
}

#[tokio::test]
async fn a_partial_refund_goes_with_its_lines() {
    let fixture = AcquirerFixture::start().await;
    let paid = fixture.paid_with_receipt(1).await;
    let amount = Money::from_minor(3_333).unwrap();
    let bare = RefundRequest { amount, whole: false, ..way_back(&paid, 2) };
    assert!(matches!(fixture.client.refund(&bare).await, Answer::Refused { .. }));
    let piece = ReceiptItem { quantity: Quantity::ONE, total: amount, ..items().remove(0) };
    let part = receipt().of_part(&[piece], amount).unwrap();
    let with_lines = RefundRequest { receipt: Some(part), ..RefundRequest { key: uuid::Uuid::from_u128(3), ..bare } };
    let Answer::Known(refund) = fixture.client.refund(&with_lines).await else { panic!("not refunded") };
    assert_eq!((refund.amount, refund.receipt), (amount, Some(Registration::Succeeded)));
    let whole = fixture.paid_with_receipt(4).await;
    let Answer::Known(refund) = fixture.client.refund(&way_back(&whole, 5)).await else { panic!("not refunded") };
    assert_eq!(refund.receipt, Some(Registration::Succeeded), "all of it goes back by the receipt of the payment");
}

fn hand_over(payment: &kontor_payments::model::GatewayPayment, tries: u32) -> HandOverRequest {
    HandOverRequest {
        payment: payment.id.clone(),
        key: HandOverRequest::key(payment.key.unwrap(), tries),
        currency: "RUB".to_owned(),
        receipt: receipt().handed_over().unwrap(),
    }
}

async fn made(fixture: &AcquirerFixture) -> Vec<serde_json::Value> {
    let url = format!("{}/control/receipts", fixture.sandbox.url());
    let list: serde_json::Value = fixture.http.get(url).send().await.unwrap().json().await.unwrap();
    list["receipts"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_hand_over_has_one_receipt_per_key() {
    let fixture = AcquirerFixture::start().await;
    let paid = fixture.paid_with_receipt(1).await;
    let request = hand_over(&paid, 0);
    assert_eq!(fixture.client.find_receipt(&request).await, Reading::Absent);
    let Answer::Known(receipt) = fixture.client.register(&request).await else { panic!("not registered") };
    let GatewayReceipt { payment, status, prepaid, .. } = receipt.clone();
    assert_eq!((payment, status, prepaid), (Some(paid.id.clone()), Registration::Succeeded, paid.amount));
    assert_eq!(fixture.client.register(&request).await, Answer::Known(receipt.clone()), "the key works once");
    assert_eq!(fixture.client.read_receipt(&receipt.id).await, Reading::Known(receipt.clone()));
    assert_eq!(fixture.client.find_receipt(&hand_over(&paid, 1)).await, Reading::Known(receipt));
    let made = made(&fixture).await;
    assert_eq!((made.len(), &made[0]["items"][0]["payment_mode"]), (1, &json!("full_payment")));
    let other = fixture.paid_with_receipt(2).await;
    assert_eq!(fixture.client.find_receipt(&hand_over(&other, 0)).await, Reading::Absent);
}

#[tokio::test]
async fn unknown_receipts_end_in_one_receipt() {
    for fault in ["timeout", "http_500", "http_500_after_commit", "drop"] {
        let fixture = AcquirerFixture::start().await;
        let request = hand_over(&fixture.paid_with_receipt(1).await, 0);
        fixture.control("/faults", json!({ "service": "acquirer", "fault": fault })).await;
        let answer = fixture.client.register(&request).await;
        assert!(matches!(answer, Answer::Unknown { .. }), "{fault}: {answer:?}");
        let answer = fixture.client.register(&request).await;
        assert!(matches!(answer, Answer::Known(_)), "{fault}: {answer:?}");
        assert_eq!(made(&fixture).await.len(), 1, "{fault}");
    }
}
