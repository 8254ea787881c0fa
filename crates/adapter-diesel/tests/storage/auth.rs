//! Tokens and guards.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::model::{TokenOwner, TokenUse};
use kontor_auth::ports::TokenRepository;
use kontor_kernel::{CounterpartyId, Permission, Resource, TokenId, UserId};

use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

/// An owner (1), an employee (2) who may see orders, an application (1) and a customer (1), with a token each: 1, 2 and 3.
pub async fn people(db: &TestDatabase) {
    let project = fixtures::shop(db).await;
    fixtures::run(
        db,
        format!(
            "INSERT INTO roles (id, project_id, name, is_owner, created_at, updated_at) VALUES
                 (1, {project}, 'Owner', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (2, {project}, 'Clerk', FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO permissions (id, screen_id, name, description) VALUES (999, 1, 'view-moon', 'See the moon');
             INSERT INTO role_permissions (project_id, role_id, permission_id)
                 SELECT {project}, 2, id FROM permissions WHERE name IN ('view-orders', 'edit-brands', 'view-moon');
             INSERT INTO users (id, project_id, role_id, login, email, password_hash, first_name, last_name, is_banned,
                 is_sick, active_seconds, created_at, updated_at) VALUES
                 (1, {project}, 1, 'owner', 'o@x.ru', 'h', 'O', 'O', FALSE, FALSE, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (2, {project}, 2, 'clerk', 'c@x.ru', 'h', 'C', 'C', TRUE, FALSE, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO counterparties (id, project_id, is_company, created_at, updated_at)
                 VALUES (1, {project}, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO access_tokens
                 (id, guard, subject_id, project_id, application_id, fingerprint, created_at, expires_at) VALUES
                 (1, 'user', 1, {project}, NULL, 'f1', '2026-01-01 00:00:00', '2026-02-01 00:00:00'),
                 (2, 'user', 2, {project}, NULL, 'f2', '2026-01-01 00:00:00', '2026-02-01 00:00:00'),
                 (3, 'counterparty', 1, {project}, 1, 'f3', '2026-01-01 00:00:00', '2026-02-01 00:00:00');"
        ),
    )
    .await;
}

fn token(id: i64) -> TokenId {
    TokenId::new(id).unwrap()
}

database_tests! {
    async fn a_staff_token_carries_what_the_role_allows(db: TestDatabase) {
        people(&db).await;
        let before = db.statements();
        let owner = db.database.staff_token(token(1)).await.unwrap().unwrap();
        assert_eq!(db.statements() - before, 1);
        assert_eq!((owner.fingerprint.as_str(), owner.user_id.get(), owner.is_banned), ("f1", 1, false));
        assert_eq!(owner.expires_at.to_rfc3339(), "2026-02-01T00:00:00+00:00");
        assert_eq!(owner.permissions, Permission::all().collect());
        let seller = db.database.staff_token(token(2)).await.unwrap().unwrap();
        let allowed = BTreeSet::from([Permission::view(Resource::Orders), Permission::edit(Resource::Brands)]);
        assert_eq!((seller.permissions, seller.is_banned), (allowed, true));
    }

    async fn guards_do_not_share_tokens(db: TestDatabase) {
        people(&db).await;
        assert_eq!(db.database.staff_token(token(3)).await.unwrap(), None);
        assert_eq!(db.database.customer_token(token(1)).await.unwrap(), None);
        let customer = db.database.customer_token(token(3)).await.unwrap().unwrap();
        assert_eq!((customer.counterparty_id.get(), customer.app.application_id.get()), (1, 1));
        assert_eq!(customer.fingerprint, "f3");
        assert_eq!(db.database.customer_token(token(4)).await.unwrap(), None);
    }

    async fn uses_are_stored_together_and_count_as_active_time(db: TestDatabase) {
        people(&db).await;
        let used = |id: i64, first: i64, last: i64| {
            let at = |seconds| START + TimeDelta::seconds(seconds);
            TokenUse { token: token(id), first: at(first), last: at(last) }
        };
        let last_used = async |id: i64| db.database.staff_token(token(id)).await.unwrap().unwrap().last_used_at.unwrap();
        let before = db.statements();
        db.database.record_uses(vec![used(1, 0, 0), used(2, 5, 7), used(3, 1, 2), used(404, 1, 2)]).await.unwrap();
        assert!(db.statements() - before <= 7, "begin, locks, a look, one update per table, commit");
        assert_eq!((last_used(1).await, last_used(2).await), (START, START + TimeDelta::seconds(7)));
        let customer = db.database.customer_token(token(3)).await.unwrap().unwrap();
        assert_eq!(customer.last_used_at, Some(START + TimeDelta::seconds(2)));

        for (first, last, expected) in [(59, 59, 0), (90, 91, 91), (1000, 1004, 1004)] {
            db.database.record_uses(vec![used(1, first, last)]).await.unwrap();
            assert_eq!(last_used(1).await, START + TimeDelta::seconds(expected));
        }
        let active = "SELECT active_seconds AS value FROM users WHERE id = 1";
        assert_eq!(fixtures::number(&db, active).await, 91 + 4);
        assert_eq!(fixtures::number(&db, "SELECT active_seconds AS value FROM users WHERE id = 2").await, 2);
        let tokens = (1..=1200).map(|id| used(id, 5000, 5000)).collect();
        db.database.record_uses(tokens).await.unwrap();
        assert_eq!(last_used(2).await, START + TimeDelta::seconds(5000));
    }

    async fn tokens_end_one_by_one_or_all_at_once(db: TestDatabase) {
        people(&db).await;
        let (owner, customer) = (TokenOwner::Staff(UserId::new(1).unwrap()), TokenOwner::Customer(CounterpartyId::new(1).unwrap()));
        db.database.revoke(customer, token(1)).await.unwrap();
        db.database.revoke_all(customer).await.unwrap();
        assert!(db.database.customer_token(token(3)).await.unwrap().is_none());
        assert!(db.database.staff_token(token(1)).await.unwrap().is_some());
        db.database.revoke(owner, token(2)).await.unwrap();
        assert!(db.database.staff_token(token(2)).await.unwrap().is_some());
        db.database.revoke(owner, token(1)).await.unwrap();
        db.database.revoke(owner, token(1)).await.unwrap();
        assert!(db.database.staff_token(token(1)).await.unwrap().is_none());
    }
}
