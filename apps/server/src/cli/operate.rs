//! Commands for operating the service, among them `kontor health`, `kontor config` and `kontor sandbox`.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use kontor_adapter_diesel::{CACHE_TRUST_PERIOD, Database, PoolOptions};
use kontor_kernel::{AdjustableClock, Clock as _};
use kontor_sandbox::{Sandbox, SandboxConfig};
use kontor_traces::SpanExporter;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use utoipa::PartialSchema as _;

use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::health::log_newer_migrations;
use crate::service::instance::{Instance, Roles};

/// Opens the configured database.
pub fn open(config: &Config) -> Result<Database, Failure> {
    let options = PoolOptions {
        connections: config.database_connections,
        prepared_statements: config.database_prepared_statements,
        ..PoolOptions::default()
    };
    Ok(Database::open(config.database()?, options)?)
}

/// Opens the database and rejects one that lacks migrations.
pub fn open_migrated(config: &Config) -> Result<Database, Failure> {
    let database = open(config)?;
    let state = database.migration_state()?;
    log_newer_migrations(&state);
    match state.missing.as_slice() {
        [] => Ok(database),
        [missing] => Err(format!("the database lacks the migration {missing}; run `kontor migrate` first").into()),
        [first, .., last] => {
            let count = state.missing.len();
            Err(format!("the database lacks {count} migrations, {first} to {last}; run `kontor migrate` first").into())
        }
    }
}

/// Waits for the maximum time that services cache access. A revocation is in effect everywhere when the command ends.
pub fn wait_for_access_caches() {
    std::thread::sleep(CACHE_TRUST_PERIOD);
}

/// Warns that stored secrets are not protected, because the key is public.
fn warn_of_development_key(config: &Config) {
    if config.has_development_key() {
        tracing::warn!(
            "secrets are encrypted with the public development key; set KONTOR_SECRET_KEY, and KONTOR_ENV=production \
             if the database holds real data"
        );
    }
}

/// Runs `kontor serve`.
pub fn serve(config: &Config, with_worker: bool) -> Result<(), Failure> {
    let traces = process::log(config)?;
    warn_of_development_key(config);
    let database = open_migrated(config)?;
    if !database.searches_are_indexed()? {
        tracing::warn!("the database has no text index; searches read every record of a project");
    }
    let roles = if with_worker { Roles::Both } else { Roles::Api };
    process::runtime()?.block_on(async {
        let listener = TcpListener::bind(config.bind).map_err(|error| format!("{}: {error}", config.bind))?;
        check_generation(config, &database).await?;
        let instance = Instance::start(config, &database, Arc::new(SystemClock), Some(listener), roles)?;
        let monitoring = instance.monitoring_address().unwrap_or(config.bind);
        tracing::info!(address = %config.bind, %monitoring, database = %database.url(), "serving");
        run_until_ended(instance, traces).await
    })
}

/// Checks if the database was restored from a backup.
async fn check_generation(config: &Config, database: &Database) -> Result<(), Failure> {
    if database.check_generation(config.imports()?, SystemClock.now()).await? {
        tracing::error!(
            "the database was restored from a backup; subscription charges are held; run `kontor reconcile --since \
             MOMENT`"
        );
    }
    Ok(())
}

/// Runs `kontor worker`. Its health checks and metrics are served at the address, if there is one.
pub fn work(config: &Config, monitoring: Option<SocketAddr>) -> Result<(), Failure> {
    let traces = process::log(config)?;
    warn_of_development_key(config);
    let database = open_migrated(config)?;
    process::runtime()?.block_on(async {
        let bind = |address: SocketAddr| TcpListener::bind(address).map_err(|error| format!("{address}: {error}"));
        let listener = monitoring.map(bind).transpose()?;
        check_generation(config, &database).await?;
        let instance = Instance::start(config, &database, Arc::new(SystemClock), listener, Roles::Worker)?;
        tracing::info!(database = %database.url(), "working");
        run_until_ended(instance, traces).await
    })
}

/// Waits for a termination signal. A failed instance ends the process with an error, so that it can be restarted.
pub async fn wait_for_termination(instance: &Instance) -> Result<(), Failure> {
    tokio::select! {
        signaled = process::wait_for_termination() => signaled,
        () = instance.broke_down() => Err("the HTTP server or the worker failed; see the log".into()),
    }
}

