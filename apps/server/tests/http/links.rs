//! Links and HTML written by staff: nothing in them runs in a customer's browser.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;
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

async fn client(office: &Office, path: &str) -> Value {
    send(office.server.as_app(&office.project, Method::GET, &format!("/api/counterparty/{path}"))).await.expect(200)
}

async fn my_menus(office: &Office) -> String {
    let me = office.get("/api/user").await.expect(200)["user"]["id"].clone();
    format!("/api/users/{me}/create_menu_from_user_items")
}

database_tests! {
    async fn links_that_would_run_something_are_refused(db: TestDatabase) {
        let office = Office::open(db).await;
        let blocks = format!("/api/applications/{}/blocks", office.project.application_id);
        let block = office.create(&blocks, json!({ "name": "Banner", "block_type_id": 1 })).await;
        let menus = my_menus(&office).await;
        let branch = office.project.branch_id;
        for link in DANGEROUS {
            let new = json!({ "name": "B", "block_type_id": 1, "link": link });
            office.post(&blocks, new).await.expect_invalid(&["link"]);
            office.put(&format!("{blocks}/{block}"), json!({ "link": link })).await.expect_invalid(&["link"]);
            let application = json!({ "name": "A", "branch_id": branch, "url": link });
            office.post("/api/applications", application).await.expect_invalid(&["url"]);
            let items = json!({ "name": "M", "items": [{ "name": "A", "url": link }] });
            office.post(&menus, items).await.expect_invalid(&["items.0.url"]);
        }
        for link in HARMLESS {
            let changed = office.put(&format!("{blocks}/{block}"), json!({ "link": link })).await.expect(200);
            assert_eq!(changed["block"]["link"], link);
            let application = json!({ "name": format!("A {link}"), "branch_id": branch, "url": link });
            assert_eq!(office.post("/api/applications", application).await.expect(201)["application"]["url"], link);
            let items = json!({ "name": link, "items": [{ "name": "A", "url": link }] });
            assert_eq!(office.post(&menus, items).await.expect(201)["menu"]["items"][0]["url"], link);
        }
    }

    async fn what_was_stored_before_leads_nowhere_and_breaks_no_list(db: TestDatabase) {
        let office = Office::open(db).await;
        let application = office.project.application_id;
        let blocks = format!("/api/applications/{application}/blocks");
        let items = format!("/api/applications/{application}/menu_items");
        let block = office.create(&blocks, json!({ "name": "Banner", "block_type_id": 1, "code": 5, "link": "/a" })).await;
        office.create(&items, json!({ "name": "Main", "slug": "navpanel" })).await;
        let menu = json!({ "name": "Menu", "items": [{ "name": "Bad", "url": "/bad" }, { "name": "Good", "url": "/good" }] });
        let menu = office.post(&my_menus(&office).await, menu).await.expect(201)["menu"]["id"].clone();
        office.post("/api/attach_menu_to_project", json!({ "menu_id": menu })).await.expect(200);
        let bad = "javascript:alert(1)";
        for statement in [
            format!("UPDATE blocks SET link = '{bad}'"),
            format!("UPDATE applications SET url = '{bad}//'"),
            format!("UPDATE staff_menu_items SET url = '{bad}' WHERE url = '/bad'"),
        ] {
            office.server.execute(&statement).await;
        }
        let listed = office.get(&blocks).await.expect(200);
        assert_eq!((&listed["blocksCount"], &listed["blocks"][0]["link"]), (&json!(1), &Value::Null));
        let applications = office.get("/api/applications").await.expect(200);
        assert_eq!(applications["applications"][0]["url"], Value::Null);
        let shown = office.get("/api/menus").await.expect(200)["menus"][0]["items"].clone();
        assert_eq!(shown.as_array().unwrap().iter().map(|item| &item["url"]).collect::<Vec<_>>(), ["/good"]);
        let customers = [
            client(&office, "blocks/5").await,
            client(&office, "menus").await,
            client(&office, "menus/Menu/items").await,
        ];
        assert_eq!(customers[0]["block"]["link"], Value::Null);
        assert_eq!(customers[1]["menuItems"]["url"], "/navpanel");
        assert_eq!(customers[2]["menuItemsCount"], 1);
        assert!(!json!(customers).to_string().contains("javascript"));
        // A block with such a link can still be changed.
        office.put(&format!("{blocks}/{block}"), json!({ "name": "Poster" })).await.expect(200);
        let changed = office.put(&format!("{blocks}/{block}"), json!({ "link": "/b" })).await.expect(200);
        assert_eq!(changed["block"]["link"], "/b");
    }

    async fn the_text_of_a_block_is_cleaned_as_that_of_a_page(db: TestDatabase) {
        let office = Office::open(db).await;
        let blocks = format!("/api/applications/{}/blocks", office.project.application_id);
        for (html, code) in VECTORS.into_iter().zip((10..).step_by(10)) {
            let title = format!("P{code}");
            office.create("/api/pages", json!({ "title": title, "slug": title.to_lowercase(), "content": html })).await;
            let body = json!({ "name": title, "block_type_id": 1, "code": code, "text": html });
            let block = office.create(&blocks, body).await;
            let below = json!({ "name": "below", "block_type_id": 1, "parent_id": block, "text": html });
            office.create(&blocks, below).await;
            let page = client(&office, &format!("pages/p{code}")).await["page"]["content"].clone();
            let shown = client(&office, &format!("blocks/{code}")).await["block"].clone();
            assert_eq!(shown["text"], page, "{html}");
            assert_eq!(shown["children"][0]["text"], page, "{html}");
            assert!(!page.to_string().contains("alert"), "{page}");
            let own = office.get(&format!("{blocks}/{block}")).await.expect(200);
            assert_eq!(own["block"]["text"], html, "staff read what they wrote");
        }
        let nothing = json!({ "name": "N", "block_type_id": 1, "code": 99, "text": "<script>x</script>" });
        office.create(&blocks, nothing).await;
        assert_eq!(client(&office, "blocks/99").await["block"]["text"], Value::Null);
    }
}
