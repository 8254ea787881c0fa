//! Employees in lists, and their departments.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;

const AT: &str = "'2026-01-01 00:00:00', '2026-01-01 00:00:00'";

/// Creates an employee with a separate role.
async fn hire(office: &Office, login: &str, names: (&str, &str), kind: &str) -> i64 {
    let (project, role_kind) = (office.project.id, if kind == "agent" { "agent" } else { "staff" });
    let role = office
        .server
        .insert(format!(
            "INSERT INTO roles (project_id, name, is_owner, kind, created_at, updated_at) \
             VALUES ({project}, 'Role of {login}', FALSE, '{role_kind}', {AT}) RETURNING id"
        ))
        .await;
    let (first, last) = names;
    office
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
        let office = Office::open(db).await;
        office.server.owner(&office.server.project().await).await;
        let me = office.get("/api/user").await.expect(200)["user"].clone();
        let anna = hire(&office, "anna", ("Анна", "Ёлкина"), "employee").await;
        hire(&office, "agent-1", ("Анна", "Agent"), "agent").await;
        let all = office.get("/api/users").await.expect(200);
        assert_eq!((all["usersCount"].as_i64(), ids(&all["users"])), (Some(2), vec![me["id"].as_i64().unwrap(), anna]));
        let mut shown = all["users"][0].clone();
        shown["last_activity_at"] = me["last_activity_at"].clone();
        shown["active_time"] = me["active_time"].clone();
        assert_eq!(shown, me);
        for query in ["АННА", "ёлк ан", "anna@EXAMPLE", "8 900 111-22-33"] {
            let found = office.get(&format!("/api/users?query={query}")).await.expect(200);
            assert_eq!((found["usersCount"].as_i64(), ids(&found["users"])), (Some(1), vec![anna]), "{query}");
        }
        let page = office.get("/api/users?page=2&per_page=1").await.expect(200);
        assert_eq!((page["usersCount"].as_i64(), ids(&page["users"])), (Some(2), vec![anna]));
        assert_eq!(office.get("/api/users?page=9").await.expect(200), json!({ "users": [], "usersCount": 2 }));
        for (path, wrong) in [
            ("/api/users?name=anna", vec!["name"]),
            ("/api/users?page=0&per_page=101&query=", vec!["page", "per_page", "query"]),
            ("/api/managers?page=x&role=1", vec!["page", "role"]),
        ] {
            office.get(path).await.expect_invalid(&wrong);
        }
    }

    async fn colleagues_are_listed_by_name(db: TestDatabase) {
        let office = Office::open(db).await;
        let anna = hire(&office, "anna", ("Анна", "Ёлкина"), "employee").await;
        let banned = hire(&office, "ivan", ("Иван", "Щукин"), "employee").await;
        hire(&office, "agent-1", ("Анна", "Agent"), "agent").await;
        office.server.execute(&format!("UPDATE users SET middle_name = 'Ильинична' WHERE id = {anna}")).await;
        office.server.execute(&format!("UPDATE users SET is_banned = TRUE WHERE id = {banned}")).await;
        for (path, key) in [("/api/managers", "managers"), ("/api/responsible_users", "responsibleUsers")] {
            let listed = office.get(path).await.expect(200);
            assert_eq!((listed[format!("{key}Count")].as_i64(), listed[key].as_array().unwrap().len()), (Some(2), 2));
            assert_eq!(listed[key][1], json!({
                "id": anna, "first_name": "Анна", "last_name": "Ёлкина", "middle_name": "Ильинична",
                "name": "Анна Ильинична Ёлкина",
            }));
            let found = office.get(&format!("{path}?query=ёлкина&per_page=1")).await.expect(200);
            assert_eq!(ids(&found[key]), [anna]);
        }
    }

    async fn a_list_costs_the_same_however_long_it_is(db: TestDatabase) {
        let office = Office::open(db).await;
        // The first use of a token is recorded.
        office.get("/api/user").await.expect(200);
        let mut costs = Vec::new();
        for round in 0..2 {
            for number in 0..3 {
                hire(&office, &format!("clerk-{round}-{number}"), ("A", "B"), "employee").await;
            }
            let mut cost = Vec::new();
            for path in ["/api/users", "/api/managers", "/api/roles", "/api/departments", "/api/permissions"] {
                cost.push(office.cost(path).await);
            }
            office.create("/api/departments", json!({ "name": "Sales" })).await;
            costs.push(cost);
        }
        assert_eq!(costs[0], costs[1]);
    }

    async fn a_department_is_created_read_changed_and_deleted(db: TestDatabase) {
        let office = Office::open(db).await;
        let branch = office.project.branch_id;
        let body = json!({ "name": "Продажи", "description": "Опт", "branch_id": branch });
        let created = office.post("/api/departments", body).await.expect(201);
        let department = &created["department"];
        assert_eq!(department["branch"], json!({ "id": branch, "name": "Branch" }));
        let path = format!("/api/departments/{}", department["id"]);
        assert_eq!(office.get(&path).await.expect(200), created);
        let listed = office.get("/api/departments").await.expect(200);
        assert_eq!(listed, json!({ "departments": [department], "departmentsCount": 1 }));

        let changed = office.put(&path, json!({ "name": "Сбыт", "branch_id": null })).await.expect(200);
        assert_eq!((&changed["department"]["name"], &changed["department"]["branch"]), (&json!("Сбыт"), &json!(null)));
        assert_eq!(changed["department"]["description"], "Опт");
        let id = department["id"].as_i64().unwrap();
        office.server.execute(&format!("UPDATE users SET department_id = {id}")).await;
        let me = office.get("/api/user").await.expect(200);
        assert_eq!(me["user"]["department"], json!({ "id": id, "name": "Сбыт" }));
        let delete = async || office.as_one_who_may(&["edit-departments"], Method::DELETE, &path, json!({})).await;
        delete().await.expect_invalid(&["id"]);
        office.server.execute("UPDATE users SET department_id = NULL").await;
        assert!(delete().await.expect(200)["message"].is_string());
        delete().await.expect(404);
        office.get(&path).await.expect(404);
    }

    async fn every_wrong_field_of_a_department_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        let other = office.server.project().await;
        let wrong = json!({ "name": " ", "description": 7, "branch_id": "x" });
        office.post("/api/departments", wrong.clone()).await.expect_invalid(&["name", "description", "branch_id"]);
        office.post("/api/departments", json!({})).await.expect_invalid(&["name"]);
        let path = format!("/api/departments/{}", office.create("/api/departments", json!({ "name": "A" })).await);
        office.put(&path, wrong).await.expect_invalid(&["name", "description", "branch_id"]);
        office.put(&path, json!({ "name": null })).await.expect_invalid(&["name"]);
        for branch in [other.branch_id, 999_999] {
            let body = json!({ "name": "B", "branch_id": branch });
            office.post("/api/departments", body.clone()).await.expect_invalid(&["branch_id"]);
            office.put(&path, body).await.expect_invalid(&["branch_id"]);
        }
        for absent in ["/api/departments/999999", "/api/departments/x"] {
            office.get(absent).await.expect(404);
            office.put(absent, json!({})).await.expect(404);
        }
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            office.as_stranger(method, &path, json!({})).await.expect(403);
        }
        for (permission, method, path, status) in [
            ("view-departments", Method::GET, path.as_str(), 200),
            ("view-departments", Method::PUT, &path, 403),
            ("create-departments", Method::GET, &path, 403),
            ("create-departments", Method::DELETE, &path, 403),
            ("edit-departments", Method::POST, "/api/departments", 201),
        ] {
            let body = json!({ "name": "C" });
            office.as_one_who_may(&[permission], method, path, body).await.expect(status);
        }
    }
}
