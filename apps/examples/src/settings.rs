//! Settings of an example.

use std::error::Error;
use std::net::SocketAddr;

use serde_json::Value;

/// Address of Kontor and token of the application.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Kontor's address, without a trailing slash.
    pub kontor: String,
    /// The token of the application.
    pub app_token: String,
    /// Slug of the plan that grants the lesson.
    pub plan: String,
}

impl Settings {
    /// Reads the environment (`KONTOR_URL`, `KONTOR_APP_TOKEN`, `PLAN`). Missing values come from the file of a demo
    /// (`DEMO`, `kontor-demo/demo.json` by default).
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let path = variable("DEMO").unwrap_or_else(|| "kontor-demo/demo.json".to_owned());
        let demo: Value = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?,
            Err(_) => Value::Null,
        };
        let setting = |name: &str, field: &str| {
            let of_demo = || demo.get(field).and_then(Value::as_str).map(str::to_owned);
            variable(name).or_else(of_demo).ok_or_else(|| format!("set {name}, or set DEMO to the path of demo.json"))
        };
        Ok(Self {
            kontor: setting("KONTOR_URL", "base_url")?.trim_end_matches('/').to_owned(),
            app_token: setting("KONTOR_APP_TOKEN", "app_token")?,
            plan: variable("PLAN").unwrap_or_else(|| "club".to_owned()),
        })
    }
}

/// Returns the address an example listens on: `BIND`, or the default.
pub fn bind(default: &str) -> Result<SocketAddr, Box<dyn Error>> {
    let address = variable("BIND").unwrap_or_else(|| default.to_owned());
    Ok(address.parse().map_err(|error| format!("BIND: {address}: {error}"))?)
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration but this")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
