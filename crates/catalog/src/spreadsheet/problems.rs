use std::fmt;

use kontor_kernel::{AccessDenied, StoreError};

use super::RowPreview;

/// Returns a text of a file in quotable form: shortened, and without control characters, which not every database can
/// store.
pub fn quotable(text: &str) -> String {
    const MAX_MESSAGE_LENGTH: usize = 300;
    let seen = |sign: char| if sign.is_control() { char::REPLACEMENT_CHARACTER } else { sign };
    let mut quoted: String = text.chars().take(MAX_MESSAGE_LENGTH).map(seen).collect();
    if text.chars().nth(MAX_MESSAGE_LENGTH).is_some() {
        quoted.push('…');
    }
    quoted
}

/// Problem of a cell or of a whole row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowProblem {
    /// Row number as the spreadsheet counts, from 1.
    pub row: u32,
    /// Name of the column; [`RowProblem::WHOLE_ROW`] if the whole row cannot be read.
    pub column: &'static str,
    /// Problem.
    pub reason: String,
}

impl RowProblem {
    /// Column name of a problem of the whole row.
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

/// Problems of the rows of a file. Only the first ones are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowProblems {
    kept: Vec<RowProblem>,
    total: usize,
}

impl RowProblems {
    /// Maximum number of kept problems.
    pub const MAX_KEPT: usize = 1000;

    /// Adds a problem. Quoted text in the reason is made [`quotable`].
    pub fn add(&mut self, row: u32, column: &'static str, reason: impl ToString) {
        self.total += 1;
        if self.kept.len() < Self::MAX_KEPT {
            self.kept.push(RowProblem { row, column, reason: quotable(&reason.to_string()) });
        }
    }

    /// Adds all entries of another list.
    pub fn merge(&mut self, other: &Self) {
        let room = Self::MAX_KEPT.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.iter().take(room).cloned());
        self.total += other.total;
    }

    /// Returns `true` if there are no problems.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the first problems, at most [`RowProblems::MAX_KEPT`].
    pub fn kept(&self) -> &[RowProblem] {
        &self.kept
    }

    /// Returns the number of problems.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the problems sorted by row.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.kept.sort_by_key(|problem| problem.row);
        self
    }
}

/// Treatment of the valid rows of a file with invalid ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImportMode {
    /// Nothing is written.
    #[default]
    AllOrNothing,
    /// The valid rows are written.
    Partial,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Number of created records.
    pub created: usize,
    /// Number of changed records.
    pub updated: usize,
    /// Number of records that already match the file.
    pub unchanged: usize,
    /// Number of rows skipped because of a problem.
    pub skipped: usize,
    /// Problems of the skipped rows.
    pub problems: RowProblems,
    /// Unknown headers.
    pub ignored_columns: Vec<String>,
    /// First rows after the import; only for a check.
    pub rows: Vec<RowPreview>,
}

/// Reason why a whole file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    /// The file is neither xlsx nor csv.
    #[error("must be a spreadsheet: an xlsx or csv file")]
    NotASpreadsheet,
    /// The file is in the binary xls format or has a password.
    #[error("must be an xlsx or csv file without a password; save an xls file as xlsx first")]
    OldOrEncrypted,
    /// The file or its unpacked content is too large.
    #[error("is too large: {0}")]
    TooLarge(&'static str),
    /// The file has too many rows.
    #[error("must have at most {0} rows")]
    TooManyRows(u32),
    /// The file has too much text to be imported at once.
    #[error("must have at most {0} bytes of text")]
    TooMuchText(usize),
    /// This row of the file is too long, counted from 1.
    #[error("is too large: row {0}")]
    RowTooLong(u32),
    /// A quote in this row is never closed, counted from 1.
    #[error("has an unclosed quote in row {0}")]
    OpenQuote(u32),
    /// The text encoding is not supported.
    #[error("must be UTF-8, UTF-16 or Windows-1251 text; save it as CSV UTF-8")]
    Encoding,
    /// The file has too many columns.
    #[error("must have at most {0} columns")]
    TooManyColumns(usize),
    /// There is no header row.
    #[error("must have a first row with the names of the columns")]
    Empty,
    /// A needed column is missing.
    #[error("must have a column `{0}`")]
    MissingColumn(&'static str),
    /// A column occurs twice.
    #[error("must have the column `{0}` once")]
    DuplicateColumn(&'static str),
    /// A sheet was chosen in a file without sheets.
    #[error("must be left out: a csv file has no sheets")]
    NoSheets,
    /// No visible sheet has the chosen name or number. Holds the list of sheets.
    #[error("must be the name or number of a visible sheet: {0}")]
    NoSuchSheet(String),
    /// The chosen row is not a header row.
    #[error("must be the header row: row {0} {1}")]
    HeaderRow(u32, String),
    /// The column mapping does not fit the file.
    #[error("{}", .0.join("; "))]
    Columns(Vec<String>),
    /// The receiver of the rows stopped the reading.
    #[error("was not read completely")]
    Interrupted,
    /// The file is damaged.
    #[error("cannot be read: {0}")]
    Broken(String),
}

impl SheetError {
    /// Returns the part of the request that is wrong.
    pub fn part(&self) -> &'static str {
        match self {
            Self::NoSheets | Self::NoSuchSheet(_) => "sheet",
            Self::HeaderRow(..) => "header_row",
            Self::Columns(_) => "columns",
            _ => "file",
        }
    }

    /// Returns the reasons.
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Columns(reasons) => reasons.clone(),
            refused => vec![refused.to_string()],
        }
    }

    /// Returns the refusal with the part of the request that is wrong.
    fn reported(&self) -> String {
        match self.part() {
            "file" => format!("the file {self}"),
            part => format!("`{part}`: {self}"),
        }
    }
}

/// Error of an import or export.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The employee lacks a permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The whole file is refused.
    #[error("{}", .0.reported())]
    Sheet(#[from] SheetError),
    /// Rows are invalid, and nothing was written.
    #[error("{} rows or cells are wrong; nothing was imported", .0.total())]
    Rows(RowProblems),
    /// Records of the file were changed concurrently; nothing was written.
    #[error("the records were changed by another request; nothing was imported")]
    Stale,
    /// Storage failure.
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
        let reported = |column| RowProblem { row: 2, column, reason: "is torn".to_owned() }.to_string();
        assert_eq!(
            (reported("price"), reported("*")),
            ("row 2, price: is torn".to_owned(), "row 2: is torn".to_owned())
        );
    }
}
