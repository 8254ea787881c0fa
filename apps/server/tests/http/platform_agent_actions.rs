//! Calls of agents that need the approval of an employee.

use std::sync::Arc;

use futures_util::future::join_all;
use kontor::adapters::{Argon2Passwords, SystemRandom};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::StaffRegistry;
use kontor_auth::model::{Login, NewPassword};
use kontor_kernel::{BranchId, Email, ProjectId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::keyed::{Second, assert_named, is_replayed, keyed};
use crate::office::Office;
use crate::outside::bearer;
use crate::support::{Answer, send};

const ACTIONS: &str = "/api/agent-actions";
const POLICY: &str = "/api/agent-policy";
const BRANDS: &str = "/api/brands";
const PASSWORD: &str = "correct horse battery";

/// A project with an agent that may edit brands.
struct Supervised {
    office: Office,
    agent: i64,
    bearer: String,
}

/// Returns a policy with one rule for all classes.
fn policy(version: i64, rule: &str) -> Value {
    json!({
        "version": version, "refuses_writes": false, "write": rule, "money": rule, "destructive": rule, "agents": [],
    })
}

impl Supervised {
    /// Opens a project whose policy demands approval of every write.
    async fn open(db: TestDatabase) -> Self {
        let supervised = Self::without_policy(db).await;
        supervised.office.put(POLICY, policy(0, "needs_approval")).await.expect(200);
        supervised
    }

    async fn without_policy(db: TestDatabase) -> Self {
        let office = Office::open(db).await;
        let permissions = ["create-brands", "edit-brands", "view-brands", "approve-agent-actions", "edit-agent-actions"];
        let agent = office.create("/api/agents", json!({ "name": "Bot", "permissions": permissions })).await;
        let issued = office.post(&format!("/api/agents/{agent}/tokens"), json!({ "name": "Token" })).await.expect(201);
        let bearer = issued["access_token"]["value"].as_str().unwrap().to_owned();
        Self { office, agent, bearer }
    }

    fn call(&self, method: Method, path: &str) -> RequestBuilder {
        self.office.server.as_staff(&self.bearer, method, path)
    }

    /// Sends a new brand as the agent.
    async fn brand(&self, name: &str) -> Answer {
        send(self.call(Method::POST, BRANDS).json(&json!({ "name": name }))).await
    }

    /// Proposes a brand, and returns the path of the call.
    async fn proposed(&self, name: &str) -> String {
        let action = self.brand(name).await.expect(202)["agentAction"].clone();
        assert_eq!(action["state"], "proposed");
        format!("{ACTIONS}/{}", action["publicId"].as_str().unwrap())
    }

    async fn decide(&self, action: &str, step: &str) -> Answer {
        self.office.post(&format!("{action}/{step}"), json!({})).await
    }

    async fn state(&self, action: &str) -> String {
        let shown = self.office.get(action).await.expect(200);
        shown["agentAction"]["state"].as_str().unwrap().to_owned()
    }

    async fn brands(&self) -> i64 {
        self.office.server.insert("SELECT COUNT(*) AS id FROM brands".to_owned()).await
    }

    /// Makes every execution look as if its process had died before it stored the outcome.
    async fn interrupt(&self) {
        let long_ago = "'2026-01-01 00:00:00'";
        let statement = format!(
            "UPDATE agent_actions SET state = 'executing', started_at = {long_ago}, leased_until = {long_ago}, \
             finished_at = NULL, status_code = NULL"
        );
        self.office.server.execute(&statement).await;
    }
}

database_tests! {
    async fn a_call_waits_for_an_employee_and_runs_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let proposed = held.brand("Acme").await.expect(202)["agentAction"].clone();
        let action = format!("{ACTIONS}/{}", proposed["publicId"].as_str().unwrap());
        assert_eq!((&proposed["agent_id"], &proposed["operation"]), (&json!(held.agent), &json!("POST /api/brands")));
        assert_eq!((&proposed["class"], &proposed["path"]), (&json!("write"), &json!(BRANDS)));
        assert_eq!(proposed["arguments"], json!({ "query": "", "body": "{\"name\":\"Acme\"}", "if_match": null }));
        assert_eq!(proposed["arguments_hash"].as_str().unwrap().len(), 64);
        // The same call in another spelling is the same proposal.
        let again = held.call(Method::POST, BRANDS).header("Content-Type", "application/json").body("{ \"name\" : \"Acme\" }");
        assert_eq!(send(again).await.expect(202)["agentAction"], proposed);
        assert_eq!(held.brands().await, 0);

        for step in ["approve", "refuse"] {
            send(held.call(Method::POST, &format!("{action}/{step}")).json(&json!({}))).await.expect(403);
        }
        send(held.call(Method::PUT, POLICY).json(&policy(1, "allowed"))).await.expect(403);
        let approved = held.decide(&action, "approve").await.expect(200)["agentAction"].clone();
        assert_eq!((&approved["state"], &approved["decided_by"]), (&json!("approved"), &json!(held.office.own_number().await)));
        assert_eq!(held.brands().await, 0, "the agent executes the call");

        let other = held.brand("Other").await.expect(202)["agentAction"].clone();
        assert_ne!(other["publicId"], proposed["publicId"], "an approval is for these arguments");
        let done = held.brand("Acme").await;
        assert_eq!(done.expect(201)["brand"]["name"], "Acme");
        assert!(!is_replayed(&done));
        let replayed = held.brand("Acme").await;
        assert_eq!((replayed.expect(201), is_replayed(&replayed)), (done.json(), true));
        assert_eq!(held.brands().await, 1);

        let shown = send(held.call(Method::GET, &action)).await.expect(200)["agentAction"].clone();
        assert_eq!((&shown["state"], &shown["status_code"]), (&json!("executed"), &json!(201)));
        assert!(shown["duration_ms"].as_i64().unwrap() >= 0);
        assert_eq!(assert_named(&held.decide(&action, "refuse").await, 409, "agent_call_decided", "restart")["message"], "The call is already executed.");
        assert_eq!(assert_named(&held.decide(&action, "approve").await, 409, "agent_call_decided", "restart")["message"], "The call is already executed.");
        // A new key is a new call.
        let anew = keyed(held.call(Method::POST, BRANDS), "second").json(&json!({ "name": "Acme" }));
        send(anew).await.expect(202);
    }

    async fn without_a_policy_nothing_waits(db: TestDatabase) {
        let held = Supervised::without_policy(db).await;
        let shown = held.office.get(POLICY).await.expect(200)["agentPolicy"].clone();
        assert_eq!(shown, policy(0, "allowed"));
        held.brand("Acme").await.expect(201);
        send(held.call(Method::PUT, POLICY).json(&policy(0, "allowed"))).await.expect(403);
        assert_eq!(held.office.get(ACTIONS).await.expect(200)["agentActionsCount"], 0);
    }

    async fn a_refused_expired_or_withdrawn_call_does_not_run(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let refused = held.proposed("Refused").await;
        let answer = held.office.post(&format!("{refused}/refuse"), json!({ "reason": "Not now" })).await.expect(200);
        assert_eq!((&answer["agentAction"]["state"], &answer["agentAction"]["reason"]), (&json!("refused"), &json!("Not now")));
        let withdrawn = held.proposed("Withdrawn").await;
        held.decide(&withdrawn, "approve").await.expect(200);
        held.decide(&withdrawn, "refuse").await.expect(200);
        for name in ["Refused", "Withdrawn"] {
            assert_named(&held.brand(name).await, 409, "agent_call_refused", "contact_support");
        }
        let (open, approved) = (held.proposed("Open").await, held.proposed("Approved").await);
        held.decide(&approved, "approve").await.expect(200);
        held.office.server.clock.advance(30 * 60);
        for action in [&open, &approved] {
            assert_eq!(held.state(action).await, "expired");
            for step in ["approve", "refuse"] {
                assert_named(&held.decide(action, step).await, 409, "agent_call_decided", "restart");
            }
        }
        assert_ne!(held.proposed("Approved").await, approved, "a late call is proposed again");
        held.proposed("Refused").await;
        assert_eq!(held.brands().await, 0);
    }

    async fn a_policy_stops_agents_at_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        let approved = held.proposed("Approved").await;
        held.decide(&approved, "approve").await.expect(200);
        let stopped = json!({ "refuses_writes": true });
        let mut switch = policy(1, "allowed");
        switch.as_object_mut().unwrap().extend(stopped.as_object().unwrap().clone());
        assert_eq!(held.office.put(POLICY, switch.clone()).await.expect(200)["agentPolicy"]["version"], 2);
        assert_named(&held.brand("Approved").await, 403, "agent_call_forbidden", "contact_support");
        send(held.call(Method::GET, "/api/brands")).await.expect(200);
        assert_named(&held.decide(&action, "approve").await, 409, "agent_policy_changed", "restart");
        assert_named(&held.office.put(POLICY, switch).await, 409, "agent_policy_changed", "restart");
        // Other rules for one agent.
        let mut mixed = policy(2, "forbidden");
        mixed["agents"] = json!([{ "agent_id": held.agent, "write": "needs_approval", "money": "allowed", "destructive": "forbidden" }]);
        assert_eq!(held.office.put(POLICY, mixed.clone()).await.expect(200)["agentPolicy"]["agents"], mixed["agents"]);
        assert_ne!(held.proposed("Approved").await, approved, "the policy is part of the call");
        assert_eq!(held.brands().await, 0);
        held.office.patch(&format!("/api/agents/{}", held.agent), json!({ "is_banned": true })).await.expect(200);
        held.brand("Approved").await.expect(401);
    }

    async fn the_approver_needs_the_effect_and_sees_what_it_is(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        let approve = format!("{action}/approve");
        let office = &held.office;
        for lacking in [vec!["create-brands"], vec!["approve-agent-actions"], vec!["edit-agent-actions", "edit-brands"]] {
            office.as_one_who_may(&lacking, Method::POST, &approve, json!({})).await.expect(403);
        }
        let viewed = office.as_one_who_may(&["view-agent-actions"], Method::GET, &action, json!({})).await.expect(200);
        assert_eq!(viewed["agentAction"]["arguments"], Value::Null);
        office.as_one_who_may(&["approve-agent-actions"], Method::GET, &action, json!({})).await.expect(403);
        for (method, path) in [(Method::GET, action.clone()), (Method::POST, approve.clone()), (Method::POST, format!("{action}/refuse"))] {
            office.as_stranger(method, &path, json!({})).await.expect(403);
        }
        office.as_one_who_may(&["approve-agent-actions", "create-brands"], Method::POST, &approve, json!({})).await.expect(200);
        held.brand("Acme").await.expect(201);
        for absent in ["00000000-0000-4000-8000-000000000000", "1"] {
            office.get(&format!("{ACTIONS}/{absent}")).await.expect(404);
            office.post(&format!("{ACTIONS}/{absent}/approve"), json!({})).await.expect(404);
        }
    }

    async fn a_late_session_approves_with_the_password(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let (server, project) = (&held.office.server, &held.office.project);
        let hasher = Arc::new(Argon2Passwords::new(Arc::new(SystemRandom::new())).unwrap());
        let (staff, clock) = (Arc::new(server.db.database.clone()), server.clock.clone());
        StaffRegistry { staff, hasher, clock }
            .create_owner(
                ProjectId::new(project.id).unwrap(),
                Login::parse("Boss").unwrap(),
                Email::parse("boss@example.com").unwrap(),
                &NewPassword::parse(PASSWORD).unwrap(),
                Some(BranchId::new(project.branch_id).unwrap()),
            )
            .await
            .unwrap();
        let action = held.proposed("Acme").await;
        server.clock.advance(1);
        let login = json!({ "login": "boss", "password": PASSWORD });
        let late = bearer(&send(server.request(Method::POST, "/api/login").json(&login)).await.expect(200)["user"]);
        let approve = async |body: Value| {
            send(server.as_staff(&late, Method::POST, &format!("{action}/approve")).json(&body)).await
        };
        approve(json!({})).await.expect_invalid(&["password"]);
        approve(json!({ "password": "wrong" })).await.expect_invalid(&["password"]);
        approve(json!({ "password": PASSWORD })).await.expect(200);
        held.brand("Acme").await.expect(201);
    }

    async fn an_approval_is_for_the_version_that_was_shown(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let brand = held.office.create(BRANDS, json!({ "name": "Acme" })).await;
        let path = format!("{BRANDS}/{brand}");
        let rename = async || send(held.call(Method::PUT, &path).json(&json!({ "name": "Bot" }))).await;
        let action = rename().await.expect(202)["agentAction"].clone();
        assert_eq!(action["arguments"]["if_match"], format!("\"brands-{brand}-1\""));
        let action = format!("{ACTIONS}/{}", action["publicId"].as_str().unwrap());
        held.decide(&action, "approve").await.expect(200);
        held.office.put(&path, json!({ "name": "Anna" })).await.expect(200);
        rename().await.expect(412);
        assert_eq!(held.office.get(&path).await.expect(200)["brand"]["name"], "Anna");
        assert_eq!(held.state(&action).await, "failed");
        let anew = rename().await.expect(202)["agentAction"].clone();
        assert_eq!(anew["arguments"]["if_match"], format!("\"brands-{brand}-2\""));
    }

    async fn an_interrupted_execution_is_finished_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        held.decide(&action, "approve").await.expect(200);
        // The process died before the change.
        held.interrupt().await;
        assert_named(&held.decide(&action, "refuse").await, 409, "agent_call_executing", "poll");
        let done = held.brand("Acme").await;
        done.expect(201);
        assert_eq!(held.state(&action).await, "executed");
        // The process died after the change. Another one continues.
        held.interrupt().await;
        let second = Second::start(&held.office.server);
        let again = second.as_staff(&held.office.server, &held.bearer, Method::POST, BRANDS).json(&json!({ "name": "Acme" }));
        held.office.server.clock.advance(30 * 60);
        assert_eq!(send(again).await.expect(201), done.json());
        second.stop().await;
        assert_eq!((held.state(&action).await.as_str(), held.brands().await), ("executed", 1));
    }

    async fn an_interrupted_execution_does_not_outlive_its_approval(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        held.decide(&action, "approve").await.expect(200);
        held.interrupt().await;
        held.office.server.clock.advance(30 * 60);
        assert_eq!(held.state(&action).await, "executing");
        assert_named(&held.brand("Acme").await, 409, "agent_call_decided", "restart");
        assert_eq!((held.state(&action).await.as_str(), held.brands().await), ("failed", 0));
        assert_ne!(held.proposed("Acme").await, action);
    }

    async fn racing_decisions_and_calls_execute_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        for round in 0..4 {
            let name = format!("Brand {round}");
            let action = held.proposed(&name).await;
            let approvals = join_all((0..2).map(|_| held.decide(&action, "approve"))).await;
            let won = approvals.iter().filter(|answer| answer.status == 200).count();
            assert_eq!(won, 1, "{approvals:?}");
            let calls = join_all((0..8).map(|_| held.brand(&name))).await;
            assert!(calls.iter().all(|answer| [201, 409].contains(&answer.status.as_u16())), "{calls:?}");
            assert!(calls.iter().any(|answer| answer.status == 201));
            assert!(is_replayed(&held.brand(&name).await));
            assert_eq!(held.brands().await, round + 1);
        }
        for round in 0..4 {
            let name = format!("Refused {round}");
            let action = held.proposed(&name).await;
            let (approved, refused) = tokio::join!(held.decide(&action, "approve"), held.decide(&action, "refuse"));
            assert_eq!(refused.status, 200);
            assert!([200, 409].contains(&approved.status.as_u16()));
            assert_named(&held.brand(&name).await, 409, "agent_call_refused", "contact_support");
        }
        assert_eq!(held.brands().await, 4);
    }

    async fn equal_calls_make_one_proposal_and_there_are_not_too_many(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let calls = join_all((0..6).map(|_| held.brand("Acme"))).await;
        let ids: Vec<Value> = calls.iter().map(|answer| answer.expect(202)["agentAction"]["publicId"].clone()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        for index in 1..20 {
            held.proposed(&format!("Brand {index}")).await;
        }
        assert_named(&held.brand("One more").await, 409, "agent_call_limit", "wait");
        let page = held.office.get(&format!("{ACTIONS}?state=proposed&agent_id={}&per_page=3&page=7", held.agent)).await.expect(200);
        assert_eq!((page["agentActionsCount"].as_i64(), page["agentActions"].as_array().unwrap().len()), (Some(20), 2));
        assert_eq!(held.office.get(&format!("{ACTIONS}?state=expired")).await.expect(200)["agentActionsCount"], 0);
        held.office.server.clock.advance(30 * 60);
        assert_eq!(held.office.get(&format!("{ACTIONS}?state=expired")).await.expect(200)["agentActionsCount"], 20);
        assert_eq!(held.office.get(&format!("{ACTIONS}?agent_id=999999")).await.expect(200)["agentActionsCount"], 0);
        held.office.get(&format!("{ACTIONS}?state=open&agent_id=x&page=0")).await.expect_invalid(&["agent_id", "page", "state"]);
        held.proposed("One more").await;
    }

    async fn what_cannot_wait_is_refused(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let long = "x".repeat(70_000);
        held.brand(&long).await.expect(413);
        let broken = held.call(Method::POST, BRANDS).header("Content-Type", "application/json").body("{");
        send(broken).await.expect(400);
        send(keyed(held.call(Method::POST, BRANDS), "a b").json(&json!({ "name": "A" }))).await.expect(400);
        // Calls that change nothing do not wait.
        send(held.call(Method::POST, "/api/search_bank").json(&json!({}))).await.expect(422);
        let mut wrong = policy(1, "maybe");
        wrong["agents"] = json!([{ "agent_id": "x", "write": "allowed", "money": 1, "destructive": "allowed" }]);
        held.office.put(POLICY, wrong).await.expect_invalid(&["agents.0.agent_id", "agents.0.money", "destructive", "money", "write"]);
        held.office.put(POLICY, json!({})).await
            .expect_invalid(&["agents", "destructive", "money", "refuses_writes", "version", "write"]);
        let rules = json!({ "agent_id": held.agent, "write": "allowed", "money": "allowed", "destructive": "allowed" });
        let mut twice = policy(1, "allowed");
        twice["agents"] = json!([rules, rules]);
        held.office.put(POLICY, twice).await.expect_invalid(&["agents.1.agent_id"]);
        let mut foreign = policy(1, "allowed");
        foreign["agents"] = json!([{ "agent_id": held.office.own_number().await, "write": "allowed", "money": "allowed", "destructive": "allowed" }]);
        held.office.put(POLICY, foreign).await.expect_invalid(&["agents"]);
        assert_eq!(held.brands().await, 0);
    }
}
