//! Accounts of employees, managed by staff.

use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::{assert_replays, keyed};
use crate::project_fixture::ProjectFixture;
use crate::support::send;

/// Creates a role with these permissions.
async fn role(fixture: &ProjectFixture, names: &[&str]) -> i64 {
    let all = fixture.get("/api/permissions").await.expect(200);
    let wanted = |one: &&Value| names.iter().any(|name| one["name"] == **name);
    let ids: Vec<&Value> = all["permissions"].as_array().unwrap().iter().filter(wanted).map(|one| &one["id"]).collect();
    fixture.create("/api/roles", json!({ "name": format!("May {}", names.join(", ")), "permissions": ids })).await
}

fn new(login: &str, role: i64) -> Value {
    let email = format!("{login}@example.com");
    json!({ "login": login, "email": email, "first_name": "Anna", "last_name": "Kern", "role_id": role })
}

/// Adds these fields to a body.
fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Returns the id of a signed-in employee.
async fn id_of(fixture: &ProjectFixture, bearer: &str) -> i64 {
    let me = send(fixture.server.as_staff(bearer, Method::GET, "/api/user")).await.expect(200);
    me["user"]["id"].as_i64().unwrap()
}

database_tests! {
    async fn an_employee_is_created_read_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (employee, branch) = (role(&fixture, &["view-orders"]).await, fixture.project.branch_id);
        let sales = fixture.create("/api/departments", json!({ "name": "Sales" })).await;
        let more = json!({
            "login": "ANNA", "middle_name": "Ильинична", "phone": "8 900 123-45-67", "branch_id": branch,
            "department_id": sales,
        });
        let body = with(new("anna", employee), &more);
        let created = fixture.post("/api/users", body.clone()).await.expect(201);
        let user = &created["user"];
        let shown = json!([user["login"], user["email"], user["middle_name"], user["phone"], user["is_banned"]]);
        assert_eq!(shown, json!(["anna", "anna@example.com", "Ильинична", "79001234567", false]));
        let references = ["role", "branch", "department", "creator"].map(|key| user[key]["id"].as_i64());
        let me = id_of(&fixture, &fixture.owner).await;
        assert_eq!(references, [Some(employee), Some(branch), Some(sales), Some(me)]);
        assert_eq!(user["permissions"].as_array().unwrap().len(), 1);
        assert!(!created.to_string().contains("password"), "{created}");
        let path = format!("/api/users/{}", user["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        fixture.post("/api/users", body).await.expect_invalid(&["login"]);

        let manager = role(&fixture, &["view-users"]).await;
        let change = json!({
            "first_name": "Инна", "middle_name": null, "department_id": null, "role_id": manager, "is_sick": true,
        });
        let changed = fixture.put(&path, change).await.expect(200)["user"].clone();
        let shown = json!([changed["first_name"], changed["last_name"], changed["middle_name"], changed["department"]]);
        assert_eq!(shown, json!(["Инна", "Kern", null, null]));
        assert_eq!((&changed["role"]["id"], &changed["is_sick"]), (&json!(manager), &json!(true)));
        let history = fixture.get(&format!("{path}/history")).await.expect(200);
        let actions = [0, 1].map(|place| history["histories"][place]["action"].clone());
        assert_eq!(actions, [json!("changed"), json!("created")]);
        let entry = &history["histories"][0];
        let fields: Vec<&str> =
            entry["changes"].as_array().unwrap().iter().map(|change| change["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["first_name", "middle_name", "role", "department", "is_sick"]);
        assert_eq!(entry["user"]["id"], me);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let all = [
            "login", "email", "first_name", "last_name", "middle_name", "phone", "role_id", "branch_id", "department_id",
        ];
        let wrong = json!({
            "login": " ", "email": "x", "first_name": 1, "last_name": "", "middle_name": 7, "phone": "1", "role_id": 0,
            "branch_id": "x", "department_id": -1, "is_sick": "maybe",
        });
        fixture.post("/api/users", wrong.clone()).await.expect_invalid(&all);
        let required = ["login", "email", "first_name", "last_name", "role_id"];
        fixture.post("/api/users", json!({})).await.expect_invalid(&required);
        let employee = role(&fixture, &[]).await;
        let path = format!("/api/users/{}", fixture.create("/api/users", new("anna", employee)).await);
        let of_update: Vec<&str> = all[1..].iter().copied().chain(["is_sick"]).collect();
        fixture.put(&path, wrong).await.expect_invalid(&of_update);

        let private = role(&fixture, &[]).await;
        fixture.server.execute(&format!("UPDATE roles SET kind = 'agent' WHERE id = {private}")).await;
        let branch = fixture.server.project().await.branch_id;
        let department = fixture.create_elsewhere("/api/departments", json!({ "name": "Far" })).await;
        let elsewhere = fixture.create_elsewhere("/api/roles", json!({ "name": "Far" })).await;
        for role in [elsewhere, private, 999_999] {
            let references = json!({ "role_id": role, "branch_id": branch, "department_id": department });
            let named = ["role_id", "branch_id", "department_id"];
            fixture.post("/api/users", with(new("boris", employee), &references)).await.expect_invalid(&named);
            fixture.put(&path, references).await.expect_invalid(&named);
        }

        let agent = fixture.create("/api/agents", json!({ "name": "Bot" })).await;
        for absent in ["999999".to_owned(), "x".to_owned(), agent.to_string()] {
            let absent = format!("/api/users/{absent}");
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
            for step in ["ban", "unban"] {
                fixture.post(&format!("{absent}/{step}"), json!({})).await.expect(404);
            }
            fixture.get(&format!("{absent}/history")).await.expect(404);
        }
        for (method, below) in [
            (Method::GET, ""), (Method::PUT, ""), (Method::POST, "/ban"), (Method::POST, "/unban"), (Method::GET, "/history"),
        ] {
            fixture.as_outsider(method, &format!("{path}{below}"), json!({})).await.expect(403);
        }
        for (permission, method, path, status) in [
            ("view-users", Method::GET, path.clone(), 200),
            ("view-users", Method::PUT, path.clone(), 403),
            ("create-users", Method::PUT, path.clone(), 403),
            ("create-users", Method::POST, format!("{path}/ban"), 403),
            ("edit-users", Method::POST, format!("{path}/ban"), 200),
            ("edit-users", Method::GET, path.clone(), 403),
            ("view-users", Method::POST, "/api/users".to_owned(), 403),
            ("create-users", Method::POST, "/api/users".to_owned(), 201),
        ] {
            fixture.as_one_who_may(&[permission], method, &path, new("vera", employee)).await.expect(status);
        }
    }

    async fn callers_assign_no_role_that_exceeds_their_own(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let bearer = fixture.server.staff_with(&fixture.project, &["view-users", "edit-users", "view-orders"]).await;
        let ask = async |method: Method, path: &str, body: Value| {
            send(fixture.server.as_staff(&bearer, method, path).json(&body)).await
        };
        let fits = role(&fixture, &["view-orders"]).await;
        let exceeds = role(&fixture, &["view-orders", "edit-orders"]).await;
        let owners = fixture.get("/api/user").await.expect(200)["user"]["role"]["id"].as_i64().unwrap();
        let anna = ask(Method::POST, "/api/users", new("anna", fits)).await.expect(201)["user"]["id"].clone();
        let anna = format!("/api/users/{anna}");
        for role in [exceeds, owners] {
            let refused = ask(Method::POST, "/api/users", new("boris", role)).await.expect(403);
            assert!(refused["message"].as_str().unwrap().contains("edit-orders"), "{refused}");
            ask(Method::PUT, &anna, json!({ "role_id": role })).await.expect(403);
        }
        assert_eq!(fixture.get(&anna).await.expect(200)["user"]["role"]["id"], fits);

        // An employee with more permissions is out of reach: a new address would open the account.
        let chief = format!("/api/users/{}", fixture.create("/api/users", new("chief", exceeds)).await);
        for body in [json!({ "email": "mine@example.com" }), json!({ "role_id": fits }), json!({ "first_name": "X" })] {
            ask(Method::PUT, &chief, body).await.expect(403);
        }
        for step in ["ban", "unban"] {
            ask(Method::POST, &format!("{chief}/{step}"), json!({})).await.expect(403);
        }
        assert_eq!(fixture.get(&chief).await.expect(200)["user"]["email"], "chief@example.com");

        // Callers change neither their own role nor their own access, but may change other fields.
        let me = format!("/api/users/{}", id_of(&fixture, &bearer).await);
        ask(Method::PUT, &me, json!({ "role_id": fits })).await.expect_invalid(&["role_id"]);
        ask(Method::POST, &format!("{me}/ban"), json!({})).await.expect_invalid(&["id"]);
        ask(Method::PUT, &me, json!({ "first_name": "Vera" })).await.expect(200);

        // A limited token assigns no more than its own permissions.
        let token = bearer.split('|').next().unwrap();
        let limit = format!("UPDATE access_tokens SET abilities = '[\"edit-users\"]' WHERE id = {token}");
        fixture.server.execute(&limit).await;
        ask(Method::POST, "/api/users", new("gleb", fits)).await.expect(403);
    }

    async fn a_permission_of_the_project_is_held_or_out_of_reach(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let reports = fixture.create("/api/permissions", json!({ "name": "view-reports", "screen_id": 15 })).await;
        let analyst = fixture.create("/api/roles", json!({ "name": "Analyst", "permissions": [reports] })).await;
        let refused = fixture.as_one_who_may(&["edit-users"], Method::POST, "/api/users", new("anna", analyst)).await;
        assert!(refused.expect(403)["message"].as_str().unwrap().contains("view-reports"));
        fixture.post("/api/users", new("anna", analyst)).await.expect(201);
    }

    async fn a_ban_ends_every_token_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = fixture.server.staff_with(&fixture.project, &["view-users"]).await;
        let id = id_of(&fixture, &first).await;
        let second = fixture.server.token(&fixture.project, "user", id, None).await;
        let opens = async |bearer: &str| {
            send(fixture.server.as_staff(bearer, Method::GET, "/api/user")).await.status.as_u16()
        };
        assert_eq!((opens(&first).await, opens(&second).await), (200, 200));
        let path = format!("/api/users/{id}");
        for _ in 0..2 {
            let banned = fixture.post(&format!("{path}/ban"), json!({})).await.expect(200);
            assert_eq!(banned["user"]["is_banned"], true);
            assert_eq!((opens(&first).await, opens(&second).await), (401, 401));
        }
        let left = format!("SELECT COUNT(*) AS id FROM access_tokens WHERE guard = 'user' AND subject_id = {id}");
        assert_eq!(fixture.server.insert(left).await, 0);
        let unbanned = fixture.post(&format!("{path}/unban"), json!({})).await.expect(200);
        assert_eq!(unbanned["user"]["is_banned"], false);
        assert_eq!((opens(&first).await, opens(&second).await), (401, 401));
        let history = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(history["historiesCount"], 2, "a repeated ban changes nothing");
    }

    async fn of_two_owners_who_ban_or_demote_each_other_one_stays(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let employee = role(&fixture, &[]).await;
        for _ in 0..5 {
            fixture.server.execute("UPDATE users SET is_banned = TRUE").await;
            let owners = [fixture.server.owner(&fixture.project).await, fixture.server.owner(&fixture.project).await];
            let ids = [id_of(&fixture, &owners[0]).await, id_of(&fixture, &owners[1]).await];
            let ban = fixture.server.as_staff(&owners[0], Method::POST, &format!("/api/users/{}/ban", ids[1]));
            let demote = fixture.server.as_staff(&owners[1], Method::PUT, &format!("/api/users/{}", ids[0]));
            let answers = join_all([send(ban), send(demote.json(&json!({ "role_id": employee })))]).await;
            let done = answers.iter().filter(|answer| answer.status == 200).count();
            let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
            assert_eq!(done, 1, "{texts:?}");
            for refused in answers.iter().filter(|answer| answer.status != 200) {
                assert!([401, 403, 422].contains(&refused.status.as_u16()), "{texts:?}");
            }
            let left = "SELECT COUNT(*) AS id FROM users JOIN roles ON roles.id = users.role_id \
                WHERE roles.is_owner AND NOT users.is_banned";
            assert_eq!(fixture.server.insert(left.to_owned()).await, 1);
        }
    }

    async fn the_last_owner_keeps_role_and_access(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (owner, employee) = (id_of(&fixture, &fixture.owner).await, role(&fixture, &[]).await);
        // An agent may have every permission without the role of the owner.
        let permissions = fixture.get("/api/permissions").await.expect(200)["permissions"].clone();
        let names: Vec<&str> = permissions.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        let chief = fixture.server.staff_with(&fixture.project, &names).await;
        let path = format!("/api/users/{owner}");
        let ask = async |method: Method, path: &str, body: Value| {
            send(fixture.server.as_staff(&chief, method, path).json(&body)).await
        };
        ask(Method::POST, &format!("{path}/ban"), json!({})).await.expect_invalid(&["id"]);
        ask(Method::PUT, &path, json!({ "role_id": employee })).await.expect_invalid(&["id"]);
        fixture.server.owner(&fixture.project).await;
        ask(Method::PUT, &path, json!({ "role_id": employee })).await.expect(200);
    }

    async fn a_repeated_request_creates_one_employee(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = new("anna", role(&fixture, &[]).await);
        let request = || keyed(fixture.server.as_staff(&fixture.owner, Method::POST, "/api/users"), "one").json(&body);
        let first = send(request()).await;
        first.expect(201);
        assert_replays(&first, &send(request()).await);
        let count = "SELECT COUNT(*) AS id FROM users WHERE login = 'anna'";
        assert_eq!(fixture.server.insert(count.to_owned()).await, 1);
    }
}
