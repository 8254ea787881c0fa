//! The owner of a project, against a running service.

use std::time::Instant;

use kontor_adapter_diesel::retry_until;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::send;
use crate::webhook_deliveries::signature;

/// The owner, logged in.
#[derive(Clone)]
pub struct OwnerClient {
    /// The application as customers reach it.
    pub front: ApplicationClient,
    /// Output of `kontor project create`.
    pub project: Value,
    pub bearer: String,
}

/// The webhook of the application and the sandbox's receiver behind it.
pub struct Hook {
    id: String,
    /// The webhook's path on the platform surface.
    pub path: String,
    pub secret: Value,
}

impl OwnerClient {
    /// Logs in with the password of a new project.
    pub async fn sign_in(environment: &ProcessEnvironment, project: Value) -> Self {
        Self::behind(environment.front(&project["app_token"]), project).await
    }

    /// Logs in at the address where customers reach the application.
    pub async fn behind(front: ApplicationClient, project: Value) -> Self {
        let login = json!({ "login": project["login"], "password": project["password"] });
        let signed_in = send(front.http.post(format!("{}/api/login", front.url)).json(&login)).await.expect(200);
        let bearer = signed_in["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        Self { front, project, bearer }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.front.http.request(method, format!("{}{path}", self.front.url)).bearer_auth(&self.bearer)
    }

    /// Imports items and the stock of a warehouse named `Main`, as CSV.
    pub async fn import_catalog(&self, cards: &str, stock: &str) {
        let warehouse = json!({ "name": "Main", "branch_id": self.project["branch_id"] });
        send(self.request(Method::POST, "/api/warehouses").json(&warehouse)).await.expect(201);
        for (path, text) in [("/api/nomenclatures/import", cards), ("/api/inventories/upload", stock)] {
            let done = send(self.sheet(path, text)).await.expect(200);
            assert_eq!(done["created"], json!(text.lines().count() - 1), "{done}");
        }
    }

    /// Prepares the upload of a spreadsheet, as CSV.
    pub fn sheet(&self, path: &str, text: &str) -> RequestBuilder {
        let form = Form::new().part("file", Part::text(text.to_owned()).file_name("sheet.csv"));
        self.request(Method::POST, path).multipart(form)
    }

    /// Returns what the storefront shows for a query.
    pub async fn product(&self, query: &str) -> Value {
        let request = self.front.request(Method::GET, "/api/counterparty/products").query(&[("query", query)]);
        send(request).await.expect(200)["products"]["data"][0].clone()
    }

    /// Creates a webhook that leads to a new receiver.
    pub async fn hook(&self) -> Hook {
        let opened = send(self.front.http.post(format!("{}/control/hooks", self.front.sandbox)).json(&json!({})))
            .await
            .expect(201);
        let path = format!("/api/applications/{}/webhooks", self.project["application_id"]);
        let created = send(self.request(Method::POST, &path).json(&json!({ "url": opened["url"] }))).await.expect(201);
        Hook {
            id: opened["id"].as_str().unwrap().to_owned(),
            path: format!("{path}/{}", created["webhook"]["id"]),
            secret: created["webhook"]["secret"].clone(),
        }
    }

    /// Returns what the receiver has got so far.
    pub async fn received(&self, hook: &Hook) -> Vec<Value> {
        let got =
            send(self.front.http.get(format!("{}/control/hooks/{}", self.front.sandbox, hook.id))).await.expect(200);
        got["deliveries"].as_array().unwrap().clone()
    }

    /// Waits for the first delivery.
    pub async fn first_received(&self, hook: &Hook) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(delivery) = self.received(hook).await.first() {
                return delivery.clone();
            }
            retry_until!(until, "nothing was delivered");
        }
    }
}

impl Hook {
    /// Checks the signature of a delivery and returns its order.
    pub fn order_of(&self, delivery: &Value) -> i64 {
        assert_eq!(delivery["headers"]["x-webhook-event"], "order.paid");
        assert_eq!(delivery["headers"]["x-signature"], signature(&self.secret, delivery));
        let body: Value = serde_json::from_str(delivery["body"].as_str().unwrap()).unwrap();
        assert_eq!(delivery["headers"]["x-webhook-event-id"], body["id"]);
        body["data"]["order_id"].as_i64().unwrap()
    }
}
