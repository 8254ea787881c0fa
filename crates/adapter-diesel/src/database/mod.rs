//! Connections, pools, transactions and migrations of both databases.

mod clash;
mod connection;
mod connections;
mod failure;
pub(crate) mod marks;
mod memory;
mod migrations;
mod pages;
mod pool;
mod statistics;
mod tables;
mod url;
mod walk;
mod watch;
#[cfg(feature = "test-support")]
mod written;

pub(crate) use clash::{on_duplicate, on_reference};
pub use connection::AnyConnection;
pub(crate) use connection::{Backend, found, on_each};
pub use failure::Abort;
pub use marks::{Marks, Stand, TRUST, Topic};
pub(crate) use memory::Memory;
pub use pool::{Database, PoolOptions, PoolState};
#[cfg(feature = "test-support")]
pub(crate) use tables::Marked;
pub(crate) use tables::Tables;
pub use url::{DatabaseUrl, InvalidDatabaseUrl};
pub use watch::Watch;
