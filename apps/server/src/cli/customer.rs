//! `kontor customer avatar`: pictures of customers. Customers cannot upload files, and the staff API has no endpoint
//! for the pictures.

use std::sync::Arc;

use clap::Subcommand;
use kontor_customers::CustomerAdministration;
use kontor_kernel::{CounterpartyId, FileId};

use super::operate::open_migrated;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// Subcommands of `kontor customer`.
#[derive(Subcommand)]
pub enum CustomerCommand {
    /// Set the picture of a customer.
    Avatar {
        /// Customer.
        #[arg(long, value_name = "ID")]
        customer: i64,
        /// Id of a file of type 2 in the customer's project, or `none`.
        #[arg(long, value_name = "FILE_ID")]
        avatar: String,
        /// Database.
        #[arg(long)]
        database: Option<String>,
    },
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: CustomerCommand,
) -> Result<(), Failure> {
    let CustomerCommand::Avatar { customer, avatar, database } = command;
    let customer = CounterpartyId::new(customer).map_err(|error| format!("--customer: {error}"))?;
    let file = match avatar.as_str() {
        "none" => None,
        text => {
            let number = text.parse().map_err(|_| "--avatar must be the id of a file, or `none`")?;
            Some(FileId::new(number).map_err(|error| format!("--avatar: {error}"))?)
        }
    };
    let database = open_migrated(&load(database)?)?;
    let registry = CustomerAdministration { customers: Arc::new(database), clock: Arc::new(SystemClock) };
    process::runtime()?.block_on(registry.set_avatar(customer, file))?;
    println!("customer {customer} has the picture {avatar}");
    Ok(())
}
