//! Calls of agents that need the approval of an employee, and the log of the others.

use std::time::Instant;

use futures_util::future::join_all;
use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::keyed::{Second, assert_named, is_replayed, keyed};
use crate::outside::bearer;
use crate::process::PATIENCE;
use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, TestServer, send};

const ACTIONS: &str = "/api/agent-actions";
const POLICY: &str = "/api/agent-policy";
const BRANDS: &str = "/api/brands";
const PASSWORD: &str = "correct horse battery";
const LONG_AGO: &str = "'2026-01-01 00:00:00'";

/// A project with an agent that may edit brands.
struct Supervised {
    fixture: ProjectFixture,
    agent: i64,
    bearer: String,
}

/// Returns rules with one rule for all classes.
fn rules(rule: &str) -> Value {
    json!({
        "write": rule, "money": rule, "destructive": rule, "operations": [], "calls_per_day": null, "money_per_day": null,
    })
}

/// Returns a policy with one rule for all classes.
fn policy(version: i64, rule: &str) -> Value {
    json!({
        "version": version, "refuses_writes": false, "approvals_per_hour": 60, "retention_days": 90,
        "rules": rules(rule), "agents": [],
    })
}

impl Supervised {
    /// Opens a project whose policy demands approval of every write.
    async fn open(db: TestDatabase) -> Self {
        let supervised = Self::without_policy(db).await;
        supervised.set(policy(0, "needs_approval")).await;
        supervised
    }

    async fn without_policy(db: TestDatabase) -> Self {
        Self::of(ProjectFixture::open(db).await).await
    }

    async fn of(fixture: ProjectFixture) -> Self {
        let permissions =
            ["create-brands", "edit-brands", "view-brands", "approve-agent-actions", "edit-agent-actions"];
        let agent = fixture.create("/api/agents", json!({ "name": "Bot", "permissions": permissions })).await;
        let issued = fixture.post(&format!("/api/agents/{agent}/tokens"), json!({ "name": "Token" })).await.expect(201);
        let bearer = issued["access_token"]["value"].as_str().unwrap().to_owned();
        Self { fixture, agent, bearer }
    }

    async fn set(&self, policy: Value) -> Value {
        self.fixture.put(POLICY, policy).await.expect(200)["agentPolicy"].clone()
    }

    fn call(&self, method: Method, path: &str) -> RequestBuilder {
        self.fixture.server.as_staff(&self.bearer, method, path)
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
        self.fixture.post(&format!("{action}/{step}"), json!({})).await
    }

    /// Approves a call and returns it after its execution.
    async fn approved(&self, action: &str) -> Value {
        self.decide(action, "approve").await.expect(200)["agentAction"].clone()
    }

    async fn shown(&self, action: &str) -> Value {
        self.fixture.get(action).await.expect(200)["agentAction"].clone()
    }

    /// Creates an owner with a password.
    async fn admin(&self) {
        self.fixture.server.admin(&self.fixture.project, PASSWORD).await;
    }

    /// Logs that owner in.
    async fn login(&self) -> String {
        let login = json!({ "login": "boss", "password": PASSWORD });
        let sent = self.fixture.server.request(Method::POST, "/api/login").json(&login);
        bearer(&send(sent).await.expect(200)["user"])
    }

    async fn brands(&self) -> i64 {
        self.fixture.server.insert("SELECT COUNT(*) AS id FROM brands".to_owned()).await
    }

    /// Makes every call look as if it was approved and its process had died before it stored the result.
    async fn interrupt(&self) {
        let decided_by = self.fixture.own_number().await;
        let statement = format!(
            "UPDATE agent_actions SET state = 'approved', decided_by = {decided_by}, decided_at = {LONG_AGO}, \
             started_at = {LONG_AGO}, leased_until = {LONG_AGO}, attempts = 1, finished_at = NULL, status_code = NULL, \
             error_code = NULL, result = NULL, reported_at = NULL"
        );
        self.fixture.server.execute(&statement).await;
    }

