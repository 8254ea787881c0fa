//! `Idempotency-Key` on both surfaces.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_adapter_diesel::testing::stays;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::{
    Second, assert_named, assert_replays, is_replayed, keyed, keys, lease, lose_answers, thrice, until_stored,
};
use crate::process::PATIENCE;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, Project, send};

const BRANDS: &str = "/api/brands";

async fn brand(fixture: &ProjectFixture, key: &str, name: &str) -> Answer {
    send(keyed(fixture.server.as_staff(&fixture.owner, Method::POST, BRANDS), key).json(&json!({ "name": name }))).await
}

async fn count(fixture: &ProjectFixture, table: &str) -> i64 {
    fixture.server.insert(format!("SELECT COUNT(*) AS id FROM {table}")).await
}

async fn order(shop: &ShopFixture, key: &str, body: &Value) -> Answer {
    let path = "/api/counterparty/orders";
    send(keyed(shop.server.as_customer(&shop.project, &shop.bearer, Method::POST, path), key).json(body)).await
}

/// Returns the first text in a response that looks like a token.
fn find_secret(body: &Value) -> Option<String> {
    match body {
        Value::String(text) => text.contains('|').then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(find_secret),
        Value::Object(fields) => fields.values().find_map(find_secret),
        _ => None,
    }
}

