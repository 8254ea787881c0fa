//! The client against a service that answers from a script.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod server;

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use kontor_client::types::{IntrospectionRequest, NewFavourite, PageQuery, ProductRecord, StaffListOrdersQuery};
use kontor_client::{Client, Error, Method, Money, NextAction, Retries};
use serde_json::{Value, json};

use crate::server::{Server, header, response};

const DONE: &str = r#"{"message":"Done."}"#;

fn product(id: i64) -> Value {
    json!({
        "id": id, "name": "Mug", "article": null, "price": "265.00", "old_price": null, "category": null, "brand": null,
        "kind_id": 2, "quantity": 5, "photos": [], "is_favourite": false, "parameters": {}, "of_a_newer_service": 1,
    })
}

fn page(ids: &[i64], total: i64) -> String {
    let data: Vec<Value> = ids.iter().map(|id| product(*id)).collect();
    let page = json!({ "data": data, "current_page": 1, "last_page": 2, "per_page": 2, "total": total });
    response("200 OK", "", &json!({ "products": page }).to_string())
}

#[tokio::test]
async fn a_refusal_has_every_field_and_the_next_step() {
    let body = json!({
        "message": "idempotency_key_reused",
        "error": { "code": "idempotency_key_reused", "message": "Use a new key.", "next_action": "fix_input",
                   "retry_after_seconds": null, "request_id": "r-1" },
        "errors": { "products.0.id": ["is required"], "phone": ["is required", "must be a phone"] },
    });
    let server = Server::start(vec![response("422 Unprocessable Entity", "X-Request-ID: r-1\r\n", &body.to_string())]);
    let error = server.client().application("t").add_favourite(&NewFavourite { product_id: 1 }).await.unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.status, refusal.code.as_deref()), (422, Some("idempotency_key_reused")));
    assert_eq!((refusal.message.as_str(), refusal.request_id.as_deref()), ("Use a new key.", Some("r-1")));
    assert_eq!(refusal.next_action, Some(NextAction::FixInput));
    assert_eq!(refusal.fields.keys().collect::<Vec<_>>(), ["phone", "products.0.id"]);
    assert_eq!(refusal.fields["phone"], ["is required", "must be a phone"]);
    assert_eq!(
        error.to_string(),
        "422 idempotency_key_reused: Use a new key.; phone: is required, must be a phone; products.0.id: is required \
         (request r-1)"
    );
}

#[tokio::test]
async fn a_refusal_by_a_proxy_has_its_status() {
    let server = Server::start(vec![response("502 Bad Gateway", "", "<html>")]);
    let error = server.client().application("t").list_tags().await.unwrap_err();
    assert_eq!((error.status(), error.to_string()), (Some(502), "502".to_owned()));
}

#[tokio::test]
async fn a_write_is_repeated_under_one_key() {
    let busy = response("503 Service Unavailable", "Retry-After: 0\r\n", DONE);
    let done = response("200 OK", "Idempotent-Replayed: true\r\nETag: \"3\"\r\n", DONE);
    let server = Server::start(vec![busy, String::new(), done]);
    let call = server.client().application("t").remove_favourite(1);
    let key = call.key().unwrap().to_owned();
    let answer = call.send().await.unwrap();
    assert_eq!((answer.body.message.as_str(), answer.replayed, answer.etag.as_deref()), ("Done.", true, Some("\"3\"")));
    let requests = server.requests();
    assert!(requests.iter().all(|request| header(request, "idempotency-key") == Some(&key)), "{requests:?}");
    assert_eq!((requests.len(), key.len()), (3, 36));
}

#[tokio::test]
async fn keys_of_calls_differ_and_callers_can_give_one() {
    let shop = Client::new("http://127.0.0.1:9").unwrap().application("t");
    let keys = [shop.remove_favourite(1), shop.remove_favourite(1), shop.remove_favourite(1).idempotency_key("mine")];
    assert!(keys[0].key() != keys[1].key() && keys[2].key() == Some("mine"));
    assert!(shop.list_tags().key().is_none(), "a read has no key");
}

#[tokio::test]
async fn a_write_without_a_key_is_sent_once() {
    let server = Server::start(vec![response("503 Service Unavailable", "", DONE)]);
    let call = server.client().application("t").remove_favourite(1).without_idempotency_key();
    assert_eq!(call.await.unwrap_err().status(), Some(503));
    assert_eq!(header(&server.requests()[0], "idempotency-key"), None);
}

#[tokio::test]
async fn an_error_has_the_key_of_its_write() {
    let failed = response("500 Internal Server Error", "", DONE);
    for answer in [String::new(), response("200 OK", "", "[]"), failed] {
        let server = Server::start(vec![answer]);
        let shop = server.client().with_retries(Retries::NONE).application("t");
        let error = shop.remove_favourite(1).await.unwrap_err();
        let key = error.key().unwrap();
        assert_eq!(header(&server.requests()[0], "idempotency-key"), Some(key), "{error}");
    }
    let nowhere = Client::new("http://127.0.0.1:9").unwrap().with_retries(Retries::NONE).application("t");
    assert_eq!(nowhere.list_tags().await.unwrap_err().key(), None, "a read has no key");
}

