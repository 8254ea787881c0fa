//! `kontor demo`: the newcomer's one command.

mod seed;
mod tour;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use kontor_adapter_diesel::Database;
use kontor_kernel::AdjustableClock;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use serde::{Deserialize, Serialize};

use super::{Failure, operate, process};
use crate::adapters::SystemClock;
use crate::config::{Config, Environment, SmtpTls};
use crate::service::instance::{Instance, Roles};

pub use tour::tour;

/// Settings of the demo.
#[derive(Debug, Clone, Args)]
pub struct DemoArguments {
    /// The address of the API.
    #[arg(long, default_value = "127.0.0.1:8080")]
    pub bind: SocketAddr,
    /// The address of the emulated outside world.
    #[arg(long, default_value = "127.0.0.1:8090")]
    pub sandbox_bind: SocketAddr,
    /// Where the database and demo.json are kept.
    #[arg(long, default_value = "./kontor-demo")]
    pub data: PathBuf,
    /// Another database than DIR/kontor.db.
    #[arg(long)]
    pub database: Option<String>,
}

/// The contents of demo.json: everything a visitor needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoFile {
    /// The API.
    pub base_url: String,
    /// Its interactive description.
    pub docs_url: String,
    /// The emulated outside world.
    pub sandbox_url: String,
    /// The demo project.
    pub project_id: i64,
    /// Its application.
    pub application_id: i64,
    /// The application's token.
    pub app_token: String,
    /// An employee with every permission.
    pub staff: DemoStaff,
    /// A customer.
    pub customer: DemoCustomer,
    /// The application's webhook, which leads to the sandbox.
    pub webhook: DemoWebhook,
}

/// How the employee signs in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoStaff {
    /// His login.
    pub login: String,
    /// His password.
    pub password: String,
}

/// How the customer signs in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoCustomer {
    /// Her phone.
    pub phone: String,
}

/// Where paid orders are announced.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DemoWebhook {
    /// The webhook.
    pub id: i64,
    /// The sandbox's receiver behind it; a new one on every start.
    pub hook_id: String,
}

/// A running demo.
pub struct Demo {
    /// What demo.json says.
    pub file: DemoFile,
    instance: Instance,
    sandbox: SandboxHandle,
}

impl Demo {
    /// Starts everything; the first time it fills the database.
    pub async fn start(arguments: &DemoArguments) -> Result<Self, Failure> {
        let config = configuration(arguments)?;
        let database = operate::open(&config)?;
        database.migrate()?;
        Self::start_on(arguments, config, database).await
    }

    async fn start_on(arguments: &DemoArguments, mut config: Config, database: Database) -> Result<Self, Failure> {
        let clock = Arc::new(AdjustableClock::new(Arc::new(SystemClock)));
        let sandbox = Sandbox::start(SandboxConfig {
            bind: arguments.sandbox_bind,
            shop_id: config.acquirer_shop_id.clone(),
            ..SandboxConfig::with_adjustable_clock(clock.clone())
        })
        .await?;
        connect_to(&mut config, &sandbox);
        let listener = TcpListener::bind(arguments.bind).map_err(|error| format!("{}: {error}", arguments.bind))?;
        let base_url = format!("http://{}", listener.local_addr()?);
        config.public_url.clone_from(&base_url);
        config.acquirer_return_url = format!("{base_url}/docs/");
        config.verification_return_url.clone_from(&config.acquirer_return_url);
        sandbox.set_notification_url(format!("{base_url}/callbacks/acquirer"));
        sandbox.set_call_callback_url(format!("{base_url}/callbacks/telephony"));
        let instance = Instance::start(&config, &database, clock, Some(listener), Roles::Both)?;

        let path = arguments.data.join("demo.json");
        let known = read(&path)?;
        let visit =
            seed::Visit { config: &config, database: &database, base_url: &base_url, sandbox_url: sandbox.url() };
        let file = match known {
            Some(known) => visit.reopen(known).await?,
            None => visit.furnish().await?,
        };
        write(&path, &file)?;
        Ok(Self { file, instance, sandbox })
    }

    /// Stops everything in order.
    pub async fn stop(self) {
        self.instance.stop().await;
        self.sandbox.stop().await;
    }
}

/// Runs the command until told to end.
pub fn run(arguments: DemoArguments) -> Result<(), Failure> {
    process::log(&Config { log: "warn".into(), log_format: "text".into(), ..Config::default() })?;
    process::runtime()?.block_on(async {
        let demo = Demo::start(&arguments).await?;
        println!("{}", serde_json::to_string_pretty(&demo.file)?);
        println!("\n{}", tour(&demo.file));
        process::ended().await?;
        demo.stop().await;
        Ok(())
    })
}

fn configuration(arguments: &DemoArguments) -> Result<Config, Failure> {
    std::fs::create_dir_all(&arguments.data).map_err(|error| format!("{}: {error}", arguments.data.display()))?;
    let file = arguments.data.join("kontor.db");
    let database_url = arguments.database.clone().unwrap_or_else(|| format!("sqlite:{}", file.display()));
    let config = Config {
        env: Environment::Development,
        database_url: database_url.into(),
        acquirer_shop_id: "demo".into(),
        files_folder: arguments.data.join("kontor-files").display().to_string(),
        webhook_allow_internal: true,
        ..Config::default()
    };
    config.check()?;
    Ok(config)
}

/// Only addresses and credentials tell the demo from a service in production.
fn connect_to(config: &mut Config, sandbox: &SandboxHandle) {
    let defaults = SandboxConfig::new(Arc::new(SystemClock));
    config.acquirer_url = format!("{}/v3", sandbox.url());
    config.acquirer_secret_key = defaults.secret_key.into();
    sandbox.url().clone_into(&mut config.telephony_url);
    config.telephony_api_id = defaults.telephony_api_id.into();
    config.suggest_url = format!("{}/suggestions/api/4_1/rs", sandbox.url());
    config.suggest_api_key = defaults.suggest_api_key.into();
    config.smtp_host = sandbox.smtp_addr().ip().to_string();
    config.smtp_port = sandbox.smtp_addr().port();
    config.smtp_tls = SmtpTls::None;
}

fn read(path: &Path) -> Result<Option<DemoFile>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

/// Whole or not at all: a killed first run starts again, with a project of its own.
fn write(path: &Path, file: &DemoFile) -> Result<(), Failure> {
    let draft = path.with_extension("json.new");
    std::fs::write(&draft, serde_json::to_string_pretty(file)? + "\n")?;
    std::fs::rename(&draft, path)?;
    Ok(())
}
