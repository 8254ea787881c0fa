//! The first worksheet of a workbook, cell by cell.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufReader;

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use kontor_catalog::spreadsheet::ports::RowSink;
use kontor_catalog::spreadsheet::{Cell, SheetRefused, SheetRow};

use crate::limits::Limits;
use crate::{cell_text, number};

const NEVER_CALCULATED: &str =
    "has a formula that was never calculated; open the file in a spreadsheet program and save it";

pub(crate) fn read(file: File, limits: &Limits, sink: &mut RowSink<'_>) -> Result<(), SheetRefused> {
    let mut book: Xlsx<_> = Xlsx::new(BufReader::new(file)).map_err(refused)?;
    let sheet = book
        .sheets_metadata()
        .iter()
        .find(|sheet| sheet.typ == SheetType::WorkSheet && sheet.visible == SheetVisible::Visible)
        .map(|sheet| sheet.name.clone())
        .ok_or(SheetRefused::Empty)?;
    let mut cells = book.worksheet_cells_reader(&sheet).map_err(refused)?;
    let mut row = SheetRow { number: 1, cells: Vec::new() };
    while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(refused)? {
        let content = match content(cell.value, limits) {
            Some(content) => content,
            // A program that only writes files leaves the results out. What it stands for is not nothing.
            None if cell.formula.is_some() => Cell::Fault(NEVER_CALCULATED.to_owned()),
            None => continue,
        };
        let (down, right) = cell.pos;
        let number = down.saturating_add(1);
        if number > limits.rows {
            return Err(SheetRefused::TooManyRows(limits.rows));
        }
        let column = usize::try_from(right).unwrap_or(usize::MAX);
        if column >= limits.columns {
            return Err(SheetRefused::TooManyColumns(limits.columns));
        }
        if number < row.number {
            return Err(crate::broken("its rows are out of order"));
        }
        if number > row.number {
            let done = std::mem::replace(&mut row, SheetRow { number, cells: Vec::new() });
            if !done.cells.is_empty() {
                sink(done)?;
            }
        }
        if row.cells.len() <= column {
            row.cells.resize(column + 1, Cell::Text(String::new()));
        }
        if let Some(place) = row.cells.get_mut(column) {
            *place = content;
        }
    }
    if row.cells.is_empty() { Ok(()) } else { sink(row) }
}

fn content(value: DataRef<'_>, limits: &Limits) -> Option<Cell> {
    let text = match value {
        DataRef::Empty => return None,
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => Cow::Owned(text),
        DataRef::SharedString(text) => Cow::Borrowed(text),
        DataRef::Int(value) => Cow::Owned(value.to_string()),
        DataRef::Float(value) => Cow::Owned(number::plain(value)),
        DataRef::Bool(value) => Cow::Owned(value.to_string()),
        DataRef::DateTime(value) => Cow::Owned(number::plain(value.as_f64())),
        DataRef::Error(error) => return Some(Cell::Fault(format!("has a formula that failed: {error}"))),
    };
    Some(cell_text::cell(text, limits))
}

fn refused(error: XlsxError) -> SheetRefused {
    match error {
        XlsxError::FileNotFound(_) | XlsxError::RelationshipNotFound => SheetRefused::NotASpreadsheet,
        XlsxError::Password => SheetRefused::OldOrEncrypted,
        error => crate::broken(error),
    }
}
