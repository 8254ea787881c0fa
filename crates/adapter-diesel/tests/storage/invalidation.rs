//! Caches are invalidated by the commit that changes their data.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{TestDatabase, moment, pool_options, settles, stays};
use kontor_adapter_diesel::{Abort, Database, PoolOptions, Topic, database_tests, retry_until};
use kontor_auth::model::{Audience, NewIntrospectionClient, TokenOwner};
use kontor_auth::ports::{IntrospectionClients, TokenRepository};
use kontor_catalog::model::{Brand, BrandDraft};
use kontor_kernel::{ApplicationId, CounterpartyId, Name, ProjectId, RecordRepository, Stamp, StoreError, TokenId};
use kontor_organization::ApplicationError;
use kontor_organization::ports::ApplicationRepository;
use uuid::Uuid;

use crate::auth::people;
use crate::fixtures;

const CLIENT: Uuid = Uuid::from_u128(7);
const AT: chrono::DateTime<chrono::Utc> = chrono::DateTime::UNIX_EPOCH;

/// The same database, opened by another process.
fn elsewhere(db: &TestDatabase) -> Database {
    Database::open(db.url(), PoolOptions { connections: 2, wait: Duration::from_mins(1), ..pool_options() }).unwrap()
}

async fn watched(database: &Database) {
    let until = Instant::now() + Duration::from_secs(20);
    while !database.cache_versions().are_watched() {
        retry_until!(until, "nobody looks");
    }
}

async fn add_brand(database: &Database, project: ProjectId, name: &str) {
    let draft = BrandDraft { name: Name::parse(name).unwrap(), photo: None };
    RecordRepository::<Brand>::insert(database, Stamp::of_system(project, AT), draft).await.unwrap();
}

async fn client(db: &TestDatabase) {
    people(db).await;
    let client = NewIntrospectionClient {
        client_id: CLIENT,
        application_id: ApplicationId::new(1).unwrap(),
        audience: Audience::parse("billing").unwrap(),
        fingerprint: "f".to_owned(),
        created_at: AT,
    };
    IntrospectionClients::insert(&db.database, client).await.unwrap();
}

/// Returns `true` if the customer's token is known.
async fn is_known(database: &Database) -> bool {
    let found = match database.remembered_inquiry(CLIENT, TokenId::new(3).ok()) {
        None => database.client_and_token(CLIENT, TokenId::new(3).ok()).await.unwrap(),
        remembered => remembered,
    };
    found.is_some_and(|found| found.is_active && found.token.is_some())
}

async fn sign_out(database: &Database) {
    let customer = TokenOwner::Customer(CounterpartyId::new(1).unwrap());
    database.revoke(customer, TokenId::new(3).unwrap()).await.unwrap();
}

