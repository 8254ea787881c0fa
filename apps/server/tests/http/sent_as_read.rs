//! Records that are sent back as they were read, and empty texts.

use kontor_adapter_diesel::database_tests;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

/// Fields that differ after every change.
const OF_EVERY_CHANGE: [&str; 3] = ["updated_at", "version", "views_count"];

fn lasting(record: &Value) -> Value {
    let mut record = record.clone();
    record.as_object_mut().unwrap().retain(|name, _| !OF_EVERY_CHANGE.contains(&name.as_str()));
    record
}

impl ProjectFixture {
    /// Reads a record, sends it back and reads it again.
    async fn send_back(&self, path: &str, key: &str) {
        let before = self.get(path).await.expect(200)[key].clone();
        let mut body = before.clone();
        if key == "counterparty" {
            // The contract requires it, and reads do not return it.
            body["is_company"] = json!(false);
        }
        self.put(path, body).await.expect(200);
        let after = self.get(path).await.expect(200)[key].clone();
        assert_eq!(lasting(&after), lasting(&before), "{path}");
    }
}

database_tests! {
    async fn records_can_be_sent_back_as_they_were_read(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch = fixture.project.branch_id;
        let application = fixture.project.application_id;
        let category = fixture.create("/api/categories", json!({ "name": "Kitchen" })).await;
        let child = fixture.create("/api/categories", json!({ "name": "Mugs", "parent_id": category })).await;
        let brand = fixture.create("/api/brands", json!({ "name": "Nord" })).await;
        let card = json!({ "name": "Mug", "kind_id": 2, "category_id": child, "brand_id": brand, "price": "5.00", "article": "M-1" });
        let item = fixture.create("/api/nomenclatures", card).await;
        let warehouse = fixture.create("/api/warehouses", json!({ "name": "Main", "branch_id": branch, "application_ids": [application] })).await;
        let stock = json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 5, "price": "5.00" });
        let me = fixture.get("/api/users").await.expect(200)["users"][0]["id"].clone();
        let role = fixture.create("/api/roles", json!({ "name": "Clerk" })).await;
        let user = json!({ "login": "oleg", "email": "o@example.com", "first_name": "Oleg", "last_name": "Kern", "role_id": role });
        let customer = json!({ "is_company": false, "first_name": "Ann", "phone_1": "79001234567", "manager_id": me });
        let discount = json!({ "name": "Sale", "type": "percent", "value": "10.00", "target": "category", "category_id": child });
        let sale = fixture.create("/api/discounts", json!({ "name": "Ten", "type": "percent", "value": 10 })).await;
        let promotion = json!({
            "name": "Weeks", "description": "<p>!</p>", "photo": "https://cdn.example/a.png", "starts_at": "2026-03-01T00:00:00Z",
            "discount_ids": [sale], "nomenclature_ids": [item],
        });
        for (path, body, key) in [
            ("/api/promotions", promotion, "promotion"),
            ("/api/departments", json!({ "name": "Sales", "branch_id": branch }), "department"),
            ("/api/users", user, "user"),
            ("/api/payment_types", json!({ "name": "Card", "photo": "https://x.ru/card.png", "is_online": true }), "paymentType"),
            ("/api/shops", json!({ "name": "Main", "address": "Nevsky 1", "branch_id": branch }), "shop"),
            ("/api/inventories", stock, "inventory"),
            ("/api/counterparties", customer, "counterparty"),
            ("/api/tasks", json!({ "title": "Call", "responsible_id": me, "status_id": 2 }), "task"),
            ("/api/pages", json!({ "title": "About", "page_type_id": 1, "tags": ["a"] }), "page"),
            ("/api/discounts", discount, "discount"),
        ] {
            let id = fixture.create(path, body).await;
            fixture.send_back(&format!("{path}/{id}"), key).await;
        }
        for (path, id, key) in [
            ("/api/brands", brand, "brand"), ("/api/nomenclatures", item, "nomenclature"),
            ("/api/warehouses", warehouse, "warehouse"), ("/api/branches", branch, "branch"),
            ("/api/applications", application, "application"),
        ] {
            fixture.send_back(&format!("{path}/{id}"), key).await;
        }
        fixture.send_back("/api/project", "project").await;
        let menu = format!("/api/applications/{application}/menu_items");
        let parent = fixture.create(&menu, json!({ "name": "Shop" })).await;
        let item = fixture.create(&menu, json!({ "name": "Mugs", "parent_id": parent })).await;
        fixture.send_back(&format!("{menu}/{item}"), "menuItem").await;
        let slides = format!("/api/applications/{application}/slides");
        let slide = json!({ "title": "Sale", "photo": "https://cdn.example/a.png", "link": "/sale", "starts_at": "2026-01-01T00:00:00Z" });
        let slide = fixture.create(&slides, slide).await;
        fixture.send_back(&format!("{slides}/{slide}"), "slide").await;
        // Only lists show a category, in the form that its creation returned.
        let cups = json!({ "name": "Cups", "parent_id": category });
        let record = fixture.post("/api/categories", cups).await.expect(201)["category"].clone();
        let again = fixture.put(&format!("/api/categories/{}", record["id"]), record.clone()).await.expect(200);
        assert_eq!(lasting(&again["category"]), lasting(&record));
    }

    async fn a_record_may_stand_for_its_id(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let parent = fixture.create("/api/categories", json!({ "name": "Kitchen" })).await;
        let body = json!({ "name": "Mugs", "parent": { "id": parent, "name": "Kitchen" } });
        let created = fixture.post("/api/categories", body).await.expect(201)["category"].clone();
        assert_eq!(created["parent"]["id"], parent);
        let path = format!("/api/categories/{}", created["id"]);
        let parent_of = async |body: Value| fixture.put(&path, body).await.expect(200)["category"]["parent"]["id"].clone();
        let other = fixture.create("/api/categories", json!({ "name": "Table" })).await;
        // The field with the id takes precedence.
        assert_eq!(parent_of(json!({ "parent": { "id": parent }, "parent_id": other })).await, other);
        fixture.put(&path, json!({ "parent": { "name": "Kitchen" }, "name": 5 })).await.expect_invalid(&["name", "parent_id"]);
        fixture.put(&path, json!({ "parent": { "id": "x" } })).await.expect_invalid(&["parent_id"]);
        assert_eq!(parent_of(json!({ "parent": null })).await, Value::Null);
    }

    async fn an_empty_text_is_none(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "Mug", "kind_id": 2, "article": "", "description": " ", "price": "", "share_link": "\u{a0}" });
        let path = format!("/api/nomenclatures/{}", fixture.create("/api/nomenclatures", body).await);
        let read = fixture.get(&path).await.expect(200)["nomenclature"].clone();
        for field in ["article", "description", "price", "share_link"] {
            assert_eq!(read[field], Value::Null, "{field}");
        }
        fixture.put(&path, json!({ "article": "M-1", "description": "<p>Blue</p>" })).await.expect(200);
        let cleared = fixture.put(&path, json!({ "article": "", "description": "\n" })).await.expect(200);
        assert_eq!((&cleared["nomenclature"]["article"], &cleared["nomenclature"]["description"]), (&Value::Null, &Value::Null));
        for name in ["", " ", "\u{a0}\t"] {
            fixture.put(&path, json!({ "name": name })).await.expect_invalid(&["name"]);
        }
        fixture.get("/api/nomenclatures?query=").await.expect_invalid(&["query"]);
    }
}
