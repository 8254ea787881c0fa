//! Warehouses.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::office::Office;
use crate::support::{Answer, send};

const PATH: &str = "/api/warehouses";
const TABLE: &str = "/api/tables/warehouses";

async fn delete(office: &Office, path: &str) -> Answer {
    send(office.server.as_staff(&office.owner, Method::DELETE, path)).await
}

database_tests! {
    async fn a_warehouse_is_created_read_and_changed(db: TestDatabase) {
        let office = Office::open(db).await;
        let project = office.project.clone();
        let body = json!({ "name": "Склад", "branch_id": project.branch_id, "address": "Тверь" });
        let created = office.post(PATH, body).await.expect(201);
        let warehouse = &created["warehouse"];
        assert_eq!(warehouse["branch"], json!({ "id": project.branch_id, "name": "Branch" }));
        assert_eq!(warehouse["applications"], json!([{ "id": project.application_id, "name": "Shop" }]));
        let path = format!("{PATH}/{}", warehouse["id"]);
        assert_eq!(office.get(&path).await.expect(200), created);

        let change = json!({ "name": "Депо", "address": null, "application_ids": [] });
        let changed = office.put(&path, change).await.expect(200);
        let mut expected = created.clone();
        expected["warehouse"]["name"] = json!("Депо");
        expected["warehouse"]["address"] = json!(null);
        expected["warehouse"]["applications"] = json!([]);
        expected["warehouse"]["updated_at"] = changed["warehouse"]["updated_at"].clone();
        assert_eq!(changed, expected);
        let untouched = office.put(&path, json!({})).await.expect(200);
        assert_eq!(untouched["warehouse"]["name"], "Депо");
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        office.post(PATH, json!({ "application_ids": [1, "x", 0], "address": 1.5 })).await.expect_invalid(&[
            "name", "branch_id", "application_ids.1", "application_ids.2", "address",
        ]);
        let other = office.server.project().await;
        let body = json!({
            "name": "W", "branch_id": other.branch_id,
            "application_ids": [office.project.application_id, other.application_id, 999_999],
        });
        office.post(PATH, body.clone()).await
            .expect_invalid(&["branch_id", "application_ids.1", "application_ids.2"]);
        let path = format!("{PATH}/{}", office.warehouse("W").await);
        office.put(&path, body).await.expect_invalid(&["branch_id", "application_ids.1", "application_ids.2"]);
        office.put(&path, json!({ "name": null, "branch_id": null, "application_ids": null })).await
            .expect_invalid(&["name", "branch_id", "application_ids"]);
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let office = Office::open(db).await;
        let path = format!("{PATH}/{}", office.warehouse("W").await);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            office.get(&absent).await.expect(404);
            office.put(&absent, json!({})).await.expect(404);
        }
        office.as_stranger(Method::GET, &path, json!({})).await.expect(403);
        office.as_stranger(Method::PUT, &path, json!({})).await.expect(403);
        office.as_one_who_may(&["view-warehouses"], Method::GET, &path, json!({})).await.expect(200);
        office.as_one_who_may(&["view-warehouses"], Method::PUT, &path, json!({})).await.expect(403);
        office.as_one_who_may(&["create-warehouses"], Method::PUT, &path, json!({})).await.expect(403);
        office.as_one_who_may(&["edit-warehouses"], Method::GET, &path, json!({})).await.expect(403);
        office.as_one_who_may(&["edit-warehouses"], Method::PUT, &path, json!({})).await.expect(200);
    }

    async fn only_an_empty_warehouse_is_deleted(db: TestDatabase) {
        let office = Office::open(db).await;
        let (item, place) = (office.goods("A").await, office.warehouse("W").await);
        let path = format!("{PATH}/{place}");
        let body = json!({ "warehouse_id": place, "nomenclature_id": item, "quantity": 1, "price": 1 });
        let stock = format!("/api/inventories/{}", office.create("/api/inventories", body.clone()).await);
        delete(&office, &path).await.expect_invalid(&["id"]);
        office.put(&stock, json!({ "quantity": 0 })).await.expect(200);
        office.as_stranger(Method::DELETE, &path, json!({})).await.expect(403);
        office.as_one_who_may(&["create-warehouses"], Method::DELETE, &path, json!({})).await.expect(403);
        let parameters = format!("{path}/integrations/4/parameters");
        office.post(&parameters, json!({ "key": "token", "value": "s3cret" })).await.expect(201);
        assert!(delete(&office, &path).await.expect(200)["message"].is_string());
        for gone in [path.clone(), format!("{path}/history"), format!("{path}/integrations"), parameters, stock.clone()] {
            office.get(&gone).await.expect(404);
        }
        delete(&office, &path).await.expect(404);
        office.put(&path, json!({ "name": "Back" })).await.expect(404);
        office.put(&stock, json!({ "quantity": 5 })).await.expect(404);
        office.post("/api/inventories", body).await.expect_invalid(&["warehouse_id"]);
        assert_eq!(office.get("/api/inventories").await.expect(200)["inventoriesCount"], 0);
        assert_eq!(office.get(TABLE).await.expect(200)["pagination"]["total"], 0);
        let kept = "SELECT count(*) AS id FROM integration_parameters".to_owned();
        assert_eq!(office.server.insert(kept).await, 0);
    }

    async fn the_history_of_a_warehouse_tells(db: TestDatabase) {
        let office = Office::open(db).await;
        let path = format!("{PATH}/{}", office.warehouse("W").await);
        office.put(&path, json!({ "name": "Depot", "address": "Quay 1", "application_ids": [] })).await.expect(200);
        office.put(&path, json!({ "name": "Depot" })).await.expect(200);
        let told = office.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(told["historiesCount"], 2);
        assert_eq!(told["histories"][1]["action"], "created");
        assert_eq!(told["histories"][0]["changes"], json!([
            { "field": "name", "old": "W", "new": "Depot" },
            { "field": "address", "old": null, "new": "Quay 1" },
            { "field": "application_ids", "old": office.project.application_id.to_string(), "new": null },
        ]));
        office.get(&format!("{path}/history?per_page=101&x=1")).await.expect_invalid(&["per_page", "x"]);
        office.as_stranger(Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
    }

    async fn the_table_is_filtered_sorted_and_cut_into_pages(db: TestDatabase) {
        let office = Office::open(db).await;
        let branch = office.create("/api/branches", json!({ "name": "Other" })).await;
        let (b, a) = (office.warehouse("B").await, office.warehouse("A").await);
        let c = office.create(PATH, json!({ "name": "C", "branch_id": branch })).await;
        office.create_elsewhere("/api/branches", json!({ "name": "X" })).await;
        for (query, expected) in [
            ("", vec![b, a, c]), ("order_by=name_asc", vec![a, b, c]), ("order_by=id_desc&per_page=2", vec![c, a]),
            ("per_page=2&page=2", vec![c]), (&format!("branch_id={branch}"), vec![c]), ("page=99", vec![]),
        ] {
            let table = office.get(&format!("{TABLE}?{query}")).await.expect(200);
            let ids: Vec<_> = table["warehouses"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(ids, expected, "{query}");
        }
        let table = office.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"]["per_page"], 15);
        assert_eq!(table["warehouses"][0]["name"], json!({ "icon": null, "value": "B", "link": format!("/api/warehouses/{b}") }));
        assert_eq!(table["warehouses"][0]["applications"], "Shop");
        office.get(&format!("{TABLE}?page=0&order_by=colour_asc&branch_id=x&colour=red")).await
            .expect_invalid(&["page", "order_by", "branch_id", "colour"]);
        let few = office.cost(TABLE).await;
        for number in 0..12 {
            office.warehouse(&number.to_string()).await;
        }
        assert_eq!(office.cost(TABLE).await, few);
    }
}
