//! Roles, permissions and screens.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

/// Returns the identifier of a permission of the service.
async fn number(fixture: &ProjectFixture, name: &str) -> i64 {
    let all = fixture.get("/api/permissions").await.expect(200);
    let all = all["permissions"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap()["id"].as_i64().unwrap()
}

/// Creates a role with these permissions.
async fn role(fixture: &ProjectFixture, permissions: &[&str]) -> i64 {
    let mut ids = Vec::new();
    for name in permissions {
        ids.push(number(fixture, name).await);
    }
    fixture.create("/api/roles", json!({ "name": "Role", "permissions": ids })).await
}

/// Returns the bearer of an employee with this role.
async fn with_role(fixture: &ProjectFixture, permissions: &[&str], role: i64) -> String {
    let bearer = fixture.server.staff_with(&fixture.project, permissions).await;
    let token = bearer.split('|').next().unwrap();
    fixture
        .server
        .execute(&format!(
            "UPDATE users SET role_id = {role} WHERE id = (SELECT subject_id FROM access_tokens WHERE id = {token})"
        ))
        .await;
    bearer
}

async fn put(fixture: &ProjectFixture, bearer: &str, path: &str, body: Value) -> Answer {
    send(fixture.server.as_staff(bearer, Method::PUT, path).json(&body)).await
}

fn names(role: &Value) -> Vec<&str> {
    role["permissions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_role_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (view, edit) = (number(&fixture, "view-orders").await, number(&fixture, "edit-orders").await);
        let body = json!({ "name": "Кладовщик", "description": "Склад", "permissions": [edit, view, edit] });
        let created = fixture.post("/api/roles", body).await.expect(201);
        assert_eq!(created["role"], json!({
            "id": created["role"]["id"], "name": "Кладовщик", "description": "Склад", "is_owner": false,
            "permissions": [
                { "id": view, "screen": { "id": 15, "name": "orders" }, "name": "view-orders", "description": "See orders" },
                { "id": edit, "screen": { "id": 15, "name": "orders" }, "name": "edit-orders",
                    "description": "Create, change and delete orders" },
            ],
            "created_at": created["role"]["created_at"], "updated_at": created["role"]["updated_at"],
        }));
        let path = format!("/api/roles/{}", created["role"]["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let listed = fixture.get("/api/roles").await.expect(200);
        assert_eq!(listed["rolesCount"], 2);
        assert_eq!((&listed["roles"][0]["is_owner"], &listed["roles"][1]), (&json!(true), &created["role"]));

        // It applies at once to every employee who has it.
        let employee = with_role(&fixture, &[], created["role"]["id"].as_i64().unwrap()).await;
        let orders = async || send(fixture.server.as_staff(&employee, Method::GET, "/api/orders")).await.status.as_u16();
        assert_eq!(orders().await, 200);
        let changed = fixture.put(&path, json!({ "permissions": [edit], "description": null })).await.expect(200);
        assert_eq!((names(&changed["role"]), &changed["role"]["name"]), (vec!["edit-orders"], &json!("Кладовщик")));
        assert_eq!((&changed["role"]["description"], orders().await), (&json!(null), 403));
        let kept = fixture.put(&path, json!({ "name": "X" })).await.expect(200);
        assert_eq!(names(&kept["role"]), ["edit-orders"]);

        let delete = async || send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await;
        delete().await.expect_invalid(&["id"]);
        let other = role(&fixture, &[]).await;
        fixture.server.execute(&format!("UPDATE users SET role_id = {other} WHERE role_id = {}", created["role"]["id"])).await;
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
        fixture.get(&path).await.expect(404);
    }

    async fn callers_cannot_grant_permissions_they_do_not_hold(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let own = role(&fixture, &["view-roles", "edit-roles", "view-orders", "edit-brands"]).await;
        let employee = with_role(&fixture, &[], own).await;
        let (orders, brands) = (number(&fixture, "view-orders").await, number(&fixture, "create-brands").await);
        let beyond = number(&fixture, "edit-orders").await;
        let post = async |body: Value| send(fixture.server.as_staff(&employee, Method::POST, "/api/roles").json(&body)).await;
        post(json!({ "name": "Fine", "permissions": [orders, brands] })).await.expect(201);
        let refused = post(json!({ "name": "Too much", "permissions": [orders, beyond] })).await.expect(403);
        assert!(refused["message"].as_str().unwrap().contains("edit-orders"), "{refused}");
        // Callers cannot grant it to themselves either.
        put(&fixture, &employee, &format!("/api/roles/{own}"), json!({ "permissions": [orders, beyond] })).await.expect(403);
        // A role with more permissions cannot be changed by the caller in any way.
        let chief = role(&fixture, &["edit-orders"]).await;
        let path = format!("/api/roles/{chief}");
        put(&fixture, &employee, &path, json!({ "permissions": [] })).await.expect(403);
        put(&fixture, &employee, &path, json!({ "name": "Mine" })).await.expect(403);
        send(fixture.server.as_staff(&employee, Method::DELETE, &path)).await.expect(403);
        send(fixture.server.as_staff(&employee, Method::GET, &path)).await.expect(200);
        // A restricted token grants no more than its own permissions.
        let held = with_role(&fixture, &[], own).await;
        let token = held.split('|').next().unwrap();
        fixture.server.execute(&format!(
            "UPDATE access_tokens SET abilities = '[\"edit-roles\"]' WHERE id = {token}"
        )).await;
        let body = json!({ "name": "R", "permissions": [orders] });
        send(fixture.server.as_staff(&held, Method::POST, "/api/roles").json(&body)).await.expect(403);
    }

    async fn the_owners_role_stays_as_it_is(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let listed = fixture.get("/api/roles").await.expect(200);
        let path = format!("/api/roles/{}", listed["roles"][0]["id"]);
        for body in [json!({ "permissions": [] }), json!({ "name": "X" }), json!({})] {
            fixture.put(&path, body).await.expect(403);
        }
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await.expect(403);
        let all = fixture.get("/api/permissions").await.expect(200)["permissionsCount"].as_u64().unwrap();
        assert_eq!(u64::try_from(names(&fixture.get(&path).await.expect(200)["role"]).len()).unwrap(), all);
    }

    async fn an_agents_private_role_is_hidden(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let private = role(&fixture, &[]).await;
        fixture.server.execute(&format!("UPDATE roles SET kind = 'agent' WHERE id = {private}")).await;
        let path = format!("/api/roles/{private}");
        fixture.get(&path).await.expect(404);
        fixture.put(&path, json!({ "name": "X" })).await.expect(404);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await.expect(404);
        assert_eq!(fixture.get("/api/roles").await.expect(200)["rolesCount"], 1);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let wrong = json!({ "name": "", "description": [], "permissions": [1, "x", 0] });
        let fields = ["name", "description", "permissions.1", "permissions.2"];
        fixture.post("/api/roles", wrong.clone()).await.expect_invalid(&fields);
        fixture.post("/api/roles", json!({ "permissions": 7 })).await.expect_invalid(&["name", "permissions"]);
        let path = format!("/api/roles/{}", role(&fixture, &[]).await);
        fixture.put(&path, wrong).await.expect_invalid(&fields);
        fixture.put(&path, json!({ "name": null, "permissions": null })).await.expect_invalid(&["name", "permissions"]);
        let foreign = json!({ "name": "view-reports", "screen_id": 1 });
        let foreign = fixture.create_elsewhere("/api/permissions", foreign).await;
        let body = json!({ "name": "R", "permissions": [1, 999_999, foreign] });
        fixture.post("/api/roles", body.clone()).await.expect_invalid(&["permissions.1", "permissions.2"]);
        fixture.put(&path, body).await.expect_invalid(&["permissions.1", "permissions.2"]);

        let wrong = json!({ "name": "delete-orders", "screen_id": "x", "description": "\u{0}" });
        fixture.post("/api/permissions", wrong.clone()).await.expect_invalid(&["name", "screen_id", "description"]);
        fixture.post("/api/permissions", json!({})).await.expect_invalid(&["name", "screen_id"]);
        let path = json!({ "name": "view-sales", "screen_id": 1 });
        let path = format!("/api/permissions/{}", fixture.create("/api/permissions", path).await);
        fixture.put(&path, wrong).await.expect_invalid(&["name", "screen_id", "description"]);
        fixture.put(&path, json!({ "name": null, "screen_id": 999 })).await.expect_invalid(&["name"]);
        fixture.put(&path, json!({ "screen_id": 999 })).await.expect_invalid(&["screen_id"]);
        for name in ["view-orders", "view-sales"] {
            fixture.post("/api/permissions", json!({ "name": name, "screen_id": 1 })).await.expect_invalid(&["name"]);
        }
        for absent in ["roles/999999", "roles/x", "permissions/999999", "screens/999999", "screens/x"] {
            fixture.get(&format!("/api/{absent}")).await.expect(404);
        }
    }

    async fn a_project_defines_permissions_for_its_integrations(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "view-reports", "screen_id": 15, "description": "Отчёты" });
        let created = fixture.post("/api/permissions", body).await.expect(201);
        let permission = &created["permission"];
        assert_eq!(permission, &json!({
            "id": permission["id"], "screen": { "id": 15, "name": "orders" }, "name": "view-reports",
            "description": "Отчёты",
        }));
        let path = format!("/api/permissions/{}", permission["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        // The owner has it and may grant it, and integrations see it in the permissions of an employee.
        let me = fixture.get("/api/user").await.expect(200);
        assert_eq!(names(&me["user"]).last(), Some(&"view-reports"));
        let body = json!({ "name": "Analyst", "permissions": [permission["id"]] });
        let role_path = format!("/api/roles/{}", fixture.create("/api/roles", body).await);
        let id: i64 = role_path.rsplit('/').next().unwrap().parse().unwrap();
        let analyst = with_role(&fixture, &[], id).await;
        let user = send(fixture.server.as_staff(&analyst, Method::GET, "/api/user")).await.expect(200);
        assert_eq!(names(&user["user"]), ["view-reports"]);
        // A caller without the permission cannot grant it.
        let editor = fixture.server.staff_with(&fixture.project, &["edit-roles"]).await;
        put(&fixture, &editor, &role_path, json!({ "permissions": [] })).await.expect(403);
        let body = json!({ "name": "R", "permissions": [permission["id"]] });
        send(fixture.server.as_staff(&editor, Method::POST, "/api/roles").json(&body)).await.expect(403);

        let renamed = fixture.put(&path, json!({ "name": "edit-reports", "description": null })).await.expect(200);
        assert_eq!((&renamed["permission"]["name"], &renamed["permission"]["description"]), (&json!("edit-reports"), &json!("")));
        let delete = async || send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await;
        delete().await.expect_invalid(&["id"]);
        fixture.put(&role_path, json!({ "permissions": [] })).await.expect(200);
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
    }

    async fn the_services_permissions_are_read_only(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let listed = fixture.get("/api/permissions").await.expect(200);
        assert_eq!(listed["permissionsCount"], listed["permissions"].as_array().unwrap().len());
        assert_eq!(listed["permissions"][0], json!({
            "id": 1, "screen": { "id": 1, "name": "agents" }, "name": "view-agents", "description": "See agents",
        }));
        assert_eq!(fixture.get("/api/permissions/1").await.expect(200)["permission"], listed["permissions"][0]);
        fixture.put("/api/permissions/1", json!({ "name": "view-x" })).await.expect(403);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, "/api/permissions/1")).await.expect(403);
        let screens = fixture.get("/api/screens").await.expect(200);
        assert_eq!(screens["screensCount"], screens["screens"].as_array().unwrap().len());
        assert_eq!(fixture.get("/api/screens/1").await.expect(200), json!({ "screen": screens["screens"][0] }));
    }
}
