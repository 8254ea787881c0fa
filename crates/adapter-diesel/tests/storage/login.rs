//! Employees, one-time codes and their customers.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::StaffRegistryError;
use kontor_auth::miniapp::MiniAppProvider;
use kontor_auth::model::{CodeRedemption, Device, Login, NewCode, NewEmployee, NewToken, RedeemOutcome, RoleChoice};
use kontor_auth::ports::{
    ClientSessions, CodeRepository, CustomerAccounts, MatchedPassword, MiniAppTokens, SignIn, StaffRepository,
    TokenRepository,
};
use kontor_kernel::{AppScope, ApplicationId, BranchId, Contact, CounterpartyId, Permission, ProjectId, UserId};

use crate::fixtures::{self, shop};
use crate::staff;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

pub fn owner(project_id: ProjectId, login: &str) -> NewEmployee {
    let branch_id = Some(BranchId::new(1).unwrap());
    NewEmployee { branch_id, ..staff::employee(project_id, login, RoleChoice::Owner) }
}

pub fn token(fingerprint: &str, at: DateTime<Utc>) -> NewToken {
    NewToken {
        fingerprint: fingerprint.to_owned(),
        device: Some(Device::parse("Телефон").unwrap()),
        created_at: at,
        expires_at: at + TimeDelta::days(1),
    }
}

pub fn app(project_id: ProjectId) -> AppScope {
    AppScope { project_id, application_id: ApplicationId::new(1).unwrap(), wholesale: false }
}

pub fn phone() -> Contact {
    Contact::parse("79001234567").unwrap()
}

async fn send(db: &Database, project: ProjectId, fingerprint: &str) -> CounterpartyId {
    let customer = db.find_or_create(project, &phone(), START).await.unwrap();
    let code = NewCode {
        fingerprint: fingerprint.to_owned(),
        attempts: 5,
        created_at: START,
        expires_at: START + TimeDelta::minutes(5),
    };
    db.replace(project, &phone(), code).await.unwrap();
    customer
}

async fn redeem(db: &Database, project_id: ProjectId, fingerprint: &str, seconds: i64) -> RedeemOutcome {
    db.redeem(CodeRedemption {
        project_id,
        application_id: ApplicationId::new(1).unwrap(),
        contact: phone(),
        fingerprint: fingerprint.to_owned(),
        token: token("t", START + TimeDelta::seconds(seconds)),
    })
    .await
    .unwrap()
}

