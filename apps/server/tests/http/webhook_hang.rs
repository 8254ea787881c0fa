//! A hanging receiver does not delay other deliveries.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, look_again};
use kontor_sandbox::{Sandbox, SandboxConfig};
use reqwest::Method;
use serde_json::json;

use crate::support::{Project, TestServer, send};

const DUE: u32 = 5_000;

/// Creates a project whose application sends events to this address.
async fn told_at(server: &TestServer, url: &str) -> Project {
    let project = server.project().await;
    let owner = server.owner(&project).await;
    let path = format!("/api/applications/{}/webhooks", project.application_id);
    send(server.as_staff(&owner, Method::POST, &path).json(&json!({ "url": url }))).await.expect(201);
    project
}

async fn events(server: &TestServer, project: &Project, count: u32) {
    let Project { id, application_id, .. } = project;
    let events = format!(
        "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) \
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         SELECT '00000000-0000-4000-8000-1' || substr(CAST({id} * 1000000 + 10000000000 + i AS TEXT), 1, 11), {id}, \
         {application_id}, 'order.paid', '{{}}', '2026-01-01 00:00:00' FROM n"
    );
    server.execute(&events).await;
}

database_tests! {
    async fn one_that_hangs_with_thousands_of_due_events_delays_no_other(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        // The system accepts connections, but no response is ever sent.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let hanging = told_at(&server, &format!("http://{}/hook", silent.local_addr().unwrap())).await;
        let sandbox = Sandbox::start(SandboxConfig::new(server.clock.clone())).await.unwrap();
        let hook = send(server.http.post(format!("{}/control/hooks", sandbox.url())).json(&json!({}))).await.expect(201);
        let sound = told_at(&server, hook["url"].as_str().unwrap()).await;
        let received = async || -> usize {
            let got = server.http.get(format!("{}/control/hooks/{}", sandbox.url(), hook["id"].as_str().unwrap()));
            send(got).await.expect(200)["deliveries"].as_array().map_or(0, Vec::len)
        };

        events(&server, &hanging, DUE).await;
        let left = "SELECT count(*) AS id FROM outbox_events WHERE dispatched_at IS NULL";
        let until = Instant::now() + Duration::from_mins(2);
        while server.insert(left.to_owned()).await > 0 {
            look_again!(until, "events are not fanned out");
        }
        events(&server, &sound, 1).await;
        let until = Instant::now() + Duration::from_secs(2);
        while received().await == 0 {
            look_again!(until, "another project waits for a receiver that hangs");
        }
        assert_eq!(received().await, 1);
        let waiting = format!(
            "SELECT count(*) AS id FROM webhook_deliveries WHERE status = 'pending' AND project_id = {}",
            hanging.id
        );
        assert_eq!(server.insert(waiting).await, i64::from(DUE));
    }
}
