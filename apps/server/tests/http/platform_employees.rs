//! Accounts of employees, managed by staff.

use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::{assert_replays, keyed};
use crate::office::Office;
use crate::support::send;

/// Creates a role with these permissions.
async fn role(office: &Office, names: &[&str]) -> i64 {
    let all = office.get("/api/permissions").await.expect(200);
    let wanted = |one: &&Value| names.iter().any(|name| one["name"] == **name);
    let ids: Vec<&Value> = all["permissions"].as_array().unwrap().iter().filter(wanted).map(|one| &one["id"]).collect();
    office.create("/api/roles", json!({ "name": format!("May {}", names.join(", ")), "permissions": ids })).await
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
async fn id_of(office: &Office, bearer: &str) -> i64 {
    let me = send(office.server.as_staff(bearer, Method::GET, "/api/user")).await.expect(200);
    me["user"]["id"].as_i64().unwrap()
}

database_tests! {
    async fn an_employee_is_created_read_and_changed(db: TestDatabase) {
        let office = Office::open(db).await;
        let (clerk, branch) = (role(&office, &["view-orders"]).await, office.project.branch_id);
        let sales = office.create("/api/departments", json!({ "name": "Sales" })).await;
        let more = json!({
            "login": "ANNA", "middle_name": "Ильинична", "phone": "8 900 123-45-67", "branch_id": branch,
            "department_id": sales,
        });
        let body = with(new("anna", clerk), &more);
        let created = office.post("/api/users", body.clone()).await.expect(201);
        let user = &created["user"];
        let shown = json!([user["login"], user["email"], user["middle_name"], user["phone"], user["is_banned"]]);
        assert_eq!(shown, json!(["anna", "anna@example.com", "Ильинична", "79001234567", false]));
        let references = ["role", "branch", "department", "creator"].map(|key| user[key]["id"].as_i64());
        let me = id_of(&office, &office.owner).await;
        assert_eq!(references, [Some(clerk), Some(branch), Some(sales), Some(me)]);
        assert_eq!(user["permissions"].as_array().unwrap().len(), 1);
        assert!(!created.to_string().contains("password"), "{created}");
        let path = format!("/api/users/{}", user["id"]);
        assert_eq!(office.get(&path).await.expect(200), created);
        office.post("/api/users", body).await.expect_invalid(&["login"]);

        let manager = role(&office, &["view-users"]).await;
        let change = json!({
            "first_name": "Инна", "middle_name": null, "department_id": null, "role_id": manager, "is_sick": true,
        });
        let changed = office.put(&path, change).await.expect(200)["user"].clone();
        let shown = json!([changed["first_name"], changed["last_name"], changed["middle_name"], changed["department"]]);
        assert_eq!(shown, json!(["Инна", "Kern", null, null]));
        assert_eq!((&changed["role"]["id"], &changed["is_sick"]), (&json!(manager), &json!(true)));
        let history = office.get(&format!("{path}/history")).await.expect(200);
        let actions = [0, 1].map(|place| history["histories"][place]["action"].clone());
        assert_eq!(actions, [json!("changed"), json!("created")]);
        let entry = &history["histories"][0];
        let fields: Vec<&str> =
            entry["changes"].as_array().unwrap().iter().map(|change| change["field"].as_str().unwrap()).collect();
        assert_eq!(fields, ["first_name", "middle_name", "role", "department", "is_sick"]);
        assert_eq!(entry["user"]["id"], me);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        let all = [
            "login", "email", "first_name", "last_name", "middle_name", "phone", "role_id", "branch_id", "department_id",
        ];
        let wrong = json!({
            "login": " ", "email": "x", "first_name": 1, "last_name": "", "middle_name": 7, "phone": "1", "role_id": 0,
            "branch_id": "x", "department_id": -1, "is_sick": "maybe",
        });
        office.post("/api/users", wrong.clone()).await.expect_invalid(&all);
        let required = ["login", "email", "first_name", "last_name", "role_id"];
        office.post("/api/users", json!({})).await.expect_invalid(&required);
        let clerk = role(&office, &[]).await;
        let path = format!("/api/users/{}", office.create("/api/users", new("anna", clerk)).await);
        let of_update: Vec<&str> = all[1..].iter().copied().chain(["is_sick"]).collect();
        office.put(&path, wrong).await.expect_invalid(&of_update);

        let private = role(&office, &[]).await;
        office.server.execute(&format!("UPDATE roles SET kind = 'agent' WHERE id = {private}")).await;
        let branch = office.server.project().await.branch_id;
        let department = office.create_elsewhere("/api/departments", json!({ "name": "Far" })).await;
        let elsewhere = office.create_elsewhere("/api/roles", json!({ "name": "Far" })).await;
        for role in [elsewhere, private, 999_999] {
            let references = json!({ "role_id": role, "branch_id": branch, "department_id": department });
            let named = ["role_id", "branch_id", "department_id"];
            office.post("/api/users", with(new("boris", clerk), &references)).await.expect_invalid(&named);
            office.put(&path, references).await.expect_invalid(&named);
        }

        let agent = office.create("/api/agents", json!({ "name": "Bot" })).await;
        for absent in ["999999".to_owned(), "x".to_owned(), agent.to_string()] {
            let absent = format!("/api/users/{absent}");
            office.get(&absent).await.expect(404);
            office.put(&absent, json!({})).await.expect(404);
            for step in ["ban", "unban"] {
                office.post(&format!("{absent}/{step}"), json!({})).await.expect(404);
            }
            office.get(&format!("{absent}/history")).await.expect(404);
        }
        for (method, below) in [
            (Method::GET, ""), (Method::PUT, ""), (Method::POST, "/ban"), (Method::POST, "/unban"), (Method::GET, "/history"),
        ] {
            office.as_stranger(method, &format!("{path}{below}"), json!({})).await.expect(403);
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
            office.as_one_who_may(&[permission], method, &path, new("vera", clerk)).await.expect(status);
        }
    }

    async fn callers_assign_no_role_that_exceeds_their_own(db: TestDatabase) {
        let office = Office::open(db).await;
        let bearer = office.server.staff_with(&office.project, &["view-users", "edit-users", "view-orders"]).await;
        let ask = async |method: Method, path: &str, body: Value| {
            send(office.server.as_staff(&bearer, method, path).json(&body)).await
        };
        let fits = role(&office, &["view-orders"]).await;
        let exceeds = role(&office, &["view-orders", "edit-orders"]).await;
        let owners = office.get("/api/user").await.expect(200)["user"]["role"]["id"].as_i64().unwrap();
        let anna = ask(Method::POST, "/api/users", new("anna", fits)).await.expect(201)["user"]["id"].clone();
        let anna = format!("/api/users/{anna}");
        for role in [exceeds, owners] {
            let refused = ask(Method::POST, "/api/users", new("boris", role)).await.expect(403);
            assert!(refused["message"].as_str().unwrap().contains("edit-orders"), "{refused}");
            ask(Method::PUT, &anna, json!({ "role_id": role })).await.expect(403);
        }
        assert_eq!(office.get(&anna).await.expect(200)["user"]["role"]["id"], fits);

        // An employee with more permissions is out of reach: a new address would open the account.
        let chief = format!("/api/users/{}", office.create("/api/users", new("chief", exceeds)).await);
        for body in [json!({ "email": "mine@example.com" }), json!({ "role_id": fits }), json!({ "first_name": "X" })] {
            ask(Method::PUT, &chief, body).await.expect(403);
        }
        for step in ["ban", "unban"] {
            ask(Method::POST, &format!("{chief}/{step}"), json!({})).await.expect(403);
        }
        assert_eq!(office.get(&chief).await.expect(200)["user"]["email"], "chief@example.com");

        // Callers change neither their own role nor their own access, but may change other fields.
        let me = format!("/api/users/{}", id_of(&office, &bearer).await);
        ask(Method::PUT, &me, json!({ "role_id": fits })).await.expect_invalid(&["role_id"]);
        ask(Method::POST, &format!("{me}/ban"), json!({})).await.expect_invalid(&["id"]);
        ask(Method::PUT, &me, json!({ "first_name": "Vera" })).await.expect(200);

        // A limited token assigns no more than its own permissions.
        let token = bearer.split('|').next().unwrap();
        let limit = format!("UPDATE access_tokens SET abilities = '[\"edit-users\"]' WHERE id = {token}");
        office.server.execute(&limit).await;
        ask(Method::POST, "/api/users", new("gleb", fits)).await.expect(403);
    }

    async fn a_permission_of_the_project_is_held_or_out_of_reach(db: TestDatabase) {
        let office = Office::open(db).await;
        let reports = office.create("/api/permissions", json!({ "name": "view-reports", "screen_id": 15 })).await;
        let analyst = office.create("/api/roles", json!({ "name": "Analyst", "permissions": [reports] })).await;
        let refused = office.as_one_who_may(&["edit-users"], Method::POST, "/api/users", new("anna", analyst)).await;
        assert!(refused.expect(403)["message"].as_str().unwrap().contains("view-reports"));
        office.post("/api/users", new("anna", analyst)).await.expect(201);
    }

    async fn a_ban_ends_every_token_at_once(db: TestDatabase) {
        let office = Office::open(db).await;
        let first = office.server.staff_with(&office.project, &["view-users"]).await;
        let id = id_of(&office, &first).await;
        let second = office.server.token(&office.project, "user", id, None).await;
        let opens = async |bearer: &str| {
            send(office.server.as_staff(bearer, Method::GET, "/api/user")).await.status.as_u16()
        };
        assert_eq!((opens(&first).await, opens(&second).await), (200, 200));
        let path = format!("/api/users/{id}");
        for _ in 0..2 {
            let banned = office.post(&format!("{path}/ban"), json!({})).await.expect(200);
            assert_eq!(banned["user"]["is_banned"], true);
            assert_eq!((opens(&first).await, opens(&second).await), (401, 401));
        }
        let left = format!("SELECT COUNT(*) AS id FROM access_tokens WHERE guard = 'user' AND subject_id = {id}");
        assert_eq!(office.server.insert(left).await, 0);
        let unbanned = office.post(&format!("{path}/unban"), json!({})).await.expect(200);
        assert_eq!(unbanned["user"]["is_banned"], false);
        assert_eq!((opens(&first).await, opens(&second).await), (401, 401));
        let history = office.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(history["historiesCount"], 2, "a repeated ban changes nothing");
    }

    async fn of_two_owners_who_ban_or_demote_each_other_one_stays(db: TestDatabase) {
        let office = Office::open(db).await;
        let clerk = role(&office, &[]).await;
        for _ in 0..5 {
            office.server.execute("UPDATE users SET is_banned = TRUE").await;
            let owners = [office.server.owner(&office.project).await, office.server.owner(&office.project).await];
            let ids = [id_of(&office, &owners[0]).await, id_of(&office, &owners[1]).await];
            let ban = office.server.as_staff(&owners[0], Method::POST, &format!("/api/users/{}/ban", ids[1]));
            let demote = office.server.as_staff(&owners[1], Method::PUT, &format!("/api/users/{}", ids[0]));
            let answers = join_all([send(ban), send(demote.json(&json!({ "role_id": clerk })))]).await;
            let done = answers.iter().filter(|answer| answer.status == 200).count();
            let texts: Vec<&str> = answers.iter().map(|answer| answer.text.as_str()).collect();
            assert_eq!(done, 1, "{texts:?}");
            for refused in answers.iter().filter(|answer| answer.status != 200) {
                assert!([401, 403, 422].contains(&refused.status.as_u16()), "{texts:?}");
            }
            let left = "SELECT COUNT(*) AS id FROM users JOIN roles ON roles.id = users.role_id \
                WHERE roles.is_owner AND NOT users.is_banned";
            assert_eq!(office.server.insert(left.to_owned()).await, 1);
        }
    }

    async fn the_last_owner_keeps_role_and_access(db: TestDatabase) {
        let office = Office::open(db).await;
        let (owner, clerk) = (id_of(&office, &office.owner).await, role(&office, &[]).await);
        // An agent may have every permission without the role of the owner.
        let permissions = office.get("/api/permissions").await.expect(200)["permissions"].clone();
        let names: Vec<&str> = permissions.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        let chief = office.server.staff_with(&office.project, &names).await;
        let path = format!("/api/users/{owner}");
        let ask = async |method: Method, path: &str, body: Value| {
            send(office.server.as_staff(&chief, method, path).json(&body)).await
        };
        ask(Method::POST, &format!("{path}/ban"), json!({})).await.expect_invalid(&["id"]);
        ask(Method::PUT, &path, json!({ "role_id": clerk })).await.expect_invalid(&["id"]);
        office.server.owner(&office.project).await;
        ask(Method::PUT, &path, json!({ "role_id": clerk })).await.expect(200);
    }

    async fn a_repeated_request_creates_one_employee(db: TestDatabase) {
        let office = Office::open(db).await;
        let body = new("anna", role(&office, &[]).await);
        let request = || keyed(office.server.as_staff(&office.owner, Method::POST, "/api/users"), "one").json(&body);
        let first = send(request()).await;
        first.expect(201);
        assert_replays(&first, &send(request()).await);
        let count = "SELECT COUNT(*) AS id FROM users WHERE login = 'anna'";
        assert_eq!(office.server.insert(count.to_owned()).await, 1);
    }
}