database_tests! {
    async fn an_owner_signs_in_and_may_do_everything(db: TestDatabase) {
        let project = shop(&db).await;
        let user = db.database.insert_employee(owner(project, "Boss")).await.unwrap();
        let known = db.database.credentials(&Login::parse("BOSS").unwrap(), START).await.unwrap().unwrap();
        assert_eq!((known.user_id, known.project_id, known.is_banned), (user, project, false));
        assert_eq!((known.password_hash.as_str(), known.temporary_hash), ("hash", None));
        assert!(db.database.credentials(&Login::parse("bos").unwrap(), START).await.unwrap().is_none());

        let proved = MatchedPassword::Own("hash".to_owned());
        let id = db.database.sign_in(SignIn { user_id: user, proved, token: token("f", START) }).await.unwrap().unwrap();
        let stored = db.database.staff_token(id).await.unwrap().unwrap();
        assert_eq!((stored.user_id, stored.last_used_at, stored.fingerprint.as_str()), (user, Some(START), "f"));
        assert_eq!(stored.permissions, Permission::all().collect());

        let before = db.statements();
        let record = db.database.employee(user).await.unwrap().unwrap();
        assert!(db.statements() - before <= 4, "begin, record, permissions, commit");
        assert_eq!((record.login.as_str(), record.role.name.as_str()), ("boss", "Owner"));
        assert_eq!(record.branch.unwrap().name.as_str(), "Main");
        assert_eq!((record.last_activity_at, record.creator), (Some(START), None));
        let names: BTreeSet<String> = record.permissions.iter().map(|granted| granted.name.clone()).collect();
        assert_eq!(names, Permission::all().map(|permission| permission.to_string()).collect());
        assert_eq!(names.len(), record.permissions.len());
        assert_eq!(record.permissions[0].screen.name.as_str(), "agents");
    }

    async fn an_employee_has_the_permissions_of_the_role_and_a_creator(db: TestDatabase) {
        let project = shop(&db).await;
        let admin = db.database.insert_employee(owner(project, "boss")).await.unwrap();
        fixtures::run(&db, format!(
            "INSERT INTO roles (id, project_id, name, is_owner, created_at, updated_at)
                 VALUES (7, {project}, 'Clerk', FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO role_permissions (project_id, role_id, permission_id)
                 SELECT {project}, 7, id FROM permissions WHERE name = 'view-orders';
             INSERT INTO users (id, project_id, role_id, creator_id, login, email, password_hash, first_name, last_name,
                 is_banned, is_sick, active_seconds, created_at, updated_at)
                 VALUES (7, {project}, 7, {admin}, 'clerk', 'c@x.ru', 'h', 'C', 'K', FALSE, TRUE, 61,
                     '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        let seller = db.database.employee(UserId::new(7).unwrap()).await.unwrap().unwrap();
        assert_eq!(seller.permissions.len(), 1);
        assert_eq!((seller.permissions[0].name.as_str(), seller.permissions[0].screen.name.as_str()), ("view-orders", "orders"));
        let creator = seller.creator.unwrap();
        assert_eq!((creator.id, creator.name.as_str()), (admin, "Анна Ёлкина"));
        assert_eq!((seller.is_sick, seller.active_time.num_seconds(), seller.branch), (true, 61, None));
        assert!(db.database.employee(UserId::new(8).unwrap()).await.unwrap().is_none());
    }

    async fn a_login_is_unique_and_a_refusal_leaves_nothing(db: TestDatabase) {
        let (project, other) = (shop(&db).await, fixtures::project(&db).await);
        db.database.insert_employee(owner(project, "boss")).await.unwrap();
        let taken = db.database.insert_employee(NewEmployee { branch_id: None, ..owner(other, "BOSS") }).await;
        assert!(matches!(taken, Err(StaffRegistryError::LoginTaken)));
        let foreign = db.database.insert_employee(owner(other, "chief")).await;
        assert!(matches!(foreign, Err(StaffRegistryError::UnknownBranch)));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM roles").await, 1);
        db.database.insert_employee(owner(project, "second")).await.unwrap();
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM roles").await, 1);
    }

    async fn racing_calls_agree_on_one_customer(db: TestDatabase) {
        let (project, other) = (shop(&db).await, fixtures::project(&db).await);
        let calls = (0..8).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { database.find_or_create(project, &phone(), START).await.unwrap() })
        });
        let mut found = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            found.push(call.await.unwrap());
        }
        assert!(found.iter().all(|id| *id == found[0]));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM counterparties").await, 1);
        assert_ne!(db.database.find_or_create(other, &phone(), START).await.unwrap(), found[0]);
        let record = fixtures::customer(&db.database, project, found[0]).await;
        assert_eq!((record.kind.id, record.kind.name.as_str()), (1, "Person"));
        assert_eq!((record.phone_1.unwrap().as_str(), record.email, record.manager), ("79001234567", None, None));
    }

    async fn racing_proven_contacts_agree_on_one_customer(db: TestDatabase) {
        let project = shop(&db).await;
        let calls = (0..40).map(|number| {
            let database = db.database.clone();
            let token = token(&format!("t{number}"), START);
            tokio::spawn(async move { database.sign_in_customer(app(project), &phone(), token).await.unwrap() })
        });
        let mut signed = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            signed.push(call.await.unwrap());
        }
        assert!(signed.iter().all(|(customer, _)| *customer == signed[0].0));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM counterparties").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 40);
        assert_eq!(db.database.find_or_create(project, &phone(), START).await.unwrap(), signed[0].0);
        let stored = db.database.customer_token(signed[0].1).await.unwrap().unwrap();
        assert_eq!((stored.counterparty_id, stored.app), (signed[0].0, app(project)));
        let before = db.statements();
        db.database.sign_in_customer(app(project), &phone(), token("again", START)).await.unwrap();
        assert!(db.statements() - before <= 6, "begin, binding, customer, token, session, commit");
    }

    async fn a_proven_contact_adopts_the_customer_of_staff(db: TestDatabase) {
        let project = shop(&db).await;
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) VALUES
                 (5, {project}, FALSE, '79001234567', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (6, {project}, FALSE, '79001234567', '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        let (customer, _) = db.database.sign_in_customer(app(project), &phone(), token("t", START)).await.unwrap();
        assert_eq!(customer.get(), 5);
    }

    async fn the_bot_of_an_application_is_set_replaced_and_removed(db: TestDatabase) {
        shop(&db).await;
        let (application, absent) = (ApplicationId::new(1).unwrap(), ApplicationId::new(9).unwrap());
        let (max, telegram) = (MiniAppProvider::Max, MiniAppProvider::Telegram);
        assert_eq!(db.database.token(application, max).await.unwrap(), None);
        assert!(!db.database.put(absent, max, "sealed".to_owned(), START).await.unwrap());
        for sealed in ["first", "second"] {
            assert!(db.database.put(application, max, sealed.to_owned(), START).await.unwrap());
            assert_eq!(db.database.token(application, max).await.unwrap().as_deref(), Some(sealed));
        }
        assert_eq!(db.database.token(application, telegram).await.unwrap(), None);
        assert!(!db.database.remove(application, telegram).await.unwrap());
        assert!(db.database.remove(application, max).await.unwrap());
        assert!(!db.database.remove(application, max).await.unwrap());
        assert_eq!(db.database.token(application, max).await.unwrap(), None);
    }

    async fn a_customer_recorded_by_staff_is_adopted(db: TestDatabase) {
        let project = shop(&db).await;
        let admin = db.database.insert_employee(owner(project, "boss")).await.unwrap();
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (id, project_id, is_company, manager_id, phone_1, birthday, created_at, updated_at) VALUES
                 (5, {project}, TRUE, {admin}, '79001234567', '1990-02-03', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (6, {project}, FALSE, NULL, '79001234567', NULL, '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        assert_eq!(redeem(&db.database, project, "c", 1).await, RedeemOutcome::NoValidCode);
        let adopted = db.database.find_or_create(project, &phone(), START).await.unwrap();
        assert_eq!(adopted.get(), 5);
        let before = db.statements();
        let record = fixtures::customer(&db.database, project, adopted).await;
        assert_eq!(db.statements() - before, 1);
        assert_eq!((record.kind.id, record.kind.name.as_str()), (2, "Company"));
        assert_eq!(record.manager.unwrap().name(), "Анна Ёлкина");
        assert_eq!(record.birthday.unwrap().to_string(), "1990-02-03");
    }

    async fn a_code_gives_one_token(db: TestDatabase) {
        let project = shop(&db).await;
        assert_eq!(redeem(&db.database, project, "c", 1).await, RedeemOutcome::UnknownContact);
        let customer = send(&db.database, project, "c").await;
        let tries = (0..100).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { redeem(&database, project, "c", 299).await })
        });
        let mut outcomes = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            outcomes.push(attempt.await.unwrap());
        }
        let won: Vec<_> = outcomes.iter().filter_map(|outcome| match outcome {
            RedeemOutcome::SignedIn { counterparty_id, token_id } => Some((*counterparty_id, *token_id)),
            _ => None,
        }).collect();
        assert_eq!((won.len(), won[0].0), (1, customer));
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == RedeemOutcome::NoValidCode).count(), 99);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 1);
        let session = db.database.current(won[0].1).await.unwrap().unwrap();
        let signed_in_at = START + TimeDelta::seconds(299);
        assert_eq!((session.started_at, session.last_seen_at, session.duration), (signed_in_at, signed_in_at, TimeDelta::zero()));
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM client_sessions").await, 1);
        let stored = db.database.customer_token(won[0].1).await.unwrap().unwrap();
        assert_eq!((stored.counterparty_id, stored.app.application_id.get(), stored.fingerprint.as_str()), (customer, 1, "t"));
    }

    async fn wrong_tries_are_counted_even_when_they_race(db: TestDatabase) {
        let project = shop(&db).await;
        send(&db.database, project, "c").await;
        let tries = (0..100).map(|_| {
            let database = Arc::new(db.database.clone());
            tokio::spawn(async move { redeem(&database, project, "wrong", 1).await })
        });
        let mut wrong = 0;
        for attempt in tries.collect::<Vec<_>>() {
            wrong += usize::from(attempt.await.unwrap() == RedeemOutcome::WrongCode);
        }
        assert_eq!(wrong, 5);
        assert_eq!(redeem(&db.database, project, "c", 1).await, RedeemOutcome::NoValidCode);
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 0);
    }

    async fn a_code_expires_and_a_new_one_replaces_it(db: TestDatabase) {
        let project = shop(&db).await;
        send(&db.database, project, "old").await;
        assert_eq!(redeem(&db.database, project, "old", 300).await, RedeemOutcome::NoValidCode);
        assert_eq!(redeem(&db.database, project, "x", 1).await, RedeemOutcome::WrongCode);
        send(&db.database, project, "new").await;
        assert_eq!(redeem(&db.database, project, "old", 1).await, RedeemOutcome::WrongCode);
        assert!(matches!(redeem(&db.database, project, "new", 1).await, RedeemOutcome::SignedIn { .. }));
        assert_eq!(redeem(&db.database, project, "new", 1).await, RedeemOutcome::NoValidCode);
        send(&db.database, project, "again").await;
        assert!(matches!(redeem(&db.database, project, "again", 1).await, RedeemOutcome::SignedIn { .. }));
    }
}
