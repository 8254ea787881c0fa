//! Request with an idempotency key, as its operations see it.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;

use super::answers::KEY_LIFE;
use super::rows;
use crate::database::{Abort, AnyConnection, preconditions};

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

/// Record that an operation created, changed or deleted.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub resource: &'static str,
    pub id: i64,
    /// `true` if the record was created. A created record takes precedence over others.
    pub is_new: bool,
}

tokio::task_local! {
    static REQUEST: Arc<IdempotentRequest>;
}

/// Write operation that runs on this thread.
struct Step {
    request: Arc<IdempotentRequest>,
    named: Option<Named>,
    /// `true` if the key is not stored with this operation.
    keyless: bool,
}

thread_local! {
    static STEP: RefCell<Option<Step>> = const { RefCell::new(None) };
}

impl IdempotentRequest {
    /// Creates a request that has written nothing yet.
    pub fn new(claim: KeyClaim) -> Arc<Self> {
        let no = || AtomicBool::new(false);
        Arc::new(Self { claim, entered: no(), stored: no(), overtaken: no() })
    }

    /// Runs the request. Operations that it writes in this task store the key.
    pub async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        REQUEST.scope(self, work).await
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

    /// Notes that the operation that stored the key is committed.
    pub(in crate::database) fn committed(&self) {
        self.stored.store(true, Ordering::SeqCst);
    }

    /// `true` if another request took the key first. This request is rolled back completely.
    pub fn lost_key(&self) -> bool {
        self.overtaken.load(Ordering::SeqCst)
    }
}

/// Returns the request of this task, if it has a key that is not stored yet.
pub(in crate::database) fn current() -> Option<Arc<IdempotentRequest>> {
    let request = REQUEST.try_with(Arc::clone).ok()?;
    request.entered.store(true, Ordering::SeqCst);
    (!request.is_stored()).then_some(request)
}

/// Guard that binds the thread to a request until it is dropped.
pub(in crate::database) struct RequestGuard;

impl RequestGuard {
    /// Begins an attempt of an operation.
    pub fn begin(request: Option<&Arc<IdempotentRequest>>) -> Self {
        if let Some(request) = request {
            // The request that held the key may have been rolled back since the last attempt.
            request.overtaken.store(false, Ordering::SeqCst);
        }
        STEP.set(request.map(|request| Step { request: Arc::clone(request), named: None, keyless: false }));
        Self
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        STEP.set(None);
    }
}

/// Notes the record that the operation created.
pub(crate) fn note_created(resource: &'static str, id: i64) {
    names(resource, id, true);
}

/// Notes the record that the operation is about, so that its state can be returned if the response is lost.
pub(crate) fn names(resource: &'static str, id: i64, is_new: bool) {
    if is_new {
        preconditions::note_created(resource, id);
    }
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step
            && step.named.as_ref().is_none_or(|named| is_new && !named.is_new)
        {
            step.named = Some(Named { resource, id, is_new });
        }
    });
}

/// Notes that all keys of an owner are deleted, including the key of the current request.
pub(super) fn note_keys_deleted(owner: KeyOwner) {
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step {
            step.keyless |= step.request.claim.owner == owner;
        }
    });
}

/// Notes that the operation only prepares the request and stores no key. If nothing follows, a repeated request runs
/// again and finds the preparation done.
pub(crate) fn prepares() {
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step {
            step.keyless = true;
        }
    });
}

/// Stores the key in the transaction of the operation. Returns `true` if there was a key to store.
pub(in crate::database) fn note<R>(connection: &mut AnyConnection) -> Result<bool, Abort<R>> {
    let noted = STEP.with_borrow(|step| {
        let step = step.as_ref().filter(|step| !step.keyless)?;
        Some((Arc::clone(&step.request), step.named.clone()))
    });
    let Some((request, named)) = noted else { return Ok(false) };
    if rows::claim(connection, &request.claim, named.as_ref())? == 0 {
        request.overtaken.store(true, Ordering::SeqCst);
        return Err(Abort::Store(StoreError::Unavailable("the same request is already in progress".to_owned())));
    }
    Ok(true)
}
