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

mod card_export;
mod card_sheet;
mod cell;
mod cell_list;
mod column_map;
mod columns;
mod decision;
mod dictionary_words;
mod export;
mod layout;
mod photo_cell;
pub mod ports;
mod preview;
mod problems;
mod service;
mod sheet;
mod stock_sheet;
mod tag_names;
mod vocabulary;

pub use card_export::{CardExport, ExportFailed, TextTooLong};
pub use card_sheet::{CardColumn, CardRow, CardSheet, ItemKey};
pub use cell::{Cell, Content, SheetRow};
pub use column_map::{ColumnMap, ImportColumns, ImportKind, MappedHeader};
pub use decision::{CardDraft, Decision, KnownCard, ResolvedCard};
pub use export::{CardLine, ProblemLine};
pub use layout::{HeaderColumn, Layout, ReadOptions};
pub use preview::{RowAction, RowPreview};
pub use problems::{ImportError, ImportMode, ImportReport, RowProblem, RowProblems, SheetError, quotable};
pub use service::SpreadsheetService;
pub use sheet::{Part, PartSink, Sheet};
pub use stock_sheet::{StockColumn, StockDecision, StockLookup, StockRow, StockSheet, StockWrite};
pub use tag_names::TagNames;
pub use vocabulary::{CategoryNode, CategoryPath, ReferenceLookup};
