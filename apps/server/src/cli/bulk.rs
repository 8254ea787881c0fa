//! `kontor import`: the same use cases as over HTTP, with a progress bar.
//!
//! Preview of the first rows in a dry run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use kontor_adapter_diesel::Database;
use kontor_catalog::bulk::{
    BulkService, Job, JobError, JobOptions, JobPhase, JobRefusal, JobState, Progress, Submission,
};
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_catalog::spreadsheet::{
    ColumnMap, ImportColumns, ImportKind, ImportMode, Layout, ProblemLine, ReadOptions, RowPreview,
};
use kontor_kernel::{JobId, Line, ProjectId, Word as _};
use kontor_platform_surface::{HeaderRecord, RowRecord};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::operate::open_migrated;
use super::process::{Output, write_whole};
use super::{Exit, Failure, process};
use crate::adapters::SystemClock;
use crate::config::{Config, ConfigError};
use crate::service::wiring::{Adapters, ServiceFactory};
use crate::service::worker::on_a_thread;

/// Exit code for wrong rows.
const WRONG_ROWS: u8 = 2;
/// Polling interval for a job that another process runs.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Kinds of records to import.
#[derive(Subcommand)]
pub enum ImportCommand {
    /// Items: create and change them by article.
    Nomenclatures(ImportArguments),
    /// Stock: set quantities and prices by article and warehouse.
    Stock(ImportArguments),
}

/// Settings of `kontor import`.
#[derive(Args)]
pub struct ImportArguments {
    /// File in xlsx or csv format.
    file: PathBuf,
    /// Project.
    #[arg(long)]
    project: i64,
    /// Check the file without writing anything.
    #[arg(long)]
    dry_run: bool,
    /// Import the valid rows even if others are wrong.
    #[arg(long)]
    skip_errors: bool,
    #[command(flatten)]
    reading: ReadingArguments,
    #[command(flatten)]
    output: Output,
}

/// Runs `kontor import`. Exits with 2 if rows are wrong, and lists them in a sheet beside the file. A termination
/// signal cancels the import.
pub fn import(
    load: impl FnOnce(Option<String>) -> Result<Config, ConfigError>,
    command: ImportCommand,
) -> Result<(), Failure> {
    let (kind, arguments) = match command {
        ImportCommand::Nomenclatures(arguments) => (ImportKind::Nomenclatures, arguments),
        ImportCommand::Stock(arguments) => (ImportKind::Inventories, arguments),
    };
    let config = load(arguments.output.database.clone())?;
    let database = open_migrated(&config)?;
    process::runtime()?.block_on(run_import(&config, &database, kind, &arguments))
}

/// Returns a progress bar on standard error. It is visible only on a terminal.
pub(super) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

pub(super) fn show(bar: &ProgressBar, progress: Progress) {
    let pass = if progress.phase == JobPhase::Checking { "checking" } else { "writing" };
    bar.set_message(pass);
    if let Some(total) = progress.total_rows
        && bar.length() != Some(total)
    {
        let template = "{msg} {bar:40} {pos}/{len} rows, {per_sec}, {eta} to go";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_length(total);
        bar.reset_eta();
    } else if progress.total_rows.is_none()
        && let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {pos} rows")
    {
        bar.set_style(style);
    }
    bar.set_position(progress.done_rows);
}

/// Returns a token that a termination signal cancels.
fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let signal = stop.clone();
    tokio::spawn(async move {
        match process::wait_for_termination().await {
            Ok(()) => signal.cancel(),
            Err(error) => {
                eprintln!("kontor: cannot listen for signals, so the import cannot be canceled here: {error}");
            }
        }
    });
    stop
}

/// Cancels the import, so that no other process continues it.
async fn canceled(bulk: &BulkService, project: ProjectId, id: JobId) -> Result<Job, JobError> {
    match bulk.cancel_for(project, id).await {
        Err(JobError::Refused(JobRefusal::Ended)) => bulk.read_for(project, id).await,
        canceled => canceled,
    }
}

