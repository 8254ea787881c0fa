//! Services over mocked ports: who may do what, to whose records, and what happens when a port refuses.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod decision;
mod jobs;

use std::sync::Arc;

use chrono::DateTime;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::*;
use kontor_kernel::history::MockHistories;
use kontor_kernel::testing::staff_with;
use kontor_kernel::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::at(DateTime::UNIX_EPOCH))
}

fn project(number: i64) -> ProjectId {
    ProjectId::new(number).unwrap()
}

fn category(project_number: i64) -> Category {
    Category {
        id: CategoryId::new(7).unwrap(),
        project_id: project(project_number),
        name: name("Mugs"),
        photo: None,
        parent: None,
        code: CategoryCode::new(1).unwrap(),
        description: None,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn categories(port: MockCategoryRepository) -> CategoryService {
    CategoryService::new(Arc::new(port), Arc::new(MockHistories::new()), clock())
}

fn warehouse(project_number: i64) -> Warehouse {
    Warehouse {
        id: WarehouseId::new(7).unwrap(),
        project_id: project(project_number),
        name: name("Main"),
        address: None,
        branch: Reference { id: BranchId::new(1).unwrap(), name: name("Branch") },
        applications: Vec::new(),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn warehouses(port: MockWarehouseRepository) -> WarehouseService {
    WarehouseService::new(Arc::new(port), Arc::new(MockHistories::new()), clock())
}

fn stock(project_number: i64) -> Inventory {
    Inventory {
        id: InventoryId::new(7).unwrap(),
        project_id: project(project_number),
        warehouse: Reference { id: WarehouseId::new(1).unwrap(), name: name("Main") },
        nomenclature: StockedItem { id: NomenclatureId::new(1).unwrap(), name: name("Mug"), article: None },
        quantity: StockLevel::new(5).unwrap(),
        reserved: StockLevel::new(2).unwrap(),
        price: None,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn inventories(port: MockInventoryRepository) -> InventoryService {
    InventoryService::new(Arc::new(port), clock())
}

#[tokio::test]
async fn a_category_is_changed_by_staff_of_its_project_and_stamped() {
    let editor = staff_with([Permission::edit(Resource::Categories)]);
    let id = CategoryId::new(7).unwrap();
    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(Some(category(1))));
    port.expect_update()
        .withf(|stamp, _, _| stamp.project_id == project(1) && stamp.at == DateTime::UNIX_EPOCH)
        .times(1)
        .returning(|_, _, _| Err(CategoryError::Cycle));
    let refused = categories(port).update(&editor, id, CategoryChange::default()).await;
    assert!(matches!(refused, Err(CategoryError::Cycle)), "the refusal of the storage is told");

    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(Some(category(2))));
    let refused = categories(port).update(&editor, id, CategoryChange::default()).await;
    assert!(matches!(refused, Err(CategoryError::Denied(AccessDenied::ForeignProject))));

    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(None));
    let refused = categories(port).update(&editor, id, CategoryChange::default()).await;
    assert!(matches!(refused, Err(CategoryError::NotFound)));
}

#[tokio::test]
async fn no_category_is_asked_for_without_the_permission() {
    let creator = staff_with([Permission::create(Resource::Categories)]);
    let service = categories(MockCategoryRepository::new());
    let id = CategoryId::new(7).unwrap();
    assert!(matches!(service.list(&creator).await, Err(CategoryError::Denied(_))));
    assert!(matches!(service.update(&creator, id, CategoryChange::default()).await, Err(CategoryError::Denied(_))));
    let page = PageRequest::new(1, 10, 100).unwrap();
    assert!(matches!(service.history(&creator, id, page).await, Err(CategoryError::Denied(_))));
}

#[tokio::test]
async fn a_warehouse_is_deleted_by_staff_of_its_project_alone() {
    let editor = staff_with([Permission::edit(Resource::Warehouses)]);
    let id = WarehouseId::new(7).unwrap();
    for (owner, reached) in [(1, 1), (2, 0)] {
        let mut port = MockWarehouseRepository::new();
        port.expect_find().returning(move |_| Ok(Some(warehouse(owner))));
        port.expect_delete().times(reached).returning(|_, _| Err(WarehouseError::Stocked));
        let refused = warehouses(port).delete(&editor, id).await.unwrap_err();
        let is_foreign = matches!(refused, WarehouseError::Denied(AccessDenied::ForeignProject));
        assert_eq!((is_foreign, matches!(refused, WarehouseError::Stocked)), (owner == 2, owner == 1));
    }
    let viewer = staff_with([Permission::view(Resource::Warehouses)]);
    let refused = warehouses(MockWarehouseRepository::new()).delete(&viewer, id).await;
    assert!(matches!(refused, Err(WarehouseError::Denied(AccessDenied::MissingPermission(_)))));
}

#[tokio::test]
async fn a_new_warehouse_belongs_to_the_project_of_who_makes_it() {
    let creator = staff_with([Permission::create(Resource::Warehouses)]);
    let mut port = MockWarehouseRepository::new();
    port.expect_insert().withf(|stamp, _| stamp.project_id == project(1)).returning(|_, _| Ok(warehouse(1)));
    let branch_id = BranchId::new(1).unwrap();
    let draft = WarehouseDraft { name: name("Main"), address: None, branch_id, application_ids: None };
    assert_eq!(warehouses(port).create(&creator, draft).await.unwrap(), warehouse(1));
}

#[tokio::test]
async fn stock_is_set_by_staff_of_its_project_alone() {
    let editor = staff_with([Permission::edit(Resource::Inventories)]);
    let id = InventoryId::new(7).unwrap();
    let reserved = StockLevel::new(2).unwrap();
    for (owner, reached) in [(1, 1), (2, 0)] {
        let mut port = MockInventoryRepository::new();
        port.expect_find().returning(move |_| Ok(Some(stock(owner))));
        port.expect_set_stock()
            .times(reached)
            .returning(move |_, _, _| Err(InventoryError::BelowReserved { reserved }));
        let refused = inventories(port).set_stock(&editor, id, StockChange::default()).await.unwrap_err();
        let is_foreign = matches!(refused, InventoryError::Denied(AccessDenied::ForeignProject));
        assert_eq!((is_foreign, matches!(refused, InventoryError::BelowReserved { .. })), (owner == 2, owner == 1));
    }
    let refused = inventories(MockInventoryRepository::new()).read(&editor, id).await;
    assert!(matches!(refused, Err(InventoryError::Denied(AccessDenied::MissingPermission(_)))));
    assert_eq!(stock(1).available(), 3);
}
