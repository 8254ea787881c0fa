//! Integrations of a warehouse.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

const ALL: &str = "/api/integrations";

async fn place(fixture: &ProjectFixture) -> String {
    format!("/api/warehouses/{}/integrations", fixture.warehouse("W").await)
}

fn ids(list: &Value) -> Vec<i64> {
    list["integrations"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn choices_are_listed_in_a_dictionary(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let all = fixture.get(ALL).await.expect(200);
        assert_eq!((ids(&all), &all["integrationsCount"]), (vec![1, 2, 3, 4, 5], &json!(5)));
        let one = fixture.get(&format!("{ALL}/4")).await.expect(200);
        assert_eq!(one, json!({ "integration": {
            "id": 4, "name": "Accounting system", "integration_type": { "id": 5, "name": "Accounting" }, "owner": "warehouse",
        } }));
        assert_eq!(one["integration"], all["integrations"][3]);
        fixture.get(&format!("{ALL}/99")).await.expect(404);
        fixture.as_one_who_may(&["view-dictionaries"], Method::GET, ALL, json!({})).await.expect(200);
        fixture.as_one_who_may(&["view-warehouses"], Method::GET, ALL, json!({})).await.expect(403);
    }

    async fn a_warehouse_uses_integrations(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (path, other) = (place(&fixture).await, place(&fixture).await);
        let list = fixture.get(&path).await.expect(200);
        assert_eq!(ids(&list), [3, 4, 5]);
        assert_eq!((&list["integrations"][0]["is_active"], &list["integrations"][0]["updated_at"]), (&json!(false), &json!(null)));
        let on = fixture.put(&format!("{path}/4"), json!({ "is_active": true })).await.expect(200);
        assert_eq!((&on["integration"]["id"], &on["integration"]["is_active"]), (&json!(4), &json!(true)));
        assert_eq!(fixture.get(&path).await.expect(200)["integrations"][1], on["integration"]);
        assert_eq!(fixture.get(&format!("{path}/4")).await.expect(200), on);
        // An integration that was never used has no version yet.
        let unused = fixture.get(&format!("{path}/3")).await;
        assert_eq!(unused.expect(200)["integration"]["is_active"], false);
        assert!(unused.headers.get("etag").is_none());
        assert_eq!(fixture.get(&other).await.expect(200)["integrations"][1]["is_active"], false);
        let off = fixture.put(&format!("{path}/4"), json!({ "is_active": false })).await.expect(200);
        assert_eq!(off["integration"]["is_active"], false);
        fixture.put(&format!("{path}/4"), json!({ "is_active": "perhaps" })).await.expect_invalid(&["is_active"]);
        fixture.put(&format!("{path}/4"), json!({})).await.expect_invalid(&["is_active"]);
        // The first integration belongs to bank requisites.
        for absent in [format!("{path}/1"), format!("{path}/99"), "/api/warehouses/999999/integrations/4".to_owned()] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({ "is_active": true })).await.expect(404);
            fixture.get(&format!("{absent}/parameters")).await.expect(404);
            fixture.post(&format!("{absent}/parameters"), json!({ "key": "a", "value": "b" })).await.expect(404);
        }
    }

    async fn secrets_are_sealed_and_masked(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{}/4/parameters", place(&fixture).await);
        let secret = fixture.post(&path, json!({ "key": "token", "value": "s3cret-of-the-books" })).await.expect(201);
        let plain = fixture.post(&path, json!({ "key": "url", "value": "https://a.example", "is_secret": false })).await.expect(201);
        assert_eq!((&secret["parameter"]["value"], &secret["parameter"]["is_secret"]), (&json!("********"), &json!(true)));
        assert_eq!(plain["parameter"]["value"], "https://a.example");
        let list = fixture.get(&path).await.expect(200);
        assert_eq!(list, json!({ "parameters": [secret["parameter"], plain["parameter"]], "parametersCount": 2 }));
        let open = "SELECT count(*) AS id FROM integration_parameters WHERE value LIKE '%s3cret%'".to_owned();
        assert_eq!(fixture.server.insert(open).await, 0);

        fixture.post(&path, json!({ "key": "token", "value": "another" })).await.expect_invalid(&["key"]);
        fixture.post(&path, json!({ "key": " ", "value": 5, "is_secret": "x" })).await.expect_invalid(&["key", "value", "is_secret"]);
        fixture.post(&path, json!({})).await.expect_invalid(&["key", "value"]);
        let elsewhere = format!("{}/4/parameters", place(&fixture).await);
        fixture.post(&format!("{elsewhere}/{}", secret["parameter"]["id"]), json!({})).await.expect(404);
        let removed = format!("{path}/{}", secret["parameter"]["id"]);
        assert!(fixture.post(&removed, json!({})).await.expect(200)["message"].is_string());
        fixture.post(&removed, json!({})).await.expect(404);
        assert_eq!(fixture.get(&path).await.expect(200)["parametersCount"], 1);
        fixture.post(&path, json!({ "key": "token", "value": "another" })).await.expect(201);
    }

    async fn changes_are_in_the_history_of_the_warehouse_without_secrets(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = place(&fixture).await;
        let parameters = format!("{path}/4/parameters");
        for is_active in [true, true, false] {
            fixture.put(&format!("{path}/4"), json!({ "is_active": is_active })).await.expect(200);
        }
        let secret = fixture.post(&parameters, json!({ "key": "token", "value": "s3cret-of-the-books" })).await.expect(201);
        let plain = fixture.post(&parameters, json!({ "key": "url", "value": "https://a.example", "is_secret": false })).await.expect(201);
        fixture.post(&parameters, json!({ "key": "token", "value": "another" })).await.expect_invalid(&["key"]);
        for one in [secret, plain] {
            fixture.post(&format!("{parameters}/{}", one["parameter"]["id"]), json!({})).await.expect(200);
        }
        let answer = fixture.get(&path.replace("integrations", "history")).await;
        assert!(!answer.text.contains("s3cret"), "{}", answer.text);
        let reported = answer.expect(200);
        let mut lines: Vec<Value> = reported["histories"].as_array().unwrap().iter().map(|line| line["changes"].clone()).collect();
        lines.pop();
        let line = |what: &str, old: Value, new: Value| json!([{ "field": format!("integrations.4.{what}"), "old": old, "new": new }]);
        let (mask, none) = (json!("********"), Value::Null);
        assert_eq!(lines, [
            line("parameters.url", json!("https://a.example"), none.clone()),
            line("parameters.token", mask.clone(), none.clone()),
            line("parameters.url", none.clone(), json!("https://a.example")),
            line("parameters.token", none, mask),
            line("is_active", json!("true"), json!("false")),
            line("is_active", json!("false"), json!("true")),
        ]);
        assert!(reported["histories"][0]["user"]["id"].is_i64() && reported["histories"][0]["action"] == "changed");
        let stored = "SELECT count(*) AS id FROM histories WHERE changes LIKE '%s3cret%'".to_owned();
        assert_eq!(fixture.server.insert(stored).await, 0);
    }

    async fn outsiders_and_staff_without_permission_are_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = place(&fixture).await;
        let parameters = format!("{path}/4/parameters");
        let body = json!({ "key": "a", "value": "b", "is_active": true });
        let id = fixture.post(&parameters, body.clone()).await.expect(201)["parameter"]["id"].clone();
        for (method, path) in [
            (Method::GET, path.clone()), (Method::PUT, format!("{path}/4")), (Method::GET, parameters.clone()),
            (Method::POST, parameters.clone()), (Method::POST, format!("{parameters}/{id}")),
        ] {
            fixture.as_outsider(method.clone(), &path, body.clone()).await.expect(403);
            let short = if method == Method::GET { "edit-warehouses" } else { "view-warehouses" };
            fixture.as_one_who_may(&[short], method, &path, body.clone()).await.expect(403);
        }
        assert_eq!(fixture.get(&parameters).await.expect(200)["parametersCount"], 1);
    }

    async fn no_more_parameters_than_fifty(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{}/4/parameters", place(&fixture).await);
        for number in 0..50 {
            fixture.post(&path, json!({ "key": format!("k{number}"), "value": "v" })).await.expect(201);
        }
        fixture.post(&path, json!({ "key": "one more", "value": "v" })).await.expect_invalid(&["integration_id"]);
    }
}
