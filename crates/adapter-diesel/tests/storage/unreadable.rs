//! Stored rows that their types refuse: lists leave them out, and `kontor doctor` finds them.

use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::doctor::UnreadableRow;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, database_tests, unreadable};
use kontor_catalog::model::{Brand, BrandDraft};
use kontor_catalog::ports::NomenclatureRepository;
use kontor_customers::model::CustomerChange;
use kontor_customers::ports::StaffCustomerRepository;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    Edit, Email, Listing, Name, NomenclatureId, PageRequest, ProjectId, RecordRepository, Stamp, StoreError,
};
use kontor_orders::ports::OrderReader;
use kontor_organization::ports::{ApplicationRepository, ShopRepository};
use kontor_webhooks::ports::WebhookRepository;

use crate::orders::shop::ShopFixture;
use crate::unknown_words::force;

async fn brand(db: &TestDatabase, project: ProjectId, name: &str) -> Brand {
    let stamp = Stamp::of_system(project, chrono::DateTime::UNIX_EPOCH);
    let draft = BrandDraft { name: Name::parse(name).unwrap(), photo: None };
    RecordRepository::<Brand>::insert(&db.database, stamp, draft).await.unwrap()
}

fn first_page() -> Listing {
    Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 50, 100).unwrap())
}

fn left_out(table: &str) -> u64 {
    unreadable::count().into_iter().find(|(name, _)| *name == table).map_or(0, |(_, count)| count)
}

async fn found(db: &TestDatabase, project: Option<ProjectId>) -> Vec<(&'static str, i64)> {
    let mut rows: Vec<UnreadableRow> = Vec::new();
    let count = db.database.find_unreadable(project, |row| rows.push(row)).await.unwrap();
    assert_eq!(usize::try_from(count).unwrap(), rows.len());
    assert!(rows.iter().all(|row| !row.reason.is_empty()));
    rows.into_iter().map(|row| (row.table, row.id)).collect()
}

database_tests! {
    async fn a_record_that_cannot_be_read_is_missing_in_its_list_alone(db: TestDatabase) {
        let project = crate::fixtures::project(&db).await;
        let (first, broken, last) =
            (brand(&db, project, "A").await, brand(&db, project, "B").await, brand(&db, project, "C").await);
        assert!(found(&db, None).await.is_empty());
        force(&db, format!("UPDATE brands SET name = '' WHERE id = {}", broken.id)).await;

        let before = left_out("brands");
        let list = RecordRepository::<Brand>::list(&db.database, project).await.unwrap();
        assert_eq!(list.iter().map(|brand| brand.id).collect::<Vec<_>>(), [first.id, last.id]);
        // Tests on the other database count in the same process.
        assert!(left_out("brands") > before);
        let alone = RecordRepository::<Brand>::find(&db.database, broken.id).await;
        assert!(matches!(alone, Err(StoreError::Corrupt(_))), "{alone:?}");

        assert_eq!(found(&db, Some(project)).await, [("brands", broken.id.get())]);
        let other = crate::fixtures::project(&db).await;
        assert!(found(&db, Some(other)).await.is_empty());
        force(&db, format!("UPDATE brands SET name = 'B' WHERE id = {}", broken.id)).await;
        assert!(found(&db, None).await.is_empty());
    }

    async fn staff_repair_a_customer_who_cannot_be_read(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (project, id) = (shop.stock_fixture.project, shop.customer.counterparty_id);
        force(&db, "UPDATE counterparties SET email = 'nobody', phone_2 = 'none'".to_owned()).await;
        assert_eq!(found(&db, None).await, [("counterparties", id.get())]);
        let seen = StaffCustomerRepository::find(&db.database, id).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((seen.record.email, seen.record.phone_2), (None, None));
        assert!(seen.record.phone_1.is_some());

        let email = Edit::Set(Email::parse("anna@example.com").ok());
        let change = CustomerChange { email, ..CustomerChange::default() };
        let stamp = Stamp::of_system(project, chrono::DateTime::UNIX_EPOCH);
        let repaired = StaffCustomerRepository::update(&db.database, stamp, id, change).await.unwrap();
        assert_eq!(repaired.record.email, Email::parse("anna@example.com").ok());
        assert!(found(&db, None).await.is_empty());
        let customers = StaffCustomerRepository::list(&db.database, project, first_page()).await.unwrap();
        assert_eq!(customers.items.len(), 1);
    }

    async fn one_broken_part_hides_its_record_and_no_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, bowl) = (shop.goods("Vase", 5, 100).await, shop.goods("Bowl", 5, 100).await);
        let (first, second) =
            (shop.placed(&shop.command(&[(vase, 1)])).await, shop.placed(&shop.command(&[(bowl, 1)])).await);
        let project = shop.stock_fixture.project;
        force(
            &db,
            format!(
                "UPDATE reservations SET state = 'lent' WHERE order_id = {}; \
                 INSERT INTO nomenclature_photos (project_id, nomenclature_id, position, url) VALUES ({project}, {vase}, 0, ''); \
                 UPDATE counterparties SET email = 'nobody'",
                first.id
            ),
        )
        .await;

        let orders = OrderReader::list(&db.database, project, first_page()).await.unwrap();
        assert_eq!((orders.items.iter().map(|order| order.id).collect::<Vec<_>>(), orders.total), (vec![second.id], 2));
        let own = OrderReader::of_customer(&db.database, shop.customer, first_page().page).await.unwrap();
        assert_eq!((own.items.iter().map(|order| order.id).collect::<Vec<_>>(), own.total), (vec![second.id], 2));
        let items = NomenclatureRepository::list(&db.database, project, first_page()).await.unwrap();
        assert_eq!(items.items.iter().map(|item| item.id).collect::<Vec<_>>(), [NomenclatureId::new(bowl).unwrap()]);
        let customers = StaffCustomerRepository::list(&db.database, project, first_page()).await.unwrap();
        assert_eq!((customers.items.len(), customers.total), (0, 1));

        let found = found(&db, None).await;
        let customer = shop.customer.counterparty_id.get();
        assert_eq!(found, [("nomenclatures", vase), ("counterparties", customer), ("orders", first.id.get())]);
    }
}

