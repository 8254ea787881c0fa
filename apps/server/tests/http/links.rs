//! Links and HTML written by staff: nothing in them runs in a customer's browser.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::send;

const DANGEROUS: [&str; 6] = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "javascript://shop.example/%0Aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
];
const HARMLESS: [&str; 5] =
    ["https://shop.example/a?b=1", "/sale", "#top", "mailto:shop@example.com", "tel:+79001234567"];

/// HTML that could run scripts.
const VECTORS: [&str; 8] = [
    "a<script>alert(1)</script>b",
    "<p onclick=\"alert(1)\" id=x>a</p>",
    "<img src=x onerror=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<svg onload=alert(1)><text>t</text></svg>a",
    "<iframe src=\"https://evil.example\"></iframe>a",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>a",
];

async fn client(fixture: &ProjectFixture, path: &str) -> Value {
    send(fixture.server.as_app(&fixture.project, Method::GET, &format!("/api/counterparty/{path}"))).await.expect(200)
}

async fn my_menus(fixture: &ProjectFixture) -> String {
    let me = fixture.get("/api/user").await.expect(200)["user"]["id"].clone();
    format!("/api/users/{me}/create_menu_from_user_items")
}

database_tests! {
    async fn links_that_would_run_something_are_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let blocks = format!("/api/applications/{}/blocks", fixture.project.application_id);
        let block = fixture.create(&blocks, json!({ "name": "Banner", "block_type_id": 1 })).await;
        let menus = my_menus(&fixture).await;
        let branch = fixture.project.branch_id;
        for link in DANGEROUS {
            let new = json!({ "name": "B", "block_type_id": 1, "link": link });
            fixture.post(&blocks, new).await.expect_invalid(&["link"]);
            fixture.put(&format!("{blocks}/{block}"), json!({ "link": link })).await.expect_invalid(&["link"]);
            let application = json!({ "name": "A", "branch_id": branch, "url": link });
            fixture.post("/api/applications", application).await.expect_invalid(&["url"]);
            let items = json!({ "name": "M", "items": [{ "name": "A", "url": link }] });
            fixture.post(&menus, items).await.expect_invalid(&["items.0.url"]);
        }
        for link in HARMLESS {
            let changed = fixture.put(&format!("{blocks}/{block}"), json!({ "link": link })).await.expect(200);
            assert_eq!(changed["block"]["link"], link);
            let application = json!({ "name": format!("A {link}"), "branch_id": branch, "url": link });
            assert_eq!(fixture.post("/api/applications", application).await.expect(201)["application"]["url"], link);
            let items = json!({ "name": link, "items": [{ "name": "A", "url": link }] });
            assert_eq!(fixture.post(&menus, items).await.expect(201)["menu"]["items"][0]["url"], link);
        }
    }

    async fn invalid_stored_links_read_as_null_and_break_no_list(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let application = fixture.project.application_id;
        let blocks = format!("/api/applications/{application}/blocks");
        let items = format!("/api/applications/{application}/menu_items");
        let block = fixture.create(&blocks, json!({ "name": "Banner", "block_type_id": 1, "code": 5, "link": "/a" })).await;
        fixture.create(&items, json!({ "name": "Main", "slug": "navpanel" })).await;
        let menu = json!({ "name": "Menu", "items": [{ "name": "Bad", "url": "/bad" }, { "name": "Good", "url": "/good" }] });
        let menu = fixture.post(&my_menus(&fixture).await, menu).await.expect(201)["menu"]["id"].clone();
        fixture.post("/api/attach_menu_to_project", json!({ "menu_id": menu })).await.expect(200);
        let bad = "javascript:alert(1)";
        for statement in [
            format!("UPDATE blocks SET link = '{bad}'"),
            format!("UPDATE applications SET url = '{bad}//'"),
            format!("UPDATE staff_menu_items SET url = '{bad}' WHERE url = '/bad'"),
        ] {
            fixture.server.execute(&statement).await;
        }
        let listed = fixture.get(&blocks).await.expect(200);
        assert_eq!((&listed["blocksCount"], &listed["blocks"][0]["link"]), (&json!(1), &Value::Null));
        let applications = fixture.get("/api/applications").await.expect(200);
        assert_eq!(applications["applications"][0]["url"], Value::Null);
        let shown = fixture.get("/api/menus").await.expect(200)["menus"][0]["items"].clone();
        assert_eq!(shown.as_array().unwrap().iter().map(|item| &item["url"]).collect::<Vec<_>>(), ["/good"]);
        let customers = [
            client(&fixture, "blocks/5").await,
            client(&fixture, "menus").await,
            client(&fixture, "menus/Menu/items").await,
        ];
        assert_eq!(customers[0]["block"]["link"], Value::Null);
        assert_eq!(customers[1]["menuItems"]["url"], "/navpanel");
        assert_eq!(customers[2]["menuItemsCount"], 1);
        assert!(!json!(customers).to_string().contains("javascript"));
        // A block with such a link can still be changed.
        fixture.put(&format!("{blocks}/{block}"), json!({ "name": "Poster" })).await.expect(200);
        let changed = fixture.put(&format!("{blocks}/{block}"), json!({ "link": "/b" })).await.expect(200);
        assert_eq!(changed["block"]["link"], "/b");
    }

    async fn the_text_of_a_block_is_cleaned_as_that_of_a_page(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let blocks = format!("/api/applications/{}/blocks", fixture.project.application_id);
        for (html, code) in VECTORS.into_iter().zip((10..).step_by(10)) {
            let title = format!("P{code}");
            fixture.create("/api/pages", json!({ "title": title, "slug": title.to_lowercase(), "content": html })).await;
            let body = json!({ "name": title, "block_type_id": 1, "code": code, "text": html });
            let block = fixture.create(&blocks, body).await;
            let below = json!({ "name": "below", "block_type_id": 1, "parent_id": block, "text": html });
            fixture.create(&blocks, below).await;
            let page = client(&fixture, &format!("pages/p{code}")).await["page"]["content"].clone();
            let shown = client(&fixture, &format!("blocks/{code}")).await["block"].clone();
            assert_eq!(shown["text"], page, "{html}");
            assert_eq!(shown["children"][0]["text"], page, "{html}");
            assert!(!page.to_string().contains("alert"), "{page}");
            let own = fixture.get(&format!("{blocks}/{block}")).await.expect(200);
            assert_eq!(own["block"]["text"], html, "staff read what they wrote");
        }
        let nothing = json!({ "name": "N", "block_type_id": 1, "code": 99, "text": "<script>x</script>" });
        fixture.create(&blocks, nothing).await;
        assert_eq!(client(&fixture, "blocks/99").await["block"]["text"], Value::Null);
    }
}
