//! Calls of agents that need approval, and the policies that demand it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_auth::model::{
    AGENT_ACTION_LEASE, AGENT_ACTION_LIFETIME, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter,
    AgentActionState, AgentCall, AgentExecution, AgentLimits, AgentPolicy, AgentResult, AgentRule, AgentRules, Channel,
    NewAgentAction, Reason, ToolClass,
};
use kontor_auth::ports::AgentActionRepository;
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{PageRequest, ProjectId, TokenId, UserId};
use uuid::Uuid;

use crate::agents::{made, staff_fixture};
use crate::fixtures;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn seconds(seconds: i64) -> DateTime<Utc> {
    START + TimeDelta::seconds(seconds)
}

/// A project with an employee and an agent.
#[derive(Clone, Copy)]
pub struct AgentFixture {
    pub project: ProjectId,
    pub admin: UserId,
    pub agent: UserId,
}

impl AgentFixture {
    pub async fn of(db: &TestDatabase) -> Self {
        let (project, admin) = staff_fixture(db).await;
        let agent = made(db, (project, admin), &format!("bot-{project}"), &[]).await.id;
        Self { project, admin, agent }
    }

    pub fn call(&self, id: u128, hash: &str) -> NewAgentAction {
        let call = AgentCall {
            method: "POST".to_owned(),
            tool: "/api/brands".to_owned(),
            path: "/api/brands".to_owned(),
            query: "a=1".to_owned(),
            body: Some(serde_json::json!({ "b": 1, "a": [null, "\u{0}"] })),
            sent_key: Some("key".to_owned()),
            if_match: Some("\"brands-7-1\"".to_owned()),
            preview_hash: Some("abc".to_owned()),
        };
        NewAgentAction {
            public_id: Uuid::from_u128(id),
            project_id: self.project,
            agent_id: self.agent,
            token_id: TokenId::new(5).unwrap(),
            channel: Channel::Mcp,
            call,
            class: ToolClass::Money,
            arguments_hash: hash.to_owned(),
            policy_version: 0,
            needs_approval: true,
            proposed_at: START,
            expires_at: START + AGENT_ACTION_LIFETIME,
            keep_until: START + TimeDelta::days(90),
        }
    }

    fn decision(&self, at: DateTime<Utc>) -> AgentActionDecision {
        AgentActionDecision { by: self.admin, at, reason: None }
    }
}

pub async fn found(db: &TestDatabase, fixture: AgentFixture, id: u128) -> AgentAction {
    let found = AgentActionRepository::find(&db.database, Uuid::from_u128(id)).await.unwrap();
    found.unwrap().within(fixture.project).unwrap()
}

fn refused_in<T: std::fmt::Debug>(result: Result<T, AgentActionError>) -> AgentActionState {
    match result {
        Err(AgentActionError::Refused(AgentActionRefusal::State(state))) => state,
        other => panic!("{other:?}"),
    }
}

/// Most approvals of an employee per hour in tests of something else.
const MANY: i64 = 1_000;

fn result(status: u16) -> AgentResult {
    AgentResult { status, code: Some("code".to_owned()), body: Some("{}".to_owned()) }
}

