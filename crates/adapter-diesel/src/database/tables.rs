//! What the modules above tell about their tables: nothing here names one of them.

use kontor_kernel::StoreError;

use super::{Abort, AnyConnection};

/// Fills in what no migration can, a commit at a time.
pub(crate) type Fill = fn(&mut AnyConnection) -> Result<(), Abort<StoreError>>;

/// The tables of the modules above.
#[derive(Debug)]
pub(crate) struct Tables {
    /// Those that grow by many rows at once, as `ANALYZE` takes them.
    pub growing: &'static str,
    /// What runs after migrations.
    pub fills: &'static [Fill],
    /// Writes that must invalidate a topic; checked in tests.
    #[cfg(feature = "test-support")]
    pub invalidating: &'static [InvalidatingWrites],
    /// Those whose records have versions; checked in tests.
    #[cfg(feature = "test-support")]
    pub versioned: &'static [VersionedTable],
    /// Those that are read in the order of change, by `updated_at`; checked in tests.
    #[cfg(feature = "test-support")]
    pub followed: &'static [VersionedTable],
}

/// Writes to a table that must invalidate these topics.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub(crate) struct InvalidatingWrites {
    /// The table.
    pub table: &'static str,
    /// How such writes begin.
    pub verbs: &'static [&'static str],
    /// What they must invalidate.
    pub topics: &'static [super::Topic],
}

/// A table whose records have versions.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub(crate) struct VersionedTable {
    /// The table.
    pub table: &'static str,
    /// Columns that may change without another version: nothing that is shown of the record stands in them.
    pub apart: &'static [&'static str],
}
