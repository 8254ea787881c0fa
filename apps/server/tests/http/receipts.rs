//! Fiscal receipts, from the order to the cash register.

use std::time::Instant;

use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::ProjectId;
use kontor_payments::model::{ReceiptTerms, TaxSystem, VatCode};
use kontor_payments::ports::ReceiptSettings;
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::{PATIENCE, ProcessEnvironment};
use crate::shop_fixture::ShopFixture;
use crate::support::send;

impl ShopFixture {
    async fn has_receipts_made(&self) {
        let terms = ReceiptTerms { tax_system: TaxSystem::new(1).ok(), default_vat: VatCode::new(4).unwrap() };
        let project = ProjectId::new(self.project.id).unwrap();
        assert!(self.server.db.database.set_receipt_terms(project, Some(terms)).await.unwrap());
    }

    /// Creates an order that is paid online.
    async fn paid(&self, item: i64) -> i64 {
        let order = self.order(&self.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        self.pays("succeed").await;
        self.until(order, 22).await;
        order
    }

    /// Waits until a receipt has this state.
    async fn until_receipt(&self, is: &str) {
        let until = Instant::now() + PATIENCE;
        while self.count(&format!("receipts WHERE {is}")).await == 0 {
            retry_until!(until, "no receipt is {is}");
        }
    }

    /// Returns the handover receipts in the cash register.
    async fn handed_over(&self) -> Vec<Value> {
        let url = format!("{}/control/receipts", self.sandbox.url());
        send(self.server.http.get(url)).await.expect(200)["receipts"].as_array().unwrap().clone()
    }

    /// Starts another worker of the same service.
    fn second_worker(&self, folder: &std::path::Path) -> Instance {
        let config = Config {
            acquirer_url: format!("{}/v3", self.sandbox.url()),
            acquirer_shop_id: "100500".into(),
            acquirer_secret_key: "test_sandbox_secret_key".to_owned().into(),
            files_folder: folder.join("files").display().to_string(),
            import_folder: folder.display().to_string(),
            webhook_allow_internal: true,
            ..Config::default()
        };
        let (database, clock) = (&self.server.db.database, self.server.clock.clone());
        Instance::start(&config, database, clock, None, Roles::Worker).unwrap()
    }
}

database_tests! {
    /// The acquirer refuses a partial refund of a payment with a receipt if it has no receipt, or one with another
    /// sum.
    async fn a_partial_refund_has_a_receipt_of_its_own(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        shop.has_receipts_made().await;
        let item = shop.goods(5, 33_333).await;
        let mut body = shop.online(item);
        body["products"][0]["quantity"] = json!(3);
        let order = shop.order(&body).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        let owner = shop.server.owner(&shop.project).await;
        let staff = async |method, path: &str, body: Value| {
            let path = format!("/api/orders/{order}{path}");
            send(shop.server.as_staff(&owner, method, &path).json(&body)).await.expect(200)["order"].clone()
        };
        let line = staff(Method::GET, "", json!({})).await["reservations"][0]["id"].clone();
        let back = json!({ "lines": [{ "id": line, "quantity": 1 }], "reason": "broken", "restock": true });
        staff(Method::POST, "/request-refund", back).await;
        shop.until_refunded(order, "333.33").await;
        staff(Method::POST, "/request-refund", json!({ "amount": "100.01", "reason": "late", "restock": true })).await;
        shop.until_refunded(order, "433.34").await;
        // The remaining units are handed over, and refunded as handed over.
        staff(Method::PUT, "", json!({ "status_id": 5 })).await;
        shop.until_receipt("kind = 'hand_over' AND state = 'succeeded'").await;
        let handed: i64 = shop.handed_over().await[0]["items"].as_array().unwrap().iter()
            .map(|line| {
                let price: i64 = line["amount"]["value"].as_str().unwrap().replace('.', "").parse().unwrap();
                price * line["quantity"].as_i64().unwrap()
            })
            .sum();
        assert_eq!(handed, 99_999 - 43_334);
        let rest = staff(Method::POST, "/request-refund", json!({ "everything": true, "reason": "all", "restock": true })).await;
        assert_eq!(rest["payment_state"], "partially_refunded");
        shop.until_refunded(order, "999.99").await;
        assert_eq!(staff(Method::GET, "", json!({})).await["payment_state"], "refunded");
    }

    async fn a_prepaid_order_has_a_receipt_and_a_second_one_at_hand_over(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let folder = tempfile::tempdir().unwrap();
        let second = shop.second_worker(folder.path());
        shop.has_receipts_made().await;
        shop.control("/acquirer", json!({ "receipts": "pending" })).await;
        let item = shop.goods(5, 26_550).await;
        let order = shop.paid(item).await;
        let slip = shop.payments().await[0]["receipt"].clone();
        assert_eq!((&slip["customer"]["phone"], &slip["tax_system_code"]), (&json!("79001234567"), &json!(1)));
        assert_eq!(slip["items"].as_array().unwrap().len(), 1);
        let line = &slip["items"][0];
        assert_eq!((&line["description"], &line["amount"]["value"], &line["quantity"]), (&json!("Vase"), &json!("265.50"), &json!(1)));
        assert_eq!((&line["vat_code"], &line["payment_mode"]), (&json!(4), &json!("full_prepayment")));
        shop.until_receipt("kind = 'payment' AND state = 'pending' AND checks > 0").await;
        shop.control("/acquirer", json!({ "receipts": "succeeded" })).await;
        shop.server.clock.advance(10);
        shop.until_receipt("kind = 'payment' AND state = 'succeeded'").await;

        // The register has the second receipt, and the response is lost: two workers continue.
        shop.fault("http_500_after_commit", 1).await;
        let owner = shop.server.owner(&shop.project).await;
        let issue = async || {
            let path = format!("/api/orders/{order}");
            send(shop.server.as_staff(&owner, Method::PUT, &path).json(&json!({ "status_id": 5 }))).await.expect(200);
        };
        issue().await;
        shop.until_receipt("kind = 'hand_over' AND checks > 0").await;
        assert_eq!(shop.count("receipts WHERE kind = 'hand_over' AND state = 'due'").await, 1);
        shop.server.clock.advance(10);
        shop.until_receipt("kind = 'hand_over' AND state = 'succeeded'").await;
        issue().await;
        second.stop().await;
        let made = shop.handed_over().await;
        assert_eq!((made.len(), shop.count("receipts").await), (1, 2));
        assert_eq!((&made[0]["type"], &made[0]["payment_id"]), (&json!("payment"), &shop.payments().await[0]["id"]));
        let settled = json!([{ "type": "prepayment", "amount": { "value": "265.50", "currency": "RUB" } }]);
        assert_eq!((&made[0]["settlements"], &made[0]["items"][0]["payment_mode"]), (&settled, &json!("full_payment")));
    }

    async fn a_receipt_that_has_nowhere_to_go_is_refused_by_name(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        shop.has_receipts_made().await;
        let item = shop.goods(5, 100).await;
        shop.server.execute("UPDATE counterparties SET phone_1 = NULL").await;
        shop.order(&shop.online(item)).await.expect_invalid(&["payment_method_type"]);
        assert_eq!((shop.reserved(item).await, shop.payments().await.len()), (0, 0));
        shop.order(&shop.pickup(item, 1)).await.expect(201);
        shop.server.execute("UPDATE counterparties SET email = 'anna@example.com'").await;
        shop.order(&shop.online(item)).await.expect(201);
        assert_eq!(shop.payments().await[0]["receipt"]["customer"], json!({ "email": "anna@example.com" }));
    }

    async fn a_cart_of_more_than_80_items_has_a_receipt_of_80_lines(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        shop.has_receipts_made().await;
        let mut products = Vec::new();
        for n in 0..81 {
            products.push(json!({ "id": shop.goods(5, 100 + n).await, "quantity": 2 }));
        }
        let mut body = shop.online(0);
        body["products"] = products.into();
        shop.order(&body).await.expect(201);
        let payment = shop.payments().await.remove(0);
        assert_eq!(payment["receipt"]["items"].as_array().unwrap().len(), 80);
    }

    async fn a_canceled_receipt_is_counted_until_an_employee_closes_it(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        shop.has_receipts_made().await;
        shop.control("/acquirer", json!({ "receipts": "canceled" })).await;
        let item = shop.goods(5, 100).await;
        shop.paid(item).await;
        shop.until_receipt("state = 'canceled'").await;
        let text = send(shop.server.request(Method::GET, "/metrics")).await.text;
        assert!(text.contains("kontor_receipts_to_look_at 1"), "{text}");
    }

    async fn receipts_are_switched_on_and_seen_to_by_commands(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let printed = |arguments: &[&str]| -> Value {
            serde_json::from_slice(&environment.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
        };
        let off = printed(&["receipt", "show", "--project", &project]);
        assert_eq!((&off["receipts"], &off["vat_code"]), (&json!(false), &Value::Null));
        printed(&["receipt", "on", "--project", &project, "--vat-code", "11", "--tax-system", "2"]);
        let on = printed(&["receipt", "show", "--project", &project]);
        assert_eq!((&on["receipts"], &on["vat_code"], &on["tax_system"]), (&json!(true), &json!(11), &json!(2)));
        assert_eq!(printed(&["receipt", "off", "--project", &project])["receipts"], json!(false));
        let refused = |arguments: &[&str], why: &str| {
            let output = environment.command(arguments).output().unwrap();
            let reported = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success() && reported.contains(why), "{arguments:?}: {reported}");
        };
        refused(&["receipt", "on", "--project", &project, "--vat-code", "13"], "--vat-code must be a VAT code");
        refused(&["receipt", "on", "--project", &project, "--tax-system", "7"], "--tax-system must be");
        refused(&["receipt", "on", "--project", "99999"], "project 99999 not found");
        refused(&["receipt", "again", "--receipt", "1"], "no canceled receipt");
        refused(&["receipt", "settle", "--receipt", "1"], "no receipt");

        environment.execute(&[
            "INSERT INTO counterparties (project_id, is_company, created_at, updated_at) \
             SELECT max(id), false, '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM projects",
            "INSERT INTO charges (project_id, counterparty_id, purpose, purpose_id, idempotence_key, state, amount, captured, \
             refunded, refunding, request, checks, asked_at, created_at, updated_at) SELECT project_id, id, 'order', 7, \
             '00000000-0000-0000-0000-000000000000', 'succeeded', 100, 100, 0, 0, '{}', 0, '2026-01-01 00:00:00', \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM counterparties",
            "INSERT INTO receipts (project_id, charge_id, kind, state, key_made_at, asked_at, tries, reason, checks, concern_at, \
             created_at, updated_at) SELECT project_id, id, 'payment', 'canceled', '2026-01-01 00:00:00', '2026-01-01 00:00:00', \
             0, 'the register has canceled it', 1, '2026-01-02 00:00:00', '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM charges",
        ]).await;
        let doctor = environment.command(&["doctor", "--project", &project]).output().unwrap();
        let (reported, why) = (String::from_utf8(doctor.stdout).unwrap(), String::from_utf8(doctor.stderr).unwrap());
        assert_eq!(doctor.status.code(), Some(1));
        assert!(reported.contains("of order 7") && reported.contains("is canceled") && why.contains("1 receipts are not registered"), "{reported}{why}");
        let listed = printed(&["receipt", "list"]);
        assert_eq!((&listed["receipt"]["number"], &listed["receipt"]["kind"]), (&json!(7), &json!("payment")));
        let id = listed["receipt"]["receipt_id"].to_string();
        printed(&["receipt", "settle", "--receipt", &id]);
        assert!(environment.command(&["doctor"]).output().unwrap().status.success());
        drop(process);
    }
}
