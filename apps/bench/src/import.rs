//! Catalog imports beside only reading the cells of the same file: of a usual catalog, and of a million items.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kontor_adapter_spreadsheet::{Limits, Spreadsheets};
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::spreadsheet::ports::{SheetFormat, SheetReader as _};
use serde_json::Value;

use crate::Failure;
use crate::catalogue::{self, ROWS};
use crate::load::{RunLengths, Sample, in_turns};
use crate::report::{Figure, Goal, Report, most_resident};
use crate::shop::{Data, importer};
use crate::start::own_binary;

/// Measures both kinds of file. Every import goes into a separate project, so every row is a new item.
pub fn measure(data: &Data, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let most_times_parsing = [(SheetFormat::Xlsx, "xlsx", Goal::AtMost(3.0)), (SheetFormat::Csv, "csv", Goal::None)];
    for (format, name, goal) in most_times_parsing {
        let file = data.folder().join(format!("cards.{name}"));
        catalogue::write_cards(format, &file)?;
        parse(&file)?;
        import(data, &file)?;
        let pair = in_turns(lengths.rounds.max(1) * 2 - 1, || import(data, &file), || parse(&file))?;
        let times = pair.peer.per_second() / pair.ours.per_second();
        report.add(Figure::times(format!("import of {ROWS} rows, {name}, by parsing"), times, goal).beside(&pair));
    }
    Ok(())
}

fn parse(file: &Path) -> Result<Sample, Failure> {
    let began = Instant::now();
    let (mut rows, mut cells) = (0, 0);
    Spreadsheets::default().read(file, &mut |row| {
        rows += usize::from(!row.is_none_yet());
        cells += row.cells.len();
        Ok(())
    })?;
    let took = began.elapsed();
    if rows != ROWS + 1 || cells < rows * 5 {
        return Err(format!("{rows} rows with {cells} cells were read").into());
    }
    Sample::new(took, vec![took])
}

fn import(data: &Data, file: &Path) -> Result<Sample, Failure> {
    let staff = Data::staff(&data.project()?)?;
    let service = importer(&data.database);
    let began = Instant::now();
    let sheet = service.read_cards(file)?;
    let report = data.runtime.block_on(service.import_cards(&staff, sheet, ImportMode::AllOrNothing))?;
    let took = began.elapsed();
    if report.created != ROWS {
        return Err(format!("{} cards were imported: {:?}", report.created, report.problems).into());
    }
    Sample::new(took, vec![took])
}

const MANY: usize = 1_000_000;
const FEW: usize = 20_000;
/// In megabytes.
const MAX_MEMORY: f64 = 300.0;

/// A function that writes a file with this many rows.
type WriteRows = fn(usize, &Path) -> Result<(), Failure>;

/// Measures a million items through `kontor import`, and its memory use: csv, and xlsx with a shared string table.
/// Every import goes into a separate project.
pub fn measure_many(lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let rows = if lengths.is_quick() { FEW } else { MANY };
    let data = Data::empty()?;
    let binary = own_binary()?;
    let kinds: [(&str, WriteRows); 2] = [("csv", catalogue::write_many_cards), ("xlsx", catalogue::write_workbook)];
    for (name, write) in kinds {
        let file = data.folder().join(format!("many.{name}"));
        write(rows, &file)?;
        let parsing = parse_many(&file, rows)?;
        let (importing, memory) = import_many(&data, &binary, &file, rows)?;
        let rate = |time: Duration| f64::from(u32::try_from(rows).unwrap_or(u32::MAX)) / time.as_secs_f64();
        let what = format!("{rows} rows, {name}");
        report.add(Figure::plain(format!("import of {what}"), rate(importing), "rows/s", Goal::None));
        report.add(Figure::plain(format!("parsing of {what}"), rate(parsing), "rows/s", Goal::None));
        report.add(Figure::times(format!("import of {what}, by parsing"), rate(parsing) / rate(importing), Goal::None));
        report.add(Figure::plain(format!("most memory, import of {what}"), memory, "MB", Goal::AtMost(MAX_MEMORY)));
        std::fs::remove_file(&file)?;
    }
    Ok(())
}

fn parse_many(file: &Path, rows: usize) -> Result<Duration, Failure> {
    let began = Instant::now();
    let mut read = 0;
    Spreadsheets::with_limits(Limits::large()).read(file, &mut |row| {
        read += usize::from(!row.is_none_yet());
        Ok(())
    })?;
    let took = began.elapsed();
    if read == rows + 1 { Ok(took) } else { Err(format!("{read} rows were read").into()) }
}

/// Returns the time of the whole process, and its peak memory.
fn import_many(data: &Data, binary: &Path, file: &Path, rows: usize) -> Result<(Duration, f64), Failure> {
    let project = data.project()?.project_id.to_string();
    let database = format!("sqlite:{}", data.file().display());
    let mut command = Command::new(binary);
    command.args(["import", "nomenclatures"]).arg(file).args([
        "--project",
        &project,
        "--json",
        "--database",
        &database,
    ]);
    command.env_clear().current_dir(data.folder()).stdin(Stdio::null()).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn()?;
    let id = child.id().to_string();
    let mut memory: f64 = 0.0;
    while child.try_wait()?.is_none() {
        // The process may end between the two calls.
        memory = memory.max(most_resident(&id).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(20));
    }
    let took = began.elapsed();
    let output = child.wait_with_output()?;
    let printed: Value = serde_json::from_slice(&output.stdout)?;
    if printed.get("created").and_then(Value::as_u64) == u64::try_from(rows).ok() {
        Ok((took, memory))
    } else {
        Err(format!("not every card was imported: {printed}").into())
    }
}
