//! Requests with keys, and a second process on the same database.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::retry_until;
use kontor_kernel::Clock;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::process::PATIENCE;
use crate::support::{Answer, TestServer, send};

/// Adds a key to a request.
pub fn keyed(request: RequestBuilder, key: &str) -> RequestBuilder {
    request.header("Idempotency-Key", key)
}

/// Returns `true` if a response is marked as a replay.
pub fn is_replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
}

/// Checks that a response repeats the first one, byte for byte.
pub fn assert_replays(first: &Answer, again: &Answer) {
    assert_eq!((again.status, &again.text), (first.status, &first.text));
    assert!(is_replayed(again) && !is_replayed(first));
    for name in ["content-type", "idempotency-key-expires"] {
        assert_eq!(again.headers.get(name), first.headers.get(name), "{name}");
    }
}

/// Checks a structured refusal without wrong fields, and returns its details.
pub fn assert_named(answer: &Answer, status: u16, code: &str, next_action: &str) -> Value {
    let body = answer.expect(status);
    assert_eq!((&body["error"]["code"], &body["error"]["next_action"]), (&code.into(), &next_action.into()));
    assert!(body.get("errors").is_none(), "{body}");
    body["error"].clone()
}

/// Another process on the database of a server.
pub struct Second {
    instance: Instance,
    pub url: String,
}

impl Second {
    pub fn start(server: &TestServer) -> Self {
        let config = Config { http_workers: 2, ..Config::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let clock = server.clock.clone();
        let instance = Instance::start(&config, &server.db.database, clock, Some(listener), Roles::Api).unwrap();
        let url = format!("http://{}", instance.address().unwrap());
        Self { instance, url }
    }

    /// Prepares a request of staff to the second process.
    pub fn as_staff(&self, server: &TestServer, bearer: &str, method: Method, path: &str) -> RequestBuilder {
        server.http.request(method, format!("{}{path}", self.url)).bearer_auth(bearer)
    }

    pub async fn stop(self) {
        self.instance.stop().await;
    }
}

async fn count(server: &TestServer, which: &str) -> i64 {
    server.insert(format!("SELECT COUNT(*) AS id FROM idempotency_keys{which}")).await
}

/// Returns the number of keys.
pub async fn keys(server: &TestServer) -> i64 {
    count(server, "").await
}

const UNANSWERED: &str = " k WHERE NOT EXISTS (SELECT 1 FROM idempotency_answers a WHERE a.number = k.number)";

/// Waits until every response is stored.
pub async fn until_stored(server: &TestServer) {
    let until = Instant::now() + PATIENCE;
    while count(server, UNANSWERED).await > 0 {
        retry_until!(until, "an answer is never stored");
    }
    // A stored response stays in memory a little longer.
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Leaves the keys as a process does that dies after the commit and before the response is stored, with 30 seconds of
/// its lease left.
pub async fn lose_answers(server: &TestServer) {
    until_stored(server).await;
    server.execute("DELETE FROM idempotency_answers").await;
    server.execute("UPDATE idempotency_keys SET lease_owner = 'a process that died'").await;
    lease(server, 30).await;
}

/// Ends the lease of every key in this many seconds.
pub async fn lease(server: &TestServer, seconds: i64) {
    let until = (server.clock.now() + TimeDelta::seconds(seconds)).format("%Y-%m-%d %H:%M:%S");
    server.execute(&format!("UPDATE idempotency_keys SET leased_until = '{until}'")).await;
}

/// Sends a request twice with a key, and again after its response is lost and the lease has expired.
pub async fn thrice(server: &TestServer, key: &str, request: impl Fn() -> RequestBuilder) -> [Answer; 3] {
    let first = send(keyed(request(), key)).await;
    let again = send(keyed(request(), key)).await;
    lose_answers(server).await;
    lease(server, -1).await;
    let recovered = send(keyed(request(), key)).await;
    server.execute("DELETE FROM idempotency_answers").await;
    server.execute("DELETE FROM idempotency_keys").await;
    [first, again, recovered]
}
