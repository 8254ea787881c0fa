//! The table of keys.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Binary, Nullable, Text, Timestamp};
use kontor_kernel::StoreError;

use super::request::{KeyClaim, KeyOwner, Named, forgotten};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, Value, by_place};
use crate::stored;

/// A key that is stored.
#[derive(Debug, Clone)]
pub struct KeptKey {
    /// A hash of the body that it came with.
    pub fingerprint: String,
    /// The record that was made or changed: its kind, its number.
    pub record: Option<(String, i64)>,
    /// The process that worked on it.
    pub process: String,
    /// Until when others wait for the answer.
    pub leased_until: DateTime<Utc>,
    /// The sealed answer, once there is one.
    pub answer: Option<Vec<u8>>,
    /// When the key is free again.
    pub expires_at: DateTime<Utc>,
}

/// An answer that is to be kept.
#[derive(Debug, Clone)]
pub struct SavedAnswer {
    /// The request that it answers.
    pub claim: KeyClaim,
    /// Whether the request did something: then its key is stored already, unless somebody had it forgotten.
    pub is_stored: bool,
    /// The sealed answer.
    pub answer: Vec<u8>,
}

by_place! {
    struct KeyRow {
        fingerprint: String as Text,
        resource: Option<String> as Nullable<Text>,
        resource_id: Option<i64> as Nullable<BigInt>,
        lease_owner: String as Text,
        leased_until: NaiveDateTime as Timestamp,
        answer: Option<Vec<u8>> as Nullable<Binary>,
        expires_at: NaiveDateTime as Timestamp,
    }
}

impl From<KeyRow> for KeptKey {
    fn from(row: KeyRow) -> Self {
        Self {
            fingerprint: row.fingerprint,
            record: row.resource.zip(row.resource_id),
            process: row.lease_owner,
            leased_until: stored::moment(row.leased_until),
            answer: row.answer,
            expires_at: stored::moment(row.expires_at),
        }
    }
}

const TAKE_OVER: &str = " ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, resource = excluded.resource, \
     resource_id = excluded.resource_id, lease_owner = excluded.lease_owner, leased_until = excluded.leased_until, answer = excluded.answer, \
     expires_at = excluded.expires_at WHERE idempotency_keys.expires_at <= ";

fn insert(claim: &KeyClaim, named: Option<&Named>, answer: Option<Vec<u8>>) -> Statement {
    let row: [Value; 7] = [
        claim.id.as_str().into(),
        claim.fingerprint.as_str().into(),
        named.map(|named| named.resource).into(),
        named.map(|named| named.id).into(),
        claim.process.as_str().into(),
        claim.leased_until.naive_utc().into(),
        claim.expires_at.naive_utc().into(),
    ];
    let statement = Statement::new(
        "INSERT INTO idempotency_keys (id, fingerprint, resource, resource_id, lease_owner, leased_until, expires_at, \
         answer) VALUES (",
    );
    let statement = row.into_iter().fold(statement, |statement, value| statement.value(value).sql(", "));
    let statement = match answer {
        Some(answer) => statement.value(answer),
        None => statement.sql("NULL"),
    };
    statement.sql(")").sql(TAKE_OVER).value(claim.at.naive_utc())
}

/// Stores a key; `0` when somebody has it already.
pub(super) fn claim(connection: &mut AnyConnection, claim: &KeyClaim, named: Option<&Named>) -> QueryResult<usize> {
    insert(claim, named, None).run(connection)
}

/// Forgets every request of a caller, the one that is being worked on, too.
pub(crate) fn forget_keys(connection: &mut AnyConnection, owner: KeyOwner) -> QueryResult<()> {
    forgotten(owner);
    Statement::new("DELETE FROM idempotency_keys WHERE id >= ")
        .value(owner.keys(""))
        .sql(" AND id < ")
        // No hash is greater.
        .value(owner.keys("~"))
        .run(connection)
        .map(|_| ())
}

fn save(connection: &mut AnyConnection, saved: &SavedAnswer) -> QueryResult<usize> {
    if !saved.is_stored {
        return insert(&saved.claim, None, Some(saved.answer.clone())).run(connection);
    }
    Statement::new("UPDATE idempotency_keys SET answer = ")
        .value(saved.answer.clone())
        .sql(" WHERE id = ")
        .value(saved.claim.id.as_str())
        .sql(" AND fingerprint = ")
        .value(saved.claim.fingerprint.as_str())
        .run(connection)
}

impl Database {
    /// The key, unless it is free.
    pub async fn kept_key(&self, id: &str, now: DateTime<Utc>) -> Result<Option<KeptKey>, StoreError> {
        let id = id.to_owned();
        self.read_brief(move |connection| {
            let rows: Vec<KeyRow> = Statement::new(
                "SELECT fingerprint, resource, resource_id, lease_owner, leased_until, answer, expires_at \
                 FROM idempotency_keys WHERE id = ",
            )
            .value(id.as_str())
            .sql(" AND expires_at > ")
            .value(now.naive_utc())
            .rows(connection)?;
            Ok::<_, Abort<StoreError>>(rows.into_iter().next().map(KeptKey::from))
        })
        .await
    }

    /// Keeps answers, all in one commit. What a request that did nothing answered is kept unless its key has another answer.
    pub async fn keep_answers(&self, answers: Vec<SavedAnswer>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for answer in &answers {
                save(connection, answer)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    /// Makes a key free: its request may be made anew.
    pub async fn free_key(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            Statement::new("DELETE FROM idempotency_keys WHERE id = ").value(id.as_str()).run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
