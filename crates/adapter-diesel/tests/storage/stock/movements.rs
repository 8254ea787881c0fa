//! Every change of stock is a movement.

use std::path::Path;
use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{Edit, StockChange, StockLevel};
use kontor_catalog::ports::InventoryRepository;
use kontor_catalog::spreadsheet::ports::{RowSink, SheetReader, StockSheetRepository};
use kontor_catalog::spreadsheet::{Cell, ImportMode, SheetError, SheetRow, StockSheet};
use kontor_kernel::history::Author;
use kontor_kernel::{InventoryId, Line, Stamp, UserId};
use kontor_orders::model::OrderStatus;

use super::books::{changes, differences, movements};
use crate::catalog::records::{goods, item, seller, stock};
use crate::fixtures;
use crate::orders::shop::{AcquirerMode, ShopFixture};
use crate::orders::staff_fixture::StaffFixture;
use crate::stock_fixture::{Item, StockFixture};

/// Rows of `article;warehouse;quantity;price`.
pub struct Rows(pub String);

impl SheetReader for Rows {
    fn read(&self, _file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        for (number, line) in (1..).zip(self.0.lines()) {
            let cells = line.split(';').map(|text| Cell::Text(text.to_owned())).collect();
            sink(SheetRow::new(number, cells))?;
        }
        Ok(())
    }
}

pub fn sheet(rows: &str) -> Arc<StockSheet> {
    Arc::new(
        StockSheet::read(&Rows(format!("article;warehouse;quantity;price\n{rows}")), Path::new(""), 100_000).unwrap(),
    )
}

fn change(reason: &str, quantity: i64, reserved: i64) -> (String, i64, i64) {
    (reason.to_owned(), quantity, reserved)
}

