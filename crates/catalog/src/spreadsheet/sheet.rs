use std::path::Path;

use super::columns::{Column, Columns};
use super::ports::SheetReader;
use super::{RowProblems, SheetRefused, SheetRow};
use crate::model::Edit;

/// The understood rows of a file, and what was wrong with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet<R> {
    /// The rows from top to bottom.
    pub rows: Vec<R>,
    /// What is wrong with the others.
    pub problems: RowProblems,
    /// How many others there are.
    pub refused: usize,
    /// Headers that were not understood.
    pub ignored_columns: Vec<String>,
}

impl<R> Sheet<R> {
    /// The most rows one import takes.
    pub const MOST_ROWS: u32 = 100_000;

    pub(super) fn read_rows<C: Column>(
        reader: &dyn SheetReader,
        file: &Path,
        needed: &[C],
        mut understand: impl FnMut(&mut Fields<'_, C>) -> Option<R>,
    ) -> Result<Self, SheetRefused> {
        let mut columns: Option<Columns<C>> = None;
        let mut sheet =
            Self { rows: Vec::new(), problems: RowProblems::default(), refused: 0, ignored_columns: Vec::new() };
        let most = usize::try_from(Self::MOST_ROWS).unwrap_or(usize::MAX);
        reader.read(file, &mut |row| {
            if row.is_blank() {
                return Ok(());
            }
            let Some(columns) = &columns else {
                let header = Columns::read(&row)?;
                needed.iter().try_for_each(|column| header.require(*column))?;
                columns = Some(header);
                return Ok(());
            };
            if sheet.rows.len() + sheet.refused >= most {
                return Err(SheetRefused::TooManyRows(Self::MOST_ROWS));
            }
            let mut fields = Fields { columns, row: &row, problems: &mut sheet.problems, faulty: false };
            match understand(&mut fields) {
                Some(understood) => sheet.rows.push(understood),
                None => sheet.refused += 1,
            }
            Ok(())
        })?;
        sheet.ignored_columns = columns.ok_or(SheetRefused::Empty)?.ignored;
        Ok(sheet)
    }
}

/// The cells of one row by column.
pub(super) struct Fields<'a, C> {
    columns: &'a Columns<C>,
    row: &'a SheetRow,
    problems: &'a mut RowProblems,
    faulty: bool,
}

impl<'a, C: Column> Fields<'a, C> {
    /// The row as the spreadsheet counts.
    pub fn number(&self) -> u32 {
        self.row.number
    }

    /// Whether anything was wrong so far.
    pub fn is_faulty(&self) -> bool {
        self.faulty
    }

    /// Notes a problem.
    pub fn problem(&mut self, column: C, reason: impl ToString) {
        self.faulty = true;
        self.problems.add(self.row.number, column.name(), reason);
    }

    /// The text of a column; `None` without the column or when the cell cannot be read.
    fn text(&mut self, column: C) -> Option<&'a str> {
        let row = self.row;
        match row.text(self.columns.place(column)?) {
            Ok(text) => Some(text),
            Err(reason) => {
                self.problem(column, reason);
                None
            }
        }
    }

    fn parsed<T, E: ToString>(&mut self, column: C, text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        parse(text).map_err(|error| self.problem(column, error)).ok()
    }

    /// The value of a filled cell.
    pub fn given<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        let text = self.text(column).filter(|text| !text.trim().is_empty())?;
        self.parsed(column, text, parse)
    }

    /// A field that always has a value: an empty cell changes nothing.
    pub fn required<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Edit<T> {
        self.given(column, parse).into()
    }

    /// A field that may be empty: an empty cell clears it.
    pub fn optional<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Edit<Option<T>> {
        match self.text(column) {
            None => Edit::Keep,
            Some(text) if text.trim().is_empty() => Edit::Set(None),
            Some(text) => self.parsed(column, text, parse).map(Some).into(),
        }
    }
}