#[tokio::test]
async fn a_call_that_waits_for_approval_is_repeated_under_its_key() {
    let waits = r#"{"agentAction":{"publicId":"0b9c1f5e","state":"proposed"}}"#;
    let unclear = response("202 Accepted", "", DONE);
    let server = Server::start(vec![response("202 Accepted", "", waits), response("200 OK", "", DONE), unclear]);
    let agent = server.client().staff("1|t");
    let error = agent.cancel_order(1).await.unwrap_err();
    assert!(matches!(&error, Error::WaitsForApproval { id, .. } if id == "0b9c1f5e"), "{error}");
    let key = error.key().unwrap();
    assert_eq!(agent.cancel_order(1).idempotency_key(key).await.unwrap().message, "Done.");
    let requests = server.requests();
    assert_eq!((requests.len(), header(&requests[0], "idempotency-key")), (2, Some(key)));
    assert_eq!(header(&requests[1], "idempotency-key"), Some(key));
    assert_eq!(agent.cancel_order(1).send().await.unwrap().status, 202, "other calls have a `202` of their own");
}

#[tokio::test]
async fn attempts_and_pauses_have_an_end() {
    let limited = |seconds: &str| response("429 Too Many Requests", &format!("Retry-After: {seconds}\r\n"), DONE);
    let server = Server::start(vec![limited("3600")]);
    let error = server.client().application("t").list_tags().await.unwrap_err();
    assert_eq!(error.refusal().unwrap().retry_after, Some(Duration::from_hours(1)));
    assert_eq!(server.requests().len(), 1);

    let server = Server::start(vec![limited("0"), limited("0"), limited("0")]);
    assert_eq!(server.client().application("t").list_tags().await.unwrap_err().status(), Some(429));
    assert_eq!(server.requests().len(), 3);

    let server = Server::start(vec![limited("0")]);
    let once = server.client().with_retries(Retries::NONE).application("t");
    assert_eq!(once.list_tags().await.unwrap_err().status(), Some(429));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn credentials_are_sent_where_they_belong() {
    let introspected = response("200 OK", "", r#"{"active":false}"#);
    let done = || response("200 OK", "", DONE);
    let server = Server::start(vec![done(), done(), introspected]);
    let client = server.client();
    client.application("app").with_customer("1|a").remove_favourite(1).await.unwrap();
    let _: Value = client.staff("2|b").call(Method::GET, "/api/tasks").await.unwrap();
    let body = IntrospectionRequest { token: "1|a".into(), audience: "lessons".to_owned() };
    assert!(!client.backend("id", "secret").introspect(&body).await.unwrap().active);
    let requests = server.requests();
    let sent = |at: usize| (header(&requests[at], "token"), header(&requests[at], "authorization"));
    assert_eq!(sent(0), (Some("app"), Some("Bearer 1|a")));
    assert_eq!(sent(1), (None, Some("Bearer 2|b")));
    assert_eq!(sent(2), (None, Some("Basic aWQ6c2VjcmV0")));
    assert!(requests[2].ends_with("\r\n\r\naudience=lessons&token=1%7Ca"), "{}", requests[2]);
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let server = Server::start(vec![page(&[1, 2], 3), page(&[3], 3)]);
    let shop = server.client().application("t");
    let query = PageQuery { per_page: Some(2), ..PageQuery::default() };
    let all: Vec<ProductRecord> = shop.list_favourites_pages(query).all().await.unwrap();
    assert_eq!(all.iter().map(|product| product.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(all[0].price, Money::from_minor(26_500));
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /api/counterparty/products/favourites?page=1&per_page=2 "), "{}", requests[0]);
    assert!(requests[1].starts_with("GET /api/counterparty/products/favourites?page=2&per_page=2 "), "{}", requests[1]);

    let server = Server::start(vec![page(&[1, 2], 5), page(&[], 5)]);
    let pages = server.client().application("t").list_favourites_pages(PageQuery::default());
    let ids: Vec<i64> = pages.stream().map_ok(|product| product.id).try_collect().await.unwrap();
    assert_eq!(ids, [1, 2], "an empty page is the last");

    let server = Server::start(vec![page(&[1, 2], 5), response("404 Not Found", "", DONE)]);
    let pages = server.client().application("t").list_favourites_pages(PageQuery::default());
    let ends: Vec<bool> = pages.stream().map(|item| item.is_ok()).collect().await;
    assert_eq!(ends, [true, true, false], "an error is the last");
}

#[tokio::test]
async fn filters_are_sent_as_the_description_says() {
    let server = Server::start(vec![response("200 OK", "", r#"{"orders":[],"ordersCount":0}"#)]);
    let price_gt = Some(Money::from_minor(1_050));
    let query = StaffListOrdersQuery { status_id: vec![1, 22], price_gt, ..StaffListOrdersQuery::default() };
    server.client().staff("1|t").list_orders(&query).await.unwrap();
    let requests = server.requests();
    let line = requests[0].lines().next().unwrap();
    let mut pairs: Vec<&str> = line.split([' ', '?', '&']).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, ["/api/orders", "GET", "HTTP/1.1", "price_gt=10.50", "status_id%5B%5D=1", "status_id%5B%5D=22"]);
}

#[tokio::test]
async fn unsendable_requests_and_unreadable_responses_are_errors() {
    for url in ["", "shop.example", "ftp://shop.example"] {
        assert!(matches!(Client::new(url).err(), Some(Error::Invalid(_))), "{url}");
    }
    let server = Server::start(vec![response("200 OK", "", r#"{"tags":"none"}"#)]);
    let error = server.client().application("t").list_tags().await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { status: 200, .. }), "{error}");
    let unsendable = server.client().application("a\nb").list_tags().await.unwrap_err();
    assert!(matches!(unsendable, Error::Invalid(_)), "{unsendable}");
    let nowhere = Client::new("http://127.0.0.1:9").unwrap().with_retries(Retries::NONE).application("t");
    assert!(matches!(nowhere.list_tags().await.unwrap_err(), Error::Unreachable { .. }));
}
