//! A club that customers subscribe to.

use std::time::Instant;

use kontor::instance::Roles;
use kontor_adapter_diesel::retry_until;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

pub const ROOT: &str = "/api/counterparty/subscriptions";
pub const METHODS: &str = "/api/counterparty/payment-methods";

/// A club that sells two plans, and a customer who may join.
pub struct SubscriptionFixture {
    pub shop: ShopFixture,
    pub owner: String,
    pub gold: i64,
    pub silver: i64,
}

impl SubscriptionFixture {
    pub async fn open(db: TestDatabase) -> Self {
        Self::open_as(db, Roles::Api).await
    }

    pub async fn open_as(db: TestDatabase, roles: Roles) -> Self {
        let shop = ShopFixture::open_as(db, roles).await;
        let owner = shop.server.owner(&shop.project).await;
        let mut subscription_fixture = Self { shop, owner, gold: 0, silver: 0 };
        (subscription_fixture.gold, subscription_fixture.silver) = (
            subscription_fixture.plan("gold", "990.00", 1).await,
            subscription_fixture.plan("silver", "490.00", 1).await,
        );
        subscription_fixture
    }

    /// Creates a plan that no application offers.
    pub async fn card(&self, name: &str, price: &str, months: i64) -> i64 {
        let card = json!({
            "name": name, "kind_id": 1, "price": price, "is_subscription": true, "billing_period_months": months,
        });
        let made = self.shop.server.as_staff(&self.owner, Method::POST, "/api/nomenclatures").json(&card);
        send(made).await.expect(201).as_object().unwrap().values().next().unwrap()["id"].as_i64().unwrap()
    }

    /// Creates a plan that the application offers.
    pub async fn plan(&self, slug: &str, price: &str, months: i64) -> i64 {
        let plan = self.card(slug, price, months).await;
        let path = format!("/api/applications/{}/subscription-nomenclatures", self.shop.project.application_id);
        let assignment = json!({ "nomenclature_id": plan, "plan_slug": slug });
        send(self.shop.server.as_staff(&self.owner, Method::POST, &path).json(&assignment)).await.expect(201);
        plan
    }

    /// Prepares a request of the customer.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.shop.server.as_customer(&self.shop.project, &self.shop.bearer, method, path)
    }

    pub async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.request(Method::POST, path).json(&body)).await
    }

    /// Starts the checkout of a plan.
    pub async fn check_out(&self, plan: i64) -> Answer {
        self.post(&format!("{ROOT}/checkout"), json!({ "nomenclature_id": plan, "autopay_consent": true })).await
    }

    /// Subscribes the customer by a saved payment method.
    pub async fn subscribe(&self, plan: i64, method: i64) -> Answer {
        let body = json!({ "nomenclature_id": plan, "saved_payment_method_id": method, "autopay_consent": true });
        self.post(ROOT, body).await
    }

    /// Returns the subscriptions of the customer.
    pub async fn all(&self) -> Vec<Value> {
        self.get(ROOT).await.expect(200)["data"].as_array().unwrap().clone()
    }

    pub async fn one(&self, id: &Value) -> Value {
        self.all().await.into_iter().find(|subscription| subscription["id"] == *id).unwrap()
    }

    /// Waits until a subscription has this status.
    pub async fn until(&self, id: &Value, status: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let subscription = self.one(id).await;
            if subscription["status"] == status {
                return subscription;
            }
            retry_until!(until, "it never became {status}: {subscription}");
        }
    }

    /// Pays for the gold plan on the acquirer's page.
    pub async fn join(&self) -> Value {
        self.check_out(self.gold).await.expect(201);
        let id = self.all().await[0]["id"].clone();
        self.shop.pays("succeed").await;
        self.until(&id, "active").await
    }

    /// Returns the saved payment method: its identifier, and the acquirer's identifier of it.
    pub async fn saved(&self) -> (i64, String) {
        let method = self.get(METHODS).await.expect(200)["data"][0]["id"].as_i64().unwrap();
        let name = self.shop.payments().await.last().unwrap()["id"].as_str().unwrap().to_owned();
        (method, name)
    }

    /// Sets the outcomes of the next charges of a method.
    pub async fn direct(&self, card: &str, steps: Value) {
        self.shop.control(&format!("/payment_methods/{card}/script"), json!({ "steps": steps })).await;
    }
}