database_tests! {
    async fn a_call_is_stored_as_it_was_proposed(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let new = fixture.call(1, "hash");
        let stored = db.database.propose(new.clone()).await.unwrap();
        assert_eq!((&stored.proposal, stored.stored), (&new, AgentActionState::Proposed));
        assert_eq!(found(&db, fixture, 1).await, stored);
        assert_eq!(db.database.latest(new.token_id, "hash".to_owned()).await.unwrap(), Some(stored.clone()));
        assert_eq!(db.database.latest(TokenId::new(6).unwrap(), "hash".to_owned()).await.unwrap(), None);
        let same = db.database.propose(fixture.call(2, "hash")).await.unwrap();
        assert_eq!(same, stored, "an equal open call is not stored again");

        let id = Uuid::from_u128(1);
        let approve = AgentActionEvent::Approve;
        let approved = db.database.decide(id, approve, fixture.decision(seconds(1)), MANY).await.unwrap();
        assert_eq!((approved.stored, approved.decision.clone()), (AgentActionState::Approved, Some(fixture.decision(seconds(1)))));
        assert_eq!(approved.execution, Some(AgentExecution::begun(seconds(1))));
        assert_eq!(found(&db, fixture, 1).await, approved);
        let lease = seconds(1) + AGENT_ACTION_LEASE;
        let before = lease - TimeDelta::seconds(1);
        assert_eq!(db.database.interrupted(before).await.unwrap(), None);
        assert_eq!(refused_in(db.database.start(id, before).await), AgentActionState::Approved);
        assert_eq!(db.database.interrupted(lease).await.unwrap(), Some(id));
        let again = db.database.start(id, lease).await.unwrap().execution.unwrap();
        assert_eq!((again.started_at, again.attempts), (seconds(1), 2));
        db.database.finish(id, 1, result(500), lease).await.unwrap();
        assert_eq!(found(&db, fixture, 1).await.stored, AgentActionState::Approved, "another attempt has begun");
        db.database.finish(id, 1, result(201), lease).await.unwrap();
        db.database.finish(id, 2, result(422), lease).await.unwrap();
        let done = found(&db, fixture, 1).await;
        assert_eq!((done.stored, done.result()), (AgentActionState::Executed, Some(&result(201))));
        db.database.report(id, seconds(200)).await.unwrap();
        db.database.report(id, seconds(300)).await.unwrap();
        let reported = found(&db, fixture, 1).await;
        assert_eq!((reported.stored, reported.reported_at), (AgentActionState::Reported, Some(seconds(200))));
    }

    async fn the_log_has_calls_that_needed_no_approval(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let execution = AgentExecution { finished: Some((seconds(2), result(403))), ..AgentExecution::begun(START) };
        let ended = AgentAction {
            proposal: NewAgentAction { needs_approval: false, ..fixture.call(1, "hash") },
            stored: AgentActionState::Failed,
            decision: None,
            execution: Some(execution),
            reported_at: None,
        };
        db.database.record(ended.clone()).await.unwrap();
        assert_eq!(found(&db, fixture, 1).await, ended);
        let token = ended.proposal.token_id;
        assert_eq!(db.database.latest(token, "hash".to_owned()).await.unwrap(), None, "it answers no call");
        let page = PageRequest::new(1, 15, 100).unwrap();
        for (needs_approval, count) in [(None, 1), (Some(false), 1), (Some(true), 0)] {
            let filter = AgentActionFilter { needs_approval, ..AgentActionFilter::default() };
            assert_eq!(db.database.list(fixture.project, filter, START, page).await.unwrap().total, count);
        }
        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "agent_actions").unwrap();
        let end = ended.proposal.keep_until;
        assert_eq!(db.database.sweep(swept, end - TimeDelta::seconds(1), TimeDelta::zero()).await.unwrap(), 0);
        assert_eq!(db.database.sweep(swept, end, TimeDelta::zero()).await.unwrap(), 1);
    }

    async fn entries_are_swept_when_their_own_time_ends(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        for (id, days) in [(1, 1), (2, 1), (3, 90)] {
            let keep_until = START + TimeDelta::days(days);
            db.database.propose(NewAgentAction { keep_until, ..fixture.call(id, &format!("hash {id}")) }).await.unwrap();
        }
        db.database.decide(Uuid::from_u128(2), AgentActionEvent::Refuse, fixture.decision(seconds(1)), MANY).await.unwrap();
        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "agent_actions").unwrap();
        // The configured retention of other tables does not count.
        let sweep = async |at| db.database.sweep(swept, at, TimeDelta::days(365)).await.unwrap();
        let (day, quarter) = (START + TimeDelta::days(1), START + TimeDelta::days(90));
        assert_eq!((sweep(day - TimeDelta::seconds(1)).await, sweep(day).await, sweep(day).await), (0, 2, 0));
        assert_eq!(found(&db, fixture, 3).await.stored, AgentActionState::Proposed);
        assert_eq!(sweep(quarter).await, 1);
    }

    async fn the_doctor_reads_calls_and_policies(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        db.database.propose(fixture.call(1, "hash")).await.unwrap();
        db.database.set_policy(fixture.project, AgentPolicy::default(), fixture.admin, START).await.unwrap();
        let unreadable = async || {
            let mut rows = Vec::new();
            db.database.find_unreadable(Some(fixture.project), |row| rows.push((row.table, row.id))).await.unwrap();
            rows
        };
        assert!(unreadable().await.is_empty());
        let id = fixtures::number(&db, "SELECT id AS value FROM agent_actions").await;
        fixtures::run(&db, "UPDATE agent_actions SET operation = 'POST'; UPDATE agent_policies SET rules = '{}'".to_owned()).await;
        assert_eq!(unreadable().await, [("agent_actions", id), ("agent_policies", fixture.project.get())]);
    }

    async fn racing_moves_approve_at_most_once(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let end = START + AGENT_ACTION_LIFETIME;
        for round in 1..=6 {
            let id = Uuid::from_u128(round);
            db.database.propose(fixture.call(round, &format!("hash {round}"))).await.unwrap();
            let database = Arc::new(db.database.clone());
            let moves = (0..12).map(|index| {
                let database = Arc::clone(&database);
                // Some decisions arrive at the end of the period.
                let at = if index % 5 == 4 { end } else { seconds(1) };
                let event = if index % 3 == 0 { AgentActionEvent::Refuse } else { AgentActionEvent::Approve };
                tokio::spawn(async move {
                    let decided = database.decide(id, event, fixture.decision(at), MANY).await.is_ok();
                    (decided, event == AgentActionEvent::Approve)
                })
            });
            let mut won = Vec::new();
            for one in moves.collect::<Vec<_>>() {
                let (decided, is_approval) = one.await.unwrap();
                won.extend(decided.then_some(is_approval));
            }
            let left = found(&db, fixture, round).await;
            assert_eq!(won.len(), 1, "{won:?}");
            assert_eq!(won[0], left.stored == AgentActionState::Approved);
            assert_eq!(won[0], left.execution.is_some());
        }
    }

    async fn time_and_decisions_are_final(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let end = START + AGENT_ACTION_LIFETIME;
        for id in 1..=2 {
            db.database.propose(fixture.call(id, &format!("hash {id}"))).await.unwrap();
        }
        let decide = async |id, event, at| db.database.decide(Uuid::from_u128(id), event, fixture.decision(at), MANY).await;
        assert_eq!(refused_in(decide(1, AgentActionEvent::Approve, end).await), AgentActionState::Expired);
        let reason = Some(Reason::parse("no").unwrap());
        let refusal = AgentActionDecision { reason, ..fixture.decision(seconds(1)) };
        db.database.decide(Uuid::from_u128(2), AgentActionEvent::Refuse, refusal.clone(), 0).await.unwrap();
        assert_eq!(found(&db, fixture, 2).await.decision, Some(refusal));
        assert_eq!(refused_in(decide(2, AgentActionEvent::Approve, seconds(2)).await), AgentActionState::Refused);
        let absent = decide(9, AgentActionEvent::Approve, seconds(2)).await;
        assert!(matches!(absent, Err(AgentActionError::NotFound)));

        let page = PageRequest::new(1, 15, 100).unwrap();
        let count = async |state, at| {
            let filter = AgentActionFilter { state, agent: Some(fixture.agent), ..AgentActionFilter::default() };
            db.database.list(fixture.project, filter, at, page).await.unwrap().total
        };
        assert_eq!(count(None, seconds(1)).await, 2);
        let [proposed, expired] = [AgentActionState::Proposed, AgentActionState::Expired].map(Some);
        assert_eq!((count(proposed, seconds(1)).await, count(expired, seconds(1)).await), (1, 0));
        assert_eq!((count(proposed, end).await, count(expired, end).await), (0, 1));
        let other = AgentFixture::of(&db).await;
        let filter = AgentActionFilter::default();
        assert_eq!(db.database.list(other.project, filter, end, page).await.unwrap().total, 0);
    }

    async fn an_employee_approves_a_limited_number_per_hour(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        for id in 1..=4 {
            db.database.propose(fixture.call(id, &format!("hash {id}"))).await.unwrap();
        }
        let approve = async |id, at| {
            db.database.decide(Uuid::from_u128(id), AgentActionEvent::Approve, fixture.decision(at), 2).await
        };
        approve(1, seconds(0)).await.unwrap();
        approve(2, seconds(1)).await.unwrap();
        let refused = approve(3, seconds(2)).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::TooManyApprovals))));
        assert_eq!(found(&db, fixture, 3).await.stored, AgentActionState::Proposed);
        let later = NewAgentAction { expires_at: seconds(7_200), ..fixture.call(5, "hash 5") };
        db.database.propose(later).await.unwrap();
        approve(5, seconds(3_600)).await.unwrap();
    }

    async fn racing_approvals_keep_to_the_limit_of_the_employee(db: TestDatabase) {
        const MOST: i64 = 3;
        let fixture = AgentFixture::of(&db).await;
        for round in 0..6 {
            let at = START + TimeDelta::hours(2 * round);
            let ids = (0..8).map(|index| u128::try_from(8 * round + index).unwrap() + 1);
            let ids: Vec<u128> = ids.collect();
            for id in &ids {
                let new = fixture.call(*id, &format!("hash {id}"));
                let new = NewAgentAction { proposed_at: at, expires_at: at + AGENT_ACTION_LIFETIME, ..new };
                db.database.propose(new).await.unwrap();
            }
            let racing = ids.iter().map(|id| {
                let (database, id) = (db.database.clone(), Uuid::from_u128(*id));
                let decision = fixture.decision(at);
                tokio::spawn(async move { database.decide(id, AgentActionEvent::Approve, decision, MOST).await })
            });
            let (mut approved, mut refused) = (0, 0);
            for one in racing.collect::<Vec<_>>() {
                match one.await.unwrap() {
                    Ok(_) => approved += 1,
                    Err(AgentActionError::Refused(AgentActionRefusal::TooManyApprovals)) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!((approved, refused), (MOST, 5));
            let mut left = 0;
            for id in ids {
                left += i64::from(found(&db, fixture, id).await.stored == AgentActionState::Approved);
            }
            assert_eq!(left, MOST, "a refused approval approves nothing");
        }
    }

    async fn limits_of_a_day_are_exact(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let limits = AgentLimits { calls_per_day: Some(3), money_per_day: Some(100) };
        let uses = async |day: i64, amount| {
            db.database.use_limits(fixture.agent, START + TimeDelta::days(day), limits, amount).await.unwrap()
        };
        assert!(uses(1, 100).await && !uses(1, 1).await && uses(1, 0).await && uses(1, 0).await);
        assert!(!uses(1, 0).await && uses(2, 0).await);
        let database = Arc::new(db.database.clone());
        let racing = (0..8).map(|_| {
            let database = Arc::clone(&database);
            let end = START + TimeDelta::days(3);
            tokio::spawn(async move { database.use_limits(fixture.agent, end, limits, 0).await.unwrap() })
        });
        let mut counted = 0;
        for one in racing.collect::<Vec<_>>() {
            counted += usize::from(one.await.unwrap());
        }
        assert_eq!(counted, 3);
        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "agent_usage").unwrap();
        assert_eq!(db.database.sweep(swept, START + TimeDelta::days(2), TimeDelta::zero()).await.unwrap(), 2);
    }

    async fn a_policy_is_changed_from_its_version(db: TestDatabase) {
        let fixture = AgentFixture::of(&db).await;
        let policy = async || db.database.policy(fixture.project).await.unwrap();
        assert_eq!(policy().await, AgentPolicy::default());
        let operations = [("POST /api/orders".to_owned(), AgentRule::Forbidden)].into();
        let limits = AgentLimits { calls_per_day: Some(5), money_per_day: None };
        let rules = AgentRules { money: Some(AgentRule::NeedsApproval), operations, limits, ..AgentRules::default() };
        let strict = AgentRules { write: Some(AgentRule::Forbidden), ..rules.clone() };
        let new = AgentPolicy { rules: rules.clone(), agents: [(fixture.agent, strict)].into(), ..AgentPolicy::default() };
        let set = async |policy: AgentPolicy| db.database.set_policy(fixture.project, policy, fixture.admin, START).await;
        let stored = set(new.clone()).await.unwrap();
        assert_eq!((stored.version, policy().await), (1, stored.clone()));
        for stale in [new.clone(), AgentPolicy { version: 7, ..new.clone() }, AgentPolicy { version: -1, ..new.clone() }] {
            let refused = set(stale).await;
            assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::Stale))));
        }
        let stopped = AgentPolicy { refuses_writes: true, version: 1, retention_days: 7, approvals_per_hour: 3, ..new };
        assert_eq!(set(stopped.clone()).await.unwrap(), AgentPolicy { version: 2, ..stopped.clone() });
        assert_eq!(policy().await, AgentPolicy { version: 2, ..stopped.clone() });
        let foreign = AgentPolicy { version: 2, agents: [(fixture.admin, rules)].into(), ..stopped };
        let refused = set(foreign).await;
        let unknown = AgentActionRefusal::UnknownAgents(vec![fixture.admin.get()]);
        assert!(matches!(refused, Err(AgentActionError::Refused(refusal)) if refusal == unknown));
        for broken in ["{\"project\": {\"write\": \"maybe\"}}", "{\"agents\": {}}", "{}"] {
            fixtures::run(&db, format!("UPDATE agent_policies SET rules = '{broken}'")).await;
            assert!(db.database.policy(fixture.project).await.is_err(), "an unknown rule allows nothing: {broken}");
        }
    }
}
