//! Content as customers see it.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, keys, send};

const CLIENT: &str = "/api/counterparty";

async fn client(fixture: &ProjectFixture, path: &str) -> Answer {
    send(fixture.server.as_app(&fixture.project, Method::GET, &format!("{CLIENT}/{path}"))).await
}

fn titles(list: &Value) -> Vec<&str> {
    list["pages"]["data"].as_array().unwrap().iter().map(|page| page["title"].as_str().unwrap()).collect()
}

database_tests! {
    async fn pages_have_the_shape_of_the_contract(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let html = "<p onclick=\"x()\">A <b>b</b></p><script>x()</script><img src=\"data:image/png;base64,AAAA\">";
        let body = json!({ "title": "О нас", "description": "Кто", "content": html, "tags": ["a"], "page_type_id": 1 });
        fixture.create("/api/pages", body).await;
        fixture.create("/api/pages", json!({ "title": "Скрыто", "is_active": false })).await;
        let list = client(&fixture, "pages").await.expect(200);
        assert_eq!(keys(&list["pages"]), ["current_page", "data", "last_page", "per_page", "total"]);
        assert_eq!((&list["pages"]["per_page"], &list["pages"]["current_page"], &list["pages"]["total"]), (&json!(10), &json!(1), &json!(1)));
        let page = client(&fixture, "pages/o-nas").await.expect(200)["page"].clone();
        let fields = ["author", "content", "created_at", "description", "id", "preview", "slug", "tags", "title", "views_count"];
        assert_eq!(keys(&page), fields);
        assert_eq!(keys(&list["pages"]["data"][0]), fields);
        assert_eq!(page["content"], "<p>A <b>b</b></p><img>");
        let types = client(&fixture, "page_types").await.expect(200);
        assert_eq!(keys(&types["items"][0]), ["created_at", "id", "name", "photo"]);
        assert_eq!(types["itemsCount"], types["items"].as_array().unwrap().len());
        for hidden in ["skryto", "none", "a%2Fb", "..%2F", "%D0%B0", "%00", "%FF"] {
            client(&fixture, &format!("pages/{hidden}")).await.expect(404);
        }
    }

    async fn pages_are_found_sorted_and_filtered(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.create("/api/pages", json!({ "title": "Alpha wool", "page_type_id": 1 })).await;
        fixture.create("/api/pages", json!({ "title": "Beta", "description": "Woollen things" })).await;
        fixture.create("/api/pages", json!({ "title": "Gamma", "content": "<p>Of <i>wool</i></p>" })).await;
        let list = async |query: &str| client(&fixture, &format!("pages?{query}")).await.expect(200);
        assert_eq!(titles(&list("query=wool&order_by=date_asc").await), ["Alpha wool", "Beta", "Gamma"]);
        assert_eq!(titles(&list("order_by=date_desc").await), ["Gamma", "Beta", "Alpha wool"]);
        assert_eq!(titles(&list("page_type_id=1").await), ["Alpha wool"]);
        assert_eq!(titles(&list("application_id=12345&per_page=1&page=2").await), ["Beta"]);
        fixture.server.execute("UPDATE pages SET views_count = 5 WHERE title = 'Beta'").await;
        assert_eq!(titles(&list("order_by=popularity_desc").await)[0], "Beta");
        assert_eq!(titles(&list("order_by=popularity_asc").await)[2], "Beta");
        for (query, field) in [
            ("query=wo", "query"), ("order_by=title", "order_by"), ("page_type_id=x", "page_type_id"),
            ("application_id=x", "application_id"), ("per_page=101", "per_page"), ("page=0", "page"), ("sort=1", "sort"),
        ] {
            client(&fixture, &format!("pages?{query}")).await.expect_invalid(&[field]);
        }
    }

    async fn a_view_counts_once_for_an_address_and_a_fallback_is_shown(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.create("/api/pages", json!({ "title": "News" })).await;
        for _ in 0..3 {
            let page = client(&fixture, "pages/news").await.expect(200);
            assert_eq!(page["page"]["views_count"], 1);
        }
        client(&fixture, "pages/absent").await.expect(404);
        let instead = fixture.create("/api/pages", json!({ "title": "Not found", "is_fallback": true })).await;
        for _ in 0..2 {
            let page = client(&fixture, "pages/absent").await.expect(200);
            assert_eq!((&page["page"]["slug"], &page["page"]["views_count"]), (&json!("not-found"), &json!(1)));
        }
        fixture.put(&format!("/api/pages/{instead}"), json!({ "is_active": false })).await.expect(200);
        client(&fixture, "pages/absent").await.expect(404);
    }

    async fn changes_by_staff_are_shown_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create("/api/pages", json!({ "title": "News" })).await;
        let block = format!("/api/applications/{}/blocks", fixture.project.application_id);
        let item = format!("/api/applications/{}/menu_items", fixture.project.application_id);
        let banner = fixture.create(&block, json!({ "name": "Banner", "block_type_id": 1, "code": 5 })).await;
        let menu = fixture.create(&item, json!({ "name": "Menu", "slug": "navpanel" })).await;
        for round in 0..3 {
            let name = format!("N{round}");
            fixture.put(&format!("/api/pages/{id}"), json!({ "title": name })).await.expect(200);
            fixture.put(&format!("{block}/{banner}"), json!({ "name": name })).await.expect(200);
            fixture.put(&format!("{item}/{menu}"), json!({ "name": name })).await.expect(200);
            for _ in 0..2 {
                assert_eq!(client(&fixture, "pages/news").await.expect(200)["page"]["title"], name);
                assert_eq!(titles(&client(&fixture, "pages").await.expect(200)), [name.as_str()]);
                assert_eq!(client(&fixture, "blocks/5").await.expect(200)["block"]["name"], name);
                assert_eq!(client(&fixture, "menus").await.expect(200)["menuItems"]["name"], name);
            }
        }
        fixture.delete(&format!("{block}/{banner}")).await.expect(200);
        client(&fixture, "blocks/5").await.expect(404);
    }

    async fn a_block_is_shown_with_those_below_it_and_only_in_its_application(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("/api/applications/{}/blocks", fixture.project.application_id);
        let body = |name: &str, code: i64, parent: Option<i64>| json!({ "name": name, "block_type_id": 1, "code": code, "parent_id": parent });
        let top = fixture.create(&path, body("Top", 10, None)).await;
        let left = fixture.create(&path, body("Left", 30, Some(top))).await;
        fixture.create(&path, body("Right", 20, Some(top))).await;
        fixture.create(&path, body("Leaf", 40, Some(left))).await;
        let block = client(&fixture, "blocks/10").await.expect(200)["block"].clone();
        let fields = [
            "avatar", "block_type", "children", "code", "created_at", "file", "id", "identifier", "link", "name", "parent", "text",
        ];
        assert_eq!(keys(&block), fields);
        assert_eq!(keys(&block["children"][1]["children"][0]), fields);
        assert_eq!((&block["children"][0]["name"], &block["children"][1]["name"]), (&json!("Right"), &json!("Left")));
        assert_eq!(block["children"][1]["children"][0]["parent"], json!({ "id": left, "name": "Left" }));
        assert_eq!(client(&fixture, "blocks/id/top").await.expect(200)["block"], block);
        let other_application = fixture.other_application().await;
        for (hidden, absent) in [("blocks/10", "blocks/11"), ("blocks/id/top", "blocks/id/none")] {
            let read = async |path: &str| {
                send(fixture.server.as_app(&other_application, Method::GET, &format!("{CLIENT}/{path}"))).await
            };
            let (hidden, absent) = (read(hidden).await, read(absent).await);
            hidden.expect(404);
            assert_eq!((hidden.status, hidden.text), (absent.status, absent.text));
        }
        for absent in ["blocks/11", "blocks/x", "blocks/0", "blocks/99999999999999999999", "blocks/id/none", "blocks/id/%D0%B0"] {
            client(&fixture, absent).await.expect(404);
        }
    }

    async fn a_menu_has_addresses_and_pictures(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("/api/applications/{}/menu_items", fixture.project.application_id);
        client(&fixture, "menus").await.expect(404);
        let menu = fixture.create(&path, json!({ "name": "Main", "slug": "navpanel" })).await;
        let body = json!({ "name": "Каталог", "parent_id": menu, "preview": "https://cdn.example/c.jpg" });
        let catalogue = fixture.create(&path, body).await;
        fixture.create(&path, json!({ "name": "Шапки", "parent_id": catalogue })).await;
        let shown = client(&fixture, "menus").await.expect(200);
        assert_eq!(client(&fixture, "menus/navpanel").await.expect(200), shown);
        let root = &shown["menuItems"];
        let fields = ["avatar", "children", "code", "name", "preview", "url"];
        assert_eq!(keys(root), fields);
        let child = &root["children"][0];
        assert_eq!(keys(&child["children"][0]), fields);
        assert!(child["url"].as_str().unwrap().ends_with("/katalog"), "{child}");
        assert_eq!(child["preview"], "https://cdn.example/c.jpg");
        let placeholder = child["children"][0]["preview"].as_str().unwrap();
        let at = placeholder.find("/files/").unwrap();
        let picture = send(fixture.server.request(Method::GET, &placeholder[at..])).await;
        assert_eq!(picture.status.as_u16(), 200);
        assert_eq!(client(&fixture, "menus/katalog").await.expect(200)["menuItems"], *child);
        for absent in ["menus/none", "menus/NAVPANEL", "menus/%2E%2E"] {
            client(&fixture, absent).await.expect(404);
        }
        send(fixture.server.request(Method::GET, &format!("{CLIENT}/menus"))).await.expect(401);
        let other_application = fixture.other_application().await;
        send(fixture.server.as_app(&other_application, Method::GET, &format!("{CLIENT}/menus"))).await.expect(404);
    }
}
