//! Sessions of customers.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::model::{ClientSession, TokenOwner};
use kontor_auth::ports::{ClientSessions, SessionStart, TokenRepository};
use kontor_auth::{Heartbeat, Heartbeats};
use kontor_kernel::{AppScope, ApplicationId, CounterpartyId, CustomerScope, FixedClock, ProjectId, TokenId};

use crate::auth::people;
use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;
const ACTIVE: &str = "SELECT COUNT(*) AS value FROM client_sessions WHERE status = 'active'";
const CLOSED: &str =
    "SELECT COUNT(*) AS value FROM client_sessions WHERE status = 'closed' AND closed_at = last_seen_at";

fn at(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

/// The customer of `people`.
fn customer() -> CustomerScope {
    let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(1).unwrap());
    CustomerScope {
        app: AppScope { project_id, application_id, wholesale: false },
        counterparty_id: CounterpartyId::new(1).unwrap(),
        token_id: TokenId::new(3).unwrap(),
    }
}

async fn started(db: &TestDatabase, seconds: i64) -> ClientSession {
    match db.database.start(customer(), None, at(seconds)).await.unwrap() {
        SessionStart::Started(session) => session,
        other => panic!("{other:?}"),
    }
}

async fn beat(db: &TestDatabase, micros: i64) -> Heartbeat {
    let clock = Arc::new(FixedClock::at(START + TimeDelta::microseconds(micros)));
    Heartbeats { sessions: Arc::new(db.database.clone()), clock }.record(customer()).await.unwrap()
}

database_tests! {
    async fn a_session_goes_on_until_it_is_seen_elsewhere(db: TestDatabase) {
        people(&db).await;
        assert_eq!(db.database.current(customer().token_id).await.unwrap(), None);
        let session = started(&db, 0).await;
        assert_eq!(db.database.current(customer().token_id).await.unwrap(), Some(session));
        let next = ClientSession { last_seen_at: at(60), duration: TimeDelta::microseconds(60_000_001), ..session };
        assert!(db.database.continue_session(next, at(0)).await.unwrap());
        assert!(!db.database.continue_session(next, at(0)).await.unwrap());
        assert_eq!(db.database.current(customer().token_id).await.unwrap(), Some(next));

        // An active session is not closed, and there is no second one.
        assert_eq!(db.database.start(customer(), Some(session), at(400)).await.unwrap(), SessionStart::Superseded);
        assert_eq!(db.database.start(customer(), None, at(400)).await.unwrap(), SessionStart::Superseded);
        let SessionStart::Started(second) = db.database.start(customer(), Some(next), at(400)).await.unwrap() else {
            panic!("not started")
        };
        assert_ne!(second.id, session.id);
        assert_eq!((fixtures::number(&db, ACTIVE).await, fixtures::number(&db, CLOSED).await), (1, 1));
        assert!(!db.database.continue_session(next, at(60)).await.unwrap());
    }

    async fn a_session_ends_with_its_token(db: TestDatabase) {
        people(&db).await;
        started(&db, 0).await;
        let owner = TokenOwner::Customer(customer().counterparty_id);
        db.database.revoke(owner, customer().token_id).await.unwrap();
        assert_eq!((fixtures::number(&db, ACTIVE).await, fixtures::number(&db, CLOSED).await), (0, 1));
        assert_eq!(db.database.start(customer(), None, at(1)).await.unwrap(), SessionStart::SignedOut);
        assert_eq!(fixtures::number(&db, ACTIVE).await, 0);
    }

    async fn all_sessions_end_with_all_tokens(db: TestDatabase) {
        people(&db).await;
        started(&db, 0).await;
        db.database.revoke_all(TokenOwner::Customer(CounterpartyId::new(2).unwrap())).await.unwrap();
        assert_eq!(fixtures::number(&db, ACTIVE).await, 1);
        db.database.revoke_all(TokenOwner::Customer(customer().counterparty_id)).await.unwrap();
        assert_eq!((fixtures::number(&db, ACTIVE).await, fixtures::number(&db, CLOSED).await), (0, 1));
    }

    async fn fifty_at_once_count_once(db: TestDatabase) {
        people(&db).await;
        // The first calls race for the session itself, the next ones for the time since then.
        for (round, seconds) in [0_i64, 100].into_iter().enumerate() {
            let db = Arc::new(db.database.clone());
            let beats = (0..50_i64).map(|number| {
                let clock = Arc::new(FixedClock::at(at(seconds) + TimeDelta::milliseconds(7 * number % 50)));
                let heartbeats = Heartbeats { sessions: db.clone(), clock };
                tokio::spawn(async move { heartbeats.record(customer()).await.unwrap().session })
            });
            let mut sessions = Vec::new();
            for beat in beats.collect::<Vec<_>>() {
                sessions.push(beat.await.unwrap());
            }
            assert!(sessions.iter().all(|session| session.id == sessions[0].id));
            let last = db.current(customer().token_id).await.unwrap().unwrap();
            assert_eq!(last.last_seen_at, at(seconds) + TimeDelta::milliseconds(49), "round {round}");
            assert_eq!(last.duration, last.last_seen_at - last.started_at, "round {round}");
        }
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM client_sessions").await, 1);
    }

    async fn heartbeats_add_up_to_the_microsecond(db: TestDatabase) {
        people(&db).await;
        let first = beat(&db, 0).await.session;
        let before = db.statements();
        assert_eq!(beat(&db, 1_500_001).await.session.duration, TimeDelta::microseconds(1_500_001));
        assert!(db.statements() - before <= 4, "a look, begin, one update, commit");
        // Three minutes of five count, and after five another session starts.
        let longer = beat(&db, 301_500_001).await.session;
        assert_eq!((longer.id, longer.duration), (first.id, TimeDelta::microseconds(181_500_001)));
        let renewed = beat(&db, 601_500_002).await.session;
        assert_ne!(renewed.id, first.id);
        assert_eq!((renewed.started_at, renewed.duration), (START + TimeDelta::microseconds(601_500_002), TimeDelta::zero()));
        assert_eq!((fixtures::number(&db, ACTIVE).await, fixtures::number(&db, CLOSED).await), (1, 1));
    }
}
