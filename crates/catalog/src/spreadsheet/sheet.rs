use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher, Hash};
use std::path::Path;

use super::cell::is_ambiguous;
use super::column_map::Column;
use super::layout::{Table, locate};
use super::ports::{HeaderRow, SheetReader};
use super::{Layout, ReadOptions, RowPreview, RowProblem, RowProblems, SheetError, SheetRow};
use crate::model::Edit;

/// Row of a kind of sheet.
pub trait ImportRow: Sized {
    /// Columns of the sheet.
    type Column: Column;
    /// Columns that a file must have.
    const NEEDED: &'static [Self::Column];

    /// Parses a row. `seen` has the keys of the earlier rows of the file.
    fn parse(fields: &mut Fields<'_, Self::Column>, seen: &mut SeenKeys) -> Option<Self>;
}

/// Valid rows of a file, and the problems of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet<R> {
    /// Rows from top to bottom.
    pub rows: Vec<R>,
    /// Problems of the other rows.
    pub problems: RowProblems,
    /// Number of the other rows.
    pub refused: usize,
    /// Unknown headers.
    pub ignored_columns: Vec<String>,
    /// Location of the table in the file.
    pub layout: Layout,
}

impl<R: ImportRow> Sheet<R> {
    /// Maximum rows of a synchronous import.
    pub const MAX_ROWS: u32 = 100_000;
    /// Maximum text of a synchronous import, in bytes. The limit is needed because a small file may repeat one long
    /// text in many cells.
    pub const MAX_TEXT: usize = 32 << 20;
    /// Maximum text of a part, in bytes, not counting its last row.
    const PART_TEXT: usize = 8 << 20;

    /// Reads a file of at most `most` rows. Rows with problems are skipped and their problems collected.
    pub fn read(reader: &dyn SheetReader, file: &Path, most: u32) -> Result<Self, SheetError> {
        Self::read_with(reader, file, &ReadOptions::default(), most)
    }

    /// Reads like [`Sheet::read`], with the options of the sender.
    pub fn read_with(
        reader: &dyn SheetReader,
        file: &Path,
        options: &ReadOptions,
        most: u32,
    ) -> Result<Self, SheetError> {
        let ask = &mut || Ok(());
        let mut book = reader.book(file, options.header_row, ask)?;
        let table = locate(&mut *book, R::NEEDED, options, ask)?;
        let (mut sheet, mut seen) = (Self::default(), SeenKeys::default());
        let most_rows = usize::try_from(most).unwrap_or(usize::MAX);
        let mut size = 0_usize;
        book.read(table.sheet, HeaderRow::At(table.layout.header_row), &mut |row| {
            if !table.has(&row) {
                return Ok(());
            }
            if sheet.rows.len() + sheet.refused >= most_rows {
                return Err(SheetError::TooManyRows(most));
            }
            size = size.saturating_add(row.size());
            if size > Self::MAX_TEXT {
                return Err(SheetError::TooMuchText(Self::MAX_TEXT));
            }
            sheet.take(&table, &row, &mut seen);
            Ok(())
        })?;
        sheet.ignored_columns = table.layout.ignored();
        sheet.layout = table.layout;
        Ok(sheet)
    }

    /// Reads like [`Sheet::read_with`], but only as many rows as a preview shows.
    pub fn read_top(reader: &dyn SheetReader, file: &Path, options: &ReadOptions) -> Result<Self, SheetError> {
        let ask = &mut || Ok(());
        let mut book = reader.book(file, options.header_row, ask)?;
        let table = locate(&mut *book, R::NEEDED, options, ask)?;
        let (mut sheet, mut seen) = (Self::default(), SeenKeys::default());
        let read = book.read(table.sheet, HeaderRow::At(table.layout.header_row), &mut |row| {
            if sheet.rows.len() + sheet.refused >= RowPreview::MAX_ROWS {
                return Err(SheetError::Interrupted);
            }
            if table.has(&row) {
                sheet.take(&table, &row, &mut seen);
            }
            Ok(())
        });
        if read != Err(SheetError::Interrupted) {
            read?;
        }
        Ok(Self { ignored_columns: table.layout.ignored(), layout: table.layout, ..sheet })
    }

