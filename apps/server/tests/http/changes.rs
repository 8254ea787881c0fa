//! Copies of lists kept by other programs through `/api/changes`.

use std::collections::BTreeMap;

use kontor_adapter_diesel::testing::moment;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

const LISTS: [&str; 5] = ["counterparties", "inventories", "nomenclatures", "orders", "subscriptions"];

/// A program with a copy of a list.
struct Copy<'a> {
    fixture: &'a ProjectFixture,
    list: &'static str,
    records: BTreeMap<i64, Value>,
    cursor: Option<String>,
}

impl<'a> Copy<'a> {
    fn new(fixture: &'a ProjectFixture, list: &'static str) -> Self {
        Self { fixture, list, records: BTreeMap::new(), cursor: None }
    }

    /// Reads all pages. Returns the received ids.
    async fn read(&mut self, per_page: u32) -> Vec<i64> {
        let mut reported = Vec::new();
        loop {
            let place = self.cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let part = self.fixture.get(&format!("/api/changes/{}?per_page={per_page}{place}", self.list)).await.expect(200);
            for record in part["data"].as_array().unwrap() {
                let id = record["id"].as_i64().unwrap();
                self.records.insert(id, record.clone());
                reported.push(id);
            }
            for id in part["deleted"].as_array().unwrap() {
                self.records.remove(&id.as_i64().unwrap());
            }
            self.cursor = Some(part["next_cursor"].as_str().unwrap().to_owned());
            if part["has_more"] == false {
                return reported;
            }
        }
    }
}

impl ProjectFixture {
    /// Moves the time of every write an hour into the past.
    async fn an_hour_passes(&self) {
        for table in LISTS {
            self.server.execute(&format!("UPDATE {table} SET updated_at = '2026-01-01 00:00:00.000' WHERE updated_at > '2026-01-02 00:00:00'")).await;
        }
    }
}

