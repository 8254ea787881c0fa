//! The API: authentication, keys, validation, payments, refunds, saved methods, lists.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{CARD, KEY, Outside, SHOP, assert_refused, client, id, order, outside, outside_with, read};

const BAD: StatusCode = StatusCode::BAD_REQUEST;

#[tokio::test]
async fn only_the_shop_is_authenticated() {
    let outside = outside().await;
    let url = outside.at("/v3/me");
    let none = read(client().get(&url).send().await.unwrap()).await;
    assert_refused(&none, StatusCode::UNAUTHORIZED, "invalid_credentials", "Authorization header not found");
    let wrong = read(client().get(&url).basic_auth(SHOP, Some("nope")).send().await.unwrap()).await;
    assert_refused(&wrong, StatusCode::UNAUTHORIZED, "invalid_credentials", "Basic authentication failed");
    let (status, me) = outside.look("/me").await;
    assert_eq!(
        (status, &me["account_id"], &me["status"], &me["test"]),
        (200, &json!(SHOP), &json!("enabled"), &json!(true))
    );
}

#[tokio::test]
async fn a_new_payment_carries_the_providers_fields() {
    let outside = outside().await;
    let extra = json!({ "metadata": { "order_id": "7" }, "payment_method_data": { "type": "bank_card" } });
    let payment = outside.payment("k", extra).await;
    let page = format!("{}/pay/{}", outside.handle.url(), id(&payment));
    assert_eq!(
        payment,
        json!({
            "id": payment["id"],
            "status": "pending",
            "amount": { "value": "100.00", "currency": "RUB" },
            "recipient": { "account_id": SHOP, "gateway_id": "100700" },
            "created_at": "2031-05-06T07:08:09.000Z",
            "test": true,
            "paid": false,
            "refundable": false,
            "metadata": { "order_id": "7" },
            "description": "Order 1",
            "payment_method": { "type": "bank_card", "id": payment["id"], "saved": false, "status": "pending" },
            "confirmation": {
                "type": "redirect",
                "confirmation_url": page,
                "return_url": "https://shop.test/back?order=1",
            },
        })
    );
    assert_eq!(id(&payment).len(), 36);
    let (_, paid) = outside.act(&payment, json!({ "outcome": "succeed", "card": CARD })).await;
    assert_eq!(
        paid["payment_method"]["card"],
        json!({
            "first6": "555555", "last4": "4444", "expiry_year": "2035", "expiry_month": "12",
            "card_type": "MasterCard", "issuer_country": "RU",
        })
    );
    assert_eq!(paid["payment_method"]["title"], "Bank card *4444");
    assert_eq!((&paid["paid"], &paid["refundable"]), (&json!(true), &json!(true)));
    assert_eq!(paid["captured_at"], "2031-05-06T07:08:09.000Z");
    assert_eq!(paid["income_amount"]["value"], "96.50");
    assert_eq!(paid["refunded_amount"]["value"], "0.00");
    assert_eq!(paid.get("confirmation"), None);
    assert_eq!(outside.look(&format!("/payments/{}", id(&payment))).await, (200, paid));
}

#[tokio::test]
async fn a_repeated_key_gives_the_same_payment_as_it_is_now() {
    let outside = outside().await;
    let first = outside.payment("k", json!({})).await;
    outside.act(&first, json!({ "outcome": "succeed" })).await;
    let again = outside.payment("k", json!({})).await;
    assert_eq!((&again["id"], &again["status"]), (&first["id"], &json!("succeeded")));
    let other = outside.acquire("/payments", "k", Some(order(json!({ "description": "another" })))).await;
    assert_refused(&other, BAD, "invalid_request", "Duplicate idempotence key");
    let elsewhere = outside.acquire(&format!("/payments/{}/cancel", id(&first)), "k", None).await;
    assert_refused(&elsewhere, BAD, "invalid_request", "Duplicate idempotence key");

    outside.clock.advance(24 * 3_600);
    let next_day = outside.payment("k", json!({ "description": "another" })).await;
    assert_ne!(next_day["id"], first["id"]);
}

#[tokio::test]
async fn a_refused_request_is_replayed_too() {
    let outside = outside().await;
    let wrong = json!({ "amount": { "value": "1.00", "currency": "EUR" } });
    for _ in 0..2 {
        let answer = outside.acquire("/payments", "k", Some(wrong.clone())).await;
        assert_refused(&answer, BAD, "invalid_request", "Currency code is illegal");
    }
    let corrected = outside.acquire("/payments", "k", Some(order(json!({})))).await;
    assert_refused(&corrected, BAD, "invalid_request", "Duplicate idempotence key");
}

