//! Fiscal receipts at the acquirer.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{Outside, assert_refused, id, order, outside};

fn receipt(price: &str) -> Value {
    let amount = json!({ "value": price, "currency": "RUB" });
    json!({
        "customer": { "phone": "79001234567" },
        "items": [{ "description": "Tea", "quantity": 2, "amount": amount, "vat_code": 4 }],
    })
}

impl Outside {
    async fn refund(&self, payment: &Value, key: &str, value: &str, receipt: Option<Value>) -> (u16, Value) {
        let mut body = json!({ "payment_id": id(payment), "amount": { "value": value, "currency": "RUB" } });
        if let Some(receipt) = receipt {
            body["receipt"] = receipt;
        }
        self.acquire("/refunds", key, Some(body)).await
    }

    async fn register(&self, payment: &Value, key: &str, price: &str, prepaid: &str) -> (u16, Value) {
        let mut body = receipt(price);
        body["type"] = json!("payment");
        body["payment_id"] = payment["id"].clone();
        body["send"] = json!(true);
        body["settlements"] = json!([{ "type": "prepayment", "amount": { "value": prepaid, "currency": "RUB" } }]);
        self.acquire("/receipts", key, Some(body)).await
    }

    async fn receipts_end(&self, end: &str) {
        assert_eq!(self.post("/control/acquirer", json!({ "receipts": end })).await.0, 200);
    }
}

#[tokio::test]
async fn a_payment_whose_receipt_does_not_sum_is_refused() {
    let outside = outside().await;
    let refused = outside.acquire("/payments", "a", Some(order(json!({ "receipt": receipt("49.99") })))).await;
    assert_refused(&refused, StatusCode::BAD_REQUEST, "invalid_request", "Receipt items do not sum to the amount");
    assert_eq!(refused.1["parameter"], "receipt");
    let paid = outside.paid("b", json!({ "receipt": receipt("50.00") })).await;
    assert_eq!(paid["receipt_registration"], "succeeded");
    assert_eq!(outside.paid("c", json!({})).await["receipt_registration"], Value::Null);
}

#[tokio::test]
async fn a_partial_refund_needs_its_lines_and_a_full_one_does_not() {
    let outside = outside().await;
    let paid = outside.paid("a", json!({ "receipt": receipt("50.00") })).await;
    let refused = outside.refund(&paid, "b", "40.00", None).await;
    assert_eq!((refused.0, &refused.1["parameter"]), (400, &json!("receipt")));
    let refused = outside.refund(&paid, "c", "40.00", Some(receipt("20.01"))).await;
    assert_eq!((refused.0, &refused.1["parameter"]), (400, &json!("receipt")));
    let (status, refund) = outside.refund(&paid, "d", "40.00", Some(receipt("20.00"))).await;
    assert_eq!((status, &refund["receipt_registration"]), (200, &json!("succeeded")));
    let other = outside.paid("e", json!({ "receipt": receipt("50.00") })).await;
    let (status, refund) = outside.refund(&other, "f", "100.00", None).await;
    assert_eq!((status, &refund["receipt_registration"]), (200, &json!("succeeded")));
    let without = outside.paid("g", json!({})).await;
    assert_eq!(outside.refund(&without, "h", "40.00", None).await.0, 200);
}

#[tokio::test]
async fn the_register_may_take_its_time_or_say_no() {
    let outside = outside().await;
    outside.receipts_end("pending").await;
    let paid = outside.paid("a", json!({ "receipt": receipt("50.00") })).await;
    assert_eq!(paid["receipt_registration"], "pending");
    let (status, second) = outside.register(&paid, "b", "50.00", "100.00").await;
    assert_eq!((status, &second["status"], id(&second).len()), (200, &json!("pending"), 39));
    outside.receipts_end("canceled").await;
    let path = format!("/receipts/{}", id(&second));
    assert_eq!(outside.look(&path).await.1["status"], "canceled");
    assert_eq!(outside.look(&format!("/payments/{}", id(&paid))).await.1["receipt_registration"], "canceled");
}

#[tokio::test]
async fn a_receipt_by_itself_is_made_once_per_key_and_listed() {
    let outside = outside().await;
    let paid = outside.paid("a", json!({ "receipt": receipt("50.00") })).await;
    let (status, made) = outside.register(&paid, "b", "50.00", "100.00").await;
    assert_eq!((status, &made["payment_id"], &made["status"]), (200, &paid["id"], &json!("succeeded")));
    assert_eq!(outside.register(&paid, "b", "50.00", "100.00").await.1, made);
    let refused = outside.register(&paid, "c", "50.00", "99.00").await;
    assert_eq!((refused.0, &refused.1["parameter"]), (400, &json!("settlements")));
    let unpaid = outside.payment("d", json!({})).await;
    assert_eq!(outside.register(&unpaid, "e", "50.00", "100.00").await.0, 400);
    let (_, list) = outside.look(&format!("/receipts?payment_id={}", id(&paid))).await;
    assert_eq!(list["items"], json!([made]));
    assert_eq!(outside.look("/receipts/rt_nothing").await.0, 404);
    let (_, all) = outside.get("/control/receipts").await;
    assert_eq!(all["receipts"].as_array().unwrap().len(), 1);
}
