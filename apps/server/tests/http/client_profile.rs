//! The customer's own record, and the credentials that give access to it.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Project, TestServer, send};

const PROFILE: &str = "/api/counterparty";

async fn second_application(server: &TestServer, project: &Project) -> Project {
    let app_token = "token-of-a-second-application".to_owned();
    let application_id = server
        .insert(format!(
            "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
             updated_at) VALUES ({}, {}, 'Second', '{}', true, true, '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
             RETURNING id",
            project.id,
            project.branch_id,
            crate::support::sha256(&app_token)
        ))
        .await;
    Project { application_id, app_token, ..project.clone() }
}

database_tests! {
    async fn the_record_has_every_field(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        server.owner(&project).await;
        let (id, token) = server.customer(&project).await;
        let bare = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        assert_eq!((&bare["counterparty"]["manager"], &bare["counterparty"]["email"]), (&Value::Null, &Value::Null));
        server.execute(&format!(
            "UPDATE counterparties SET manager_id = (SELECT MIN(id) FROM users), last_name = 'Petrov', \
             middle_name = 'Ilyich', birthday = '1990-02-03', address = 'Nevsky 1', phone_2 = '79007654321', \
             email = 'ivan@example.com' WHERE id = {id}"
        )).await;
        let read = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        let manager = read["counterparty"]["manager"]["id"].clone();
        assert!(manager.is_i64());
        assert_eq!(read, json!({ "counterparty": {
            "id": id,
            "type": { "id": 1, "name": "Person", "created_at": "2026-01-01T00:00:00Z" },
            "manager": { "id": manager, "first_name": "Anna", "last_name": "Kern", "middle_name": null, "name": "Anna Kern" },
            "avatar": null,
            "first_name": "Ivan",
            "last_name": "Petrov",
            "middle_name": "Ilyich",
            "birthday": "1990-02-03",
            "address": "Nevsky 1",
            "phone_1": "79001234567",
            "phone_2": "79007654321",
            "email": "ivan@example.com",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "favourite_products": [],
        } }));
    }

    async fn the_application_may_be_left_out_but_not_wrong(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let (project, other) = (server.project().await, server.project().await);
        let second = second_application(&server, &project).await;
        let (id, token) = server.customer(&project).await;
        let alone = send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(200);
        assert_eq!(alone["counterparty"]["id"], id);
        for foreign in [&other, &second] {
            let answer = send(server.as_customer(foreign, &token, Method::GET, PROFILE)).await;
            assert_eq!(answer.expect(404), json!({ "message": "Not found." }));
        }
        let wrong = server.request(Method::GET, PROFILE).header("Token", "wrong").bearer_auth(&token);
        assert_eq!(send(wrong).await.expect(401)["message"], "Application token is invalid");
        send(server.as_app(&project, Method::GET, PROFILE)).await.expect(401);
        server.execute(&format!("UPDATE applications SET is_active = false WHERE id = {}", project.application_id)).await;
        send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(401);
        let inactive = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await;
        assert_eq!(inactive.expect(401)["message"], "Application token is invalid");
    }

    async fn only_the_whole_token_opens(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        let (id, secret) = token.split_once('|').unwrap();
        let truncated = &token[..token.len() - 1];
        let padded = format!("0{token}");
        let longer = format!("{token}x");
        let joined = format!("{id}{secret}");
        let other = format!("{}|{secret}", id.parse::<i64>().unwrap() + 1);
        let huge = format!("{id}|{}", secret.repeat(20));
        for part in [id, secret, truncated, &padded, &longer, &joined, &other, &huge, "|", "1|", "garbage"] {
            let answer = send(server.as_customer(&project, part, Method::GET, PROFILE)).await;
            assert!(answer.expect(401)["message"].is_string(), "{part}");
        }
        let basic = server.as_app(&project, Method::GET, PROFILE).basic_auth(id, Some(secret));
        send(basic).await.expect(401);
        let query = format!("{PROFILE}?token={token}&access_token={token}");
        send(server.as_app(&project, Method::GET, &query)).await.expect(401);
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
    }

    async fn guards_do_not_open_each_other(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let staff = server.owner(&project).await;
        let (_, customer) = server.customer(&project).await;
        send(server.as_customer(&project, &staff, Method::GET, PROFILE)).await.expect(401);
        send(server.request(Method::GET, PROFILE).bearer_auth(&staff)).await.expect(401);
        send(server.as_staff(&customer, Method::GET, "/api/user")).await.expect(401);
        send(server.as_customer(&project, &customer, Method::GET, "/api/user")).await.expect(401);
        send(server.as_app(&project, Method::GET, "/api/user")).await.expect(401);
        send(server.as_staff(&staff, Method::GET, "/api/user")).await.expect(200);
    }

    async fn a_token_expires(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        server.execute("UPDATE access_tokens SET expires_at = '2027-01-01 00:00:00'").await;
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        server.clock.advance(366 * 24 * 3600);
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(401);
        send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(401);
    }
}
