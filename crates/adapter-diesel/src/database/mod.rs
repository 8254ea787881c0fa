//! Connections, pools, transactions and migrations of both databases.

mod backup;
mod connection;
mod connections;
mod counter_watch;
mod failure;
mod group;
pub(crate) mod idempotency;
pub(crate) mod invalidation;
mod migrations;
mod operation;
mod page_readers;
#[cfg(feature = "test-support")]
pub mod pauses;
mod pool;
pub(crate) mod preconditions;
mod rehearsal;
mod tls;
mod write;
#[cfg(feature = "test-support")]
mod write_check;
mod write_costs;

pub(crate) use backup::GenerationFile;
pub use backup::{Backup, BackupError};
pub use connection::{AnyConnection, DatabaseUrl, Driver, InvalidDatabaseUrl};
pub(crate) use connection::{Backend, found, on_each};
pub use counter_watch::CounterWatch;
pub use failure::{Abort, MOVING};
pub(crate) use failure::{conclude, is_lost, on_duplicate, on_reference};
pub(crate) use invalidation::BoundedCache;
pub use invalidation::{CACHE_TRUST_PERIOD, CacheVersion, CacheVersions, Topic};
pub use migrations::MigrationState;
pub(crate) use pool::Extent;
pub use pool::{Database, PoolOptions, PoolState};
pub use preconditions::{Left, NewRow, RequestContext, VersionedRequest, VersionedRow};
pub use rehearsal::Rehearsal;
pub(crate) use write::repeat_until_zero;
pub use write_costs::WriteCosts;

use kontor_kernel::StoreError;

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
    pub topics: &'static [Topic],
}

/// Table whose records have versions.
#[cfg(feature = "test-support")]
#[derive(Debug)]
pub(crate) struct VersionedTable {
    pub table: &'static str,
    /// Columns that may change without a new version. No response shows them.
    pub apart: &'static [&'static str],
}
