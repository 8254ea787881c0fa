//! The catalogue and the stock as spreadsheets, in and out.
//!
//! **Owns** the columns, the reading of rows into checked changes, the decision what an import changes, and the rows of
//! an export.
//!
//! **Invariants**
//! - A row is either understood as a whole or refused with every reason, each naming row and column.
//! - An import is one step: all rows, or nothing; in partial mode all good rows.
//! - An export that is imported again changes nothing.
//! - A mapping of columns that the sender chose comes before the headers that are known.
//!
//! **Ports**: [`ports::SheetReader`], [`ports::SheetWriters`], [`ports::CardBook`], [`ports::StockBook`],
//! [`ports::ColumnMaps`]

mod card_export;
mod card_sheet;
mod cell;
mod cell_list;
mod column_map;
mod columns;
mod decision;
mod export;
mod import_columns;
mod layout;
mod photo_cell;
pub mod ports;
mod preview;
mod problems;
mod service;
mod sheet;
mod stock_sheet;
mod tag_names;
mod trade_words;
mod vocabulary;

pub use card_export::{CardExport, ExportFailed, LongText};
pub use card_sheet::{CardColumn, CardRow, CardSheet, ItemKey};
pub use cell::{Cell, Content, SheetRow};
pub use column_map::{ColumnMap, ImportKind, MappedHeader};
pub use decision::{CardDraft, Decision, KnownCard, ResolvedCard};
pub use export::{CardLine, ProblemLine};
pub use import_columns::ImportColumns;
pub use layout::{HeaderColumn, Layout, ReadOptions};
pub use preview::{RowAction, RowPreview};
pub use problems::{ImportError, ImportMode, ImportReport, RowProblem, RowProblems, SheetRefused, quotable};
pub use service::SpreadsheetService;
pub use sheet::{Part, PartSink, Sheet};
pub use stock_sheet::{StockColumn, StockDecision, StockRow, StockSheet, StockTarget, StockWrite};
pub use tag_names::TagNames;
pub use vocabulary::{CategoryPath, Vocabulary, VocabularyCategory};
