//! `kontor user`: operator commands on the accounts of employees.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_files::{form, png};
use crate::process::ProcessEnvironment;
use crate::support::send;

fn created(environment: &ProcessEnvironment, arguments: &[&str]) -> Value {
    let all = [&["user", "create", "--json"], arguments].concat();
    serde_json::from_slice(&environment.run(&all).stdout).unwrap()
}

/// Logs in and returns the bearer, if the login succeeds.
async fn sign_in(environment: &ProcessEnvironment, user: &Value) -> Option<String> {
    let body = json!({ "login": user["login"], "password": user["password"] });
    let answer = send(environment.http.post(format!("{}/api/login", environment.url())).json(&body)).await;
    (answer.status == 200).then(|| answer.json()["user"]["access_token"]["value"].as_str().unwrap().to_owned())
}

async fn current(environment: &ProcessEnvironment, bearer: &str) -> (u16, Value) {
    let request = environment.http.request(Method::GET, format!("{}/api/user", environment.url())).bearer_auth(bearer);
    let answer = send(request).await;
    (answer.status.as_u16(), answer.json())
}

fn refused(environment: &ProcessEnvironment, arguments: &[&str], why: &str) {
    let output = environment.command(arguments).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && printed.contains(why), "{arguments:?}: {printed}");
}

