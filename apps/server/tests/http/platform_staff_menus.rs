//! Menus of the staff interface, and the project's menu as employees see it.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

async fn customers_see(fixture: &ProjectFixture, name: &str) -> Answer {
    let path = format!("/api/counterparty/menus/{name}/items");
    send(fixture.server.as_app(&fixture.project, Method::GET, &path)).await
}

fn urls(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["url"].as_str().unwrap()).collect()
}

database_tests! {
    async fn default_items_are_what_permissions_open(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let all = fixture.get("/api/menus/default/items").await.expect(200);
        assert!(urls(&all["menuItems"]).contains(&"/orders") && urls(&all["menuItems"]).contains(&"/subscriptions"));
        assert_eq!(all["menuItemsCount"], all["menuItems"].as_array().unwrap().len());
        let few = fixture.as_one_who_may(&["view-menus", "view-orders", "edit-pages"], Method::GET, "/api/menus/default/items", json!({})).await;
        assert_eq!(urls(&few.expect(200)["menuItems"]), ["/menus", "/orders"]);
    }

    async fn a_menu_is_made_attached_and_shown(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let admin = fixture.own_number().await;
        let make = format!("/api/users/{admin}/create_menu_from_user_items");
        let items = json!([{ "name": "Заказы", "url": "/orders", "screen_id": 15 }, { "name": "Сайт", "url": "https://shop.example" }]);
        let made = fixture.post(&make, json!({ "name": "Касса", "items": items })).await.expect(201)["menu"].clone();
        assert_eq!((&made["is_project"], &made["is_own"], urls(&made["items"])), (&json!(false), &json!(false), vec!["/orders", "https://shop.example"]));
        let full = fixture.post(&make, json!({ "name": "Всё" })).await.expect(201)["menu"].clone();
        assert!(full["items"].as_array().unwrap().len() > 20);
        customers_see(&fixture, "%D0%9A%D0%B0%D1%81%D1%81%D0%B0").await.expect(404);
        fixture.post("/api/attach_menu_to_project", json!({ "menu_id": made["id"] })).await.expect(200);
        let shown = customers_see(&fixture, "%D0%9A%D0%B0%D1%81%D1%81%D0%B0").await.expect(200);
        assert_eq!((&shown["menuItemsCount"], urls(&shown["menuItems"])), (&json!(2), vec!["/orders", "https://shop.example"]));
        let mut keys: Vec<&String> = shown["menuItems"][0].as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["avatar", "children", "code", "name", "preview", "url"]);
        for other in ["%D0%BA%D0%B0%D1%81%D1%81%D0%B0", "%D0%92%D1%81%D1%91", "x"] {
            customers_see(&fixture, other).await.expect(404);
        }
        // An employee without a menu sees the project's.
        let copy = fixture.post(&make, json!({ "name": "Копия" })).await.expect(201)["menu"].clone();
        assert_eq!(copy["items"], made["items"]);
        fixture.post(&format!("/api/users/{admin}/attach_menu"), json!({ "menu_id": full["id"] })).await.expect(200);
        let menus = fixture.get("/api/menus").await.expect(200);
        assert_eq!(menus["menusCount"], 3);
        assert_eq!((&menus["menus"][0]["is_project"], &menus["menus"][1]["is_own"]), (&json!(true), &json!(true)));
        let own = fixture.post(&make, json!({ "name": "Своё" })).await.expect(201)["menu"].clone();
        assert_eq!(own["items"], full["items"]);
        fixture.post("/api/attach_menu_to_project", json!({ "menu_id": 0 })).await.expect(200);
        fixture.post(&format!("/api/users/{admin}/attach_menu"), json!({})).await.expect(200);
        customers_see(&fixture, "%D0%9A%D0%B0%D1%81%D1%81%D0%B0").await.expect(404);
        assert_eq!(fixture.get("/api/menus").await.expect(200)["menus"][1]["is_own"], false);
    }

    async fn wrong_menus_are_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let make = format!("/api/users/{}/create_menu_from_user_items", fixture.own_number().await);
        let wrong = json!({ "name": "", "items": [{ "url": "", "screen_id": "x" }, { "name": "A", "url": "/a" }] });
        fixture.post(&make, wrong).await.expect_invalid(&["name", "items.0.name", "items.0.url", "items.0.screen_id"]);
        fixture.post(&make, json!({ "name": "A", "items": [] })).await.expect_invalid(&["items"]);
        let unknown = json!({ "name": "A", "items": [{ "name": "A", "url": "/a" }, { "name": "B", "url": "/b", "screen_id": 999 }] });
        fixture.post(&make, unknown).await.expect_invalid(&["items.1.screen_id"]);
        let many: Vec<Value> = (0..101).map(|number| json!({ "name": format!("I{number}"), "url": "/i" })).collect();
        fixture.post(&make, json!({ "name": "A", "items": many })).await.expect_invalid(&["items"]);
        assert_eq!(fixture.get("/api/menus").await.expect(200)["menusCount"], 0, "nothing is left");
        fixture.post(&make, json!({ "name": "A" })).await.expect(201);
        fixture.post(&make, json!({ "name": "A" })).await.expect_invalid(&["name"]);
        fixture.post("/api/attach_menu_to_project", json!({ "menu_id": 999 })).await.expect_invalid(&["menu_id"]);
        fixture.post("/api/users/999999/attach_menu", json!({})).await.expect(404);
        fixture.as_outsider(Method::POST, &make, json!({ "name": "B" })).await.expect(403);
        let menus = fixture.get("/api/menus").await.expect(200);
        let theirs = json!({ "menu_id": menus["menus"][0]["id"] });
        fixture.as_outsider(Method::POST, "/api/attach_menu_to_project", theirs).await.expect_invalid(&["menu_id"]);
    }
}
