//! A shop with items, a customer and the emulated acquirer.

use std::time::Instant;

use kontor::instance::Roles;
use kontor_adapter_diesel::retry_until;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::support::{Answer, Project, TestServer, send};

const AT: &str = "'2026-01-01 00:00:00'";

pub struct ShopFixture {
    pub server: TestServer,
    pub sandbox: SandboxHandle,
    pub project: Project,
    pub customer: i64,
    pub bearer: String,
    pub shop: i64,
    pub payment_type: i64,
    pub warehouse: i64,
    pub category: i64,
}

impl ShopFixture {
    pub async fn open(db: TestDatabase) -> Self {
        Self::open_as(db, Roles::Api).await
    }

    pub async fn open_as(db: TestDatabase, roles: Roles) -> Self {
        // The sandbox has a separate clock, because these tests do not cover expiries of payments.
        let sandbox =
            Sandbox::start(SandboxConfig::new(std::sync::Arc::new(kontor::adapters::SystemClock))).await.unwrap();
        let (url, telephony) = (format!("{}/v3", sandbox.url()), sandbox.url().to_owned());
        let server = TestServer::start_as(db, roles, |config| {
            config.acquirer_url = url;
            config.telephony_url = telephony;
            config.telephony_api_id = "sandbox-api-id".into();
            config.acquirer_shop_id = "100500".into();
            config.acquirer_secret_key = "test_sandbox_secret_key".to_owned().into();
            config.acquirer_return_url = "https://shop.example/orders/{order_id}".into();
        })
        .await;
        sandbox.set_notification_url(format!("{}/callbacks/acquirer", server.url));
        let project = server.project().await;
        let (customer, bearer) = server.customer(&project).await;
        let (p, branch, application) = (project.id, project.branch_id, project.application_id);
        server
            .execute(&format!(
                "INSERT INTO delivery_types (project_id, id, name, price, is_active) \
                 VALUES ({p}, 1, 'Pickup', 0, TRUE), ({p}, 2, 'Delivery', 30000, TRUE)"
            ))
            .await;
        server
            .execute(&format!(
                "INSERT INTO delivery_subtypes (project_id, id, delivery_type_id, name, price, is_active) \
                 VALUES ({p}, 1, 2, 'Point', 0, TRUE), ({p}, 2, 2, 'Courier', 30000, TRUE)"
            ))
            .await;
        let shop = server
            .insert(format!(
                "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                 VALUES ({p}, {branch}, 'Shop', 'Square 1', TRUE, {AT}, {AT}) RETURNING id"
            ))
            .await;
        let payment_type = server
            .insert(format!("INSERT INTO payment_types (project_id, name) VALUES ({p}, 'Cash') RETURNING id"))
            .await;
        let warehouse = server
            .insert(format!(
                "INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) \
                 VALUES ({p}, {branch}, 'W', {AT}, {AT}) RETURNING id"
            ))
            .await;
        server
            .execute(&format!(
                "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) \
                 VALUES ({p}, {warehouse}, {application})"
            ))
            .await;
        let category = server
            .insert(format!(
                "INSERT INTO categories (project_id, name, name_key, code, created_at, updated_at) \
                 VALUES ({p}, 'All', 'all', 1, {AT}, {AT}) RETURNING id"
            ))
            .await;
        Self { server, sandbox, project, customer, bearer, shop, payment_type, warehouse, category }
    }

    /// Creates an item with stock.
    pub async fn goods(&self, quantity: i64, price: i64) -> i64 {
        let (p, category, warehouse) = (self.project.id, self.category, self.warehouse);
        let item = self
            .server
            .insert(format!(
                "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, \
                 wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
                 VALUES ({p}, 'Vase', 'vase', 2, {category}, 0, FALSE, FALSE, 4, 1, 0, 1, {AT}, {AT}) RETURNING id"
            ))
            .await;
        self.server
            .execute(&format!(
                "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, \
                 created_at, updated_at) VALUES ({p}, {warehouse}, {item}, {quantity}, 0, {price}, {AT}, {AT})"
            ))
            .await;
        self.server.db.database.correct_ledger(None, chrono::DateTime::UNIX_EPOCH).await.unwrap();
        item
    }

    /// Creates a subscription of the customer that was canceled long ago.
    pub async fn past_subscription(&self, item: i64) -> i64 {
        self.server
            .insert(format!(
                "INSERT INTO subscriptions (version, project_id, counterparty_id, status, nomenclature_id, plan_slug, amount, \
                 currency, billing_months, canceled_at, created_at, updated_at) VALUES (1, {}, {}, 'canceled', {item}, 'gold', \
                 99000, 'RUB', 1, {AT}, {AT}, {AT}) RETURNING id",
                self.project.id, self.customer
            ))
            .await
    }

