//! The examples of the API description, sent to the demo.
//!
//! `RECORD_EXAMPLES=1` records the responses in `docs/openapi.json`. Review the difference before you commit it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use kontor::adapters::SystemClock;
use kontor::cli::demo::{Demo, DemoArguments, DemoFile};
use kontor::openapi::{illustrated, pinned_text};
use kontor::openapi_examples::{Example, FILES, PINNED, Responses, read};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{DatabaseUrl, database_tests, retry_until};
use kontor_kernel::Clock as _;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::{ApplicationClient, CustomerClient};
use crate::process::PATIENCE;
use crate::support::{TestServer, send};

/// Replacement of every time. Dates are recorded relative to this day, and sent relative to the real one.
const MOMENT: &str = "2026-11-23T12:00:00Z";

/// Replacement of every UUID.
const UUID: &str = "0198c0de-0000-7000-8000-000000000001";

/// Fields whose values differ in every run.
const SECRETS: [&str; 8] = [
    "confirmation_url",
    "next_cursor",
    "payment_link",
    "redeem_token",
    "request_id",
    "secret",
    "session_token",
    "token",
];

/// Returns the replacement of a field that depends on the time or on random data.
fn passing(name: &str) -> Option<Value> {
    match name {
        "active_time" | "duration_seconds" => Some(json!(60)),
        "duration_ms" => Some(json!(40)),
        "remaining_seconds" => Some(json!(295)),
        "is_open_now" => Some(json!(true)),
        "callback_number" => Some(json!("78005550007")),
        _ => None,
    }
}

/// Maximum number of records of a list, and of lines of a sheet, in an example.
const SHOWN: usize = 3;

/// Token with which the bot of the demo's mini-app signs.
const BOT_TOKEN: &str = "f9LHodD0cOL5-a-bot-of-the-tests";

/// All callers, and the values they received.
struct ExampleCallers {
    file: DemoFile,
    anna: CustomerClient,
    staff: String,
    backend: (String, String),
    kept: BTreeMap<String, Value>,
    /// Difference between today and the day of the examples.
    away: TimeDelta,
}

