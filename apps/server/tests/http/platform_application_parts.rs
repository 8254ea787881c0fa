//! Blocks and menu items of an application.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::project_fixture::ProjectFixture;
use crate::support::send;

fn blocks(fixture: &ProjectFixture) -> String {
    format!("/api/applications/{}/blocks", fixture.project.application_id)
}

fn items(fixture: &ProjectFixture) -> String {
    format!("/api/applications/{}/menu_items", fixture.project.application_id)
}

async fn block(fixture: &ProjectFixture, name: &str, parent: Option<i64>) -> i64 {
    fixture.create(&blocks(fixture), json!({ "name": name, "block_type_id": 1, "parent_id": parent })).await
}

async fn item(fixture: &ProjectFixture, name: &str, parent: Option<i64>) -> i64 {
    fixture.create(&items(fixture), json!({ "name": name, "parent_id": parent })).await
}

/// Returns names and positions of the records below a parent.
async fn order(fixture: &ProjectFixture, parent: i64) -> Vec<String> {
    let path = format!("/api/tables/applications/{}/menu_items?parent_id={parent}", fixture.project.application_id);
    let table = fixture.get(&path).await.expect(200);
    let name = |row: &Value| row["name"]["value"].as_str().unwrap().to_owned();
    table["menu_items"].as_array().unwrap().iter().map(name).collect()
}

