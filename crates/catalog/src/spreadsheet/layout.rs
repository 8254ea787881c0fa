use kontor_kernel::Line;

use super::column_map::{Column, Columns, fold};
use super::ports::{HeaderRow, SheetBook};
use super::{ColumnMap, SheetError, SheetRow, quotable};

/// Maximum number of rows that are searched for headers.
const MAX_HEADER_ROWS: u32 = 30;
/// Maximum number of sheets that are searched for headers.
const MAX_SHEETS: usize = 20;
/// Maximum number of sheets that a refusal lists.
const MAX_LISTED: usize = 20;

/// Options of the sender for reading a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// Name of a sheet, or its number among the visible ones. By default the first sheet with a header row.
    pub sheet: Option<Line<100>>,
    /// Header row as the spreadsheet counts. By default it is detected.
    pub header_row: Option<u32>,
    /// Mapping of headers to columns.
    pub columns: ColumnMap,
    /// `true` if an empty cell changes nothing; otherwise it clears an optional field.
    pub keep_empty: bool,
}

/// Header of a file and its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderColumn {
    /// Header as written in the file.
    pub header: String,
    /// Name of the column; `None` for an ignored header.
    pub column: Option<String>,
}

/// Location of the table in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Name of the sheet; `None` for csv.
    pub sheet: Option<String>,
    /// Header row as the spreadsheet counts.
    pub header_row: u32,
    /// Headers from left to right.
    pub columns: Vec<HeaderColumn>,
}

impl Layout {
    /// Returns headers without a column.
    pub fn ignored(&self) -> Vec<String> {
        let ignored = self.columns.iter().filter(|column| column.column.is_none());
        ignored.map(|column| column.header.clone()).collect()
    }
}

/// Table found in a file: its location and its columns.
pub(super) struct Table<C> {
    /// Sheet, counted from 0 among the visible ones.
    pub sheet: usize,
    /// Columns.
    pub columns: Columns<C>,
    /// `true` if an empty cell changes nothing.
    pub keep_empty: bool,
    /// Location, for the sender of the file.
    pub layout: Layout,
}

/// Finds the table with the needed columns. If no sheet has it, returns the refusal of the first sheet.
pub(super) fn locate<C: Column>(
    book: &mut dyn SheetBook,
    needed: &[C],
    options: &ReadOptions,
    ask: &mut dyn FnMut() -> Result<(), SheetError>,
) -> Result<Table<C>, SheetError> {
    let sheets = match (book.sheets(), &options.sheet) {
        (sheets, Some(wanted)) => vec![chosen(sheets, wanted)?],
        (None, None) => vec![0],
        (Some(sheets), None) => (0..sheets.len().min(MAX_SHEETS)).collect(),
    };
    let mut refusal = None;
    for sheet in sheets {
        match header(book, sheet, needed, options, ask) {
            Ok((header_row, columns)) => {
                let missing = options.columns.missing(columns.keys());
                if !missing.is_empty() {
                    return Err(SheetError::Columns(missing));
                }
                let name = book.sheets().and_then(|sheets| sheets.get(sheet)).map(|name| quotable(name));
                let layout = Layout { sheet: name, header_row, columns: columns.titles().to_vec() };
                return Ok(Table { sheet, columns, keep_empty: options.keep_empty, layout });
            }
            Err(SheetError::Interrupted) => return Err(SheetError::Interrupted),
            Err(refused) => {
                refusal.get_or_insert(refused);
            }
        }
    }
    Err(refusal.unwrap_or(SheetError::Empty))
}

/// Returns the index of a sheet by its name or its number.
fn chosen(sheets: Option<&[String]>, wanted: &Line<100>) -> Result<usize, SheetError> {
    let sheets = sheets.ok_or(SheetError::NoSheets)?;
    let named = sheets.iter().position(|name| fold(name) == fold(wanted));
    let numbered = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|place| *place < sheets.len());
    named.or_else(numbered).ok_or_else(|| {
        let listed: Vec<String> = sheets.iter().take(MAX_LISTED).map(|name| format!("`{}`", quotable(name))).collect();
        SheetError::NoSuchSheet(listed.join(", "))
    })
}

/// Finds the header row of a sheet: the first row that is not blank, or the first one below it that has the needed
/// columns.
fn header<C: Column>(
    book: &mut dyn SheetBook,
    sheet: usize,
    needed: &[C],
    options: &ReadOptions,
    ask: &mut dyn FnMut() -> Result<(), SheetError>,
) -> Result<(u32, Columns<C>), SheetError> {
    let (mut outcome, mut first) = (None, None);
    let mut look = |row: SheetRow| {
        if row.is_none_yet() {
            return ask();
        }
        if row.is_blank() || options.header_row.is_some_and(|wanted| row.number < wanted) {
            return Ok(());
        }
        let is_past = match options.header_row {
            Some(wanted) => row.number > wanted,
            None => first.is_some() && row.number > MAX_HEADER_ROWS,
        };
        if is_past {
            return Err(SheetError::Interrupted);
        }
        let columns = Columns::read(&row, &options.columns);
        match columns.refusal(needed) {
            None => outcome = Some(Ok((row.number, columns))),
            Some(refused) if columns.missing_column(needed).is_none() => outcome = Some(Err(refused)),
            Some(refused) => {
                first.get_or_insert(refused);
                return Ok(());
            }
        }
        Err(SheetError::Interrupted)
    };
    let mut interrupted = false;
    let read = book.read(sheet, HeaderRow::Unknown, &mut |row| {
        let is_question = row.is_none_yet();
        look(row).inspect_err(|_| interrupted = is_question)
    });
    match (outcome, read) {
        _ if interrupted => Err(SheetError::Interrupted),
        (Some(outcome), _) => outcome,
        (None, read) => {
            let refused = match read {
                Ok(()) | Err(SheetError::Interrupted) => SheetError::Empty,
                Err(error) => error,
            };
            let refused = first.unwrap_or(refused);
            Err(match options.header_row {
                Some(row) => SheetError::HeaderRow(row, reason(&refused)),
                None => refused,
            })
        }
    }
}

/// Returns the reason why a chosen row has no headers.
fn reason(refused: &SheetError) -> String {
    match refused {
        SheetError::Empty => "is empty".to_owned(),
        refused => refused.to_string(),
    }
}
