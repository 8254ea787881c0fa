//! Table of idempotency keys.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::StoreError;

use super::answers::{forget, insert};
use super::numbers::{expiry_of, has_expired, last_expired_number};
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
pub(super) fn claim(
    connection: &mut AnyConnection,
    claim: &KeyClaim,
    named: Option<Named>,
) -> QueryResult<Option<i64>> {
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
            Some(holder) if has_expired(*holder, claim.number) => {
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
    forget(connection, &numbers)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::idempotency::{IdempotentRequest, RequestNumbers};
    use crate::database_tests;

    fn claim(owner: KeyOwner, number: i64) -> KeyClaim {
        KeyClaim {
            id: owner.keys(&format!("{number:064}")),
            fingerprint: String::new(),
            owner,
            process: String::new(),
            leased_until: DateTime::UNIX_EPOCH,
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
        async fn who_is_forgotten_leaves_no_answer_that_comes_meanwhile(db: TestDatabase) {
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