database_tests! {
    async fn employees_are_added_banned_and_given_roles(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let owner = environment.create_project("owner");
        let project = owner["project_id"].to_string();
        let second = created(&environment, &[
            "--project", &project, "--login", "Anna", "--email", "anna@example.com", "--role", "owner",
            "--first-name", "Анна", "--last-name", "Ёлкина",
        ]);
        assert_eq!((&second["login"], second["password"].as_str().unwrap().len()), (&json!("anna"), 20));
        let bearer = sign_in(&environment, &second).await.unwrap();
        let (_, user) = current(&environment, &bearer).await;
        assert_eq!((&user["user"]["first_name"], &user["user"]["role"]["name"]), (&json!("Анна"), &json!("Owner")));

        let id = second["user_id"].to_string();
        environment.run(&["user", "ban", "--user", &id]);
        assert_eq!(current(&environment, &bearer).await.0, 401);
        assert_eq!(sign_in(&environment, &second).await, None);
        let owners = user["user"]["role"]["id"].to_string();
        let first = environment.number(&format!("SELECT id FROM users WHERE login = 'owner' AND role_id = {owners}")).await;
        refused(&environment, &["user", "ban", "--user", &first.to_string()], "last owner");
        environment.run(&["user", "unban", "--user", &id]);
        assert_eq!(current(&environment, &bearer).await.0, 401, "what has ended stays ended");
        let bearer = sign_in(&environment, &second).await.unwrap();

        let role = json!({ "name": "Clerk", "permissions": [64] });
        let request = environment.http.post(format!("{}/api/roles", environment.url())).bearer_auth(&bearer).json(&role);
        let role = send(request).await.expect(201)["role"]["id"].to_string();
        environment.run(&["user", "role", "--user", &id, "--role", &role]);
        assert_eq!(current(&environment, &bearer).await.1["user"]["permissions"].as_array().unwrap().len(), 1);
        refused(&environment, &["user", "role", "--user", &first.to_string(), "--role", &role], "last owner");
        refused(&environment, &["user", "role", "--user", &id, "--role", "999999"], "no such role");
        refused(&environment, &["user", "role", "--user", &id, "--role", "boss"], "--role");
        refused(&environment, &["user", "department", "--user", &id, "--department", "7"], "no such department");
        environment.run(&["user", "department", "--user", &id, "--department", "none"]);
        environment.run(&["user", "role", "--user", &id, "--role", "owner"]);

        let twice = ["user", "create", "--project", &project, "--login", "ANNA", "--email", "a@x.ru", "--role", "owner"];
        refused(&environment, &twice, "already in use");
        let nowhere = ["user", "create", "--project", "999", "--login", "b", "--email", "b@x.ru", "--role", "owner"];
        refused(&environment, &nowhere, "no such project");
        let listed = environment.run(&["user", "list", "--project", &project, "--json"]).stdout;
        let listed: Value = serde_json::from_slice(&listed).unwrap();
        let logins: Vec<_> = listed.as_array().unwrap().iter().map(|user| user["login"].as_str().unwrap()).collect();
        assert_eq!(logins, ["owner", "anna"]);
        process.terminate();
        assert!(process.ended().await.success());
    }

    async fn the_details_of_an_employee_are_changed(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let owner = environment.create_project("owner");
        let project = owner["project_id"].to_string();
        let bearer = sign_in(&environment, &owner).await.unwrap();
        let upload = async |kind: &str| {
            let request = environment.http.post(format!("{}/api/files", environment.url())).bearer_auth(&bearer);
            send(request.multipart(form(kind, "me.png", &png(64, 64)))).await.expect(201)["file"].clone()
        };
        let (picture, contract) = (upload("2").await, upload("1").await);
        let reported = async || {
            let user = current(&environment, &bearer).await.1["user"].clone();
            json!([user["phone"], user["middle_name"], user["is_sick"], user["avatar"]])
        };
        let edit = |changes: &[&str]| {
            let all = [&["user", "edit", "--login", "OWNER"], changes].concat();
            environment.run(&all);
        };
        assert_eq!(reported().await, json!([null, null, false, null]));
        let avatar = picture["id"].to_string();
        edit(&["--phone", "8 (900) 123-45-67", "--middle-name", "Петровна", "--sick", "true", "--avatar", &avatar]);
        let shown = json!({ "url": picture["url"] });
        assert_eq!(reported().await, json!(["79001234567", "Петровна", true, shown]));
        let listed = environment.http.get(format!("{}/api/users", environment.url())).bearer_auth(&bearer);
        assert_eq!(send(listed).await.expect(200)["users"][0]["avatar"], shown);
        edit(&["--sick", "false"]);
        assert_eq!(reported().await, json!(["79001234567", "Петровна", false, shown]));
        let gone = environment.http.delete(format!("{}/api/files/{avatar}", environment.url())).bearer_auth(&bearer);
        send(gone).await.expect(200);
        assert_eq!(reported().await[3], Value::Null, "a deleted file is nobody's picture");
        edit(&["--phone", "none", "--middle-name", "none", "--avatar", "none"]);
        assert_eq!(reported().await, json!([null, null, false, null]));

        let of = |changes: &[&'static str]| [&["user", "edit", "--login", "owner"], changes].concat();
        refused(&environment, &of(&[]), "required");
        refused(&environment, &of(&["--phone", "call me"]), "--phone");
        refused(&environment, &of(&["--sick", "perhaps"]), "--sick");
        refused(&environment, &of(&["--avatar", "x"]), "--avatar");
        refused(&environment, &of(&["--avatar", "999"]), "no such avatar");
        let contract = contract["id"].to_string();
        refused(&environment, &["user", "edit", "--login", "owner", "--avatar", &contract], "no such avatar");
        refused(&environment, &["user", "edit", "--login", "nobody", "--sick", "true"], "no such employee");
        assert_eq!(reported().await, json!([null, null, false, null]));

        let second = created(&environment, &[
            "--project", &project, "--login", "anna", "--email", "anna@example.com", "--role", "owner",
            "--middle-name", "Ильинична", "--phone", "+7 900 765-43-21",
        ]);
        let user = current(&environment, &sign_in(&environment, &second).await.unwrap()).await.1["user"].clone();
        assert_eq!((&user["middle_name"], &user["phone"]), (&json!("Ильинична"), &json!("79007654321")));
        process.terminate();
        assert!(process.ended().await.success());
    }
}
