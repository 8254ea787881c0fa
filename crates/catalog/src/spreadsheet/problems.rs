use std::fmt;

use kontor_kernel::{AccessDenied, StoreError};

use super::RowPreview;

/// A text of a file as it may be quoted: short, and without control characters, which not every database stores.
pub fn quotable(text: &str) -> String {
    const LONGEST: usize = 300;
    let seen = |sign: char| if sign.is_control() { char::REPLACEMENT_CHARACTER } else { sign };
    let mut quoted: String = text.chars().take(LONGEST).map(seen).collect();
    if text.chars().nth(LONGEST).is_some() {
        quoted.push('…');
    }
    quoted
}

/// What is wrong with one cell, or with a row as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// The row as the spreadsheet counts, from 1.
    pub row: u32,
    /// The name of the column; [`RowProblem::WHOLE_ROW`] when the row as a whole cannot be read.
    pub column: &'static str,
    /// What is wrong.
    pub reason: String,
}

impl RowProblem {
    /// In the place of a column.
    pub const WHOLE_ROW: &'static str = "*";
}

/// `row 2, price: must be a decimal number`
impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Self::WHOLE_ROW => write!(f, "row {}: {}", self.row, self.reason),
            column => write!(f, "row {}, {column}: {}", self.row, self.reason),
        }
    }
}

/// Everything that is wrong with the rows of a file; of very many problems the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowProblems {
    kept: Vec<RowProblem>,
    total: usize,
}

impl RowProblems {
    /// How many problems are kept.
    pub const KEPT: usize = 1000;

    /// Adds a problem. What the reason quotes is made [`quotable`].
    pub fn add(&mut self, row: u32, column: &'static str, reason: impl ToString) {
        self.total += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(RowProblem { row, column, reason: quotable(&reason.to_string()) });
        }
    }

    /// Adds everything of another list.
    pub fn merge(&mut self, other: &Self) {
        let room = Self::KEPT.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.iter().take(room).cloned());
        self.total += other.total;
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The first problems, at most [`RowProblems::KEPT`].
    pub fn kept(&self) -> &[RowProblem] {
        &self.kept
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The same problems by row.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.kept.sort_by_key(|problem| problem.row);
        self
    }
}

/// What becomes of the good rows of a file with bad ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImportMode {
    /// Nothing is written.
    #[default]
    AllOrNothing,
    /// The good rows are written.
    Partial,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// New records.
    pub created: usize,
    /// Records that were changed.
    pub updated: usize,
    /// Records that already were as the file says.
    pub unchanged: usize,
    /// Rows that were left out because of a problem.
    pub skipped: usize,
    /// Why.
    pub problems: RowProblems,
    /// Headers that were not understood.
    pub ignored_columns: Vec<String>,
    /// The first rows as they will be; only of a check.
    pub rows: Vec<RowPreview>,
}

/// Why a file is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetRefused {
    /// Neither xlsx nor csv.
    #[error("must be a spreadsheet: an xlsx or csv file")]
    NotASpreadsheet,
    /// The binary format before xlsx, or a spreadsheet with a password.
    #[error("must be an xlsx or csv file without a password; save an xls file as xlsx first")]
    OldOrEncrypted,
    /// The file, or what it unpacks to, is too large.
    #[error("is too large: {0}")]
    TooLarge(&'static str),
    /// More rows than can be read.
    #[error("must have at most {0} rows")]
    TooManyRows(u32),
    /// More text than is taken at once.
    #[error("must have at most {0} bytes of text")]
    TooMuchText(usize),
    /// A row of the file is longer than can be read, counted from 1.
    #[error("is too large: row {0}")]
    RowTooLong(u32),
    /// A quote that is never closed, in the row with this number, counted from 1.
    #[error("has a quote in row {0} that is never closed")]
    OpenQuote(u32),
    /// Text in another encoding than those that are read.
    #[error("must be UTF-8, UTF-16 or Windows-1251 text; save it as CSV UTF-8")]
    Encoding,
    /// More columns than can be read.
    #[error("must have at most {0} columns")]
    TooManyColumns(usize),
    /// There is no row with headers.
    #[error("must have a first row with the names of the columns")]
    Empty,
    /// A needed column is missing.
    #[error("must have a column `{0}`")]
    MissingColumn(&'static str),
    /// A column stands there twice.
    #[error("must have the column `{0}` once")]
    DuplicateColumn(&'static str),
    /// A sheet was chosen of a file without sheets.
    #[error("must be left out: a csv file has no sheets")]
    NoSheets,
    /// No visible sheet has the chosen name or number; those there are.
    #[error("must be the name or number of a visible sheet: {0}")]
    NoSuchSheet(String),
    /// The chosen row is no row of headers.
    #[error("must be the row of headers: row {0} {1}")]
    HeaderRow(u32, String),
    /// The mapping of columns does not fit the file.
    #[error("{}", .0.join("; "))]
    Columns(Vec<String>),
    /// Whoever took the rows wanted no more.
    #[error("was not read to its end")]
    Interrupted,
    /// The file is damaged.
    #[error("cannot be read: {0}")]
    Broken(String),
}

impl SheetRefused {
    /// The part of a request that is wrong.
    pub fn part(&self) -> &'static str {
        match self {
            Self::NoSheets | Self::NoSuchSheet(_) => "sheet",
            Self::HeaderRow(..) => "header_row",
            Self::Columns(_) => "columns",
            _ => "file",
        }
    }

    /// What is wrong, by reason.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Columns(reasons) => reasons.clone(),
            refused => vec![refused.to_string()],
        }
    }

    /// The refusal with the part that is wrong.
    fn told(&self) -> String {
        match self.part() {
            "file" => format!("the file {self}"),
            part => format!("`{part}`: {self}"),
        }
    }
}

/// Why an import or export is refused.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The file as a whole.
    #[error("{}", .0.told())]
    Sheet(#[from] SheetRefused),
    /// Rows are bad, and nothing was written.
    #[error("{} rows or cells are wrong; nothing was imported", .0.total())]
    Rows(RowProblems),
    /// Records of the file were changed by somebody else at the same moment; nothing was written.
    #[error("the records were changed meanwhile; nothing was imported")]
    Stale,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_quote_what_can_be_stored_and_read() {
        let mut problems = RowProblems::default();
        problems.add(2, "photos", "a\0b\n\u{85}: must be an address");
        problems.add(3, "photos", "ж".repeat(100_000));
        let [first, second] = problems.kept() else { panic!("{problems:?}") };
        assert_eq!(first.reason, "a\u{fffd}b\u{fffd}\u{fffd}: must be an address");
        assert_eq!(second.reason.chars().count(), 301);
        let told = |column| RowProblem { row: 2, column, reason: "is torn".to_owned() }.to_string();
        assert_eq!((told("price"), told("*")), ("row 2, price: is torn".to_owned(), "row 2: is torn".to_owned()));
    }
}