    /// Returns status and code of the newest calls that waited for no approval.
    async fn log(&self) -> Vec<(String, Value, Value)> {
        let list = self.fixture.get(&format!("{ACTIONS}?needs_approval=false")).await.expect(200);
        let calls = list["agentActions"].as_array().unwrap().clone();
        calls
            .into_iter()
            .map(|call| {
                (call["state"].as_str().unwrap().to_owned(), call["status_code"].clone(), call["error_code"].clone())
            })
            .collect()
    }
}

database_tests! {
    async fn an_approval_executes_the_call_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let proposed = held.brand("Acme").await.expect(202)["agentAction"].clone();
        let action = format!("{ACTIONS}/{}", proposed["publicId"].as_str().unwrap());
        assert_eq!((&proposed["agent_id"], &proposed["operation"]), (&json!(held.agent), &json!("POST /api/brands")));
        assert_eq!((&proposed["class"], &proposed["channel"]), (&json!("write"), &json!("api")));
        assert_eq!(
            proposed["arguments"],
            json!({ "query": "", "body": "{\"name\":\"Acme\"}", "if_match": null, "preview_hash": null })
        );
        assert_eq!(proposed["arguments_hash"].as_str().unwrap().len(), 64);
        // The same call in another spelling is the same proposal.
        let again = held.call(Method::POST, BRANDS).header("Content-Type", "application/json").body("{ \"name\" : \"Acme\" }");
        assert_eq!(send(again).await.expect(202)["agentAction"], proposed);
        let previewed = held.call(Method::POST, BRANDS).header("Preview-Hash", "abc").json(&json!({ "name": "Acme" }));
        let previewed = send(previewed).await.expect(202)["agentAction"].clone();
        assert_eq!(previewed["arguments"]["preview_hash"], "abc");
        assert_ne!(previewed["publicId"], proposed["publicId"]);
        assert_eq!(held.brands().await, 0);

        for step in ["approve", "refuse"] {
            send(held.call(Method::POST, &format!("{action}/{step}")).json(&json!({}))).await.expect(403);
        }
        send(held.call(Method::PUT, POLICY).json(&policy(1, "allowed"))).await.expect(403);
        let approved = held.approved(&action).await;
        assert_eq!((&approved["state"], &approved["status_code"]), (&json!("executed"), &json!(201)));
        assert_eq!(approved["decided_by"], json!(held.fixture.own_number().await));
        assert!(approved["duration_ms"].as_i64().unwrap() >= 0);
        let result: Value = serde_json::from_str(approved["result"].as_str().unwrap()).unwrap();
        assert_eq!((&result["brand"]["name"], held.brands().await), (&json!("Acme"), 1));

        for _ in 0..2 {
            let replayed = held.brand("Acme").await;
            assert_eq!((replayed.expect(201), is_replayed(&replayed)), (result.clone(), true));
        }
        let reported = held.shown(&action).await;
        assert_eq!(reported["state"], "reported");
        assert_ne!(reported["reported_at"], Value::Null);
        for step in ["approve", "refuse"] {
            assert_named(&held.decide(&action, step).await, 409, "agent_call_decided", "restart");
        }
        // A new key is a new call.
        let renewed = keyed(held.call(Method::POST, BRANDS), "second").json(&json!({ "name": "Acme" }));
        send(renewed).await.expect(202);
        assert_eq!(held.brands().await, 1);
    }

    async fn the_agent_reads_its_result(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        let read = async || send(held.call(Method::GET, &action)).await.expect(200)["agentAction"].clone();
        assert_eq!(read().await["state"], "proposed");
        held.approved(&action).await;
        let shown = read().await;
        assert_eq!((&shown["state"], &shown["status_code"]), (&json!("reported"), &json!(201)));
        assert!(shown["result"].as_str().unwrap().contains("Acme"));
        // An approval that is repeated under its key is the same approval.
        let other = held.proposed("Other").await;
        let approve = async || {
            let sent = held.fixture.server.as_staff(&held.fixture.owner, Method::POST, &format!("{other}/approve"));
            send(keyed(sent, "approval").json(&json!({}))).await
        };
        assert_eq!(approve().await.expect(200)["agentAction"]["state"], "executed");
        approve().await.expect(200);
        assert_eq!(held.brands().await, 2);
    }

    async fn without_a_policy_nothing_waits_and_everything_is_logged(db: TestDatabase) {
        let held = Supervised::without_policy(db).await;
        let mut initial = policy(0, "allowed");
        initial["rules"]["write"] = Value::Null;
        initial["rules"]["money"] = Value::Null;
        initial["rules"]["destructive"] = Value::Null;
        assert_eq!(held.fixture.get(POLICY).await.expect(200)["agentPolicy"], initial);
        held.brand("Acme").await.expect(201);
        held.brand("").await.expect(422);
        send(held.call(Method::GET, BRANDS)).await.expect(200);
        assert_eq!(held.log().await, [("failed".to_owned(), json!(422), Value::Null), ("executed".to_owned(), json!(201), Value::Null)]);
        let logged = held.fixture.get(ACTIONS).await.expect(200)["agentActions"][0].clone();
        assert_eq!((&logged["arguments"], &logged["needs_approval"]), (&Value::Null, &json!(false)));
        held.set(policy(0, "forbidden")).await;
        assert_named(&held.brand("Other").await, 403, "agent_call_forbidden", "contact_support");
        assert_eq!(held.log().await[0], ("failed".to_owned(), json!(403), json!("agent_call_forbidden")));
    }

    async fn a_call_that_is_refused_before_the_policy_is_logged(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let entry = |state: &str, status: u16| (state.to_owned(), json!(status), Value::Null);
        send(held.call(Method::POST, "/api/tasks").json(&json!({ "title": "A" }))).await.expect(403);
        let packed = held.call(Method::POST, BRANDS).header("Content-Encoding", "gzip").body("x");
        send(packed).await.expect(415);
        // Reads, and calls with a token that is not valid, are not calls of an agent that changes anything.
        send(held.call(Method::GET, "/api/tasks")).await.expect(403);
        send(held.fixture.server.as_staff("1|wrong", Method::POST, BRANDS).json(&json!({ "name": "A" }))).await.expect(401);
        assert_eq!(held.log().await, [entry("failed", 415), entry("failed", 403)]);
        let shown = held.fixture.get(ACTIONS).await.expect(200)["agentActions"][1].clone();
        assert_eq!((&shown["operation"], &shown["attempts"]), (&json!("POST /api/tasks"), &json!(1)));
        assert_eq!(shown["agent_id"], json!(held.agent));
    }

    async fn a_refused_or_expired_call_does_not_run(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let refused = held.proposed("Refused").await;
        let answer = held.fixture.post(&format!("{refused}/refuse"), json!({ "reason": "Not now" })).await.expect(200);
        assert_eq!((&answer["agentAction"]["state"], &answer["agentAction"]["reason"]), (&json!("refused"), &json!("Not now")));
        assert_named(&held.brand("Refused").await, 409, "agent_call_refused", "contact_support");
        let open = held.proposed("Open").await;
        held.fixture.server.clock.advance(30 * 60);
        assert_eq!(held.shown(&open).await["state"], "expired");
        for step in ["approve", "refuse"] {
            assert_named(&held.decide(&open, step).await, 409, "agent_call_decided", "restart");
        }
        assert_ne!(held.proposed("Open").await, open, "a late call is proposed again");
        held.proposed("Refused").await;
        assert_eq!(held.brands().await, 0);
    }

    async fn a_switch_stops_agents_at_once_on_every_instance(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        let second = Second::start(&held.fixture.server);
        let elsewhere = async || {
            let sent = second.as_staff(&held.fixture.server, &held.bearer, Method::POST, BRANDS);
            send(sent.json(&json!({ "name": "Elsewhere" }))).await
        };
        elsewhere().await.expect(202);
        let mut switch = policy(1, "allowed");
        switch["refuses_writes"] = json!(true);
        assert_eq!(held.set(switch.clone()).await["version"], 2);
        assert_named(&elsewhere().await, 403, "agent_call_forbidden", "contact_support");
        send(held.call(Method::GET, BRANDS)).await.expect(200);
        assert_named(&held.decide(&action, "approve").await, 409, "agent_policy_changed", "restart");
        assert_named(&held.fixture.put(POLICY, switch).await, 409, "agent_policy_changed", "restart");
        // A switch of one operation is stronger than the rules of an agent.
        let mut mixed = policy(2, "allowed");
        mixed["agents"] = json!([{ "agent_id": held.agent, "rules": rules("allowed") }]);
        mixed["rules"]["operations"] = json!([{ "operation": "POST /api/brands", "rule": "forbidden" }]);
        assert_eq!(held.set(mixed.clone()).await["agents"], mixed["agents"]);
        assert_named(&elsewhere().await, 403, "agent_call_forbidden", "contact_support");
        let mut own = policy(3, "forbidden");
        own["agents"] = json!([{ "agent_id": held.agent, "rules": rules("needs_approval") }]);
        held.set(own).await;
        elsewhere().await.expect(202);
        held.fixture.patch(&format!("/api/agents/{}", held.agent), json!({ "is_banned": true })).await.expect(200);
        held.brand("Acme").await.expect(401);
        second.stop().await;
        assert_eq!(held.brands().await, 0);
    }

    async fn the_approval_of_a_revoked_agent_has_no_effect(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let banned = held.proposed("Banned").await;
        held.fixture.patch(&format!("/api/agents/{}", held.agent), json!({ "is_banned": true })).await.expect(200);
        let failed = held.approved(&banned).await;
        assert_eq!((&failed["state"], &failed["status_code"]), (&json!("failed"), &json!(401)));
        assert_eq!(held.brands().await, 0);
    }

    async fn the_approver_needs_the_effect_and_sees_what_it_is(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        let approve = format!("{action}/approve");
        let fixture = &held.fixture;
        for lacking in [vec!["create-brands"], vec!["approve-agent-actions"], vec!["edit-agent-actions", "edit-brands"]] {
            fixture.as_one_who_may(&lacking, Method::POST, &approve, json!({})).await.expect(403);
        }
        let viewed = fixture.as_one_who_may(&["view-agent-actions"], Method::GET, &action, json!({})).await.expect(200);
        assert_eq!(viewed["agentAction"]["arguments"], Value::Null);
        fixture.as_one_who_may(&["approve-agent-actions"], Method::GET, &action, json!({})).await.expect(403);
        for (method, path) in [(Method::GET, action.clone()), (Method::POST, approve.clone()), (Method::POST, format!("{action}/refuse"))] {
            fixture.as_outsider(method, &path, json!({})).await.expect(403);
        }
        fixture.as_one_who_may(&["approve-agent-actions", "create-brands"], Method::POST, &approve, json!({})).await.expect(200);
        held.brand("Acme").await.expect(201);
        for absent in ["00000000-0000-4000-8000-000000000000", "1"] {
            fixture.get(&format!("{ACTIONS}/{absent}")).await.expect(404);
            fixture.post(&format!("{ACTIONS}/{absent}/approve"), json!({})).await.expect(404);
        }
    }

    async fn a_late_session_approves_with_the_password(db: TestDatabase) {
        let held = Supervised::open(db).await;
        held.admin().await;
        let server = &held.fixture.server;
        let action = held.proposed("Acme").await;
        server.clock.advance(1);
        let late = held.login().await;
        let approve = async |body: Value| {
            send(server.as_staff(&late, Method::POST, &format!("{action}/approve")).json(&body)).await
        };
        approve(json!({})).await.expect_invalid(&["password"]);
        approve(json!({ "password": "wrong" })).await.expect_invalid(&["password"]);
        assert_eq!(held.brands().await, 0);
        approve(json!({ "password": PASSWORD })).await.expect(200);
        assert_eq!(held.brands().await, 1);
    }

    async fn guesses_of_the_password_are_limited(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        held.admin().await;
        held.fixture.server.clock.advance(1);
        let late = held.login().await;
        let guess = async || {
            let sent = held.fixture.server.as_staff(&late, Method::POST, &format!("{action}/approve"));
            send(sent.json(&json!({ "password": "guess" }))).await
        };
        for _ in 0..5 {
            guess().await.expect_invalid(&["password"]);
        }
        guess().await.expect(429);
        assert_eq!(held.brands().await, 0);
    }

    async fn an_approval_is_for_the_version_that_was_shown(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let brand = held.fixture.create(BRANDS, json!({ "name": "Acme" })).await;
        let path = format!("{BRANDS}/{brand}");
        let rename = async || send(held.call(Method::PUT, &path).json(&json!({ "name": "Bot" }))).await;
        let action = rename().await.expect(202)["agentAction"].clone();
        assert_eq!(action["arguments"]["if_match"], format!("\"brands-{brand}-1\""));
        let action = format!("{ACTIONS}/{}", action["publicId"].as_str().unwrap());
        held.fixture.put(&path, json!({ "name": "Anna" })).await.expect(200);
        let failed = held.approved(&action).await;
        assert_eq!((&failed["state"], &failed["status_code"]), (&json!("failed"), &json!(412)));
        assert_ne!(failed["error_code"], Value::Null);
        assert_eq!(held.fixture.get(&path).await.expect(200)["brand"]["name"], "Anna");
        // The failure is reported once; then the call is a new one.
        rename().await.expect(412);
        let renewed = rename().await.expect(202)["agentAction"].clone();
        assert_eq!(renewed["arguments"]["if_match"], format!("\"brands-{brand}-2\""));
    }

    async fn a_repetition_finishes_an_interrupted_execution_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        // The process died before the change.
        held.interrupt().await;
        assert_named(&held.decide(&action, "refuse").await, 409, "agent_call_executing", "poll");
        let done = held.brand("Acme").await;
        done.expect(201);
        // The process died after the change. Another one continues.
        held.interrupt().await;
        held.fixture.server.clock.advance(30 * 60);
        let second = Second::start(&held.fixture.server);
        let again = second.as_staff(&held.fixture.server, &held.bearer, Method::POST, BRANDS).json(&json!({ "name": "Acme" }));
        assert_eq!(send(again).await.expect(201), done.json());
        second.stop().await;
        assert_eq!((held.shown(&action).await["state"].clone(), held.brands().await), (json!("reported"), 1));
    }

    async fn the_worker_finishes_an_interrupted_execution_once(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let held = Supervised::of(ProjectFixture { server, project, owner }).await;
        held.set(policy(0, "needs_approval")).await;
        let action = held.proposed("Acme").await;
        // The process died before the change, then after it.
        for _ in 0..2 {
            held.interrupt().await;
            let until = Instant::now() + PATIENCE;
            while held.shown(&action).await["state"] != "executed" {
                retry_until!(until, "the call is never executed");
            }
            assert_eq!(held.brands().await, 1);
        }
    }

    async fn an_interrupted_execution_does_not_begin_after_its_time(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let action = held.proposed("Acme").await;
        held.interrupt().await;
        held.fixture.server.clock.advance(30 * 60);
        assert_named(&held.brand("Acme").await, 409, "agent_call_decided", "restart");
        let failed = held.shown(&action).await;
        assert_eq!((&failed["state"], &failed["error_code"]), (&json!("reported"), &json!("agent_call_decided")));
        assert_eq!(held.brands().await, 0);
        assert_ne!(held.proposed("Acme").await, action);
    }

    async fn racing_decisions_execute_at_most_once(db: TestDatabase) {
        let held = Supervised::open(db).await;
        for round in 0..4 {
            let name = format!("Brand {round}");
            let action = held.proposed(&name).await;
            let (approvals, calls) = tokio::join!(
                join_all((0..3).map(|_| held.decide(&action, "approve"))),
                join_all((0..4).map(|_| held.brand(&name))),
            );
            assert_eq!(approvals.iter().filter(|answer| answer.status == 200).count(), 1, "{approvals:?}");
            assert!(calls.iter().all(|answer| [201, 202, 409].contains(&answer.status.as_u16())), "{calls:?}");
            held.brand(&name).await.expect(201);
            assert_eq!(held.brands().await, round + 1);
        }
        for round in 0..4 {
            let name = format!("Refused {round}");
            let action = held.proposed(&name).await;
            let before = held.brands().await;
            let (approved, refused) = tokio::join!(held.decide(&action, "approve"), held.decide(&action, "refuse"));
            let outcomes = [approved.status.as_u16(), refused.status.as_u16()];
            assert!(outcomes == [200, 409] || outcomes == [409, 200], "{outcomes:?}");
            assert_eq!(held.brands().await - before, i64::from(approved.status == 200));
        }
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
        assert_eq!(held.log().await, [("failed".to_owned(), json!(409), json!("agent_call_limit"))]);
        let page = held.fixture.get(&format!("{ACTIONS}?state=proposed&agent_id={}&per_page=3&page=7", held.agent)).await.expect(200);
        assert_eq!((page["agentActionsCount"].as_i64(), page["agentActions"].as_array().unwrap().len()), (Some(20), 2));
        let count = async |filter: &str| held.fixture.get(&format!("{ACTIONS}?{filter}")).await.expect(200)["agentActionsCount"].clone();
        assert_eq!(count("state=expired").await, 0);
        held.fixture.server.clock.advance(30 * 60);
        assert_eq!((count("state=expired").await, count("needs_approval=true").await), (json!(20), json!(20)));
        assert_eq!(count("agent_id=999999").await, 0);
        held.fixture.get(&format!("{ACTIONS}?state=open&agent_id=x&page=0")).await.expect_invalid(&["agent_id", "page", "state"]);
        held.proposed("One more").await;
    }

    async fn limits_bound_agents_and_approvers(db: TestDatabase) {
        let held = Supervised::without_policy(db).await;
        let mut limited = policy(0, "allowed");
        limited["rules"]["calls_per_day"] = json!(3);
        held.set(limited).await;
        let names = ["A", "B", "C", "D", "E"];
        let calls = join_all(names.iter().map(|name| held.brand(name))).await;
        let refused: Vec<&Answer> = calls.iter().filter(|answer| answer.status != 201).collect();
        assert_eq!(refused.len(), 2, "{calls:?}");
        for refused in refused {
            assert_named(refused, 429, "agent_limit_exceeded", "wait");
        }
        assert_eq!(held.brands().await, 3);
        held.fixture.server.clock.advance(24 * 60 * 60);
        held.brand("Next day").await.expect(201);
        // A repetition is answered, and counts no more.
        for repeats in [false, true, true] {
            let once = keyed(held.call(Method::POST, BRANDS), "once").json(&json!({ "name": "Once" }));
            let answer = send(once).await;
            assert_eq!((answer.status.as_u16(), is_replayed(&answer)), (201, repeats), "{}", answer.text);
        }
        held.brand("Third").await.expect(201);
        assert_named(&held.brand("Fourth").await, 429, "agent_limit_exceeded", "wait");
        held.fixture.server.clock.advance(24 * 60 * 60);
        held.brand("Last day").await.expect(201);

        let mut strict = policy(1, "needs_approval");
        strict["approvals_per_hour"] = json!(1);
        strict["rules"]["calls_per_day"] = json!(2);
        held.set(strict).await;
        let (first, second, third) = (held.proposed("1").await, held.proposed("2").await, held.proposed("3").await);
        assert_eq!(held.approved(&first).await["state"], "executed");
        assert_named(&held.decide(&second, "approve").await, 429, "agent_approval_limit", "wait");
        let mut wide = policy(2, "needs_approval");
        wide["rules"]["calls_per_day"] = json!(2);
        held.set(wide).await;
        assert_named(&held.decide(&third, "approve").await, 409, "agent_policy_changed", "restart");
        // The limit of the agent holds for approved calls, too.
        let fourth = held.proposed("4").await;
        let failed = held.approved(&fourth).await;
        assert_eq!((&failed["status_code"], &failed["error_code"]), (&json!(429), &json!("agent_limit_exceeded")));
    }

    async fn an_interrupted_execution_counts_once(db: TestDatabase) {
        let held = Supervised::without_policy(db).await;
        let mut limited = policy(0, "needs_approval");
        limited["rules"]["calls_per_day"] = json!(2);
        held.set(limited).await;
        held.proposed("1").await;
        // The process died before the count, then after the change.
        for _ in 0..2 {
            held.interrupt().await;
            held.brand("1").await.expect(201);
        }
        let (second, third) = (held.proposed("2").await, held.proposed("3").await);
        assert_eq!(held.approved(&second).await["state"], "executed");
        let failed = held.approved(&third).await;
        assert_eq!((&failed["status_code"], &failed["error_code"]), (&json!(429), &json!("agent_limit_exceeded")));
        assert_eq!(held.brands().await, 2);
    }

    async fn calls_that_cannot_wait_are_refused(db: TestDatabase) {
        let held = Supervised::open(db).await;
        let long = "x".repeat(70_000);
        held.brand(&long).await.expect(413);
        let broken = held.call(Method::POST, BRANDS).header("Content-Type", "application/json").body("{");
        send(broken).await.expect(400);
        send(keyed(held.call(Method::POST, BRANDS), "a b").json(&json!({ "name": "A" }))).await.expect(400);
        assert_eq!(held.log().await.len(), 3);
        let mut wrong = policy(1, "maybe");
        wrong["agents"] = json!([{ "agent_id": "x", "rules": rules("allowed") }]);
        held.fixture.put(POLICY, wrong).await
            .expect_invalid(&["agents.0.agent_id", "rules.destructive", "rules.money", "rules.write"]);
        held.fixture.put(POLICY, json!({})).await.expect_invalid(&["agents", "approvals_per_hour", "refuses_writes", "retention_days", "rules", "version"]);
        let mut unknown = policy(1, "allowed");
        unknown["retention_days"] = json!(0);
        unknown["rules"]["calls_per_day"] = json!(-1);
        unknown["rules"]["operations"] = json!([{ "operation": "POST /api/moons", "rule": "allowed" }]);
        held.fixture.put(POLICY, unknown).await
            .expect_invalid(&["retention_days", "rules.calls_per_day", "rules.operations.0.operation"]);
        let own = json!({ "agent_id": held.agent, "rules": rules("allowed") });
        let mut twice = policy(1, "allowed");
        twice["agents"] = json!([own, own]);
        held.fixture.put(POLICY, twice).await.expect_invalid(&["agents.1.agent_id"]);
        let mut foreign = policy(1, "allowed");
        foreign["agents"] = json!([{ "agent_id": held.fixture.own_number().await, "rules": rules("allowed") }]);
        held.fixture.put(POLICY, foreign).await.expect_invalid(&["agents"]);
        assert_eq!(held.brands().await, 0);
    }
}
