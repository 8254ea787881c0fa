//! Payment types and their changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::DateTime;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::history::{FieldChange, Histories as _};
use kontor_kernel::{
    ApplicationId, Edit, Line, Name, PaymentTypeId, PhotoUrl, ProjectId, ProjectScoped, RecordError, RecordRepository,
    Resource, Stamp,
};
use kontor_organization::model::{PaymentType, PaymentTypeChange, PaymentTypeDraft};
use kontor_organization::ports::CheckoutOptionRepository;

use crate::fixtures;

fn at(project: ProjectId) -> Stamp {
    Stamp::of_system(project, DateTime::UNIX_EPOCH)
}

fn draft(name: &str) -> PaymentTypeDraft {
    PaymentTypeDraft { name: Name::parse(name).unwrap(), description: None, photo: None, is_online: false }
}

/// An application of a project, in a branch of its own.
async fn application(db: &TestDatabase, project: ProjectId, id: i64) -> ApplicationId {
    let times = "'2026-01-01 00:00:00', '2026-01-01 00:00:00'";
    fixtures::run(
        db,
        format!(
        "INSERT INTO branches (id, project_id, name, created_at, updated_at) VALUES ({id}, {project}, 'Main', {times});
         INSERT INTO applications (id, project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at,
             updated_at) VALUES ({id}, {project}, {id}, 'Shop', 'token-{id}', TRUE, FALSE, {times});"
    ),
    )
    .await;
    ApplicationId::new(id).unwrap()
}

database_tests! {
    async fn a_payment_type_is_kept_with_its_history(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let kinds: &dyn RecordRepository<PaymentType> = &db.database;
        let description = Line::parse("Visa, МИР").ok();
        let photo = PhotoUrl::parse("https://x.ru/card.png").ok();
        let new = PaymentTypeDraft { description: description.clone(), photo, is_online: true, ..draft("Card") };
        let card = kinds.insert(at(mine), new).await.unwrap();
        assert_eq!(card.description, description.map(String::from));
        assert_eq!((card.photo.as_deref(), card.is_online), (Some("https://x.ru/card.png"), true));
        assert_eq!(kinds.find(card.id).await.unwrap(), Some(ProjectScoped::new(mine, card.clone())));
        assert_eq!(kinds.list(mine).await.unwrap(), std::slice::from_ref(&card));
        assert_eq!(kinds.list(other).await.unwrap(), []);

        let change = PaymentTypeChange {
            name: Edit::Set(Name::parse("Cash").unwrap()),
            description: Edit::Set(None),
            is_online: Edit::Set(false),
            ..PaymentTypeChange::default()
        };
        assert!(matches!(kinds.update(at(other), card.id, change.clone()).await, Err(RecordError::NotFound)));
        let cash = kinds.update(at(mine), card.id, change).await.unwrap();
        let expected = PaymentType {
            name: Name::parse("Cash").unwrap(), description: None, is_online: false, ..card.clone()
        };
        assert_eq!(cash, expected);
        let version = "SELECT version AS value FROM payment_types";
        assert_eq!(fixtures::number(&db, version).await, 2);
        let entries = "SELECT COUNT(*) AS value FROM histories WHERE resource = 'payment_types'";
        assert_eq!(fixtures::number(&db, entries).await, 2);
    }

    async fn choices_belong_to_the_project_of_the_application(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let shop = application(&db, mine, 1).await;
        let kinds: &dyn RecordRepository<PaymentType> = &db.database;
        let cash = kinds.insert(at(mine), draft("Cash")).await.unwrap();
        kinds.insert(at(other), draft("Far")).await.unwrap();
        let options: &dyn CheckoutOptionRepository = &db.database;
        let found = options.scoped_payment_choices(shop).await.unwrap().unwrap();
        assert!(found.clone().within(other).is_none());
        let ids: Vec<PaymentTypeId> =
            found.within(mine).unwrap().into_iter().map(|choice| choice.payment_type.id).collect();
        assert_eq!(ids, [cash.id]);
        assert!(options.scoped_payment_choices(ApplicationId::new(99).unwrap()).await.unwrap().is_none());

        let chosen = || BTreeSet::from([cash.id]);
        let refused = options.choose_payment_types(at(other), shop, chosen()).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
        for chosen in [chosen(), chosen(), BTreeSet::new()] {
            options.choose_payment_types(at(mine), shop, chosen).await.unwrap();
        }
        let history = db.database.all(mine, Resource::Applications.name(), shop.get()).await.unwrap();
        let changes = history.into_iter().map(|entry| entry.changes).collect::<Vec<_>>().concat();
        let (field, listed) = ("payment_type_ids".to_owned(), Some(cash.id.to_string()));
        let limited = FieldChange { field: field.clone(), old: None, new: listed.clone() };
        assert_eq!(changes, [FieldChange { field, old: listed, new: None }, limited], "newest first");
    }

    async fn of_racing_choices_one_is_kept_whole(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let shop = application(&db, project, 1).await;
        let kinds: &dyn RecordRepository<PaymentType> = &db.database;
        let mut ids = Vec::new();
        for name in ["A", "B", "C", "D"] {
            ids.push(kinds.insert(at(project), draft(name)).await.unwrap().id);
        }
        let sets: Vec<BTreeSet<PaymentTypeId>> = vec![[ids[0], ids[1]].into(), [ids[2], ids[3]].into()];
        let store = Arc::new(db.database.clone());
        let racers = sets.iter().cycle().take(8).cloned().map(|chosen| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.choose_payment_types(at(project), shop, chosen).await })
        });
        for racer in racers.collect::<Vec<_>>() {
            racer.await.unwrap().unwrap();
        }
        let left = db.database.payment_choices(shop).await.unwrap().unwrap();
        let left: BTreeSet<PaymentTypeId> =
            left.into_iter().filter(|choice| choice.is_taken).map(|choice| choice.payment_type.id).collect();
        assert!(sets.contains(&left), "{left:?}");
    }
}