database_tests! {
    async fn a_request_is_carried_out_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = brand(&fixture, "key-1", "Acme").await;
        first.expect(201);
        assert_replays(&first, &brand(&fixture, "key-1", "Acme").await);
        until_stored(&fixture.server).await;
        assert_replays(&first, &brand(&fixture, "key-1", "Acme").await);
        let elsewhere = Second::start(&fixture.server);
        let again = elsewhere.as_staff(&fixture.server, &fixture.owner, Method::POST, BRANDS);
        assert_replays(&first, &send(keyed(again, "key-1").json(&json!({ "name": "Acme" }))).await);
        elsewhere.stop().await;
        assert_eq!((count(&fixture, "brands").await, keys(&fixture.server).await), (1, 1));
        let expires = first.headers["idempotency-key-expires"].to_str().unwrap();
        let expires = chrono::DateTime::parse_from_rfc2822(expires).unwrap();
        let hours = (expires.to_utc() - fixture.server.clock.now()).num_minutes();
        assert!((2_875..=2_880).contains(&hours), "{hours}");
        assert!(!is_replayed(&brand(&fixture, "key-2", "Acme").await));
        let keyless = fixture.post(BRANDS, json!({ "name": "Bolt" })).await;
        assert!(keyless.headers.get("idempotency-key-expires").is_none());
    }

    async fn a_key_is_one_within_its_caller_and_its_address(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = brand(&fixture, "k", "Acme").await;
        first.expect(201);
        let reused = brand(&fixture, "k", "Bolt").await;
        assert_named(&reused, 422, "idempotency_key_reused", "fix_input");
        until_stored(&fixture.server).await;
        assert_named(&brand(&fixture, "k", "Bolt").await, 422, "idempotency_key_reused", "fix_input");
        let departments = fixture.server.as_staff(&fixture.owner, Method::POST, "/api/departments");
        send(keyed(departments, "k").json(&json!({ "name": "Acme" }))).await.expect(201);
        let queried = fixture.server.as_staff(&fixture.owner, Method::POST, "/api/brands?a=1");
        let queried = send(keyed(queried, "k").json(&json!({ "name": "Acme" }))).await;
        assert!(!is_replayed(&queried));
        let other = fixture.server.staff_with(&fixture.project, &["create-brands", "view-brands"]).await;
        let other = fixture.server.as_staff(&other, Method::POST, BRANDS);
        assert!(!is_replayed(&send(keyed(other, "k").json(&json!({ "name": "Acme" }))).await));
        let outsider = fixture.server.owner(&fixture.server.project().await).await;
        let outsider = fixture.server.as_staff(&outsider, Method::POST, BRANDS);
        assert!(!is_replayed(&send(keyed(outsider, "k").json(&json!({ "name": "Acme" }))).await));
        let stolen = send(keyed(fixture.server.request(Method::POST, BRANDS), "k").json(&json!({ "name": "Acme" }))).await;
        stolen.expect(401);
    }

    async fn a_wrong_key_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (longest, too_long) = ("k".repeat(255), "k".repeat(256));
        for wrong in [too_long.as_str(), "", "two words"] {
            assert_named(&brand(&fixture, wrong, "Acme").await, 400, "idempotency_key_invalid", "fix_input");
        }
        let request = || fixture.server.as_staff(&fixture.owner, Method::POST, BRANDS).json(&json!({ "name": "Acme" }));
        let letters = reqwest::header::HeaderValue::from_bytes("ключ".as_bytes()).unwrap();
        let other_letters = send(request().header("Idempotency-Key", letters)).await;
        assert_named(&other_letters, 400, "idempotency_key_invalid", "fix_input");
        let two = send(keyed(keyed(request(), "a"), "b")).await;
        assert_named(&two, 400, "idempotency_key_invalid", "fix_input");
        let upload = fixture.server.as_staff(&fixture.owner, Method::POST, "/api/files");
        let form = reqwest::multipart::Form::new().text("file_type_id", "1");
        assert_named(&send(keyed(upload, "k").multipart(form)).await, 400, "idempotency_key_invalid", "fix_input");
        assert_eq!((count(&fixture, "brands").await, keys(&fixture.server).await), (0, 0));
        brand(&fixture, &longest, "Acme").await.expect(201);
        let read = fixture.server.as_staff(&fixture.owner, Method::GET, BRANDS);
        send(keyed(read, &too_long)).await.expect(200);
    }

    async fn of_many_equal_requests_one_acts(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let answers = join_all((0..20).map(|_| brand(&fixture, "k", "Acme"))).await;
        let (firsts, others): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| !is_replayed(answer));
        assert_eq!((firsts.len(), others.len()), (1, 19));
        for again in others {
            assert_replays(firsts[0], again);
        }
        let elsewhere = Second::start(&fixture.server);
        let there = || {
            let request = elsewhere.as_staff(&fixture.server, &fixture.owner, Method::POST, "/api/departments");
            send(keyed(request, "k").json(&json!({ "name": "Sales" })))
        };
        let here = || {
            let request = fixture.server.as_staff(&fixture.owner, Method::POST, "/api/departments");
            send(keyed(request, "k").json(&json!({ "name": "Sales" })))
        };
        let answers = futures_util::future::join(join_all((0..10).map(|_| here())), join_all((0..10).map(|_| there()))).await;
        let bodies: std::collections::BTreeSet<String> =
            answers.0.iter().chain(&answers.1).map(|answer| answer.expect(201).to_string()).collect();
        assert_eq!((bodies.len(), count(&fixture, "departments").await), (1, 1));
        elsewhere.stop().await;
    }

    async fn refusals_are_kept_and_wrong_fields_are_not(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let department = fixture.create("/api/departments", json!({ "name": "Sales" })).await;
        let user = fixture.get("/api/user").await.expect(200)["user"]["id"].clone();
        fixture.server.execute(&format!("UPDATE users SET department_id = {department} WHERE id = {user}")).await;
        let path = format!("/api/departments/{department}");
        let delete = || send(keyed(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path), "k"));
        let refused = delete().await;
        refused.expect(422);
        fixture.server.execute("UPDATE users SET department_id = NULL").await;
        assert_replays(&refused, &delete().await);
        until_stored(&fixture.server).await;
        assert_replays(&refused, &delete().await);
        fixture.delete(&path).await.expect(200);
        // Wrong fields or a missing permission: the next request with the key is processed again.
        brand(&fixture, "b", "").await.expect_invalid(&["name"]);
        brand(&fixture, "b", "Acme").await.expect(201);
        let bearer = fixture.server.staff_with(&fixture.project, &["view-brands"]).await;
        let request = || fixture.server.as_staff(&bearer, Method::POST, BRANDS).json(&json!({ "name": "Bolt" }));
        send(keyed(request(), "c")).await.expect(403);
        fixture.server.execute(
            "INSERT INTO role_permissions (project_id, role_id, permission_id) \
             SELECT r.project_id, r.id, p.id FROM roles r, permissions p \
             WHERE r.name = 'Role' AND p.name = 'create-brands'",
        ).await;
        send(keyed(request(), "c")).await.expect(201);
    }

    async fn a_structured_refusal_is_repeated_with_its_request(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let ask = |key: &'static str| {
            let path = "/api/counterparty/callback_auth/init";
            let body = json!({ "phone": "79001234567", "client_nonce": "y".repeat(40) });
            send(keyed(shop.server.as_app(&shop.project, Method::POST, path), key).json(&body))
        };
        ask("a").await.expect(200);
        let (refused, again) = (ask("b").await, ask("b").await);
        assert!(refused.status.is_client_error() && refused.json()["error"]["code"].is_string(), "{}", refused.text);
        assert_replays(&refused, &again);
        until_stored(&shop.server).await;
        assert_replays(&refused, &ask("b").await);
    }

    async fn the_record_is_read_when_the_response_is_lost(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, warehouse) = (fixture.goods("Vase").await, fixture.warehouse("Main").await);
        let category = fixture.create("/api/categories", json!({ "name": "All" })).await;
        let brand = fixture.create(BRANDS, json!({ "name": "Old" })).await;
        let shown = format!("/api/applications/{}", fixture.project.application_id);
        let writes = [
            (Method::POST, BRANDS.to_owned(), json!({ "name": "Acme" })),
            (Method::PUT, format!("{BRANDS}/{brand}"), json!({ "name": "New" })),
            (Method::POST, "/api/departments".to_owned(), json!({ "name": "Sales" })),
            (Method::POST, "/api/branches".to_owned(), json!({ "name": "North" })),
            (Method::POST, "/api/roles".to_owned(), json!({ "name": "Clerk" })),
            (Method::POST, "/api/warehouses".to_owned(), json!({ "name": "W", "branch_id": fixture.project.branch_id })),
            (Method::POST, "/api/nomenclatures".to_owned(), json!({ "name": "Cup", "kind_id": 2 })),
            (Method::PUT, format!("/api/nomenclatures/{item}"), json!({ "name": "Bowl" })),
            (Method::POST, "/api/inventories".to_owned(),
                json!({ "nomenclature_id": item, "warehouse_id": warehouse, "quantity": 3, "price": "5.00" })),
            (Method::POST, "/api/agents".to_owned(), json!({ "name": "Bot", "permissions": ["view-orders"] })),
            (Method::POST, format!("{shown}/brands"), json!({ "brand_id": brand })),
            (Method::POST, format!("{shown}/categories"), json!({ "category_id": category })),
            (Method::POST, format!("{shown}/brands/{brand}/up"), json!({})),
        ];
        for (method, path, body) in writes {
            let request = || fixture.server.as_staff(&fixture.owner, method.clone(), &path).json(&body);
            let [first, again, recovered] = thrice(&fixture.server, "k", request).await;
            assert!(first.status.is_success(), "{path}: {}", first.text);
            assert_replays(&first, &again);
            assert_eq!((recovered.status, recovered.json()), (first.status, first.json()), "{path}");
            assert!(is_replayed(&recovered), "{path}");
        }
        let gone = format!("/api/departments/{}", fixture.create("/api/departments", json!({ "name": "Left" })).await);
        let request = || fixture.server.as_staff(&fixture.owner, Method::DELETE, &gone);
        let [first, _, recovered] = thrice(&fixture.server, "k", request).await;
        assert_eq!((first.status, recovered.status), (recovered.status, first.status));
        assert!(recovered.expect(200)["message"].is_string());
    }

    async fn unreadable_input_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("/api/branches/{}/bank_requisites", fixture.project.branch_id);
        let body = json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" });
        let account = || fixture.server.as_staff(&fixture.owner, Method::POST, &path).json(&body);
        let [first, _, lost] = thrice(&fixture.server, "k", account).await;
        let id = first.expect(201)["bankRequisite"]["id"].clone();
        let error = assert_named(&lost, 409, "idempotency_result_lost", "contact_support");
        assert!(error["message"].as_str().unwrap().contains(&format!("branch-bank-requisites/{id}")), "{error}");
        // The record was deleted in the meantime.
        let department = || fixture.server.as_staff(&fixture.owner, Method::POST, "/api/departments").json(&json!({ "name": "A" }));
        let first = send(keyed(department(), "k")).await.expect(201)["department"]["id"].clone();
        lose_answers(&fixture.server).await;
        fixture.delete(&format!("/api/departments/{first}")).await.expect(200);
        fixture.server.clock.advance(31);
        assert_named(&send(keyed(department(), "k")).await, 409, "idempotency_result_lost", "contact_support");
        assert_eq!(count(&fixture, "departments").await, 0);
    }

    async fn another_process_is_waited_for_as_long_as_its_lease(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = brand(&fixture, "k", "Acme").await;
        lose_answers(&fixture.server).await;
        lease(&fixture.server, 59).await;
        let started = Instant::now();
        let busy = brand(&fixture, "k", "Acme").await;
        assert_named(&busy, 409, "idempotency_in_progress", "poll");
        assert!(started.elapsed().as_secs_f64() > 4.5);
        // `Retry-After` is the rest of the lease, rounded up.
        let wait: i64 = busy.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((40..=55).contains(&wait), "{wait}");
        fixture.server.clock.advance(wait);
        assert!(is_replayed(&brand(&fixture, "k", "Acme").await));
        // The wait ends when the lease expires.
        lease(&fixture.server, 2).await;
        assert!(is_replayed(&brand(&fixture, "k", "Acme").await));
        lease(&fixture.server, 60).await;
        // The payload is checked first.
        assert_named(&brand(&fixture, "k", "Bolt").await, 422, "idempotency_key_reused", "fix_input");
        fixture.server.clock.advance(61);
        let recovered = brand(&fixture, "k", "Acme").await;
        assert_eq!((recovered.status, recovered.json()), (first.status, first.json()));
        assert_eq!(count(&fixture, "brands").await, 1);
    }

    async fn a_key_ends_and_is_swept(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        brand(&fixture, "k", "Acme").await.expect(201);
        until_stored(&fixture.server).await;
        fixture.server.clock.advance(48 * 3_600 - 60);
        assert!(is_replayed(&brand(&fixture, "k", "Acme").await));
        fixture.server.clock.advance(60);
        let newest = async || fixture.server.insert("SELECT max(number) AS id FROM idempotency_keys".to_owned()).await;
        let first = newest().await;
        let renewed = brand(&fixture, "k", "Acme").await;
        assert!(!is_replayed(&renewed) && keys(&fixture.server).await == 1);
        let until = Instant::now() + PATIENCE;
        while newest().await == first {
            retry_until!(until, "the new answer takes the place of the old one");
        }
        fixture.server.clock.advance(49 * 3_600);
        for table in ["idempotency_keys", "idempotency_answers"] {
            let swept = SWEPT_TABLES.iter().find(|swept| swept.table == table).unwrap();
            let retention = TimeDelta::days(30);
            assert_eq!(fixture.server.db.database.sweep(swept, fixture.server.clock.now(), retention).await.unwrap(), 1);
        }
    }

    async fn neither_a_secret_nor_a_key_is_stored(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = fixture.create("/api/agents", json!({ "name": "Bot", "permissions": ["view-orders"] })).await;
        let (key, path) = ("a-key-of-the-client", format!("/api/agents/{agent}/tokens"));
        let body = json!({ "name": "t", "abilities": ["view-orders"], "expires_in_days": 5 });
        let issue = || send(keyed(fixture.server.as_staff(&fixture.owner, Method::POST, &path), key).json(&body));
        let first = issue().await;
        assert!(first.status.is_success(), "{}", first.text);
        until_stored(&fixture.server).await;
        assert_replays(&first, &issue().await);
        let token = find_secret(&first.json()).unwrap();
        let (secret, is_postgres) = (token.split('|').next_back().unwrap(), !fixture.server.db.database.url().to_string().starts_with("sqlite"));
        for needle in [secret, key, "Bot", "access_token"] {
            let (answer, id) = if is_postgres {
                (format!("position('{needle}'::bytea in answer) > 0"), format!("position('{needle}' in id || fingerprint) > 0"))
            } else {
                (format!("instr(answer, CAST('{needle}' AS BLOB)) > 0"), format!("instr(id || fingerprint, '{needle}') > 0"))
            };
            assert_eq!(count(&fixture, &format!("idempotency_answers WHERE {answer}")).await, 0, "{needle}");
            assert_eq!(count(&fixture, &format!("idempotency_keys WHERE {id}")).await, 0, "{needle}");
        }
        assert_eq!(count(&fixture, "idempotency_answers").await, 1);
    }

    async fn an_order_is_placed_once(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        let body = shop.pickup(item, 2);
        let answers = join_all((0..20).map(|_| order(&shop, "k", &body))).await;
        let first = answers.iter().find(|answer| !is_replayed(answer)).unwrap();
        first.expect(201);
        for again in answers.iter().filter(|answer| is_replayed(answer)) {
            assert_replays(first, again);
        }
        assert_eq!((shop.count("orders").await, shop.reserved(item).await), (1, 2));
        lose_answers(&shop.server).await;
        shop.server.clock.advance(31);
        let recovered = order(&shop, "k", &body).await;
        assert_eq!(recovered.expect(201), first.expect(201));
        // The items that are out of stock were ordered under this key.
        let all = shop.pickup(item, 8);
        let last = order(&shop, "last", &all).await;
        last.expect(201);
        assert_replays(&last, &order(&shop, "last", &all).await);
        order(&shop, "more", &all).await.expect(422);
        assert_eq!(shop.count("orders").await, 2);
    }

    async fn an_order_by_staff_is_placed_once(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let owner = shop.server.owner(&shop.project).await;
        let mut body = shop.pickup(item, 5);
        body["counterparty_id"] = shop.server.insert("SELECT max(id) AS id FROM counterparties".to_owned()).await.into();
        body["application_id"] = shop.project.application_id.into();
        let order = |body: Value| {
            let request = shop.server.as_staff(&owner, Method::POST, "/api/orders");
            send(keyed(request, "k").json(&body))
        };
        let first = order(body.clone()).await;
        first.expect(201);
        until_stored(&shop.server).await;
        // Everything is sold: a new order would be refused.
        assert_replays(&first, &order(body.clone()).await);
        for other in [json!({ "products": [] }), shop.pickup(item, 4)] {
            assert_named(&order(other).await, 422, "idempotency_key_reused", "fix_input");
        }
        let elsewhere = Second::start(&shop.server);
        let there = elsewhere.as_staff(&shop.server, &owner, Method::POST, "/api/orders");
        assert_replays(&first, &send(keyed(there, "k").json(&body)).await);
        elsewhere.stop().await;
        lose_answers(&shop.server).await;
        assert_named(&order(body.clone()).await, 409, "idempotency_in_progress", "poll");
        shop.server.clock.advance(31);
        let recovered = order(body).await;
        assert_eq!((recovered.expect(201), is_replayed(&recovered)), (first.expect(201), true));
        assert_eq!((shop.count("orders").await, shop.reserved(item).await), (1, 5));
    }

    async fn a_key_costs_an_order_one_statement(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(100, 26_550).await;
        let body = shop.pickup(item, 1);
        let plain = shop.server.fewest_statements(async || shop.order(&body).await.expect(201)).await;
        let mut round = 0;
        let under_a_key = async || {
            round += 1;
            order(&shop, &format!("k{round}"), &body).await.expect(201)
        };
        let with_key = shop.server.fewest_statements(under_a_key).await;
        assert_eq!(with_key, plain + 1, "one row in the commit");
    }

    async fn an_order_with_an_unknown_payment_shows_its_state(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        shop.fault("http_500_after_commit", 1).await;
        let body = shop.online(item);
        let first = order(&shop, "k", &body).await;
        first.expect(202);
        let again = order(&shop, "k", &body).await;
        assert!(is_replayed(&again));
        assert_eq!(again.expect(201)["order"]["id"], first.expect(202)["order"]["id"]);
        assert_eq!((shop.count("orders").await, shop.payments().await.len()), (1, 1));
    }

    async fn a_refused_payment_is_refused_again_and_places_no_other_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        shop.fault("refuse", 1).await;
        let body = shop.online(item);
        let first = order(&shop, "k", &body).await;
        first.expect(502);
        assert_replays(&first, &order(&shop, "k", &body).await);
        until_stored(&shop.server).await;
        assert_replays(&first, &order(&shop, "k", &body).await);
        assert_eq!((shop.count("orders").await, shop.payments().await.len()), (1, 0));
        order(&shop, "another", &body).await.expect(201);
    }

    async fn a_slow_acquirer_is_waited_for_and_no_order_comes_twice(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        let plan = json!({ "service": "acquirer", "fault": "delay", "times": 1, "delay_ms": 6_500 });
        shop.control("/faults", plan).await;
        let body = shop.online(item);
        let slow = order(&shop, "k", &body);
        let impatient = async {
            let until = Instant::now() + PATIENCE;
            while keys(&shop.server).await == 0 {
                retry_until!(until, "the first request leases its key");
            }
            order(&shop, "k", &body).await
        };
        let (slow, impatient) = futures_util::future::join(slow, impatient).await;
        assert_named(&impatient, 409, "idempotency_in_progress", "poll");
        assert!(slow.status.is_success(), "{}", slow.text);
        let again = order(&shop, "k", &body).await;
        assert!(is_replayed(&again));
        assert_eq!(again.json()["order"]["id"], slow.json()["order"]["id"]);
        assert_eq!((shop.count("orders").await, shop.payments().await.len()), (1, 1));
    }

    async fn deleting_a_customer_deletes_the_keys(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        let path = "/api/counterparty/products/favourites";
        let like = || {
            let request = shop.server.as_customer(&shop.project, &shop.bearer, Method::POST, path);
            keyed(request, "like").json(&json!({ "product_id": item }))
        };
        send(like()).await;
        let profile = shop.server.as_customer(&shop.project, &shop.bearer, Method::PUT, "/api/counterparty");
        send(keyed(profile, "k").json(&json!({ "first_name": "Anna" }))).await.expect(200);
        until_stored(&shop.server).await;
        assert!(keys(&shop.server).await >= 1);
        let leave = shop.server.as_customer(&shop.project, &shop.bearer, Method::DELETE, "/api/counterparty");
        send(keyed(leave, "leave")).await.expect(200);
        assert_eq!((keys(&shop.server).await, shop.count("idempotency_answers").await), (0, 0));
        let left = async || (keys(&shop.server).await, shop.count("idempotency_answers").await);
        let what = "an answer that comes later brings nothing back";
        stays(Duration::from_millis(600), what, async || left().await == (0, 0)).await;
    }

    async fn a_weaker_token_gets_no_secret_from_a_replayed_response(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = async |permissions: &[&str]| {
            let id = fixture.create("/api/agents", json!({ "name": "Bot", "permissions": permissions })).await;
            format!("/api/agents/{id}/tokens")
        };
        let maker = agent(&["edit-agents", "view-orders"]).await;
        let target = agent(&["view-orders"]).await;
        let token = async |abilities: &[&str]| {
            let issued = fixture.post(&maker, json!({ "name": "T", "abilities": abilities })).await.expect(201);
            issued["access_token"]["value"].as_str().unwrap().to_owned()
        };
        let (strong, weak) = (token(&["edit-agents", "view-orders"]).await, token(&["edit-agents"]).await);
        let issue = async |bearer: &str| {
            send(keyed(fixture.server.as_staff(bearer, Method::POST, &target), "k").json(&json!({ "name": "T" }))).await
        };
        let first = issue(&strong).await;
        assert!(first.expect(201)["access_token"]["value"].is_string());
        for _ in 0..2 {
            let refused = issue(&weak).await;
            refused.expect(403);
            assert!(!is_replayed(&refused));
            assert_replays(&first, &issue(&strong).await);
            until_stored(&fixture.server).await;
        }
    }

    async fn an_application_sees_no_order_of_another_one(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let other_application = json!({ "name": "Twin", "branch_id": shop.project.branch_id });
        let other_application = shop.employee(Method::POST, "/api/applications", &other_application).await.expect(201)["application"].clone();
        let (application_id, app_token) = (other_application["id"].as_i64().unwrap(), other_application["token"].as_str().unwrap().to_owned());
        let link = "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) VALUES";
        shop.server.execute(&format!("{link} ({}, {}, {application_id})", shop.project.id, shop.warehouse)).await;
        let other_application = Project { application_id, app_token, ..shop.project.clone() };
        let there = shop.server.token(&other_application, "counterparty", shop.customer, Some(application_id)).await;
        let again = shop.server.token(&shop.project, "counterparty", shop.customer, Some(shop.project.application_id)).await;
        let order = async |project: &Project, bearer: &str| {
            let path = "/api/counterparty/orders";
            send(keyed(shop.server.as_customer(project, bearer, Method::POST, path), "k").json(&shop.pickup(item, 1))).await
        };
        let first = order(&shop.project, &shop.bearer).await;
        let (elsewhere, renewed) = (order(&other_application, &there).await, order(&shop.project, &again).await);
        let numbers = [&first, &elsewhere, &renewed].map(|answer| answer.expect(201)["order"]["id"].to_string());
        assert_eq!(std::collections::BTreeSet::from(numbers).len(), 3);
        assert_replays(&first, &order(&shop.project, &shop.bearer).await);
        assert_replays(&elsewhere, &order(&other_application, &there).await);
    }
}
