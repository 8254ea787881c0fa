//! Persistence ports on SQLite and on PostgreSQL.
//!
//! **Owns** the tables, the migrations and the two pools. A port method is one operation: a read, or one transaction
//! that commits a whole change or refuses all of it.
//!
//! **Invariants**
//! - Rows never leave the crate: private `...Row` structs are converted to domain types through their checked
//!   constructors.
//! - Guards are part of the writing statements (`WHERE quantity - reserved >= ?`, unique keys, `CHECK`), never of an
//!   earlier read.
//! - Blocking work runs on blocking threads; no transaction is open across a network call.
//! - An operation that changes data which may be cached invalidates it, and its commit raises the cache version.
//! - Both databases return the same results; every storage test runs on both.

mod applications;
mod auth;
mod bank_requisites;
mod catalog;
mod changes;
mod charge_outcomes;
mod collation;
mod content;
mod customer_data;
mod customers;
mod database;
mod decode;
pub mod demo_data;
mod discount_rows;
pub mod doctor;
mod exports;
mod histories;
mod lease;
mod listing;
mod locks;
mod order_history;
mod orders;
mod organization;
mod payments;
mod project_move;
pub mod queues;
mod read_models;
mod records;
mod schema;
mod statement;
mod stock;
mod subscriptions;
mod tables;
#[cfg(feature = "test-support")]
pub mod testing;
mod time_codec;
pub mod unreadable;
pub mod upkeep;
mod versions;
mod webhooks;

pub use database::idempotency::{IdempotentRequest, KeyClaim, KeyOwner, RequestNumbers, StoredKey, StoredResponse};
pub use database::{Abort, AnyConnection, Database, DatabaseUrl, InvalidDatabaseUrl, PoolOptions, PoolState};
pub use database::{Backup, BackupError, MOVING, MigrationState};
pub use database::{CACHE_TRUST_PERIOD, CacheVersion, CacheVersions, CounterWatch, Topic, WriteCosts};
pub use database::{Left, NewRow, Rehearsal, RequestContext, VersionedRequest, VersionedRow};
pub use demo_data::DemoData;
pub use lease::Parked;
pub use payments::PaymentComparison;
pub use project_move::{ProjectMoveError, ProjectMovePhase, ProjectMoved};
pub use versions::{LastChange, VersionedRecord};
