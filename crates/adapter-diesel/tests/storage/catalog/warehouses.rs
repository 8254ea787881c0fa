//! Warehouses and the applications that sell from them.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::{NomenclatureError, NomenclatureRefusal, WarehouseError, WarehouseReference, WarehouseRefusal};
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

fn draft(branch_id: BranchId, application_ids: Option<Vec<ApplicationId>>) -> WarehouseDraft {
    WarehouseDraft {
        name: name("Склад"), address: Some(Line::parse("Тверь").unwrap()), branch_id, application_ids
    }
}

async fn insert(db: &TestDatabase, project: ProjectId, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError> {
    WarehouseRepository::insert(&db.database, Stamp::of_system(project, NOON), draft).await
}

fn titles(warehouse: &Warehouse) -> Vec<&str> {
    warehouse.applications.iter().map(|application| application.name.as_str()).collect()
}

database_tests! {
    async fn without_a_list_it_serves_every_application_of_its_branch(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (here, there) = (branch(&db, project).await, branch(&db, project).await);
        for (branch, title) in [(here, "A"), (there, "B"), (here, "C")] {
            application(&db, project, branch, title).await;
        }
        let stored = insert(&db, project, draft(here, None)).await.unwrap();
        assert_eq!(titles(&stored), ["A", "C"]);
        assert_eq!((stored.name.as_str(), stored.address.as_deref()), ("Склад", Some("Тверь")));
        assert_eq!(WarehouseRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
        let none = insert(&db, project, draft(here, Some(Vec::new()))).await.unwrap();
        assert!(none.applications.is_empty());
    }

    async fn every_foreign_reference_is_named(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let (here, foreign) = (branch(&db, mine).await, branch(&db, other).await);
        let (own, alien) = (application(&db, mine, here, "A").await, application(&db, other, foreign, "B").await);
        let absent = ApplicationId::new(999).unwrap();
        let refused = insert(&db, mine, draft(foreign, Some(vec![alien, own, absent]))).await.unwrap_err();
        let expected = [WarehouseReference::Branch, WarehouseReference::Application(0), WarehouseReference::Application(2)];
        assert!(matches!(refused, WarehouseError::Refused(WarehouseRefusal::UnknownReferences(all)) if all == expected));
    }

    async fn a_change_touches_the_named_fields_alone(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let here = branch(&db, project).await;
        let (a, b) = (application(&db, project, here, "A").await, application(&db, project, here, "B").await);
        let stored = insert(&db, project, draft(here, Some(vec![b, a, b]))).await.unwrap();
        let change = WarehouseChange { address: Edit::Set(None), ..WarehouseChange::default() };
        let moved = WarehouseRepository::update(&db.database, Stamp::of_system(project, NOON), stored.id, change).await.unwrap();
        assert!(moved.version > stored.version);
        assert_eq!(moved, Warehouse { address: None, version: moved.version, ..stored.clone() });
        let change = WarehouseChange {
            name: Edit::Set(name("Other")), application_ids: Edit::Set(vec![b]), ..WarehouseChange::default()
        };
        let narrowed = WarehouseRepository::update(&db.database, Stamp::of_system(project, NOON), stored.id, change).await.unwrap();
        assert_eq!((narrowed.name.as_str(), titles(&narrowed)), ("Other", vec!["B"]));
        let other = fixtures::project(&db).await;
        let refused =
            WarehouseRepository::update(&db.database, Stamp::of_system(other, NOON), stored.id, WarehouseChange::default()).await;
        assert!(matches!(refused, Err(WarehouseError::NotFound)));
    }

    async fn stock_of_a_deleted_warehouse_does_not_count(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let tea = item(&db, project, goods("Tea")).await;
        let place = stock(&db, project, tea.id, 0).await.warehouse.id;
        let service = || Card { kind: NomenclatureKind::Service, ..tea.card.clone() };
        let replace = |seen: Nomenclature, card| NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), seen, card);
        let refused = replace(tea.clone(), service()).await;
        assert!(matches!(refused, Err(NomenclatureError::Refused(NomenclatureRefusal::Stocked))));
        WarehouseRepository::delete(&db.database, Stamp::of_system(project, NOON), place).await.unwrap();
        let changed = replace(tea.clone(), service()).await.unwrap();
        assert_eq!(changed.card.kind, NomenclatureKind::Service);
    }
}
