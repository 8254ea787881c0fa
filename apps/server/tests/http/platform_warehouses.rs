//! Warehouses.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::office::Office;

const PATH: &str = "/api/warehouses";

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
}