    /// Reads like [`Sheet::read_with`], in parts of a given number of rows, fewer if they are long. Rows up to `after`
    /// are read, since later rows may repeat them, but not passed on. Returns the location of the table.
    pub fn read_parts(
        reader: &dyn SheetReader,
        file: &Path,
        options: &ReadOptions,
        (size, after): (usize, u32),
        sink: &mut PartSink<'_, R>,
    ) -> Result<Layout, SheetError> {
        let ask = &mut || sink(Part { sheet: None, through: after, rows: 0 });
        let mut book = reader.book(file, options.header_row, ask)?;
        let table = locate(&mut *book, R::NEEDED, options, ask)?;
        let (mut part, mut seen) = (Self::default(), SeenKeys::default());
        let (mut rows, mut through, mut skipped, mut text) = (0, after, 0_usize, 0_usize);
        book.read(table.sheet, HeaderRow::At(table.layout.header_row), &mut |row| {
            if row.is_none_yet() {
                return sink(Part { sheet: None, through: after, rows: 0 });
            }
            if !table.has(&row) {
                return Ok(());
            }
            if row.number <= after {
                Self::default().take(&table, &row, &mut seen);
                skipped += 1;
                if skipped.is_multiple_of(size) {
                    sink(Part { sheet: None, through: row.number, rows: 0 })?;
                }
                return Ok(());
            }
            part.take(&table, &row, &mut seen);
            rows += 1;
            through = row.number;
            text = text.saturating_add(row.size());
            if part.rows.len() + part.refused >= size || text >= Self::PART_TEXT {
                text = 0;
                let sheet = Some(std::mem::take(&mut part));
                sink(Part { sheet, through, rows: std::mem::take(&mut rows) })?;
            }
            Ok(())
        })?;
        if rows > 0 {
            sink(Part { sheet: Some(part), through, rows })?;
        }
        Ok(table.layout)
    }

    fn take(&mut self, table: &Table<R::Column>, row: &SheetRow, seen: &mut SeenKeys) {
        if let Some(fault) = &row.fault {
            self.problems.add(row.number, RowProblem::WHOLE_ROW, fault);
            self.refused += 1;
            return;
        }
        let mut fields = Fields { table, row, problems: &mut self.problems, faulty: false };
        match R::parse(&mut fields, seen) {
            Some(parsed) => self.rows.push(parsed),
            None => self.refused += 1,
        }
    }
}

impl<R> Default for Sheet<R> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            problems: RowProblems::default(),
            refused: 0,
            ignored_columns: Vec::new(),
            layout: Layout::default(),
        }
    }
}

/// Part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<R> {
    /// Rows; `None` while there are none yet, and for rows that an earlier run has already passed on.
    pub sheet: Option<Sheet<R>>,
    /// Last row of the part as the spreadsheet counts.
    pub through: u32,
    /// Number of rows, refused ones included.
    pub rows: u64,
}

/// Receives a file part by part; a refusal ends the reading.
pub type PartSink<'a, R> = dyn FnMut(Part<R>) -> Result<(), SheetError> + 'a;

impl<C> Table<C> {
    /// Returns `true` if the row is below the headers and not blank.
    fn has(&self, row: &SheetRow) -> bool {
        row.number > self.layout.header_row && !row.is_blank()
    }
}

/// Rows in which keys occurred. To save memory only a 128-bit fingerprint of each key is kept.
#[derive(Default)]
pub struct SeenKeys {
    halves: [RandomState; 2],
    rows: HashMap<(u64, u64), u32>,
}

impl SeenKeys {
    /// Returns the row in which the key first occurred, unless it is this one.
    pub fn first_row(&mut self, key: impl Hash, row: u32) -> Option<u32> {
        let [left, right] = &self.halves;
        match self.rows.entry((left.hash_one(&key), right.hash_one(&key))) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(place) => {
                place.insert(row);
                None
            }
        }
    }
}

/// Cells of one row by column.
pub struct Fields<'a, C> {
    table: &'a Table<C>,
    row: &'a SheetRow,
    problems: &'a mut RowProblems,
    faulty: bool,
}

impl<'a, C: Column> Fields<'a, C> {
    /// Returns the row number as the spreadsheet counts.
    pub fn number(&self) -> u32 {
        self.row.number
    }

    /// Returns `true` if the row has a problem so far.
    pub fn is_faulty(&self) -> bool {
        self.faulty
    }

    /// Adds a problem.
    pub fn problem(&mut self, column: C, reason: impl ToString) {
        self.faulty = true;
        self.problems.add(self.row.number, column.name(), reason);
    }

    /// Returns the text of a column; `None` if the column is missing or the cell cannot be read.
    fn text(&mut self, column: C) -> Option<&'a str> {
        let row = self.row;
        match row.text(self.table.columns.place(column)?, column.is_number()) {
            Ok(text) if column.is_number() && is_ambiguous(text, row.decimal) => {
                self.problem(column, "is ambiguous; remove the thousands separators");
                None
            }
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

    /// Parses a filled cell.
    pub fn parse_filled<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        let text = self.text(column).filter(|text| !text.trim().is_empty())?;
        self.parsed(column, text, parse)
    }

    /// Reads a required field: an empty cell changes nothing.
    pub fn required<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Edit<T> {
        self.parse_filled(column, parse).into()
    }

