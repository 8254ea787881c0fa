//! Idempotency store: keyed requests in progress in this process, and responses that are not stored yet.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::http::header::HeaderValue;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::{Database, KeyClaim, KeyOwner, RequestNumbers, StoredKey, StoredResponse};
use kontor_kernel::{Clock, Random, SecretCipher, StoreError, hex};
use ring::digest;
use tokio::sync::watch;

use super::answer::{ResponseCipher, StoredAnswer};

/// Lease of a running request. After it other processes assume that its process died.
const LEASE: TimeDelta = TimeDelta::seconds(10);
/// Hexadecimal digits of a stored hash: 128 bits. A shorter key makes the index of keys smaller, which is written at
/// random places.
const HASH_DIGITS: usize = 32;
/// Responses stored in one commit.
const BATCH: usize = 500;
/// Maximum number of responses that wait while the database is unavailable. Beyond it the oldest are dropped.
const MAX_WAITING: usize = 10_000;

enum TrackedCall {
    Running { fingerprint: String, ended: watch::Receiver<()> },
    Answered { fingerprint: String, answer: Arc<StoredAnswer>, until: DateTime<Utc> },
}

/// State of the key of a request in this process.
pub(super) enum KeyState {
    /// This process does not work on it. The caller may look it up and execute it.
    Free(ExecutionGuard),
    /// The same request is in progress.
    InProgress(watch::Receiver<()>),
    /// The response is known, with the expiry of its key.
    Answered(Arc<StoredAnswer>, DateTime<Utc>),
    /// The key belongs to a different request.
    Reused,
}

/// Store of keyed requests and their responses.
pub struct IdempotencyStore {
    database: Database,
    clock: Arc<dyn Clock>,
    cipher: Arc<dyn SecretCipher>,
    random: Arc<dyn Random>,
    process: String,
    numbers: RequestNumbers,
    cases: Mutex<HashMap<String, TrackedCall>>,
    waiting: Mutex<VecDeque<StoredResponse>>,
}

