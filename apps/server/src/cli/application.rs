//! `kontor application`: access, App Tokens and payment types of applications. `kontor miniapp`: their bots.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_auth::miniapp::{BotToken, MiniAppProvider, MiniAppRegistry};
use kontor_kernel::{ApplicationId, PaymentTypeId, ProjectId, RecordError, Word};
use kontor_organization::model::Application;
use kontor_organization::{ApplicationAdministration, ApplicationError};
use serde_json::{Value, json};

use super::operate::{open_migrated, wait_for_access_caches};
use super::process::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

/// Subcommands of `kontor application`.
#[derive(Subcommand)]
pub enum ApplicationCommand {
    /// List the applications of a project.
    List {
        /// Project.
        #[arg(long, value_name = "ID")]
        project: i64,
        #[command(flatten)]
        output: Output,
    },
    /// Disable an application: its App Token and the tokens of its customers stop working.
    Deactivate(OneApplication),
    /// Enable a disabled application and the tokens of its customers.
    Activate(OneApplication),
    /// Replace the App Token. The old one stops working at once; customers stay logged in.
    RotateToken(OneApplication),
    /// Show the payment types of the project, and those that the application accepts.
    PaymentTypes {
        #[command(flatten)]
        application: OneApplication,
        /// Accept only these: ids separated by commas, or `all` for all of the project, including future ones.
        #[arg(long, value_name = "IDS")]
        set: Option<String>,
    },
}

/// Selected application.
#[derive(Args)]
pub struct OneApplication {
    /// Id of the application.
    #[arg(long, value_name = "ID")]
    application: i64,
    #[command(flatten)]
    output: Output,
}

impl ApplicationCommand {
    fn output(&self) -> &Output {
        match self {
            Self::List { output, .. } => output,
            Self::Deactivate(application)
            | Self::Activate(application)
            | Self::RotateToken(application)
            | Self::PaymentTypes { application, .. } => &application.output,
        }
    }
}

impl OneApplication {
    fn id(&self) -> Result<ApplicationId, Failure> {
        ApplicationId::new(self.application).map_err(|error| format!("--application: {error}").into())
    }
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: ApplicationCommand,
) -> Result<(), Failure> {
    let Output { json, database } = command.output().clone();
    let config = load(database)?;
    let registry = registry(&config)?;
    process::runtime()?.block_on(execute(&registry, command, json))
}

fn registry(config: &Config) -> Result<ApplicationAdministration, Failure> {
    let store = Arc::new(open_migrated(config)?);
    let Adapters { clock, random, cipher, .. } = Adapters::new(config, Arc::new(SystemClock))?;
    Ok(ApplicationAdministration { applications: store.clone(), options: store, clock, random, cipher })
}

fn refused(error: ApplicationError) -> Failure {
    if let RecordError::NotFound = error { "application not found".into() } else { error.into() }
}

async fn execute(registry: &ApplicationAdministration, command: ApplicationCommand, json: bool) -> Result<(), Failure> {
    match command {
        ApplicationCommand::List { project, .. } => {
            let project = ProjectId::new(project).map_err(|error| format!("--project: {error}"))?;
            list(&registry.list(project).await?, json);
        }
        ApplicationCommand::Deactivate(application) => {
            let application = registry.deactivate(application.id()?).await.map_err(refused)?;
            wait_for_access_caches();
            print_application(&application, "is disabled", json);
        }
        ApplicationCommand::Activate(application) => {
            print_application(&registry.activate(application.id()?).await.map_err(refused)?, "is enabled", json);
        }
        ApplicationCommand::RotateToken(application) => {
            let issued = registry.rotate_token(application.id()?).await.map_err(refused)?;
            wait_for_access_caches();
            let (id, token) = (issued.application.id, issued.token.reveal());
            if json {
                println!("{}", json!({ "application_id": id.get(), "app_token": token }));
            } else {
                println!("application_id  {id}");
                println!("app_token       {token}");
                println!("The token is shown only once.");
            }
        }
        ApplicationCommand::PaymentTypes { application, set } => {
            let id = application.id()?;
            if let Some(set) = set {
                registry.choose_payment_types(id, chosen(&set)?).await.map_err(refused)?;
            }
            payment_types(registry, id, json).await?;
        }
    }
    Ok(())
}

