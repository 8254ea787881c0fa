//! A service whose calls and mail go to the sandbox.

use std::sync::Arc;

use kontor::adapters::SystemClock;
use kontor::config::Config;
use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Project, TestServer, send};

/// A running service and the sandbox it uses.
pub struct Outside {
    pub server: TestServer,
    sandbox: SandboxHandle,
}

impl Outside {
    /// Starts both.
    pub async fn start(db: TestDatabase) -> Self {
        Self::start_as(db, Roles::Api, |_| {}).await
    }

    /// Starts both with a changed configuration, perhaps with a worker.
    pub async fn start_as(db: TestDatabase, roles: Roles, change: impl FnOnce(&mut Config)) -> Self {
        let sandbox = Sandbox::start(SandboxConfig::new(Arc::new(SystemClock))).await.unwrap();
        let (telephony, mail) = (sandbox.url().to_owned(), sandbox.smtp_addr());
        let server = TestServer::start_as(db, roles, |config| {
            config.telephony_url = telephony;
            config.telephony_api_id = "sandbox-api-id".into();
            config.smtp_host = mail.ip().to_string();
            config.smtp_port = mail.port();
            config.trusted_proxies = vec!["127.0.0.1".into()];
            change(config);
        })
        .await;
        Self { server, sandbox }
    }

    /// Plans a fault for the next call of this service.
    pub async fn fault(&self, service: &str, fault: &str) {
        let plan = json!({ "service": service, "fault": fault, "delay_ms": 300 });
        let url = format!("{}/control/faults", self.sandbox.url());
        send(self.server.http.post(url).json(&plan)).await.expect(200);
    }

    /// Sends a request to the control interface of the sandbox.
    pub async fn control(&self, path: &str, body: Value) -> Value {
        send(self.server.http.post(self.control_url(path)).json(&body)).await.expect(200)
    }

    /// Returns a URL of the control interface of the sandbox.
    pub fn control_url(&self, path: &str) -> String {
        format!("{}/control{path}", self.sandbox.url())
    }

    /// Reads from the control interface of the sandbox.
    pub async fn ask_control(&self, path: &str) -> Value {
        send(self.server.http.get(self.control_url(path))).await.expect(200)
    }

    /// Returns the newest code sent to a contact.
    pub async fn code(&self, contact: &str) -> String {
        let url = format!("{}/control/messages?to={contact}", self.sandbox.url());
        let messages = send(self.server.http.get(url)).await.expect(200);
        messages["messages"][0]["code"].as_str().unwrap_or_else(|| panic!("no code: {messages}")).to_owned()
    }

    /// Returns all codes sent to a contact, the newest first.
    pub async fn codes(&self, contact: &str) -> Vec<String> {
        let url = format!("{}/control/messages?to={contact}", self.sandbox.url());
        let messages = send(self.server.http.get(url)).await.expect(200);
        let each = messages["messages"].as_array().unwrap().iter();
        each.map(|message| message["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the text of the newest message to a contact.
    pub async fn newest(&self, contact: &str) -> Option<String> {
        let url = format!("{}/control/messages?to={contact}", self.sandbox.url());
        let messages = send(self.server.http.get(url)).await.expect(200);
        messages["messages"][0]["text"].as_str().map(str::to_owned)
    }

    /// Returns the number of messages to a contact.
    pub async fn count(&self, contact: &str) -> usize {
        let url = format!("{}/control/messages?to={contact}", self.sandbox.url());
        send(self.server.http.get(url)).await.expect(200)["messages"].as_array().unwrap().len()
    }

    /// Requests a code.
    pub async fn request_code(&self, project: &Project, contact: &str) -> Answer {
        let path = "/api/counterparty/send_password";
        send(self.server.as_app(project, Method::POST, path).json(&json!({ "phone": contact }))).await
    }

    /// Tries a code.
    pub async fn log_in(&self, project: &Project, contact: &str, code: &str) -> Answer {
        let body = json!({ "phone": contact, "password": code });
        send(self.server.as_app(project, Method::POST, "/api/counterparty/login").json(&body)).await
    }

    /// Logs a customer in and returns their record with the token.
    pub async fn signed_in(&self, project: &Project, contact: &str) -> Value {
        self.request_code(project, contact).await.expect(200);
        let code = self.code(contact).await;
        self.log_in(project, contact, &code).await.expect(200)["counterparty"].clone()
    }
}

/// Returns the bearer in a record of a login response.
pub fn bearer(record: &Value) -> String {
    record["access_token"]["value"].as_str().unwrap().to_owned()
}

/// Returns a different code.
pub fn another(code: &str) -> String {
    let last = if code.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &code[..code.len() - 1])
}
