//! `kontor doctor`

use clap::Args;
use kontor_adapter_diesel::doctor::{Difference, Examined};
use kontor_kernel::ProjectId;
use serde_json::json;

use super::operate::open_migrated;
use super::{Failure, process};
use crate::config::{Config, ConfigError};

/// Settings of `kontor doctor`.
#[derive(Args)]
pub struct DoctorArguments {
    /// This project alone.
    #[arg(long)]
    project: Option<i64>,
    /// Print one JSON object per line: every difference, then what was examined.
    #[arg(long)]
    json: bool,
    /// The database.
    #[arg(long)]
    database: Option<String>,
}

/// Runs the command. Differences make it fail.
pub fn run(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    arguments: DoctorArguments,
) -> Result<(), Failure> {
    let project = arguments.project.map(ProjectId::new).transpose().map_err(|error| format!("--project: {error}"))?;
    let database = open_migrated(&load(arguments.database)?)?;
    let print = if arguments.json { print_json } else { print_row };
    let mut any = false;
    let found = |difference: Difference| {
        if !any && !arguments.json {
            print_heading();
        }
        any = true;
        print(&difference);
    };
    let examined = process::runtime()?.block_on(database.examine(project, found))?;
    let Examined { inventories, discounts, items, differences } = examined;
    if arguments.json {
        let looked_at = json!({ "inventories": inventories, "discounts": discounts, "nomenclatures": items });
        println!("{}", json!({ "examined": looked_at, "differences": differences }));
    } else {
        println!(
            "examined {inventories} stock records, {discounts} discounts, {items} items: {differences} differences"
        );
    }
    match differences {
        0 => Ok(()),
        found => Err(format!("{found} figures differ from what they are derived from").into()),
    }
}

fn print_heading() {
    println!(
        "{:>10}  {:<32} {:>12} {:>12}  {:>14} {:>14}  from",
        "project", "figure", "record", "application", "stored", "derived"
    );
}

fn print_row(difference: &Difference) {
    let Difference { project_id, figure, id, application_id, source, stored, derived } = difference;
    let number = |value: &Option<i64>| value.map_or("-".to_owned(), |value| value.to_string());
    let (application, stored, derived) = (number(application_id), number(stored), number(derived));
    println!("{project_id:>10}  {figure:<32} {id:>12} {application:>12}  {stored:>14} {derived:>14}  {source}");
}

fn print_json(difference: &Difference) {
    let Difference { project_id, figure, id, application_id, source, stored, derived } = difference;
    println!(
        "{}",
        json!({
            "project_id": project_id, "figure": figure, "id": id, "application_id": application_id, "source": source,
            "stored": stored, "derived": derived,
        })
    );
}
