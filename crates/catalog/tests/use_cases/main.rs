//! Services over mocked ports: permissions, tenant isolation, and refusals of ports.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod decision;
mod exports;
mod jobs;
mod layout;
mod words;

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

fn of<T>(number: i64, record: T) -> ProjectScoped<T> {
    ProjectScoped::new(project(number), record)
}

fn category() -> Category {
    Category {
        id: CategoryId::new(7).unwrap(),
        name: name("Mugs"),
        photo: None,
        parent: None,
        code: CategoryCode::new(1).unwrap(),
        description: None,
        version: 1,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn categories(port: MockCategoryRepository) -> CategoryService {
    CategoryService { categories: Arc::new(port), histories: Arc::new(MockHistories::new()), clock: clock() }
}

fn warehouse() -> Warehouse {
    Warehouse {
        id: WarehouseId::new(7).unwrap(),
        name: name("Main"),
        address: None,
        branch: Reference { id: BranchId::new(1).unwrap(), name: name("Branch") },
        applications: Vec::new(),
        version: 1,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn warehouses(port: MockWarehouseRepository) -> WarehouseService {
    WarehouseService { warehouses: Arc::new(port), histories: Arc::new(MockHistories::new()), clock: clock() }
}

fn stock() -> Inventory {
    Inventory {
        id: InventoryId::new(7).unwrap(),
        warehouse: Reference { id: WarehouseId::new(1).unwrap(), name: name("Main") },
        nomenclature: StockedItem { id: NomenclatureId::new(1).unwrap(), name: name("Mug"), article: None },
        quantity: StockLevel::new(5).unwrap(),
        reserved: StockLevel::new(2).unwrap(),
        price: None,
        version: 1,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

fn inventories(port: MockInventoryRepository) -> InventoryService {
    InventoryService { inventories: Arc::new(port), clock: clock() }
}

#[tokio::test]
async fn a_category_is_changed_by_staff_of_its_project_and_stamped() {
    let editor = staff_with([Permission::edit(Resource::Categories)]);
    let id = CategoryId::new(7).unwrap();
    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(Some(of(1, category()))));
    port.expect_update()
        .withf(|stamp, _, _| stamp.project_id == project(1) && stamp.at == DateTime::UNIX_EPOCH)
        .times(1)
        .returning(|_, _, _| Err(CategoryRefusal::Cycle.into()));
    let refused = categories(port).update(&editor, id, CategoryChange::default()).await;
    assert!(
        matches!(refused, Err(CategoryError::Refused(CategoryRefusal::Cycle))),
        "the refusal of the storage is told"
    );

    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(Some(of(2, category()))));
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
    assert!(matches!(service.history(&creator, id, page()).await, Err(CategoryError::Denied(_))));
}

#[tokio::test]
async fn a_warehouse_is_deleted_by_staff_of_its_project_alone() {
    let editor = staff_with([Permission::edit(Resource::Warehouses)]);
    let id = WarehouseId::new(7).unwrap();
    for (owner, reached) in [(1, 1), (2, 0)] {
        let mut port = MockWarehouseRepository::new();
        port.expect_find().returning(move |_| Ok(Some(of(owner, warehouse()))));
        port.expect_delete().times(reached).returning(|_, _| Err(WarehouseRefusal::Stocked.into()));
        let refused = warehouses(port).delete(&editor, id).await.unwrap_err();
        let is_foreign = matches!(refused, WarehouseError::Denied(AccessDenied::ForeignProject));
        assert_eq!(
            (is_foreign, matches!(refused, WarehouseError::Refused(WarehouseRefusal::Stocked))),
            (owner == 2, owner == 1)
        );
    }
    let viewer = staff_with([Permission::view(Resource::Warehouses)]);
    let refused = warehouses(MockWarehouseRepository::new()).delete(&viewer, id).await;
    assert!(matches!(refused, Err(WarehouseError::Denied(AccessDenied::MissingPermission(_)))));
}

#[tokio::test]
async fn a_new_warehouse_belongs_to_the_project_of_who_makes_it() {
    let creator = staff_with([Permission::create(Resource::Warehouses)]);
    let mut port = MockWarehouseRepository::new();
    port.expect_insert().withf(|stamp, _| stamp.project_id == project(1)).returning(|_, _| Ok(warehouse()));
    let branch_id = BranchId::new(1).unwrap();
    let draft = WarehouseDraft { name: name("Main"), address: None, branch_id, application_ids: None };
    assert_eq!(warehouses(port).create(&creator, draft).await.unwrap(), warehouse());
}

#[tokio::test]
async fn stock_is_set_by_staff_of_its_project_alone() {
    let editor = staff_with([Permission::edit(Resource::Inventories)]);
    let id = InventoryId::new(7).unwrap();
    let reserved = StockLevel::new(2).unwrap();
    for (owner, reached) in [(1, 1), (2, 0)] {
        let mut port = MockInventoryRepository::new();
        port.expect_find().returning(move |_| Ok(Some(of(owner, stock()))));
        port.expect_set_stock()
            .times(reached)
            .returning(move |_, _, _| Err(InventoryRefusal::BelowReserved { reserved }.into()));
        let refused = inventories(port).set_stock(&editor, id, StockChange::default()).await.unwrap_err();
        let is_foreign = matches!(refused, InventoryError::Denied(AccessDenied::ForeignProject));
        assert_eq!(
            (is_foreign, matches!(refused, InventoryError::Refused(InventoryRefusal::BelowReserved { .. }))),
            (owner == 2, owner == 1)
        );
    }
    let refused = inventories(MockInventoryRepository::new()).read(&editor, id).await;
    assert!(matches!(refused, Err(InventoryError::Denied(AccessDenied::MissingPermission(_)))));
    assert_eq!(stock().available(), 3);
}

fn page() -> PageRequest {
    PageRequest::new(1, 10, 100).unwrap()
}

fn listing() -> Listing {
    Listing::unfiltered(listing::Sort::ascending("id"), page())
}

fn is_missing<R: Refusal>(error: &RecordError<R>) -> bool {
    matches!(error, RecordError::Denied(AccessDenied::MissingPermission(_)))
}

fn is_foreign<R: Refusal>(error: &RecordError<R>) -> bool {
    matches!(error, RecordError::Denied(AccessDenied::ForeignProject))
}

#[tokio::test]
async fn a_foreign_category_is_forbidden() {
    let viewer = staff_with([Permission::view(Resource::Categories)]);
    let mut port = MockCategoryRepository::new();
    port.expect_find().times(2).returning(|_| Ok(Some(of(2, category()))));
    let (service, id) = (categories(port), CategoryId::new(7).unwrap());
    assert!(is_foreign(&service.children(&viewer, id, listing()).await.unwrap_err()));
    assert!(is_foreign(&service.history(&viewer, id, page()).await.unwrap_err()));
}

#[tokio::test]
async fn subcategories_are_listed_within_the_project() {
    let viewer = staff_with([Permission::view(Resource::Categories)]);
    let id = CategoryId::new(7).unwrap();
    let mut port = MockCategoryRepository::new();
    port.expect_find().returning(|_| Ok(Some(of(1, category()))));
    port.expect_page()
        .withf(move |owner, parent, _| (*owner, *parent) == (project(1), Some(id)))
        .returning(|_, _, listing| Ok(Page { items: vec![category()], total: 1, request: listing.page }));
    assert_eq!(categories(port).children(&viewer, id, listing()).await.unwrap().items, [category()]);
}

#[tokio::test]
async fn a_warehouse_is_asked_for_and_changed_with_its_permission_in_its_project() {
    let (id, change) = (WarehouseId::new(7).unwrap(), WarehouseChange::default);
    let outsider = staff_with([Permission::view(Resource::Inventories), Permission::edit(Resource::Inventories)]);
    let service = warehouses(MockWarehouseRepository::new());
    assert!(is_missing(&service.list(&outsider, listing()).await.unwrap_err()));
    assert!(is_missing(&service.read(&outsider, id).await.unwrap_err()));
    assert!(is_missing(&service.update(&outsider, id, change()).await.unwrap_err()));
    assert!(is_missing(&service.history(&outsider, id, page()).await.unwrap_err()));

    let staff = staff_with(Permission::all());
    let mut port = MockWarehouseRepository::new();
    port.expect_find().times(3).returning(|_| Ok(Some(of(2, warehouse()))));
    let service = warehouses(port);
    assert!(is_foreign(&service.read(&staff, id).await.unwrap_err()));
    assert!(is_foreign(&service.update(&staff, id, change()).await.unwrap_err()));
    assert!(is_foreign(&service.history(&staff, id, page()).await.unwrap_err()));

    let unknown = || WarehouseRefusal::UnknownReferences(vec![WarehouseReference::Branch]);
    let mut port = MockWarehouseRepository::new();
    port.expect_find().returning(|_| Ok(Some(of(1, warehouse()))));
    port.expect_update().times(1).returning(move |_, _, _| Err(unknown().into()));
    let refused = warehouses(port).update(&staff, id, change()).await;
    assert!(matches!(refused, Err(WarehouseError::Refused(refusal)) if refusal == unknown()));
}

#[tokio::test]
async fn stock_is_asked_for_and_added_with_its_permission_in_its_project() {
    let id = InventoryId::new(7).unwrap();
    let draft = || InventoryDraft {
        warehouse_id: WarehouseId::new(1).unwrap(),
        nomenclature_id: NomenclatureId::new(1).unwrap(),
        quantity: StockLevel::new(1).unwrap(),
        price: Money::ZERO,
    };
    let outsider = staff_with([Permission::view(Resource::Warehouses), Permission::edit(Resource::Warehouses)]);
    let service = inventories(MockInventoryRepository::new());
    assert!(is_missing(&service.list(&outsider, listing()).await.unwrap_err()));
    assert!(is_missing(&service.history(&outsider, id, page()).await.unwrap_err()));
    assert!(is_missing(&service.create(&outsider, draft()).await.unwrap_err()));

    let staff = staff_with(Permission::all());
    let mut port = MockInventoryRepository::new();
    port.expect_find().times(2).returning(|_| Ok(Some(of(2, stock()))));
    port.expect_insert()
        .withf(|stamp, _| stamp.project_id == project(1))
        .times(1)
        .returning(|_, _| Err(InventoryRefusal::AlreadyStocked.into()));
    let service = inventories(port);
    assert!(is_foreign(&service.read(&staff, id).await.unwrap_err()));
    assert!(is_foreign(&service.history(&staff, id, page()).await.unwrap_err()));
    let refused = service.create(&staff, draft()).await;
    assert!(matches!(refused, Err(InventoryError::Refused(InventoryRefusal::AlreadyStocked))), "{refused:?}");
}
