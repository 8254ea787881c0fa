//! Roles, permissions and screens.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;
use crate::support::{Answer, send};

/// Returns the identifier of a permission of the service.
async fn number(office: &Office, name: &str) -> i64 {
    let all = office.get("/api/permissions").await.expect(200);
    let all = all["permissions"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap()["id"].as_i64().unwrap()
}

/// Creates a role with these permissions.
async fn role(office: &Office, permissions: &[&str]) -> i64 {
    let mut ids = Vec::new();
    for name in permissions {
        ids.push(number(office, name).await);
    }
    office.create("/api/roles", json!({ "name": "Role", "permissions": ids })).await
}

/// Returns the bearer of an employee with this role.
async fn with_role(office: &Office, permissions: &[&str], role: i64) -> String {
    let bearer = office.server.staff_with(&office.project, permissions).await;
    let token = bearer.split('|').next().unwrap();
    office
        .server
        .execute(&format!(
            "UPDATE users SET role_id = {role} WHERE id = (SELECT subject_id FROM access_tokens WHERE id = {token})"
        ))
        .await;
    bearer
}

async fn put(office: &Office, bearer: &str, path: &str, body: Value) -> Answer {
    send(office.server.as_staff(bearer, Method::PUT, path).json(&body)).await
}

fn names(role: &Value) -> Vec<&str> {
    role["permissions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_role_is_created_read_changed_and_deleted(db: TestDatabase) {
        let office = Office::open(db).await;
        let (view, edit) = (number(&office, "view-orders").await, number(&office, "edit-orders").await);
        let body = json!({ "name": "Кладовщик", "description": "Склад", "permissions": [edit, view, edit] });
        let created = office.post("/api/roles", body).await.expect(201);
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
        assert_eq!(office.get(&path).await.expect(200), created);
        let listed = office.get("/api/roles").await.expect(200);
        assert_eq!(listed["rolesCount"], 2);
        assert_eq!((&listed["roles"][0]["is_owner"], &listed["roles"][1]), (&json!(true), &created["role"]));

        // It applies at once to every employee who has it.
        let clerk = with_role(&office, &[], created["role"]["id"].as_i64().unwrap()).await;
        let orders = async || send(office.server.as_staff(&clerk, Method::GET, "/api/orders")).await.status.as_u16();
        assert_eq!(orders().await, 200);
        let changed = office.put(&path, json!({ "permissions": [edit], "description": null })).await.expect(200);
        assert_eq!((names(&changed["role"]), &changed["role"]["name"]), (vec!["edit-orders"], &json!("Кладовщик")));
        assert_eq!((&changed["role"]["description"], orders().await), (&json!(null), 403));
        let kept = office.put(&path, json!({ "name": "X" })).await.expect(200);
        assert_eq!(names(&kept["role"]), ["edit-orders"]);

        let delete = async || send(office.server.as_staff(&office.owner, Method::DELETE, &path)).await;
        delete().await.expect_invalid(&["id"]);
        let other = role(&office, &[]).await;
        office.server.execute(&format!("UPDATE users SET role_id = {other} WHERE role_id = {}", created["role"]["id"])).await;
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
        office.get(&path).await.expect(404);
    }

    async fn nobody_hands_on_what_he_does_not_have(db: TestDatabase) {
        let office = Office::open(db).await;
        let own = role(&office, &["view-roles", "edit-roles", "view-orders", "edit-brands"]).await;
        let clerk = with_role(&office, &[], own).await;
        let (orders, brands) = (number(&office, "view-orders").await, number(&office, "create-brands").await);
        let beyond = number(&office, "edit-orders").await;
        let post = async |body: Value| send(office.server.as_staff(&clerk, Method::POST, "/api/roles").json(&body)).await;
        post(json!({ "name": "Fine", "permissions": [orders, brands] })).await.expect(201);
        let refused = post(json!({ "name": "Too much", "permissions": [orders, beyond] })).await.expect(403);
        assert!(refused["message"].as_str().unwrap().contains("edit-orders"), "{refused}");
        // Callers cannot grant it to themselves either.
        put(&office, &clerk, &format!("/api/roles/{own}"), json!({ "permissions": [orders, beyond] })).await.expect(403);
        // A role with more permissions cannot be changed by the caller in any way.
        let chief = role(&office, &["edit-orders"]).await;
        let path = format!("/api/roles/{chief}");
        put(&office, &clerk, &path, json!({ "permissions": [] })).await.expect(403);
        put(&office, &clerk, &path, json!({ "name": "Mine" })).await.expect(403);
        send(office.server.as_staff(&clerk, Method::DELETE, &path)).await.expect(403);
        send(office.server.as_staff(&clerk, Method::GET, &path)).await.expect(200);
        // A restricted token grants no more than its own permissions.
        let held = with_role(&office, &[], own).await;
        let token = held.split('|').next().unwrap();
        office.server.execute(&format!(
            "UPDATE access_tokens SET abilities = '[\"edit-roles\"]' WHERE id = {token}"
        )).await;
        let body = json!({ "name": "R", "permissions": [orders] });
        send(office.server.as_staff(&held, Method::POST, "/api/roles").json(&body)).await.expect(403);
    }

    async fn the_owners_role_stays_as_it_is(db: TestDatabase) {
        let office = Office::open(db).await;
        let listed = office.get("/api/roles").await.expect(200);
        let path = format!("/api/roles/{}", listed["roles"][0]["id"]);
        for body in [json!({ "permissions": [] }), json!({ "name": "X" }), json!({})] {
            office.put(&path, body).await.expect(403);
        }
        send(office.server.as_staff(&office.owner, Method::DELETE, &path)).await.expect(403);
        let all = office.get("/api/permissions").await.expect(200)["permissionsCount"].as_u64().unwrap();
        assert_eq!(u64::try_from(names(&office.get(&path).await.expect(200)["role"]).len()).unwrap(), all);
    }

    async fn an_agents_private_role_is_nobodys_business(db: TestDatabase) {
        let office = Office::open(db).await;
        let private = role(&office, &[]).await;
        office.server.execute(&format!("UPDATE roles SET kind = 'agent' WHERE id = {private}")).await;
        let path = format!("/api/roles/{private}");
        office.get(&path).await.expect(404);
        office.put(&path, json!({ "name": "X" })).await.expect(404);
        send(office.server.as_staff(&office.owner, Method::DELETE, &path)).await.expect(404);
        assert_eq!(office.get("/api/roles").await.expect(200)["rolesCount"], 1);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        let wrong = json!({ "name": "", "description": [], "permissions": [1, "x", 0] });
        let fields = ["name", "description", "permissions.1", "permissions.2"];
        office.post("/api/roles", wrong.clone()).await.expect_invalid(&fields);
        office.post("/api/roles", json!({ "permissions": 7 })).await.expect_invalid(&["name", "permissions"]);
        let path = format!("/api/roles/{}", role(&office, &[]).await);
        office.put(&path, wrong).await.expect_invalid(&fields);
        office.put(&path, json!({ "name": null, "permissions": null })).await.expect_invalid(&["name", "permissions"]);
        let foreign = json!({ "name": "view-reports", "screen_id": 1 });
        let foreign = office.create_elsewhere("/api/permissions", foreign).await;
        let body = json!({ "name": "R", "permissions": [1, 999_999, foreign] });
        office.post("/api/roles", body.clone()).await.expect_invalid(&["permissions.1", "permissions.2"]);
        office.put(&path, body).await.expect_invalid(&["permissions.1", "permissions.2"]);

        let wrong = json!({ "name": "delete-orders", "screen_id": "x", "description": "\u{0}" });
        office.post("/api/permissions", wrong.clone()).await.expect_invalid(&["name", "screen_id", "description"]);
        office.post("/api/permissions", json!({})).await.expect_invalid(&["name", "screen_id"]);
        let path = json!({ "name": "view-sales", "screen_id": 1 });
        let path = format!("/api/permissions/{}", office.create("/api/permissions", path).await);
        office.put(&path, wrong).await.expect_invalid(&["name", "screen_id", "description"]);
        office.put(&path, json!({ "name": null, "screen_id": 999 })).await.expect_invalid(&["name"]);
        office.put(&path, json!({ "screen_id": 999 })).await.expect_invalid(&["screen_id"]);
        for name in ["view-orders", "view-sales"] {
            office.post("/api/permissions", json!({ "name": name, "screen_id": 1 })).await.expect_invalid(&["name"]);
        }
        for absent in ["roles/999999", "roles/x", "permissions/999999", "screens/999999", "screens/x"] {
            office.get(&format!("/api/{absent}")).await.expect(404);
        }
    }

    async fn a_project_defines_permissions_for_its_integrations(db: TestDatabase) {
        let office = Office::open(db).await;
        let body = json!({ "name": "view-reports", "screen_id": 15, "description": "Отчёты" });
        let created = office.post("/api/permissions", body).await.expect(201);
        let permission = &created["permission"];
        assert_eq!(permission, &json!({
            "id": permission["id"], "screen": { "id": 15, "name": "orders" }, "name": "view-reports",
            "description": "Отчёты",
        }));
        let path = format!("/api/permissions/{}", permission["id"]);
        assert_eq!(office.get(&path).await.expect(200), created);
        // The owner has it and may grant it, and integrations see it in the permissions of an employee.
        let me = office.get("/api/user").await.expect(200);
        assert_eq!(names(&me["user"]).last(), Some(&"view-reports"));
        let body = json!({ "name": "Analyst", "permissions": [permission["id"]] });
        let role_path = format!("/api/roles/{}", office.create("/api/roles", body).await);
        let id: i64 = role_path.rsplit('/').next().unwrap().parse().unwrap();
        let analyst = with_role(&office, &[], id).await;
        let user = send(office.server.as_staff(&analyst, Method::GET, "/api/user")).await.expect(200);
        assert_eq!(names(&user["user"]), ["view-reports"]);
        // A caller without the permission cannot grant it.
        let editor = office.server.staff_with(&office.project, &["edit-roles"]).await;
        put(&office, &editor, &role_path, json!({ "permissions": [] })).await.expect(403);
        let body = json!({ "name": "R", "permissions": [permission["id"]] });
        send(office.server.as_staff(&editor, Method::POST, "/api/roles").json(&body)).await.expect(403);

        let renamed = office.put(&path, json!({ "name": "edit-reports", "description": null })).await.expect(200);
        assert_eq!((&renamed["permission"]["name"], &renamed["permission"]["description"]), (&json!("edit-reports"), &json!("")));
        let delete = async || send(office.server.as_staff(&office.owner, Method::DELETE, &path)).await;
        delete().await.expect_invalid(&["id"]);
        office.put(&role_path, json!({ "permissions": [] })).await.expect(200);
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
    }

    async fn the_services_permissions_are_read_only(db: TestDatabase) {
        let office = Office::open(db).await;
        let listed = office.get("/api/permissions").await.expect(200);
        assert_eq!(listed["permissionsCount"], listed["permissions"].as_array().unwrap().len());
        assert_eq!(listed["permissions"][0], json!({
            "id": 1, "screen": { "id": 1, "name": "agents" }, "name": "view-agents", "description": "See agents",
        }));
        assert_eq!(office.get("/api/permissions/1").await.expect(200)["permission"], listed["permissions"][0]);
        office.put("/api/permissions/1", json!({ "name": "view-x" })).await.expect(403);
        send(office.server.as_staff(&office.owner, Method::DELETE, "/api/permissions/1")).await.expect(403);
        let screens = office.get("/api/screens").await.expect(200);
        assert_eq!(screens["screensCount"], screens["screens"].as_array().unwrap().len());
        assert_eq!(office.get("/api/screens/1").await.expect(200), json!({ "screen": screens["screens"][0] }));
    }
}
