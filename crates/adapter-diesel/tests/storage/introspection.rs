//! Introspection clients and tokens.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::IntrospectionRegistryError;
use kontor_auth::model::{Audience, NewIntrospectionClient, StoredIntrospection};
use kontor_auth::ports::IntrospectionClients;
use kontor_kernel::{ApplicationId, TokenId};
use uuid::Uuid;

use crate::auth::people;
use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn client(number: u128, application: i64, audience: &str) -> NewIntrospectionClient {
    NewIntrospectionClient {
        client_id: Uuid::from_u128(number),
        application_id: ApplicationId::new(application).unwrap(),
        audience: Audience::parse(audience).unwrap(),
        fingerprint: format!("f{number}"),
        created_at: START,
    }
}

async fn client_and_token(db: &TestDatabase, client: u128, token: i64) -> Option<StoredIntrospection> {
    db.database.client_and_token(Uuid::from_u128(client), TokenId::new(token).ok()).await.unwrap()
}

database_tests! {
    async fn a_token_of_the_application_is_found_in_one_statement(db: TestDatabase) {
        people(&db).await;
        db.database.insert(client(7, 1, "billing")).await.unwrap();
        let before = db.statements();
        let found = client_and_token(&db, 7, 3).await.unwrap();
        assert_eq!(db.statements() - before, 1);
        assert_eq!((found.fingerprint.as_str(), found.is_active, found.audience.as_str()), ("f7", true, "billing"));
        assert_eq!((found.application_id.get(), found.application_name.as_str()), (1, "Shop"));
        let token = found.token.unwrap();
        assert_eq!((token.fingerprint.as_str(), token.principal.get_version_num()), ("f3", 4));
        assert_eq!(client_and_token(&db, 7, 3).await.unwrap().token.unwrap().principal, token.principal);

        // An employee's token, an unknown one and none at all are not found here.
        for other in [1, 404, 0] {
            assert_eq!(client_and_token(&db, 7, other).await.unwrap().token, None, "{other}");
        }
        assert_eq!(client_and_token(&db, 8, 3).await, None);
    }

    async fn a_token_of_another_application_is_not_found(db: TestDatabase) {
        people(&db).await;
        fixtures::run(&db, "INSERT INTO applications
            (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at)
            VALUES (2, 1, 1, 'App', 'y', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');".to_owned()).await;
        db.database.insert(client(7, 2, "billing")).await.unwrap();
        let found = client_and_token(&db, 7, 3).await.unwrap();
        assert_eq!((found.application_name.as_str(), found.token), ("App", None));
    }

    async fn a_client_is_issued_once_rotated_and_disabled(db: TestDatabase) {
        people(&db).await;
        db.database.insert(client(7, 1, "billing")).await.unwrap();
        let again = db.database.insert(client(8, 1, "billing")).await;
        assert!(matches!(again, Err(IntrospectionRegistryError::AlreadyIssued)));
        let unknown = db.database.insert(client(8, 404, "billing")).await;
        assert!(matches!(unknown, Err(IntrospectionRegistryError::UnknownApplication)));
        db.database.insert(client(8, 1, "Billing")).await.unwrap();

        let (seven, application) = (Some(Uuid::from_u128(7)), ApplicationId::new(1).unwrap());
        let audience = |text: &str| Audience::parse(text).unwrap();
        assert_eq!(db.database.disable(application, audience("billing")).await.unwrap(), seven);
        assert!(!client_and_token(&db, 7, 3).await.unwrap().is_active);
        let rotated = db.database.rotate(application, audience("billing"), "new".to_owned(), START).await.unwrap();
        assert_eq!(rotated, seven);
        let rotated = client_and_token(&db, 7, 3).await.unwrap();
        assert_eq!((rotated.fingerprint.as_str(), rotated.is_active), ("new", true));
        assert_eq!(client_and_token(&db, 8, 3).await.unwrap().fingerprint, "f8");
        let other = db.database.rotate(application, audience("other"), "new".to_owned(), START).await.unwrap();
        assert_eq!(other, None);
        assert_eq!(db.database.disable(application, audience("other")).await.unwrap(), None);

        fixtures::run(&db, "UPDATE applications SET is_active = FALSE WHERE id = 1;".to_owned()).await;
        assert!(!client_and_token(&db, 7, 3).await.unwrap().is_active);
    }

    async fn every_customer_has_a_unique_handle(db: TestDatabase) {
        people(&db).await;
        let mut handles = BTreeSet::new();
        for id in 101..=120 {
            fixtures::run(&db, format!(
                "INSERT INTO counterparties (id, project_id, is_company, created_at, updated_at)
                    VALUES ({id}, 1, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
                 INSERT INTO access_tokens
                    (id, guard, subject_id, project_id, application_id, fingerprint, created_at, expires_at)
                    VALUES ({id}, 'counterparty', {id}, 1, 1, 'f', '2026-01-01 00:00:00', '2026-02-01 00:00:00');"
            )).await;
        }
        db.database.insert(client(7, 1, "billing")).await.unwrap();
        for id in 101..=120 {
            let handle = client_and_token(&db, 7, id).await.unwrap().token.unwrap().principal;
            assert_eq!((handle.get_version_num(), handle.get_variant()), (4, uuid::Variant::RFC4122));
            handles.insert(handle);
        }
        assert_eq!(handles.len(), 20);
    }
}