/// Exclusive right to execute a request. Dropped without a response, it passes to the next request.
pub(super) struct ExecutionGuard {
    key_store: Arc<IdempotencyStore>,
    id: String,
    is_answered: bool,
    /// Dropping it notifies the waiting requests.
    _ended: watch::Sender<()>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each critical section leaves a consistent state, so a poisoned lock is safe to use.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Formats the expiry of a key for the header.
pub(super) fn end_of(moment: DateTime<Utc>) -> HeaderValue {
    let text = moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

impl IdempotencyStore {
    /// Creates an empty store with a random process id.
    pub fn new(
        database: Database,
        clock: Arc<dyn Clock>,
        cipher: Arc<dyn SecretCipher>,
        random: Arc<dyn Random>,
    ) -> Self {
        let process = random.uuid().to_string();
        let mut offset = [0; 4];
        random.fill(&mut offset);
        Self {
            database,
            clock,
            cipher,
            random,
            process,
            numbers: RequestNumbers::new(u32::from_be_bytes(offset)),
            cases: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// Returns the id of a key. It contains only a hash of the key.
    pub(super) fn id(&self, scope: &str, key: &str, owner: KeyOwner) -> String {
        let mut hash = self.cipher.keyed_fingerprint("idempotency key", &format!("{scope}\n{key}"));
        hash.truncate(HASH_DIGITS);
        owner.keys(&hash)
    }

    /// Returns the claim that a request stores.
    pub(super) fn claim(&self, scope: &str, key: &str, owner: KeyOwner, body: &[u8]) -> KeyClaim {
        let at = self.clock.now();
        KeyClaim {
            id: self.id(scope, key, owner),
            fingerprint: hex(digest::digest(&digest::SHA256, body).as_ref()),
            owner,
            process: self.process.clone(),
            leased_until: at + LEASE,
            at,
            number: self.numbers.next(at),
        }
    }

    pub(super) fn claim_state(self: &Arc<Self>, claim: &KeyClaim) -> KeyState {
        match locked(&self.cases).entry(claim.id.clone()) {
            Entry::Occupied(case) => match case.get() {
                TrackedCall::Running { fingerprint, .. } | TrackedCall::Answered { fingerprint, .. }
                    if *fingerprint != claim.fingerprint =>
                {
                    KeyState::Reused
                }
                TrackedCall::Running { ended, .. } => KeyState::InProgress(ended.clone()),
                TrackedCall::Answered { answer, until, .. } => KeyState::Answered(Arc::clone(answer), *until),
            },
            Entry::Vacant(place) => {
                let (sender, ended) = watch::channel(());
                place.insert(TrackedCall::Running { fingerprint: claim.fingerprint.clone(), ended });
                KeyState::Free(ExecutionGuard {
                    key_store: Arc::clone(self),
                    id: claim.id.clone(),
                    is_answered: false,
                    _ended: sender,
                })
            }
        }
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Returns the entry stored under the key, if any.
    pub(super) async fn kept(&self, claim: &KeyClaim) -> Result<Option<StoredKey>, StoreError> {
        self.database.find_key(&claim.id, self.clock.now()).await
    }

    /// Returns `true` if an entry is stored under the key.
    pub(super) async fn is_stored(&self, claim: &KeyClaim) -> bool {
        self.kept(claim).await.is_ok_and(|kept| kept.is_some())
    }

    /// Returns `true` if a request with the key of this id is in progress or has an entry.
    pub(super) async fn is_known(&self, id: &str) -> Result<bool, StoreError> {
        let is_here = locked(&self.cases).contains_key(id);
        Ok(is_here || self.database.find_key(id, self.clock.now()).await?.is_some())
    }

    /// Deletes the entry of the key.
    pub(super) async fn free(&self, claim: &KeyClaim) {
        if let Err(error) = self.database.delete_key(&claim.id).await {
            tracing::warn!(%error, "an idempotency key could not be released; it expires later");
        }
    }

    fn cipher_for(&self, claim: &KeyClaim, key: &str) -> ResponseCipher {
        ResponseCipher::new(&self.cipher.keyed_fingerprint("idempotent answer", &claim.id), key)
    }

    /// Decrypts a response that was sealed with the same key.
    pub(super) fn open(&self, claim: &KeyClaim, key: &str, sealed: &[u8]) -> Option<StoredAnswer> {
        self.cipher_for(claim, key).open(sealed).and_then(|plain| StoredAnswer::from_bytes(&plain))
    }

    /// Stores the waiting responses in batches. Responses that arrive while it runs wait for the next call, unless the
    /// last batch was full: otherwise each commit would hold only a few under load.
    pub async fn store(&self) -> Result<(), StoreError> {
        let mut full = true;
        while full {
            let batch: Arc<[_]> = {
                let mut waiting = locked(&self.waiting);
                let some = waiting.len().min(BATCH);
                waiting.drain(..some).collect()
            };
            if batch.is_empty() {
                return Ok(());
            }
            full = batch.len() == BATCH;
            if let Err(error) = self.database.keep_answers(Arc::clone(&batch)).await {
                self.requeue(&batch);
                return Err(error);
            }
            self.forget(batch.iter().map(|saved| &saved.claim.id));
        }
        Ok(())
    }

    fn requeue(&self, batch: &[StoredResponse]) {
        let mut waiting = locked(&self.waiting);
        for saved in batch.iter().rev() {
            waiting.push_front(saved.clone());
        }
        let beyond = waiting.len().saturating_sub(MAX_WAITING);
        let given_up: Vec<_> = waiting.drain(..beyond).collect();
        drop(waiting);
        self.forget(given_up.iter().map(|saved| &saved.claim.id));
    }

    fn forget<'a>(&self, ids: impl Iterator<Item = &'a String>) {
        let mut cases = locked(&self.cases);
        for id in ids {
            if matches!(cases.get(id), Some(TrackedCall::Answered { .. })) {
                cases.remove(id);
            }
        }
    }
}

impl ExecutionGuard {
    /// Publishes the response to later requests, and queues it for storage.
    pub(super) fn answered(mut self, answer: StoredAnswer, claim: KeyClaim, key: &str, number: Option<i64>) {
        let sealed = self.key_store.cipher_for(&claim, key).seal(&self.key_store.random, answer.to_bytes());
        let (fingerprint, answer, until) = (claim.fingerprint.clone(), Arc::new(answer), claim.expires_at());
        locked(&self.key_store.cases).insert(self.id.clone(), TrackedCall::Answered { fingerprint, answer, until });
        self.is_answered = true;
        locked(&self.key_store.waiting).push_back(StoredResponse { claim, number, answer: sealed });
    }
}

impl Drop for ExecutionGuard {
    fn drop(&mut self) {
        if !self.is_answered {
            locked(&self.key_store.cases).remove(&self.id);
        }
    }
}