    pub async fn promo(&self, code: &str) {
        let p = self.project.id;
        self.server
            .execute(&format!(
                "INSERT INTO discounts (project_id, name, code, kind, value, target, minimum_sum, used_count, status, \
                 created_at, updated_at) VALUES ({p}, 'Spring', '{code}', 'percent', 1000, 'cart', 0, 0, 'active', {AT}, {AT})"
            ))
            .await;
    }

    pub fn pickup(&self, item: i64, quantity: i64) -> Value {
        json!({ "delivery_type_id": 1, "shop_id": self.shop, "products": [{ "id": item, "quantity": quantity }] })
    }

    pub fn online(&self, item: i64) -> Value {
        let mut body = self.pickup(item, 1);
        body["payment_method_type"] = json!("bank_card");
        body
    }

    pub async fn precalculate(&self, body: Value) -> Answer {
        let path = "/api/counterparty/orders/precalculate";
        send(self.server.as_app(&self.project, Method::POST, path).json(&body)).await
    }

    pub async fn order(&self, body: &Value) -> Answer {
        let path = "/api/counterparty/orders";
        send(self.server.as_customer(&self.project, &self.bearer, Method::POST, path).json(body)).await
    }

    pub async fn own(&self, path: &str) -> Answer {
        let path = format!("/api/counterparty/orders{path}");
        send(self.server.as_customer(&self.project, &self.bearer, Method::GET, &path)).await
    }

    /// Returns status and payment link of an order.
    pub async fn state(&self, id: i64) -> (i64, Option<String>) {
        let order = self.own(&format!("/{id}")).await.expect(200)["order"].clone();
        (order["status"]["id"].as_i64().unwrap(), order["payment_link"].as_str().map(str::to_owned))
    }

    /// Waits until an order has this status.
    pub async fn until(&self, id: i64, status: i64) {
        let until = Instant::now() + PATIENCE;
        while self.state(id).await.0 != status {
            retry_until!(until, "order {id} is {:?} and never became {status}", self.state(id).await);
        }
    }

    pub async fn control(&self, path: &str, body: Value) {
        let url = format!("{}/control{path}", self.sandbox.url());
        let answer = send(self.server.http.post(url).json(&body)).await;
        assert!(answer.status.is_success(), "{}", answer.text);
    }

    pub async fn fault(&self, fault: &str, times: u32) {
        self.control("/faults", json!({ "service": "acquirer", "fault": fault, "times": times })).await;
    }

    /// Returns the payments at the acquirer, newest first.
    pub async fn payments(&self) -> Vec<Value> {
        let url = format!("{}/control/payments", self.sandbox.url());
        send(self.server.http.get(url)).await.expect(200)["payments"].as_array().unwrap().clone()
    }

    pub async fn pays(&self, outcome: &str) {
        let payments = self.payments().await;
        let id = payments[0]["id"].as_str().unwrap();
        self.control(&format!("/payments/{id}"), json!({ "outcome": outcome })).await;
    }

    pub async fn count(&self, table: &str) -> i64 {
        self.server.insert(format!("SELECT count(*) AS id FROM {table}")).await
    }

    /// Adds stock of an item in another warehouse.
    pub async fn another_warehouse(&self, item: i64, quantity: i64, price: i64) {
        let (p, branch, app) = (self.project.id, self.project.branch_id, self.project.application_id);
        let warehouse = self
            .server
            .insert(format!(
                "INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) \
                 VALUES ({p}, {branch}, 'Second', {AT}, {AT}) RETURNING id"
            ))
            .await;
        let join = "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) VALUES";
        self.server.insert(format!("{join} ({p}, {warehouse}, {app}) RETURNING warehouse_id AS id")).await;
        self.server
            .insert(format!(
                "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, \
                 updated_at) VALUES ({p}, {warehouse}, {item}, {quantity}, 0, {price}, {AT}, {AT}) RETURNING id"
            ))
            .await;
    }

    /// Waits until this amount of an order is refunded.
    pub async fn until_refunded(&self, order: i64, amount: &str) {
        let until = Instant::now() + PATIENCE;
        let minor: i64 = amount.replace('.', "").parse().unwrap();
        let gone = || self.server.insert(format!("SELECT refunded AS id FROM orders WHERE id = {order}"));
        while gone().await != minor {
            retry_until!(until, "the money is still on its way");
        }
    }

    /// Returns the reserved units of an item.
    pub async fn reserved(&self, item: i64) -> i64 {
        self.server.insert(format!("SELECT reserved AS id FROM inventories WHERE nomenclature_id = {item}")).await
    }
}
