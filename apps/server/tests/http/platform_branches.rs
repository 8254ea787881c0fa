//! Branches and applications.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::project_fixture::ProjectFixture;
use crate::support::{TestServer, send};

database_tests! {
    async fn a_branch_is_created_and_listed(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let body = json!({ "name": "Мастерская", "phone": "8 (900) 123-45-67", "email": null });
        let created = send(server.as_staff(&owner, Method::POST, "/api/branches").json(&body)).await.expect(201);
        assert_eq!(created["branch"]["phone"], "79001234567");
        let listed = send(server.as_staff(&owner, Method::GET, "/api/branches")).await.expect(200);
        assert_eq!(listed["branchesCount"], 2);
        assert_eq!(listed["branches"][1], created["branch"]);
        let other = server.owner(&server.project().await).await;
        let foreign = send(server.as_staff(&other, Method::GET, "/api/branches")).await.expect(200);
        assert_eq!(foreign["branchesCount"], 1);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let owner = server.owner(&server.project().await).await;
        let body = json!({ "inn": [1], "phone": "abc", "email": "x", "kpp": "1234567890", "address": 7 });
        let wrong = ["name", "inn", "phone", "email", "kpp", "address"];
        send(server.as_staff(&owner, Method::POST, "/api/branches").json(&body)).await.expect_invalid(&wrong);
        let body = json!({ "name": "Shop", "branch_id": 999_999 });
        send(server.as_staff(&owner, Method::POST, "/api/applications").json(&body)).await.expect_invalid(&["branch_id"]);
    }

    async fn permissions_are_enforced(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let viewer = server.staff_with(&project, &["view-branches"]).await;
        send(server.as_staff(&viewer, Method::GET, "/api/branches")).await.expect(200);
        let body = json!({ "name": "B" });
        send(server.as_staff(&viewer, Method::POST, "/api/branches").json(&body)).await.expect(403);
        send(server.as_staff(&viewer, Method::GET, "/api/applications")).await.expect(403);
        let editor = server.staff_with(&project, &["edit-branches"]).await;
        send(server.as_staff(&editor, Method::POST, "/api/branches").json(&body)).await.expect(201);
        send(server.request(Method::GET, "/api/branches")).await.expect(401);
    }

    async fn an_application_shows_its_token_once(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let body = json!({ "name": "App", "branch_id": project.branch_id, "wholesale": true });
        let created = send(server.as_staff(&owner, Method::POST, "/api/applications").json(&body)).await.expect(201);
        let token = created["application"]["token"].as_str().unwrap();
        let settings = server.request(Method::GET, "/api/counterparty/settings").header("Token", token);
        assert_eq!(send(settings).await.expect(200), json!({ "wholesale": true }));
        let path = format!("/api/applications/{}", created["application"]["id"]);
        let read = send(server.as_staff(&owner, Method::GET, &path)).await;
        read.expect(200);
        assert!(!read.text.contains(token));

        let outsider = server.owner(&server.project().await).await;
        send(server.as_staff(&outsider, Method::GET, &path)).await.expect(403);
        for absent in ["/api/applications/999999", "/api/applications/x", "/api/applications/0"] {
            send(server.as_staff(&owner, Method::GET, absent)).await.expect(404);
        }
    }

    async fn errors_of_branch_parts_name_the_branch(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch = fixture.create("/api/branches", json!({ "name": "Nord" })).await;
        let application = fixture.create("/api/applications", json!({ "name": "App", "branch_id": branch })).await;
        let shown = fixture.get(&format!("/api/applications/{application}")).await.expect(200);
        assert_eq!(shown["application"]["branch_id"], branch);
        let named = json!({ "id": branch, "name": "Nord" });
        for (path, key, body) in [
            ("/api/shops", "shop", json!({ "name": "Quay", "address": "Quay 1", "branch_id": branch })),
            ("/api/warehouses", "warehouse", json!({ "name": "Shed", "branch_id": branch })),
            ("/api/departments", "department", json!({ "name": "Sales", "branch_id": branch })),
        ] {
            let id = fixture.create(path, body).await;
            let shown = fixture.get(&format!("{path}/{id}")).await.expect(200);
            assert_eq!(shown[key]["branch"], named, "{path}");
        }
        fixture.server.execute(&format!("UPDATE users SET branch_id = {branch}")).await;
        assert_eq!(fixture.get("/api/users").await.expect(200)["users"][0]["branch"], named);
        let accounts = |branch: i64| format!("/api/branches/{branch}/bank_requisites");
        let account = json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" });
        let id = fixture.create(&accounts(branch), account).await;
        let held = fixture.get(&accounts(branch)).await.expect(200);
        assert_eq!((&held["bankRequisitesCount"], &held["bankRequisites"][0]["id"]), (&json!(1), &json!(id)));
        assert_eq!(fixture.get(&accounts(fixture.project.branch_id)).await.expect(200)["bankRequisitesCount"], 0);
    }
}
