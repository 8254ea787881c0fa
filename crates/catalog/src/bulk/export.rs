//! Exports: files of records that are made in the background and kept for a day.

use chrono::{DateTime, NaiveDate, Utc};
use kontor_kernel::{Permission, Resource, UserId};

use super::JobLease;
use crate::spreadsheet::Content;
use crate::spreadsheet::ports::SheetFormat;

/// The records of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
pub enum ExportKind {
    /// Stock, one row per item and warehouse.
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
    /// Permissions to start and to cancel such an export.
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

    /// A record in the words of a message.
    pub(super) fn record(self) -> &'static str {
        match self {
            Self::Stock => "stock record",
            Self::Orders => "order",
            Self::Customers => "customer",
        }
    }

    /// Beginning of the name of the file.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::Stock => "inventories",
            Self::Orders => "orders",
            Self::Customers => "counterparties",
        }
    }
}

/// Records that an export takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportScope {
    /// Their kind.
    pub kind: ExportKind,
    /// First day of their creation, in the time zone of the project. For orders alone.
    pub created_from: Option<NaiveDate>,
    /// Last day of their creation.
    pub created_to: Option<NaiveDate>,
}

impl From<ExportKind> for ExportScope {
    /// All records.
    fn from(kind: ExportKind) -> Self {
        Self { kind, created_from: None, created_to: None }
    }
}

/// An export to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewExport {
    /// Its records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// Employee who asked for it.
    pub user_id: Option<UserId>,
}

/// An export that was taken to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedExport {
    /// The right to work on it.
    pub held: JobLease,
    /// Its records.
    pub scope: ExportScope,
    /// Format of the file.
    pub format: SheetFormat,
    /// How often it was taken, this time included.
    pub tries: u32,
}

/// Place of a row in its export. Rows come in ascending order of their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ExportCursor {
    /// Number of the record.
    pub record: i64,
    /// Number of the line, in records of several rows.
    pub line: i64,
}

/// One row of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRow {
    /// Its place.
    pub at: ExportCursor,
    /// Its cells, in the order of the headers.
    pub cells: Vec<Content<'static>>,
}

/// Rows written so far, and all rows as far as they were known when the export began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportProgress {
    /// Rows written.
    pub done_rows: u64,
    /// Rows in all.
    pub total_rows: u64,
}

/// A whole file that is kept for download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its place.
    pub place: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The moment after which it is gone.
    pub expires_at: DateTime<Utc>,
}

/// The file of a finished export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Its place.
    pub place: String,
    /// Its format.
    pub format: SheetFormat,
}
