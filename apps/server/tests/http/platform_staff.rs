//! Employees in lists, and their departments.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

const AT: &str = "'2026-01-01 00:00:00', '2026-01-01 00:00:00'";

/// Creates an employee with a separate role.
async fn new_employee(fixture: &ProjectFixture, login: &str, names: (&str, &str), kind: &str) -> i64 {
    let (project, role_kind) = (fixture.project.id, if kind == "agent" { "agent" } else { "staff" });
    let role = fixture
        .server
        .insert(format!(
            "INSERT INTO roles (project_id, name, is_owner, kind, created_at, updated_at) \
             VALUES ({project}, 'Role of {login}', FALSE, '{role_kind}', {AT}) RETURNING id"
        ))
        .await;
    let (first, last) = names;
    fixture
        .server
        .insert(format!(
            "INSERT INTO users (project_id, role_id, kind, login, email, password_hash, first_name, last_name, phone, \
             is_banned, is_sick, active_seconds, created_at, updated_at) VALUES ({project}, {role}, '{kind}', '{login}', \
             '{login}@example.com', 'none', '{first}', '{last}', '79001112233', FALSE, FALSE, 0, {AT}) RETURNING id"
        ))
        .await
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|record| record["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn employees_are_listed_and_searched(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.server.owner(&fixture.server.project().await).await;
        let me = fixture.get("/api/user").await.expect(200)["user"].clone();
        let anna = new_employee(&fixture, "anna", ("Анна", "Ёлкина"), "employee").await;
        new_employee(&fixture, "agent-1", ("Анна", "Agent"), "agent").await;
        let all = fixture.get("/api/users").await.expect(200);
        assert_eq!((all["usersCount"].as_i64(), ids(&all["users"])), (Some(2), vec![me["id"].as_i64().unwrap(), anna]));
        let mut shown = all["users"][0].clone();
        shown["last_activity_at"] = me["last_activity_at"].clone();
        shown["active_time"] = me["active_time"].clone();
        assert_eq!(shown, me);
        for query in ["АННА", "ёлк ан", "anna@EXAMPLE", "8 900 111-22-33"] {
            let found = fixture.get(&format!("/api/users?query={query}")).await.expect(200);
            assert_eq!((found["usersCount"].as_i64(), ids(&found["users"])), (Some(1), vec![anna]), "{query}");
        }
        let page = fixture.get("/api/users?page=2&per_page=1").await.expect(200);
        assert_eq!((page["usersCount"].as_i64(), ids(&page["users"])), (Some(2), vec![anna]));
        assert_eq!(fixture.get("/api/users?page=9").await.expect(200), json!({ "users": [], "usersCount": 2 }));
        for (path, wrong) in [
            ("/api/users?name=anna", vec!["name"]),
            ("/api/users?page=0&per_page=101&query=", vec!["page", "per_page", "query"]),
            ("/api/managers?page=x&role=1", vec!["page", "role"]),
        ] {
            fixture.get(path).await.expect_invalid(&wrong);
        }
    }

    async fn colleagues_are_listed_by_name(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let anna = new_employee(&fixture, "anna", ("Анна", "Ёлкина"), "employee").await;
        let banned = new_employee(&fixture, "ivan", ("Иван", "Щукин"), "employee").await;
        new_employee(&fixture, "agent-1", ("Анна", "Agent"), "agent").await;
        fixture.server.execute(&format!("UPDATE users SET middle_name = 'Ильинична' WHERE id = {anna}")).await;
        fixture.server.execute(&format!("UPDATE users SET is_banned = TRUE WHERE id = {banned}")).await;
        for (path, key) in [("/api/managers", "managers"), ("/api/responsible_users", "responsibleUsers")] {
            let listed = fixture.get(path).await.expect(200);
            assert_eq!((listed[format!("{key}Count")].as_i64(), listed[key].as_array().unwrap().len()), (Some(2), 2));
            assert_eq!(listed[key][1], json!({
                "id": anna, "first_name": "Анна", "last_name": "Ёлкина", "middle_name": "Ильинична",
                "name": "Анна Ильинична Ёлкина",
            }));
            let found = fixture.get(&format!("{path}?query=ёлкина&per_page=1")).await.expect(200);
            assert_eq!(ids(&found[key]), [anna]);
        }
    }

    async fn a_list_costs_the_same_however_long_it_is(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        // The first use of a token is recorded.
        fixture.get("/api/user").await.expect(200);
        let mut costs = Vec::new();
        for round in 0..2 {
            for number in 0..3 {
                new_employee(&fixture, &format!("clerk-{round}-{number}"), ("A", "B"), "employee").await;
            }
            let mut cost = Vec::new();
            for path in ["/api/users", "/api/managers", "/api/roles", "/api/departments", "/api/permissions"] {
                cost.push(fixture.cost(path).await);
            }
            fixture.create("/api/departments", json!({ "name": "Sales" })).await;
            costs.push(cost);
        }
        assert_eq!(costs[0], costs[1]);
    }

    async fn a_department_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch = fixture.project.branch_id;
        let body = json!({ "name": "Продажи", "description": "Опт", "branch_id": branch });
        let created = fixture.post("/api/departments", body).await.expect(201);
        let department = &created["department"];
        assert_eq!(department["branch"], json!({ "id": branch, "name": "Branch" }));
        let path = format!("/api/departments/{}", department["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let listed = fixture.get("/api/departments").await.expect(200);
        assert_eq!(listed, json!({ "departments": [department], "departmentsCount": 1 }));

        let changed = fixture.put(&path, json!({ "name": "Сбыт", "branch_id": null })).await.expect(200);
        assert_eq!((&changed["department"]["name"], &changed["department"]["branch"]), (&json!("Сбыт"), &json!(null)));
        assert_eq!(changed["department"]["description"], "Опт");
        let id = department["id"].as_i64().unwrap();
        fixture.server.execute(&format!("UPDATE users SET department_id = {id}")).await;
        let me = fixture.get("/api/user").await.expect(200);
        assert_eq!(me["user"]["department"], json!({ "id": id, "name": "Сбыт" }));
        let delete = async || fixture.as_one_who_may(&["edit-departments"], Method::DELETE, &path, json!({})).await;
        delete().await.expect_invalid(&["id"]);
        fixture.server.execute("UPDATE users SET department_id = NULL").await;
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
        fixture.get(&path).await.expect(404);
    }

    async fn every_wrong_field_of_a_department_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let other = fixture.server.project().await;
        let wrong = json!({ "name": " ", "description": 7, "branch_id": "x" });
        fixture.post("/api/departments", wrong.clone()).await.expect_invalid(&["name", "description", "branch_id"]);
        fixture.post("/api/departments", json!({})).await.expect_invalid(&["name"]);
        let path = format!("/api/departments/{}", fixture.create("/api/departments", json!({ "name": "A" })).await);
        fixture.put(&path, wrong).await.expect_invalid(&["name", "description", "branch_id"]);
        fixture.put(&path, json!({ "name": null })).await.expect_invalid(&["name"]);
        for branch in [other.branch_id, 999_999] {
            let body = json!({ "name": "B", "branch_id": branch });
            fixture.post("/api/departments", body.clone()).await.expect_invalid(&["branch_id"]);
            fixture.put(&path, body).await.expect_invalid(&["branch_id"]);
        }
        for absent in ["/api/departments/999999", "/api/departments/x"] {
            fixture.get(absent).await.expect(404);
            fixture.put(absent, json!({})).await.expect(404);
        }
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            fixture.as_outsider(method, &path, json!({})).await.expect(403);
        }
        for (permission, method, path, status) in [
            ("view-departments", Method::GET, path.as_str(), 200),
            ("view-departments", Method::PUT, &path, 403),
            ("create-departments", Method::GET, &path, 403),
            ("create-departments", Method::DELETE, &path, 403),
            ("edit-departments", Method::POST, "/api/departments", 201),
        ] {
            let body = json!({ "name": "C" });
            fixture.as_one_who_may(&[permission], method, path, body).await.expect(status);
        }
    }
}
