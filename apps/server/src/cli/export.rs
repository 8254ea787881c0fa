//! `kontor export`: the same files as over HTTP, with a progress bar.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use kontor_adapter_diesel::Database;
use kontor_catalog::bulk::{ExportAbort, ExportKind, JobPhase, Progress};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_kernel::ProjectId;
use tokio::runtime::Handle;

use super::bulk::{progress_bar, show};
use super::operate::open_migrated;
use super::process::write_whole;
use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::{Adapters, ServiceFactory};
use crate::service::worker::OnRuntime;

/// Kinds of records to export.
#[derive(Subcommand)]
pub enum ExportCommand {
    /// All items of a project.
    Nomenclatures(ExportArguments),
    /// Stock of a project, one row per item and warehouse.
    Stock(ExportArguments),
    /// Orders of a project, one row per line.
    Orders(ExportArguments),
    /// Customers of a project, without deleted ones.
    Customers(ExportArguments),
}

/// Settings of `kontor export`.
#[derive(Args)]
pub struct ExportArguments {
    /// File to write. Its extension `.csv` or `.xlsx` selects the format.
    file: PathBuf,
    /// Project.
    #[arg(long)]
    project: i64,
    /// Database.
    #[arg(long)]
    database: Option<String>,
}

/// Runs `kontor export`.
pub fn export(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: ExportCommand,
) -> Result<(), Failure> {
    let (kind, arguments) = match command {
        ExportCommand::Nomenclatures(arguments) => (None, arguments),
        ExportCommand::Stock(arguments) => (Some(ExportKind::Stock), arguments),
        ExportCommand::Orders(arguments) => (Some(ExportKind::Orders), arguments),
        ExportCommand::Customers(arguments) => (Some(ExportKind::Customers), arguments),
    };
    let config = load(arguments.database.clone())?;
    let database = open_migrated(&config)?;
    process::runtime()?.block_on(run(&config, &database, kind, &arguments))
}

async fn run(
    config: &Config,
    database: &Database,
    kind: Option<ExportKind>,
    arguments: &ExportArguments,
) -> Result<(), Failure> {
    let around = Adapters::new(config, Arc::new(SystemClock))?;
    let project = ProjectId::new(arguments.project).map_err(|error| format!("--project: {error}"))?;
    if !database.project_exists(project).await? {
        return Err(format!("--project: project {project} not found").into());
    }
    let format = match arguments.file.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => SheetFormat::Csv,
        Some("xlsx") => SheetFormat::Xlsx,
        _ => return Err("the file must end in .csv or .xlsx".into()),
    };
    let bar = progress_bar();
    let mut file = match kind {
        None => {
            let sheets = ServiceFactory::new(database.clone(), Arc::new(around)).spreadsheets();
            cards(&sheets, project, format, &bar).await?
        }
        Some(kind) => {
            let (runner, runtime, shown) = (around.export_runner(database), OnRuntime(Handle::current()), bar.clone());
            let written = tokio::task::spawn_blocking(move || {
                runner.write(&runtime, project, kind.into(), format, &mut |progress, _| {
                    let total_rows = Some(progress.total_rows);
                    show(&shown, Progress { phase: JobPhase::Writing, done_rows: progress.done_rows, total_rows });
                    Ok::<_, ExportAbort>(())
                })
            });
            written.await??
        }
    };
    write_whole(&arguments.file, &mut file)?;
    bar.finish_and_clear();
    println!("{} rows in {}", bar.position(), arguments.file.display());
    Ok(())
}

async fn cards(
    sheets: &SpreadsheetService,
    project: ProjectId,
    format: SheetFormat,
    bar: &ProgressBar,
) -> Result<File, Failure> {
    bar.set_style(ProgressStyle::with_template("{spinner} {pos} rows, {per_sec}")?);
    let mut export = sheets.begin_export(format)?;
    let mut last = None;
    loop {
        let lines = sheets.export_cards_of(project, last).await?;
        let Some(newest) = lines.last() else { break };
        last = Some(newest.id);
        export.add(&lines)?;
        bar.inc(u64::try_from(lines.len())?);
    }
    Ok(export.finish()?)
}
