//! Attempts to log in by calling a number.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{
    AttemptChange, AttemptExchange, AttemptState, CallbackAttempt, CheckId, Device, ExchangeOutcome, NewAttempt,
    NewToken,
};
use kontor_auth::ports::{CallbackAttempts, ClaimError, CustomerAccounts, QueryPurpose, TokenRepository};
use kontor_kernel::{AppScope, ApplicationId, CallbackAttemptId, Contact, Phone, ProjectId};

use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;
const PHONE: &str = "79001234567";

pub fn at(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

/// A project with applications 1 and 2.
pub async fn shop(db: &TestDatabase) -> ProjectId {
    let project = fixtures::shop(db).await;
    fixtures::run(
        db,
        format!(
            "INSERT INTO applications
                 (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at)
                 VALUES (2, {project}, 1, 'Other', 'y', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        ),
    )
    .await;
    project
}

pub fn app(project_id: ProjectId, application: i64) -> AppScope {
    AppScope { project_id, application_id: ApplicationId::new(application).unwrap(), wholesale: false }
}

/// An attempt of the project's first application that starts at this second.
pub fn new(project: ProjectId, phone: &str, nonce: &str, seconds: i64) -> NewAttempt {
    NewAttempt {
        app: app(project, 1),
        phone: Phone::parse(phone).unwrap(),
        nonce_fingerprint: nonce.to_owned(),
        session_fingerprint: format!("session of {nonce}"),
        created_at: at(seconds),
        expires_at: at(seconds + 300),
        phone_held_until: at(seconds + 60),
    }
}

pub fn check(text: &str) -> CheckId {
    CheckId::parse(text).unwrap()
}

async fn opened(db: &Database, project: ProjectId, phone: &str, nonce: &str, seconds: i64) -> CallbackAttemptId {
    let id = db.begin(new(project, phone, nonce, seconds)).await.unwrap();
    db.open(id, &check(nonce), at(seconds + 300)).await.unwrap();
    id
}

async fn verified(db: &Database, project: ProjectId, phone: &str, nonce: &str, seconds: i64) -> CallbackAttemptId {
    let id = opened(db, project, phone, nonce, seconds).await;
    db.change(id, AttemptChange::Verified { expires_at: at(seconds + 300) }, at(seconds)).await.unwrap();
    id
}

async fn found(db: &Database, project: ProjectId, nonce: &str) -> Option<CallbackAttempt> {
    db.find(app(project, 1), &format!("session of {nonce}")).await.unwrap()
}

pub fn exchange(project: ProjectId, attempt: CallbackAttemptId, application: i64, seconds: i64) -> AttemptExchange {
    let token = NewToken {
        fingerprint: "t".to_owned(),
        device: Device::parse_optional(&"ё".repeat(255)).unwrap(),
        created_at: at(seconds),
        expires_at: at(seconds) + TimeDelta::days(1),
    };
    AttemptExchange { attempt, app: app(project, application), token }
}

database_tests! {
    async fn one_of_many_attempts_with_one_nonce_begins(db: TestDatabase) {
        let project = shop(&db).await;
        let tries = (0..50).map(|number| {
            let (database, phone) = (db.database.clone(), format!("790012345{number:02}"));
            tokio::spawn(async move {
                // Random in the service: no two session tokens are the same.
                let attempt = new(project, &phone, "n", 0);
                database.begin(NewAttempt { session_fingerprint: format!("s{number}"), ..attempt }).await
            })
        });
        let mut begun = 0;
        for attempt in tries.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                Ok(_) => begun += 1,
                Err(ClaimError::NonceUsed) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(begun, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM callback_attempts").await, 1);
        // Another application has nonces of its own.
        let elsewhere = NewAttempt { app: app(project, 2), ..new(project, "79001110000", "n", 0) };
        db.database.begin(elsewhere).await.unwrap();
    }

    async fn one_of_many_attempts_for_one_phone_begins(db: TestDatabase) {
        let (project, other) = (shop(&db).await, fixtures::project(&db).await);
        let application = format!(
            "INSERT INTO branches (id, project_id, name, created_at, updated_at)
                 VALUES (3, {other}, 'Main', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO applications
                 (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at)
                 VALUES (3, {other}, 3, 'Shop', 'z', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        );
        fixtures::run(&db, application).await;
        let tries = (0..50).map(|number| {
            let database = db.database.clone();
            tokio::spawn(async move { database.begin(new(project, PHONE, &number.to_string(), 0)).await })
        });
        let mut begun = 0;
        for attempt in tries.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                Ok(_) => begun += 1,
                Err(ClaimError::PhoneHeld { until }) => assert_eq!(until, at(60)),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(begun, 1);
        // A refused attempt leaves nothing, not even its nonce.
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM callback_attempts").await, 1);
        let elsewhere = NewAttempt { app: app(other, 3), ..new(project, PHONE, "x", 0) };
        db.database.begin(elsewhere).await.unwrap();
    }

    async fn a_phone_is_held_for_its_time_or_until_the_attempt_ends(db: TestDatabase) {
        let project = shop(&db).await;
        let held = async |nonce: &str, seconds| db.database.begin(new(project, PHONE, nonce, seconds)).await;
        // A process that stopped while it set up the attempt reserves the phone no longer than a running one.
        held("dead", 0).await.unwrap();
        assert!(found(&db.database, project, "dead").await.is_none());
        assert!(matches!(held("a", 59).await, Err(ClaimError::PhoneHeld { until }) if until == at(60)));
        let failed = held("a", 60).await.unwrap();
        db.database.abandon(failed).await.unwrap();
        assert!(found(&db.database, project, "a").await.is_none());
        assert!(matches!(held("a", 60).await, Err(ClaimError::NonceUsed)));
        let confirmed = held("b", 61).await.unwrap();
        // The earlier attempt releases a reservation it no longer has.
        db.database.abandon(failed).await.unwrap();
        assert!(held("c", 61).await.is_err());
        db.database.open(confirmed, &check("b"), at(361)).await.unwrap();
        assert!(held("c", 62).await.is_err());
        db.database.change(confirmed, AttemptChange::Verified { expires_at: at(361) }, at(62)).await.unwrap();
        let given_up = held("c", 62).await.unwrap();
        db.database.open(given_up, &check("c"), at(362)).await.unwrap();
        db.database.change(given_up, AttemptChange::Expired, at(63)).await.unwrap();
        held("d", 63).await.unwrap();
    }

    async fn an_attempt_is_found_in_its_application_only(db: TestDatabase) {
        let (project, other) = (shop(&db).await, fixtures::project(&db).await);
        let id = opened(&db.database, project, PHONE, "n", 0).await;
        let before = db.statements();
        let attempt = found(&db.database, project, "n").await.unwrap();
        assert!(db.statements() - before <= 1);
        assert_eq!((attempt.id, attempt.state, attempt.expires_at), (id, AttemptState::Pending, at(300)));
        assert_eq!((attempt.nonce_fingerprint.as_str(), attempt.check.as_str()), ("n", "n"));
        assert_eq!(db.database.find_by_check(&check("n")).await.unwrap(), Some(attempt));
        assert!(db.database.find_by_check(&check("m")).await.unwrap().is_none());
        for elsewhere in [app(project, 2), app(other, 1)] {
            assert!(db.database.find(elsewhere, "session of n").await.unwrap().is_none());
        }
    }

    async fn decisions_about_an_attempt_are_final(db: TestDatabase) {
        let project = shop(&db).await;
        let (one, two) = (
            opened(&db.database, project, PHONE, "1", 0).await,
            opened(&db.database, project, "79001110000", "2", 0).await,
        );
        let confirmed = AttemptChange::Verified { expires_at: at(420) };
        let late = db.database.change(one, confirmed, at(300)).await.unwrap();
        assert_eq!((late.state, late.expires_at), (AttemptState::Pending, at(300)));
        let verified = db.database.change(one, confirmed, at(299)).await.unwrap();
        assert_eq!((verified.state, verified.expires_at), (AttemptState::Verified, at(420)));
        assert_eq!(db.database.change(one, AttemptChange::Expired, at(299)).await.unwrap(), verified);
        assert_eq!(db.database.change(one, AttemptChange::Verified { expires_at: at(900) }, at(299)).await.unwrap(), verified);
        let over = db.database.change(two, AttemptChange::Expired, at(10)).await.unwrap();
        assert_eq!((over.state, over.expires_at), (AttemptState::Expired, at(10)));
        assert_eq!(db.database.change(two, confirmed, at(11)).await.unwrap(), over);
        db.database.open(two, &check("again"), at(600)).await.unwrap();
        assert_eq!(found(&db.database, project, "2").await, Some(over));
    }

    async fn one_of_many_lookers_asks_the_provider(db: TestDatabase) {
        let project = shop(&db).await;
        let id = opened(&db.database, project, PHONE, "n", 0).await;
        let ask = async |asking, seconds| db.database.may_ask(id, asking, at(seconds), at(seconds - 2)).await.unwrap();
        let looks = (0..20).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { database.may_ask(id, QueryPurpose::Status, at(10), at(8)).await.unwrap() })
        });
        let mut asked = 0;
        for look in looks.collect::<Vec<_>>() {
            asked += usize::from(look.await.unwrap());
        }
        assert_eq!(asked, 1);
        assert!(!ask(QueryPurpose::Status, 11).await && ask(QueryPurpose::Status, 12).await);
        assert!(ask(QueryPurpose::Exchange, 11).await && !ask(QueryPurpose::Exchange, 12).await);
        db.database.change(id, AttemptChange::Verified { expires_at: at(300) }, at(12)).await.unwrap();
        assert!(!ask(QueryPurpose::Status, 20).await && !ask(QueryPurpose::Exchange, 20).await);
    }

    async fn a_hundred_exchanges_give_one_token_and_one_customer(db: TestDatabase) {
        let project = shop(&db).await;
        let id = verified(&db.database, project, PHONE, "n", 0).await;
        let tries = (0..100).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { database.exchange(exchange(project, id, 1, 1)).await.unwrap() })
        });
        let mut won = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            match attempt.await.unwrap() {
                ExchangeOutcome::SignedIn { counterparty_id, token_id } => won.push((counterparty_id, token_id)),
                ExchangeOutcome::NotVerified => {}
                ExchangeOutcome::SeveralCustomers => panic!("there is one"),
            }
        }
        assert_eq!(won.len(), 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM counterparties").await, 1);
        let stored = db.database.customer_token(won[0].1).await.unwrap().unwrap();
        assert_eq!((stored.counterparty_id, stored.app, stored.fingerprint.as_str()), (won[0].0, app(project, 1), "t"));
        let used = found(&db.database, project, "n").await.unwrap();
        assert_eq!((used.state, used.expires_at), (AttemptState::Expired, at(1)));
    }

    async fn racing_attempts_of_one_phone_agree_on_one_customer(db: TestDatabase) {
        let project = shop(&db).await;
        let mut attempts = Vec::new();
        for number in 0..8 {
            attempts.push(verified(&db.database, project, PHONE, &number.to_string(), number * 60).await);
        }
        let tries = attempts.into_iter().map(|id| {
            let database = db.database.clone();
            tokio::spawn(async move { database.exchange(exchange(project, id, 1, 1)).await.unwrap() })
        });
        let mut customers = std::collections::BTreeSet::new();
        for attempt in tries.collect::<Vec<_>>() {
            let ExchangeOutcome::SignedIn { counterparty_id, .. } = attempt.await.unwrap() else { panic!("not signed in") };
            customers.insert(counterparty_id);
        }
        assert_eq!(customers.len(), 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM counterparties").await, 1);
        let by_code = db.database.find_or_create(project, &Contact::parse(PHONE).unwrap(), at(2)).await.unwrap();
        assert!(customers.contains(&by_code));
    }

    async fn only_a_verified_attempt_in_its_time_and_application_is_exchanged(db: TestDatabase) {
        let project = shop(&db).await;
        let pending = opened(&db.database, project, "79001110000", "p", 0).await;
        let id = verified(&db.database, project, PHONE, "n", 0).await;
        for wrong in [exchange(project, pending, 1, 1), exchange(project, id, 2, 1), exchange(project, id, 1, 300)] {
            assert_eq!(db.database.exchange(wrong).await.unwrap(), ExchangeOutcome::NotVerified);
        }
        assert_eq!(found(&db.database, project, "p").await.unwrap().state, AttemptState::Pending);
        let done = db.database.exchange(exchange(project, id, 1, 299)).await.unwrap();
        assert!(matches!(done, ExchangeOutcome::SignedIn { .. }));
    }

    async fn several_customers_of_a_phone_are_a_conflict_unless_one_has_signed_in(db: TestDatabase) {
        let project = shop(&db).await;
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) VALUES
                 (5, {project}, FALSE, '79001110000', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (6, {project}, FALSE, '{PHONE}', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (7, {project}, FALSE, '{PHONE}', '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        let known = verified(&db.database, project, "79001110000", "k", 0).await;
        let done = db.database.exchange(exchange(project, known, 1, 1)).await.unwrap();
        assert!(matches!(done, ExchangeOutcome::SignedIn { counterparty_id, .. } if counterparty_id.get() == 5));
        let id = verified(&db.database, project, PHONE, "n", 0).await;
        assert_eq!(db.database.exchange(exchange(project, id, 1, 1)).await.unwrap(), ExchangeOutcome::SeveralCustomers);
        assert_eq!(found(&db.database, project, "n").await.unwrap().state, AttemptState::Verified);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM counterparties").await, 3);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 1);
        fixtures::run(&db, format!(
            "INSERT INTO login_contacts (project_id, contact, counterparty_id) VALUES ({project}, '{PHONE}', 7);"
        )).await;
        let done = db.database.exchange(exchange(project, id, 1, 1)).await.unwrap();
        assert!(matches!(done, ExchangeOutcome::SignedIn { counterparty_id, .. } if counterparty_id.get() == 7));
    }

    async fn old_attempts_are_swept_and_free_their_nonces(db: TestDatabase) {
        let project = shop(&db).await;
        for (number, seconds) in [(0, 0), (1, 60), (2, 120), (3, 900)] {
            db.database.begin(new(project, PHONE, &number.to_string(), seconds)).await.unwrap();
        }
        let sweep = async |seconds| {
            let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "callback_attempts").unwrap();
            db.database.sweep(swept, at(seconds) + TimeDelta::days(30), TimeDelta::days(30)).await.unwrap()
        };
        assert_eq!(sweep(299).await, 0);
        assert_eq!(sweep(421).await, 3);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM callback_attempts").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM callback_phones").await, 1);
        assert!(db.database.begin(new(project, "79001110000", "3", 900)).await.is_err());
        db.database.begin(new(project, "79001110000", "0", 900)).await.unwrap();
        assert_eq!(sweep(5_000).await, 2);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM callback_phones").await, 0);
    }
}
