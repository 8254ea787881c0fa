//! `kontor payment`: payments that need an operator.

use clap::Subcommand;
use kontor_adapter_diesel::queues::MAX_LISTED;
use kontor_kernel::{ChargeId, Clock, ProjectId};
use kontor_payments::model::ChargeProblem;
use serde_json::json;

use super::operate::open_migrated;
use super::process::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// Subcommands of `kontor payment`.
#[derive(Subcommand)]
pub enum PaymentCommand {
    /// List the payments that need an operator, such as an amount that does not match its order.
    List {
        /// Project; by default all.
        #[arg(long)]
        project: Option<i64>,
        #[command(flatten)]
        output: Output,
    },
    /// Remove a payment from the list. Its money and its history do not change.
    Settle {
        /// Id of the charge, as printed by `list`.
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
            for concern in process::runtime()?.block_on(database.payments_to_review(project, MAX_LISTED))? {
                print_concern(&concern, output.json);
            }
            Ok(())
        }
        PaymentCommand::Settle { charge, output } => {
            let id = ChargeId::new(charge).map_err(|error| format!("--charge {error}"))?;
            let database = open_migrated(&load(output.database)?)?;
            if !process::runtime()?.block_on(database.close_payment_review(id, SystemClock.now()))? {
                return Err("no payment with this id needs review; run `kontor payment list`".into());
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

/// Prints a payment that needs an operator, for `list` and `kontor doctor`.
pub(super) fn print_concern(concern: &ChargeProblem, as_json: bool) {
    let ChargeProblem { id, project_id, purpose, provider_id, since, why } = concern;
    if as_json {
        let payment = json!({
            "charge_id": id.get(), "project_id": project_id.get(), "purpose": purpose.kind(), "number": purpose.number(),
            "payment": provider_id.as_ref().map(ToString::to_string), "since": since, "reason": why,
        });
        println!("{}", json!({ "payment": payment }));
        return;
    }
    println!("charge {id} of {purpose} (project {project_id}) needs review since {since}: {why}");
}
