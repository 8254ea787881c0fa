//! `kontor miniapp set` and `kontor miniapp remove`

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use kontor_auth::miniapp::{BotToken, MiniAppProvider, MiniAppRegistry};
use kontor_kernel::{ApplicationId, Word};

use super::operate::open_migrated;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

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
pub fn run(
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
