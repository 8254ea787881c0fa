//! Content pages, managed by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::project_fixture::ProjectFixture;
use crate::support::send;

const PATH: &str = "/api/pages";
const TABLE: &str = "/api/tables/pages";

fn titles(table: &Value) -> Vec<&str> {
    table["pages"].as_array().unwrap().iter().map(|row| row["title"]["value"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_page_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "title": "О компании", "description": "Кто мы", "preview": "https://cdn.example/a.jpg",
            "content": "<p onclick=\"x()\">Текст</p>", "page_type_id": 1, "tags": ["Новости", "НОВОСТИ", "Важное"],
        });
        let created = fixture.post(PATH, body).await.expect(201);
        let page = &created["page"];
        assert_eq!(page["slug"], "o-kompanii");
        assert_eq!(page["content"], "<p onclick=\"x()\">Текст</p>", "staff see what they wrote");
        assert_eq!(page["page_type"], json!({ "id": 1, "name": "Page" }));
        let tags: Vec<&str> = page["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
        assert_eq!(tags, ["Новости", "Важное"]);
        assert!(page["author"]["id"].is_i64());
        assert_eq!((&page["is_active"], &page["is_fallback"], &page["views_count"]), (&json!(true), &json!(false), &json!(0)));
        let path = format!("{PATH}/{}", page["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);

        let change = json!({ "title": "Мы", "tags": ["важное"], "page_type_id": 0, "description": null, "is_active": false });
        let changed = fixture.put(&path, change).await.expect(200)["page"].clone();
        assert_eq!((&changed["title"], &changed["slug"]), (&json!("Мы"), &json!("o-kompanii")));
        assert_eq!(changed["tags"], json!([{ "id": page["tags"][1]["id"], "name": "Важное" }]));
        assert_eq!((&changed["page_type"], &changed["description"]), (&json!(null), &json!(null)));
        let known = fixture.get("/api/page_tags").await.expect(200);
        assert_eq!(known["pageTagsCount"], 2);

        fixture.delete(&path).await.expect(200);
        fixture.get(&path).await.expect(404);
        fixture.delete(&path).await.expect(404);
        fixture.get(&format!("{path}/history")).await.expect(404);
    }

    async fn the_history_lists_the_changes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create(PATH, json!({ "title": "A", "content": "<p>1</p>" })).await;
        fixture.put(&format!("{PATH}/{id}"), json!({ "content": "<p>2</p>", "tags": ["x"] })).await.expect(200);
        let history = fixture.get(&format!("{PATH}/{id}/history")).await.expect(200);
        let lines = history["histories"].as_array().unwrap();
        assert_eq!(lines.len(), 2, "{history}");
        let fields: Vec<&str> =
            lines[0]["changes"].as_array().unwrap().iter().map(|change| change["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["content", "tags"]);
        assert_eq!((&lines[0]["changes"][0]["old"], &lines[0]["changes"][0]["new"]), (&json!("<p>1</p>"), &json!("<p>2</p>")));
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "title": "", "slug": "a/b", "description": "x".repeat(501), "preview": "javascript:x", "content": "x".repeat(65_536),
            "page_type_id": "x", "tags": ["", 1], "is_active": "maybe", "is_fallback": 3,
        });
        fixture.post(PATH, body).await.expect_invalid(&[
            "title", "slug", "description", "preview", "content", "page_type_id", "tags.0", "tags.1", "is_active",
            "is_fallback",
        ]);
        for slug in ["a/b", "..", "a.b", "Ab", "о-нас", "\u{202e}a", "a b"] {
            fixture.post(PATH, json!({ "title": "A", "slug": slug })).await.expect_invalid(&["slug"]);
        }
        fixture.post(PATH, json!({ "title": "A", "page_type_id": 999 })).await.expect_invalid(&["page_type_id"]);
        let many: Vec<String> = (0..21).map(|number| format!("t{number}")).collect();
        fixture.post(PATH, json!({ "title": "A", "tags": many })).await.expect_invalid(&["tags"]);
        let id = fixture.create(PATH, json!({ "title": "A", "slug": "a" })).await;
        fixture.post(PATH, json!({ "title": "B", "slug": "a" })).await.expect_invalid(&["slug"]);
        let path = format!("{PATH}/{id}");
        fixture.put(&path, json!({ "title": null, "slug": null, "tags": null, "is_active": null })).await
            .expect_invalid(&["title", "slug", "tags", "is_active"]);
        fixture.create(PATH, json!({ "title": "B", "slug": "b" })).await;
        fixture.put(&path, json!({ "slug": "b" })).await.expect_invalid(&["slug"]);
        assert_eq!(fixture.get(TABLE).await.expect(200)["pagination"]["total"], 2);
    }

    async fn a_preview_is_what_customers_see_and_is_not_stored(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let preview = format!("{PATH}/preview");
        let html = "<h1 onclick=\"x()\">Чай</h1><script>x()</script><a href=\"javascript:x()\">x</a><p>1 < 2";
        let shown = fixture.post(&preview, json!({ "content": html })).await.expect(200)["content"].clone();
        assert_eq!(fixture.get(TABLE).await.expect(200)["pagination"]["total"], 0, "nothing is stored");
        fixture.create(PATH, json!({ "title": "A", "slug": "a", "content": html })).await;
        let read = send(fixture.server.as_app(&fixture.project, Method::GET, "/api/counterparty/pages/a")).await.expect(200);
        assert_eq!(shown, read["page"]["content"]);
        assert!(!shown.as_str().unwrap().contains("x()"), "{shown}");
        for nothing in [json!({}), json!({ "content": null }), json!({ "content": "<script>x()</script>" })] {
            assert_eq!(fixture.post(&preview, nothing).await.expect(200), json!({ "content": "" }));
        }
        fixture.post(&preview, json!({ "content": "x".repeat(65_536), "title": 1 })).await.expect_invalid(&["content"]);
        fixture.post(&preview, json!({ "content": 1 })).await.expect_invalid(&["content"]);
        fixture.as_one_who_may(&["view-pages"], Method::POST, &preview, json!({})).await.expect(200);
        fixture.as_one_who_may(&["view-blocks"], Method::POST, &preview, json!({})).await.expect(403);
    }

    async fn slugs_of_one_title_are_numbered_however_many_come_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let mut running = JoinSet::new();
        for _ in 0..12 {
            let request = fixture.server.as_staff(&fixture.owner, Method::POST, PATH).json(&json!({ "title": "Новости" }));
            running.spawn(async move { send(request).await.expect(201)["page"]["slug"].as_str().unwrap().to_owned() });
        }
        let mut slugs = running.join_all().await;
        slugs.sort();
        slugs.dedup();
        assert_eq!(slugs.len(), 12, "{slugs:?}");
        assert!(slugs.contains(&"novosti".to_owned()) && slugs.contains(&"novosti-2".to_owned()), "{slugs:?}");
    }

    async fn one_page_of_a_project_is_the_fallback(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = |name: &str| json!({ "title": name, "is_fallback": true });
        let first = fixture.create(PATH, body("A")).await;
        let second = fixture.create(PATH, body("B")).await;
        let fallback = async |id: i64| fixture.get(&format!("{PATH}/{id}")).await.expect(200)["page"]["is_fallback"].clone();
        assert_eq!((fallback(first).await, fallback(second).await), (json!(false), json!(true)));
        let mut running = JoinSet::new();
        for id in [first, second, first, second] {
            let path = format!("{PATH}/{id}");
            let request = fixture.server.as_staff(&fixture.owner, Method::PUT, &path).json(&json!({ "is_fallback": true }));
            running.spawn(async move { send(request).await.expect(200) });
        }
        running.join_all().await;
        assert_ne!(fallback(first).await, fallback(second).await);
    }

    async fn pages_are_found_sorted_and_filtered(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.create(PATH, json!({ "title": "Щётки", "content": "<p>Для <b>паркета</b></p>", "page_type_id": 1 })).await;
        fixture.create(PATH, json!({ "title": "Ёлки", "description": "Новогодние", "is_active": false })).await;
        fixture.create(PATH, json!({ "title": "Axes", "content": "<script>parquet</script>" })).await;
        let table = async |query: &str| fixture.get(&format!("{TABLE}?{query}")).await.expect(200);
        assert_eq!(titles(&table("").await), ["Axes", "Ёлки", "Щётки"]);
        assert_eq!(titles(&table("order_by=title_asc").await), ["Axes", "Ёлки", "Щётки"]);
        assert_eq!(titles(&table("query=%D0%BF%D0%B0%D1%80%D0%BA").await), ["Щётки"], "part of a word of the text");
        assert_eq!(titles(&table("query=%D0%B5%D0%BB%D0%BA%D0%B8").await), ["Ёлки"], "ё is е");
        assert!(titles(&table("query=parquet").await).is_empty(), "what nobody reads finds nothing");
        assert_eq!(titles(&table("page_type_id=1").await), ["Щётки"]);
        assert_eq!(titles(&table("is_active=false").await), ["Ёлки"]);
        let one = fixture.cost(TABLE).await;
        for number in 0..12 {
            fixture.create(PATH, json!({ "title": format!("P {number}"), "tags": ["a", "b"] })).await;
        }
        assert_eq!(fixture.cost(TABLE).await, one, "the number of statements does not grow with the rows");
        assert!(one <= 7, "{one}");
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "title": "A" })).await);
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::DELETE, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-pages"], Method::GET, &path, json!({})).await.expect(200);
        fixture.as_one_who_may(&["view-pages"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-pages"], Method::DELETE, &path, json!({})).await.expect(403);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
        }
    }
}
