//! `kontor doctor`

use clap::Args;
use kontor_adapter_diesel::doctor::{Corrected, Difference, ExaminedCounts, UnreadableRow};
use kontor_adapter_diesel::queues::MAX_LISTED;
use kontor_adapter_diesel::{Database, Parked};
use kontor_kernel::{Clock, ProjectId};
use serde_json::json;

use super::operate::open_migrated;
use super::payment::{print_concern, report_concern};
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};

/// Settings of `kontor doctor`.
#[derive(Args)]
pub struct DoctorArguments {
    /// Check only this project.
    #[arg(long)]
    project: Option<i64>,
    /// Correct the differences after reporting them: stock by movements with the reason `correction`, all other figures
    /// by recalculation. Then check again.
    #[arg(long)]
    correct: bool,
    /// First return parked rows to their queues. Rows that still cannot be read are parked again.
    #[arg(long)]
    release_parked: bool,
    /// Print one JSON object per line, in this order: damage to the file, released rows, parked rows, unregistered
    /// receipts, payments that need attention, unreadable rows, differences, and a summary. With --correct then the
    /// corrected figures, the remaining differences, and a second summary.
    #[arg(long)]
    json: bool,
    /// Database.
    #[arg(long)]
    database: Option<String>,
}

impl DoctorArguments {
    /// Checks everything and changes nothing.
    pub fn reading(json: bool) -> Self {
        Self { project: None, correct: false, release_parked: false, json, database: None }
    }
}

/// Runs the command. Remaining differences and parked rows make it fail.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: DoctorArguments,
) -> Result<(), Failure> {
    let project = arguments.project.map(ProjectId::new).transpose().map_err(|error| format!("--project: {error}"))?;
    let database = open_migrated(&load(arguments.database)?)?;
    let report = Report { json: arguments.json };
    process::runtime()?.block_on(async {
        // Nothing else in a damaged file is reliable.
        let damage = database.file_damage().await?;
        if !damage.is_empty() {
            report.damage(&damage);
            return Err("the database file is damaged; restore a backup".into());
        }
        if arguments.release_parked {
            report.released(database.release_parked().await?);
        }
        // Queues belong to no project.
        let parked = if project.is_none() { database.parked().await? } else { Vec::new() };
        report.parked(&parked);
        let concerns = database.receipt_concerns(project, MAX_LISTED).await?;
        for concern in &concerns {
            report_concern(concern, report.json);
        }
        let payments = database.payments_to_review(project, MAX_LISTED).await?;
        for payment in &payments {
            print_concern(payment, report.json);
        }
        let unreadable = database.find_unreadable(project, |row| report.unreadable(&row)).await?;
        let waiting = waiting(parked.len(), concerns.len(), payments.len(), unreadable);
        let found = examine(&database, project, &report).await?;
        if found == 0 {
            return waiting;
        }
        if !arguments.correct {
            return Err(format!("{found} figures differ from their sources; run `kontor doctor --correct`").into());
        }
        report.corrected(database.correct(project, SystemClock.now()).await?);
        match examine(&database, project, &report).await? {
            0 => waiting,
            left => Err(format!("{left} figures still differ from their sources and cannot be corrected").into()),
        }
    })
}

/// Returns an error that names everything that needs an operator.
fn waiting(parked: usize, receipts: usize, payments: usize, unreadable: u64) -> Result<(), Failure> {
    let parked = (parked > 0)
        .then(|| format!("{parked} queue rows cannot be read; fix them, then run `kontor doctor --release-parked`"));
    let receipts =
        (receipts > 0).then(|| format!("{receipts} receipts are not registered; see `kontor receipt --help`"));
    let payments = (payments > 0).then(|| format!("{payments} payments need review; see `kontor payment --help`"));
    let unreadable = (unreadable > 0).then(|| format!("{unreadable} rows cannot be read and are missing from lists"));
    let waiting: Vec<String> = parked.into_iter().chain(receipts).chain(payments).chain(unreadable).collect();
    if waiting.is_empty() { Ok(()) } else { Err(waiting.join("; ").into()) }
}

/// Reports all differences and returns their number.
async fn examine(database: &Database, project: Option<ProjectId>, report: &Report) -> Result<u64, Failure> {
    let mut any = false;
    let found = |difference: Difference| {
        report.difference(&difference, !any);
        any = true;
    };
    let examined = database.examine(project, found).await?;
    report.examined(examined);
    Ok(examined.differences)
}

/// Output format: a table, or one JSON object per line.
struct Report {
    json: bool,
}

impl Report {
    fn difference(&self, difference: &Difference, is_first: bool) {
        let Difference { project_id, figure, id, application_id, source, stored, derived } = difference;
        if self.json {
            println!(
                "{}",
                json!({
                    "project_id": project_id, "figure": figure, "id": id, "application_id": application_id,
                    "source": source, "stored": stored, "derived": derived,
                })
            );
            return;
        }
        if is_first {
            println!(
                "{:>10}  {:<32} {:>12} {:>12}  {:>14} {:>14}  from",
                "project", "figure", "record", "application", "stored", "derived"
            );
        }
        let number = |value: &Option<i64>| value.map_or("-".to_owned(), |value| value.to_string());
        let (application, stored, derived) = (number(application_id), number(stored), number(derived));
        println!("{project_id:>10}  {figure:<32} {id:>12} {application:>12}  {stored:>14} {derived:>14}  {source}");
    }

    fn parked(&self, parked: &[Parked]) {
        for Parked { table, id, since, reason } in parked {
            if self.json {
                println!("{}", json!({ "parked": { "table": table, "id": id, "since": since, "reason": reason } }));
            } else {
                println!("parked since {since}: {reason}");
            }
        }
    }

    fn damage(&self, findings: &[String]) {
        for finding in findings {
            if self.json {
                println!("{}", json!({ "damage": finding }));
            } else {
                println!("damaged: {finding}");
            }
        }
    }

    fn unreadable(&self, UnreadableRow { table, id, reason }: &UnreadableRow) {
        if self.json {
            println!("{}", json!({ "unreadable": { "table": table, "id": id, "reason": reason } }));
        } else {
            println!("cannot be read: {table} {id}: {reason}");
        }
    }

    fn released(&self, rows: u64) {
        if self.json {
            println!("{}", json!({ "released": rows }));
        } else {
            println!("released {rows} parked rows");
        }
    }

    fn examined(&self, examined: ExaminedCounts) {
        let ExaminedCounts { inventories, discounts, items, applications, orders, differences } = examined;
        if self.json {
            let looked_at = json!({
                "inventories": inventories, "discounts": discounts, "nomenclatures": items, "applications": applications,
                "orders": orders,
            });
            println!("{}", json!({ "examined": looked_at, "differences": differences }));
        } else {
            println!(
                "examined {inventories} stock records, {discounts} discounts, {items} items, {applications} applications, \
                 {orders} orders: {differences} differences"
            );
        }
    }

    fn corrected(&self, corrected: Corrected) {
        let Corrected { inventories, discounts, words, items, counts } = corrected;
        if self.json {
            let put_right = json!({
                "inventories": inventories, "discounts": discounts, "words": words, "nomenclatures": items,
                "counts": counts,
            });
            println!("{}", json!({ "corrected": put_right }));
        } else {
            println!(
                "corrected {inventories} stock records, {discounts} discounts, search words of {words} items, read \
                 models of {items} items, {counts} offer counts"
            );
        }
    }
}
