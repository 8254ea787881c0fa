//! A whole catalog import beside only reading the cells of the same file.

use std::path::Path;
use std::time::Instant;

use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::spreadsheet::ports::{SheetFormat, SheetReader as _};

use crate::Failure;
use crate::catalogue::{self, ROWS};
use crate::load::Sample;
use crate::report::{Figure, Goal, Report};
use crate::rounds::{RunLengths, in_turns};
use crate::shop::{Data, importer};

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
