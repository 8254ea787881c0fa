//! Temporary passwords and their requests.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{Login, PasswordRecipient, PasswordRequest, RoleChoice, TemporaryPassword};
use kontor_auth::ports::{MatchedPassword, PasswordRequests, StaffRepository, TokenRepository};
use kontor_kernel::{Email, UserId};

use crate::fixtures;
use crate::staff::{START, employee, sign_in, sign_in_by};

async fn lease_due(db: &Database, at: DateTime<Utc>) -> Option<PasswordRequest> {
    db.lease("me", at, at + TimeDelta::seconds(30)).await.unwrap()
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

fn after(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

async fn admin(db: &TestDatabase) -> UserId {
    let project = fixtures::project(db).await;
    db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap()
}

/// Stores a temporary password that is sent to this address. Returns `false` if the employee has another one.
async fn store_for(db: &TestDatabase, user_id: UserId, email: &str, hash: &str) -> bool {
    let recipient = PasswordRecipient { user_id, email: Email::parse(email).unwrap() };
    let hash = hash.to_owned();
    db.database.store(TemporaryPassword { recipient, hash, created_at: START, expires_at: after(3600) }).await.unwrap()
}

async fn store(db: &TestDatabase, user_id: UserId, hash: &str) -> bool {
    store_for(db, user_id, "boss@x.ru", hash).await
}

async fn tokens(db: &TestDatabase) -> i64 {
    fixtures::number(db, "SELECT COUNT(*) AS value FROM access_tokens").await
}

async fn credentials(db: &TestDatabase, at: DateTime<Utc>) -> (String, Option<String>) {
    let known = db.database.credentials(&login("boss"), at).await.unwrap().unwrap();
    (known.password_hash, known.temporary_hash)
}

database_tests! {
    async fn a_request_is_leased_once_and_tried_again_when_it_is_given_back_or_its_lease_runs_out(db: TestDatabase) {
        assert_eq!(lease_due(&db.database, START).await, None);
        db.database.enqueue(&login("anna"), START).await.unwrap();
        let racers = (0..8).map(|number| {
            let store = Arc::new(db.database.clone());
            let owner = format!("worker {number}");
            tokio::spawn(async move { store.lease(&owner, after(1), after(31)).await.unwrap() })
        });
        let mut leased = Vec::new();
        for racer in racers.collect::<Vec<_>>() {
            leased.extend(racer.await.unwrap());
        }
        assert_eq!(leased.len(), 1);
        assert_eq!((leased[0].login.as_str(), leased[0].requested_at, leased[0].attempts), ("anna", START, 1));
        assert_eq!(lease_due(&db.database, after(30)).await, None);
        let second = lease_due(&db.database, after(31)).await.unwrap();
        assert_eq!(second.attempts, 2);
        db.database.postpone(&leased[0], after(32)).await.unwrap();
        assert_eq!(lease_due(&db.database, after(33)).await, None, "who lost the lease gives nothing back");
        db.database.postpone(&second, after(91)).await.unwrap();
        assert_eq!(lease_due(&db.database, after(90)).await, None);
        let third = lease_due(&db.database, after(91)).await.unwrap();
        assert_eq!(third.attempts, 3);

        // Requested again in the meantime: the first result does not complete the second request.
        db.database.enqueue(&login("anna"), after(92)).await.unwrap();
        db.database.forget(&third).await.unwrap();
        db.database.postpone(&third, after(900)).await.unwrap();
        let again = lease_due(&db.database, after(92)).await.unwrap();
        assert_eq!((again.attempts, again.requested_at), (1, after(92)));
        db.database.forget(&again).await.unwrap();
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM password_requests").await, 0);
    }

    async fn a_request_that_cannot_be_read_is_parked_and_the_others_go_on(db: TestDatabase) {
        db.database.enqueue(&login("first"), START).await.unwrap();
        db.database.enqueue(&login("second"), after(1)).await.unwrap();
        fixtures::run(&db, "UPDATE password_requests SET attempts = -7 WHERE login = 'first'".to_owned()).await;
        assert_eq!(lease_due(&db.database, after(2)).await.unwrap().login.as_str(), "second");
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.len(), 1);
        assert_eq!((parked[0].table, parked[0].id.as_str()), ("password_requests", "first"));
        assert_eq!(lease_due(&db.database, after(9)).await, None);
        db.database.enqueue(&login("first"), after(10)).await.unwrap();
        assert_eq!(lease_due(&db.database, after(10)).await.unwrap().login.as_str(), "first", "asked for anew");
    }

    async fn only_an_employee_who_may_come_in_gets_mail(db: TestDatabase) {
        let user = admin(&db).await;
        let found = db.database.recipient(&login("BOSS")).await.unwrap().unwrap();
        assert_eq!((found.user_id, found.email.as_str()), (user, "boss@x.ru"));
        assert_eq!(db.database.recipient(&login("nobody")).await.unwrap(), None);
        for change in ["is_banned = TRUE", "is_banned = FALSE, kind = 'agent'"] {
            fixtures::run(&db, format!("UPDATE users SET {change}")).await;
            assert_eq!(db.database.recipient(&login("boss")).await.unwrap(), None);
        }
        assert!(db.database.credentials(&login("boss"), START).await.unwrap().is_none(), "an agent has no password");
    }

    async fn a_temporary_password_is_valid_beside_the_old_one_until_it_is_used(db: TestDatabase) {
        let user = admin(&db).await;
        store(&db, user, "first").await;
        store(&db, user, "second").await;
        let own = || "hash".to_owned();
        assert_eq!(credentials(&db, after(3599)).await, (own(), Some("second".to_owned())));
        assert_eq!(credentials(&db, after(3600)).await, (own(), None));
        assert!(sign_in(&db.database, user, None).await.is_some());
        assert_eq!(credentials(&db, START).await, (own(), Some("second".to_owned())));
        assert_eq!(sign_in(&db.database, user, Some("first")).await, None, "it was replaced");
        assert_eq!(fixtures::number(&db, "SELECT COUNT(*) AS value FROM access_tokens").await, 1);
        assert!(sign_in(&db.database, user, Some("second")).await.is_some());
        assert_eq!(credentials(&db, START).await, ("second".to_owned(), None));
    }

    async fn racing_sign_ins_adopt_it_once(db: TestDatabase) {
        let user = admin(&db).await;
        store(&db, user, "temporary").await;
        let racers = (0..8).map(|_| {
            let store = db.database.clone();
            tokio::spawn(async move { sign_in(&store, user, Some("temporary")).await })
        });
        for racer in racers.collect::<Vec<_>>() {
            assert!(racer.await.unwrap().is_some());
        }
        assert_eq!(credentials(&db, START).await, ("temporary".to_owned(), None));
        assert_eq!(tokens(&db).await, 8, "who came second with it ended nobody's token");
    }

    async fn taking_it_on_ends_every_token_the_employee_had(db: TestDatabase) {
        let user = admin(&db).await;
        let project = db.database.employee(user).await.unwrap().unwrap().project_id;
        let anna = db.database.insert_employee(employee(project, "anna", RoleChoice::Owner)).await.unwrap();
        let before = [sign_in(&db.database, user, None).await.unwrap(), sign_in(&db.database, user, None).await.unwrap()];
        let annas = sign_in(&db.database, anna, None).await.unwrap();
        // A customer may have the same id.
        fixtures::run(&db, format!(
            "INSERT INTO access_tokens (guard, subject_id, project_id, fingerprint, created_at, expires_at) VALUES \
             ('counterparty', {user}, {project}, 'f', '2026-01-01 00:00:00', '2100-01-01 00:00:00')"
        )).await;
        store(&db, user, "temporary").await;
        assert_eq!(tokens(&db).await, 4, "nothing ends as long as it is not used");
        let own = sign_in(&db.database, user, Some("temporary")).await.unwrap();
        for ended in before {
            assert!(db.database.staff_token(ended).await.unwrap().is_none());
        }
        for kept in [own, annas] {
            assert!(db.database.staff_token(kept).await.unwrap().is_some());
        }
        assert_eq!(tokens(&db).await, 3);
        let again = sign_in_by(&db.database, user, MatchedPassword::Own("temporary".to_owned())).await;
        assert!(again.is_some() && db.database.staff_token(own).await.unwrap().is_some(), "an ordinary one ends nothing");
    }

    async fn a_password_that_was_replaced_meanwhile_is_refused(db: TestDatabase) {
        let user = admin(&db).await;
        store(&db, user, "temporary").await;
        // Both have been compared when the temporary one is adopted.
        sign_in(&db.database, user, Some("temporary")).await.unwrap();
        assert_eq!(sign_in(&db.database, user, None).await, None);
        assert_eq!(tokens(&db).await, 1);
    }

    async fn no_token_by_the_former_password_outlives_a_race_with_the_new_one(db: TestDatabase) {
        let user = admin(&db).await;
        let mut own = "hash".to_owned();
        for round in 0..12 {
            let next = format!("temporary-{round}");
            store(&db, user, &next).await;
            let mut racers = Vec::new();
            for number in 0..7 {
                let proved = if number == 3 {
                    MatchedPassword::Temporary(next.clone())
                } else {
                    MatchedPassword::Own(own.clone())
                };
                let store = db.database.clone();
                racers.push(tokio::spawn(async move { sign_in_by(&store, user, proved).await }));
            }
            let mut signed = Vec::new();
            for racer in racers {
                signed.push(racer.await.unwrap());
            }
            let taken_on = signed[3].unwrap();
            assert!(db.database.staff_token(taken_on).await.unwrap().is_some());
            assert_eq!(tokens(&db).await, 1, "round {round}");
            own = next;
        }
    }

    async fn none_is_stored_for_a_former_address(db: TestDatabase) {
        let user = admin(&db).await;
        assert!(store_for(&db, user, "boss@x.ru", "first").await);
        fixtures::run(&db, "UPDATE users SET email = 'kern@x.ru', version = version + 1".to_owned()).await;
        assert!(!store_for(&db, user, "boss@x.ru", "sent too late").await);
        assert_eq!(credentials(&db, START).await, ("hash".to_owned(), Some("first".to_owned())));
        assert!(store_for(&db, user, "kern@x.ru", "second").await);
        assert_eq!(credentials(&db, START).await, ("hash".to_owned(), Some("second".to_owned())));
    }

    async fn a_ban_takes_it_away(db: TestDatabase) {
        let user = admin(&db).await;
        let project = db.database.employee(user).await.unwrap().unwrap().project_id;
        db.database.insert_employee(employee(project, "second", RoleChoice::Owner)).await.unwrap();
        store(&db, user, "temporary").await;
        db.database.ban(user, START).await.unwrap();
        assert_eq!(sign_in(&db.database, user, Some("temporary")).await, None);
        assert!(!store(&db, user, "sent too late").await);
        db.database.unban(user, START).await.unwrap();
        assert_eq!(sign_in(&db.database, user, Some("temporary")).await, None);
        assert_eq!(credentials(&db, START).await, ("hash".to_owned(), None));
    }
}
