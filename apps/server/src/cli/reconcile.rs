//! `kontor reconcile`

use std::sync::Arc;

use chrono::{DateTime, Utc};
use clap::Args;
use kontor_adapter_diesel::{Database, PaymentComparison};
use kontor_kernel::Clock;
use kontor_payments::model::GatewayPayment;
use kontor_payments::ports::{PaymentGateway, Reading};
use serde_json::json;

use super::operate::open_migrated;
use super::process::Output;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::Adapters;

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
pub fn run(
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
        for payment in &payments.strange {
            print_unknown_payment(payment, output.json);
        }
        let released = database.allow_charges().await?;
        let (known, renewals, strange) = (payments.known, payments.renewals, payments.strange.len());
        let (recorded, doubtful) = (refunds.recorded, refunds.suspicious.len());
        if output.json {
            let compared = json!({
                "known": known, "renewals": renewals, "unknown": strange, "refunds_recorded": recorded,
                "refunds_doubtful": doubtful, "released": released,
            });
            println!("{}", json!({ "compared": compared }));
        } else {
            println!(
                "{known} payments are known, {renewals} renewals will be adopted, {strange} payments are unknown; \
                 {recorded} refunds recorded, {doubtful} need review"
            );
            let told = if released { "subscription charges resumed" } else { "no charges were held" };
            println!("{told}");
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
        all.strange.extend(compared.strange);
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