#[tokio::test]
async fn a_write_needs_a_key() {
    let outside = outside().await;
    let url = outside.at("/v3/payments");
    let send = |key: Option<String>| {
        let call = outside.http.post(&url).basic_auth(SHOP, Some(KEY)).json(&order(json!({})));
        match key {
            Some(key) => call.header("Idempotence-Key", key),
            None => call,
        }
    };
    let none = read(send(None).send().await.unwrap()).await;
    assert_refused(&none, BAD, "invalid_request", "Idempotence key is empty");
    assert_eq!(none.1["parameter"], "Idempotence-Key");
    let long = read(send(Some("k".repeat(65))).send().await.unwrap()).await;
    assert_eq!(long.0, 400);
    assert!(long.1["description"].as_str().unwrap().starts_with("Idempotence key is too long"));
}

#[tokio::test]
async fn wrong_fields_of_a_body_are_named() {
    let outside = outside().await;
    let cases = [
        (json!({ "amount": null }), "Invalid request parameter", "amount"),
        (json!({ "amount": { "value": "0", "currency": "RUB" } }), "Payment amount is illegal", "amount.value"),
        (json!({ "confirmation": { "type": "redirect" } }), "Return url is missing", "confirmation.return_url"),
        (json!({ "payment_method_data": { "type": "x" } }), "Illegal payment method type", "payment_method_data.type"),
        (json!({ "payment_method_id": "x", "confirmation": null }), "Payment method is not found", "payment_method_id"),
    ];
    for (number, (extra, description, parameter)) in cases.into_iter().enumerate() {
        let answer = outside.acquire("/payments", &number.to_string(), Some(order(extra))).await;
        assert_refused(&answer, BAD, "invalid_request", description);
        assert_eq!(answer.1["parameter"], parameter);
    }
    let both = order(json!({ "payment_method_id": "x", "payment_method_data": { "type": "sbp" } }));
    let answer = outside.acquire("/payments", "both", Some(both)).await;
    let text = "Request should contain only one of: payment_method_data, payment_method_id, payment_token";
    assert_refused(&answer, BAD, "invalid_request", text);

    let raw = |kind: &'static str, body: &'static str| {
        outside.write("/payments", "raw", None).header("content-type", kind).body(body).send()
    };
    let broken = read(raw("application/json", "{").await.unwrap()).await;
    assert_refused(&broken, BAD, "invalid_request", "Failed to parse request body");
    assert_eq!(raw("text/plain", "{}").await.unwrap().status(), 415);
}

#[tokio::test]
async fn unknown_objects_paths_and_methods_have_the_apis_errors() {
    let outside = outside().await;
    for path in ["/payments/x", "/refunds/x", "/payment_methods/x", "/nothing"] {
        let (status, body) = outside.look(path).await;
        assert_eq!((status, &body["code"]), (404, &json!("not_found")), "{path}");
    }
    let call = outside.http.put(outside.at("/v3/payments")).basic_auth(SHOP, Some(KEY));
    let (status, body) = read(call.send().await.unwrap()).await;
    assert_eq!((status, &body["type"], body.get("code")), (405, &json!("error"), None));
}

#[tokio::test]
async fn held_money_is_captured_or_let_go() {
    let outside = outside().await;
    let act = async |payment: &Value, step: &str, key: &str, body: Option<Value>| {
        outside.acquire(&format!("/payments/{}/{step}", id(payment)), key, body).await
    };
    let pending = outside.payment("a", json!({ "capture": false })).await;
    let early = act(&pending, "capture", "b", None).await;
    assert_refused(&early, BAD, "invalid_request", "Payment can not be captured in current status.");
    let (_, held) = outside.act(&pending, json!({ "outcome": "succeed" })).await;
    assert_eq!((&held["status"], &held["paid"]), (&json!("waiting_for_capture"), &json!(true)));
    assert_eq!(held["expires_at"], "2031-05-13T07:08:09.000Z");

    let sum = |value: &str| Some(json!({ "amount": { "value": value, "currency": "RUB" } }));
    let too_much = act(&held, "capture", "c", sum("100.01")).await;
    assert_refused(&too_much, BAD, "invalid_request", "Illegal amount for capture");
    let (_, captured) = act(&held, "capture", "d", sum("60.00")).await;
    assert_eq!((&captured["status"], &captured["amount"]["value"]), (&json!("succeeded"), &json!("60.00")));
    assert_eq!(act(&held, "capture", "d", sum("60.00")).await, (200, captured));
    let late = act(&held, "cancel", "e", None).await;
    assert_refused(&late, BAD, "invalid_request", "Payment can not be canceled in current status");

    let held = outside.paid("f", json!({ "capture": false })).await;
    let (_, canceled) = act(&held, "cancel", "g", None).await;
    assert_eq!(canceled["cancellation_details"], json!({ "party": "merchant", "reason": "canceled_by_merchant" }));
    let auto = outside.payment("h", json!({})).await;
    let answer = act(&auto, "cancel", "i", None).await;
    assert_refused(&answer, BAD, "invalid_request", "You can not cancel payment with autocapture");
}

