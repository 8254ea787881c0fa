//! Offers follow every change of items, stock and warehouses in the same transaction.

use diesel::RunQueryDsl;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

#[derive(diesel::QueryableByName)]
struct OfferRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    application_id: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    price: i64,
}

/// Application and price, in minor units, of every offer.
async fn offers(db: &TestDatabase) -> Vec<(i64, i64)> {
    let statement = "SELECT application_id, price FROM storefront_offers ORDER BY nomenclature_id, application_id";
    db.database
        .read(move |connection| {
            let rows: Vec<OfferRow> = diesel::sql_query(statement).load(connection)?;
            Ok::<_, Abort<StoreError>>(rows.into_iter().map(|row| (row.application_id, row.price)).collect())
        })
        .await
        .unwrap()
}

async fn replace(db: &TestDatabase, project: ProjectId, item: &Nomenclature, card: Card) -> Nomenclature {
    NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), item.clone(), card).await.unwrap()
}

database_tests! {
    async fn goods_appear_with_stock_and_a_category(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch_id = branch(&db, project).await;
        let (site, kiosk) = (
            application(&db, project, branch_id, "Site").await,
            application(&db, project, branch_id, "Kiosk").await,
        );
        let draft = WarehouseDraft { name: name("W"), address: None, branch_id, application_ids: Some(vec![site]) };
        let place = WarehouseRepository::insert(&db.database, Stamp::of_system(project, NOON), draft).await.unwrap();
        let tea = item(&db, project, goods("Tea")).await;
        let draft = InventoryDraft {
            warehouse_id: place.id, nomenclature_id: tea.id, quantity: StockLevel::new(1).unwrap(), price: Money::ZERO,
        };
        let stock = InventoryRepository::insert(&db.database, seller(project), draft).await.unwrap();
        assert_eq!(offers(&db).await, []);

        let category_id = Some(category(&db, project, "Tea").await.id);
        let tea = replace(&db, project, &tea, Card { category_id, ..tea.card.clone() }).await;
        assert_eq!(offers(&db).await, [(site.get(), 0)]);

        let change = StockChange { quantity: Edit::Keep, price: Edit::Set("1.50".parse().unwrap()), comment: None };
        db.database.set_stock(seller(project), stock.id, change).await.unwrap();
        assert_eq!(offers(&db).await, [(site.get(), 150)]);

        let links = Edit::Set(vec![kiosk]);
        let change = WarehouseChange { application_ids: links, ..WarehouseChange::default() };
        WarehouseRepository::update(&db.database, Stamp::of_system(project, NOON), place.id, change).await.unwrap();
        assert_eq!(offers(&db).await, [(kiosk.get(), 150)]);

        let change = StockChange { quantity: Edit::Set(StockLevel::EMPTY), price: Edit::Keep, comment: None };
        db.database.set_stock(seller(project), stock.id, change).await.unwrap();
        assert_eq!(offers(&db).await, []);

        let second = item(&db, project, Card { category_id, ..goods("Mug") }).await;
        let draft = InventoryDraft { nomenclature_id: second.id, ..draft_at(place.id, tea.id) };
        InventoryRepository::insert(&db.database, seller(project), draft).await.unwrap();
        assert_eq!(offers(&db).await, [(kiosk.get(), 700)]);
    }

    async fn a_service_is_sold_at_the_price_of_its_card(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch_id = branch(&db, project).await;
        let site = application(&db, project, branch_id, "Site").await;
        let price = Some("10.00".parse().unwrap());
        let repair = item(&db, project, Card { price, ..Card::new(name("Repair"), NomenclatureKind::Service) }).await;
        assert_eq!(offers(&db).await, [(site.get(), 1000)]);
        let cheaper = Card { price: Some("9.00".parse().unwrap()), ..repair.card.clone() };
        let repair = replace(&db, project, &repair, cheaper).await;
        assert_eq!(offers(&db).await, [(site.get(), 900)]);
        let plan = Card { subscription: Some(BillingPeriod::months(1).unwrap()), ..repair.card.clone() };
        replace(&db, project, &repair, plan).await;
        assert_eq!(offers(&db).await, []);
    }
}

fn draft_at(warehouse_id: WarehouseId, nomenclature_id: NomenclatureId) -> InventoryDraft {
    let (quantity, price) = (StockLevel::new(5).unwrap(), "7.00".parse().unwrap());
    InventoryDraft { warehouse_id, nomenclature_id, quantity, price }
}
