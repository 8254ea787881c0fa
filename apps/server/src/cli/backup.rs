//! `kontor backup`

use std::path::PathBuf;

use clap::Args;
use kontor_adapter_diesel::{Backup, BackupError, DatabaseUrl};
use serde_json::json;

use super::Failure;
use super::operate::open;
use super::process::Output;
use crate::config::{Config, ConfigError};

/// Settings of `kontor backup`.
#[derive(Args)]
pub struct BackupArguments {
    /// File to create. An existing file is never overwritten.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: &BackupArguments,
) -> Result<(), Failure> {
    let config = load(arguments.output.database.clone())?;
    match config.database()? {
        DatabaseUrl::Postgres(_) => return Err(BackupError::Postgres.into()),
        // Opening a missing database would create an empty one.
        DatabaseUrl::Sqlite(file) if !file.try_exists()? => {
            return Err(format!("database {} not found", file.display()).into());
        }
        DatabaseUrl::Sqlite(_) => {}
    }
    let Backup { bytes, newest_migration } = open(&config)?.back_up(&arguments.to)?;
    let file = arguments.to.display();
    if arguments.output.json {
        println!("{}", json!({ "file": file.to_string(), "bytes": bytes, "newest_migration": newest_migration }));
    } else {
        println!("{file}: {bytes} bytes, verified, last migration {newest_migration}");
    }
    Ok(())
}
