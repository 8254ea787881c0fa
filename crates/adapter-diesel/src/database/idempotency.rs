//! Requests that may be repeated under an idempotency key.
//!
//! A request with a key writes by a handle of its own ([`Database::for_request`](super::Database::for_request)). Its
//! first write operation stores the key in the same transaction, so the change and the key are committed together. The
//! unique key arbitrates between processes; the loser is rolled back completely. An operation that only prepares the
//! request ([`note_preparation`](super::AnyConnection::note_preparation)) stores no key. The response is added later
//! ([`Database::keep_answers`]), and nothing waits for it: without it the changed record can still be read.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::result::QueryResult;
use kontor_kernel::StoreError;

use crate::database::operation::{Named, Operation};
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

/// Lifetime of a key and of its response.
const KEY_LIFE: TimeDelta = TimeDelta::hours(48);

/// Low bits of a number, which distinguish requests of the same millisecond. The higher bits are milliseconds since the
/// epoch and suffice until the year 2109.
const BITS: u32 = 21;

/// Generator of the request numbers of a process.
#[derive(Debug)]
pub struct RequestNumbers {
    offset: i64,
    last: AtomicI64,
}

impl RequestNumbers {
    /// Creates a generator. The random bits keep processes apart. If two processes draw the same number, one request is
    /// stored under the next one.
    pub fn new(random: u32) -> Self {
        Self { offset: i64::from(random & ((1 << BITS) - 1)), last: AtomicI64::default() }
    }

