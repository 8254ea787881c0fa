//! The examples of the API description, sent to the demo.
//!
//! `RECORD_EXAMPLES=1` writes down what is answered. Read the difference before you keep it.

use std::time::{Duration, Instant};

use kontor::cli::demo::{Demo, DemoArguments, DemoFile};
use kontor::openapi_examples::{Example, FILES, read};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{DatabaseUrl, database_tests};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::shopper::{Shopfront, Shopper};
use crate::support::{TestServer, send};

/// What stands for every moment.
const MOMENT: &str = "2026-11-23T12:00:00Z";

/// Fields whose values no two runs have in common.
const SECRETS: [&str; 4] = ["confirmation_url", "payment_link", "redeem_token", "request_id"];

/// Everybody who calls, and what the last answers told them.
struct Stage {
    file: DemoFile,
    anna: Shopper,
    staff: String,
    redeem_token: Option<String>,
}

impl Stage {
    async fn set(file: DemoFile) -> Self {
        let front = Shopfront {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            url: file.base_url.clone(),
            sandbox: file.sandbox_url.clone(),
            app_token: file.app_token.clone(),
        };
        let anna = front.sign_in(&file.customer.phone).await;
        let login = json!({ "login": file.staff.login, "password": file.staff.password });
        let signed_in = send(front.http.post(format!("{}/api/login", file.base_url)).json(&login)).await.expect(200);
        let staff = signed_in["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        Self { file, anna, staff, redeem_token: None }
    }

    fn request(&self, example: &Example) -> RequestBuilder {
        let (method, _) = example.operation.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let request = match example.caller.as_str() {
            "application" => self.anna.front.request(method, &example.path),
            "customer" => self.anna.request(method, &example.path),
            "staff" => {
                let url = format!("{}{}", self.file.base_url, example.path);
                self.anna.front.http.request(method, url).bearer_auth(&self.staff)
            }
            other => panic!("nobody is called {other}"),
        };
        match &example.request {
            Some(body) => request.json(&self.filled(body)),
            None => request,
        }
    }

    /// The body with the real values.
    fn filled(&self, body: &Value) -> Value {
        match body {
            Value::String(text) if text == "<redeem_token>" => json!(self.redeem_token.as_ref().unwrap()),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect(),
            other => other.clone(),
        }
    }

    /// The customer pays the last payment, and the service has heard of it.
    async fn pay(&self) -> (u16, Value) {
        let http = &self.anna.front.http;
        let payments = format!("{}/control/payments", self.file.sandbox_url);
        let all = send(http.get(&payments)).await.expect(200);
        let newest = all["payments"].as_array().unwrap().first().unwrap()["id"].as_str().unwrap().to_owned();
        send(http.post(format!("{payments}/{newest}")).json(&json!({ "outcome": "succeed" }))).await.expect(200);
        let until = Instant::now() + PATIENCE;
        loop {
            let found = send(self.anna.request(Method::GET, "/api/counterparty/subscriptions")).await.expect(200);
            if found["data"][0]["status"] == "active" {
                return (200, Value::Null);
            }
            assert!(Instant::now() < until, "{found}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn play(&mut self, example: &Example) -> (u16, Value) {
        if example.caller == "payer" {
            return self.pay().await;
        }
        let answer = send(self.request(example)).await;
        let body: Value = serde_json::from_str(&answer.text).unwrap_or(Value::Null);
        if let Some(token) = body["order"]["redeem_token"].as_str() {
            self.redeem_token = Some(token.to_owned());
        }
        (answer.status.as_u16(), told(body, &self.file))
    }
}

/// An answer as two runs have it in common.
fn told(body: Value, file: &DemoFile) -> Value {
    match body {
        Value::String(text) if chrono::DateTime::parse_from_rfc3339(&text).is_ok() => json!(MOMENT),
        Value::String(text) => {
            let text = text
                .replace(&file.base_url, "https://shop.example")
                .replace(&file.sandbox_url, "https://outside.example");
            Value::String(text)
        }
        Value::Array(items) => items.into_iter().map(|item| told(item, file)).collect(),
        Value::Object(fields) => {
            let tell = |(name, value): (String, Value)| {
                let is_secret = SECRETS.contains(&name.as_str()) && !value.is_null();
                let value = if is_secret { json!(format!("<{name}>")) } else { told(value, file) };
                (name, value)
            };
            fields.into_iter().map(tell).collect()
        }
        other => other,
    }
}

async fn demo(db: &TestDatabase, folder: &std::path::Path) -> Demo {
    let database = match db.url() {
        DatabaseUrl::Postgres(url) => url,
        file @ DatabaseUrl::Sqlite(_) => file.to_string(),
    };
    let free = "127.0.0.1:0".parse().unwrap();
    let arguments =
        DemoArguments { bind: Some(free), sandbox_bind: free, data: folder.join("shop"), database: Some(database) };
    Demo::start(&arguments, None).await.unwrap()
}

database_tests! {
    async fn every_example_is_what_the_demo_answers(db: TestDatabase) {
        TestServer::prepare();
        let folder = tempfile::tempdir().unwrap();
        let demo = demo(&db, folder.path()).await;
        let mut stage = Stage::set(demo.file.clone()).await;
        let recording = std::env::var_os("RECORD_EXAMPLES").is_some();
        for (name, text) in FILES {
            let mut examples = read(text).unwrap();
            assert!(!examples.is_empty(), "{name}");
            for example in &mut examples {
                let (status, answer) = stage.play(example).await;
                let what = format!("{} {}", example.operation, example.path);
                assert_eq!(status, example.status, "{what}: {answer}");
                if recording {
                    example.answer = answer;
                } else {
                    assert_eq!(answer, example.answer, "{what}");
                }
            }
            if recording {
                let path = format!("{}/examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
                std::fs::write(path, serde_json::to_string_pretty(&examples).unwrap() + "\n").unwrap();
            }
        }
        demo.stop().await;
    }
}