database_tests! {
    async fn lists_without_pages_leave_out_unreadable_rows(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let hook = crate::webhooks::shop(&db).await;
        let (project, other) = (shop.stock_fixture.project, hook.project);
        let shops = async || ShopRepository::list(&db.database, project).await.unwrap().len();
        let applications = async || ApplicationRepository::list(&db.database, other).await.unwrap().len();
        let webhooks = async || WebhookRepository::list(&db.database, hook.application).await.unwrap().len();
        assert_eq!((shops().await, applications().await, webhooks().await), (1, 1, 1));
        for (table, column) in [("shops", "name"), ("applications", "name"), ("webhooks", "url")] {
            force(&db, format!("UPDATE {table} SET version = version + 1, {column} = ''")).await;
        }
        assert_eq!((shops().await, applications().await, webhooks().await), (0, 0, 0));
    }
}

/// SQLite stores any text in a time column.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moment_that_is_none_hides_its_record_and_no_other() {
    let db = TestDatabase::fresh(Kind::Sqlite);
    let shop = ShopFixture::open(&db).await;
    let (vase, bowl) = (shop.goods("Vase", 5, 100).await, shop.goods("Bowl", 5, 100).await);
    force(&db, format!("UPDATE nomenclatures SET updated_at = 'yesterday' WHERE id = {vase}")).await;
    let items = NomenclatureRepository::list(&db.database, shop.stock_fixture.project, first_page()).await.unwrap();
    assert_eq!(items.items.iter().map(|item| item.id).collect::<Vec<_>>(), [NomenclatureId::new(bowl).unwrap()]);
    assert_eq!(found(&db, None).await, [("nomenclatures", vase)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_is_reported() {
    let db = TestDatabase::fresh(Kind::Sqlite);
    assert_eq!(db.database.file_damage().await.unwrap(), [""; 0]);
    // An index without one of its rows, as after a torn page.
    let damage = |connection: &mut kontor_adapter_diesel::AnyConnection| {
        connection.batch_execute(
            "INSERT INTO projects (name, currency, created_at) VALUES ('Trial', 'RUB', '2026-01-01 00:00:00'); \
             INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
             VALUES (1, 'A', 'a', '2026-01-01 00:00:00', '2026-01-01 00:00:00'); \
             PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = replace(sql, 'name TEXT', 'name TEXT CHECK (name <> ''A'')') \
             WHERE type = 'table' AND name = 'brands'; PRAGMA schema_version = 100000; PRAGMA writable_schema = RESET",
        )?;
        Ok::<_, Abort<StoreError>>(())
    };
    db.database.write_and_invalidate_all(damage).await.unwrap();
    let damage = db.database.file_damage().await.unwrap();
    assert!(damage.iter().any(|finding| finding.contains("brands")), "{damage:?}");
}
