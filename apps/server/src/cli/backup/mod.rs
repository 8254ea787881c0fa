//! `kontor backup`

mod bucket;

use std::path::PathBuf;

use clap::Args;
use kontor_adapter_diesel::{Backup, BackupError, DatabaseUrl};
use serde_json::json;

use self::bucket::BackupCommand;
use super::Failure;
use super::operate::open;
use super::process::Output;
use crate::config::{Config, ConfigError};

/// Settings of `kontor backup`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BackupArguments {
    /// File to create. An existing file is never overwritten.
    #[arg(long, value_name = "FILE", required = true)]
    to: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: Option<BackupCommand>,
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: BackupArguments,
) -> Result<(), Failure> {
    let BackupArguments { to, output, command } = arguments;
    if let Some(command) = command {
        return bucket::run(load, command);
    }
    let to = to.ok_or("--to is required")?;
    let config = load(output.database)?;
    existing_file(&config)?;
    let Backup { bytes, newest_migration } = open(&config)?.back_up(&to)?;
    let file = to.display();
    if output.json {
        println!("{}", json!({ "file": file.to_string(), "bytes": bytes, "newest_migration": newest_migration }));
    } else {
        println!("{file}: {bytes} bytes, verified, last migration {newest_migration}");
    }
    Ok(())
}

/// Returns the file of the embedded database.
fn embedded_file(config: &Config) -> Result<PathBuf, Failure> {
    match config.database()? {
        DatabaseUrl::Postgres(_) => Err(BackupError::Postgres.into()),
        DatabaseUrl::Sqlite(file) => Ok(file),
    }
}

/// Does the same, and fails if the file does not exist: opening a missing database would create an empty one.
fn existing_file(config: &Config) -> Result<PathBuf, Failure> {
    let file = embedded_file(config)?;
    if file.try_exists()? { Ok(file) } else { Err(format!("database {} not found", file.display()).into()) }
}
