//! Warehouses.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

const PATH: &str = "/api/warehouses";
const TABLE: &str = "/api/tables/warehouses";

async fn delete(fixture: &ProjectFixture, path: &str) -> Answer {
    send(fixture.server.as_staff(&fixture.owner, Method::DELETE, path)).await
}

database_tests! {
    async fn a_warehouse_is_created_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let project = fixture.project.clone();
        let body = json!({ "name": "Склад", "branch_id": project.branch_id, "address": "Тверь" });
        let created = fixture.post(PATH, body).await.expect(201);
        let warehouse = &created["warehouse"];
        assert_eq!(warehouse["branch"], json!({ "id": project.branch_id, "name": "Branch" }));
        assert_eq!(warehouse["applications"], json!([{ "id": project.application_id, "name": "Shop" }]));
        let path = format!("{PATH}/{}", warehouse["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);

        let change = json!({ "name": "Депо", "address": null, "application_ids": [] });
        let changed = fixture.put(&path, change).await.expect(200);
        let mut expected = created.clone();
        expected["warehouse"]["name"] = json!("Депо");
        expected["warehouse"]["address"] = json!(null);
        expected["warehouse"]["applications"] = json!([]);
        expected["warehouse"]["updated_at"] = changed["warehouse"]["updated_at"].clone();
        assert_eq!(changed, expected);
        let untouched = fixture.put(&path, json!({})).await.expect(200);
        assert_eq!(untouched["warehouse"]["name"], "Депо");
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.post(PATH, json!({ "application_ids": [1, "x", 0], "address": 1.5 })).await.expect_invalid(&[
            "name", "branch_id", "application_ids.1", "application_ids.2", "address",
        ]);
        let other = fixture.server.project().await;
        let body = json!({
            "name": "W", "branch_id": other.branch_id,
            "application_ids": [fixture.project.application_id, other.application_id, 999_999],
        });
        fixture.post(PATH, body.clone()).await
            .expect_invalid(&["branch_id", "application_ids.1", "application_ids.2"]);
        let path = format!("{PATH}/{}", fixture.warehouse("W").await);
        fixture.put(&path, body).await.expect_invalid(&["branch_id", "application_ids.1", "application_ids.2"]);
        fixture.put(&path, json!({ "name": null, "branch_id": null, "application_ids": null })).await
            .expect_invalid(&["name", "branch_id", "application_ids"]);
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.warehouse("W").await);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-warehouses"], Method::GET, &path, json!({})).await.expect(200);
        fixture.as_one_who_may(&["view-warehouses"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-warehouses"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-warehouses"], Method::GET, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-warehouses"], Method::PUT, &path, json!({})).await.expect(200);
    }

    async fn only_an_empty_warehouse_is_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        let path = format!("{PATH}/{place}");
        let body = json!({ "warehouse_id": place, "nomenclature_id": item, "quantity": 1, "price": 1 });
        let stock = format!("/api/inventories/{}", fixture.create("/api/inventories", body.clone()).await);
        delete(&fixture, &path).await.expect_invalid(&["id"]);
        fixture.put(&stock, json!({ "quantity": 0 })).await.expect(200);
        fixture.as_outsider(Method::DELETE, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-warehouses"], Method::DELETE, &path, json!({})).await.expect(403);
        let parameters = format!("{path}/integrations/4/parameters");
        fixture.post(&parameters, json!({ "key": "token", "value": "s3cret" })).await.expect(201);
        assert!(delete(&fixture, &path).await.expect(200)["message"].is_string());
        for gone in [path.clone(), format!("{path}/history"), format!("{path}/integrations"), parameters, stock.clone()] {
            fixture.get(&gone).await.expect(404);
        }
        delete(&fixture, &path).await.expect(404);
        fixture.put(&path, json!({ "name": "Back" })).await.expect(404);
        fixture.put(&stock, json!({ "quantity": 5 })).await.expect(404);
        fixture.post("/api/inventories", body).await.expect_invalid(&["warehouse_id"]);
        assert_eq!(fixture.get("/api/inventories").await.expect(200)["inventoriesCount"], 0);
        assert_eq!(fixture.get(TABLE).await.expect(200)["pagination"]["total"], 0);
        let kept = "SELECT count(*) AS id FROM integration_parameters".to_owned();
        assert_eq!(fixture.server.insert(kept).await, 0);
    }

    async fn a_warehouse_has_a_history(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.warehouse("W").await);
        fixture.put(&path, json!({ "name": "Depot", "address": "Quay 1", "application_ids": [] })).await.expect(200);
        fixture.put(&path, json!({ "name": "Depot" })).await.expect(200);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(reported["historiesCount"], 2);
        assert_eq!(reported["histories"][1]["action"], "created");
        assert_eq!(reported["histories"][0]["changes"], json!([
            { "field": "name", "old": "W", "new": "Depot" },
            { "field": "address", "old": null, "new": "Quay 1" },
            { "field": "application_ids", "old": fixture.project.application_id.to_string(), "new": null },
        ]));
        fixture.get(&format!("{path}/history?per_page=101&x=1")).await.expect_invalid(&["per_page", "x"]);
        fixture.as_outsider(Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
    }

    async fn the_table_is_filtered_sorted_and_cut_into_pages(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch = fixture.create("/api/branches", json!({ "name": "Other" })).await;
        let (b, a) = (fixture.warehouse("B").await, fixture.warehouse("A").await);
        let c = fixture.create(PATH, json!({ "name": "C", "branch_id": branch })).await;
        fixture.create_elsewhere("/api/branches", json!({ "name": "X" })).await;
        for (query, expected) in [
            ("", vec![b, a, c]), ("order_by=name_asc", vec![a, b, c]), ("order_by=id_desc&per_page=2", vec![c, a]),
            ("per_page=2&page=2", vec![c]), (&format!("branch_id={branch}"), vec![c]), ("page=99", vec![]),
        ] {
            let table = fixture.get(&format!("{TABLE}?{query}")).await.expect(200);
            let ids: Vec<_> = table["warehouses"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(ids, expected, "{query}");
        }
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"]["per_page"], 15);
        assert_eq!(table["warehouses"][0]["name"], json!({ "icon": null, "value": "B", "link": format!("/api/warehouses/{b}") }));
        assert_eq!(table["warehouses"][0]["applications"], "Shop");
        fixture.get(&format!("{TABLE}?page=0&order_by=colour_asc&branch_id=x&colour=red")).await
            .expect_invalid(&["page", "order_by", "branch_id", "colour"]);
        let few = fixture.cost(TABLE).await;
        for number in 0..12 {
            fixture.warehouse(&number.to_string()).await;
        }
        assert_eq!(fixture.cost(TABLE).await, few);
    }
}