#[tokio::test]
async fn time_runs_out_for_payers_and_shops() {
    let outside = outside().await;
    let forgotten = outside.payment("a", json!({})).await;
    let held = outside.paid("b", json!({ "capture": false })).await;
    let reason = async |payment: &Value| {
        let (_, payment) = outside.look(&format!("/payments/{}", id(payment))).await;
        payment["cancellation_details"]["reason"].clone()
    };
    outside.clock.advance(3_599);
    assert_eq!(reason(&forgotten).await, Value::Null);
    outside.clock.advance(1);
    assert_eq!(reason(&forgotten).await, "expired_on_confirmation");
    assert_eq!(reason(&held).await, Value::Null);
    outside.clock.advance(7 * 24 * 3_600);
    assert_eq!(reason(&held).await, "expired_on_capture");
}

fn refund(payment: &Value, value: &str) -> Value {
    json!({ "payment_id": payment["id"], "amount": { "value": value, "currency": "RUB" } })
}

#[tokio::test]
async fn refunds_add_up_to_the_payment() {
    let outside = outside().await;
    let pending = outside.payment("a", json!({})).await;
    let early = outside.acquire("/refunds", "b", Some(refund(&pending, "1.00"))).await;
    assert_refused(&early, BAD, "invalid_request", "Payment is in progress");

    let paid = outside.paid("c", json!({})).await;
    let (status, first) = outside.acquire("/refunds", "d", Some(refund(&paid, "30.00"))).await;
    assert_eq!((status, &first["status"], &first["payment_id"]), (200, &json!("succeeded"), &paid["id"]));
    assert_eq!(outside.acquire("/refunds", "d", Some(refund(&paid, "30.00"))).await.1, first);
    let over = outside.acquire("/refunds", "e", Some(refund(&paid, "70.01"))).await;
    assert_refused(&over, BAD, "invalid_request", "Refund sum exceeded");
    assert_eq!(outside.acquire("/refunds", "f", Some(refund(&paid, "70.00"))).await.0, 200);
    let done = outside.acquire("/refunds", "g", Some(refund(&paid, "0.01"))).await;
    assert_refused(&done, BAD, "invalid_request", "Payment is already completely refunded");

    let (_, payment) = outside.look(&format!("/payments/{}", id(&paid))).await;
    assert_eq!((&payment["refunded_amount"]["value"], &payment["refundable"]), (&json!("100.00"), &json!(false)));
    assert_eq!(outside.look(&format!("/refunds/{}", id(&first))).await, (200, first));
    let (_, list) = outside.look(&format!("/refunds?payment_id={}", id(&paid))).await;
    let sums: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["amount"]["value"]).collect();
    assert_eq!(sums, ["70.00", "30.00"]);
}

#[tokio::test]
async fn a_refund_may_be_pending_and_rejected() {
    let outside = outside().await;
    let paid = outside.paid("a", json!({})).await;
    outside.post("/control/acquirer", json!({ "refunds": "pending" })).await;
    let (_, waiting) = outside.acquire("/refunds", "b", Some(refund(&paid, "100.00"))).await;
    assert_eq!(waiting["status"], "pending");
    let end = format!("/control/refunds/{}", id(&waiting));
    let (_, declined) = outside.post(&end, json!({ "outcome": "decline" })).await;
    assert_eq!(declined["cancellation_details"]["party"], "refund_network");
    assert_eq!(outside.post(&end, json!({ "outcome": "succeed" })).await.0, 409);
    assert_eq!(outside.acquire("/refunds", "c", Some(refund(&paid, "100.00"))).await.0, 200);
}

#[tokio::test]
async fn a_saved_method_is_charged_without_the_payer() {
    let outside = outside().await;
    let paid = outside.paid("a", json!({ "save_payment_method": true })).await;
    assert_eq!((&paid["payment_method"]["saved"], &paid["payment_method"]["status"]), (&json!(true), &json!("active")));
    let charge =
        async |key: &str| outside.payment(key, json!({ "payment_method_id": paid["id"], "confirmation": null })).await;
    let charged = charge("b").await;
    assert_eq!((&charged["status"], charged.get("confirmation")), (&json!("succeeded"), None));
    assert_eq!(charged["payment_method"]["id"], paid["id"]);

    let method = format!("/control/payment_methods/{}", id(&paid));
    let decline = json!({ "outcome": "decline", "reason": "insufficient_funds", "times": 1 });
    assert_eq!(outside.post(&method, decline).await.0, 200);
    let declined = charge("c").await;
    assert_eq!(declined["cancellation_details"], json!({ "party": "payment_network", "reason": "insufficient_funds" }));
    assert_eq!(charge("d").await["status"], "succeeded");

    let with_page = order(json!({ "payment_method_id": paid["id"] }));
    let answer = outside.acquire("/payments", "e", Some(with_page)).await;
    assert_refused(&answer, BAD, "invalid_request", "Confirmation must be null when using payment_method_id");
}

