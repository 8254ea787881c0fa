//! `kontor payment`, `kontor receipt` and `kontor reconcile`: payments and receipts that need an operator, and projects
//! that use fiscal receipts.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use kontor_adapter_diesel::queues::MAX_LISTED;
use kontor_adapter_diesel::{Database, PaymentComparison};
use kontor_kernel::{ChargeId, Clock, ProjectId, ReceiptId, Word};
use kontor_payments::model::{ChargeProblem, GatewayPayment, ReceiptProblemReport, ReceiptTerms, TaxSystem, VatCode};
use kontor_payments::ports::{PaymentGateway, Reading, ReceiptSettings};
use serde_json::json;

use super::operate::open_migrated;
use super::process::{OfProject, Output};
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

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
            let project = project.map(process::project).transpose()?;
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

/// Subcommands of `kontor receipt`.
#[derive(Subcommand)]
pub enum ReceiptCommand {
    /// Enable receipts for the online orders of a project, from the next order on.
    On {
        #[command(flatten)]
        place: OfProject,
        /// VAT of items without their own, by the acquirer's code: 1 none, 2 0 %, 3 10 %, 4 20 %, 5 10/110, 6 20/120, 7
        /// 5 %, 8 7 %, 9 5/105, 10 7/107, 11 22 %, 12 22/122.
        #[arg(long, default_value_t = 1)]
        vat_code: u8,
        /// Tax system of the seller, if they use several, by the acquirer's code: 1 general, 2 simplified (income), 3
        /// simplified (income less costs), 4 imputed income, 5 agricultural, 6 patent.
        #[arg(long)]
        tax_system: Option<u8>,
    },
    /// Disable receipts. Orders that were paid with a receipt keep it.
    Off {
        #[command(flatten)]
        place: OfProject,
    },
    /// Show the receipt settings of a project.
    Show {
        #[command(flatten)]
        place: OfProject,
    },
    /// List the receipts that are canceled or have been pending for three days.
    List {
        /// Project; by default all.
        #[arg(long)]
        project: Option<i64>,
        #[command(flatten)]
        output: Output,
    },
    /// Request a canceled receipt again, after its cause is fixed.
    Again {
        #[command(flatten)]
        one: One,
    },
    /// Mark a receipt that was created at the register as done.
    Settle {
        #[command(flatten)]
        one: One,
    },
}

