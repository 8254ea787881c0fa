//! Connections, pools, transactions and migrations of both databases.

mod again;
mod any_connection;
mod backup;
mod batches;
mod connection;
mod connections;
mod counter_watch;
mod failure;
mod generation;
mod group;
pub(crate) mod idempotency;
#[cfg(feature = "test-support")]
pub mod injected_conflicts;
pub(crate) mod invalidation;
mod memory;
mod migrations;
mod operation;
mod page_readers;
#[cfg(feature = "test-support")]
pub mod pauses;
mod pool;
pub(crate) mod preconditions;
mod request_context;
mod step;
mod tables;
mod tls;
mod url;
mod write;
#[cfg(feature = "test-support")]
mod write_check;
mod write_costs;
mod writing;

pub(crate) use any_connection::Backend;
pub use any_connection::{AnyConnection, Driver};
pub use backup::{Backup, BackupError};
pub(crate) use connection::{found, on_each};
pub use counter_watch::CounterWatch;
pub use failure::Abort;
pub(crate) use failure::{conclude, is_lost, on_duplicate, on_reference};
pub(crate) use generation::GenerationFile;
pub use invalidation::{CACHE_TRUST_PERIOD, CacheVersion, CacheVersions, Topic};
pub(crate) use memory::BoundedCache;
pub use migrations::MigrationState;
pub(crate) use pool::Extent;
pub use pool::{Database, PoolOptions, PoolState};
pub use preconditions::{Left, NewRow, VersionedRequest, VersionedRow};
pub use request_context::RequestContext;
pub(crate) use tables::Tables;
#[cfg(feature = "test-support")]
pub(crate) use tables::{InvalidatingWrites, VersionedTable};
pub use url::{DatabaseUrl, InvalidDatabaseUrl};
pub(crate) use write::repeat_until_zero;
pub use write_costs::WriteCosts;
