//! Token introspection by backends.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::process::ProcessEnvironment;
use crate::support::{Answer, Project, TestServer, send, sha256};

const PATH: &str = "/api/counterparty/auth/introspect";
const AUDIENCE: &str = "billing";
const SECRET: &str = "secret-of-the-backend";

/// A service and a project with a customer and a backend.
struct Trial {
    server: TestServer,
    project: Project,
    customer: i64,
    bearer: String,
    client_id: String,
}

impl Trial {
    async fn start(db: TestDatabase) -> Self {
        let server = TestServer::start_with(db, |config| config.trusted_proxies = vec!["127.0.0.1".to_owned()]).await;
        let project = server.project().await;
        let (customer, bearer) = server.customer(&project).await;
        let client_id = backend(&server, &project).await;
        Self { server, project, customer, bearer, client_id }
    }

    fn post(&self) -> RequestBuilder {
        self.server.request(Method::POST, PATH)
    }

    fn asks(&self, token: &str, audience: &str) -> RequestBuilder {
        self.post().basic_auth(&self.client_id, Some(SECRET)).form(&[("token", token), ("audience", audience)])
    }

    async fn ask(&self, token: &str) -> Answer {
        send(self.asks(token, AUDIENCE)).await
    }

    async fn is_inactive(&self, token: &str) {
        assert_eq!(self.ask(token).await.expect(200), json!({ "active": false }), "{token}");
    }
}

/// Returns the identifier of a new backend of the project's application.
async fn backend(server: &TestServer, project: &Project) -> String {
    let (id, application) = (project.id, project.application_id);
    let client_id = format!("67e55044-10b1-426f-9247-{application:012}");
    let fingerprint = sha256(SECRET);
    server
        .execute(&format!(
            "INSERT INTO introspection_clients (client_id, project_id, application_id, audience, fingerprint, \
             is_active, created_at) VALUES ('{client_id}', {id}, {application}, '{AUDIENCE}', '{fingerprint}', true, \
             '2026-01-01 00:00:00')"
        ))
        .await;
    client_id
}

fn refused(answer: &Answer) {
    assert!(answer.expect(401)["message"].is_string());
    assert!(answer.headers["www-authenticate"].to_str().unwrap().starts_with("Basic realm="), "{answer:?}");
}

