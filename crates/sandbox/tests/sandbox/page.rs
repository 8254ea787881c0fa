//! The payer's page.

use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{Outside, id, outside};

async fn show(outside: &Outside, payment: &Value) -> (u16, String) {
    let response =
        outside.http.get(payment["confirmation"]["confirmation_url"].as_str().unwrap()).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn submit(outside: &Outside, payment: &Value, form: &[(&str, &str)]) -> Response {
    outside.http.post(outside.at(&format!("/pay/{}", id(payment)))).form(form).send().await.unwrap()
}

async fn now(outside: &Outside, payment: &Value) -> Value {
    outside.look(&format!("/payments/{}", id(payment))).await.1
}

#[tokio::test]
async fn the_page_shows_what_is_paid_for_and_stays_text() {
    let outside = outside().await;
    let payment =
        outside.payment("a", json!({ "description": "<script>alert(1)</script>", "save_payment_method": true })).await;
    let (status, html) = show(&outside, &payment).await;
    assert_eq!(status, 200);
    for part in
        ["100.00 RUB", "&lt;script&gt;", "name=\"card\"", "name=\"save\"", "value=\"expire\"", "insufficient_funds"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("<script"));
    let plain = outside.payment("b", json!({ "payment_method_data": { "type": "sbp" } })).await;
    let (_, html) = show(&outside, &plain).await;
    assert!(!html.contains("name=\"card\"") && !html.contains("name=\"save\""));
    assert_eq!(outside.get("/pay/unknown").await.0, 404);
}

#[tokio::test]
async fn paying_leads_back_to_the_shop() {
    let outside = outside().await;
    let payment = outside.payment("a", json!({ "save_payment_method": true })).await;
    let card = [("action", "pay"), ("method", "bank_card"), ("card", "4111 1111 1111 1111"), ("save", "1")];
    let back = submit(&outside, &payment, &card).await;
    assert_eq!(back.status(), 303);
    assert_eq!(back.headers()["location"], "https://shop.test/back?order=1");
    let paid = now(&outside, &payment).await;
    assert_eq!((&paid["status"], &paid["payment_method"]["card"]["card_type"]), (&json!("succeeded"), &json!("Visa")));
    assert_eq!(paid["payment_method"]["saved"], true);

    let again = submit(&outside, &payment, &card).await;
    assert_eq!(again.status(), 422);
    assert!(again.text().await.unwrap().contains("https://shop.test/back?order=1"));
}

#[tokio::test]
async fn the_payer_may_decline_to_save_the_card() {
    let outside = outside().await;
    let payment = outside.payment("a", json!({ "save_payment_method": true })).await;
    submit(&outside, &payment, &[("action", "pay"), ("card", "5555555555554477")]).await;
    let paid = now(&outside, &payment).await;
    assert_eq!(
        (&paid["payment_method"]["saved"], &paid["payment_method"]["status"]),
        (&json!(false), &json!("inactive"))
    );
    assert_eq!(paid["authorization_details"]["three_d_secure"]["applied"], true);
}

#[tokio::test]
async fn sbp_needs_no_card() {
    let outside = outside().await;
    let payment = outside.payment("a", json!({ "payment_method_data": { "type": "sbp" } })).await;
    assert_eq!(submit(&outside, &payment, &[("action", "pay")]).await.status(), 303);
    let paid = now(&outside, &payment).await;
    assert_eq!((&paid["status"], &paid["payment_method"]["type"]), (&json!("succeeded"), &json!("sbp")));
    assert!(paid["payment_method"]["payer_bank_details"]["bic"].is_string());
    assert!(paid["payment_method"]["sbp_operation_id"].is_string());
    assert_eq!(paid["payment_method"].get("card"), None);
}

#[tokio::test]
async fn declining_and_expiring_cancel_the_payment() {
    let outside = outside().await;
    let cases: [(&[(&str, &str)], _, _); 3] = [
        (&[("action", "decline"), ("reason", "card_expired")], "payment_network", "card_expired"),
        (&[("action", "expire")], "yoo_money", "expired_on_confirmation"),
        (&[("action", "pay"), ("card", "5555555555554584")], "yoo_money", "country_forbidden"),
    ];
    for (number, (form, party, reason)) in cases.into_iter().enumerate() {
        let payment = outside.payment(&number.to_string(), json!({})).await;
        assert_eq!(submit(&outside, &payment, form).await.status(), 303);
        let canceled = now(&outside, &payment).await;
        assert_eq!((&canceled["status"], &canceled["paid"]), (&json!("canceled"), &json!(false)));
        assert_eq!(canceled["cancellation_details"], json!({ "party": party, "reason": reason }));
    }
}

#[tokio::test]
async fn a_mistyped_card_may_be_corrected() {
    let outside = outside().await;
    let payment = outside.payment("a", json!({})).await;
    for card in ["", "4111111111111112", "<b>"] {
        let response = submit(&outside, &payment, &[("action", "pay"), ("card", card)]).await;
        assert_eq!(response.status(), 422);
        assert!(response.text().await.unwrap().contains("card number"));
    }
    assert_eq!(now(&outside, &payment).await["status"], "pending");
}
