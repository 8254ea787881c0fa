//! An approved call of an agent when the process is killed: employees approve at the same time, the worker of the next
//! process continues, and the call has one effect.

use std::time::Instant;

use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::crash::rng::TestRng;
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::{send, sha256};

const APPROVERS: usize = 8;
const ROUNDS: u64 = 6;
/// Ends the leases of the dead process.
const TIME_PASSES: [&str; 2] = [
    "UPDATE agent_actions SET leased_until = '2000-01-01 00:00:00' WHERE state = 'approved'",
    "UPDATE idempotency_keys SET leased_until = '2000-01-01 00:00:00'",
];
/// Tokens from before the proposals approve without a password.
const AT: &str = "'2026-01-01 00:00:00'";

/// Creates employees with the role of the owner, and returns their tokens.
async fn approvers(environment: &ProcessEnvironment, owner_client: &OwnerClient) -> Vec<String> {
    let (project, role) =
        (&owner_client.project["project_id"], environment.number("SELECT id FROM roles WHERE is_owner").await);
    let mut bearers = Vec::new();
    for number in 0..APPROVERS {
        let secret = format!("secret-of-approver-{number}");
        let fingerprint = sha256(&secret);
        let user = format!(
            "INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, is_sick, \
             active_seconds, created_at, updated_at) VALUES ({project}, {role}, 'approver-{number}', \
             'a{number}@example.com', 'none', 'Anna', 'Kern', FALSE, FALSE, 0, {AT}, {AT})"
        );
        let token = format!(
            "INSERT INTO access_tokens (guard, subject_id, project_id, fingerprint, created_at, expires_at) SELECT 'user', \
             id, project_id, '{fingerprint}', {AT}, '2100-01-01 00:00:00' FROM users WHERE login = 'approver-{number}'"
        );
        environment.execute(&[user, token]).await;
        let id = environment.number(&format!("SELECT id FROM access_tokens WHERE fingerprint = '{fingerprint}'")).await;
        bearers.push(format!("{id}|{secret}"));
    }
    bearers
}

/// Creates an agent whose writes need approval, and returns its token.
async fn new_agent(owner_client: &OwnerClient) -> String {
    let agent = json!({ "name": "Bot", "permissions": ["view-tasks", "edit-tasks"] });
    let agent = send(owner_client.request(Method::POST, "/api/agents").json(&agent)).await.expect(201);
    let tokens = format!("/api/agents/{}/tokens", agent["agent"]["id"]);
    let issued = send(owner_client.request(Method::POST, &tokens).json(&json!({ "name": "Token" }))).await.expect(201);
    let policy = json!({
        "version": 0, "refuses_writes": false, "approvals_per_hour": 60, "retention_days": 90, "rules": { "write": "needs_approval", "operations": [] }, "agents": [],
    });
    send(owner_client.request(Method::PUT, "/api/agent-policy").json(&policy)).await.expect(200);
    issued["access_token"]["value"].as_str().unwrap().to_owned()
}

/// Prepares a request with another token.
fn as_other(owner_client: &OwnerClient, bearer: &str, path: &str, body: &Value) -> RequestBuilder {
    owner_client.front.http.post(format!("{}{path}", owner_client.front.url)).bearer_auth(bearer).json(body)
}

/// Waits until a call is executed. If the process died before any approval, it is approved now.
async fn until_executed(owner_client: &OwnerClient, action: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = send(owner_client.request(Method::GET, action)).await.expect(200)["agentAction"].clone();
        match shown["state"].as_str().unwrap() {
            "executed" => return shown,
            "proposed" => {
                send(owner_client.request(Method::POST, &format!("{action}/approve")).json(&json!({})))
                    .await
                    .expect(200);
            }
            state => assert_eq!(state, "approved", "{shown}"),
        }
        retry_until!(until, "the call is never executed: {shown}");
    }
}

database_tests! {
    async fn a_call_that_employees_approve_at_once_survives_a_kill_with_one_effect(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let mut process = environment.serve().await;
        let owner_client = OwnerClient::sign_in(&environment, environment.create_project("owner")).await;
        let approvers = approvers(&environment, &owner_client).await;
        let agent = new_agent(&owner_client).await;
        let mut approved = 0;
        for round in 0..ROUNDS {
            let task = json!({ "title": format!("Task {round}") });
            let proposed = send(as_other(&owner_client, &agent, "/api/tasks", &task)).await.expect(202);
            let action = format!("/api/agent-actions/{}", proposed["agentAction"]["publicId"].as_str().unwrap());
            let approving = approvers.iter().map(|bearer| {
                let request = as_other(&owner_client, bearer, &format!("{action}/approve"), &json!({}));
                tokio::spawn(async move { request.send().await.is_ok_and(|response| response.status() == 200) })
            });
            let approving: Vec<_> = approving.collect();
            // Before the approval, during the execution, or after it.
            TestRng::new(round).rest(4 * round, 8).await;
            process.kill();
            let mut answered = 0;
            for one in approving {
                answered += usize::from(one.await.unwrap());
            }
            assert!(answered <= 1, "{answered} employees have approved the same call");
            approved += answered;
            environment.execute(&TIME_PASSES).await;
            process = environment.serve().await;
            let executed = until_executed(&owner_client, &action).await;
            assert_eq!(executed["status_code"], 201, "{executed}");
            let effects = format!("SELECT count(*) AS id FROM tasks WHERE title = 'Task {round}'");
            assert_eq!(environment.number(&effects).await, 1, "round {round}: {executed}");
            // The agent gets the result, and acts no more.
            let result = send(as_other(&owner_client, &agent, "/api/tasks", &task)).await.expect(201);
            assert_eq!(result["task"]["title"], task["title"]);
            assert_eq!(environment.number(&effects).await, 1);
        }
        println!("{approved} of {ROUNDS} approvals were answered before the kill");
        drop(process);
    }
}