database_tests! {
    async fn a_valid_token_is_described_by_one_statement(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let before = trial.server.db.database.statements();
        let reported = trial.ask(&trial.bearer).await.expect(200);
        assert_eq!(trial.server.db.database.statements() - before, 1);
        let handle = reported["principal_handle"].as_str().unwrap().to_owned();
        assert_eq!(handle.parse::<uuid::Uuid>().unwrap().get_version_num(), 4);
        assert_eq!(reported, json!({
            "active": true,
            "principal_handle": handle,
            "project": { "id": trial.project.id },
            "application": { "id": trial.project.application_id, "name": "Shop" },
            "scopes": ["counterparty"],
            "expires_at": "2100-01-01T00:00:00Z",
        }));
        assert_eq!(trial.ask(&trial.bearer).await.expect(200)["principal_handle"], handle);

        // The content type may name the charset.
        let plain = trial.post().basic_auth(trial.client_id.to_uppercase(), Some(SECRET));
        let plain = plain.header(CONTENT_TYPE, "application/x-www-form-urlencoded; charset=UTF-8");
        let body = format!("token={}&audience={AUDIENCE}&unknown=1", trial.bearer.replace('|', "%7C"));
        assert_eq!(send(plain.body(body)).await.expect(200)["principal_handle"], handle);
    }

    async fn every_invalid_token_gets_the_same_response(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let server = &trial.server;
        let (id, secret) = trial.bearer.split_once('|').unwrap();
        let staff = server.owner(&trial.project).await;
        let other = server.project().await;
        let (_, foreign) = server.customer(&other).await;
        let changed = format!("{id}|{secret}x");
        let unknown = format!("404404|{secret}");
        let long = format!("{id}|{}", "s".repeat(10 * 1024));
        let bars = "|".repeat(10 * 1024);
        let stuck = format!("{id}{secret}");
        for token in [
            id, secret, &stuck, &changed, &unknown, &long, &bars, &staff, &foreign, "|", "x|y", "-1|s", "0|s", " ", "\0",
            "99999999999999999999|s", "'; DROP TABLE access_tokens; --", "жук|жук",
        ] {
            trial.is_inactive(token).await;
        }
        assert_eq!(trial.ask(&trial.bearer).await.expect(200)["active"], true);
        // A sibling application of the same project is another application, too.
        let sibling = server.insert(format!(
            "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
             updated_at) VALUES ({}, {}, 'App', 'f', true, false, '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
             RETURNING id", trial.project.id, trial.project.branch_id)).await;
        let sibling = server.token(&trial.project, "counterparty", trial.customer, Some(sibling)).await;
        trial.is_inactive(&sibling).await;
    }

    async fn a_token_that_ended_is_inactive(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let server = &trial.server;
        let second = server.token(&trial.project, "counterparty", trial.customer, Some(trial.project.application_id)).await;
        let out = server.as_customer(&trial.project, &trial.bearer, Method::POST, "/api/counterparty/logout");
        send(out.json(&json!({}))).await.expect(200);
        trial.is_inactive(&trial.bearer).await;
        assert_eq!(trial.ask(&second).await.expect(200)["active"], true);
        server.execute("UPDATE access_tokens SET expires_at = '2026-01-02 00:00:00'").await;
        trial.is_inactive(&second).await;
    }

    async fn a_client_proves_itself_first(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let form = [("token", trial.bearer.as_str()), ("audience", AUDIENCE)];
        let with = async |header: &str| send(trial.post().header(AUTHORIZATION, header).form(&form)).await;
        let basic = |text: &str| {
            let request = reqwest::Client::new().get("http://localhost").basic_auth(text, None::<&str>).build().unwrap();
            request.headers()[AUTHORIZATION].to_str().unwrap().to_owned()
        };
        for (id, secret) in [
            (trial.client_id.as_str(), "wrong"), (trial.client_id.as_str(), ""), ("", SECRET), ("billing", SECRET),
            ("67e55044-10b1-426f-9247-bb680e5fe0c8", SECRET), (&trial.client_id.replace('-', ""), SECRET),
        ] {
            refused(&send(trial.post().basic_auth(id, Some(secret)).form(&form)).await);
        }
        for header in [
            "Basic", "Basic ", "Basic !!!!", "Basic /////w==", "Basic Og==", "basic", "Digest x", "жук",
            &format!("Bearer {}", trial.bearer), &basic(&trial.client_id), &"x".repeat(8000),
        ] {
            refused(&with(header).await);
        }
        assert_eq!(with(&format!("Basic {}", "A".repeat(20_000))).await.status, 431);
        refused(&send(trial.post().form(&form)).await);
        // A caller that fails authentication does not learn about other errors.
        refused(&send(trial.post().basic_auth(&trial.client_id, Some("wrong")).json(&json!({}))).await);
        refused(&send(trial.post().basic_auth(&trial.client_id, Some("wrong")).query(&[("token", "x")])).await);

        let flag = async |table: &str, active: bool| {
            trial.server.execute(&format!("UPDATE {table} SET is_active = {active}")).await;
        };
        for table in ["introspection_clients", "applications"] {
            flag(table, false).await;
            refused(&trial.ask(&trial.bearer).await);
            flag(table, true).await;
            assert_eq!(trial.ask(&trial.bearer).await.expect(200)["active"], true);
        }
    }

    async fn only_a_form_is_read(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let post = || trial.post().basic_auth(&trial.client_id, Some(SECRET));
        let form = |fields: &[(&str, &str)]| post().form(fields);
        let (token, long) = (trial.bearer.as_str(), "a".repeat(65));
        let json = post().json(&json!({ "token": token, "audience": AUDIENCE }));
        assert!(send(json).await.expect(415)["message"].is_string());
        send(post().header(CONTENT_TYPE, "text/plain").body("token=x&audience=y")).await.expect(415);
        send(form(&[("audience", AUDIENCE)])).await.expect_invalid(&["token"]);
        send(form(&[("token", token)])).await.expect_invalid(&["audience"]);
        send(form(&[])).await.expect_invalid(&["token", "audience"]);
        send(post()).await.expect_invalid(&["token", "audience"]);
        send(form(&[("token", ""), ("audience", &long)])).await.expect_invalid(&["token", "audience"]);
        send(form(&[("token", token), ("audience", " ")])).await.expect_invalid(&["audience"]);
        send(form(&[("token[]", token), ("audience", AUDIENCE)])).await.expect_invalid(&["token"]);
        send(form(&[("token", token), ("token", token), ("audience", AUDIENCE)])).await.expect_invalid(&["token"]);
        send(form(&[("token", token), ("audience", &"ж".repeat(64))])).await.expect(403);

        let whole = [("token", token), ("audience", AUDIENCE)];
        send(form(&whole).query(&[("token", token)])).await.expect_invalid(&["token"]);
        send(form(&whole).query(&[("audience", AUDIENCE)])).await.expect_invalid(&["audience"]);
        send(form(&whole).query(&[("page", "1")])).await.expect_invalid(&["page"]);
        send(post().query(&whole)).await.expect_invalid(&["token", "audience"]);
        send(form(&[("token", token)]).query(&[("page", "1")])).await.expect_invalid(&["audience", "page"]);
    }

    async fn another_audience_is_refused_for_any_token(db: TestDatabase) {
        let trial = Trial::start(db).await;
        for audience in ["shipping", "Billing", "billing2"] {
            for token in [trial.bearer.as_str(), "1|x"] {
                let answer = send(trial.asks(token, audience)).await.expect(403);
                assert!(answer["message"].is_string() && answer.get("active").is_none(), "{answer}");
            }
        }
    }

    async fn questions_are_limited_by_address_and_by_client(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let ask = async |address: &str| send(trial.asks("1|x", AUDIENCE).header("X-Forwarded-For", address)).await;
        for asked in 1..=60 {
            let answer = ask("203.0.113.1").await;
            answer.expect(200);
            assert_eq!(answer.headers["x-ratelimit-remaining"], (60 - asked).to_string());
        }
        let answer = ask("203.0.113.1").await;
        assert_eq!(answer.expect(429), json!({ "message": "Too Many Attempts." }));
        assert!(answer.headers.contains_key("retry-after"));
        for asked in 0..240 {
            ask(&format!("203.0.113.{}", 2 + asked / 60)).await.expect(200);
        }
        ask("203.0.113.9").await.expect(429);
        // A caller that fails authentication does not use up the limit of the client.
        trial.server.clock.advance(60);
        for asked in 0..310 {
            let wrong = trial.post().basic_auth(&trial.client_id, Some("wrong"));
            let wrong = wrong.header("X-Forwarded-For", format!("198.51.100.{}", asked / 50));
            refused(&send(wrong.form(&[("token", "1|x"), ("audience", AUDIENCE)])).await);
        }
        ask("203.0.113.1").await.expect(200);
    }

    async fn requests_without_credentials_count_toward_the_address_too(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let from = |address: &str| trial.post().header("X-Forwarded-For", address);
        let form = [("token", "1|x"), ("audience", AUDIENCE)];
        for asked in 1..=60 {
            let malformed = match asked % 4 {
                0 => from("203.0.113.1"),
                1 => from("203.0.113.1").header(AUTHORIZATION, "Basic !!!!"),
                2 => from("203.0.113.1").header(AUTHORIZATION, HeaderValue::from_bytes(b"Basic \xff").unwrap()),
                _ => from("203.0.113.1").basic_auth("billing", Some(SECRET)),
            };
            let answer = send(malformed.form(&form)).await;
            refused(&answer);
            assert_eq!(answer.headers["x-ratelimit-remaining"], (60 - asked).to_string());
        }
        for request in [from("203.0.113.1"), from("203.0.113.1").basic_auth(&trial.client_id, Some(SECRET))] {
            let answer = send(request.form(&form)).await;
            assert_eq!(answer.expect(429), json!({ "message": "Too Many Attempts." }));
            assert!(answer.headers.contains_key("retry-after"));
        }
        send(from("203.0.113.2").basic_auth(&trial.client_id, Some(SECRET)).form(&form)).await.expect(200);
    }

    async fn basic_credentials_open_nothing_else(db: TestDatabase) {
        let trial = Trial::start(db).await;
        let basic = |method, path| trial.server.request(method, path).basic_auth(&trial.client_id, Some(SECRET));
        send(basic(Method::GET, "/api/user")).await.expect(401);
        send(basic(Method::GET, "/api/applications")).await.expect(401);
        send(basic(Method::GET, "/api/counterparty")).await.expect(401);
        let heartbeat = basic(Method::POST, "/api/counterparty/session/heartbeat");
        send(heartbeat.header("Token", &trial.project.app_token)).await.expect(401);
        let owner = trial.server.owner(&trial.project).await;
        let applications = send(trial.server.as_staff(&owner, Method::GET, "/api/applications")).await;
        assert!(!applications.text.contains("client_secret") && !applications.text.contains(&trial.client_id));
    }

    async fn answered_writes_survive_a_kill(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let front = environment.front(&project["app_token"]);
        let (stays, leaves) = (front.sign_in("79005550031").await, front.sign_in("79005550032").await);
        let application = project["application_id"].to_string();
        let run = |command: &str| {
            let place = ["--application", &application, "--audience", AUDIENCE, "--json"];
            let output = environment.run(&[&["introspection", command][..], &place].concat());
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        };
        let (leaked, client) = (run("issue"), run("rotate"));
        let ask = async |client: &serde_json::Value, bearer: &str| {
            let credentials = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str());
            let form = [("token", bearer), ("audience", AUDIENCE)];
            send(environment.http.post(format!("{}{PATH}", environment.url())).basic_auth(credentials.0, credentials.1).form(&form)).await
        };
        let before = ask(&client, &stays.bearer).await.expect(200);
        assert_eq!((&before["active"], &ask(&client, &leaves.bearer).await.expect(200)["active"]), (&json!(true), &json!(true)));
        let out = front.request(Method::POST, "/api/counterparty/logout").bearer_auth(&leaves.bearer);
        send(out.json(&json!({}))).await.expect(200);
        process.kill();

        let _process = environment.serve().await;
        assert_eq!(ask(&client, &stays.bearer).await.expect(200), before);
        assert_eq!(ask(&client, &leaves.bearer).await.expect(200), json!({ "active": false }));
        refused(&ask(&leaked, &stays.bearer).await);
    }

    async fn an_operator_issues_rotates_and_disables(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let front = environment.front(&project["app_token"]);
        let customer = front.sign_in("79005550007").await;
        let application = project["application_id"].to_string();
        let run = |arguments: &[&str]| {
            let output = environment.run(&[&["introspection"], arguments, &["--json"]].concat());
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        };
        let ask = async |client: &serde_json::Value| {
            let credentials = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str());
            let form = [("token", customer.bearer.as_str()), ("audience", AUDIENCE)];
            send(environment.http.post(format!("{}{PATH}", environment.url())).basic_auth(credentials.0, credentials.1).form(&form)).await
        };
        let issue = ["issue", "--application", &application, "--audience", AUDIENCE];
        let issued = run(&issue);
        assert_eq!(issued["client_secret"].as_str().unwrap().len(), 48);
        assert_eq!(ask(&issued).await.expect(200)["active"], true);
        let again = environment.command(&[&["introspection"], &issue[..]].concat()).output().unwrap();
        assert!(!again.status.success() && again.stdout.is_empty());
        let unknown = ["introspection", "issue", "--application", "404", "--audience", AUDIENCE];
        assert!(!environment.command(&unknown).output().unwrap().status.success());

        let of = |command| [command, "--application", &application, "--audience", AUDIENCE];
        let rotated = run(&of("rotate"));
        assert_eq!(rotated["client_id"], issued["client_id"]);
        refused(&ask(&issued).await);
        assert_eq!(ask(&rotated).await.expect(200)["active"], true);
        assert_eq!(run(&of("disable"))["is_active"], false);
        refused(&ask(&rotated).await);
        let renewed = run(&of("rotate"));
        assert_eq!(ask(&renewed).await.expect(200)["active"], true);
        drop(process);
        for secret in [&issued, &rotated, &renewed].map(|client| client["client_secret"].as_str().unwrap()) {
            assert!(!environment.log().contains(secret), "a secret is logged");
        }
    }
}
