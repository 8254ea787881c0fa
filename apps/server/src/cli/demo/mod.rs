//! `kontor demo`: a complete shop with one command.

mod restore;
mod seed;
mod tour;
mod travel;

pub use tour::tour;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kontor_adapter_diesel::DatabaseUrl;
use kontor_kernel::{AdjustableClock, ExposeSecret};
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle, reachable};
use kontor_traces::SpanExporter;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::travel::DemoClock;
use super::{Failure, operate, process};
use crate::adapters::SystemClock;
use crate::config::{Config, Development, Flags, Layers, SmtpTls};
use crate::service::instance::{DemoParts, Instance};
use crate::service::landing::LandingMarkup;
use crate::service::wiring::Adapters;
use crate::service::worker::TimeLock;

/// Lifetime of tokens. The clock may be moved by years, and earlier logins must stay valid.
const TOKEN_HOURS: u32 = 50 * 366 * 24;

/// Settings of the demo.
#[derive(Debug, Clone, Args)]
pub struct DemoArguments {
    /// Address of the API [default: 127.0.0.1:8080].
    #[arg(long)]
    pub bind: Option<SocketAddr>,
    /// Address of the emulated outside services.
    #[arg(long, default_value = "127.0.0.1:8090")]
    pub sandbox_bind: SocketAddr,
    /// Folder of the database and demo.json.
    #[arg(long, default_value = "./kontor-demo")]
    pub data: PathBuf,
    /// Database other than DIR/kontor.db.
    #[arg(long)]
    pub database: Option<String>,
}

impl DemoArguments {
    /// Returns the settings that every command has.
    fn flags(&self) -> Flags {
        Flags { bind: self.bind, database_url: self.database.clone() }
    }
}

/// Contents of demo.json: addresses and credentials for visitors.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoFile {
    /// URL of the API.
    pub base_url: String,
    /// URL of the API reference.
    pub docs_url: String,
    /// URL of the emulated outside services.
    pub sandbox_url: String,
    /// Demo project.
    pub project_id: i64,
    /// Application of the project.
    pub application_id: i64,
    /// App Token of the application.
    pub app_token: String,
    /// Employee with every permission.
    pub staff: DemoStaff,
    /// Customer.
    pub customer: DemoCustomer,
    /// Webhook of the application, which targets the sandbox.
    pub webhook: DemoWebhook,
}

/// Credentials of the employee.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoStaff {
    /// Login of the employee.
    pub login: String,
    /// Password of the employee.
    pub password: String,
}

/// Login data of the customer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoCustomer {
    /// Phone of the customer.
    pub phone: String,
}

/// Webhook for paid orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoWebhook {
    /// Id of the webhook.
    pub id: i64,
    /// Receiver in the sandbox; a new one on every start.
    pub hook_id: String,
}

/// Running demo.
pub struct Demo {
    /// Contents of demo.json.
    pub file: DemoFile,
    instance: Instance,
    sandbox: SandboxHandle,
}