async fn run_import(
    config: &Config,
    database: &Database,
    kind: ImportKind,
    arguments: &ImportArguments,
) -> Result<(), Failure> {
    let around = Arc::new(Adapters::new(config, Arc::new(SystemClock))?);
    let (runner, services) = (around.job_runner(database), ServiceFactory::new(database.clone(), around.clone()));
    let project = ProjectId::new(arguments.project).map_err(|error| format!("--project: {error}"))?;
    if !database.project_exists(project).await? {
        return Err(format!("--project: project {project} not found").into());
    }
    let mode = if arguments.skip_errors { ImportMode::Partial } else { ImportMode::AllOrNothing };
    std::fs::metadata(&arguments.file).map_err(|error| format!("{}: {error}", arguments.file.display()))?;
    let reading = arguments.reading.options(&services.import_columns(), project, kind).await?;
    let shown = if arguments.dry_run {
        // The job reports the error of a rejected file.
        runner.preview(project, kind, &arguments.file, &reading).await.ok()
    } else {
        None
    };
    let submission = Submission {
        kind,
        options: JobOptions { dry_run: arguments.dry_run, mode },
        reading: reading.clone(),
        file: arguments.file.clone(),
        file_name: arguments.file.file_name().map(|name| name.to_string_lossy().into_owned()),
    };
    let stop = stop_on_signal();
    let bulk = services.bulk();
    let id = bulk.submit_for(project, submission).await?.id;
    let bar = progress_bar();
    let owner = format!("console {}", around.random.uuid());
    let mut waits = false;
    let job = loop {
        let job =
            if stop.is_cancelled() { canceled(&bulk, project, id).await? } else { bulk.read_for(project, id).await? };
        if job.state.is_over() {
            break job;
        }
        if let Some(leased) = runner.lease(Some(id), &owner).await? {
            let (runner, shown, stop) = (runner.clone(), bar.clone(), stop.clone());
            let mut watch = move |progress| {
                show(&shown, progress);
                !stop.is_cancelled()
            };
            on_a_thread(move |runtime| runner.run(runtime, &leased, &mut watch)).await?;
        } else {
            if job.state == JobState::Queued && !waits {
                waits = true;
                eprintln!("kontor: waiting for earlier imports of the project; the worker must finish them first");
            }
            // Another process runs this import, or an earlier one.
            let (phase, done_rows, total_rows) = (job.phase, job.done_rows, job.total_rows);
            show(&bar, Progress { phase, done_rows, total_rows });
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = stop.cancelled() => {}
            }
        }
    };
    bar.finish_and_clear();
    runner.remove_finished_files().await?;
    if arguments.reading.save_columns && job.state == JobState::Succeeded {
        services.import_columns().replace_for(project, kind, reading.columns).await?;
    }
    report(&services, &bulk, &job, shown, arguments).await
}

async fn report(
    services: &ServiceFactory,
    bulk: &BulkService,
    job: &Job,
    shown: Option<(Layout, Vec<RowPreview>)>,
    arguments: &ImportArguments,
) -> Result<(), Failure> {
    let sheet =
        if job.tally.problems > 0 { Some(write_errors(services, bulk, job, &arguments.file).await?) } else { None };
    let sheet = sheet.map(|path| path.display().to_string());
    let tally = job.tally;
    if arguments.output.json {
        let mut report = json!({
            "job_id": job.id.get(),
            "status": job.state.word(),
            "dry_run": job.options.dry_run,
            "rows": job.total_rows,
            "created": tally.created,
            "updated": tally.updated,
            "unchanged": tally.unchanged,
            "skipped": tally.skipped,
            "errors_total": tally.problems,
            "errors_file": sheet,
            "message": job.failure,
        });
        if let Some((layout, rows)) = shown {
            add(&mut report, layout, rows);
        }
        println!("{report}");
    } else {
        if let Some((layout, rows)) = &shown {
            print(layout, rows);
        }
        let would = if job.options.dry_run { " (dry run: nothing was written)" } else { "" };
        println!("{}{would}", job.state.word());
        println!(
            "created {}, updated {}, unchanged {}, skipped {}",
            tally.created, tally.updated, tally.unchanged, tally.skipped
        );
        if let Some(sheet) = &sheet {
            println!("{} problems, see {sheet}", tally.problems);
        }
    }
    let printed = |message: &str| Failure::from(message.to_owned());
    match (job.state, job.failure.as_deref()) {
        (JobState::Succeeded, _) if tally.problems == 0 => Ok(()),
        (JobState::Succeeded, _) => Err(Exit(WRONG_ROWS, "some rows are invalid".to_owned()).into()),
        (_, Some(message)) if tally.problems > 0 => Err(Exit(WRONG_ROWS, message.to_owned()).into()),
        (_, message) => Err(printed(message.unwrap_or("the import was canceled"))),
    }
}

/// Writes the error sheet beside the file.
async fn write_errors(
    services: &ServiceFactory,
    bulk: &BulkService,
    job: &Job,
    file: &Path,
) -> Result<PathBuf, Failure> {
    let mut path = file.as_os_str().to_owned();
    path.push(".errors.csv");
    let path = PathBuf::from(path);
    let mut sheet = services.spreadsheets().open(SheetFormat::Csv)?;
    sheet.row(&ProblemLine::header())?;
    let mut last = 0;
    loop {
        let problems = bulk.problems(job, last).await?;
        let Some(newest) = problems.last() else { break };
        last = newest.number;
        problems.iter().try_for_each(|problem| sheet.row(&ProblemLine::cells(problem)))?;
    }
    write_whole(&path, &mut sheet.finish()?)?;
    Ok(path)
}

