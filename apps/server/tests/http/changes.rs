//! Copies of lists kept by other programs through `/api/changes`.

use std::collections::BTreeMap;

use kontor_adapter_diesel::testing::moment;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;
use crate::shopfront::Shopfront;
use crate::support::send;

const LISTS: [&str; 5] = ["counterparties", "inventories", "nomenclatures", "orders", "subscriptions"];

/// A program with a copy of a list.
struct Copy<'a> {
    office: &'a Office,
    list: &'static str,
    records: BTreeMap<i64, Value>,
    cursor: Option<String>,
}

impl<'a> Copy<'a> {
    fn new(office: &'a Office, list: &'static str) -> Self {
        Self { office, list, records: BTreeMap::new(), cursor: None }
    }

    /// Reads all pages. Returns the received ids.
    async fn read(&mut self, per_page: u32) -> Vec<i64> {
        let mut told = Vec::new();
        loop {
            let place = self.cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let part = self.office.get(&format!("/api/changes/{}?per_page={per_page}{place}", self.list)).await.expect(200);
            for record in part["data"].as_array().unwrap() {
                let id = record["id"].as_i64().unwrap();
                self.records.insert(id, record.clone());
                told.push(id);
            }
            for id in part["deleted"].as_array().unwrap() {
                self.records.remove(&id.as_i64().unwrap());
            }
            self.cursor = Some(part["next_cursor"].as_str().unwrap().to_owned());
            if part["has_more"] == false {
                return told;
            }
        }
    }
}

impl Office {
    /// Moves the time of every write an hour into the past.
    async fn an_hour_passes(&self) {
        for table in LISTS {
            self.server.execute(&format!("UPDATE {table} SET updated_at = '2026-01-01 00:00:00.000' WHERE updated_at > '2026-01-02 00:00:00'")).await;
        }
    }
}