impl Demo {
    /// Starts everything. `file` is read instead of `kontor.toml`; missing settings get the demo's defaults. Missing
    /// records of its project are created or restored.
    pub async fn start(arguments: &DemoArguments, file: Option<PathBuf>) -> Result<Self, Failure> {
        let layers = Layers::read(file, arguments.flags());
        let own = own(arguments)?;
        let development = development(&layers, &own)?;
        let asked = layers.over(&own)?;
        let database = operate::open(&asked)?;
        database.migrate()?;

        let clock = Arc::new(AdjustableClock::new(Arc::new(SystemClock)));
        let sandbox = Sandbox::start(SandboxConfig {
            bind: arguments.sandbox_bind,
            shop_id: asked.acquirer_shop_id.clone(),
            secret_key: asked.acquirer_secret_key.expose_secret().to_owned(),
            telephony_api_id: asked.telephony_api_id.expose_secret().to_owned(),
            suggest_api_key: asked.suggest_api_key.expose_secret().to_owned(),
            ..SandboxConfig::with_adjustable_clock(clock.clone())
        })
        .await?;
        let listener = TcpListener::bind(asked.bind).map_err(|error| format!("{}: {error}", asked.bind))?;
        let base_url = format!("http://{}", reachable(listener.local_addr()?));
        let config = layers.over(&connected(own, &sandbox, &base_url))?;
        sandbox.set_notification_url(format!("{base_url}/callbacks/acquirer"));
        sandbox.set_call_callback_url(format!("{base_url}/callbacks/telephony"));
        let around = Adapters::new(&config, clock.clone())?;
        let turns = TimeLock::default();
        let demo_clock = DemoClock::new(development, clock.clone(), turns.clone(), &database, &around);
        sandbox.set_time_travel(Arc::new(demo_clock));
        let welcome = LandingMarkup::default();
        let parts = DemoParts { turns, welcome: welcome.clone() };
        let instance = Instance::start_demo(&config, &database, clock, listener, parts)?;

        let (path, made_path) = (arguments.data.join("demo.json"), arguments.data.join("seed.json"));
        let visit = seed::DemoStart {
            config: &config,
            database: &database,
            around: &around,
            base_url: &base_url,
            sandbox_url: sandbox.url(),
        };
        let known = match read(&path)? {
            Some(known) => {
                let reopened = visit.reopen(known, read(&made_path)?.unwrap_or_default()).await?;
                if reopened.is_none() {
                    // The file is kept: its project may be in another database, and its secrets are stored nowhere
                    // else.
                    std::fs::rename(&path, path.with_extension("json.old"))?;
                }
                reopened
            }
            None => None,
        };
        let (file, made) = match known {
            Some(known) => known,
            None => visit.create_project().await?,
        };
        write(&made_path, &made)?;
        write(&path, &file)?;
        welcome.say(tour::welcome(&file));
        Ok(Self { file, instance, sandbox })
    }

    /// Stops everything in order.
    pub async fn stop(self) {
        self.instance.stop().await;
        self.sandbox.stop().await;
    }
}

/// Runs the command until a termination signal.
pub fn run(arguments: DemoArguments, file: Option<PathBuf>) -> Result<(), Failure> {
    let (layers, own) = (Layers::read(file.clone(), arguments.flags()), own(&arguments)?);
    development(&layers, &own)?;
    let traces = process::log(&layers.over(&own)?)?;
    process::runtime()?.block_on(async {
        let demo = Demo::start(&arguments, file).await?;
        let exporting = traces.map(SpanExporter::start);
        println!("{}", serde_json::to_string_pretty(&demo.file)?);
        println!("\n{}", tour(&demo.file));
        let outcome = operate::wait_for_termination(&demo.instance).await;
        demo.stop().await;
        if let Some(exporting) = exporting {
            exporting.stop().await;
        }
        outcome
    })
}

/// Proves that the demo runs in development. It moves time, and accepts any code that it calls up itself.
fn development(layers: &Layers, own: &Config) -> Result<Development, Failure> {
    let proof = layers.environment(own)?.development();
    proof.ok_or_else(|| {
        "`kontor demo` does not run in production, because it emulates providers and lets callers move the clock; \
         unset KONTOR_ENV, or run `kontor serve`"
            .into()
    })
}

/// Returns the demo's own settings that are known before the start, as the lowest layer.
fn own(arguments: &DemoArguments) -> Result<Config, Failure> {
    std::fs::create_dir_all(&arguments.data).map_err(|error| format!("{}: {error}", arguments.data.display()))?;
    let sandbox = SandboxConfig::new(Arc::new(SystemClock));
    // A SQLite file has its own folder beside it; without this, PostgreSQL would use the working directory.
    let database = arguments.database.as_deref().map(str::parse);
    let is_postgres = matches!(database, Some(Ok(DatabaseUrl::Postgres(_))));
    let import_folder =
        if is_postgres { arguments.data.join("kontor-imports").display().to_string() } else { String::new() };
    Ok(Config {
        database_url: format!("sqlite:{}", arguments.data.join("kontor.db").display()).into(),
        log: "warn".into(),
        log_format: "text".into(),
        code_limit_factor: 100,
        customer_writes_per_minute: 10_000,
        // Addresses of the sandbox.
        acquirer_addresses: vec!["127.0.0.0/8".into(), "::1".into()],
        // The clock does not advance while time is moved, so nothing may wait for it.
        subscription_charges_per_second: 1_000_000,
        staff_token_hours: TOKEN_HOURS,
        customer_token_hours: TOKEN_HOURS,
        acquirer_shop_id: "demo".into(),
        acquirer_secret_key: sandbox.secret_key.into(),
        telephony_api_id: sandbox.telephony_api_id.into(),
        suggest_api_key: sandbox.suggest_api_key.into(),
        files_folder: arguments.data.join("kontor-files").display().to_string(),
        import_folder,
        webhook_allow_internal: true,
        ..Config::default()
    })
}