async fn run_until_ended(instance: Instance, traces: Option<SpanExporter>) -> Result<(), Failure> {
    let exporting = traces.map(SpanExporter::start);
    let outcome = wait_for_termination(&instance).await;
    tracing::info!("stopping: finishing requests in flight, releasing leases");
    instance.stop().await;
    if let Some(exporting) = exporting {
        exporting.stop().await;
    }
    outcome
}

/// Runs `kontor migrate`.
pub fn migrate(config: &Config, revert: Option<usize>) -> Result<(), Failure> {
    let database = open(config)?;
    let (done, names) = match revert {
        Some(count) => ("reverted", database.revert(count)?),
        None => ("applied", database.migrate()?),
    };
    for name in &names {
        println!("{done} {name}");
    }
    if names.is_empty() {
        println!("nothing to do: {} is up to date", database.url());
    }
    Ok(())
}

/// Timeout of the request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Settings of `kontor health`.
#[derive(Args)]
pub struct HealthArguments {
    /// Address of the process. Default: `bind` of the configuration.
    #[arg(long)]
    address: Option<SocketAddr>,
    /// Ask `/readyz` instead of `/healthz`: database, migrations and worker too.
    #[arg(long)]
    ready: bool,
}

/// Runs the command. It opens no database and needs no other program, so that a container without a shell can use it.
pub fn check_health(
    load: impl FnOnce() -> Result<Config, ConfigError>,
    arguments: &HealthArguments,
) -> Result<(), Failure> {
    let address = match arguments.address {
        Some(address) => address,
        None => load()?.bind,
    };
    let path = if arguments.ready { "/readyz" } else { "/healthz" };
    let answer = process::runtime()?.block_on(get(local(address), path));
    let (status, body) = answer.map_err(|error| format!("{address}: {}", cause(&error)))?;
    let body = body.trim();
    if status != StatusCode::OK {
        return Err(format!("{address}{path} answers {} {body}", status.as_u16()).into());
    }
    println!("{body}");
    Ok(())
}

/// Replaces an address that means all interfaces: it can be listened on, but not called everywhere.
fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Asks the process itself: no proxy, no redirects, and no certificates, which a machine may lack.
async fn get(address: SocketAddr, path: &str) -> reqwest::Result<(StatusCode, String)> {
    let http = Client::builder().no_proxy().redirect(Policy::none()).tls_certs_only([]).timeout(PATIENCE).build()?;
    let response = http.get(format!("http://{address}{path}")).send().await?;
    Ok((response.status(), response.text().await?))
}

/// Returns the first cause of an error, such as a refused connection. The error itself names only the URL.
fn cause(error: &dyn Error) -> &dyn Error {
    match error.source() {
        Some(source) => cause(source),
        None => error,
    }
}

/// Subcommands of `kontor config`.
#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Read the configuration as the other commands do, and name every wrong key. Exits with 1 if there is one. No
    /// secret is printed.
    Check,
    /// Print the JSON Schema of kontor.toml.
    Schema,
}

/// Settings with a fixed set of words.
const WORDS: [(&str, &[&str]); 4] = [
    ("env", &["development", "production"]),
    ("log_format", &["json", "text"]),
    ("phone_codes", &["call", "sms"]),
    ("smtp_tls", &["none", "starttls", "tls"]),
];

/// Runs the command.
pub fn run_config(
    load: impl FnOnce() -> Result<Config, ConfigError>,
    command: Option<ConfigCommand>,
) -> Result<(), Failure> {
    match command {
        None => print!("{}", load()?.masked()?),
        Some(ConfigCommand::Check) => {
            load()?;
            println!("the configuration is valid");
        }
        Some(ConfigCommand::Schema) => print!("{}", schema()?),
    }
    Ok(())
}

