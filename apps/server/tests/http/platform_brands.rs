//! Brands and tags of items.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::ProcessEnvironment;
use crate::project_fixture::ProjectFixture;
use crate::support::send;

database_tests! {
    async fn a_brand_is_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let created = fixture.post("/api/brands", json!({ "name": "Ёлка", "photo": "https://cdn.example/a.png" })).await.expect(201);
        let path = format!("/api/brands/{}", created["brand"]["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let changed = fixture.put(&path, json!({ "name": "ЁЛКА 🎄" })).await.expect(200);
        let mut expected = created.clone();
        expected["brand"]["name"] = json!("ЁЛКА 🎄");
        assert_eq!(changed, expected);
        expected["brand"]["photo"] = json!(null);
        assert_eq!(fixture.put(&path, json!({ "photo": null })).await.expect(200), expected);
        assert_eq!(fixture.put(&path, json!({})).await.expect(200), expected);

        let item = json!({ "name": "Mug", "kind_id": 1, "price": 1, "brand_id": created["brand"]["id"] });
        let item = fixture.post("/api/nomenclatures", item).await.expect(201);
        assert_eq!(item["nomenclature"]["brand"]["name"], "ЁЛКА 🎄");
        fixture.put(&path, json!({ "name": "Ель" })).await.expect(200);
        let list = send(fixture.server.as_app(&fixture.project, Method::GET, "/api/counterparty/products")).await.expect(200);
        assert_eq!(list["products"]["data"][0]["brand"]["name"], "Ель", "{list}");
    }

    async fn a_wrong_change_of_a_brand_is_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create("/api/brands", json!({ "name": "A" })).await;
        fixture.create("/api/brands", json!({ "name": "Б" })).await;
        let path = format!("/api/brands/{id}");
        fixture.put(&path, json!({ "name": null, "photo": "a.jpg" })).await.expect_invalid(&["name", "photo"]);
        fixture.put(&path, json!({ "name": "б" })).await.expect_invalid(&["name"]);
        for absent in ["/api/brands/999999", "/api/brands/x"] {
            fixture.get(absent).await.expect(404);
            fixture.put(absent, json!({})).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::PUT, &path, json!({ "name": "X" })).await.expect(403);
        fixture.as_one_who_may(&["create-brands"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-brands"], Method::GET, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-brands"], Method::PUT, &path, json!({})).await.expect(200);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await.expect(405);
    }

    async fn tags_are_added_by_a_command_and_chosen_by_number(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let _process = environment.serve().await;
        let owner = environment.create_project("owner");
        let project = owner["project_id"].to_string();
        let tag = |name: &str| ["tag", "create", "--json", "--project", &project, "--name", name].map(str::to_owned);
        let add = |name: &str| -> Value {
            let arguments = tag(name);
            serde_json::from_slice(&environment.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).stdout).unwrap()
        };
        let (hit, new) = (add("Хит"), add("New"));
        for wrong in [tag("ХИТ"), tag(" "), ["tag", "create", "--json", "--project", "999", "--name", "A"].map(str::to_owned)] {
            let output = environment.command(&wrong.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
            assert!(!output.status.success(), "{wrong:?}");
        }
        let login = json!({ "login": owner["login"], "password": owner["password"] });
        let signed_in = send(environment.http.post(format!("{}/api/login", environment.url())).json(&login)).await.expect(200);
        let bearer = signed_in["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        let ask = |method: Method, path: &str| environment.http.request(method, format!("{}{path}", environment.url())).bearer_auth(&bearer);
        let listed = send(ask(Method::GET, "/api/tags")).await.expect(200);
        assert_eq!(listed["tagsCount"], 2);
        let first = &listed["tags"][0];
        assert_eq!((&first["id"], &first["name"], &first["photo"]), (&hit["tag_id"], &json!("Хит"), &Value::Null));
        assert!(first["created_at"].as_str().unwrap().ends_with('Z'));
        let item = json!({ "name": "Mug", "kind_id": 2, "tags": [new["tag_id"], hit["tag_id"], hit["tag_id"]] });
        let item = send(ask(Method::POST, "/api/nomenclatures").json(&item)).await.expect(201);
        let chosen = json!([{ "id": hit["tag_id"], "name": "Хит" }, { "id": new["tag_id"], "name": "New" }]);
        assert_eq!(item["nomenclature"]["tags"], chosen);
        let body = json!({ "name": "Mug", "kind_id": 2, "tags": [hit["tag_id"], 999_999, "New", { "name": "New" }] });
        send(ask(Method::POST, "/api/nomenclatures").json(&body)).await.expect_invalid(&["tags.2", "tags.3"]);
    }

    async fn tags_belong_to_a_project(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let project = fixture.project.id;
        let tag = fixture.server.insert(format!(
            "INSERT INTO tags (project_id, name, created_at) VALUES ({project}, 'Хит', '2026-01-01 00:00:00') RETURNING id"
        )).await;
        assert_eq!(fixture.get("/api/tags").await.expect(200)["tags"][0]["id"], tag);
        let foreign = fixture.as_outsider(Method::GET, "/api/tags", json!({})).await.expect(200);
        assert_eq!(foreign, json!({ "tags": [], "tagsCount": 0 }));
        let body = json!({ "name": "A", "kind_id": 2, "tags": [tag] });
        fixture.as_outsider(Method::POST, "/api/nomenclatures", body).await.expect_invalid(&["tags.0"]);
        fixture.as_one_who_may(&["view-brands"], Method::GET, "/api/tags", json!({})).await.expect(403);
    }
}