impl ExampleCallers {
    async fn sign_in(file: DemoFile, database: &str) -> Self {
        let front = ApplicationClient::of_demo(&file);
        let anna = front.sign_in(&file.customer.phone).await;
        let login = json!({ "login": file.staff.login, "password": file.staff.password });
        let signed_in = send(front.http.post(format!("{}/api/login", file.base_url)).json(&login)).await.expect(200);
        let staff = signed_in["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        let application = file.application_id.to_string();
        let backend = ["introspection", "issue", "--application", &application, "--audience", "club", "--json"];
        let issued: Value = serde_json::from_str(&kontor(&backend, database, "")).unwrap();
        let text = |name: &str| issued[name].as_str().unwrap().to_owned();
        let backend = (text("client_id"), text("client_secret"));
        kontor(&["miniapp", "set", "--application", &application, "--provider", "max"], database, BOT_TOKEN);
        let kept = [
            ("staff_login", &file.staff.login),
            ("staff_password", &file.staff.password),
            ("bot_token", &BOT_TOKEN.to_owned()),
        ];
        let mut kept: BTreeMap<_, _> = kept.map(|(name, value)| (name.to_owned(), json!(value))).into();
        let reported: DateTime<Utc> = MOMENT.parse().unwrap();
        let today = SystemClock.now().date_naive();
        let away = today - reported.date_naive();
        // The demo sells today. Tomorrow has begun in time zones to the east.
        for (name, day) in [("week_ago", today - TimeDelta::days(7)), ("tomorrow", today + TimeDelta::days(1))] {
            kept.insert(name.to_owned(), json!(day));
        }
        Self { file, anna, staff, backend, kept, away }
    }

    fn request(&self, example: &Example) -> RequestBuilder {
        let (method, _) = example.operation.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let front = &self.anna.front;
        let path = self.kept.iter().fold(example.path.clone(), |path, (name, value)| {
            path.replace(&format!("<{name}>"), &value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
        });
        let plain = |base: &str| front.http.request(method.clone(), format!("{base}{path}"));
        let request = match example.caller.as_str() {
            "nobody" => plain(&self.file.base_url),
            "outside" => plain(&self.file.sandbox_url),
            "application" => front.request(method, &path),
            "customer" => self.anna.request(method, &path),
            "staff" => plain(&self.file.base_url).bearer_auth(&self.staff),
            "backend" => plain(&self.file.base_url).basic_auth(&self.backend.0, Some(&self.backend.1)),
            token => front.request(method, &path).bearer_auth(self.kept[token].as_str().unwrap()),
        };
        if let Some(form) = &example.form {
            let fields: BTreeMap<_, _> = form.iter().map(|(name, text)| (name, self.filled(&json!(text)))).collect();
            return request.form(&fields);
        }
        if let Some(upload) = &example.upload {
            let part = Part::text(upload.content.clone()).file_name(upload.file.clone());
            let form =
                upload.fields.iter().fold(Form::new(), |form, (name, text)| form.text(name.clone(), text.clone()));
            return request.multipart(form.part("file", part));
        }
        match &example.request {
            Some(body) => request.json(&self.filled(body)),
            None => request,
        }
    }

    /// Returns the body with the real values.
    fn filled(&self, body: &Value) -> Value {
        match body {
            Value::String(text) => {
                if let Some(name) = placeholder(text) {
                    self.kept[name].clone()
                } else if let Ok(day) = text.parse::<NaiveDate>() {
                    json!(day + self.away)
                } else if let Ok(moment) = text.parse::<DateTime<Utc>>() {
                    json!(moment + self.away)
                } else {
                    body.clone()
                }
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect(),
            other => other.clone(),
        }
    }

    /// Pays the last payment and waits until the service knows the outcome.
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
            retry_until!(until, "{found}");
        }
    }

    async fn play(&mut self, example: &Example) -> (u16, Value) {
        if example.caller == "payer" {
            return self.pay().await;
        }
        let until = Instant::now() + PATIENCE;
        let (status, body) = loop {
            let answer = send(self.request(example)).await;
            let body = serde_json::from_str(&answer.text).unwrap_or_else(|_| sheet(&answer.text));
            let is_there = |(place, value): (&String, &Value)| body.pointer(place) == Some(value);
            if example.until.iter().all(is_there) {
                break (answer.status.as_u16(), body);
            }
            retry_until!(until, "{}: {body}", example.path);
        };
        for (name, place) in &example.keep {
            let value = body.pointer(place).unwrap_or_else(|| panic!("{}: no {place} in {body}", example.path));
            self.kept.insert(name.clone(), value.clone());
        }
        let reported = if example.caller == "outside" { Value::Null } else { self.reported(body) };
        (status, reported)
    }

    /// Returns a history text that begins with a day.
    fn begins_with_day(&self, text: String) -> String {
        let day = text.split_once(' ').and_then(|(day, rest)| Some((day.parse::<NaiveDate>().ok()?, rest)));
        day.map_or(text.clone(), |(day, rest)| format!("{} {rest}", day - self.away))
    }

    /// Returns a response with everything replaced that differs between runs.
    fn reported(&self, body: Value) -> Value {
        match body {
            Value::String(text) if DateTime::parse_from_rfc3339(&text).is_ok() => json!(MOMENT),
            Value::String(text) if is_token(&text) => json!("<access_token>"),
            Value::String(text) => {
                // The result of an agent's call is the text of a response.
                if let Ok(body @ Value::Object(_)) = serde_json::from_str(&text) {
                    return json!(self.reported(body).to_string());
                }
                if let Ok(day) = text.parse::<NaiveDate>() {
                    return json!(day - self.away);
                }
                let text = self
                    .begins_with_day(text)
                    .replace(&self.file.base_url, "https://shop.example")
                    .replace(&self.file.sandbox_url, "https://outside.example")
                    .replace(&self.file.staff.login, "owner");
                Value::String(mask_uuids(&mask_names(&text)))
            }
            Value::Array(items) => {
                let most = if items.iter().all(is_record) { SHOWN } else { items.len() };
                items.into_iter().take(most).map(|item| self.reported(item)).collect()
            }
            Value::Object(fields) => {
                let tell = |(name, value): (String, Value)| {
                    let is_secret = SECRETS.contains(&name.as_str()) && value.is_string();
                    let secret = is_secret.then(|| json!(format!("<{name}>")));
                    let value = passing(&name).or(secret).unwrap_or_else(|| self.reported(value));
                    (name, value)
                };
                fields.into_iter().map(tell).collect()
            }
            other => other,
        }
    }
}

/// Returns the first lines of a response that is a sheet.
fn sheet(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.lines().take(SHOWN).map(|line| format!("{line}\n")).collect() }
}

