//! Idempotency keys: stored once, with the result of their requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, KeyOwner, RequestNumbers, StoredResponse, database_tests};
use kontor_kernel::StoreError;
use tokio::task::JoinSet;

use crate::fixtures;

pub fn now() -> DateTime<Utc> {
    "2026-06-30T12:00:00Z".parse().unwrap()
}

/// Number of claims so far.
static CLAIMS: AtomicU32 = AtomicU32::new(0);

pub fn claim(id: &str, at: DateTime<Utc>) -> KeyClaim {
    KeyClaim {
        id: id.to_owned(),
        fingerprint: "f".to_owned(),
        owner: KeyOwner { guard: "user", id: Some(1) },
        process: "p".to_owned(),
        leased_until: at + TimeDelta::seconds(30),
        at,
        number: RequestNumbers::new(CLAIMS.fetch_add(1, Ordering::Relaxed)).next(at),
    }
}

/// A request that writes a row with this name.
async fn write(db: &TestDatabase, request: &Arc<IdempotentRequest>, name: &str) -> Result<(), StoreError> {
    db.database.for_request(Arc::clone(request)).record_heartbeat(name, now()).await
}

async fn rows(db: &TestDatabase) -> i64 {
    fixtures::number(db, "SELECT COUNT(*) AS value FROM workers").await
}

async fn answers(db: &TestDatabase) -> i64 {
    fixtures::number(db, "SELECT COUNT(*) AS value FROM idempotency_answers").await
}

async fn answered(db: &TestDatabase, id: &str) -> Option<Option<Vec<u8>>> {
    db.database.find_key(id, now()).await.unwrap().map(|kept| kept.answer)
}

database_tests! {
    async fn a_key_is_stored_with_what_its_request_did(db: TestDatabase) {
        let first = IdempotentRequest::new(claim("k", now()));
        assert!(!first.has_begun_to_write());
        write(&db, &first, "a").await.unwrap();
        assert!(first.has_begun_to_write() && first.is_stored() && !first.lost_key());
        write(&db, &first, "b").await.unwrap();
        let second = IdempotentRequest::new(claim("k", now()));
        assert!(matches!(write(&db, &second, "c").await, Err(StoreError::KeyTaken)));
        assert!(second.lost_key() && !second.is_stored());
        assert_eq!(rows(&db).await, 2, "what came second is rolled back whole");
        let kept = db.database.find_key("k", now()).await.unwrap().unwrap();
        assert_eq!((kept.fingerprint.as_str(), kept.process.as_str(), kept.answer), ("f", "p", None));
        let end = now() + TimeDelta::hours(48);
        assert!(db.database.find_key("k", end).await.unwrap().is_none());
        let later = IdempotentRequest::new(claim("k", end));
        write(&db, &later, "d").await.unwrap();
        assert!(later.is_stored(), "a key that has ended is free");
        db.database.record_heartbeat("e", now()).await.unwrap();
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM idempotency_keys").await, 1);
    }

    async fn of_requests_that_race_one_is_done(db: TestDatabase) {
        let db = Arc::new(db);
        let mut running = JoinSet::new();
        for number in 0..20 {
            let db = Arc::clone(&db);
            running.spawn(async move {
                let request = IdempotentRequest::new(claim("k", now()));
                let done = write(&db, &request, &number.to_string()).await;
                assert_eq!((done.is_ok(), done.is_err()), (request.is_stored(), request.lost_key()));
                request.is_stored()
            });
        }
        let stored = running.join_all().await.into_iter().filter(|stored| *stored).count();
        assert_eq!((stored, rows(&db).await), (1, 1));
    }

    async fn an_answer_is_kept_once_and_brings_nothing_back(db: TestDatabase) {
        let keep = |claim: &KeyClaim, is_stored: bool, answer: &str| {
            let number = is_stored.then_some(claim.number);
            db.database.keep_answers([StoredResponse { claim: claim.clone(), number, answer: answer.as_bytes().to_vec() }])
        };
        let request = IdempotentRequest::new(claim("k", now()));
        write(&db, &request, "a").await.unwrap();
        assert_eq!(answered(&db, "k").await, Some(None));
        keep(&claim("k", now()), false, "a refusal that came later").await.unwrap();
        assert_eq!(answered(&db, "k").await, Some(None));
        keep(&claim("k", now()), true, "what another one did before").await.unwrap();
        assert_eq!(answered(&db, "k").await, Some(None));
        keep(request.claim(), true, "done").await.unwrap();
        keep(request.claim(), true, "done twice").await.unwrap();
        assert_eq!(answered(&db, "k").await, Some(Some(b"done".to_vec())));
        keep(&claim("refused", now()), false, "no").await.unwrap();
        assert_eq!(answered(&db, "refused").await, Some(Some(b"no".to_vec())));
        db.database.delete_key("k").await.unwrap();
        assert_eq!(answers(&db).await, 1, "that of the refused one");
        keep(request.claim(), true, "done").await.unwrap();
        assert_eq!((answered(&db, "k").await, answers(&db).await), (None, 1), "what is forgotten stays so");
    }

    async fn requests_with_equal_numbers_keep_their_answers(db: TestDatabase) {
        let number = claim("first", now()).number;
        let saved = |id: &str, answer: &str| {
            let claim = KeyClaim { number, ..claim(id, now()) };
            StoredResponse { claim, number: None, answer: answer.as_bytes().to_vec() }
        };
        db.database.keep_answers([saved("a", "one"), saved("b", "two")]).await.unwrap();
        let request = IdempotentRequest::new(KeyClaim { number, ..claim("c", now()) });
        write(&db, &request, "c").await.unwrap();
        assert_eq!(request.stored_number(), Some(number + 2));
        let answer = StoredResponse {
            claim: request.claim().clone(),
            number: request.stored_number(),
            answer: b"three".to_vec(),
        };
        db.database.keep_answers([answer]).await.unwrap();
        for (id, answer) in [("a", "one"), ("b", "two"), ("c", "three")] {
            assert_eq!(answered(&db, id).await, Some(Some(answer.as_bytes().to_vec())), "{id}");
        }
    }

    async fn an_expired_key_ends_with_its_answer(db: TestDatabase) {
        let saved = StoredResponse { claim: claim("k", now()), number: None, answer: b"old".to_vec() };
        db.database.keep_answers([saved]).await.unwrap();
        let end = now() + TimeDelta::hours(48);
        let later = IdempotentRequest::new(claim("k", end));
        write(&db, &later, "a").await.unwrap();
        let kept = db.database.find_key("k", end).await.unwrap().unwrap();
        assert_eq!((kept.answer, kept.expires_at), (None, end + TimeDelta::hours(48)));
        assert_eq!(answers(&db).await, 0);
    }
}