database_tests! {
    async fn a_copy_follows_items_through_changes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let mut ids = Vec::new();
        for name in ["A", "B", "C", "D", "E"] {
            ids.push(fixture.goods(name).await);
        }
        let mut copy = Copy::new(&fixture, "nomenclatures");
        assert_eq!(copy.read(2).await, ids);
        fixture.an_hour_passes().await;
        // Changes of the last two minutes were sent again. Now they are older than the cursor.
        assert_eq!(copy.read(2).await, [0_i64; 0]);
        fixture.put(&format!("/api/nomenclatures/{}", ids[3]), json!({ "name": "D 2" })).await.expect(200);
        fixture.put(&format!("/api/nomenclatures/{}", ids[1]), json!({ "name": "B 2" })).await.expect(200);
        assert_eq!(copy.read(1).await, [ids[3], ids[1]], "in the order of change");
        assert_eq!(copy.records[&ids[1]]["name"], "B 2");
        let shown = fixture.get(&format!("/api/nomenclatures/{}", ids[1])).await.expect(200)["nomenclature"].clone();
        assert_eq!(copy.records[&ids[1]], shown);
    }

    async fn every_list_shows_its_records_like_other_endpoints(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
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
        let fixture = ProjectFixture::open(db).await;
        let (item, warehouse) = (fixture.goods("Mug").await, fixture.warehouse("Main").await);
        let stock = fixture.create("/api/inventories", json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 0, "price": "1.00" })).await;
        let ann = fixture.create("/api/counterparties", json!({ "is_company": false, "first_name": "Ann", "phone_1": "79001234567" })).await;
        let (mut customers, mut stocks) = (Copy::new(&fixture, "counterparties"), Copy::new(&fixture, "inventories"));
        customers.read(10).await;
        stocks.read(10).await;
        assert!(customers.records.contains_key(&ann) && stocks.records.contains_key(&stock));
        fixture.an_hour_passes().await;
        fixture.delete(&format!("/api/counterparties/{ann}")).await.expect(200);
        fixture.delete(&format!("/api/warehouses/{warehouse}")).await.expect(200);
        customers.read(10).await;
        stocks.read(10).await;
        assert!(!customers.records.contains_key(&ann) && stocks.records.is_empty());
        // A read from the start repeats deletions for thirty days.
        let deleted = async || fixture.get("/api/changes/counterparties").await.expect(200)["deleted"].clone();
        assert_eq!(deleted().await, json!([ann]));
        fixture.server.execute("UPDATE counterparties SET deleted_at = '2026-01-01 00:00:00' WHERE deleted_at IS NOT NULL").await;
        assert_eq!(deleted().await, json!([]));
    }

    async fn a_copy_misses_nothing_while_others_write(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let mut ids = Vec::new();
        for number in 0..12 {
            ids.push(fixture.goods(&format!("Item {number}")).await);
        }
        fixture.an_hour_passes().await;
        let mut copy = Copy::new(&fixture, "nomenclatures");
        let write = async {
            for round in 0..5 {
                for id in &ids {
                    fixture.put(&format!("/api/nomenclatures/{id}"), json!({ "name": format!("Item {id} {round}") })).await.expect(200);
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
            let shown = fixture.get(&format!("/api/nomenclatures/{id}")).await.expect(200)["nomenclature"].clone();
            assert_eq!(copy.records[&id], shown);
        }
    }

    async fn a_change_that_was_committed_late_is_reported(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let item = fixture.goods("Mug").await;
        let mut copy = Copy::new(&fixture, "nomenclatures");
        copy.read(10).await;
        fixture.an_hour_passes().await;
        copy.read(10).await;
        // Its time is a minute before the last read, but it is stored afterwards.
        let late = chrono::Utc::now().naive_utc() - chrono::TimeDelta::minutes(1);
        fixture.server.execute(&format!("UPDATE nomenclatures SET name = 'Late', updated_at = '{}'", late.format("%F %T%.6f"))).await;
        assert_eq!(copy.read(10).await, [item]);
        assert_eq!(copy.records[&item]["name"], "Late");
    }

    async fn wrong_places_are_named_and_outsiders_learn_nothing(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.goods("Mug").await;
        let first = fixture.get("/api/changes/nomenclatures").await.expect(200);
        let cursor = first["next_cursor"].as_str().unwrap();
        for list in LISTS {
            let path = format!("/api/changes/{list}");
            fixture.get(&format!("{path}?cursor=x")).await.expect_invalid(&["cursor"]);
            fixture.get(&format!("{path}?cursor={list}.1700000000.0.1")).await.expect_invalid(&["cursor"]);
            // The clock was set back.
            let ahead = chrono::Utc::now() + chrono::TimeDelta::minutes(10);
            fixture.get(&format!("{path}?cursor={list}.{}.0.0", ahead.timestamp())).await.expect_invalid(&["cursor"]);
            fixture.get(&format!("{path}?updated_since=yesterday&per_page=101&page=2")).await.expect_invalid(&["page", "per_page", "updated_since"]);
            fixture.get(&format!("{path}?updated_since=2026-01-01T00:00:00Z&cursor={list}.{}.0.1", chrono::Utc::now().timestamp())).await
                .expect_invalid(&["updated_since"]);
            let outsider = fixture.as_outsider(Method::GET, &path, json!({})).await.expect(200);
            assert_eq!((&outsider["data"], &outsider["deleted"]), (&json!([]), &json!([])), "{list}");
            fixture.as_one_who_may(&["view-brands"], Method::GET, &path, json!({})).await.expect(403);
        }
        fixture.get(&format!("/api/changes/inventories?cursor={cursor}")).await.expect_invalid(&["cursor"]);
        let later = fixture.get("/api/changes/nomenclatures?updated_since=2999-01-01T00:00:00Z").await.expect(200);
        assert_eq!(later["data"], json!([]));
        let since = (chrono::Utc::now() - chrono::TimeDelta::hours(1)).format("%FT%TZ");
        assert_eq!(fixture.get(&format!("/api/changes/nomenclatures?updated_since={since}")).await.expect(200)["data"].as_array().unwrap().len(), 1);
    }
}
