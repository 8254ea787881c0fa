//! Changes of applications: fields, App Tokens, and access of their customers.

use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::keyed::{assert_named, assert_replays, thrice};
use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

/// A project with a customer who is logged in to its application.
struct ApplicationFixture {
    fixture: ProjectFixture,
    path: String,
    customer: String,
}

impl ApplicationFixture {
    async fn open(db: TestDatabase) -> Self {
        let fixture = ProjectFixture::open(db).await;
        let (_, customer) = fixture.server.customer(&fixture.project).await;
        let path = format!("/api/applications/{}", fixture.project.application_id);
        Self { fixture, path, customer }
    }

    fn action(&self, name: &str) -> RequestBuilder {
        self.fixture.server.as_staff(&self.fixture.owner, Method::POST, &format!("{}/{name}", self.path))
    }

    async fn act(&self, name: &str) -> Value {
        send(self.action(name)).await.expect(200)["application"].clone()
    }

    /// Returns the statuses of a read with this App Token, and of the customer's profile with it.
    async fn access(&self, app_token: &str) -> (u16, u16) {
        let server = &self.fixture.server;
        let request = |path| server.request(Method::GET, path).header("Token", app_token);
        let settings = send(request("/api/counterparty/settings")).await;
        let profile = send(request("/api/counterparty").bearer_auth(&self.customer)).await;
        (settings.status.as_u16(), profile.status.as_u16())
    }

    /// Returns the changed fields of the history, latest first.
    async fn history(&self) -> Vec<Vec<String>> {
        let history = self.fixture.get(&format!("{}/history", self.path)).await.expect(200);
        let fields = |entry: &Value| {
            assert_eq!(entry["user"]["name"], "Anna Kern", "{entry}");
            let changes = entry["changes"].as_array().unwrap().iter();
            changes.map(|change| change["field"].as_str().unwrap().to_owned()).collect()
        };
        history["histories"].as_array().unwrap().iter().map(fields).collect()
    }
}

fn tag(answer: &Answer) -> String {
    answer.headers.get("etag").map(|tag| tag.to_str().unwrap().to_owned()).unwrap_or_default()
}

