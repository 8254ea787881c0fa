//! The requests with keys that this process works on, and their answers until they are stored.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::http::header::HeaderValue;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::{AnswerNumbers, Database, KeptKey, KeyClaim, KeyOwner, SavedAnswer};
use kontor_kernel::{Clock, Random, SecretCipher, StoreError, hex};
use ring::digest;
use tokio::sync::watch;

use super::answer::KeptAnswer;
use crate::adapters::AnswerSeal;

/// How long others wait for the answer of a process that may have died.
const LEASE: TimeDelta = TimeDelta::seconds(10);
/// Answers of one commit.
const BATCH: usize = 500;
/// Answers that wait to be stored while the database does not take them. Beyond these the oldest are given up.
const MOST_WAITING: usize = 10_000;

enum Case {
    Running { fingerprint: String, ended: watch::Receiver<()> },
    Answered { fingerprint: String, answer: Arc<KeptAnswer>, until: DateTime<Utc> },
}

/// What a request with a key finds.
pub(super) enum Turn {
    /// Nobody here works on it: it may be looked for, and carried out.
    Mine(Ticket),
    /// The same request is being worked on.
    Wait(watch::Receiver<()>),
    /// It has its answer, for so long.
    Answered(Arc<KeptAnswer>, DateTime<Utc>),
    /// The key is another request's.
    Reused,
}

/// Where requests with keys are kept apart.
pub struct Desk {
    database: Database,
    clock: Arc<dyn Clock>,
    cipher: Arc<dyn SecretCipher>,
    random: Arc<dyn Random>,
    process: String,
    numbers: AnswerNumbers,
    cases: Mutex<HashMap<String, Case>>,
    waiting: Mutex<VecDeque<SavedAnswer>>,
}

/// The right to carry a request out. Without an answer the next one has it.
pub(super) struct Ticket {
    desk: Arc<Desk>,
    id: String,
    is_answered: bool,
    /// Whoever waits hears when it is dropped.
    _ended: watch::Sender<()>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half done while it is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a key is free again, for the header.
pub(super) fn end_of(moment: DateTime<Utc>) -> HeaderValue {
    let text = moment.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

impl Desk {
    /// An empty one, of a process that nobody else is.
    pub fn new(
        database: Database,
        clock: Arc<dyn Clock>,
        cipher: Arc<dyn SecretCipher>,
        random: Arc<dyn Random>,
    ) -> Self {
        let process = random.uuid().to_string();
        Self {
            database,
            clock,
            cipher,
            random,
            process,
            numbers: AnswerNumbers::default(),
            cases: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// What a request stores of itself. The key goes into it as a hash alone.
    pub(super) fn claim(&self, scope: &str, key: &str, owner: KeyOwner, body: &[u8]) -> KeyClaim {
        let at = self.clock.now();
        let mut random = [0; 4];
        self.random.fill(&mut random);
        KeyClaim {
            id: owner.keys(&self.cipher.keyed_fingerprint("idempotency key", &format!("{scope}\n{key}"))),
            fingerprint: hex(digest::digest(&digest::SHA256, body).as_ref()),
            owner,
            process: self.process.clone(),
            at,
            leased_until: at + LEASE,
            answer_number: self.numbers.next(at, u32::from_be_bytes(random)),
        }
    }

    pub(super) fn turn(self: &Arc<Self>, claim: &KeyClaim) -> Turn {
        match locked(&self.cases).entry(claim.id.clone()) {
            Entry::Occupied(case) => match case.get() {
                Case::Running { fingerprint, .. } | Case::Answered { fingerprint, .. }
                    if *fingerprint != claim.fingerprint =>
                {
                    Turn::Reused
                }
                Case::Running { ended, .. } => Turn::Wait(ended.clone()),
                Case::Answered { answer, until, .. } => Turn::Answered(Arc::clone(answer), *until),
            },
            Entry::Vacant(place) => {
                let (sender, ended) = watch::channel(());
                place.insert(Case::Running { fingerprint: claim.fingerprint.clone(), ended });
                Turn::Mine(Ticket { desk: Arc::clone(self), id: claim.id.clone(), is_answered: false, _ended: sender })
            }
        }
    }

    /// The time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// What is stored under the key.
    pub(super) async fn kept(&self, claim: &KeyClaim) -> Result<Option<KeptKey>, StoreError> {
        self.database.kept_key(&claim.id, self.clock.now()).await
    }

    /// Whether anything is stored under the key.
    pub(super) async fn is_kept(&self, claim: &KeyClaim) -> bool {
        self.kept(claim).await.is_ok_and(|kept| kept.is_some())
    }

    /// Makes the key free.
    pub(super) async fn free(&self, claim: &KeyClaim) {
        if let Err(error) = self.database.free_key(&claim.id).await {
            tracing::warn!(%error, "an idempotency key stays taken");
        }
    }

    fn seal_of(&self, claim: &KeyClaim, key: &str) -> AnswerSeal {
        AnswerSeal::new(&self.cipher.keyed_fingerprint("idempotent answer", &claim.id), key)
    }

    /// An answer that was sealed under the same key.
    pub(super) fn open(&self, claim: &KeyClaim, key: &str, sealed: &[u8]) -> Option<KeptAnswer> {
        self.seal_of(claim, key).open(sealed).and_then(|plain| KeptAnswer::from_bytes(&plain))
    }

    /// Stores the answers that are waiting. Those that come meanwhile wait for the next time: under load every commit would
    /// be another few of them.
    pub async fn store(&self) -> Result<(), StoreError> {
        let mut full = true;
        while full {
            let batch: Vec<_> = {
                let mut waiting = locked(&self.waiting);
                let some = waiting.len().min(BATCH);
                waiting.drain(..some).collect()
            };
            if batch.is_empty() {
                return Ok(());
            }
            full = batch.len() == BATCH;
            let stored = self.database.keep_answers(batch.clone()).await;
            if let Err(error) = stored {
                self.put_back(batch);
                return Err(error);
            }
            self.forget(batch.iter().map(|saved| &saved.claim.id));
        }
        Ok(())
    }

    fn put_back(&self, batch: Vec<SavedAnswer>) {
        let mut waiting = locked(&self.waiting);
        for saved in batch.into_iter().rev() {
            waiting.push_front(saved);
        }
        let beyond = waiting.len().saturating_sub(MOST_WAITING);
        let given_up: Vec<_> = waiting.drain(..beyond).collect();
        drop(waiting);
        self.forget(given_up.iter().map(|saved| &saved.claim.id));
    }

    fn forget<'a>(&self, ids: impl Iterator<Item = &'a String>) {
        let mut cases = locked(&self.cases);
        for id in ids {
            if matches!(cases.get(id), Some(Case::Answered { .. })) {
                cases.remove(id);
            }
        }
    }
}

impl Ticket {
    /// The request has its answer: it is given to whoever asks from now on, and stored soon.
    pub(super) fn answered(mut self, answer: KeptAnswer, claim: &KeyClaim, key: &str, is_stored: bool) {
        let sealed = self.desk.seal_of(claim, key).seal(&self.desk.random, answer.to_bytes());
        let (fingerprint, answer, until) = (claim.fingerprint.clone(), Arc::new(answer), claim.expires_at());
        locked(&self.desk.cases).insert(self.id.clone(), Case::Answered { fingerprint, answer, until });
        self.is_answered = true;
        locked(&self.desk.waiting).push_back(SavedAnswer { claim: claim.clone(), is_stored, answer: sealed });
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_answered {
            locked(&self.desk.cases).remove(&self.id);
        }
    }
}
