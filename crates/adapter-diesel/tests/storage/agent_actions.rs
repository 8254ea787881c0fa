//! Calls of agents that need approval, and the policies that demand it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_auth::model::{
    AGENT_ACTION_LEASE, AGENT_ACTION_LIFETIME, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter,
    AgentActionState, AgentCall, AgentOutcome, AgentPolicy, AgentRule, AgentRules, MAX_OPEN_AGENT_ACTIONS,
    NewAgentAction, Reason, ToolClass,
};
use kontor_auth::ports::AgentActionRepository;
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{PageRequest, ProjectId, TokenId, UserId};
use uuid::Uuid;

use crate::agents::{made, office};
use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn seconds(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

/// A project with an employee and an agent.
#[derive(Clone, Copy)]
struct Desk {
    project: ProjectId,
    boss: UserId,
    agent: UserId,
}

impl Desk {
    async fn of(db: &TestDatabase) -> Self {
        let (project, boss) = office(db).await;
        let agent = made(db, (project, boss), &format!("bot-{project}"), &[]).await.id;
        Self { project, boss, agent }
    }

    fn call(&self, id: u128, hash: &str) -> NewAgentAction {
        let call = AgentCall {
            method: "POST".to_owned(),
            tool: "/api/brands".to_owned(),
            path: "/api/brands".to_owned(),
            query: "a=1".to_owned(),
            body: Some(serde_json::json!({ "b": 1, "a": [null, "\u{0}"] })),
            key: Some("key".to_owned()),
            if_match: Some("\"brands-7-1\"".to_owned()),
        };
        NewAgentAction {
            public_id: Uuid::from_u128(id),
            project_id: self.project,
            agent_id: self.agent,
            token_id: TokenId::new(5).unwrap(),
            call,
            class: ToolClass::Money,
            arguments_hash: hash.to_owned(),
            policy_version: 3,
            proposed_at: START,
            expires_at: START + AGENT_ACTION_LIFETIME,
        }
    }

    fn decision(&self, at: DateTime<Utc>) -> AgentActionDecision {
        AgentActionDecision { by: self.boss, at, reason: None }
    }
}

async fn found(db: &TestDatabase, desk: Desk, id: u128) -> AgentAction {
    let found = AgentActionRepository::find(&db.database, Uuid::from_u128(id)).await.unwrap();
    found.unwrap().within(desk.project).unwrap()
}

fn refused_in<T: std::fmt::Debug>(result: Result<T, AgentActionError>) -> AgentActionState {
    match result {
        Err(AgentActionError::Refused(AgentActionRefusal::State(state))) => state,
        other => panic!("{other:?}"),
    }
}

database_tests! {
    async fn a_call_is_stored_as_it_was_proposed(db: TestDatabase) {
        let desk = Desk::of(&db).await;
        let new = desk.call(1, "hash");
        let stored = db.database.propose(new.clone()).await.unwrap();
        assert_eq!((&stored.proposal, stored.stored), (&new, AgentActionState::Proposed));
        assert_eq!(found(&db, desk, 1).await, stored);
        assert_eq!(db.database.latest(new.token_id, "hash".to_owned()).await.unwrap(), Some(stored.clone()));
        assert_eq!(db.database.latest(TokenId::new(6).unwrap(), "hash".to_owned()).await.unwrap(), None);
        let same = db.database.propose(desk.call(2, "hash")).await.unwrap();
        assert_eq!(same, stored, "an equal open call is not stored again");

        let id = Uuid::from_u128(1);
        let approved = db.database.decide(id, AgentActionEvent::Approve, desk.decision(seconds(1))).await.unwrap();
        assert_eq!((approved.stored, approved.decision.clone()), (AgentActionState::Approved, Some(desk.decision(seconds(1)))));
        let running = db.database.start(id, seconds(2)).await.unwrap();
        assert_eq!(running.execution.unwrap().leased_until, seconds(2) + AGENT_ACTION_LEASE);
        assert_eq!(refused_in(db.database.start(id, seconds(3)).await), AgentActionState::Executing);
        db.database.finish(id, AgentOutcome::Unknown, seconds(4)).await.unwrap();
        let again = db.database.start(id, seconds(5)).await.unwrap();
        assert_eq!(again.execution.unwrap().started_at, seconds(2));
        db.database.finish(id, AgentOutcome::Succeeded(201), seconds(6)).await.unwrap();
        db.database.finish(id, AgentOutcome::Failed(422), seconds(7)).await.unwrap();
        let done = found(&db, desk, 1).await;
        assert_eq!((done.stored, done.execution.unwrap().finished), (AgentActionState::Executed, Some((seconds(6), 201))));
    }

    async fn racing_moves_execute_at_most_once(db: TestDatabase) {
        let desk = Desk::of(&db).await;
        let end = START + AGENT_ACTION_LIFETIME;
        for round in 1..=6 {
            let id = Uuid::from_u128(round);
            db.database.propose(desk.call(round, &format!("hash {round}"))).await.unwrap();
            let database = Arc::new(db.database.clone());
            let moves = (0..12).map(|index| {
                let database = Arc::clone(&database);
                // Some decisions arrive at the end of the period; no start does.
                let at = if index % 5 == 4 { end } else { seconds(1) };
                tokio::spawn(async move {
                    match index % 4 {
                        0 | 1 => {
                            let event =
                                if index % 4 == 0 { AgentActionEvent::Refuse } else { AgentActionEvent::Approve };
                            // Both outcomes are right, depending on the order.
                            drop(database.decide(id, event, desk.decision(at)).await);
                            false
                        }
                        _ => database.start(id, at).await.is_ok(),
                    }
                })
            });
            let mut started = 0;
            for one in moves.collect::<Vec<_>>() {
                started += usize::from(one.await.unwrap());
            }
            let left = found(&db, desk, round).await;
            assert!(started <= 1, "{started}");
            assert_eq!(started == 1, left.execution.is_some());
            assert_eq!(started == 1, left.stored == AgentActionState::Executing);
        }
    }

    async fn time_and_decisions_are_final(db: TestDatabase) {
        let desk = Desk::of(&db).await;
        let end = START + AGENT_ACTION_LIFETIME;
        for id in 1..=3 {
            db.database.propose(desk.call(id, &format!("hash {id}"))).await.unwrap();
        }
        let decide = async |id, event, at| db.database.decide(Uuid::from_u128(id), event, desk.decision(at)).await;
        assert_eq!(refused_in(decide(1, AgentActionEvent::Approve, end).await), AgentActionState::Expired);
        decide(2, AgentActionEvent::Approve, seconds(1)).await.unwrap();
        assert_eq!(refused_in(db.database.start(Uuid::from_u128(2), end).await), AgentActionState::Expired);
        let reason = Some(Reason::parse("no").unwrap());
        let refusal = AgentActionDecision { reason, ..desk.decision(seconds(1)) };
        db.database.decide(Uuid::from_u128(3), AgentActionEvent::Refuse, refusal.clone()).await.unwrap();
        assert_eq!(found(&db, desk, 3).await.decision, Some(refusal));
        assert_eq!(refused_in(decide(3, AgentActionEvent::Approve, seconds(2)).await), AgentActionState::Refused);
        let absent = decide(9, AgentActionEvent::Approve, seconds(2)).await;
        assert!(matches!(absent, Err(AgentActionError::NotFound)));

        let page = PageRequest::new(1, 15, 100).unwrap();
        let count = async |state, at| {
            let filter = AgentActionFilter { state, agent: Some(desk.agent) };
            db.database.list(desk.project, filter, at, page).await.unwrap().total
        };
        assert_eq!(count(None, seconds(1)).await, 3);
        let [proposed, expired] = [AgentActionState::Proposed, AgentActionState::Expired].map(Some);
        assert_eq!((count(proposed, seconds(1)).await, count(expired, seconds(1)).await), (1, 0));
        assert_eq!((count(proposed, end).await, count(expired, end).await), (0, 2));
        let other = Desk::of(&db).await;
        let filter = AgentActionFilter::default();
        assert_eq!(db.database.list(other.project, filter, end, page).await.unwrap().total, 0);

        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "agent_actions").unwrap();
        let days = TimeDelta::days(30);
        assert_eq!(db.database.sweep(swept, end + days - TimeDelta::seconds(1), days).await.unwrap(), 0);
        assert_eq!(db.database.sweep(swept, end + days, days).await.unwrap(), 3);
    }

    async fn open_calls_of_an_agent_are_limited(db: TestDatabase) {
        let desk = Desk::of(&db).await;
        let most = u128::try_from(MAX_OPEN_AGENT_ACTIONS).unwrap();
        for id in 1..=most {
            db.database.propose(desk.call(id, &format!("hash {id}"))).await.unwrap();
        }
        let one_more = || desk.call(most + 1, "one more");
        let refused = db.database.propose(one_more()).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::TooMany))));
        let refusal = desk.decision(seconds(1));
        db.database.decide(Uuid::from_u128(1), AgentActionEvent::Refuse, refusal).await.unwrap();
        db.database.propose(one_more()).await.unwrap();
        let other = Desk::of(&db).await;
        let elsewhere = NewAgentAction { token_id: TokenId::new(6).unwrap(), ..other.call(99, "hash 1") };
        assert_eq!(db.database.propose(elsewhere).await.unwrap().proposal.agent_id, other.agent);
    }

    async fn a_policy_is_changed_from_its_version(db: TestDatabase) {
        let desk = Desk::of(&db).await;
        let policy = async || db.database.policy(desk.project).await.unwrap();
        assert_eq!(policy().await, AgentPolicy::default());
        let rules = AgentRules { money: AgentRule::NeedsApproval, ..AgentRules::default() };
        let strict = AgentRules { write: AgentRule::Forbidden, ..rules };
        let new = AgentPolicy { rules, agents: [(desk.agent, strict)].into(), ..AgentPolicy::default() };
        let set = async |policy: AgentPolicy| db.database.set_policy(desk.project, policy, desk.boss, START).await;
        let stored = set(new.clone()).await.unwrap();
        assert_eq!((stored.version, policy().await), (1, stored.clone()));
        for stale in [new.clone(), AgentPolicy { version: 7, ..new.clone() }, AgentPolicy { version: -1, ..new.clone() }] {
            let refused = set(stale).await;
            assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::Stale))));
        }
        let stopped = AgentPolicy { refuses_writes: true, version: 1, ..new };
        assert_eq!(set(stopped.clone()).await.unwrap(), AgentPolicy { version: 2, ..stopped.clone() });
        let foreign = AgentPolicy { version: 2, agents: [(desk.boss, rules)].into(), ..stopped };
        let refused = set(foreign).await;
        let unknown = AgentActionRefusal::UnknownAgents(vec![desk.boss.get()]);
        assert!(matches!(refused, Err(AgentActionError::Refused(refusal)) if refusal == unknown));
        fixtures::run(&db, "UPDATE agent_policies SET rules = '{\"project\": {\"write\": \"maybe\"}}'".to_owned()).await;
        assert!(db.database.policy(desk.project).await.is_err(), "an unknown rule allows nothing");
    }
}
