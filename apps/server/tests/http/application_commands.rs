//! `kontor application`, `kontor customer` and `kontor project move`: operator commands on records of projects.

use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{DatabaseUrl, database_tests, tests_with};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::platform_files::{form, png};
use crate::process::ProcessEnvironment;
use crate::support::send;

/// Returns the JSON output of a command.
fn printed(environment: &ProcessEnvironment, arguments: &[&str]) -> Value {
    serde_json::from_slice(&environment.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
}

fn refused(environment: &ProcessEnvironment, arguments: &[&str], why: &str) {
    let output = environment.command(arguments).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty() && printed.contains(why), "{arguments:?}: {printed}");
}

/// Returns the bearer of the owner.
async fn owner(environment: &ProcessEnvironment, project: &Value) -> String {
    let body = json!({ "login": project["login"], "password": project["password"] });
    let signed = send(environment.http.post(format!("{}/api/login", environment.url())).json(&body)).await.expect(200);
    signed["user"]["access_token"]["value"].as_str().unwrap().to_owned()
}

fn by_staff(environment: &ProcessEnvironment, bearer: &str, method: Method, path: &str) -> RequestBuilder {
    environment.http.request(method, format!("{}{path}", environment.url())).bearer_auth(bearer)
}

database_tests! {
    async fn an_application_loses_access_and_gets_another_token(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let id = project["application_id"].to_string();
        let of = |command| ["application", command, "--application", &id];
        let old = environment.front(&project["app_token"]);
        let customer = old.sign_in("79005550041").await;
        let settings = async |front: &ApplicationClient| {
            let answer = send(front.request(Method::GET, "/api/counterparty/settings")).await;
            if answer.status == 401 {
                assert_eq!(answer.json()["message"], "Application token is invalid");
            }
            answer.status.as_u16()
        };
        let alone = async || {
            let profile = environment.http.get(format!("{}/api/counterparty", environment.url())).bearer_auth(&customer.bearer);
            send(profile).await.status.as_u16()
        };
        // By now the process has cached the token and a response to it.
        for _ in 0..3 {
            assert_eq!(settings(&old).await, 200);
            send(old.request(Method::GET, "/api/counterparty/products")).await.expect(200);
        }
        assert_eq!(printed(&environment, &of("deactivate"))["is_active"], false);
        assert_eq!((settings(&old).await, alone().await), (401, 401));
        send(old.request(Method::GET, "/api/counterparty/products")).await.expect(401);
        let listed = ["application", "list", "--project", &project["project_id"].to_string()];
        let expected = json!({ "application_id": project["application_id"], "name": "Trial", "is_active": false });
        assert_eq!(printed(&environment, &listed), json!([expected]));
        assert_eq!(printed(&environment, &of("activate"))["is_active"], true);
        assert_eq!((settings(&old).await, alone().await), (200, 200), "with its customers");

        let issued = printed(&environment, &of("rotate-token"));
        assert_eq!(issued["application_id"], project["application_id"]);
        let new = environment.front(&issued["app_token"]);
        assert_eq!((new.app_token.len(), settings(&old).await, settings(&new).await), (48, 401, 200));
        send(old.request(Method::GET, "/api/counterparty/products")).await.expect(401);
        let profile = new.request(Method::GET, "/api/counterparty").bearer_auth(&customer.bearer);
        send(profile).await.expect(200);
        for command in ["deactivate", "activate", "rotate-token", "payment-types"] {
            refused(&environment, &["application", command, "--application", "404"], "application not found");
            refused(&environment, &["application", command, "--application", "0"], "--application");
        }
        drop(process);
        assert!(!environment.log().contains(&new.app_token) && !environment.log().contains(&old.app_token), "a token is logged");
    }

    async fn applications_of_a_project_differ_in_how_orders_are_paid(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let bearer = owner(&environment, &project).await;
        let body = json!({ "branch_id": project["branch_id"], "name": "Second" });
        let second = by_staff(&environment, &bearer, Method::POST, "/api/applications").json(&body);
        let second = send(second).await.expect(201)["application"].clone();
        let (first, second) = (environment.front(&project["app_token"]), environment.front(&second["token"]));
        let taken = async |front: &ApplicationClient| {
            let list = send(front.request(Method::GET, "/api/counterparty/payment_types")).await.expect(200);
            let all = send(front.request(Method::GET, "/api/counterparty/dictionaries")).await.expect(200);
            assert_eq!((&all["paymentTypes"], &all["paymentTypesCount"]), (&list["paymentTypes"], &list["paymentTypesCount"]));
            let types = list["paymentTypes"].as_array().unwrap().iter();
            types.map(|kind| kind["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let both = ["Online", "At hand-over"];
        assert_eq!((taken(&first).await, taken(&second).await), (both.map(str::to_owned).to_vec(), both.map(str::to_owned).to_vec()));
        let id = project["application_id"].to_string();
        let command = ["application", "payment-types", "--application", &id];
        let online = printed(&environment, &command)[0]["payment_type_id"].to_string();
        let choices = printed(&environment, &[&command[..], &["--set", &online]].concat());
        let reported: Vec<_> = choices.as_array().unwrap().iter().map(|kind| kind["is_taken"].as_bool().unwrap()).collect();
        assert_eq!(reported, [true, false]);
        assert_eq!((taken(&first).await, taken(&second).await), (vec!["Online".to_owned()], both.map(str::to_owned).to_vec()));
        for (wrong, why) in [("999", "no such payment type"), ("1,x", "--set"), ("", "--set"), ("0", "--set")] {
            refused(&environment, &[&command[..], &["--set", wrong]].concat(), why);
        }
        environment.run(&[&command[..], &["--set", "all"]].concat());
        assert_eq!(taken(&first).await, both);
        drop(process);
    }

    async fn a_customer_has_the_picture_set_by_staff(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let bearer = owner(&environment, &project).await;
        let front = environment.front(&project["app_token"]);
        let customer = front.sign_in("79005550042").await;
        let record = async || {
            let read = send(customer.request(Method::GET, "/api/counterparty")).await.expect(200);
            read["counterparty"].clone()
        };
        let upload = async |kind: &str| {
            let request = by_staff(&environment, &bearer, Method::POST, "/api/files").multipart(form(kind, "me.png", &png(64, 64)));
            send(request).await.expect(201)["file"].clone()
        };
        let (picture, contract) = (upload("2").await, upload("1").await);
        let before = record().await;
        assert_eq!(before["avatar"], Value::Null);
        let id = before["id"].to_string();
        let give = ["customer", "avatar", "--customer", &id, "--avatar"];
        environment.run(&[&give[..], &[&picture["id"].to_string()]].concat());
        assert_eq!(record().await["avatar"], json!({ "url": picture["url"] }));
        // The record may be sent back as it was read. The customer cannot write the picture.
        let body = json!({ "avatar": null, "first_name": "Anna" });
        let changed = send(customer.request(Method::PUT, "/api/counterparty").json(&body)).await.expect(200);
        assert_eq!(changed["counterparty"]["avatar"]["url"], picture["url"]);
        for (wrong, why) in [
            (contract["id"].to_string(), "no such avatar"), ("999".to_owned(), "no such avatar"), ("x".to_owned(), "--avatar"),
        ] {
            refused(&environment, &[&give[..], &[&wrong]].concat(), why);
        }
        refused(&environment, &["customer", "avatar", "--customer", "999", "--avatar", "none"], "no such customer");
        environment.run(&[&give[..], &["none"]].concat());
        assert_eq!(record().await["avatar"], Value::Null);
        drop(process);
    }
}

async fn a_project_moves_while_it_is_served() {
    let environment = ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await;
    let process = environment.serve().await;
    let project = environment.create_project("owner");
    let bearer = owner(&environment, &project).await;
    let target = TestDatabase::fresh(Kind::Postgres);
    let DatabaseUrl::Postgres(url) = target.url() else { panic!("the target is PostgreSQL") };
    let id = project["project_id"].to_string();
    let to = |to: &str| printed(&environment, &["project", "move", &id, "--to", to]);
    refused(&environment, &["project", "move", "404", "--to", &url], "project 404 not found");
    let aborted = printed(&environment, &["project", "move", &id, "--to", &url, "--abort"]);
    assert_eq!(aborted["aborted"], false, "nothing was begun");
    refused(&environment, &["project", "move", &id], "--to");
    let moved = to(&url);
    for phase in ["connecting", "copying", "copied", "catching up", "freeze begins", "freeze ends"] {
        assert!(environment.log().contains(&format!("kontor: {phase}")), "{phase}");
    }
    assert!(moved["rows"].as_u64().unwrap() > 5 && moved["frozen_ms"].as_u64().unwrap() < 5_000, "{moved}");

    let late = by_staff(&environment, &bearer, Method::POST, "/api/brands");
    let late = late.json(&json!({ "name": "Late", "photo": "https://cdn.example/a.png" }));
    let answer = send(late).await;
    assert_eq!(answer.status.as_u16(), 503);
    assert!(answer.json()["message"].as_str().unwrap().contains("moved to another database"));
    send(by_staff(&environment, &bearer, Method::GET, "/api/brands")).await.expect(200);

    let file = environment.folder().join("target.toml");
    std::fs::write(&file, format!("database_url = {url:?}\n")).unwrap();
    assert_eq!(to(file.to_str().unwrap())["rows"], 0, "it is there already");
    refused(&environment, &["project", "move", &id, "--to", &url, "--abort"], "has been moved");
    drop(process);
}

tests_with!(postgres: a_project_moves_while_it_is_served);
