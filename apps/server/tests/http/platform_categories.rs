//! Categories and brands, and those an application shows.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

const TABLE: &str = "/api/tables/categories";

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"]["value"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_category_is_created_and_listed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let root = fixture.create("/api/categories", json!({ "name": "Мебель", "parent_id": 0 })).await;
        let body = json!({
            "name": "Стулья", "photo": "https://cdn.example/a.jpg", "parent_id": root, "code": 40,
            "description": "<p>Деревянные</p>",
        });
        let created = fixture.post("/api/categories", body).await.expect(201);
        assert_eq!(created, json!({ "category": {
            "id": created["category"]["id"], "name": "Стулья",
            "photo": { "id": null, "url": "https://cdn.example/a.jpg" },
            "parent": { "id": root, "name": "Мебель" }, "code": 40, "description": "<p>Деревянные</p>",
        } }));
        let listed = fixture.get("/api/categories").await.expect(200);
        assert_eq!(listed["categoriesCount"], 2);
        assert_eq!(listed["categories"][0]["parent"], json!(null));
        assert_eq!(listed["categories"][0]["code"], 1);
        assert_eq!(listed["categories"][1], created["category"]);
        let foreign = fixture.as_outsider(Method::GET, "/api/categories", json!({})).await.expect(200);
        assert_eq!(foreign, json!({ "categories": [], "categoriesCount": 0 }));
    }

    async fn a_wrong_category_is_refused_field_by_field(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": " ", "photo": "a.jpg", "parent_id": "x", "code": 0, "description": [] });
        fixture.post("/api/categories", body).await
            .expect_invalid(&["name", "photo", "parent_id", "code", "description"]);
        fixture.post("/api/categories", json!({})).await.expect_invalid(&["name"]);
        let foreign = fixture.create_elsewhere("/api/categories", json!({ "name": "A" })).await;
        for parent in [foreign, 999_999] {
            fixture.post("/api/categories", json!({ "name": "A", "parent_id": parent })).await
                .expect_invalid(&["parent_id"]);
        }
        fixture.create("/api/categories", json!({ "name": "A", "code": 7 })).await;
        fixture.post("/api/categories", json!({ "name": "B", "code": 7 })).await.expect_invalid(&["code"]);
    }

    async fn a_moved_category_has_a_history_entry(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let root = fixture.create("/api/categories", json!({ "name": "Мебель" })).await;
        let chairs = fixture.create("/api/categories", json!({ "name": "Стулья", "description": "<b>x</b>" })).await;
        let path = format!("/api/categories/{chairs}");
        let body = json!({ "name": "Кресла", "parent_id": root, "code": 77, "description": null });
        let changed = fixture.put(&path, body.clone()).await.expect(200);
        assert_eq!(changed["category"]["parent"], json!({ "id": root, "name": "Мебель" }));
        assert_eq!(changed["category"]["description"], json!(null));
        fixture.put(&path, body).await.expect(200);
        fixture.put(&format!("/api/categories/{root}"), json!({ "parent_id": chairs })).await.expect_invalid(&["parent_id"]);
        fixture.put(&path, json!({ "parent_id": chairs })).await.expect_invalid(&["parent_id"]);
        let freed = fixture.put(&path, json!({ "parent_id": 0 })).await.expect(200);
        assert_eq!(freed["category"]["parent"], json!(null));

        let reported = fixture.get(&format!("{path}/history?per_page=2")).await.expect(200);
        assert_eq!(reported["historiesCount"], 3);
        assert_eq!(reported["pagination"]["last_page"], 2);
        let lines = reported["histories"].as_array().unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["changes"], json!([{ "field": "parent_id", "old": root.to_string(), "new": null }]));
        assert_eq!(lines[1]["action"], "changed");
        assert_eq!(lines[1]["counterparty"], json!(null));
        assert!(lines[1]["user"]["id"].is_i64() && lines[1]["user"]["name"].is_string(), "{reported}");
        assert!(lines[1]["dateTime"].as_str().unwrap().ends_with('Z'));
        let fields: Vec<_> = lines[1]["changes"].as_array().unwrap().iter().map(|change| change["field"].clone()).collect();
        assert_eq!(json!(fields), json!(["name", "parent_id", "code", "description"]));
        let first = fixture.get(&format!("{path}/history?page=2&per_page=2")).await.expect(200);
        assert_eq!(first["histories"][0]["action"], "created");
    }

    async fn a_wrong_change_of_a_category_is_refused_field_by_field(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create("/api/categories", json!({ "name": "A" })).await;
        fixture.create("/api/categories", json!({ "name": "B", "code": 9 })).await;
        let path = format!("/api/categories/{id}");
        let body = json!({ "name": null, "photo": "a.jpg", "parent_id": "x", "code": 1.5, "description": [] });
        fixture.put(&path, body).await.expect_invalid(&["name", "photo", "parent_id", "code", "description"]);
        fixture.put(&path, json!({ "code": 9 })).await.expect_invalid(&["code"]);
        fixture.put(&path, json!({ "parent_id": 999_999 })).await.expect_invalid(&["parent_id"]);
        fixture.get(&format!("{path}/history?page=0&per_page=1000000000&x=1")).await
            .expect_invalid(&["page", "per_page", "x"]);
        fixture.put("/api/categories/999999", json!({})).await.expect(404);
        fixture.get("/api/categories/999999/history").await.expect(404);
        fixture.as_outsider(Method::PUT, &path, json!({ "name": "X" })).await.expect(403);
        fixture.as_outsider(Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
    }

    async fn a_brand_has_a_name_of_its_own(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "Ёлка", "photo": "https://cdn.example/a.png" });
        let created = fixture.post("/api/brands", body).await.expect(201);
        assert_eq!(created["brand"]["photo"]["url"], "https://cdn.example/a.png");
        assert!(created["brand"]["created_at"].as_str().unwrap().ends_with('Z'));
        fixture.post("/api/brands", json!({ "name": "ёлка" })).await.expect_invalid(&["name"]);
        fixture.post("/api/brands", json!({ "photo": 1 })).await.expect_invalid(&["name", "photo"]);
        let listed = fixture.get("/api/brands").await.expect(200);
        assert_eq!(listed, json!({ "brands": [created["brand"]], "brandsCount": 1 }));
    }

    async fn an_application_shows_what_was_assigned(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (resource, field) in [("categories", "category_id"), ("brands", "brand_id")] {
            let path = format!("/api/applications/{}/{resource}", fixture.project.application_id);
            let mut ids = Vec::new();
            for name in ["A", "B"] {
                ids.push(fixture.create(&format!("/api/{resource}"), json!({ "name": name })).await);
            }
            for id in [ids[1], ids[0], ids[1]] {
                assert_eq!(fixture.create(&path, json!({ field: id })).await, id);
            }
            let listed = fixture.get(&path).await.expect(200);
            assert_eq!(listed[format!("{resource}Count")], 2);
            assert_eq!((&listed[resource][0]["id"], &listed[resource][1]["id"]), (&json!(ids[1]), &json!(ids[0])));

            let foreign = fixture.create_elsewhere(&format!("/api/{resource}"), json!({ "name": "A" })).await;
            for unknown in [json!(foreign), json!(999_999), json!(null), json!("x")] {
                fixture.post(&path, json!({ field: unknown })).await.expect_invalid(&[field]);
            }
            let absent = format!("/api/applications/999999/{resource}");
            fixture.get(&absent).await.expect(404);
            fixture.post(&absent, json!({ field: ids[0] })).await.expect(404);
            fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
            fixture.as_outsider(Method::POST, &path, json!({ field: ids[0] })).await.expect(403);
            let body = json!({ field: ids[0] });
            fixture.as_one_who_may(&["view-applications"], Method::GET, &path, json!({})).await.expect(200);
            fixture.as_one_who_may(&["view-applications"], Method::POST, &path, body).await.expect(403);
        }
    }

    async fn permissions_are_enforced(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for resource in ["categories", "brands"] {
            let path = format!("/api/{resource}");
            let (view, create) = (format!("view-{resource}"), format!("create-{resource}"));
            fixture.as_one_who_may(&[&view], Method::GET, &path, json!({})).await.expect(200);
            fixture.as_one_who_may(&[&view], Method::POST, &path, json!({ "name": "A" })).await.expect(403);
            fixture.as_one_who_may(&[&create], Method::GET, &path, json!({})).await.expect(403);
            fixture.as_one_who_may(&[&create], Method::POST, &path, json!({ "name": "A" })).await.expect(201);
        }
    }

    async fn categories_are_listed_whole_and_below_each_other(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let root = fixture.create("/api/categories", json!({ "name": "Ёлки", "code": 50, "photo": "https://cdn.example/a.jpg" })).await;
        for name in ["Игрушки", "ель"] {
            fixture.create("/api/categories", json!({ "name": name, "parent_id": root })).await;
        }
        fixture.create_elsewhere("/api/categories", json!({ "name": "Foreign" })).await;
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!(names(&table["categories"]), ["Ёлки", "Игрушки", "ель"]);
        let row = &table["categories"][0];
        let below = format!("{TABLE}/{root}");
        assert_eq!(row["name"], json!({ "icon": "https://cdn.example/a.jpg", "value": "Ёлки", "link": below }));
        assert_eq!((&row["code"], &row["parent"]), (&json!(50), &Value::Null));
        assert_eq!(table["categories"][1]["parent"], "Ёлки");
        assert_eq!(table["pagination"], json!({
            "total": 3, "per_page": 15, "current_page": 1, "last_page": 1, "from": 1, "to": 3,
        }));
        for (query, expected) in [
            ("order_by=name_asc", vec!["Ёлки", "ель", "Игрушки"]),
            ("order_by=code_desc", vec!["ель", "Игрушки", "Ёлки"]),
            ("query=%D0%81%D0%BB", vec!["Ёлки"]),
            (&format!("parent_id={root}"), vec!["Игрушки", "ель"]),
            ("per_page=1&page=2", vec!["Игрушки"]),
            ("page=9", vec![]),
        ] {
            assert_eq!(names(&fixture.get(&format!("{TABLE}?{query}")).await.expect(200)["categories"]), expected, "{query}");
        }
        let children = fixture.get(&format!("{below}?order_by=name_desc")).await.expect(200);
        assert_eq!(names(&children["categories"]), ["Игрушки", "ель"]);
        assert_eq!(children["pagination"]["total"], 2);
        for absent in ["999999", "x"] {
            fixture.get(&format!("{TABLE}/{absent}")).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &below, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-categories"], Method::GET, &below, json!({})).await.expect(403);
        let few = (fixture.cost(TABLE).await, fixture.cost(&below).await);
        for number in 0..14 {
            fixture.create("/api/categories", json!({ "name": format!("C{number}"), "parent_id": root })).await;
        }
        assert_eq!((fixture.cost(TABLE).await, fixture.cost(&below).await), few);
    }

    async fn assignments_of_an_application_are_a_table_in_its_order(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (resource, field, backwards) in [
            ("categories", "category_id", "position_desc"), ("brands", "brand_id", "priority_asc"),
        ] {
            let path = format!("/api/applications/{}/{resource}", fixture.project.application_id);
            let table = format!("/api/tables/applications/{}/{resource}", fixture.project.application_id);
            for name in ["B", "C", "A"] {
                let id = fixture.create(&format!("/api/{resource}"), json!({ "name": name })).await;
                fixture.create(&path, json!({ field: id })).await;
            }
            fixture.create(&format!("/api/{resource}"), json!({ "name": "Unshown" })).await;
            let last = fixture.get(&path).await.expect(200)[resource][2]["id"].clone();
            fixture.post(&format!("{path}/{last}/up"), json!({})).await.expect(200);
            let shown = fixture.get(&table).await.expect(200);
            assert_eq!(names(&shown[resource]), ["B", "A", "C"]);
            assert_eq!(shown["pagination"]["total"], 3);
            for (query, expected) in [
                (format!("order_by={backwards}").as_str(), vec!["C", "A", "B"]), ("order_by=name_asc", vec!["A", "B", "C"]), ("query=b", vec!["B"]),
                ("per_page=2&page=2", vec!["C"]),
            ] {
                assert_eq!(names(&fixture.get(&format!("{table}?{query}")).await.expect(200)[resource]), expected, "{query}");
            }
            fixture.get(&format!("{table}?page=0&per_page=101&order_by=price_asc&x=1")).await
                .expect_invalid(&["page", "per_page", "order_by", "x"]);
            fixture.get(&format!("/api/tables/applications/999999/{resource}")).await.expect(404);
            fixture.as_outsider(Method::GET, &table, json!({})).await.expect(403);
            fixture.as_one_who_may(&[&format!("view-{resource}")], Method::GET, &table, json!({})).await.expect(403);
            fixture.as_one_who_may(&["view-applications"], Method::GET, &table, json!({})).await.expect(200);
        }
    }
}
