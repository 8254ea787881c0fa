//! Exports: files of records, created in the background and kept for a day.

use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{Permission, Resource, TokenId, UserId};

use super::JobLease;
use crate::spreadsheet::Content;
use crate::spreadsheet::ports::SheetFormat;

/// Kind of records of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
pub enum ExportKind {
    /// Stock levels, one row per item and warehouse.
    #[strum(serialize = "inventories_export")]
    Stock,
    /// Orders, one row per line.
    #[strum(serialize = "orders_export")]
    Orders,
    /// Customers who are not deleted.
    #[strum(serialize = "counterparties_export")]
    Customers,
}

impl ExportKind {
    /// Returns the permissions to start and to cancel such an export.
    pub(super) fn to_view(self) -> &'static [Permission] {
        const STOCK: [Permission; 1] = [Permission::view(Resource::Inventories)];
        const ORDERS: [Permission; 1] = [Permission::view(Resource::Orders)];
        const CUSTOMERS: [Permission; 1] = [Permission::view(Resource::Counterparties)];
        match self {
            Self::Stock => &STOCK,
            Self::Orders => &ORDERS,
            Self::Customers => &CUSTOMERS,
        }
    }

    /// Returns the name of a record for messages.
    pub(super) fn record(self) -> &'static str {
        match self {
            Self::Stock => "stock record",
            Self::Orders => "order",
            Self::Customers => "customer",
        }
    }

    /// Returns the start of the file name.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::Stock => "inventories",
            Self::Orders => "orders",
            Self::Customers => "counterparties",
        }
    }
}

/// Records included in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportScope {
    /// Kind of records.
    pub kind: ExportKind,
    /// First day of creation, in the time zone of the project. Used for orders only.
    pub created_from: Option<NaiveDate>,
    /// Last day of creation.
    pub created_to: Option<NaiveDate>,
}

impl From<ExportKind> for ExportScope {
    /// Includes all records.
    fn from(kind: ExportKind) -> Self {
        Self { kind, created_from: None, created_to: None }
    }
}

/// Export to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewExport {
    /// Included records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// Employee who requested it.
    pub user_id: Option<UserId>,
    /// Token that requested it, if an agent did.
    pub token_id: Option<TokenId>,
}

/// Export leased by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedExport {
    /// Lease.
    pub held: JobLease,
    /// Included records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// Number of attempts, including this one.
    pub tries: u32,
}

/// Position of a row in its export. Rows are in ascending order of position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ExportCursor {
    /// Identifier of the record.
    pub record: i64,
    /// Identifier of the line, for records with several rows.
    pub line: i64,
}

/// Row of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRow {
    /// Position.
    pub at: ExportCursor,
    /// Cells, in the order of the headers.
    pub cells: Vec<Content<'static>>,
}

/// Progress of an export. The total is determined when the export begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    /// Written rows.
    pub done_rows: u64,
    /// All rows.
    pub total_rows: u64,
}

/// Complete file stored for download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedFile {
    /// Location of the file.
    pub place: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Time after which the file is removed.
    pub expires_at: DateTime<Utc>,
}

/// File of a finished export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Location of the file.
    pub place: String,
    /// Format.
    pub format: SheetFormat,
}