    /// Returns the number for a request of this time.
    pub fn next(&self, at: DateTime<Utc>) -> i64 {
        let number = first_of(at) + self.offset;
        let after = |last: i64| Some(number.max(last + 1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        number.max(last.unwrap_or_default() + 1)
    }
}

fn first_of(moment: DateTime<Utc>) -> i64 {
    moment.timestamp_millis() << BITS
}

fn time_of(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(number >> BITS).unwrap_or_default()
}

/// Returns a number of the time before a request.
pub(crate) fn number_before(number: i64, time: TimeDelta) -> i64 {
    first_of(time_of(number) - time)
}

/// Returns the time at which the key of a request becomes free.
fn expiry_of(number: i64) -> DateTime<Utc> {
    time_of(number) + KEY_LIFE
}

/// Returns the greatest number whose key has expired.
pub(crate) fn last_expired_number(now: DateTime<Utc>) -> i64 {
    first_of(now - KEY_LIFE) + (1 << BITS) - 1
}

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
    /// Time of the request. A key that has expired by then is free.
    pub at: DateTime<Utc>,
    /// Number of the request. Numbers never decrease within a process, so after its clock was set back they are later
    /// than the time.
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
    claim: KeyClaim,
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
        let number = claim(connection, &self.claim, operation.named)?;
        if number.is_none() {
            self.overtaken.store(true, Ordering::SeqCst);
            return Err(Abort::Store(StoreError::KeyTaken));
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

/// Stored idempotency key.
#[derive(Debug, Clone)]
pub struct StoredKey {
    /// Hash of the request body.
    pub fingerprint: String,
    /// Record that was created or changed: resource and number.
    pub record: Option<(String, i64)>,
    /// Process that handled the request.
    pub process: String,
    /// End of the lease: until then, repeated requests wait for the response.
    pub leased_until: DateTime<Utc>,
    /// Encrypted response, once it is stored.
    pub answer: Option<Vec<u8>>,
    /// Time at which the key becomes free.
    pub expires_at: DateTime<Utc>,
}

/// Response to store.
#[derive(Debug, Clone)]
pub struct StoredResponse {
    /// Request of the response.
    pub claim: KeyClaim,
    /// Number that the key is stored under, if the request committed a change. The key may have been deleted since.
    pub number: Option<i64>,
    /// Encrypted response.
    pub answer: Vec<u8>,
}

by_place! {
    struct KeyRow {
        fingerprint: String,
        resource: Option<String>,
        resource_id: Option<i64>,
        lease_owner: String,
        leased_until: NaiveDateTime,
        answer: Option<Vec<u8>>,
        number: i64,
    }
}

impl From<KeyRow> for StoredKey {
    fn from(row: KeyRow) -> Self {
        Self {
            fingerprint: row.fingerprint,
            record: row.resource.zip(row.resource_id),
            process: row.lease_owner,
            leased_until: decode::moment(row.leased_until),
            answer: row.answer,
            expires_at: expiry_of(row.number),
        }
    }
}

/// Stores a key. Returns its number, or `None` if the key is taken.
fn claim(connection: &mut AnyConnection, claim: &KeyClaim, named: Option<Named>) -> QueryResult<Option<i64>> {
    let mut number = claim.number;
    loop {
        let row: [Value; 7] = [
            number.into(),
            claim.id.as_str().into(),
            claim.fingerprint.as_str().into(),
            named.map(|named| named.resource).into(),
            named.map(|named| named.id).into(),
            claim.process.as_str().into(),
            claim.leased_until.naive_utc().into(),
        ];
        let stored = Statement::new(
            "INSERT INTO idempotency_keys (number, id, fingerprint, resource, resource_id, lease_owner, leased_until) \
             VALUES ",
        )
        .tuple(row)
        .sql(" ON CONFLICT DO NOTHING")
        .run(connection)?;
        if stored > 0 {
            return Ok(Some(number));
        }
        let holders = Statement::new("SELECT number FROM idempotency_keys WHERE id = ").value(claim.id.as_str());
        match holders.scalars::<i64>(connection)?.first() {
            Some(holder) if *holder <= last_expired_number(claim.at) => {
                remove(connection, Statement::new("number = ").value(*holder))?;
            }
            Some(_) => return Ok(None),
            // Another process has drawn the same number.
            None => number += 1,
        }
    }
}

/// Deletes all keys of a caller. The current request then stores no key either, if it belongs to the same caller.
pub(crate) fn delete_keys_of_owner(connection: &mut AnyConnection, owner: KeyOwner) -> QueryResult<()> {
    connection.note_keys_deleted(owner);
    let own = Statement::new("id >= ").value(owner.keys("")).sql(" AND id < ");
    // `~` sorts after every hash.
    remove(connection, own.value(owner.keys("~")))
}

/// Deletes the keys that match a condition, and their responses.
fn remove(connection: &mut AnyConnection, condition: Statement) -> QueryResult<()> {
    let keys = Statement::new("DELETE FROM idempotency_keys WHERE ").then(condition).sql(" RETURNING number");
    let numbers: Vec<i64> = keys.scalars(connection)?;
    delete_responses(connection, &numbers)
}

impl Database {
    /// Returns the key, unless it is free.
    pub async fn find_key(&self, id: &str, now: DateTime<Utc>) -> Result<Option<StoredKey>, StoreError> {
        let id = id.to_owned();
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let rows: Vec<KeyRow> = Statement::new(
                "SELECT k.fingerprint, k.resource, k.resource_id, k.lease_owner, k.leased_until, a.answer, k.number \
                 FROM idempotency_keys k LEFT JOIN idempotency_answers a ON a.number = k.number WHERE k.id = ",
            )
            .value(id.as_str())
            .sql(" AND k.number > ")
            .value(last_expired_number(now))
            .rows(connection)?;
                Ok::<_, Abort<StoreError>>(rows.into_iter().next().map(StoredKey::from))
            })
            .await
    }

    /// Stores responses in one transaction. The response of a request that changed nothing is stored only if its key is
    /// free.
    pub async fn keep_answers(&self, answers: impl Into<Arc<[StoredResponse]>>) -> Result<(), StoreError> {
        let answers = answers.into();
        self.write(move |connection| {
            let mut sorted: Vec<_> = answers.iter().collect();
            sorted.sort_by_key(|answer| answer.claim.number);
            let mut own = Vec::with_capacity(sorted.len());
            for StoredResponse { claim: claimed, number, answer } in sorted {
                let number = if number.is_some() { *number } else { claim(connection, claimed, None)? };
                own.extend(number.map(|number| (number, answer.as_slice())));
            }
            Ok::<_, Abort<StoreError>>(insert(connection, &own)?)
        })
        .await
    }

    /// Deletes a key, so that its request can be repeated.
    pub async fn delete_key(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            Ok::<_, Abort<StoreError>>(remove(connection, Statement::new("id = ").value(id.as_str()))?)
        })
        .await
    }
}

/// Maximum responses per statement.
const CHUNK: usize = 64;

