//! Stock levels.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

const PATH: &str = "/api/inventories";
const TABLE: &str = "/api/tables/inventories";

fn stock(warehouse: i64, item: i64) -> Value {
    json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 5, "price": "265.00" })
}

database_tests! {
    async fn stock_is_created_and_listed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "Чай", "kind_id": 2, "article": "ЧАЙ-1" });
        let item = fixture.create("/api/nomenclatures", body).await;
        let place = fixture.warehouse("Склад").await;
        let created = fixture.post(PATH, stock(place, item)).await.expect(201);
        let record = &created["inventory"];
        assert_eq!(created, json!({ "inventory": {
            "id": record["id"], "warehouse": { "id": place, "name": "Склад" },
            "nomenclature": { "id": item, "name": "Чай", "article": "ЧАЙ-1" },
            "quantity": 5, "reserved": 0, "available": 5, "price": "265.00",
            "created_at": record["created_at"], "updated_at": record["updated_at"],
        } }));
        let listed = fixture.get(PATH).await.expect(200);
        assert_eq!(listed, json!({ "inventories": [record], "inventoriesCount": 1 }));
        let foreign = fixture.as_outsider(Method::GET, PATH, json!({})).await.expect(200);
        assert_eq!(foreign["inventoriesCount"], 0);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let fields = ["warehouse_id", "nomenclature_id", "quantity", "price"];
        fixture.post(PATH, json!({})).await.expect_invalid(&fields);
        let body = json!({ "warehouse_id": 0, "nomenclature_id": "x", "quantity": -1, "price": "1.001" });
        fixture.post(PATH, body).await.expect_invalid(&fields);
        let foreign_item = fixture.create_elsewhere("/api/nomenclatures", json!({ "name": "A", "kind_id": 2 })).await;
        fixture.post(PATH, stock(999_999, foreign_item)).await.expect_invalid(&["warehouse_id", "nomenclature_id"]);
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        let service = fixture.create("/api/nomenclatures", json!({ "name": "B", "kind_id": 1, "price": 1 })).await;
        fixture.post(PATH, stock(place, service)).await.expect_invalid(&["nomenclature_id"]);
        fixture.create(PATH, stock(place, item)).await;
        fixture.post(PATH, stock(place, item)).await.expect_invalid(&["nomenclature_id"]);
    }

    async fn permissions_are_enforced(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        for path in [PATH, TABLE] {
            fixture.as_one_who_may(&["view-inventories"], Method::GET, path, json!({})).await.expect(200);
            fixture.as_one_who_may(&["edit-inventories"], Method::GET, path, json!({})).await.expect(403);
        }
        fixture.as_one_who_may(&["view-inventories"], Method::POST, PATH, stock(place, item)).await.expect(403);
        fixture.as_one_who_may(&["create-inventories"], Method::POST, PATH, stock(place, item)).await.expect(201);
    }

    async fn a_list_is_filtered_sorted_and_cut_into_pages(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (tea, mug) = (fixture.goods("Чай").await, fixture.goods("Кружка").await);
        let (near, far) = (fixture.warehouse("A").await, fixture.warehouse("B").await);
        let first = fixture.create(PATH, stock(near, tea)).await;
        let second = fixture.create(PATH, stock(near, mug)).await;
        let mut plenty = stock(far, tea);
        plenty["quantity"] = json!(50);
        let third = fixture.create(PATH, plenty).await;
        for (query, expected) in [
            (String::new(), vec![first, second, third]),
            (format!("warehouse_id={near}"), vec![first, second]),
            (format!("nomenclature_id={tea}"), vec![first, third]),
            (format!("nomenclature_id[]={tea}&warehouse_id[]={far}&warehouse_id[]=999"), vec![third]),
            ("query=%D0%9A%D0%A0%D0%A3".to_owned(), vec![second]),
            ("query=%21%21".to_owned(), vec![]),
            ("order_by=quantity_desc".to_owned(), vec![third, second, first]),
            ("quantity_gt=40".to_owned(), vec![third]),
            ("quantity_lt=6&price=265".to_owned(), vec![first, second]),
            ("per_page=2&page=2".to_owned(), vec![third]),
            ("page=9999".to_owned(), vec![]),
        ] {
            let listed = fixture.get(&format!("{PATH}?{query}")).await.expect(200);
            let ids: Vec<_> =
                listed["inventories"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(ids, expected, "{query}");
        }
        fixture.get(&format!("{PATH}?page=0&per_page=101&warehouse_id=x&colour=red")).await
            .expect_invalid(&["page", "per_page", "warehouse_id", "colour"]);
    }

    async fn the_table_has_the_documented_envelope(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("Чай").await, fixture.warehouse("Склад").await);
        fixture.create(PATH, stock(place, item)).await;
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"], json!({
            "total": 1, "per_page": 15, "current_page": 1, "last_page": 1, "from": 1, "to": 1,
        }));
        let row = table["inventories"][0].as_object().unwrap();
        for column in table["columns"].as_array().unwrap() {
            let cell = &row[column["key"].as_str().unwrap()];
            assert_eq!(cell.is_object(), column["has_icon"] == true, "{column}");
        }
        assert_eq!(row["nomenclature"]["value"], "Чай");
        assert_eq!((&row["available"], &row["price"]), (&json!(5), &json!("265.00")));
    }

    async fn a_page_costs_the_same_statements_with_any_content(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let place = fixture.warehouse("W").await;
        let (mut few, mut many) = (Vec::new(), Vec::new());
        for (count, costs) in [(1, &mut few), (20, &mut many)] {
            for number in 0..count {
                let item = fixture.goods(&format!("{count}-{number}")).await;
                fixture.create(PATH, stock(place, item)).await;
            }
            for path in [PATH, TABLE] {
                costs.push(fixture.cost(path).await);
            }
        }
        assert_eq!(few, many);
    }

    async fn stock_is_read_changed_and_lists_its_movements(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let owner = shop.server.owner(&shop.project).await;
        let item = shop.goods(10, 26_550).await;
        let staff = async |method: Method, path: &str, body: Value| {
            send(shop.server.as_staff(&owner, method, path).json(&body)).await
        };
        let listed = staff(Method::GET, &format!("{PATH}?nomenclature_id={item}"), json!({})).await.expect(200);
        let path = format!("{PATH}/{}", listed["inventories"][0]["id"]);
        assert_eq!(staff(Method::GET, &path, json!({})).await.expect(200)["inventory"], listed["inventories"][0]);
        let order = shop.order(&shop.pickup(item, 4)).await.expect(201)["order"]["id"].clone();
        let counted = json!({ "quantity": 12, "price": "300.00", "comment": "  Counted on\u{a0}Friday " });
        let changed = staff(Method::PUT, &path, counted).await.expect(200);
        let stock = &changed["inventory"];
        assert_eq!((&stock["quantity"], &stock["reserved"], &stock["available"]), (&json!(12), &json!(4), &json!(8)));
        assert_eq!(stock["price"], "300.00");
        staff(Method::PUT, &path, json!({ "quantity": 3, "comment": "Lost" })).await.expect_invalid(&["quantity"]);
        assert_eq!(staff(Method::PUT, &path, json!({ "quantity": 12, "comment": "Once more" })).await.expect(200)["inventory"]["quantity"], 12);

        let reported = staff(Method::GET, &format!("{path}/history?per_page=2"), json!({})).await.expect(200);
        assert_eq!((&reported["historiesCount"], &reported["pagination"]["last_page"]), (&json!(3), &json!(2)));
        let lines = reported["histories"].as_array().unwrap();
        assert_eq!((lines.len(), &lines[0]["reason"], &lines[0]["action"]), (2, &json!("edit"), &json!("changed")));
        assert_eq!(lines[0]["changes"], json!([
            { "field": "quantity", "old": "10", "new": "12" }, { "field": "price", "old": "265.50", "new": "300.00" },
        ]));
        assert_eq!((&lines[0]["comment"], &lines[1]["comment"]), (&json!("Counted on Friday"), &Value::Null));
        assert!(lines[0]["user"]["id"].is_i64() && lines[0]["order_id"].is_null() && lines[0]["job_id"].is_null());
        assert!(lines[0]["dateTime"].as_str().unwrap().ends_with('Z'));
        assert_eq!((&lines[1]["reason"], &lines[1]["order_id"], &lines[1]["job_id"]), (&json!("reservation"), &order, &json!(null)));
        assert_eq!(lines[1]["changes"], json!([{ "field": "reserved", "old": "0", "new": "4" }]));
        assert_eq!((&lines[1]["counterparty"]["id"], &lines[1]["user"]), (&json!(shop.customer), &json!(null)));
    }

    async fn a_new_record_begins_its_history(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        let path = format!("{PATH}/{}", fixture.create(PATH, stock(place, item)).await);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        let line = &reported["histories"][0];
        assert_eq!((&line["action"], &line["reason"]), (&json!("created"), &json!("creation")));
        assert_eq!(line["changes"], json!([
            { "field": "quantity", "old": null, "new": "5" }, { "field": "price", "old": null, "new": "265.00" },
        ]));
        let mut costs = Vec::new();
        for pieces in 0..20 {
            fixture.put(&path, json!({ "quantity": pieces })).await.expect(200);
            if matches!(pieces, 0 | 19) {
                costs.push(fixture.cost(&format!("{path}/history?per_page=100")).await);
            }
        }
        assert_eq!(costs[0], costs[1]);
    }

    async fn wrong_absent_and_foreign_stock_is_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        let path = format!("{PATH}/{}", fixture.create(PATH, stock(place, item)).await);
        for body in [json!({ "quantity": -1, "price": "1e400" }), json!({ "quantity": null, "price": null }),
            json!({ "quantity": 1_000_000_001, "price": "-0.01" })] {
            fixture.put(&path, body).await.expect_invalid(&["quantity", "price"]);
        }
        for comment in [json!(null), json!(" "), json!(7), json!("a".repeat(251)), json!("a\nb")] {
            fixture.put(&path, json!({ "quantity": -1, "comment": comment })).await.expect_invalid(&["quantity", "comment"]);
        }
        fixture.get(&format!("{path}/history?page=0&x=1")).await.expect_invalid(&["page", "x"]);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
            fixture.get(&format!("{absent}/history")).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
        fixture.as_outsider(Method::PUT, &path, json!({ "quantity": 1 })).await.expect(403);
        fixture.as_one_who_may(&["create-inventories"], Method::PUT, &path, json!({})).await.expect(403);
        assert_eq!(fixture.get(&path).await.expect(200)["inventory"]["quantity"], 5);
    }

    async fn stock_is_found_between_two_prices(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let place = fixture.warehouse("W").await;
        let mut ids = Vec::new();
        for price in ["1.00", "2.00", "3.00"] {
            let mut body = stock(place, fixture.goods(price).await);
            body["price"] = json!(price);
            ids.push(fixture.create(PATH, body).await);
        }
        for (query, expected) in [
            ("price_gt=1.99", &ids[1..]), ("price_lt=2.01", &ids[..2]), ("price=2", &ids[1..2]),
            ("price_gt=1&price_lt=3", &ids[1..2]), ("price_gt=5", &ids[3..]),
        ] {
            let listed = fixture.get(&format!("{PATH}?{query}")).await.expect(200);
            let found: Vec<_> = listed["inventories"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(found, expected, "{query}");
        }
        fixture.get(&format!("{PATH}?price_gt=x&price_lt=-1")).await.expect_invalid(&["price_gt", "price_lt"]);
    }
}