database_tests! {
    async fn a_copy_follows_items_through_changes(db: TestDatabase) {
        let office = Office::open(db).await;
        let mut ids = Vec::new();
        for name in ["A", "B", "C", "D", "E"] {
            ids.push(office.goods(name).await);
        }
        let mut copy = Copy::new(&office, "nomenclatures");
        assert_eq!(copy.read(2).await, ids);
        office.an_hour_passes().await;
        // Changes of the last two minutes were sent again. Now they are older than the cursor.
        assert_eq!(copy.read(2).await, [0_i64; 0]);
        office.put(&format!("/api/nomenclatures/{}", ids[3]), json!({ "name": "D 2" })).await.expect(200);
        office.put(&format!("/api/nomenclatures/{}", ids[1]), json!({ "name": "B 2" })).await.expect(200);
        assert_eq!(copy.read(1).await, [ids[3], ids[1]], "in the order of change");
        assert_eq!(copy.records[&ids[1]]["name"], "B 2");
        let shown = office.get(&format!("/api/nomenclatures/{}", ids[1])).await.expect(200)["nomenclature"].clone();
        assert_eq!(copy.records[&ids[1]], shown);
    }

    async fn every_list_tells_its_records_and_shows_them_as_elsewhere(db: TestDatabase) {
        let shop = Shopfront::open(db).await;
        let item = shop.goods(9, 1_000).await;
        shop.order(&shop.pickup(item, 2)).await.expect(201);
        shop.past_subscription(item).await;
        let owner = shop.server.owner(&shop.project).await;
        let get = async |path: String| send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200);
        for list in LISTS {
            let changes = get(format!("/api/changes/{list}")).await;
            let shown = get(format!("/api/{list}")).await;
            assert_eq!(changes["data"], shown[list], "{list}");
            assert_eq!((changes["data"].as_array().unwrap().len(), &changes["has_more"]), (1, &json!(false)), "{list}");
        }
    }

    async fn deletions_are_reported_for_thirty_days(db: TestDatabase) {
        let office = Office::open(db).await;
        let (item, warehouse) = (office.goods("Mug").await, office.warehouse("Main").await);
        let stock = office.create("/api/inventories", json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 0, "price": "1.00" })).await;
        let ann = office.create("/api/counterparties", json!({ "is_company": false, "first_name": "Ann", "phone_1": "79001234567" })).await;
        let (mut customers, mut stocks) = (Copy::new(&office, "counterparties"), Copy::new(&office, "inventories"));
        customers.read(10).await;
        stocks.read(10).await;
        assert!(customers.records.contains_key(&ann) && stocks.records.contains_key(&stock));
        office.an_hour_passes().await;
        office.delete(&format!("/api/counterparties/{ann}")).await.expect(200);
        office.delete(&format!("/api/warehouses/{warehouse}")).await.expect(200);
        customers.read(10).await;
        stocks.read(10).await;
        assert!(!customers.records.contains_key(&ann) && stocks.records.is_empty());
        // A read from the start repeats deletions for thirty days.
        let deleted = async || office.get("/api/changes/counterparties").await.expect(200)["deleted"].clone();
        assert_eq!(deleted().await, json!([ann]));
        office.server.execute("UPDATE counterparties SET deleted_at = '2026-01-01 00:00:00' WHERE deleted_at IS NOT NULL").await;
        assert_eq!(deleted().await, json!([]));
    }

    async fn a_copy_misses_nothing_while_others_write(db: TestDatabase) {
        let office = Office::open(db).await;
        let mut ids = Vec::new();
        for number in 0..12 {
            ids.push(office.goods(&format!("Item {number}")).await);
        }
        office.an_hour_passes().await;
        let mut copy = Copy::new(&office, "nomenclatures");
        let write = async {
            for round in 0..5 {
                for id in &ids {
                    office.put(&format!("/api/nomenclatures/{id}"), json!({ "name": format!("Item {id} {round}") })).await.expect(200);
                }
            }
        };
        let read = async {
            for _ in 0..10 {
                copy.read(5).await;
                moment().await;
            }
        };
        tokio::join!(write, read);
        copy.read(5).await;
        for id in ids {
            let shown = office.get(&format!("/api/nomenclatures/{id}")).await.expect(200)["nomenclature"].clone();
            assert_eq!(copy.records[&id], shown);
        }
    }

    async fn a_change_that_was_committed_late_is_told(db: TestDatabase) {
        let office = Office::open(db).await;
        let item = office.goods("Mug").await;
        let mut copy = Copy::new(&office, "nomenclatures");
        copy.read(10).await;
        office.an_hour_passes().await;
        copy.read(10).await;
        // Its time is a minute before the last read, but it is stored afterwards.
        let late = chrono::Utc::now().naive_utc() - chrono::TimeDelta::minutes(1);
        office.server.execute(&format!("UPDATE nomenclatures SET name = 'Late', updated_at = '{}'", late.format("%F %T%.6f"))).await;
        assert_eq!(copy.read(10).await, [item]);
        assert_eq!(copy.records[&item]["name"], "Late");
    }

    async fn wrong_places_are_named_and_strangers_are_told_nothing(db: TestDatabase) {
        let office = Office::open(db).await;
        office.goods("Mug").await;
        let first = office.get("/api/changes/nomenclatures").await.expect(200);
        let cursor = first["next_cursor"].as_str().unwrap();
        for list in LISTS {
            let path = format!("/api/changes/{list}");
            office.get(&format!("{path}?cursor=x")).await.expect_invalid(&["cursor"]);
            office.get(&format!("{path}?cursor={list}.1700000000.0.1")).await.expect_invalid(&["cursor"]);
            // The clock was set back.
            let ahead = chrono::Utc::now() + chrono::TimeDelta::minutes(10);
            office.get(&format!("{path}?cursor={list}.{}.0.0", ahead.timestamp())).await.expect_invalid(&["cursor"]);
            office.get(&format!("{path}?updated_since=yesterday&per_page=101&page=2")).await.expect_invalid(&["page", "per_page", "updated_since"]);
            office.get(&format!("{path}?updated_since=2026-01-01T00:00:00Z&cursor={list}.{}.0.1", chrono::Utc::now().timestamp())).await
                .expect_invalid(&["updated_since"]);
            let stranger = office.as_stranger(Method::GET, &path, json!({})).await.expect(200);
            assert_eq!((&stranger["data"], &stranger["deleted"]), (&json!([]), &json!([])), "{list}");
            office.as_one_who_may(&["view-brands"], Method::GET, &path, json!({})).await.expect(403);
        }
        office.get(&format!("/api/changes/inventories?cursor={cursor}")).await.expect_invalid(&["cursor"]);
        let later = office.get("/api/changes/nomenclatures?updated_since=2999-01-01T00:00:00Z").await.expect(200);
        assert_eq!(later["data"], json!([]));
        let since = (chrono::Utc::now() - chrono::TimeDelta::hours(1)).format("%FT%TZ");
        assert_eq!(office.get(&format!("/api/changes/nomenclatures?updated_since={since}")).await.expect(200)["data"].as_array().unwrap().len(), 1);
    }
}
