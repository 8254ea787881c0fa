//! Request with an idempotency key, as its operations see it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;

use super::answers::KEY_LIFE;
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
    /// Time of the request. A key that has expired by then is free.
    pub at: DateTime<Utc>,
    /// End of the lease: until then, repeated requests wait for the response.
    pub leased_until: DateTime<Utc>,
    /// Number of the response.
    pub answer_number: i64,
}

impl KeyClaim {
    /// Returns the time at which the key becomes free.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + KEY_LIFE
    }
}

/// Request with an idempotency key that is in progress.
#[derive(Debug)]
pub struct IdempotentRequest {
    pub(super) claim: KeyClaim,
    entered: AtomicBool,
    stored: AtomicBool,
    overtaken: AtomicBool,
}

impl IdempotentRequest {
    /// Creates a request that has written nothing yet.
    pub fn new(claim: KeyClaim) -> Arc<Self> {
        let no = || AtomicBool::new(false);
        Arc::new(Self { claim, entered: no(), stored: no(), overtaken: no() })
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
        self.stored.load(Ordering::SeqCst)
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

    /// Stores the key in the transaction of the operation. Returns `false` if the operation stores none.
    pub(in crate::database) fn store_key<R>(
        &self,
        connection: &mut AnyConnection,
        operation: &Operation,
    ) -> Result<bool, Abort<R>> {
        if !operation.stores_key_of(self.claim.owner) {
            return Ok(false);
        }
        if rows::claim(connection, &self.claim, operation.named)? == 0 {
            self.overtaken.store(true, Ordering::SeqCst);
            return Err(Abort::Store(StoreError::Unavailable("the same request is already in progress".to_owned())));
        }
        Ok(true)
    }

    /// Notes that the operation that stored the key is committed.
    pub(in crate::database) fn committed(&self) {
        self.stored.store(true, Ordering::SeqCst);
    }

    /// `true` if another request took the key first. This request is rolled back completely.
    pub fn lost_key(&self) -> bool {
        self.overtaken.load(Ordering::SeqCst)
    }
}
