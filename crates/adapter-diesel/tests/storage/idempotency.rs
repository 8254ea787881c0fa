//! Idempotency keys: stored once, with the result of their requests.

use std::sync::{Arc, LazyLock};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, KeyOwner, ResponseNumbers, StoredResponse, database_tests};
use kontor_kernel::StoreError;
use tokio::task::JoinSet;

use crate::fixtures;

pub fn now() -> DateTime<Utc> {
    "2026-06-30T12:00:00Z".parse().unwrap()
}

static NUMBERS: LazyLock<ResponseNumbers> = LazyLock::new(ResponseNumbers::default);

pub fn claim(id: &str, at: DateTime<Utc>) -> KeyClaim {
    KeyClaim {
        id: id.to_owned(),
        fingerprint: "f".to_owned(),
        owner: KeyOwner { guard: "user", id: Some(1) },
        process: "p".to_owned(),
        at,
        leased_until: at + TimeDelta::seconds(30),
        answer_number: NUMBERS.next(at, 7),
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
        assert!(matches!(write(&db, &second, "c").await, Err(StoreError::Unavailable(_))));
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
        let keep = |claim: &KeyClaim, is_stored, answer: &str| {
            let saved = StoredResponse { claim: claim.clone(), is_stored, answer: answer.as_bytes().to_vec() };
            db.database.keep_answers(vec![saved])
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

    async fn of_numbers_that_meet_one_answer_is_kept_and_none_is_lost(db: TestDatabase) {
        let saved = |claim: KeyClaim, answer: &str| StoredResponse { claim, is_stored: false, answer: answer.as_bytes().to_vec() };
        let seventh = |id: &str| KeyClaim { answer_number: 7, ..claim(id, now()) };
        db.database.keep_answers(vec![saved(seventh("a"), "one"), saved(seventh("b"), "two")]).await.unwrap();
        db.database.keep_answers(vec![saved(claim("c", now()), "three")]).await.unwrap();
        assert_eq!((answers(&db).await, answered(&db, "c").await), (2, Some(Some(b"three".to_vec()))));
    }

    async fn a_process_of_before_and_one_of_now_share_keys(db: TestDatabase) {
        let of_before = |answer: &str, end: DateTime<Utc>| {
            let end = end.naive_utc();
            format!(
                "INSERT INTO idempotency_keys (id, fingerprint, lease_owner, leased_until, expires_at, answer) \
                 VALUES ('k', 'f', 'older', '{end}', '{end}', {answer}) ON CONFLICT (id) DO UPDATE SET \
                 fingerprint = excluded.fingerprint, lease_owner = excluded.lease_owner, leased_until = excluded.leased_until, \
                 answer = excluded.answer, expires_at = excluded.expires_at"
            )
        };
        let kept = async |at| db.database.find_key("k", at).await.unwrap().map(|kept| kept.answer);
        let end = now() + TimeDelta::hours(48);
        fixtures::run(&db, of_before("'old'", end)).await;
        assert_eq!(kept(now()).await, Some(Some(b"old".to_vec())), "it is given as long as its key holds");
        let later = IdempotentRequest::new(claim("k", end));
        write(&db, &later, "a").await.unwrap();
        assert_eq!(kept(end).await, Some(None), "the key has a request of now");
        let saved = StoredResponse { claim: later.claim().clone(), is_stored: true, answer: b"new".to_vec() };
        db.database.keep_answers(vec![saved]).await.unwrap();
        assert_eq!(kept(end).await, Some(Some(b"new".to_vec())));
        // A process of an older version takes over again, and stops.
        let (again, last) = (end + TimeDelta::hours(48), end + TimeDelta::hours(96));
        fixtures::run(&db, of_before("NULL", last)).await;
        assert_eq!(kept(again).await, Some(None), "the answer of a request that is over is not given for it");
    }
}