database_tests! {
    async fn a_commit_moves_its_project_on_and_no_other(db: TestDatabase) {
        let (one, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let versions = db.database.cache_versions();
        let current = |project| Topic::ALL.map(|topic| versions.version(topic, project).unwrap());
        let (before, before_other) = (current(one), current(other));
        add_brand(&db.database, one, "Nord").await;
        assert_ne!(current(one)[0], before[0]);
        assert_eq!((current(one)[1], current(other)), (before[1], before_other));
        let clash = BrandDraft { name: Name::parse("Nord").unwrap(), photo: None };
        let before = current(one);
        RecordRepository::<Brand>::insert(&db.database, Stamp::of_system(one, AT), clash).await.unwrap_err();
        assert_eq!(current(one), before, "nothing was committed");
    }

    async fn another_process_sees_it_within_a_second(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let other = elsewhere(&db);
        assert!(!other.cache_versions().are_watched());
        let watch = other.watch().unwrap();
        watched(&other).await;
        let seen = || other.cache_versions().version(Topic::Storefront, project);
        let mut before = seen();
        for name in ["A", "B", "C"] {
            before = seen();
            add_brand(&db.database, project, name).await;
            // Within the second it has either seen the commit or no longer trusts its cache.
            let until = Instant::now() + Duration::from_secs(1);
            while seen() == before && Instant::now() < until {
                moment().await;
            }
            let trusted = other.cache_versions().are_watched() && seen() == before;
            assert!(!trusted, "{name}");
        }
        // A busy machine may see the last commit later, which must not count as a change below.
        let until = Instant::now() + Duration::from_mins(1);
        while seen() == before {
            retry_until!(until, "the last commit is not seen");
        }
        // The process's own writes do not count as changes, however often it checks.
        watched(&other).await;
        add_brand(&other, project, "D").await;
        let settled = other.cache_versions().version(Topic::Storefront, project);
        let same = async || other.cache_versions().version(Topic::Storefront, project) == settled;
        stays(Duration::from_millis(1_500), "its own write counts as a change", same).await;
        drop(watch);
        let unwatched = async || !other.cache_versions().are_watched();
        settles(Duration::from_millis(1_100), "nobody looks any longer", unwatched).await;
    }

    async fn a_backend_gets_cached_responses_until_the_token_ends(db: TestDatabase) {
        client(&db).await;
        let _watch = db.database.watch().unwrap();
        watched(&db.database).await;
        // A machine that was suspended for a second does not trust its cache at first.
        let mut asked = Vec::new();
        while asked.last() != Some(&0) {
            assert!(asked.len() < 50, "nothing is remembered: {asked:?}");
            assert!(is_known(&db.database).await);
            let before = db.statements();
            assert!(is_known(&db.database).await);
            asked.push(db.statements() - before);
        }
        sign_out(&db.database).await;
        assert!(!is_known(&db.database).await);
    }

    async fn a_token_that_ends_elsewhere_is_worth_nothing_within_a_second(db: TestDatabase) {
        client(&db).await;
        let other = elsewhere(&db);
        let _watch = other.watch().unwrap();
        watched(&other).await;
        assert!(is_known(&other).await);
        sign_out(&db.database).await;
        settles(Duration::from_secs(1), "the token is worth nothing", async || !is_known(&other).await).await;
    }

    async fn a_disabled_client_learns_nothing(db: TestDatabase) {
        client(&db).await;
        let _watch = db.database.watch().unwrap();
        watched(&db.database).await;
        let (application, audience) = (ApplicationId::new(1).unwrap(), Audience::parse("billing").unwrap());
        assert!(is_known(&db.database).await);
        db.database.rotate(application, audience.clone(), "g".to_owned(), AT).await.unwrap();
        assert_eq!(db.database.remembered_inquiry(CLIENT, TokenId::new(3).ok()), None);
        assert!(is_known(&db.database).await);
        let found = db.database.remembered_inquiry(CLIENT, TokenId::new(3).ok()).unwrap();
        assert_eq!(found.fingerprint, "g");
        db.database.disable(application, audience).await.unwrap();
        assert!(!is_known(&db.database).await);
    }

    async fn an_active_application_is_cached(db: TestDatabase) {
        people(&db).await;
        let _watch = db.database.watch().unwrap();
        watched(&db.database).await;
        assert!(db.database.by_token("x").await.unwrap().is_some());
        let before = db.statements();
        assert!(db.database.by_token("x").await.unwrap().is_some());
        assert_eq!(db.statements(), before);
        fixtures::run(&db, "UPDATE applications SET is_active = FALSE;".to_owned()).await;
        assert!(db.database.by_token("x").await.unwrap().is_none());
    }

    async fn a_token_that_was_replaced_names_nothing_from_the_commit_on(db: TestDatabase) {
        people(&db).await;
        let _watch = db.database.watch().unwrap();
        watched(&db.database).await;
        let id = ApplicationId::new(1).unwrap();
        let applications: &dyn ApplicationRepository = &db.database;
        let stamp = Stamp::of_system(applications.by_token("x").await.unwrap().unwrap().project_id, AT);
        let named = async |token: &str| applications.by_token(token).await.unwrap().map(|app| app.application_id);
        assert_eq!(named("x").await, Some(id));
        let replaced = applications.replace_token(stamp, id, "y".to_owned()).await.unwrap();
        assert_eq!((replaced.id, replaced.is_active, replaced.updated_at), (id, true, AT));
        assert_eq!(replaced.token_issued_at, AT);
        assert_eq!((named("x").await, named("y").await), (None, Some(id)));
        assert!(!applications.switch(stamp, id, false).await.unwrap().is_active);
        assert_eq!(named("y").await, None);
        assert!(!applications.replace_token(stamp, id, "z".to_owned()).await.unwrap().is_active, "it stays shut out");
        assert!(applications.switch(stamp, id, true).await.unwrap().is_active);
        assert_eq!((named("y").await, named("z").await), (None, Some(id)));
        let nothing = ApplicationId::new(99).unwrap();
        assert!(matches!(applications.switch(stamp, nothing, true).await, Err(ApplicationError::NotFound)));
        let refused = applications.replace_token(stamp, nothing, "q".to_owned()).await;
        assert!(matches!(refused, Err(ApplicationError::NotFound)));
        let elsewhere = Stamp::of_system(fixtures::project(&db).await, AT);
        let refused = applications.replace_token(elsewhere, id, "q".to_owned()).await;
        assert!(matches!(refused, Err(ApplicationError::NotFound)), "of another project");
        assert_eq!(named("z").await, Some(id));
    }

    async fn a_step_that_forgets_its_note_does_not_pass_a_test(db: TestDatabase) {
        people(&db).await;
        for statement in ["UPDATE applications SET is_active = FALSE", "DELETE FROM access_tokens", "DELETE FROM brands"] {
            let forgetful = db.database.write(move |connection| {
                diesel::RunQueryDsl::execute(diesel::sql_query(statement), connection)?;
                Ok::<_, Abort<StoreError>>(())
            });
            let error = forgetful.await.unwrap_err().to_string();
            assert!(error.contains("does not invalidate it"), "{error}");
        }
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM access_tokens").await, 3);
    }
}
