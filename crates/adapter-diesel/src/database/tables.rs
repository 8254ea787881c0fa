//! Facts about tables that the modules above supply. This module names no table itself.

use kontor_kernel::StoreError;

use super::{Abort, AnyConnection};

/// Data migration that SQL cannot express; runs in several commits.
pub(crate) type Fill = fn(&mut AnyConnection) -> Result<(), Abort<StoreError>>;

/// Tables of the modules above.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Tables that grow by many rows at once, as a list for `ANALYZE`.
    pub growing: &'static str,
    /// Data migrations that run after the schema migrations.
    pub fills: &'static [Fill],
    /// Writes that must invalidate a topic; checked in tests.
    #[cfg(feature = "test-support")]
    pub invalidating: &'static [InvalidatingWrites],
    /// Tables whose records have versions; checked in tests.
    #[cfg(feature = "test-support")]
    pub versioned: &'static [VersionedTable],
    /// Tables that are read in the order of change, by `updated_at`; checked in tests.
    #[cfg(feature = "test-support")]
    pub followed: &'static [VersionedTable],
}

/// Writes to a table that must invalidate these topics.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub(crate) struct InvalidatingWrites {
    pub table: &'static str,
    /// Beginnings of such statements.
    pub verbs: &'static [&'static str],
    /// Topics that they must invalidate.
    pub topics: &'static [super::Topic],
}

/// Table whose records have versions.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub(crate) struct VersionedTable {
    pub table: &'static str,
    /// Columns that may change without a new version. No response shows them.
    pub apart: &'static [&'static str],
}