/// Returns the JSON Schema of the configuration file as text.
pub fn schema() -> Result<String, Failure> {
    let mut described = json!(Config::schema());
    let mut properties = described.get_mut("properties").map(Value::take).unwrap_or_default();
    let defaults = json!(Config::default());
    for (key, property) in properties.as_object_mut().into_iter().flatten() {
        let default = defaults.get(key).cloned().unwrap_or_default();
        if default.is_array() {
            property["type"] = json!(["array", "string"]);
        }
        if let Some((_, words)) = WORDS.iter().find(|(name, _)| name == key) {
            property["enum"] = json!(words);
        }
        property["default"] = default;
    }
    let schema: Value = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kontor.toml",
        "description": "Settings of Kontor. Made from the code by `kontor config schema`.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

/// Emulates the outside services until a termination signal.
pub fn run_sandbox(bind: SocketAddr) -> Result<(), Failure> {
    process::log(&Config::default())?;
    process::runtime()?.block_on(async {
        let clock = Arc::new(AdjustableClock::new(Arc::new(SystemClock)));
        let config = SandboxConfig { bind, ..SandboxConfig::with_adjustable_clock(clock) };
        let (shop_id, secret_key, api_id) =
            (config.shop_id.clone(), config.secret_key.clone(), config.telephony_api_id.clone());
        let suggest_key = config.suggest_api_key.clone();
        let (bucket, region) = (config.bucket.clone(), config.bucket_region.clone());
        let (access_key, bucket_key) = (config.bucket_access_key.clone(), config.bucket_secret_key.clone());
        let sandbox = Sandbox::start(config).await?;
        println!("sandbox at {}", sandbox.url());
        println!("KONTOR_ACQUIRER_URL={}/v3", sandbox.url());
        println!("KONTOR_ACQUIRER_SHOP_ID={shop_id}");
        println!("KONTOR_ACQUIRER_SECRET_KEY={secret_key}");
        println!("KONTOR_TELEPHONY_URL={}", sandbox.url());
        println!("KONTOR_TELEPHONY_API_ID={api_id}");
        println!("KONTOR_SUGGEST_URL={}/suggestions/api/4_1/rs", sandbox.url());
        println!("KONTOR_SUGGEST_API_KEY={suggest_key}");
        println!("KONTOR_SMTP_HOST={}", sandbox.smtp_addr().ip());
        println!("KONTOR_SMTP_PORT={}", sandbox.smtp_addr().port());
        println!("KONTOR_FILES_S3_ENDPOINT={}/s3", sandbox.url());
        println!("KONTOR_FILES_S3_BUCKET={bucket}");
        println!("KONTOR_FILES_S3_REGION={region}");
        println!("KONTOR_FILES_S3_ACCESS_KEY={access_key}");
        println!("KONTOR_FILES_S3_SECRET_KEY={bucket_key}");
        println!("KONTOR_WEBHOOK_ALLOW_INTERNAL=true");
        process::wait_for_termination().await?;
        sandbox.stop().await;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn ask(response: &'static str, ready: bool) -> (Result<(), String>, String) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let config = Config { bind: listener.local_addr().unwrap(), ..Config::default() };
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 256];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let outcome = check_health(|| Ok(config), &HealthArguments { address: None, ready });
        (outcome.map_err(|error| error.to_string()), answering.join().unwrap())
    }

    #[test]
    fn only_200_is_healthy() {
        let (outcome, request) = ask("HTTP/1.0 200 OK\r\n\r\n{\"status\":\"ok\"}", false);
        assert!(outcome.is_ok() && request.starts_with("GET /healthz "), "{outcome:?} {request}");
        let (outcome, request) = ask("HTTP/1.0 503 Service Unavailable\r\n\r\n{\"status\":\"not ready\"}", true);
        assert!(outcome.unwrap_err().contains("503 {\"status\":\"not ready\"}"));
        assert!(request.starts_with("GET /readyz "), "{request}");
        assert!(ask("", false).0.is_err(), "a process that closes the connection is not healthy");
    }

    #[test]
    fn all_interfaces_are_asked_on_this_machine() {
        for (bind, asked) in [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.7:80", "10.0.0.7:80")] {
            assert_eq!(local(bind.parse().unwrap()), asked.parse().unwrap());
        }
    }

    #[test]
    fn the_schema_knows_every_setting_and_its_words() {
        let schema: Value = serde_json::from_str(&schema().unwrap()).unwrap();
        let defaults = json!(Config::default());
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(keys(&schema["properties"]), keys(&defaults));
        for (key, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{key}");
            assert_eq!(property["default"], defaults[key]);
        }
        for (key, words) in WORDS {
            let with = |word: &str| {
                let mut settings = defaults.clone();
                settings[key] = json!(word);
                serde_json::from_value::<Config>(settings).is_ok_and(|config| config.check().is_ok())
            };
            assert_eq!(schema["properties"][key]["enum"], json!(words));
            assert!(!with("other"), "{key}");
            let mut safe = words.iter().filter(|word| **word != "production");
            assert!(safe.all(|word| with(word)), "{key}");
        }
    }
}
