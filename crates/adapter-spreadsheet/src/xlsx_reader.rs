//! Worksheets of a workbook, cell by cell.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::BufReader;

use calamine::{DataRef, Dimensions, Reader, SheetType, SheetVisible, Style, Xlsx, XlsxError};
use kontor_catalog::spreadsheet::ports::{HeaderRow, RowSink, SheetBook};
use kontor_catalog::spreadsheet::{Cell, SheetError, SheetRow};

use crate::limits::{Limits, checked_cell};
use crate::number_format::{self, NumberFormat};
use crate::xlsx_scan::Found;

const NEVER_CALCULATED: &str =
    "has a formula that was never calculated; open the file in a spreadsheet program and save it";
const DATE: &str = "is a date or a time; format the cell as text and enter the value again";
const INEXACT: &str = "has more digits than a number cell can hold; format the cell as text and enter the value again";
/// Maximum number of formulas without a value.
const MAX_UNCALCULATED: usize = 1_000_000;

type Place = (u32, u32);

/// A workbook that passed the checks.
pub(crate) struct Workbook {
    book: Xlsx<BufReader<File>>,
    /// Names of the visible worksheets.
    sheets: Vec<String>,
    found: Found,
    limits: Limits,
}

pub(crate) fn open(file: File, found: Found, limits: &Limits) -> Result<Workbook, SheetError> {
    let book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(refused)?;
    let sheets = book.sheets_metadata().iter();
    let sheets = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet && sheet.visible == SheetVisible::Visible);
    let sheets = sheets.map(|sheet| sheet.name.clone()).collect();
    Ok(Workbook { book, sheets, found, limits: limits.clone() })
}

impl SheetBook for Workbook {
    fn sheets(&self) -> Option<&[String]> {
        Some(&self.sheets)
    }

    fn read(&mut self, sheet: usize, headers: HeaderRow, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        let sheet = self.sheets.get(sheet).ok_or(SheetError::Empty)?;
        rows(&mut self.book, sheet, self.found, headers, &self.limits, sink)
    }
}

fn rows(
    book: &mut Xlsx<BufReader<File>>,
    sheet: &str,
    found: Found,
    headers: HeaderRow,
    limits: &Limits,
    sink: &mut RowSink<'_>,
) -> Result<(), SheetError> {
    let ranges = if found.merged > 0 { book.merge_cells_by_sheet_name(sheet).map_err(refused)? } else { Vec::new() };
    let mut merged = Merged::new(ranges);
    // Headers are not searched in formulas without a value.
    let needs_formulas = found.uncalculated && headers != HeaderRow::Unknown;
    let uncalculated = if needs_formulas { uncalculated(book, sheet)? } else { HashSet::new() };
    let mut cells = book.worksheet_cells_reader(sheet).map_err(refused)?;
    let formats: Vec<NumberFormat> = cells.styles().iter().map(number_format).collect();
    let mut row = SheetRow::new(1, Vec::new());
    let mut hand_over = |mut row: SheetRow| {
        if row.cells.is_empty() {
            return Ok(());
        }
        merged.fill(&mut row, limits.columns);
        sink(row)
    };
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(refused)? {
        let content = match content(cell.get_value(), formats.get(style), limits) {
            Some(content) => content,
            // A program that only writes files omits the results. The value of the formula is unknown, not empty.
            None if uncalculated.contains(&cell.get_position()) => Cell::Fault(NEVER_CALCULATED.to_owned()),
            None => continue,
        };
        let (down, right) = cell.get_position();
        let number = down.saturating_add(1);
        if number > limits.rows {
            return Err(SheetError::TooManyRows(limits.rows));
        }
        let column = usize::try_from(right).unwrap_or(usize::MAX);
        if column >= limits.columns {
            return Err(SheetError::TooManyColumns(limits.columns));
        }
        if number < row.number {
            return Err(crate::broken("its rows are out of order"));
        }
        if number > row.number {
            hand_over(std::mem::replace(&mut row, SheetRow::new(number, Vec::new())))?;
        }
        if row.cells.len() <= column {
            row.cells.resize(column + 1, Cell::Text(String::new()));
        }
        if let Some(place) = row.cells.get_mut(column) {
            *place = content;
        }
    }
    hand_over(row)
}