fn record(application: &Application) -> Value {
    json!({
        "application_id": application.id.get(),
        "name": application.details.name.as_str(),
        "is_active": application.is_active,
    })
}

fn list(applications: &[Application], json: bool) {
    if json {
        println!("{}", applications.iter().map(record).collect::<Value>());
        return;
    }
    for application in applications {
        let shut_out = if application.is_active { "" } else { "  disabled" };
        println!("{:>6}  {}{shut_out}", application.id.get(), application.details.name);
    }
}

fn print_application(application: &Application, now: &str, json: bool) {
    if json {
        println!("{}", record(application));
    } else {
        println!("application {} ({}) {now}", application.id, application.details.name);
    }
}

/// Parses the payment types. An empty set means all.
fn chosen(text: &str) -> Result<BTreeSet<PaymentTypeId>, Failure> {
    if text == "all" {
        return Ok(BTreeSet::new());
    }
    let number = |part: &str| part.trim().parse().ok().and_then(|number| PaymentTypeId::new(number).ok());
    let ids: Option<BTreeSet<PaymentTypeId>> = text.split(',').map(number).collect();
    ids.ok_or_else(|| "--set must be comma-separated ids of payment types, or `all`".into())
}

async fn payment_types(registry: &ApplicationAdministration, id: ApplicationId, json: bool) -> Result<(), Failure> {
    let choices = registry.payment_types(id).await.map_err(refused)?;
    if json {
        let types = choices.iter().map(|choice| {
            let kind = &choice.payment_type;
            json!({ "payment_type_id": kind.id.get(), "name": kind.name.as_str(), "is_taken": choice.is_taken })
        });
        println!("{}", types.collect::<Value>());
        return Ok(());
    }
    for choice in choices {
        let not_taken = if choice.is_taken { "" } else { "  not accepted" };
        println!("{:>6}  {}{not_taken}", choice.payment_type.id.get(), choice.payment_type.name);
    }
    Ok(())
}

/// Maximum size of the token input in bytes, larger than any token.
const MAX_BYTES: u64 = 4_096;

/// Subcommands of `kontor miniapp`.
#[derive(Subcommand)]
pub enum MiniAppCommand {
    /// Let customers log in with contacts signed with the token of this bot.
    Set {
        #[command(flatten)]
        place: Place,
        /// File with the token; by default it is read from standard input. It is no argument, because other users can
        /// see arguments.
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// Remove the bot. Customers who have logged in stay logged in.
    Remove {
        #[command(flatten)]
        place: Place,
    },
}

/// Selected bot.
#[derive(Args)]
pub struct Place {
    /// Id of the application.
    #[arg(long, value_name = "ID")]
    application: i64,
    /// Messenger: `max`.
    #[arg(long)]
    provider: String,
    /// Database.
    #[arg(long)]
    database: Option<String>,
}

/// Runs the command.
pub fn run_miniapp(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: MiniAppCommand,
) -> Result<(), Failure> {
    let (place, token) = match command {
        MiniAppCommand::Set { place, token_file } => (place, Some(read_token(token_file)?)),
        MiniAppCommand::Remove { place } => (place, None),
    };
    let application = ApplicationId::new(place.application).map_err(|error| format!("--application {error}"))?;
    let provider = MiniAppProvider::from_word(&place.provider).ok_or("--provider must be max")?;
    let config = load(place.database)?;
    let database = open_migrated(&config)?;
    let Adapters { clock, cipher, .. } = Adapters::new(&config, Arc::new(SystemClock))?;
    let registry = MiniAppRegistry { bots: Arc::new(database), clock, cipher };
    process::runtime()?.block_on(async {
        match &token {
            Some(token) => registry.set(application, provider, token).await,
            None => registry.remove(application, provider).await,
        }
    })?;
    let done = if token.is_some() { "set" } else { "removed" };
    println!("{done} {} for application {application}", provider.word());
    Ok(())
}

fn read_token(file: Option<PathBuf>) -> Result<BotToken, Failure> {
    let mut text = String::new();
    match file {
        None => std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text)?,
        Some(path) => {
            let opened = std::fs::File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            opened.take(MAX_BYTES).read_to_string(&mut text)?
        }
    };
    Ok(BotToken::parse(&text)?)
}