database_tests! {
    async fn an_application_is_changed_by_its_version(db: TestDatabase) {
        let ApplicationFixture { fixture, path, .. } = ApplicationFixture::open(db).await;
        let read = fixture.get(&path).await;
        let (before, first) = (read.expect(200)["application"].clone(), tag(&read));
        assert_eq!(before["token_issued_at"], before["created_at"]);
        let put = async |if_match: &str, body: Value| {
            let request = fixture.server.as_staff(&fixture.owner, Method::PUT, &path).header("If-Match", if_match);
            send(request.json(&body)).await
        };
        let branch = fixture.create("/api/branches", json!({ "name": "Nord" })).await;
        let body = json!({ "name": "Kiosk", "branch_id": branch, "url": "https://kiosk.example", "wholesale": true });
        let changed = put(&first, body).await;
        let shown = changed.expect(200)["application"].clone();
        assert_eq!((&shown["name"], &shown["branch_id"], &shown["wholesale"]), (&json!("Kiosk"), &json!(branch), &json!(true)));
        assert_eq!(fixture.get(&path).await.expect(200)["application"], shown);
        let settings = send(fixture.server.as_app(&fixture.project, Method::GET, "/api/counterparty/settings")).await;
        assert_eq!(settings.expect(200), json!({ "wholesale": true }), "at once");

        let stale = put(&first, json!({ "name": "Booth" })).await;
        assert_named(&stale, 412, "precondition_failed", "restart");
        assert_eq!((&stale.json()["current"]["version"], &stale.json()["current"]["changed_by"]["name"]), (&json!(2), &json!("Anna Kern")));
        let cleared = put(&tag(&changed), json!({ "url": null })).await.expect(200)["application"].clone();
        assert_eq!((&cleared["url"], &cleared["name"]), (&Value::Null, &json!("Kiosk")));
        // A new application has a version, too.
        let body = json!({ "name": "Second", "branch_id": branch });
        let created = fixture.post("/api/applications", body).await;
        let second = format!("/api/applications/{}", created.expect(201)["application"]["id"]);
        let request = fixture.server.as_staff(&fixture.owner, Method::PUT, &second).header("If-Match", tag(&created));
        send(request.json(&json!({ "name": "Third" }))).await.expect(200);
    }

    async fn every_wrong_field_of_a_change_is_named(db: TestDatabase) {
        let ApplicationFixture { fixture, path, .. } = ApplicationFixture::open(db).await;
        let wrong = json!({ "name": "", "branch_id": "x", "url": "ftp://a", "wholesale": "maybe" });
        fixture.put(&path, wrong).await.expect_invalid(&["name", "branch_id", "url", "wholesale"]);
        let foreign = fixture.create_elsewhere("/api/branches", json!({ "name": "Foreign" })).await;
        for branch in [foreign, 999_999] {
            fixture.put(&path, json!({ "branch_id": branch })).await.expect_invalid(&["branch_id"]);
        }
        fixture.put("/api/applications/999999", json!({})).await.expect(404);
    }

    async fn a_rotated_token_replaces_the_old_one_at_once(db: TestDatabase) {
        let application_fixture = ApplicationFixture::open(db).await;
        let old = application_fixture.fixture.project.app_token.clone();
        // By now the service has cached the token.
        for _ in 0..3 {
            assert_eq!(application_fixture.access(&old).await, (200, 200));
        }
        let issued = application_fixture.act("rotate-token").await;
        let new = issued["token"].as_str().unwrap();
        assert_eq!((new.len(), issued["is_active"].as_bool()), (48, Some(true)));
        assert_ne!(issued["token_issued_at"], issued["created_at"]);
        assert_eq!((application_fixture.access(&old).await, application_fixture.access(new).await), ((401, 401), (200, 200)), "customers stay logged in");
        assert_eq!(application_fixture.history().await, [["token_issued_at"]]);
        for path in [application_fixture.path.clone(), format!("{}/history", application_fixture.path), "/api/applications".to_owned()] {
            let text = application_fixture.fixture.get(&path).await.text;
            assert!(!text.contains(new) && !text.contains("fingerprint"), "{text}");
        }
        assert_eq!(application_fixture.act("deactivate").await["is_active"], false);
        let while_inactive = application_fixture.act("rotate-token").await;
        assert_eq!(while_inactive["is_active"], false, "a rotation activates nothing");
        assert_eq!(application_fixture.access(while_inactive["token"].as_str().unwrap()).await, (401, 401));
    }

    async fn a_repeated_rotation_returns_the_same_token_until_its_response_is_lost(db: TestDatabase) {
        let application_fixture = ApplicationFixture::open(db).await;
        let [first, again, recovered] = thrice(&application_fixture.fixture.server, "rotation", || application_fixture.action("rotate-token")).await;
        assert_replays(&first, &again);
        let token = first.expect(200)["application"]["token"].clone();
        assert_eq!(application_fixture.access(token.as_str().unwrap()).await, (200, 200));
        assert_named(&recovered, 409, "idempotency_result_lost", "contact_support");
        assert_eq!(application_fixture.history().await.len(), 1, "rotated once");
    }

    async fn of_two_rotations_of_one_version_one_succeeds(db: TestDatabase) {
        let application_fixture = ApplicationFixture::open(db).await;
        let seen = tag(&application_fixture.fixture.get(&application_fixture.path).await);
        let rotate = || send(application_fixture.action("rotate-token").header("If-Match", &seen));
        let answers = join_all((0..4).map(|_| rotate())).await;
        let (done, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
        assert_eq!(done.len(), 1);
        for answer in refused {
            assert_named(&answer, 412, "precondition_failed", "restart");
        }
        let token = done[0].json()["application"]["token"].clone();
        assert_eq!(application_fixture.access(token.as_str().unwrap()).await, (200, 200));
    }

    async fn a_deactivated_application_is_refused_at_once_until_it_is_activated(db: TestDatabase) {
        let application_fixture = ApplicationFixture::open(db).await;
        let token = application_fixture.fixture.project.app_token.clone();
        for _ in 0..3 {
            assert_eq!(application_fixture.access(&token).await, (200, 200));
        }
        for _ in 0..2 {
            assert_eq!(application_fixture.act("deactivate").await["is_active"], false);
            assert_eq!(application_fixture.access(&token).await, (401, 401));
        }
        assert_eq!(application_fixture.fixture.get(&application_fixture.path).await.expect(200)["application"]["is_active"], false);
        for _ in 0..2 {
            assert_eq!(application_fixture.act("activate").await["is_active"], true);
            assert_eq!(application_fixture.access(&token).await, (200, 200), "with its customers");
        }
        assert_eq!(application_fixture.history().await, [["is_active"], ["is_active"]], "a repetition changes nothing");
    }

    async fn only_editors_of_the_project_change_its_applications(db: TestDatabase) {
        let application_fixture = ApplicationFixture::open(db).await;
        let ApplicationFixture { fixture, path, .. } = &application_fixture;
        let writes = [
            (Method::PUT, path.clone()),
            (Method::POST, format!("{path}/activate")),
            (Method::POST, format!("{path}/deactivate")),
            (Method::POST, format!("{path}/rotate-token")),
        ];
        for (method, path) in &writes {
            let may = ["view-applications", "create-applications"];
            fixture.as_one_who_may(&may, method.clone(), path, json!({})).await.expect(403);
            fixture.as_outsider(method.clone(), path, json!({})).await.expect(403);
        }
        let history = format!("{path}/history");
        fixture.as_one_who_may(&["edit-applications"], Method::GET, &history, json!({})).await.expect(403);
        fixture.as_outsider(Method::GET, &history, json!({})).await.expect(403);
        assert_eq!(application_fixture.access(&fixture.project.app_token).await, (200, 200));
        assert_eq!(application_fixture.history().await, [[""; 0]; 0]);
        for (method, path) in writes {
            fixture.as_one_who_may(&["edit-applications"], method, &path, json!({})).await.expect(200);
        }
    }
}
