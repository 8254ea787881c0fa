//! A customer of a running service and of its sandbox, over HTTP only.

use std::time::Instant;

use kontor::cli::demo::DemoFile;
use kontor_adapter_diesel::retry_until;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::support::{Answer, send};

/// The service as one application reaches it.
#[derive(Clone)]
pub struct ApplicationClient {
    pub http: Client,
    pub url: String,
    pub sandbox: String,
    pub app_token: String,
}

/// A customer who is logged in.
#[derive(Clone)]
pub struct CustomerClient {
    pub front: ApplicationClient,
    pub bearer: String,
    /// The one-time code of the login.
    pub code: String,
}

impl ApplicationClient {
    /// Returns the demo as its application reaches it.
    pub fn of_demo(file: &DemoFile) -> Self {
        Self {
            http: Client::builder().no_proxy().build().unwrap(),
            url: file.base_url.clone(),
            sandbox: file.sandbox_url.clone(),
            app_token: file.app_token.clone(),
        }
    }

    /// Prepares a request of the application.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).header("Token", &self.app_token)
    }

    /// Logs a customer in with the code of a call.
    pub async fn sign_in(&self, phone: &str) -> CustomerClient {
        let asked = self.request(Method::POST, "/api/counterparty/send_password").json(&json!({ "phone": phone }));
        send(asked).await.expect(200);
        let messages = self.http.get(format!("{}/control/messages?to={phone}", self.sandbox));
        let messages = send(messages).await.expect(200);
        let code = messages["messages"][0]["code"].as_str().unwrap().to_owned();
        let login = json!({ "phone": phone, "password": code });
        let signed_in = send(self.request(Method::POST, "/api/counterparty/login").json(&login)).await.expect(200);
        let bearer = signed_in["counterparty"]["access_token"]["value"].as_str().unwrap().to_owned();
        CustomerClient { front: self.clone(), bearer, code }
    }

    /// Returns the newest payment of an order at the acquirer.
    pub async fn payment_of(&self, order: i64) -> Value {
        let payments = send(self.http.get(format!("{}/control/payments", self.sandbox))).await.expect(200);
        let of_order = |payment: &&Value| payment["metadata"]["order_id"] == json!(order.to_string());
        payments["payments"].as_array().unwrap().iter().find(of_order).cloned().unwrap_or(Value::Null)
    }

    /// Pays on the acquirer's page.
    pub async fn pay(&self, order: i64) {
        let payment = self.payment_of(order).await;
        let path = format!("{}/control/payments/{}", self.sandbox, payment["id"].as_str().unwrap());
        send(self.http.post(path).json(&json!({ "outcome": "succeed" }))).await.expect(200);
    }
}

impl CustomerClient {
    /// Prepares a request of the customer.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.front.request(method, path).bearer_auth(&self.bearer)
    }

    /// Orders one product by courier.
    pub async fn order(&self, product: i64, quantity: u32, online: bool) -> Answer {
        let mut body = json!({
            "delivery_type_id": 2,
            "delivery_subtype_id": 2,
            "address": "Elbe Street 5",
            "products": [{ "id": product, "quantity": quantity }],
        });
        if online {
            body["payment_method_type"] = json!("bank_card");
        }
        send(self.request(Method::POST, "/api/counterparty/orders").json(&body)).await
    }

    /// Reads an order until it has a status.
    pub async fn wait_for_status(&self, order: i64, status: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let path = format!("/api/counterparty/orders/{order}");
            let read = send(self.request(Method::GET, &path)).await.expect(200);
            if read["order"]["status"]["id"] == status {
                return read["order"].clone();
            }
            retry_until!(until, "order {order} is not {status}: {read}");
        }
    }
}
