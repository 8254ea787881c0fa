//! Webhooks, their secrets and addresses.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Project, TestServer, send};

const URL: &str = "https://shop.example/hooks/kontor";

fn path(project: &Project, rest: &str) -> String {
    format!("/api/applications/{}/webhooks{rest}", project.application_id)
}

async fn create(server: &TestServer, staff: &str, project: &Project, body: Value) -> Value {
    send(server.as_staff(staff, Method::POST, &path(project, "")).json(&body)).await.expect(201)["webhook"].clone()
}

database_tests! {
    async fn a_webhook_lives_from_creation_to_deletion(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let created = create(&server, &owner, &project, json!({ "name": " Склад ", "url": URL })).await;
        assert_eq!((created["name"].as_str(), created["url"].as_str()), (Some("Склад"), Some(URL)));
        assert_eq!(created["is_active"], true);
        let secret = created["secret"].as_str().unwrap();
        assert_eq!((&secret[..6], secret.len()), ("whsec_", 49));
        let stored = server.insert("SELECT COUNT(*) AS id FROM webhooks WHERE sealed_secret LIKE 'whsec%'".to_owned()).await;
        assert_eq!(stored, 0);

        let one = path(&project, &format!("/{}", created["id"]));
        let listed = send(server.as_staff(&owner, Method::GET, &path(&project, ""))).await;
        let shown = send(server.as_staff(&owner, Method::GET, &one)).await;
        assert_eq!(listed.expect(200), json!({ "webhooks": [shown.expect(200)["webhook"]], "webhooksCount": 1 }));
        assert!(!listed.text.contains("secret") && !shown.text.contains("secret"));

        let change = json!({ "name": null, "url": "https://other.example", "is_active": false });
        let changed = send(server.as_staff(&owner, Method::PATCH, &one).json(&change)).await.expect(200)["webhook"].clone();
        assert_eq!(changed["name"], Value::Null);
        assert_eq!((changed["url"].as_str(), changed["is_active"].as_bool()), (Some("https://other.example"), Some(false)));
        let kept = send(server.as_staff(&owner, Method::PATCH, &one).json(&json!({ "name": "B" }))).await.expect(200);
        assert_eq!((kept["webhook"]["name"].as_str(), &kept["webhook"]["url"]), (Some("B"), &changed["url"]));

        let deleted = send(server.as_staff(&owner, Method::DELETE, &one)).await.expect(200);
        assert!(deleted["message"].is_string());
        send(server.as_staff(&owner, Method::GET, &one)).await.expect(404);
        send(server.as_staff(&owner, Method::DELETE, &one)).await.expect(404);
    }

    async fn a_rotation_shows_another_secret_once(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let created = create(&server, &owner, &project, json!({ "url": URL })).await;
        let one = path(&project, &format!("/{}", created["id"]));
        let rotate = format!("{one}/rotate-secret");
        let rotated = send(server.as_staff(&owner, Method::POST, &rotate)).await.expect(200)["webhook"].clone();
        assert_eq!(rotated["id"], created["id"]);
        assert!(rotated["secret"].as_str().unwrap().starts_with("whsec_"));
        assert_ne!(rotated["secret"], created["secret"]);
        assert!(!send(server.as_staff(&owner, Method::GET, &one)).await.text.contains("secret"));
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let body = json!({ "name": [1], "url": 5, "is_active": "maybe" });
        send(server.as_staff(&owner, Method::POST, &path(&project, "")).json(&body))
            .await
            .expect_invalid(&["name", "url", "is_active"]);
        send(server.as_staff(&owner, Method::POST, &path(&project, "")).json(&json!({}))).await.expect_invalid(&["url"]);
        for url in ["", "shop.example", "/hook", "ftp://shop.example", "https://user:pw@shop.example", "https://a.example/#b"] {
            let answer = send(server.as_staff(&owner, Method::POST, &path(&project, "")).json(&json!({ "url": url }))).await;
            answer.expect_invalid(&["url"]);
        }
        let created = create(&server, &owner, &project, json!({ "url": URL })).await;
        let one = path(&project, &format!("/{}", created["id"]));
        let nothing = json!({ "url": null, "is_active": null });
        send(server.as_staff(&owner, Method::PATCH, &one).json(&nothing)).await.expect_invalid(&["url", "is_active"]);
    }

    async fn internal_and_plain_addresses_are_refused_by_the_policy(db: TestDatabase) {
        let server = TestServer::start_with(db, |config| config.webhook_allow_internal = false).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let created = create(&server, &owner, &project, json!({ "url": URL })).await;
        let one = path(&project, &format!("/{}", created["id"]));
        for url in [
            "http://shop.example/hook",
            "https://127.0.0.1/hook",
            "https://2130706433/hook",
            "https://0x7f.1/hook",
            "https://localhost/hook",
            "https://10.0.0.7/hook",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/hook",
            "https://[::ffff:10.0.0.1]/hook",
        ] {
            let body = json!({ "url": url });
            send(server.as_staff(&owner, Method::POST, &path(&project, "")).json(&body)).await.expect_invalid(&["url"]);
            send(server.as_staff(&owner, Method::PATCH, &one).json(&body)).await.expect_invalid(&["url"]);
        }
    }

    async fn an_application_has_at_most_twenty_webhooks(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        for _ in 0..20 {
            create(&server, &owner, &project, json!({ "url": URL })).await;
        }
        let body = json!({ "url": URL });
        send(server.as_staff(&owner, Method::POST, &path(&project, "")).json(&body)).await.expect_invalid(&["application"]);
    }

    async fn permissions_and_owners_are_enforced(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let created = create(&server, &owner, &project, json!({ "url": URL })).await;
        let body = json!({ "url": URL, "name": "B" });
        let one = path(&project, &format!("/{}", created["id"]));
        let writes = [
            (Method::POST, path(&project, "")),
            (Method::PATCH, one.clone()),
            (Method::POST, format!("{one}/rotate-secret")),
            (Method::POST, format!("{one}/test")),
            (Method::POST, format!("{one}/deliveries/1/resend")),
            (Method::DELETE, one.clone()),
        ];
        let reads = [(Method::GET, path(&project, "")), (Method::GET, one.clone()), (Method::GET, format!("{one}/deliveries"))];

        let viewer = server.staff_with(&project, &["view-webhooks"]).await;
        let editor = server.staff_with(&project, &["edit-webhooks"]).await;
        let outsider = server.owner(&server.project().await).await;
        for (method, path) in reads.clone() {
            send(server.as_staff(&viewer, method.clone(), &path)).await.expect(200);
            send(server.as_staff(&editor, method.clone(), &path)).await.expect(403);
        }
        for (method, path) in &writes {
            send(server.as_staff(&viewer, method.clone(), path).json(&body)).await.expect(403);
        }
        for (method, path) in reads.iter().chain(&writes) {
            send(server.as_staff(&outsider, method.clone(), path).json(&body)).await.expect(403);
            send(server.request(method.clone(), path).json(&body)).await.expect(401);
        }
        send(server.as_staff(&editor, Method::PATCH, &one).json(&body)).await.expect(200);
        send(server.as_staff(&editor, Method::POST, &path(&project, "")).json(&body)).await.expect(201);

        for application in ["999999", "0", "x"] {
            let absent = format!("/api/applications/{application}/webhooks");
            send(server.as_staff(&owner, Method::GET, &absent)).await.expect(404);
            send(server.as_staff(&owner, Method::POST, &absent).json(&body)).await.expect(404);
        }
        // Another application of the same project has separate webhooks.
        let application = json!({ "name": "Second", "branch_id": project.branch_id });
        let second = send(server.as_staff(&owner, Method::POST, "/api/applications").json(&application)).await.expect(201);
        let misplaced = format!("/api/applications/{}/webhooks/{}", second["application"]["id"], created["id"]);
        send(server.as_staff(&owner, Method::GET, &misplaced)).await.expect(404);
        send(server.as_staff(&owner, Method::PATCH, &misplaced).json(&body)).await.expect(404);
        send(server.as_staff(&owner, Method::POST, &format!("{misplaced}/rotate-secret"))).await.expect(404);
        send(server.as_staff(&owner, Method::POST, &format!("{misplaced}/test"))).await.expect(404);
        send(server.as_staff(&owner, Method::GET, &format!("{misplaced}/deliveries"))).await.expect(404);
        send(server.as_staff(&owner, Method::GET, &format!("{misplaced}/deliveries/1"))).await.expect(404);
        send(server.as_staff(&owner, Method::DELETE, &misplaced)).await.expect(404);
        send(server.as_staff(&owner, Method::GET, &one)).await.expect(200);
    }
}
