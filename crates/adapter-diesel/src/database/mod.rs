//! Connections, pools, transactions and migrations of both databases.

mod connection;
mod migrations;
mod pages;
mod pool;
mod url;

pub use connection::AnyConnection;
pub(crate) use connection::on_each;
pub use pool::{Abort, Database, PoolOptions, PoolState};
pub use url::{DatabaseUrl, InvalidDatabaseUrl};