/// Settings of `kontor import` for its file.
#[derive(Args)]
pub struct ReadingArguments {
    /// Name of a sheet, or its number among the visible ones.
    #[arg(long)]
    sheet: Option<String>,
    /// Number of the header row in the spreadsheet.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    header_row: Option<u32>,
    /// Column of a header, as `HEADER=COLUMN`; `HEADER=` ignores the header. May be repeated. Without it the saved
    /// columns of the project apply.
    #[arg(long = "column", value_name = "HEADER=COLUMN")]
    columns: Vec<String>,
    /// Save the columns for later imports of the project after a successful import.
    #[arg(long, requires = "columns", conflicts_with = "dry_run")]
    pub save_columns: bool,
    /// Keep the values of fields with empty cells.
    #[arg(long)]
    keep_empty: bool,
}

impl ReadingArguments {
    /// Returns the options. The saved columns of the project are the default.
    pub async fn options(
        &self,
        saved: &ImportColumns,
        project: ProjectId,
        kind: ImportKind,
    ) -> Result<ReadOptions, Failure> {
        let sheet = self.sheet.as_deref().map(Line::parse).transpose();
        let sheet = sheet.map_err(|error| format!("--sheet: {error}"))?;
        let columns = if self.columns.is_empty() { saved.read_for(project, kind).await? } else { self.mapping(kind)? };
        Ok(ReadOptions { sheet, header_row: self.header_row, columns, keep_empty: self.keep_empty })
    }

    fn mapping(&self, kind: ImportKind) -> Result<ColumnMap, String> {
        let entry = |text: &String| {
            let (header, column) =
                text.rsplit_once('=').ok_or_else(|| format!("--column: `{text}` must be HEADER=COLUMN"))?;
            let column = column.trim();
            Ok((header.to_owned(), (!column.is_empty()).then(|| column.to_owned())))
        };
        let entries = self.columns.iter().map(entry).collect::<Result<Vec<_>, String>>()?;
        ColumnMap::of_file(kind, entries).map_err(|reasons| format!("--column: {}", reasons.join("; ")))
    }
}

/// Adds the layout and the preview to a report in JSON, with the names of the API.
pub fn add(report: &mut Value, layout: Layout, rows: Vec<RowPreview>) {
    let Value::Object(report) = report else { return };
    let columns: Vec<HeaderRecord> = layout.columns.into_iter().map(Into::into).collect();
    let rows: Vec<RowRecord> = rows.into_iter().map(Into::into).collect();
    report.insert("sheet".to_owned(), json!(layout.sheet));
    report.insert("header_row".to_owned(), json!(layout.header_row));
    report.insert("columns".to_owned(), json!(columns));
    report.insert("first_rows".to_owned(), json!(rows));
}

/// Prints the layout and the preview.
pub fn print(layout: &Layout, rows: &[RowPreview]) {
    match &layout.sheet {
        Some(sheet) => println!("sheet {sheet}, headers in row {}", layout.header_row),
        None => println!("headers in row {}", layout.header_row),
    }
    for column in &layout.columns {
        println!("  {} = {}", column.header, column.column.as_deref().unwrap_or("(ignored)"));
    }
    for row in rows {
        println!("{}", line(row));
    }
}

/// Formats a row: `row 6: update MUG-01, price 100 -> 120`.
fn line(row: &RowPreview) -> String {
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "(empty)".to_owned());
    let article = row.article.as_ref().map(ToString::to_string);
    let identity = article.or_else(|| row.id.map(|id| id.to_string())).unwrap_or_default();
    let fields = row.fields.iter().map(|(name, after)| {
        let before = row.before.iter().find(|(column, _)| column == name);
        let before = before.map(|(_, before)| format!("{} -> ", shown(before))).unwrap_or_default();
        format!(", {name} {before}{}", shown(after))
    });
    let warehouse = row.warehouse.as_ref().map(|warehouse| format!(" in {warehouse}")).unwrap_or_default();
    format!("row {}: {} {identity}{warehouse}{}", row.row, row.action.word(), fields.collect::<String>())
}

#[cfg(test)]
mod tests {
    use kontor_catalog::spreadsheet::RowAction;

    use super::*;

    #[test]
    fn the_bar_follows_the_passes() {
        let bar = ProgressBar::hidden();
        show(&bar, Progress { phase: JobPhase::Checking, done_rows: 1_000, total_rows: None });
        assert_eq!((bar.position(), bar.message().as_str()), (1_000, "checking"));
        show(&bar, Progress { phase: JobPhase::Writing, done_rows: 500, total_rows: Some(2_000) });
        assert_eq!((bar.position(), bar.length(), bar.message().as_str()), (500, Some(2_000), "writing"));
    }

    #[test]
    fn a_row_is_one_line() {
        let row = RowPreview {
            row: 6,
            action: RowAction::Update,
            article: Some(Line::parse("MUG-01").unwrap()),
            id: Some(7),
            warehouse: None,
            fields: vec![("price".into(), Some("120".to_owned())), ("brand".into(), None)],
            before: vec![("price".into(), Some("100".to_owned())), ("brand".into(), Some("Acme".to_owned()))],
        };
        assert_eq!(line(&row), "row 6: update MUG-01, price 100 -> 120, brand Acme -> (empty)");
    }
}
