//! `kontor user`: operator commands on the accounts of employees.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_files::{form, png};
use crate::process::Site;
use crate::support::send;

fn created(site: &Site, arguments: &[&str]) -> Value {
    let all = [&["user", "create", "--json"], arguments].concat();
    serde_json::from_slice(&site.run(&all).stdout).unwrap()
}

/// Logs in and returns the bearer, if the login succeeds.
async fn sign_in(site: &Site, user: &Value) -> Option<String> {
    let body = json!({ "login": user["login"], "password": user["password"] });
    let answer = send(site.http.post(format!("{}/api/login", site.url())).json(&body)).await;
    (answer.status == 200).then(|| answer.json()["user"]["access_token"]["value"].as_str().unwrap().to_owned())
}

async fn current(site: &Site, bearer: &str) -> (u16, Value) {
    let request = site.http.request(Method::GET, format!("{}/api/user", site.url())).bearer_auth(bearer);
    let answer = send(request).await;
    (answer.status.as_u16(), answer.json())
}

fn refused(site: &Site, arguments: &[&str], why: &str) {
    let output = site.command(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains(why), "{arguments:?}: {said}");
}

database_tests! {
    async fn employees_are_added_banned_and_given_roles(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let owner = site.create_project("owner");
        let project = owner["project_id"].to_string();
        let second = created(&site, &[
            "--project", &project, "--login", "Anna", "--email", "anna@example.com", "--role", "owner",
            "--first-name", "Анна", "--last-name", "Ёлкина",
        ]);
        assert_eq!((&second["login"], second["password"].as_str().unwrap().len()), (&json!("anna"), 20));
        let bearer = sign_in(&site, &second).await.unwrap();
        let (_, user) = current(&site, &bearer).await;
        assert_eq!((&user["user"]["first_name"], &user["user"]["role"]["name"]), (&json!("Анна"), &json!("Owner")));

        let id = second["user_id"].to_string();
        site.run(&["user", "ban", "--user", &id]);
        assert_eq!(current(&site, &bearer).await.0, 401);
        assert_eq!(sign_in(&site, &second).await, None);
        let owners = user["user"]["role"]["id"].to_string();
        let first = site.number(&format!("SELECT id FROM users WHERE login = 'owner' AND role_id = {owners}")).await;
        refused(&site, &["user", "ban", "--user", &first.to_string()], "last owner");
        site.run(&["user", "unban", "--user", &id]);
        assert_eq!(current(&site, &bearer).await.0, 401, "what has ended stays ended");
        let bearer = sign_in(&site, &second).await.unwrap();

        let role = json!({ "name": "Clerk", "permissions": [64] });
        let request = site.http.post(format!("{}/api/roles", site.url())).bearer_auth(&bearer).json(&role);
        let role = send(request).await.expect(201)["role"]["id"].to_string();
        site.run(&["user", "role", "--user", &id, "--role", &role]);
        assert_eq!(current(&site, &bearer).await.1["user"]["permissions"].as_array().unwrap().len(), 1);
        refused(&site, &["user", "role", "--user", &first.to_string(), "--role", &role], "last owner");
        refused(&site, &["user", "role", "--user", &id, "--role", "999999"], "no such role");
        refused(&site, &["user", "role", "--user", &id, "--role", "boss"], "--role");
        refused(&site, &["user", "department", "--user", &id, "--department", "7"], "no such department");
        site.run(&["user", "department", "--user", &id, "--department", "none"]);
        site.run(&["user", "role", "--user", &id, "--role", "owner"]);

        let twice = ["user", "create", "--project", &project, "--login", "ANNA", "--email", "a@x.ru", "--role", "owner"];
        refused(&site, &twice, "already in use");
        let nowhere = ["user", "create", "--project", "999", "--login", "b", "--email", "b@x.ru", "--role", "owner"];
        refused(&site, &nowhere, "no such project");
        let listed = site.run(&["user", "list", "--project", &project, "--json"]).stdout;
        let listed: Value = serde_json::from_slice(&listed).unwrap();
        let logins: Vec<_> = listed.as_array().unwrap().iter().map(|user| user["login"].as_str().unwrap()).collect();
        assert_eq!(logins, ["owner", "anna"]);
        process.terminate();
        assert!(process.ended().await.success());
    }

    async fn what_a_record_tells_of_an_employee_is_changed(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let owner = site.create_project("owner");
        let project = owner["project_id"].to_string();
        let bearer = sign_in(&site, &owner).await.unwrap();
        let upload = async |kind: &str| {
            let request = site.http.post(format!("{}/api/files", site.url())).bearer_auth(&bearer);
            send(request.multipart(form(kind, "me.png", &png(64, 64)))).await.expect(201)["file"].clone()
        };
        let (picture, contract) = (upload("2").await, upload("1").await);
        let told = async || {
            let user = current(&site, &bearer).await.1["user"].clone();
            json!([user["phone"], user["middle_name"], user["is_sick"], user["avatar"]])
        };
        let edit = |changes: &[&str]| {
            let all = [&["user", "edit", "--login", "OWNER"], changes].concat();
            site.run(&all);
        };
        assert_eq!(told().await, json!([null, null, false, null]));
        let avatar = picture["id"].to_string();
        edit(&["--phone", "8 (900) 123-45-67", "--middle-name", "Петровна", "--sick", "true", "--avatar", &avatar]);
        let shown = json!({ "url": picture["url"] });
        assert_eq!(told().await, json!(["79001234567", "Петровна", true, shown]));
        let listed = site.http.get(format!("{}/api/users", site.url())).bearer_auth(&bearer);
        assert_eq!(send(listed).await.expect(200)["users"][0]["avatar"], shown);
        edit(&["--sick", "false"]);
        assert_eq!(told().await, json!(["79001234567", "Петровна", false, shown]));
        let gone = site.http.delete(format!("{}/api/files/{avatar}", site.url())).bearer_auth(&bearer);
        send(gone).await.expect(200);
        assert_eq!(told().await[3], Value::Null, "a deleted file is nobody's picture");
        edit(&["--phone", "none", "--middle-name", "none", "--avatar", "none"]);
        assert_eq!(told().await, json!([null, null, false, null]));

        let of = |changes: &[&'static str]| [&["user", "edit", "--login", "owner"], changes].concat();
        refused(&site, &of(&[]), "required");
        refused(&site, &of(&["--phone", "call me"]), "--phone");
        refused(&site, &of(&["--sick", "perhaps"]), "--sick");
        refused(&site, &of(&["--avatar", "x"]), "--avatar");
        refused(&site, &of(&["--avatar", "999"]), "no such avatar");
        let contract = contract["id"].to_string();
        refused(&site, &["user", "edit", "--login", "owner", "--avatar", &contract], "no such avatar");
        refused(&site, &["user", "edit", "--login", "nobody", "--sick", "true"], "no such employee");
        assert_eq!(told().await, json!([null, null, false, null]));

        let second = created(&site, &[
            "--project", &project, "--login", "anna", "--email", "anna@example.com", "--role", "owner",
            "--middle-name", "Ильинична", "--phone", "+7 900 765-43-21",
        ]);
        let user = current(&site, &sign_in(&site, &second).await.unwrap()).await.1["user"].clone();
        assert_eq!((&user["middle_name"], &user["phone"]), (&json!("Ильинична"), &json!("79007654321")));
        process.terminate();
        assert!(process.ended().await.success());
    }
}
