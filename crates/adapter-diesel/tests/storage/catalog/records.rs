//! Records for the tests of the catalog.

use chrono::{DateTime, Utc};
use diesel::RunQueryDsl;
use kontor_adapter_diesel::Abort;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_kernel::history::Author;
use kontor_kernel::listing::*;
use kontor_kernel::*;
use kontor_organization::model::{ApplicationDraft, Branch, BranchDraft};
use kontor_organization::ports::ApplicationRepository;

pub const NOON: DateTime<Utc> = DateTime::UNIX_EPOCH;

/// Author of all changes here.
pub fn seller(project_id: ProjectId) -> Stamp {
    Stamp { project_id, author: Author::User(UserId::new(7).unwrap()), at: NOON }
}

/// The service itself as the author.
pub fn system(project_id: ProjectId) -> Stamp {
    Stamp::of_system(project_id, NOON)
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub async fn branch(db: &TestDatabase, project: ProjectId) -> BranchId {
    let draft = BranchDraft { name: name("Branch"), inn: None, kpp: None, address: None, phone: None, email: None };
    RecordRepository::<Branch>::insert(&db.database, system(project), draft).await.unwrap().id
}

pub async fn application(db: &TestDatabase, project: ProjectId, branch_id: BranchId, title: &str) -> ApplicationId {
    let draft = ApplicationDraft { branch_id, name: name(title), url: None, wholesale: false };
    let token = format!("{project}/{title}");
    ApplicationRepository::insert(&db.database, system(project), draft, token).await.unwrap().id
}

pub fn category_draft(title: &str) -> CategoryDraft {
    CategoryDraft { name: name(title), photo: None, parent_id: None, code: None, description: None }
}

pub async fn category(db: &TestDatabase, project: ProjectId, title: &str) -> Category {
    CategoryRepository::insert(&db.database, system(project), category_draft(title)).await.unwrap()
}

pub async fn brand(db: &TestDatabase, project: ProjectId, title: &str) -> Brand {
    let draft = BrandDraft { name: name(title), photo: None };
    RecordRepository::<Brand>::insert(&db.database, system(project), draft).await.unwrap()
}

pub async fn warehouse(db: &TestDatabase, project: ProjectId) -> WarehouseId {
    let branch_id = branch(db, project).await;
    let draft = WarehouseDraft { name: name("Warehouse"), address: None, branch_id, application_ids: None };
    WarehouseRepository::insert(&db.database, system(project), draft).await.unwrap().id
}

pub fn goods(title: &str) -> Card {
    Card::new(name(title), NomenclatureKind::Goods)
}

pub async fn item(db: &TestDatabase, project: ProjectId, card: Card) -> Nomenclature {
    NomenclatureRepository::insert(&db.database, system(project), card).await.unwrap()
}

pub async fn stock(db: &TestDatabase, project: ProjectId, item: NomenclatureId, pieces: i64) -> Inventory {
    let draft = InventoryDraft {
        warehouse_id: warehouse(db, project).await,
        nomenclature_id: item,
        quantity: StockLevel::new(pieces).unwrap(),
        price: Money::ZERO,
    };
    InventoryRepository::insert(&db.database, seller(project), draft).await.unwrap()
}

pub fn page(number: i64, size: i64) -> PageRequest {
    PageRequest::new(number, size, 100).unwrap()
}

/// Runs one statement without the ports, for states that no port of this area creates.
pub async fn execute(db: &TestDatabase, statement: String) {
    db.database
        .write_and_invalidate_all(move |connection| {
            diesel::sql_query(&statement).execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
        .unwrap();
}

/// Lists everything, by id.
pub fn everything() -> Listing {
    Listing::unfiltered(Sort::ascending("id"), page(1, 100))
}

pub fn sorted(sort: Sort) -> Listing {
    Listing { sort, ..everything() }
}

fn created(test: impl FnOnce(FilterValue) -> Comparison, at: DateTime<Utc>) -> Listing {
    let condition = Condition { field: "created_at", comparison: test(FilterValue::Moment(at)) };
    Listing { conditions: vec![condition], ..everything() }
}

/// Lists what was created at this time or later.
pub fn since(at: DateTime<Utc>) -> Listing {
    created(Comparison::AtLeast, at)
}

/// Lists what was created before this time.
pub fn before(at: DateTime<Utc>) -> Listing {
    created(Comparison::LessThan, at)
}