/// Selected receipt.
#[derive(Args)]
pub struct One {
    /// Id of the receipt, as printed by `list`.
    #[arg(long)]
    receipt: i64,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub fn run_receipt(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: ReceiptCommand,
) -> Result<(), Failure> {
    match command {
        ReceiptCommand::On { place, vat_code, tax_system } => {
            let default_vat = VatCode::new(vat_code).map_err(|error| format!("--vat-code {error}"))?;
            let system = tax_system.map(TaxSystem::new).transpose();
            let tax_system = system.map_err(|error| format!("--tax-system {error}"))?;
            set(load, &place, Some(ReceiptTerms { tax_system, default_vat }))
        }
        ReceiptCommand::Off { place } => set(load, &place, None),
        ReceiptCommand::Show { place } => {
            let project = place.project()?;
            let database = open_migrated(&load(place.output.database)?)?;
            print_terms(project, process::runtime()?.block_on(database.receipt_terms(project))?, place.output.json);
            Ok(())
        }
        ReceiptCommand::List { project: number, output } => {
            let of = number.map(process::project).transpose()?;
            let database = open_migrated(&load(output.database)?)?;
            for concern in process::runtime()?.block_on(database.receipt_concerns(of, MAX_LISTED))? {
                report_concern(&concern, output.json);
            }
            Ok(())
        }
        ReceiptCommand::Again { one } => {
            let what = "no canceled receipt with this id can be requested again; run `kontor receipt list`";
            decide(load, one, what, |database, id| {
                process::runtime()?.block_on(database.retry_receipt(id, SystemClock.now())).map_err(Into::into)
            })
        }
        ReceiptCommand::Settle { one } => {
            let what = "no receipt with this id needs review; run `kontor receipt list`";
            decide(load, one, what, |database, id| {
                process::runtime()?.block_on(database.close_receipt_review(id, SystemClock.now())).map_err(Into::into)
            })
        }
    }
}

fn set(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    place: &OfProject,
    terms: Option<ReceiptTerms>,
) -> Result<(), Failure> {
    let project = place.project()?;
    let database = open_migrated(&load(place.output.database.clone())?)?;
    if !process::runtime()?.block_on(database.set_receipt_terms(project, terms))? {
        return Err(format!("project {project} not found").into());
    }
    print_terms(project, terms, place.output.json);
    Ok(())
}

fn print_terms(project: ProjectId, terms: Option<ReceiptTerms>, as_json: bool) {
    let vat_code = terms.map(|terms| terms.default_vat.get());
    let tax_system = terms.and_then(|terms| terms.tax_system).map(TaxSystem::get);
    if as_json {
        let on = terms.is_some();
        println!(
            "{}",
            json!({ "project_id": project.get(), "receipts": on, "vat_code": vat_code, "tax_system": tax_system })
        );
        return;
    }
    let number = |code: Option<u8>| code.map_or("-".to_owned(), |code| code.to_string());
    println!("project_id  {project}");
    println!("receipts    {}", if terms.is_some() { "on" } else { "off" });
    println!("vat_code    {}", number(vat_code));
    println!("tax_system  {}", number(tax_system));
}

/// Prints a receipt that needs an operator, for `list` and `kontor doctor`.
pub(super) fn report_concern(concern: &ReceiptProblemReport, as_json: bool) {
    let ReceiptProblemReport { id, project_id, purpose, kind, state, since, reason } = concern;
    let (kind, state) = (kind.word(), state.word());
    if as_json {
        let (purpose, number) = (purpose.kind(), purpose.number());
        let receipt = json!({
            "receipt_id": id.get(), "project_id": project_id.get(), "purpose": purpose, "number": number, "kind": kind,
            "state": state, "since": since, "reason": reason,
        });
        println!("{}", json!({ "receipt": receipt }));
        return;
    }
    let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    println!("receipt {id} of {purpose} (project {project_id}, {kind}) is {state} since {since}{reason}");
}

fn decide(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    one: One,
    otherwise: &str,
    decide: impl FnOnce(&Database, ReceiptId) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let id = ReceiptId::new(one.receipt).map_err(|error| format!("--receipt {error}"))?;
    let database = open_migrated(&load(one.output.database)?)?;
    if !decide(&database, id)? {
        return Err(otherwise.into());
    }
    if one.output.json {
        println!("{}", json!({ "receipt_id": id.get() }));
    } else {
        println!("receipt_id  {id}");
    }
    Ok(())
}

/// Settings of `kontor reconcile`.
#[derive(Args)]
pub struct ReconcileArguments {
    /// Time of the backup, or earlier, in RFC 3339 format such as 2026-03-01T04:00:00Z.
    #[arg(long, value_name = "MOMENT")]
    since: DateTime<Utc>,
    #[command(flatten)]
    output: Output,
}

/// Runs the command. Nothing is released if a list could not be read completely.
pub fn run_reconcile(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: ReconcileArguments,
) -> Result<(), Failure> {
    let ReconcileArguments { since, output } = arguments;
    let config = load(output.database)?;
    let database = open_migrated(&config)?;
    process::runtime()?.block_on(async {
        let around = Adapters::new(&config, Arc::new(SystemClock))?;
        database.check_generation(config.imports()?, SystemClock.now()).await?;
        let payments = payments_since(&database, &*around.acquirer, since).await?;
        let refunds = around.refunds(&database).compare(since).await?;
        if let Some(why) = refunds.broken_off {
            return Err(format!("the acquirer's refunds cannot be read: {why}").into());
        }
        for payment in &payments.unexpected {
            print_unknown_payment(payment, output.json);
        }
        let released = database.allow_charges().await?;
        let (known, renewals, unexpected) = (payments.known, payments.renewals, payments.unexpected.len());
        let (recorded, doubtful) = (refunds.recorded, refunds.suspicious.len());
        if output.json {
            let compared = json!({
                "known": known, "renewals": renewals, "unknown": unexpected, "refunds_recorded": recorded,
                "refunds_doubtful": doubtful, "released": released,
            });
            println!("{}", json!({ "compared": compared }));
        } else {
            println!(
                "{known} payments are known, {renewals} renewals will be adopted, {unexpected} payments are unknown; \
                 {recorded} refunds recorded, {doubtful} need review"
            );
            let reported = if released { "subscription charges resumed" } else { "no charges were held" };
            println!("{reported}");
        }
        Ok(())
    })
}

async fn payments_since(
    database: &Database,
    acquirer: &dyn PaymentGateway,
    since: DateTime<Utc>,
) -> Result<PaymentComparison, Failure> {
    let (mut all, mut page) = (PaymentComparison::default(), None);
    loop {
        let listed = match acquirer.list_payments(since, page).await {
            Reading::Known(listed) => listed,
            Reading::Absent => return Ok(all),
            Reading::Unknown { why } => return Err(format!("the acquirer's payments cannot be read: {why}").into()),
        };
        let compared = database.compare_payments(listed.items, SystemClock.now()).await?;
        all.known += compared.known;
        all.renewals += compared.renewals;
        all.unexpected.extend(compared.unexpected);
        page = listed.next;
        if page.is_none() {
            return Ok(all);
        }
    }
}

/// Prints a payment for a record that the database does not have. An operator refunds it, or recreates the record.
fn print_unknown_payment(payment: &GatewayPayment, as_json: bool) {
    let GatewayPayment { id, amount, currency, purpose, .. } = payment;
    let purpose = purpose.map(|purpose| purpose.to_string());
    if as_json {
        let shown =
            json!({ "payment": id.as_str(), "amount": amount.to_string(), "currency": currency, "purpose": purpose });
        println!("{}", json!({ "unknown": shown }));
    } else {
        println!("payment {id} of {amount} {currency} is unknown ({})", purpose.as_deref().unwrap_or("no purpose"));
    }
}
