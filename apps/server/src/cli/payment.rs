//! `kontor payment`: payments that people must look at.

use clap::Subcommand;
use kontor_adapter_diesel::queues::MOST_TOLD;
use kontor_kernel::{ChargeId, Clock, ProjectId};
use kontor_payments::model::ChargeConcern;
use serde_json::json;

use super::operate::open_migrated;
use super::output::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// What can be done with payments.
#[derive(Subcommand)]
pub enum PaymentCommand {
    /// Lists the payments that people must look at, such as money that does not fit its order.
    List {
        /// The project; without it all.
        #[arg(long)]
        project: Option<i64>,
        #[command(flatten)]
        output: Output,
    },
    /// Takes a payment off the list. Its money and its history stay as they are.
    Settle {
        /// The number of the charge, as `list` prints it.
        #[arg(long)]
        charge: i64,
        #[command(flatten)]
        output: Output,
    },
}

/// Runs the command.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: PaymentCommand,
) -> Result<(), Failure> {
    match command {
        PaymentCommand::List { project, output } => {
            let project = project.map(ProjectId::new).transpose().map_err(|error| format!("--project {error}"))?;
            let database = open_migrated(&load(output.database)?)?;
            for concern in process::runtime()?.block_on(database.payment_concerns(project, MOST_TOLD))? {
                print_concern(&concern, output.json);
            }
            Ok(())
        }
        PaymentCommand::Settle { charge, output } => {
            let id = ChargeId::new(charge).map_err(|error| format!("--charge {error}"))?;
            let database = open_migrated(&load(output.database)?)?;
            if !process::runtime()?.block_on(database.settle_payment(id, SystemClock.now()))? {
                return Err("no payment with this number is on the list".into());
            }
            if output.json {
                println!("{}", json!({ "charge_id": id.get() }));
            } else {
                println!("charge_id  {id}");
            }
            Ok(())
        }
    }
}

/// Prints a payment that people must look at, for `list` and `kontor doctor`.
pub(super) fn print_concern(concern: &ChargeConcern, as_json: bool) {
    let ChargeConcern { id, project_id, purpose, provider_id, since, why } = concern;
    if as_json {
        let payment = json!({
            "charge_id": id.get(), "project_id": project_id.get(), "purpose": purpose.kind(), "number": purpose.number(),
            "payment": provider_id.as_ref().map(ToString::to_string), "since": since, "reason": why,
        });
        println!("{}", json!({ "payment": payment }));
        return;
    }
    println!("charge {id} of {purpose} (project {project_id}) needs to be looked at since {since}: {why}");
}
