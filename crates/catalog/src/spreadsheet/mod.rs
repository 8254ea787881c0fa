//! Import and export of catalog items and stock levels as spreadsheets.
//!
//! **Owns** the columns, the conversion of rows to checked changes, the computation of an import's changes, and the
//! rows of an export.
//!
//! **Invariants**
//! - A row is either read completely or refused with all reasons, each with row and column.
//! - An import writes all rows or nothing; in partial mode all valid rows.
//! - Importing an unchanged export changes nothing.
//! - A column mapping of the sender takes precedence over the known headers.
//!
//! **Ports**: [`ports::SheetReader`], [`ports::SheetWriters`], [`ports::ItemSheetRepository`], [`ports::StockSheetRepository`],
//! [`ports::ColumnMaps`]

mod card_sheet;
mod cell;
mod column_map;
mod decision;
mod export;
mod layout;
pub mod ports;
mod preview;
mod problems;
mod service;
mod sheet;
mod stock_sheet;
mod vocabulary;

pub use card_sheet::{CardColumn, CardRow, CardSheet, ItemKey};
pub use cell::{Cell, Content, SheetRow, TagNames};
pub use column_map::{ColumnMap, ImportColumns, ImportKind, MappedHeader};
pub use decision::{CardDraft, Decision, KnownCard, ResolvedCard};
pub use export::{CardExport, CardLine, ExportFailed, ProblemLine, TextTooLong};
pub use layout::{HeaderColumn, Layout, ReadOptions};
pub use preview::{RowAction, RowPreview};
pub use problems::{ImportError, ImportMode, ImportReport, RowProblem, RowProblems, SheetError, quotable};
pub use service::SpreadsheetService;
pub use sheet::{Part, PartSink, Sheet};
pub use stock_sheet::{StockColumn, StockDecision, StockLookup, StockRow, StockSheet, StockWrite};
pub use vocabulary::{CategoryNode, CategoryPath, ReferenceLookup};