database_tests! {
    async fn staff_leave_their_name_with_every_change(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let tea = item(&db, project, goods("Tea")).await.id;
        let stored = stock(&db, project, tea, 5).await;
        let set = |pieces: Option<i64>, price: Option<&str>| {
            let change = StockChange {
                quantity: pieces.map(|pieces| StockLevel::new(pieces).unwrap()).into(),
                price: price.map(|price| price.parse().unwrap()).into(),
                comment: price.map(|price| Line::parse(&format!("Now {price}")).unwrap()),
            };
            let author = Author::User(UserId::new(9).unwrap());
            db.database.set_stock(Stamp { author, ..seller(project) }, stored.id, change)
        };
        set(Some(8), None).await.unwrap();
        set(Some(8), Some("3.50")).await.unwrap();
        set(None, Some("3.50")).await.unwrap();
        set(None, None).await.unwrap();
        let all = movements(&db, tea.get()).await;
        let reported: Vec<_> = all.iter().map(|m| (m.reason.as_str(), m.quantity, m.quantity_after, m.price_before, m.price_after)).collect();
        assert_eq!(reported, [("creation", 5, 5, None, Some(0)), ("edit", 3, 8, None, None), ("edit", 0, 8, Some(0), Some(350))]);
        let by: Vec<_> = all.iter().map(|m| (m.actor.as_str(), m.actor_id, m.source_id)).collect();
        assert_eq!(by, [("user", Some(7), None), ("user", Some(9), None), ("user", Some(9), None)]);
        let comments: Vec<_> = all.iter().map(|m| m.comment.as_deref()).collect();
        assert_eq!(comments, [None, None, Some("Now 3.50")]);
        assert_eq!(differences(&db).await, []);
    }

    async fn a_refused_change_leaves_no_movement(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.placed(&shop.command(&[(vase, 3)])).await;
        let id = shop.stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {vase}")).await;
        let change = StockChange { quantity: Edit::Set(StockLevel::new(2).unwrap()), price: Edit::Keep, comment: None };
        let project = shop.stock_fixture.project;
        let before = movements(&db, vase).await.len();
        db.database.set_stock(seller(project), InventoryId::new(id).unwrap(), change).await.unwrap_err();
        shop.place(&shop.command(&[(vase, 3)])).await.unwrap_err();
        assert_eq!(movements(&db, vase).await.len(), before);
        assert_eq!(differences(&db).await, []);
    }

    async fn an_order_claims_sells_and_gives_back(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 9, 100).await, shop.goods("Cup", 9, 100).await);
        let advice = shop.stock_fixture.item(Item { kind: 1, price: 10, category: None, ..Item::goods("Advice", 0) }).await;
        let sold = shop.placed(&shop.command(&[(cup, 1), (vase, 2), (advice, 1)])).await;
        let canceled = shop.placed(&shop.command(&[(vase, 4)])).await;
        staff_fixture.move_to(&sold, OrderStatus::Issued).await.unwrap();
        staff_fixture.move_to(&canceled, OrderStatus::Canceled).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        shop.place(&shop.online(&[(vase, 1)])).await.unwrap_err();
        let expected = [
            change("correction", 9, 0), change("reservation", 0, 2), change("reservation", 0, 4), change("sale", -2, -2),
            change("release", 0, -4), change("reservation", 0, 1), change("release", 0, -1),
        ];
        assert_eq!(changes(&db, vase).await, expected);
        let all = movements(&db, vase).await;
        let (customer, user) = (Some(shop.customer.counterparty_id.get()), Some(staff_fixture.staff.user_id.get()));
        let by: Vec<_> = all.iter().skip(1).map(|m| (m.actor.as_str(), m.actor_id)).collect();
        assert_eq!(by, [("customer", customer), ("customer", customer), ("user", user), ("user", user), ("customer", customer), ("system", None)]);
        let orders: Vec<_> = all.iter().map(|m| m.source_id).collect();
        assert_eq!(orders[..5], [None, Some(sold.id.get()), Some(canceled.id.get()), Some(sold.id.get()), Some(canceled.id.get())]);
        assert!(all.iter().skip(1).all(|m| m.source.as_deref() == m.source_id.map(|_| "order")));
        assert_eq!(all.last().map(|m| (m.quantity_after, m.reserved_after)), Some((7, 0)));
        assert_eq!(movements(&db, advice).await, []);
        db.database.rebuild_offers().await.unwrap();
        assert_eq!(differences(&db).await, []);
    }

    async fn movements_of_an_order_cost_one_statement(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let mut lines = Vec::new();
        for _ in 0..20 {
            lines.push((shop.goods("Vase", 900, 100).await, 1));
        }
        let mut costs = Vec::new();
        for size in [1, 2, 20] {
            let before = db.statements();
            shop.placed(&shop.command(&lines[..size])).await;
            costs.push(db.statements() - before);
        }
        assert_eq!((costs[1], costs[2]), (costs[0], costs[0]), "lines add no statement");
    }

    async fn an_upload_is_entered_in_batches(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        for number in 0..1_200 {
            stock_fixture.run(format!(
                "INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, price, \
                 is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
                 VALUES ({}, 'A{number}', 'a{number}', 'A', 'a', 2, 0, FALSE, FALSE, 1, 1, 0, 1, \
                 '2026-01-01 00:00:00', '2026-01-01 00:00:00')", stock_fixture.project
            )).await;
        }
        db.database.rebuild_offers().await.unwrap();
        let upload = async |quantity: i64, price: i64| {
            let rows: Vec<String> = (0..1_200).map(|number| format!("A{number};W1;{quantity};{price}")).collect();
            let before = db.statements();
            let sheet = sheet(&rows.join("\n"));
            db.database.upload(seller(stock_fixture.project), sheet, ImportMode::AllOrNothing).await.unwrap();
            db.statements() - before
        };
        let spent = [upload(5, 1).await, upload(7, 1).await, upload(7, 2).await, upload(7, 2).await];
        assert!(spent.iter().all(|spent| *spent < 45), "{spent:?} statements");
        let sums = "SELECT CAST(sum(quantity) AS BIGINT) AS number FROM stock_movements WHERE reason = 'upload'";
        assert_eq!(stock_fixture.number(sums.to_owned()).await, 1_200 * 7);
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM stock_movements".to_owned()).await, 1_200 * 3);
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM stock_movements WHERE price_before = 100 AND price_after = 200 AND quantity = 0".to_owned()).await, 1_200);
        assert_eq!(differences(&db).await, []);
    }
}