/// Stores responses by the numbers of their requests. A response whose key is deleted is not stored.
fn insert(connection: &mut AnyConnection, answers: &[(i64, &[u8])]) -> QueryResult<()> {
    for some in answers.chunks(CHUNK) {
        let rows = some.iter().map(|(number, answer)| -> [Value; 2] { [(*number).into(), answer.to_vec().into()] });
        let insert =
            Statement::new("INSERT INTO idempotency_answers (number, answer) SELECT k.number, v.column2 FROM (VALUES ")
                .tuples(rows)
                .sql(") AS v JOIN idempotency_keys k ON k.number = v.column1 WHERE TRUE")
                // A concurrent deletion of the key waits, and then deletes the response too.
                .locked(connection, " FOR SHARE OF k")
                .sql(" ON CONFLICT (number) DO NOTHING");
        // A single response and a full chunk are the common cases; their statements stay prepared.
        let insert = if matches!(some.len(), 1 | CHUNK) { insert } else { insert.once() };
        insert.run(connection)?;
    }
    Ok(())
}

/// Deletes responses.
fn delete_responses(connection: &mut AnyConnection, numbers: &[i64]) -> QueryResult<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    Statement::new("DELETE FROM idempotency_answers WHERE number").among(numbers).run(connection).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database_tests;

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_ascend_and_expire_with_their_keys() {
        let at = moment("2026-06-30T12:00:00.500Z");
        let numbers = RequestNumbers::new(u32::MAX - 1);
        let (first, second) = (numbers.next(at), numbers.next(at));
        assert_eq!((second, expiry_of(second)), (first + 1, at + KEY_LIFE));
        assert!(numbers.next(at + TimeDelta::seconds(1)) > second);
        assert!(RequestNumbers::new(1).next(at) != RequestNumbers::new(2).next(at));
        let end = at + KEY_LIFE;
        assert!(last_expired_number(end - TimeDelta::milliseconds(1)) < first && second <= last_expired_number(end));
    }

    #[test]
    fn there_are_numbers_for_a_long_time() {
        assert!(RequestNumbers::new(u32::MAX).next(moment("2109-01-01T00:00:00Z")) > 0);
    }

    fn claim(owner: KeyOwner, number: i64) -> KeyClaim {
        KeyClaim {
            id: owner.keys(&format!("{number:064}")),
            fingerprint: String::new(),
            owner,
            process: String::new(),
            leased_until: DateTime::UNIX_EPOCH,
            at: DateTime::UNIX_EPOCH,
            number,
        }
    }

    async fn answers(database: &Database) -> Result<i64, StoreError> {
        let count = |connection: &mut AnyConnection| {
            let count = Statement::new("SELECT count(*) AS id FROM idempotency_answers");
            Ok::<_, Abort<StoreError>>(count.scalar(connection)?)
        };
        database.read(count).await
    }

    database_tests! {
        async fn a_clock_that_is_set_back_frees_no_key(db: TestDatabase) {
            let owner = KeyOwner { guard: "counterparty", id: Some(1) };
            let first = claim(owner, RequestNumbers::new(1).next(DateTime::UNIX_EPOCH));
            let numbers = RequestNumbers::new(2);
            let ahead = numbers.next(DateTime::UNIX_EPOCH + TimeDelta::days(3));
            let again = KeyClaim { number: numbers.next(DateTime::UNIX_EPOCH), ..first.clone() };
            assert!(again.number > ahead, "numbers never decrease");
            for (claim, is_free) in [(first, true), (again, false)] {
                let request = IdempotentRequest::new(claim);
                let handle = db.database.for_request(Arc::clone(&request));
                handle.record_heartbeat("a", DateTime::UNIX_EPOCH).await.ok();
                assert_eq!((request.is_stored(), request.lost_key()), (is_free, !is_free));
            }
        }

        async fn a_deleted_customer_gets_no_concurrent_stored_response(db: TestDatabase) {
            let (own, other) = (KeyOwner { guard: "counterparty", id: Some(1) }, KeyOwner { guard: "counterparty", id: Some(12) });
            let numbers = RequestNumbers::new(0);
            for round in 1..=40 {
                let mut saved = Vec::new();
                for owner in [own, other] {
                    let claim = claim(owner, numbers.next(DateTime::UNIX_EPOCH));
                    let request = db.database.for_request(IdempotentRequest::new(claim.clone()));
                    request.record_heartbeat("a", claim.leased_until).await.unwrap();
                    saved.push(StoredResponse { number: Some(claim.number), claim, answer: b"done".to_vec() });
                }
                let forget = move |connection: &mut AnyConnection| Ok::<_, Abort<StoreError>>(delete_keys_of_owner(connection, own)?);
                let (kept, forgotten) = tokio::join!(db.database.keep_answers(saved), db.database.write(forget));
                kept.unwrap();
                forgotten.unwrap();
                assert_eq!(answers(&db.database).await.unwrap(), round, "those of the other one");
            }
        }
    }
}