fn number_format(style: &Style) -> NumberFormat {
    style.number_format.as_ref().map_or(NumberFormat::Plain, |format| NumberFormat::parse(&format.format_code))
}

/// Returns the positions of formulas without a value.
fn uncalculated(book: &mut Xlsx<BufReader<File>>, sheet: &str) -> Result<HashSet<Place>, SheetError> {
    let mut cells = book.worksheet_cells_reader(sheet).map_err(refused)?;
    let mut places = HashSet::new();
    while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(refused)? {
        if cell.formula.is_some() && matches!(cell.value, DataRef::Empty) {
            places.insert(cell.pos);
        }
        if places.len() > MAX_UNCALCULATED {
            return Err(SheetError::TooLarge("the number of formulas that were never calculated"));
        }
    }
    Ok(places)
}

fn content(value: &DataRef<'_>, format: Option<&NumberFormat>, limits: &Limits) -> Option<Cell> {
    let text = match value {
        DataRef::Empty => return None,
        DataRef::String(text) => Cow::Borrowed(text.as_str()),
        DataRef::SharedString(text) => Cow::Borrowed(*text),
        DataRef::Int(value) => Cow::Owned(value.to_string()),
        DataRef::Float(value) if number_format::is_inexact(*value) => return Some(Cell::Fault(INEXACT.to_owned())),
        DataRef::Float(value) => {
            let plain = number_format::plain(*value);
            return Some(match format.and_then(|format| format.shown(*value)) {
                None => Cell::Text(plain),
                // The sender means 20 %, not the stored 0.2.
                Some(shown) if format == Some(&NumberFormat::Percent) => Cell::Text(shown),
                Some(shown) => Cell::Number { value: plain, shown },
            });
        }
        DataRef::Bool(value) => Cow::Owned(value.to_string()),
        DataRef::DateTime(_) | DataRef::DateTimeIso(_) | DataRef::DurationIso(_) => {
            return Some(Cell::Fault(DATE.to_owned()));
        }
        DataRef::Error(error) => return Some(Cell::Fault(format!("has a formula that failed: {error}"))),
    };
    Some(checked_cell(text, limits))
}

fn refused(error: XlsxError) -> SheetError {
    match error {
        XlsxError::FileNotFound(_) | XlsxError::RelationshipNotFound => SheetError::NotASpreadsheet,
        XlsxError::Password => SheetError::OldOrEncrypted,
        error => crate::broken(error),
    }
}

/// Merged cells of a sheet, filled in row by row from top to bottom.
pub(crate) struct Merged {
    /// Ranges that start further down, from top to bottom.
    waiting: VecDeque<Dimensions>,
    /// Ranges that have started, with their values.
    open: Vec<(Dimensions, Cell)>,
}

impl Merged {
    /// Creates the list from ranges in any order.
    pub fn new(mut ranges: Vec<Dimensions>) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        Self { waiting: ranges.into(), open: Vec::new() }
    }

    /// Sets the cells of a row to the values of their ranges. An empty row stays empty.
    pub fn fill(&mut self, row: &mut SheetRow, most_columns: usize) {
        let down = row.number.saturating_sub(1);
        self.open.retain(|(range, _)| range.end.0 >= down);
        while let Some(range) = self.waiting.pop_front_if(|range| range.start.0 <= down) {
            let first = usize::try_from(range.start.1).unwrap_or(usize::MAX);
            if range.start.0 == down
                && let Some(value) = row.cells.get(first).filter(|cell| !cell.is_blank())
            {
                self.open.push((range, value.clone()));
            }
        }
        for (range, value) in &self.open {
            let place = |column: u32| usize::try_from(column).unwrap_or(usize::MAX).min(most_columns - 1);
            let (first, last) = (place(range.start.1), place(range.end.1));
            if row.cells.len() <= last {
                row.cells.resize(last + 1, Cell::Text(String::new()));
            }
            for cell in row.cells.iter_mut().take(last + 1).skip(first) {
                *cell = value.clone();
            }
        }
    }
}
