//! Table of idempotency keys.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::StoreError;

use super::answers::{forget, insert, last_expired_number};
use super::request::{KeyClaim, KeyOwner};
use crate::database::operation::Named;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

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
    /// `true` if the request committed a change. Its key is then already stored, unless it was deleted since.
    pub is_stored: bool,
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
        expires_at: NaiveDateTime,
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
            expires_at: decode::moment(row.expires_at),
        }
    }
}

const ON_CONFLICT_TAKE_OVER: &str = " ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, resource = excluded.resource, \
     resource_id = excluded.resource_id, lease_owner = excluded.lease_owner, leased_until = excluded.leased_until, answer = NULL, \
     answer_number = excluded.answer_number, expires_at = excluded.expires_at WHERE idempotency_keys.expires_at <= ";

/// Stores a key. Returns `0` if the key is already taken.
pub(super) fn claim(connection: &mut AnyConnection, claim: &KeyClaim, named: Option<Named>) -> QueryResult<usize> {
    let row: [Value; 8] = [
        claim.id.as_str().into(),
        claim.fingerprint.as_str().into(),
        named.map(|named| named.resource).into(),
        named.map(|named| named.id).into(),
        claim.process.as_str().into(),
        claim.leased_until.naive_utc().into(),
        claim.expires_at().naive_utc().into(),
        claim.answer_number.into(),
    ];
    Statement::new(
        "INSERT INTO idempotency_keys (id, fingerprint, resource, resource_id, lease_owner, leased_until, expires_at, \
         answer_number) VALUES ",
    )
    .tuple(row)
    .sql(ON_CONFLICT_TAKE_OVER)
    .value(claim.at.naive_utc())
    .run(connection)
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
    let keys = Statement::new("DELETE FROM idempotency_keys WHERE ").then(condition).sql(" RETURNING answer_number");
    let numbers: Vec<Option<i64>> = keys.scalars(connection)?;
    let numbers: Vec<i64> = numbers.into_iter().flatten().collect();
    forget(connection, &numbers)
}

impl Database {
    /// Returns the key, unless it is free.
    pub async fn find_key(&self, id: &str, now: DateTime<Utc>) -> Result<Option<StoredKey>, StoreError> {
        let id = id.to_owned();
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let rows: Vec<KeyRow> = Statement::new(
                    "SELECT k.fingerprint, k.resource, k.resource_id, k.lease_owner, k.leased_until, coalesce(k.answer, a.answer), \
                     k.expires_at FROM idempotency_keys k LEFT JOIN idempotency_answers a ON a.number = k.answer_number AND a.number > ",
                )
                .value(last_expired_number(now))
                .sql(" WHERE k.id = ")
                .value(id.as_str())
                .sql(" AND k.expires_at > ")
                .value(now.naive_utc())
                .rows(connection)?;
                Ok::<_, Abort<StoreError>>(rows.into_iter().next().map(StoredKey::from))
            })
            .await
    }

    /// Stores responses in one transaction. The response of a request that changed nothing is stored only if its key is
    /// free.
    pub async fn keep_answers(&self, mut answers: Vec<StoredResponse>) -> Result<(), StoreError> {
        answers.sort_by_key(|answer| answer.claim.answer_number);
        self.write(move |connection| {
            let mut own = Vec::with_capacity(answers.len());
            for answer in &answers {
                if answer.is_stored || claim(connection, &answer.claim, None)? > 0 {
                    own.push(answer);
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::idempotency::{IdempotentRequest, ResponseNumbers};
    use crate::database_tests;

    fn claim(owner: KeyOwner, answer_number: i64) -> KeyClaim {
        let at: DateTime<Utc> = "2026-06-30T12:00:00Z".parse().unwrap();
        KeyClaim {
            id: owner.keys(&format!("{answer_number:064}")),
            fingerprint: String::new(),
            owner,
            process: String::new(),
            at,
            leased_until: at,
            answer_number,
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
        async fn who_is_forgotten_leaves_no_answer_that_comes_meanwhile(db: TestDatabase) {
            let (own, other) = (KeyOwner { guard: "counterparty", id: Some(1) }, KeyOwner { guard: "counterparty", id: Some(12) });
            let numbers = ResponseNumbers::default();
            for round in 0..40 {
                let mut saved = Vec::new();
                for owner in [own, other] {
                    let claim = claim(owner, numbers.next(DateTime::UNIX_EPOCH, round));
                    let request = db.database.for_request(IdempotentRequest::new(claim.clone()));
                    request.record_heartbeat("a", claim.at).await.unwrap();
                    saved.push(StoredResponse { claim, is_stored: true, answer: b"done".to_vec() });
                }
                let forget = move |connection: &mut AnyConnection| Ok::<_, Abort<StoreError>>(delete_keys_of_owner(connection, own)?);
                let (kept, forgotten) = tokio::join!(db.database.keep_answers(saved), db.database.write(forget));
                kept.unwrap();
                forgotten.unwrap();
                assert_eq!(answers(&db.database).await.unwrap(), i64::from(round) + 1, "those of the other one");
            }
        }
    }
}
