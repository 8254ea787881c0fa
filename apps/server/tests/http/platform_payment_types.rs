//! Payment types of a project, and those that an application accepts.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::{assert_replays, keyed};
use crate::project_fixture::ProjectFixture;
use crate::support::{Project, send};

const PATH: &str = "/api/payment_types";

/// Returns the names of the payment types that customers of the application see.
async fn offered(fixture: &ProjectFixture, app: &Project) -> Vec<String> {
    let list = send(fixture.server.as_app(app, Method::GET, "/api/counterparty/payment_types")).await.expect(200);
    let kinds = list["paymentTypes"].as_array().unwrap().iter();
    kinds.map(|kind| kind["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the ids of the accepted payment types.
fn accepted(list: &Value) -> Vec<i64> {
    let kinds = list["paymentTypes"].as_array().unwrap().iter().filter(|kind| kind["is_accepted"] == true);
    kinds.map(|kind| kind["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn a_payment_type_is_created_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "name": "Картой", "description": "Visa, МИР", "photo": { "url": "https://x.ru/card.png" }, "is_online": true,
        });
        let created = fixture.post(PATH, body).await.expect(201);
        let kind = &created["paymentType"];
        assert_eq!(kind, &json!({
            "id": kind["id"], "photo": { "url": "https://x.ru/card.png" }, "name": "Картой", "description": "Visa, МИР",
            "is_online": true,
        }));
        let path = format!("{PATH}/{}", kind["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        assert_eq!(fixture.get(PATH).await.expect(200), json!({ "paymentTypes": [kind], "paymentTypesCount": 1 }));
        assert_eq!(offered(&fixture, &fixture.project).await, ["Картой"]);

        let changed = fixture.put(&path, json!({ "name": "Наличными", "description": null, "is_online": false })).await;
        let changed = changed.expect(200)["paymentType"].clone();
        assert_eq!((&changed["name"], &changed["description"]), (&json!("Наличными"), &Value::Null));
        assert_eq!((&changed["photo"], &changed["is_online"]), (&kind["photo"], &json!(false)));
        assert_eq!(offered(&fixture, &fixture.project).await, ["Наличными"]);
        let plain = fixture.post(PATH, json!({ "name": "Cash" })).await.expect(201);
        assert_eq!((&plain["paymentType"]["is_online"], &plain["paymentType"]["photo"]), (&json!(false), &Value::Null));
    }

    async fn every_wrong_field_of_a_payment_type_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let wrong = json!({ "name": 7, "description": "a".repeat(501), "photo": "card.png", "is_online": "maybe" });
        let all = ["name", "description", "photo", "is_online"];
        fixture.post(PATH, wrong.clone()).await.expect_invalid(&all);
        fixture.post(PATH, json!({})).await.expect_invalid(&["name"]);
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "name": "Cash" })).await);
        fixture.put(&path, wrong).await.expect_invalid(&all);
        fixture.put(&path, json!({ "name": null, "is_online": null })).await.expect_invalid(&["name", "is_online"]);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
        }
        for method in [Method::GET, Method::PUT] {
            fixture.as_outsider(method, &path, json!({})).await.expect(403);
        }
        let foreign = fixture.as_outsider(Method::GET, PATH, json!({})).await.expect(200);
        assert_eq!(foreign["paymentTypesCount"], 0);
        for (permission, method, path, status) in [
            ("view-dictionaries", Method::GET, path.as_str(), 200),
            ("view-dictionaries", Method::PUT, &path, 403),
            ("create-dictionaries", Method::PUT, &path, 403),
            ("create-dictionaries", Method::POST, PATH, 201),
            ("edit-dictionaries", Method::PUT, &path, 200),
            ("edit-dictionaries", Method::GET, &path, 403),
        ] {
            fixture.as_one_who_may(&[permission], method, path, json!({ "name": "Cheque" })).await.expect(status);
        }
    }

    async fn the_history_of_a_payment_type_has_its_changes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "name": "Cash" })).await);
        fixture.put(&path, json!({ "name": "Cheque", "is_online": true })).await.expect(200);
        fixture.put(&path, json!({ "name": "Cheque" })).await.expect(200);
        let history = format!("{path}/history");
        let reported = fixture.get(&history).await.expect(200);
        assert_eq!((&reported["historiesCount"], &reported["histories"][1]["action"]), (&json!(2), &json!("created")));
        assert_eq!(reported["pagination"]["per_page"], 15);
        assert_eq!(reported["histories"][0]["changes"], json!([
            { "field": "name", "old": "Cash", "new": "Cheque" },
            { "field": "is_online", "old": "false", "new": "true" },
        ]));
        fixture.get(&format!("{history}?per_page=101&x=1")).await.expect_invalid(&["per_page", "x"]);
        fixture.get(&format!("{PATH}/999999/history")).await.expect(404);
        fixture.as_outsider(Method::GET, &history, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-dictionaries"], Method::GET, &history, json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-dictionaries"], Method::GET, &history, json!({})).await.expect(200);
    }

    async fn an_application_accepts_the_chosen_payment_types(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let other_application = fixture.other_application().await;
        let cash = fixture.create(PATH, json!({ "name": "Cash" })).await;
        let card = fixture.create(PATH, json!({ "name": "Card", "is_online": true })).await;
        let path = format!("/api/applications/{}/payment_types", fixture.project.application_id);
        assert_eq!(accepted(&fixture.get(&path).await.expect(200)), [cash, card]);

        let chosen = fixture.put(&path, json!({ "payment_type_ids": [card, card] })).await.expect(200);
        assert_eq!((accepted(&chosen), &chosen["paymentTypesCount"]), (vec![card], &json!(2)));
        assert_eq!(fixture.get(&path).await.expect(200), chosen);
        assert_eq!(offered(&fixture, &fixture.project).await, ["Card"]);
        assert_eq!(offered(&fixture, &other_application).await, ["Cash", "Card"]);

        // A payment type that is added later is accepted where all are.
        let later = fixture.create(PATH, json!({ "name": "Cheque" })).await;
        assert_eq!(offered(&fixture, &fixture.project).await, ["Card"]);
        assert_eq!(offered(&fixture, &other_application).await, ["Cash", "Card", "Cheque"]);
        let all = fixture.put(&path, json!({ "payment_type_ids": [] })).await.expect(200);
        assert_eq!(accepted(&all), [cash, card, later]);
        assert_eq!(offered(&fixture, &fixture.project).await, ["Cash", "Card", "Cheque"]);
    }

    async fn a_wrong_choice_changes_nothing(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let cash = fixture.create(PATH, json!({ "name": "Cash" })).await;
        let foreign = fixture.create_elsewhere(PATH, json!({ "name": "Far" })).await;
        let path = format!("/api/applications/{}/payment_types", fixture.project.application_id);
        fixture.put(&path, json!({ "payment_type_ids": [cash] })).await.expect(200);
        let many: Vec<i64> = (1..100_000).collect();
        for ids in [json!([cash, foreign]), json!([999_999]), json!(many), json!(null), json!("x")] {
            fixture.put(&path, json!({ "payment_type_ids": ids })).await.expect_invalid(&["payment_type_ids"]);
        }
        fixture.put(&path, json!({ "payment_type_ids": [0] })).await.expect_invalid(&["payment_type_ids.0"]);
        fixture.put(&path, json!({})).await.expect_invalid(&["payment_type_ids"]);
        assert_eq!(accepted(&fixture.get(&path).await.expect(200)), [cash]);
        let body = json!({ "payment_type_ids": [] });
        for method in [Method::GET, Method::PUT] {
            fixture.as_outsider(method.clone(), &path, body.clone()).await.expect(403);
            let absent = "/api/applications/999999/payment_types";
            send(fixture.server.as_staff(&fixture.owner, method, absent).json(&body)).await.expect(404);
        }
        for (permission, method, status) in [
            ("view-applications", Method::GET, 200),
            ("view-applications", Method::PUT, 403),
            ("create-applications", Method::PUT, 403),
            ("edit-applications", Method::PUT, 200),
            ("edit-dictionaries", Method::PUT, 403),
        ] {
            fixture.as_one_who_may(&[permission], method, &path, body.clone()).await.expect(status);
        }
    }

    async fn a_repeated_request_creates_one_payment_type(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "Cash" });
        let request = || keyed(fixture.server.as_staff(&fixture.owner, Method::POST, PATH), "one").json(&body);
        let first = send(request()).await;
        first.expect(201);
        assert_replays(&first, &send(request()).await);
        assert_eq!(fixture.get(PATH).await.expect(200)["paymentTypesCount"], 1);
    }
}
