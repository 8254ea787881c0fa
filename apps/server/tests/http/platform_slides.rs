//! Slides of an application, managed by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::project_fixture::ProjectFixture;
use crate::support::{Project, send};

fn path(project: &Project) -> String {
    format!("/api/applications/{}/slides", project.application_id)
}

async fn slide(fixture: &ProjectFixture, title: &str) -> i64 {
    fixture.create(&path(&fixture.project), json!({ "title": title })).await
}

fn titles(list: &Value) -> Vec<&str> {
    list["slides"].as_array().unwrap().iter().map(|slide| slide["title"].as_str().unwrap()).collect()
}

/// Returns the slides that customers of the application see.
async fn shown(fixture: &ProjectFixture) -> Value {
    send(fixture.server.as_app(&fixture.project, Method::GET, "/api/counterparty/slides")).await.expect(200)
}

database_tests! {
    async fn a_slide_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = path(&fixture.project);
        assert_eq!(shown(&fixture).await, json!({ "slides": [], "slidesCount": 0 }));
        let body = json!({
            "title": "Скидки", "description": "<b onclick=\"x()\">Чай</b>", "photo": "https://cdn.example/a.png", "link": "/sale",
            "starts_at": "2020-01-01T03:00:00+03:00", "ends_at": null,
        });
        let created = fixture.post(&path, body).await.expect(201);
        let one = &created["slide"];
        assert_eq!(one["description"], "<b onclick=\"x()\">Чай</b>", "staff see what they wrote");
        assert_eq!((&one["starts_at"], &one["ends_at"]), (&json!("2020-01-01T00:00:00Z"), &json!(null)));
        assert_eq!((&one["position"], &one["is_active"]), (&json!(1), &json!(true)));
        let at = format!("{path}/{}", one["id"]);
        assert_eq!(fixture.get(&at).await.expect(200), created);
        let seen = shown(&fixture).await;
        assert_eq!((&seen["slides"][0]["id"], &seen["slides"][0]["description"]), (&one["id"], &json!("<b>Чай</b>")));

        let change = json!({ "title": "Новинки", "link": null, "description": null, "photo": null });
        let changed = fixture.put(&at, change).await.expect(200)["slide"].clone();
        assert_eq!((&changed["title"], &changed["link"], &changed["photo"]), (&json!("Новинки"), &json!(null), &json!(null)));
        assert_eq!(changed["starts_at"], one["starts_at"], "what is not sent is kept");
        assert_eq!(shown(&fixture).await["slides"][0]["title"], "Новинки");
        let history = fixture.get(&format!("{at}/history")).await.expect(200);
        assert_eq!((&history["historiesCount"], &history["histories"][0]["action"]), (&json!(2), &json!("changed")));
        assert_eq!(history["histories"][0]["changes"][0], json!({ "field": "title", "old": "Скидки", "new": "Новинки" }));

        fixture.put(&at, json!({ "is_active": false })).await.expect(200);
        assert_eq!(shown(&fixture).await["slidesCount"], 0);
        assert_eq!(fixture.get(&path).await.expect(200)["slidesCount"], 1, "staff see it");
        fixture.put(&at, json!({ "is_active": true, "ends_at": "2021-01-01T00:00:00Z" })).await.expect(200);
        assert_eq!(shown(&fixture).await["slidesCount"], 0, "it is over");
        fixture.put(&at, json!({ "ends_at": null })).await.expect(200);
        assert_eq!(shown(&fixture).await["slidesCount"], 1);
        fixture.delete(&at).await.expect(200);
        assert_eq!(shown(&fixture).await["slidesCount"], 0);
        fixture.get(&at).await.expect(404);
        fixture.delete(&at).await.expect(404);
        fixture.get(&format!("{at}/history")).await.expect(404);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = path(&fixture.project);
        let wrong = json!({
            "title": "", "description": "\u{0}", "photo": "javascript:x", "link": "mailto:a@b.example", "is_active": "maybe",
            "starts_at": "yesterday", "ends_at": "2026-01-01",
        });
        let fields = ["title", "description", "photo", "link", "is_active", "starts_at", "ends_at"];
        fixture.post(&path, wrong.clone()).await.expect_invalid(&fields);
        for link in ["sale", "#top", "tel:1", "javascript:x", &format!("/{}", "x".repeat(500))] {
            fixture.post(&path, json!({ "title": "A", "link": link })).await.expect_invalid(&["link"]);
        }
        let over = json!({ "title": "A", "starts_at": "2026-01-02T00:00:00Z", "ends_at": "2026-01-02T00:00:00Z" });
        fixture.post(&path, over).await.expect_invalid(&["ends_at"]);
        let starts = json!({ "title": "A", "starts_at": "2026-01-02T00:00:00Z" });
        let at = format!("{path}/{}", fixture.create(&path, starts).await);
        fixture.put(&at, wrong).await.expect_invalid(&fields);
        fixture.put(&at, json!({ "title": null, "is_active": null })).await.expect_invalid(&["title", "is_active"]);
        // The stored start counts, too.
        fixture.put(&at, json!({ "ends_at": "2026-01-01T00:00:00Z" })).await.expect_invalid(&["ends_at"]);
        assert_eq!(fixture.get(&path).await.expect(200)["slidesCount"], 1);
        fixture.get(&format!("{path}?query=a&is_active=maybe")).await.expect_invalid(&["query", "is_active"]);
    }

    async fn slides_of_others_are_closed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let own = path(&fixture.project);
        let id = slide(&fixture, "A").await;
        let theirs = path(&fixture.other_application().await);
        let at = format!("{theirs}/{id}");
        fixture.get(&at).await.expect(404);
        fixture.put(&at, json!({})).await.expect(404);
        fixture.delete(&at).await.expect(404);
        fixture.post(&format!("{at}/up"), json!({})).await.expect(404);
        assert_eq!(fixture.get(&theirs).await.expect(200)["slidesCount"], 0);
        for (method, path) in [
            (Method::GET, own.clone()),
            (Method::POST, own.clone()),
            (Method::PUT, format!("{own}/{id}")),
            (Method::DELETE, format!("{own}/{id}")),
            (Method::POST, format!("{own}/{id}/down")),
        ] {
            let body = json!({ "title": "B" });
            fixture.as_outsider(method.clone(), &path, body.clone()).await.expect(403);
            let others = ["view-blocks", "edit-blocks", "edit-applications"];
            fixture.as_one_who_may(&others, method, &path, body).await.expect(403);
        }
        fixture.as_one_who_may(&["view-slides"], Method::DELETE, &format!("{own}/{id}"), json!({})).await.expect(403);
        assert_eq!(fixture.get(&own).await.expect(200)["slides"][0]["title"], "A");
    }

    async fn slides_move_and_customers_see_the_new_order(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = path(&fixture.project);
        let mut ids = Vec::new();
        for title in ["A", "B", "C"] {
            ids.push(slide(&fixture, title).await);
        }
        let shift = async |id: i64, way: &str| fixture.post(&format!("{path}/{id}/{way}"), json!({})).await.expect(200);
        assert_eq!(shift(ids[2], "up").await["slide"]["position"], 2);
        assert_eq!(titles(&shown(&fixture).await), ["A", "C", "B"]);
        shift(ids[0], "up").await;
        shift(ids[1], "down").await;
        assert_eq!(titles(&fixture.get(&path).await.expect(200)), ["A", "C", "B"], "the first and the last stay");
        shift(ids[0], "down").await;
        assert_eq!(titles(&shown(&fixture).await), ["C", "A", "B"]);
        fixture.post(&format!("{path}/999999/up"), json!({})).await.expect(404);
        let table = fixture.get(&format!("/api/tables{}?order_by=position_desc", &path[4..])).await.expect(200);
        assert_eq!(table["slides"][0]["title"]["value"], "B");
        let cost = async |path: &str| {
            let once = async || fixture.get(path).await.expect(200);
            fixture.server.fewest_statements(once).await
        };
        assert_eq!(cost(&path).await, cost(&format!("{path}?per_page=1")).await, "whatever the number of slides");
    }

    async fn slides_made_at_once_have_different_positions_and_a_limit(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = path(&fixture.project);
        let (project, application) = (fixture.project.id, fixture.project.application_id);
        let rows: Vec<String> = (1..=190)
            .map(|place| format!("({project}, {application}, 'Old', {place}, TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00')"))
            .collect();
        fixture.server.execute(&format!(
            "INSERT INTO slides (project_id, application_id, title, position, is_active, created_at, updated_at) VALUES {}",
            rows.join(", ")
        )).await;
        let mut running = JoinSet::new();
        for _ in 0..15 {
            let request = fixture.server.as_staff(&fixture.owner, Method::POST, &path).json(&json!({ "title": "New" }));
            running.spawn(async move {
                let answer = send(request).await;
                if answer.status == 201 { answer.json()["slide"]["position"].as_i64() } else { answer.expect_invalid(&["id"]); None }
            });
        }
        let mut positions: Vec<i64> = running.join_all().await.into_iter().flatten().collect();
        positions.sort_unstable();
        assert_eq!(positions, (191..=200).collect::<Vec<i64>>());
    }
}
