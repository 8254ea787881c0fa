//! Methods: every path answers the described ones and refuses all others.

use std::collections::{BTreeMap, BTreeSet};

use kontor::openapi::{description, pinned_text};
use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_web::policy::Access;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{TestServer, send};

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Returns every described path with its methods.
fn described() -> BTreeMap<String, BTreeSet<String>> {
    let api: Value = serde_json::from_str(&pinned_text(&description()).unwrap()).unwrap();
    let methods = |item: &Value| {
        let methods = item.as_object().unwrap().keys().map(|method| method.to_uppercase());
        methods.filter(|method| METHODS.contains(&method.as_str())).collect()
    };
    api["paths"].as_object().unwrap().iter().map(|(path, item)| (path.clone(), methods(item))).collect()
}

/// Returns `true` if a path has this form.
fn is_of(path: &str, form: &str) -> bool {
    let (path, form): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), form.split('/').collect());
    path.len() == form.len() && path.iter().zip(form).all(|(part, form)| form.starts_with('{') || *part == form)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_method_that_a_path_lacks_is_not_allowed() {
    let server = TestServer::start(TestDatabase::fresh(Kind::Sqlite)).await;
    let described = described();
    assert!(described.len() > 100);
    let mut wrong = Vec::new();
    for form in described.keys() {
        let parts = form.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        // A path may match two forms: `/api/discounts/stats` could be the number of a discount.
        let matching = described.iter().filter(|(form, _)| is_of(&path, form));
        let mut has: BTreeSet<&str> = matching.flat_map(|(_, methods)| methods).map(String::as_str).collect();
        // `HEAD` works wherever `GET` does.
        has.extend(has.contains("GET").then_some("HEAD"));
        for lacked in METHODS.into_iter().filter(|method| !has.contains(method)) {
            let answer = send(server.request(lacked.parse().unwrap(), &path)).await;
            let allow = answer.headers.get("allow").map(|allow| allow.to_str().unwrap().to_owned()).unwrap_or_default();
            let allowed: Vec<&str> = allow.split(", ").collect();
            let reported_once = allowed.len() == has.len() && allowed.iter().copied().collect::<BTreeSet<_>>() == has;
            if answer.status != 405 || !reported_once || !answer.json()["message"].is_string() {
                wrong.push(format!("{lacked} {path}: {} {allowed:?} instead of {has:?}", answer.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_where_a_number_belongs_is_no_record_though_it_is_a_path_of_its_own() {
    let shop = ShopFixture::open(TestDatabase::fresh(Kind::Sqlite)).await;
    let owner = shop.server.owner(&shop.project).await;
    let described = described();
    let mut asked = 0;
    for (path, methods) in described.iter().filter(|(path, _)| !path.contains('{')) {
        for (form, others) in described.iter().filter(|(form, _)| *form != path && is_of(path, form)) {
            for method in others.difference(methods) {
                let method: Method = method.parse().unwrap();
                let nobody = send(shop.server.request(method.clone(), path)).await;
                assert_eq!(nobody.status, 401, "{method} {path}, of {form}: {}", nobody.text);
                let request = if path.starts_with("/api/counterparty/") {
                    shop.server.as_customer(&shop.project, &shop.bearer, method.clone(), path)
                } else {
                    shop.server.as_staff(&owner, method.clone(), path)
                };
                let known = send(request).await;
                assert!(known.status.is_client_error(), "{method} {path}, of {form}: {} {}", known.status, known.text);
                asked += 1;
            }
        }
    }
    assert!(asked >= 4, "{asked}");
}

database_tests! {
    async fn a_read_that_is_repeated_answers_the_same(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 26_550).await;
        shop.server.db.database.rebuild_offers().await.unwrap();
        shop.promo("SPRING").await;
        shop.order(&shop.pickup(item, 2)).await.expect(201);
        let owner = shop.server.owner(&shop.project).await;
        let menus = format!("/api/applications/{}/menu_items", shop.project.application_id);
        let menu = json!({ "name": "Menu", "slug": "navpanel" });
        send(shop.server.as_staff(&owner, Method::POST, &menus).json(&menu)).await.expect(201);
        let mut reads = 0;
        for policy in policies::all().filter(|policy| policy.method == "GET" && !policy.path.contains('{')) {
            // Cursors contain the time of their creation.
            if policy.path.starts_with("/api/changes/") {
                continue;
            }
            let read = async || {
                let request = match policy.access {
                    Access::Staff(_) => shop.server.as_staff(&owner, Method::GET, policy.path),
                    _ => shop.server.as_customer(&shop.project, &shop.bearer, Method::GET, policy.path),
                };
                send(request).await
            };
            let (first, second) = (read().await, read().await);
            assert_eq!((first.status.as_u16(), &first.text), (200, &second.text), "{}", policy.path);
            reads += 1;
        }
        assert!(reads > 50, "{reads}");
    }

    async fn a_write_is_repeated_unless_it_has_the_same_key(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 26_550).await;
        let mut ids = BTreeSet::new();
        for key in [None, None, Some("one"), Some("one"), Some("another")] {
            let request = shop.server.as_customer(&shop.project, &shop.bearer, Method::POST, "/api/counterparty/orders");
            let request = match key {
                Some(key) => request.header("Idempotency-Key", key),
                None => request,
            };
            ids.insert(send(request.json(&shop.pickup(item, 1))).await.expect(201)["order"]["id"].as_i64().unwrap());
        }
        assert_eq!((ids.len(), shop.reserved(item).await), (4, 4));
    }
}
