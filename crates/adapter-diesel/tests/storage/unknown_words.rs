//! A stored word that this version does not know is an error with its location, and is never mapped to another word.

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::{Kind, TestDatabase, stays};
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_catalog::model::{Brand, BrandDraft};
use kontor_catalog::ports::InventoryRepository;
use kontor_kernel::{InventoryId, PageRequest, StoreError};
use kontor_orders::OrderError;
use kontor_orders::model::OrderStatus;
use kontor_orders::ports::{CartQuery, CartReader, OrderReader};

use crate::orders::shop::ShopFixture;
use crate::orders::staff_fixture::StaffFixture;

/// Writes a value of a newer version or of a manual change, which the constraints would refuse.
pub async fn force(db: &TestDatabase, statement: String) {
    #[derive(diesel::QueryableByName)]
    struct Check {
        #[diesel(sql_type = diesel::sql_types::Text)]
        text: String,
    }
    let kind = db.kind;
    db.database
        .write_and_invalidate_all(move |connection| {
            if kind == Kind::Sqlite {
                connection.batch_execute("PRAGMA ignore_check_constraints = ON")?;
            } else {
                let checks: Vec<Check> = diesel::sql_query(
                    "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS text \
                     FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace",
                )
                .load(connection)?;
                for check in checks {
                    connection.batch_execute(&check.text)?;
                }
            }
            connection.batch_execute(&statement)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
        .unwrap();
}

fn names(error: &impl std::fmt::Display, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{text} does not name {part}");
    }
}

database_tests! {
    async fn an_order_is_not_taken_for_one_in_another_state(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        force(&db, "UPDATE reservations SET state = 'lent'".to_owned()).await;
        let error = OrderReader::find(&db.database, order.id).await.unwrap_err();
        names(&error, &["reservations", "state", "`lent`"]);
        force(&db, "UPDATE reservations SET state = 'held'; UPDATE orders SET status_id = 99".to_owned()).await;
        let error = OrderReader::find(&db.database, order.id).await.unwrap_err();
        names(&error, &["orders", &order.id.to_string(), "status_id", "`99`"]);
        let error = staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap_err();
        assert!(matches!(error, OrderError::Store(StoreError::Corrupt(_))), "{error:?}");
    }

    async fn a_card_of_an_unknown_kind_is_no_service(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        force(&db, format!("UPDATE nomenclatures SET kind_id = 7, price = 1 WHERE id = {vase}")).await;
        let items = shop.command(&[(vase, 1)]).cart.items();
        let query = CartQuery { point: shop.customer.app.into(), customer: None, items, promo: None, delivery: None, by_staff: false };
        let error = CartReader::snapshot(&db.database, query).await.unwrap_err();
        names(&error, &["nomenclatures", &vase.to_string(), "kind_id", "`7`"]);
    }

    async fn an_unknown_actor_is_not_the_system(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let id = shop.stock_fixture.number("SELECT max(id) AS number FROM inventories".to_owned()).await;
        let id = InventoryId::new(id).unwrap();
        let page = || PageRequest::new(1, 10, 100).unwrap();
        let history = async || InventoryRepository::history(&db.database, shop.stock_fixture.project, id, page()).await;
        assert!(history().await.unwrap().total > 0, "{vase}");
        force(&db, "UPDATE stock_movements SET actor = 'robot'".to_owned()).await;
        // A list leaves out rows that cannot be decoded, and counts them.
        let left = history().await.unwrap();
        assert!(left.items.is_empty() && left.total > 0, "{left:?}");
        let counted = kontor_adapter_diesel::unreadable::count().into_iter().find(|(table, _)| *table == "stock_movements");
        assert!(counted.is_some_and(|(_, rows)| rows > 0));
    }

    async fn a_mark_without_a_row_is_an_error(db: TestDatabase) {
        let project = crate::fixtures::project(&db).await;
        db.database.write(|connection| {
            connection.batch_execute("DELETE FROM change_marks WHERE topic = 0")?;
            Ok::<_, Abort<StoreError>>(())
        }).await.unwrap();
        let brand = BrandDraft { name: kontor_kernel::Name::parse("Nord").unwrap(), photo: None };
        let stamp = kontor_kernel::Stamp::of_system(project, chrono::DateTime::UNIX_EPOCH);
        let error = kontor_kernel::RecordRepository::<Brand>::insert(&db.database, stamp, brand).await.unwrap_err();
        names(&error, &["change_marks", "topic 0"]);
        assert_eq!(crate::fixtures::number(&db, "SELECT count(*) AS value FROM brands").await, 0);
        let watch = db.database.watch().unwrap();
        let what = "nothing remembered may be trusted";
        stays(std::time::Duration::from_millis(700), what, async || !db.database.cache_versions().are_watched()).await;
        drop(watch);
    }
}
