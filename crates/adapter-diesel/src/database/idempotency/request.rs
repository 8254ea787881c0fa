//! Request with an idempotency key, as its operations see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;

use super::numbers::expiry_of;
use super::rows;
use crate::database::operation::Operation;
use crate::database::{Abort, AnyConnection};

/// Owner of an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// Kind of caller; `counterparty` is a customer.
    pub guard: &'static str,
    /// Number of the caller, if its kind has numbers.
    pub id: Option<i64>,
}

impl KeyOwner {
    /// Returns the stored form of a key with this hash. All keys of an owner share a prefix.
    pub fn keys(self, hash: &str) -> String {
        let id = self.id.map(|id| id.to_string()).unwrap_or_default();
        format!("{}:{id}:{hash}", self.guard)
    }
}

/// Data that a request with a key stores.
#[derive(Debug, Clone)]
pub struct KeyClaim {
    /// Hash of the key and of everything that scopes it, [with its owner](KeyOwner::keys).
    pub id: String,
    /// Hash of the request body.
    pub fingerprint: String,
    /// Owner of the key.
    pub owner: KeyOwner,
    /// Process that handles the request.
    pub process: String,
    /// End of the lease: until then, repeated requests wait for the response.
    pub leased_until: DateTime<Utc>,
    /// Number of the request, which contains its time. A key that has expired by then is free.
    pub number: i64,
}

impl KeyClaim {
    /// Returns the time at which the key becomes free.
    pub fn expires_at(&self) -> DateTime<Utc> {
        expiry_of(self.number)
    }
}

/// Request with an idempotency key that is in progress.
#[derive(Debug)]
pub struct IdempotentRequest {
    pub(super) claim: KeyClaim,
    entered: AtomicBool,
    stored: OnceLock<i64>,
    overtaken: AtomicBool,
}

impl IdempotentRequest {
    /// Creates a request that has written nothing yet.
    pub fn new(claim: KeyClaim) -> Arc<Self> {
        Arc::new(Self { claim, entered: false.into(), stored: OnceLock::new(), overtaken: false.into() })
    }

    /// Returns the data that the request stores.
    pub fn claim(&self) -> &KeyClaim {
        &self.claim
    }

    /// `true` if the request has begun to write.
    pub fn has_begun_to_write(&self) -> bool {
        self.entered.load(Ordering::SeqCst)
    }

    /// `true` if a change of the request is committed, together with its key.
    pub fn is_stored(&self) -> bool {
        self.stored.get().is_some()
    }

    /// Returns the number that the key is stored under.
    pub fn stored_number(&self) -> Option<i64> {
        self.stored.get().copied()
    }

    /// Notes that the request begins an operation. Returns `true` if the operation has a key to store.
    pub(in crate::database) fn begins_to_write(&self) -> bool {
        self.entered.store(true, Ordering::SeqCst);
        !self.is_stored()
    }

    /// Begins an attempt of an operation.
    pub(in crate::database) fn begin_attempt(&self) {
        // The request that held the key may have been rolled back since the last attempt.
        self.overtaken.store(false, Ordering::SeqCst);
    }

    /// Stores the key in the transaction of the operation, and returns its number, if the operation stores one.
    pub(in crate::database) fn store_key<R>(
        &self,
        connection: &mut AnyConnection,
        operation: &Operation,
    ) -> Result<Option<i64>, Abort<R>> {
        if !operation.stores_key_of(self.claim.owner) {
            return Ok(None);
        }
        let number = rows::claim(connection, &self.claim, operation.named)?;
        if number.is_none() {
            self.overtaken.store(true, Ordering::SeqCst);
            return Err(Abort::Store(StoreError::Unavailable("the same request is already in progress".to_owned())));
        }
        Ok(number)
    }

    /// Notes that the operation that stored the key under this number is committed.
    pub(in crate::database) fn committed(&self, number: i64) {
        // Only the first operation of a request stores its key.
        let _ = self.stored.set(number);
    }

    /// `true` if another request took the key first. This request is rolled back completely.
    pub fn lost_key(&self) -> bool {
        self.overtaken.load(Ordering::SeqCst)
    }
}