/// Adds the addresses of the started services. Only these and the credentials differ from a production service.
fn connected(own: Config, sandbox: &SandboxHandle, base_url: &str) -> Config {
    let return_url = format!("{base_url}/docs/");
    Config {
        public_url: base_url.to_owned(),
        acquirer_url: format!("{}/v3", sandbox.url()),
        acquirer_return_url: return_url.clone(),
        verification_return_url: return_url,
        telephony_url: sandbox.url().to_owned(),
        suggest_url: format!("{}/suggestions/api/4_1/rs", sandbox.url()),
        smtp_host: sandbox.smtp_addr().ip().to_string(),
        smtp_port: sandbox.smtp_addr().port(),
        smtp_tls: SmtpTls::None,
        ..own
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

/// Writes the file completely or not at all: an aborted first run starts again with its own project. Only the owner may
/// read the file, because it holds credentials.
fn write(path: &Path, file: &impl Serialize) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all((serde_json::to_string_pretty(file)? + "\n").as_bytes())?;
    draft.persist(path)?;
    Ok(())
}

/// API client of the demo's employee, who is logged in.
struct ApiClient<'a> {
    /// Client that ignores proxy settings, because everything runs on this machine.
    http: Client,
    base_url: &'a str,
    bearer: String,
}

impl<'a> ApiClient<'a> {
    /// Logs in. Returns `None` if the service rejects the login or password.
    async fn open(base_url: &'a str, login: &str, password: &str) -> Result<Option<Self>, Failure> {
        let http = Client::builder().no_proxy().build()?;
        let body = json!({ "login": login, "password": password });
        let response = http.post(format!("{base_url}/api/login")).json(&body).send().await?;
        if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Ok(None);
        }
        let answer: Value = response.error_for_status()?.json().await?;
        let bearer = at(&answer, "/user/access_token/value")?.as_str().unwrap_or_default().to_owned();
        Ok(Some(Self { http, base_url, bearer }))
    }

    /// Sends a body by `POST`.
    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, |request| request.json(body)).await
    }

    /// Creates a record and returns its id, which the response has at the JSON pointer.
    async fn make(&self, path: &str, body: &Value, pointer: &str) -> Result<i64, Failure> {
        let made = self.post(path, body).await?;
        at(&made, pointer)?.as_i64().ok_or_else(|| format!("{path}: {pointer} is not a number").into())
    }

    /// Sends a file.
    async fn upload(&self, path: &str, name: &'static str, text: String) -> Result<Value, Failure> {
        let form = Form::new().part("file", Part::text(text).file_name(name));
        self.send(Method::POST, path, |request| request.multipart(form)).await
    }

    /// Sends a request, and fails unless the response is a success.
    async fn send(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Value, Failure> {
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.bearer);
        let response = fill(request).send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if status.is_success() {
            Ok(serde_json::from_str(&text)?)
        } else {
            Err(format!("{path} answered {status}: {text}").into())
        }
    }
}

/// Returns the value at a JSON pointer.
fn at<'v>(value: &'v Value, pointer: &str) -> Result<&'v Value, Failure> {
    value.pointer(pointer).ok_or_else(|| format!("an answer lacks {pointer}: {value}").into())
}

#[cfg(test)]
mod tests;