    /// Reads an optional field: an empty cell clears it, unless empty cells change nothing.
    pub fn optional<T, E: ToString>(&mut self, column: C, parse: impl Fn(&str) -> Result<T, E>) -> Edit<Option<T>> {
        match self.text(column) {
            None => Edit::Keep,
            Some(text) if text.trim().is_empty() && self.table.keep_empty => Edit::Keep,
            Some(text) if text.trim().is_empty() => Edit::Set(None),
            Some(text) => self.parsed(column, text, parse).map(Some).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, StockSheet};
    use super::*;

    /// Line `...` means work on the file before its next row.
    struct Lines(&'static str);

    impl SheetReader for Lines {
        fn read(&self, _: &Path, sink: &mut super::super::ports::RowSink<'_>) -> Result<(), SheetError> {
            for (number, line) in (1..).zip(self.0.lines()) {
                if line == "..." {
                    sink(SheetRow::none_yet())?;
                    continue;
                }
                let cells = line.split(';').map(|text| Cell::Text(text.to_owned())).collect();
                sink(SheetRow::new(number, cells))?;
            }
            Ok(())
        }
    }

    const FILE: &str = "article;warehouse;quantity;colour\nA;W;1;\n\nB;W;2;\nC;W;x;\nA;w;4;\nD;W;5;\nE;W;6;\n";

    /// Returns valid rows, refused rows, rows and the last row of every part.
    fn parts(size: usize, after: u32) -> Vec<(usize, usize, u64, u32)> {
        let mut parts = Vec::new();
        let ignored = StockSheet::read_parts(
            &Lines(FILE),
            Path::new(""),
            &ReadOptions::default(),
            (size, after),
            &mut |part: Part<_>| {
                let (good, refused) = part.sheet.map_or((0, 0), |sheet| (sheet.rows.len(), sheet.refused));
                parts.push((good, refused, part.rows, part.through));
                Ok(())
            },
        );
        assert_eq!(ignored.unwrap().ignored(), ["colour"]);
        parts
    }

    #[test]
    fn a_file_is_read_in_parts_and_taken_up_anywhere() {
        assert_eq!(parts(2, 0), [(2, 0, 2, 4), (0, 2, 2, 6), (2, 0, 2, 8)]);
        assert_eq!(parts(100, 0), [(4, 2, 6, 8)]);
        // Earlier rows still count as duplicates: row 6 repeats row 2.
        assert_eq!(parts(100, 4), [(2, 2, 4, 8)]);
        assert_eq!(parts(2, 7), [(0, 0, 0, 4), (0, 0, 0, 6), (1, 0, 1, 8)]);
        assert_eq!(parts(100, 8), []);
    }

    #[test]
    fn the_receiver_of_parts_can_stop_the_reading() {
        let mut taken = 0;
        let ended =
            StockSheet::read_parts(&Lines(FILE), Path::new(""), &ReadOptions::default(), (1, 0), &mut |_: Part<_>| {
                taken += 1;
                if taken == 2 { Err(SheetError::Interrupted) } else { Ok(()) }
            });
        assert_eq!((ended.err(), taken), (Some(SheetError::Interrupted), 2));
    }

    #[test]
    fn reading_stops_when_the_receiver_refuses() {
        let lines = Lines("...\n...\narticle;warehouse\nA;W\n...\n");
        let mut asked = 0;
        let ended =
            StockSheet::read_parts(&lines, Path::new(""), &ReadOptions::default(), (100, 0), &mut |part: Part<_>| {
                assert_eq!((part.sheet, part.rows), (None, 0));
                asked += 1;
                if asked == 3 { Err(SheetError::Interrupted) } else { Ok(()) }
            });
        assert_eq!((ended.err(), asked), (Some(SheetError::Interrupted), 3));
        assert_eq!(StockSheet::read(&lines, Path::new(""), 100).unwrap().rows.len(), 1);
    }

    /// Rows with one long text each.
    struct LongTextRows(u32);

    impl SheetReader for LongTextRows {
        fn read(&self, _: &Path, sink: &mut super::super::ports::RowSink<'_>) -> Result<(), SheetError> {
            let text = |text: &str| Cell::Text(text.to_owned());
            sink(SheetRow::new(1, vec![text("article"), text("warehouse"), text("colour")]))?;
            (2..self.0 + 2).try_for_each(|number| {
                let cells = vec![text(&number.to_string()), text("W"), text(&"x".repeat(1 << 20))];
                sink(SheetRow::new(number, cells))
            })
        }
    }

    #[test]
    fn long_rows_are_taken_a_few_at_a_time() {
        let mut parts = Vec::new();
        StockSheet::read_parts(
            &LongTextRows(20),
            Path::new(""),
            &ReadOptions::default(),
            (1000, 0),
            &mut |part: Part<_>| {
                parts.push((part.rows, part.through));
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(parts, [(8, 9), (8, 17), (4, 21)]);
        let refused = StockSheet::read(&LongTextRows(40), Path::new(""), 1000);
        assert_eq!(refused, Err(SheetError::TooMuchText(32 << 20)));
    }
}