#[tokio::test]
async fn a_shop_without_saved_methods_gets_an_error() {
    let outside = outside_with(|config| kontor_sandbox::SandboxConfig { saving_allowed: false, ..config }).await;
    let answer = outside.acquire("/payments", "a", Some(order(json!({ "save_payment_method": true })))).await;
    assert_refused(&answer, StatusCode::FORBIDDEN, "forbidden", "Forbidden to save payment method");
}

async fn binding(outside: &Outside, key: &str, kind: &str) -> Value {
    let body = json!({ "type": kind, "confirmation": { "type": "redirect", "return_url": "https://shop.test/b" } });
    let (status, binding) = outside.acquire("/payment_methods", key, Some(body)).await;
    assert_eq!(status, 200, "{binding}");
    binding
}

#[tokio::test]
async fn a_card_is_bound_without_a_payment() {
    let outside = outside().await;
    let pending = binding(&outside, "a", "bank_card").await;
    assert_eq!((&pending["status"], &pending["saved"]), (&json!("pending"), &json!(false)));
    assert_eq!(pending["holder"]["account_id"], SHOP);
    let page = pending["confirmation"]["confirmation_url"].as_str().unwrap();
    let form = [("action", "pay"), ("card", "2202474301322987")];
    let back = outside.http.post(page).form(&form).send().await.unwrap();
    assert_eq!((back.status().as_u16(), &back.headers()["location"]), (303, &"https://shop.test/b".parse().unwrap()));
    let (_, active) = outside.look(&format!("/payment_methods/{}", id(&pending))).await;
    assert_eq!((&active["status"], &active["saved"]), (&json!("active"), &json!(true)));
    assert_eq!((&active["card"]["card_type"], active.get("confirmation")), (&json!("Mir"), None));
    let charged = outside.payment("b", json!({ "payment_method_id": active["id"], "confirmation": null })).await;
    assert_eq!(charged["status"], "succeeded");
}

#[tokio::test]
async fn a_declined_or_expired_binding_is_inactive() {
    let outside = outside().await;
    let (declined, forgotten) = (binding(&outside, "a", "bank_card").await, binding(&outside, "b", "sbp").await);
    let path = |object: &Value| format!("/payment_methods/{}", id(object));
    let (_, answer) = outside
        .post(&format!("/control{}", path(&declined)), json!({ "outcome": "succeed", "card": "5555555555554600" }))
        .await;
    assert_eq!((&answer["status"], &answer["saved"]), (&json!("inactive"), &json!(false)));
    outside.clock.advance(3_600);
    assert_eq!(outside.look(&path(&forgotten)).await.1["status"], "inactive");
    let charge = order(json!({ "payment_method_id": declined["id"], "confirmation": null }));
    let refused = outside.acquire("/payments", "c", Some(charge)).await;
    assert_refused(&refused, BAD, "invalid_request", "Payment method is not saved");
}

#[tokio::test]
async fn lists_are_filtered_and_paged_newest_first() {
    let outside = outside().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.insert(0, id(&outside.payment(&number.to_string(), json!({})).await).to_owned());
        outside.clock.advance(60);
    }
    outside.act(&json!({ "id": ids[2] }), json!({ "outcome": "succeed" })).await;
    let page = async |query: &str| {
        let (status, list) = outside.look(&format!("/payments?{query}")).await;
        assert_eq!((status, &list["type"]), (200, &json!("list")), "{list}");
        let found: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| id(item).to_owned()).collect();
        (found, list["next_cursor"].as_str().map(str::to_owned))
    };
    let (first, cursor) = page("limit=2").await;
    assert_eq!(first, ids[..2]);
    let (second, cursor) = page(&format!("limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!(second, ids[2..4]);
    let (last, end) = page(&format!("limit=2&cursor={}", cursor.unwrap())).await;
    assert_eq!((last.as_slice(), end), (&ids[4..], None));
    assert_eq!(page("status=succeeded").await.0, ids[2..3]);
    let span = "created_at.gte=2031-05-06T07:09:09.000Z&created_at.lt=2031-05-06T07:11:09.000Z";
    assert_eq!(page(span).await.0, ids[2..4]);
    assert_eq!(page("captured_at.gt=2031-05-06T07:00:00Z").await.0, ids[2..3]);
    for wrong in ["limit=0", "limit=101", "cursor=x", "created_at.gte=yesterday"] {
        let (status, body) = outside.look(&format!("/payments?{wrong}")).await;
        assert_eq!((status, &body["parameter"]), (400, &json!(wrong.split('=').next().unwrap())));
    }
}