database_tests! {
    async fn a_block_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = blocks(&fixture);
        let body = json!({
            "name": "Баннер", "block_type_id": 1, "link": "/sale", "text": "Скидки", "avatar": "https://cdn.example/a.png",
            "file": "https://cdn.example/a.pdf",
        });
        let created = fixture.post(&path, body).await.expect(201);
        let one = &created["block"];
        assert_eq!((&one["code"], &one["identifier"]), (&json!(1), &json!("banner")));
        assert_eq!(one["file"], json!({ "id": null, "url": "https://cdn.example/a.pdf" }));
        let at = format!("{path}/{}", one["id"]);
        assert_eq!(fixture.get(&at).await.expect(200), created);
        let next = fixture.post(&path, json!({ "name": "Баннер", "block_type_id": 1, "parent_id": one["id"] })).await.expect(201);
        assert_eq!((&next["block"]["code"], &next["block"]["identifier"]), (&json!(2), &json!("banner-2")));
        assert_eq!(next["block"]["parent"], json!({ "id": one["id"], "name": "Баннер" }));
        let changed = fixture.put(&at, json!({ "code": 7, "identifier": "top", "link": null })).await.expect(200);
        assert_eq!((&changed["block"]["code"], &changed["block"]["identifier"]), (&json!(7), &json!("top")));
        assert_eq!(changed["block"]["link"], json!(null));
        let history = fixture.get(&format!("{at}/history")).await.expect(200);
        assert_eq!(history["histories"][0]["changes"][0], json!({ "field": "code", "old": "1", "new": "7" }));
        let list = fixture.get(&path).await.expect(200);
        assert_eq!((&list["blocksCount"], &list["blocks"][0]["code"]), (&json!(2), &json!(2)));
        fixture.delete(&at).await.expect_invalid(&["id"]);
        fixture.delete(&format!("{path}/{}", next["block"]["id"])).await.expect(200);
        fixture.delete(&at).await.expect(200);
        fixture.get(&at).await.expect(404);
    }

    async fn wrong_blocks_are_refused_and_nothing_is_left(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = blocks(&fixture);
        let wrong = json!({ "name": 1, "block_type_id": "x", "code": 0, "identifier": "a/b", "parent_id": -1, "avatar": "x", "link": "\u{0}", "file": 1, "text": "\u{0}" });
        fixture.post(&path, wrong).await.expect_invalid(&[
            "name", "block_type_id", "code", "identifier", "parent_id", "avatar", "link", "file", "text",
        ]);
        fixture.post(&path, json!({ "name": "A", "block_type_id": 99 })).await.expect_invalid(&["block_type_id"]);
        fixture.post(&path, json!({ "name": "A", "block_type_id": 1, "parent_id": 99 })).await.expect_invalid(&["parent_id"]);
        let first = block(&fixture, "A", None).await;
        let taken = |more: Value| { let mut body = json!({ "name": "B", "block_type_id": 1 }); body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone()); body };
        fixture.post(&path, taken(json!({ "code": 1 }))).await.expect_invalid(&["code"]);
        fixture.post(&path, taken(json!({ "identifier": "a" }))).await.expect_invalid(&["identifier"]);
        // The application of another branch of the same project has a separate tree.
        let other_application = fixture.other_application().await;
        let theirs = format!("/api/applications/{}/blocks", other_application.application_id);
        fixture.post(&theirs, json!({ "name": "A", "block_type_id": 1, "parent_id": first })).await.expect_invalid(&["parent_id"]);
        fixture.get(&format!("{theirs}/{first}")).await.expect(404);
        fixture.put(&format!("{theirs}/{first}"), json!({})).await.expect(404);
        fixture.delete(&format!("{theirs}/{first}")).await.expect(404);
        assert_eq!(fixture.get(&path).await.expect(200)["blocksCount"], 1);
        let outsider = fixture.as_outsider(Method::GET, &path, json!({})).await;
        outsider.expect(403);
    }

    async fn trees_have_no_circles_and_bounds(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = blocks(&fixture);
        let mut chain = vec![block(&fixture, "L1", None).await];
        for level in 2..=16 {
            chain.push(block(&fixture, &format!("L{level}"), chain.last().copied()).await);
        }
        let below = json!({ "name": "L17", "block_type_id": 1, "parent_id": chain[15] });
        fixture.post(&path, below).await.expect_invalid(&["parent_id"]);
        for parent in [chain[0], chain[3], chain[15]] {
            fixture.put(&format!("{path}/{}", chain[0]), json!({ "parent_id": parent })).await.expect_invalid(&["parent_id"]);
        }
        let apart = block(&fixture, "Apart", None).await;
        fixture.put(&format!("{path}/{}", chain[0]), json!({ "parent_id": apart })).await.expect_invalid(&["parent_id"]);
        fixture.put(&format!("{path}/{}", chain[1]), json!({ "parent_id": apart })).await.expect(200);
    }

    async fn two_moves_that_would_close_a_circle_together_wait_for_each_other(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = items(&fixture);
        for _ in 0..10 {
            let (left, right) = (item(&fixture, "L", None).await, item(&fixture, "R", None).await);
            let mut running = JoinSet::new();
            for (one, parent) in [(left, right), (right, left)] {
                let request = fixture.server.as_staff(&fixture.owner, Method::PUT, &format!("{path}/{one}"));
                let request = request.json(&json!({ "parent_id": parent }));
                running.spawn(async move { send(request).await.status.as_u16() });
            }
            let mut answers = running.join_all().await;
            answers.sort_unstable();
            assert_eq!(answers, [200, 422]);
        }
    }

    async fn menu_items_move_among_those_beside_them(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = items(&fixture);
        let menu = item(&fixture, "Menu", None).await;
        let mut ids = Vec::new();
        for name in ["A", "B", "C"] {
            ids.push(item(&fixture, name, Some(menu)).await);
        }
        let shift = async |id: i64, way: &str| fixture.post(&format!("{path}/{id}/{way}"), json!({})).await.expect(200);
        shift(ids[2], "up").await;
        assert_eq!(order(&fixture, menu).await, ["A", "C", "B"]);
        shift(ids[0], "up").await;
        assert_eq!(order(&fixture, menu).await, ["A", "C", "B"], "the first stays");
        let moved = shift(ids[0], "down").await;
        assert_eq!((&moved["menuItem"]["position"], order(&fixture, menu).await), (&json!(2), vec!["C".to_owned(), "A".to_owned(), "B".to_owned()]));
        let other = item(&fixture, "Other", None).await;
        fixture.put(&format!("{path}/{}", ids[2]), json!({ "parent_id": other, "name": "C2" })).await.expect(200);
        assert_eq!((order(&fixture, menu).await, order(&fixture, other).await), (vec!["A".to_owned(), "B".to_owned()], vec!["C2".to_owned()]));
        fixture.post(&format!("{path}/999999/up"), json!({})).await.expect(404);
        let other_application = fixture.other_application().await;
        fixture.post(&format!("/api/applications/{}/menu_items/{}/up", other_application.application_id, ids[0]), json!({})).await.expect(404);
        assert_eq!(fixture.get(&format!("{path}/{}", ids[0])).await.expect(200)["menuItem"]["parent"]["name"], "Menu");
        fixture.get(&format!("/api/applications/{}/menu_items/{}", other_application.application_id, ids[0])).await.expect(404);
        fixture.get(&format!("{path}/999999")).await.expect(404);
        fixture.as_outsider(Method::GET, &format!("{path}/{}", ids[0]), json!({})).await.expect(403);
        fixture.delete(&format!("{path}/{menu}")).await.expect_invalid(&["id"]);
        for id in [ids[0], ids[1], menu] {
            fixture.delete(&format!("{path}/{id}")).await.expect(200);
        }
        fixture.post(&path, json!({ "name": "", "code": "x", "slug": "a b", "parent_id": "x", "avatar": 1, "preview": "y" })).await
            .expect_invalid(&["name", "code", "slug", "parent_id", "avatar", "preview"]);
        fixture.post(&path, json!({ "name": "X", "slug": "other" })).await.expect_invalid(&["slug"]);
    }

    async fn codes_and_slugs_are_unique_however_many_come_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = items(&fixture);
        let mut running = JoinSet::new();
        for _ in 0..10 {
            let request = fixture.server.as_staff(&fixture.owner, Method::POST, &path).json(&json!({ "name": "Same" }));
            running.spawn(async move { send(request).await.expect(201)["menuItem"]["code"].as_i64().unwrap() });
        }
        let mut codes = running.join_all().await;
        codes.sort_unstable();
        assert_eq!(codes, (1..=10).collect::<Vec<i64>>());
    }
}