/// Returns the name in a placeholder `<name>`.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('<')?.strip_suffix('>')?;
    name.chars().all(|c| c.is_ascii_lowercase() || c == '_').then_some(name)
}

/// Returns `true` if the value is a record of a list, not a column of a table.
fn is_record(item: &Value) -> bool {
    item.is_object() && item.get("table_id").is_none()
}

/// Returns `true` for a text of the form `<id>|<secret>`.
fn is_token(text: &str) -> bool {
    let parts = text.split_once('|');
    parts.is_some_and(|(id, secret)| {
        id.parse::<u64>().is_ok() && secret.len() > 30 && secret.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Replaces random file names in a text by a constant.
fn mask_names(text: &str) -> String {
    let is_drawn = |word: &str| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    text.split('/').map(|part| if is_drawn(part) { "example" } else { part }).collect::<Vec<_>>().join("/")
}

/// Replaces all UUIDs in a text by a constant.
fn mask_uuids(text: &str) -> String {
    const LENGTH: usize = UUID.len();
    let found = (0..text.len()).find(|at| {
        text.get(*at..at + LENGTH).is_some_and(|part| part.is_ascii() && uuid::Uuid::try_parse(part).is_ok())
    });
    found.map_or_else(|| text.to_owned(), |at| format!("{}{UUID}{}", &text[..at], mask_uuids(&text[at + LENGTH..])))
}

/// Returns the output of an operator's command.
fn kontor(arguments: &[&str], database: &str, input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kontor"));
    command.args(arguments).args(["--database", database]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = process.wait_with_output().unwrap();
    assert!(done.status.success(), "{arguments:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn address(db: &TestDatabase) -> String {
    match db.url() {
        DatabaseUrl::Postgres(url) => url,
        file @ DatabaseUrl::Sqlite(_) => file.to_string(),
    }
}

async fn demo(database: &str, folder: &std::path::Path) -> Demo {
    let free = "127.0.0.1:0".parse().unwrap();
    let arguments = DemoArguments {
        bind: Some(free),
        sandbox_bind: free,
        data: folder.join("shop"),
        database: Some(database.to_owned()),
    };
    Demo::start(&arguments, None).await.unwrap()
}

database_tests! {
    async fn every_example_is_what_the_demo_answers(db: TestDatabase) {
        TestServer::prepare();
        let folder = tempfile::tempdir().unwrap();
        let database = address(&db);
        let demo = demo(&database, folder.path()).await;
        let mut callers = ExampleCallers::sign_in(demo.file.clone(), &database).await;
        let recording = std::env::var_os("RECORD_EXAMPLES").is_some();
        let (mut examples, mut responses) = (Vec::new(), Responses::new());
        for (name, text) in FILES {
            let path = format!("{}/examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
            // When recording, read the current file instead of the compiled text.
            let text = if recording { std::fs::read_to_string(&path).unwrap() } else { text.to_owned() };
            let requests = read(&text).unwrap();
            assert!(!requests.is_empty(), "{name}");
            for example in requests {
                let (status, answer) = callers.play(&example).await;
                assert_eq!(status, example.status, "{} {}: {answer}", example.operation, example.path);
                responses.entry((example.operation.clone(), status)).or_insert(answer);
                examples.push(example);
            }
        }
        let described = pinned_text(&illustrated(&examples, &responses)).unwrap();
        if recording {
            let path = format!("{}/../../docs/openapi.json", env!("CARGO_MANIFEST_DIR"));
            std::fs::write(path, described).unwrap();
        } else {
            let differs = described.lines().zip(PINNED.lines()).find(|(now, pinned)| now != pinned);
            assert!(described == PINNED, "docs/openapi.json has other examples: {differs:?}");
        }
        demo.stop().await;
        let imports = match db.url() {
            DatabaseUrl::Postgres(_) => folder.path().join("shop/kontor-imports"),
            DatabaseUrl::Sqlite(file) => format!("{}.imports", file.display()).into(),
        };
        assert!(std::fs::read_dir(&imports).unwrap().count() > 0, "exported files are kept in {}", imports.display());
    }
}
