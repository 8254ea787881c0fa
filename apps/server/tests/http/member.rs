//! A customer of the demo with a subscription to its plan, and the clock of the demo.

use kontor::cli::demo::{Demo, DemoArguments, DemoFile};
use kontor_adapter_diesel::DatabaseUrl;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::customer_client::{ApplicationClient, CustomerClient};
use crate::subscription_fixture::ROOT;
use crate::support::{Answer, TestServer, send};

/// A demo on a separate database.
pub struct DemoFixture {
    pub demo: Demo,
    folder: tempfile::TempDir,
    _db: TestDatabase,
}

impl DemoFixture {
    pub async fn open(db: TestDatabase) -> Self {
        TestServer::prepare();
        let folder = tempfile::tempdir().unwrap();
        let database = match db.url() {
            DatabaseUrl::Postgres(url) => url,
            file @ DatabaseUrl::Sqlite(_) => file.to_string(),
        };
        let free = "127.0.0.1:0".parse().unwrap();
        let data = folder.path().join("shop");
        let arguments = DemoArguments { bind: Some(free), sandbox_bind: free, data, database: Some(database) };
        let demo = Demo::start(&arguments, None).await.unwrap();
        Self { demo, folder, _db: db }
    }

    pub fn file(&self) -> &DemoFile {
        &self.demo.file
    }

    /// Returns the path of `demo.json`.
    pub fn demo_file(&self) -> std::path::PathBuf {
        self.folder.path().join("shop/demo.json")
    }

    pub async fn member(&self) -> Member {
        let customer_client = ApplicationClient::of_demo(self.file()).sign_in(&self.file().customer.phone).await;
        Member::join(customer_client).await
    }

    pub async fn end(self) {
        self.demo.stop().await;
    }
}

/// A customer with a subscription.
pub struct Member {
    pub customer_client: CustomerClient,
    pub id: i64,
}

impl Member {
    /// Buys the plan of the demo, or continues an unfinished checkout, and pays.
    pub async fn join(customer_client: CustomerClient) -> Self {
        let plans = customer_client.request(Method::GET, "/api/counterparty/subscription-plans");
        let plans = send(plans).await.expect(200)["data"].clone();
        assert_eq!((&plans[0]["plan_slug"], &plans[0]["amount"]), (&json!("club"), &json!("490.00")));
        let mut member = Self { customer_client, id: 0 };
        let plan = json!({ "nomenclature_id": plans[0]["nomenclature_id"], "autopay_consent": true });
        let opened = member.post(&format!("{ROOT}/checkout"), &plan).await;
        assert!(opened.status.is_success(), "{}", opened.text);
        let opened = opened.json();
        member.customer_client.front.pay(opened["order_id"].as_i64().unwrap()).await;
        // The notification is on its way: wait for it without moving time.
        member.moves(json!({ "advance_seconds": 0 })).await.expect(200);
        let subscription = member.all().await.remove(0);
        member.id = subscription["id"].as_i64().unwrap();
        assert_eq!(subscription["status"], "active", "{subscription}");
        member
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        send(self.customer_client.request(Method::POST, path).json(body)).await
    }

    async fn all(&self) -> Vec<Value> {
        let listed = send(self.customer_client.request(Method::GET, ROOT)).await.expect(200);
        listed["data"].as_array().unwrap().clone()
    }

    /// Returns the current subscription.
    pub async fn subscription(&self) -> Value {
        self.all().await.into_iter().find(|one| one["id"] == self.id).unwrap()
    }

    pub async fn control(&self, path: &str, body: Value) -> Answer {
        send(
            self.customer_client
                .front
                .http
                .post(format!("{}/control{path}", self.customer_client.front.sandbox))
                .json(&body),
        )
        .await
    }

    pub async fn moves(&self, body: Value) -> Answer {
        self.control("/clock", body).await
    }

    pub async fn now(&self) -> chrono::DateTime<chrono::Utc> {
        let clock =
            send(self.customer_client.front.http.get(format!("{}/control/clock", self.customer_client.front.sandbox)))
                .await;
        clock.expect(200)["now"].as_str().unwrap().parse().unwrap()
    }

    /// Sets the outcomes of the next charges of the saved payment method.
    pub async fn direct(&self, steps: Value) {
        let payments =
            self.customer_client.front.http.get(format!("{}/control/payments", self.customer_client.front.sandbox));
        // The acquirer's identifier of the method is that of the payment that saved it.
        let first = send(payments).await.expect(200)["payments"].as_array().unwrap().last().unwrap()["id"].clone();
        let path = format!("/payment_methods/{}/script", first.as_str().unwrap());
        self.control(&path, json!({ "steps": steps })).await.expect(200);
    }
}
