//! A request with a key, as the steps it runs see it.

use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;

use super::answers::KEY_LIFE;
use super::rows;
use crate::database::{Abort, AnyConnection, preconditions};

/// Whose a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    /// The kind of caller; `counterparty` is a customer.
    pub guard: &'static str,
    /// Their number, where the kind has numbers.
    pub id: Option<i64>,
}

impl KeyOwner {
    /// What his key with this hash is stored as: all of his keys stand together.
    pub fn keys(self, hash: &str) -> String {
        let id = self.id.map(|id| id.to_string()).unwrap_or_default();
        format!("{}:{id}:{hash}", self.guard)
    }
}

/// What a request with a key stores of itself.
#[derive(Debug, Clone)]
pub struct KeyClaim {
    /// A hash of everything that the key is one within, and of the key, [with its owner](KeyOwner::keys).
    pub id: String,
    /// A hash of the body.
    pub fingerprint: String,
    /// Whose it is.
    pub owner: KeyOwner,
    /// The process that works on it.
    pub process: String,
    /// When it came. A key that ended by then is free.
    pub at: DateTime<Utc>,
    /// Until when others wait for the answer.
    pub leased_until: DateTime<Utc>,
    /// The number that its answer will have.
    pub answer_number: i64,
}

impl KeyClaim {
    /// When the key is free again.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + KEY_LIFE
    }
}

/// A request with a key while it is worked on.
#[derive(Debug)]
pub struct IdempotentRequest {
    pub(super) claim: KeyClaim,
    entered: AtomicBool,
    stored: AtomicBool,
    overtaken: AtomicBool,
}

/// A record that a step made, changed or deleted.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub resource: &'static str,
    pub id: i64,
    /// One that was made goes before others.
    pub is_new: bool,
}

tokio::task_local! {
    static REQUEST: Arc<IdempotentRequest>;
}

/// The step that runs on this thread.
struct Step {
    request: Arc<IdempotentRequest>,
    named: Option<Named>,
    /// Whether the key is not stored with this step.
    keyless: bool,
}

thread_local! {
    static STEP: RefCell<Option<Step>> = const { RefCell::new(None) };
}

impl IdempotentRequest {
    /// A request that has written nothing yet.
    pub fn new(claim: KeyClaim) -> Arc<Self> {
        let no = || AtomicBool::new(false);
        Arc::new(Self { claim, entered: no(), stored: no(), overtaken: no() })
    }

    /// Runs the request: the steps it writes in this task know of the key.
    pub async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        REQUEST.scope(self, work).await
    }

    /// What it stores of itself.
    pub fn claim(&self) -> &KeyClaim {
        &self.claim
    }

    /// Whether it came so far that it began to write.
    pub fn has_begun(&self) -> bool {
        self.entered.load(Ordering::SeqCst)
    }

    /// Whether something that it did is committed, and the key with it.
    pub fn is_stored(&self) -> bool {
        self.stored.load(Ordering::SeqCst)
    }

    /// The step with which the key was stored is committed.
    pub(in crate::database) fn committed(&self) {
        self.stored.store(true, Ordering::SeqCst);
    }

    /// Whether somebody else did the same first. Nothing of this one is left.
    pub fn is_overtaken(&self) -> bool {
        self.overtaken.load(Ordering::SeqCst)
    }
}

/// The request that this task works on, if it has a key that is not stored yet.
pub(in crate::database) fn current() -> Option<Arc<IdempotentRequest>> {
    let request = REQUEST.try_with(Arc::clone).ok()?;
    request.entered.store(true, Ordering::SeqCst);
    (!request.is_stored()).then_some(request)
}

/// The thread works for a request until this is dropped.
pub(in crate::database) struct Serving;

impl Serving {
    /// Begins an attempt of a step.
    pub fn begin(request: Option<&Arc<IdempotentRequest>>) -> Self {
        if let Some(request) = request {
            // Who took the key may have been rolled back since.
            request.overtaken.store(false, Ordering::SeqCst);
        }
        STEP.set(request.map(|request| Step { request: Arc::clone(request), named: None, keyless: false }));
        Self
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        STEP.set(None);
    }
}

/// Says which record the step made.
pub(crate) fn made(resource: &'static str, id: i64) {
    names(resource, id, true);
}

/// Says which record the step is about, so that what was done can be read when the answer is lost.
pub(crate) fn names(resource: &'static str, id: i64, is_new: bool) {
    if is_new {
        preconditions::made(resource, id);
    }
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step
            && step.named.as_ref().is_none_or(|named| is_new && !named.is_new)
        {
            step.named = Some(Named { resource, id, is_new });
        }
    });
}

/// Says that everything of a caller is forgotten: the request that does it, too.
pub(super) fn forgotten(owner: KeyOwner) {
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step {
            step.keyless |= step.request.claim.owner == owner;
        }
    });
}

/// Says that the step only prepares what the request is for: should nothing follow, the request is carried out when it is sent
/// again, and finds this done.
pub(crate) fn prepares() {
    STEP.with_borrow_mut(|step| {
        if let Some(step) = step {
            step.keyless = true;
        }
    });
}

/// Stores the key in the transaction of the step. Returns whether there was one to store.
pub(in crate::database) fn note<R>(connection: &mut AnyConnection) -> Result<bool, Abort<R>> {
    let noted = STEP.with_borrow(|step| {
        let step = step.as_ref().filter(|step| !step.keyless)?;
        Some((Arc::clone(&step.request), step.named.clone()))
    });
    let Some((request, named)) = noted else { return Ok(false) };
    if rows::claim(connection, &request.claim, named.as_ref())? == 0 {
        request.overtaken.store(true, Ordering::SeqCst);
        return Err(Abort::Store(StoreError::Unavailable(
            "the same request is being carried out elsewhere".to_owned(),
        )));
    }
    Ok(true)
}
