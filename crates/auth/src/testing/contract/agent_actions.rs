use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{PageRequest, ProjectId, TokenId, UserId};
use uuid::Uuid;

use super::agents::{agent, both};
use super::{Fixture, after, fresh, noon, owner};
use crate::model::{
    AGENT_ACTION_LEASE, AGENT_ACTION_LIFETIME, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter,
    AgentActionState, AgentCall, AgentExecution, AgentLimits, AgentPolicy, AgentResult, AgentRule, AgentRules, Channel,
    MAX_LOGGED_AGENT_FAILURES, MAX_OPEN_AGENT_ACTIONS, NewAgentAction, ToolClass,
};
use crate::ports::{AgentActionRepository, AgentRepository};
use crate::{AgentActionError, AgentActionRefusal};

const APPROVE: AgentActionEvent = AgentActionEvent::Approve;
const REFUSE: AgentActionEvent = AgentActionEvent::Refuse;
/// Approvals per hour in checks of something else.
const MANY: i64 = 1_000;

/// Project with an owner and an agent.
#[derive(Clone, Copy)]
pub(super) struct Team {
    pub(super) project: ProjectId,
    pub(super) admin: UserId,
    pub(super) agent: UserId,
}

pub(super) async fn team<F: Fixture<Store: AgentRepository>>(fixture: &F) -> Team {
    let [app, _] = fixture.apps().await;
    let project = app.project_id;
    let admin = owner(fixture, project).await;
    Team { project, admin, agent: agent(fixture, project, admin).await.id }
}

/// A new call of the agent with other arguments than any other one.
pub(super) fn call(team: Team, at: DateTime<Utc>) -> NewAgentAction {
    let number = fresh();
    let call = AgentCall {
        method: "POST".to_owned(),
        tool: "/api/brands".to_owned(),
        path: "/api/brands".to_owned(),
        query: String::new(),
        body: None,
        sent_key: None,
        if_match: None,
        preview_hash: None,
    };
    NewAgentAction {
        public_id: public_id(),
        project_id: team.project,
        agent_id: team.agent,
        token_id: TokenId::new(number.into()).unwrap(),
        channel: Channel::Mcp,
        call,
        class: ToolClass::Money,
        arguments_hash: format!("hash {number}"),
        policy_version: 0,
        needs_approval: true,
        proposed_at: at,
        expires_at: at + AGENT_ACTION_LIFETIME,
        keep_until: at + TimeDelta::days(90),
    }
}

fn public_id() -> Uuid {
    Uuid::from_u64_pair(19, fresh().into())
}

/// A proposed call.
pub(super) async fn proposed<F: Fixture<Store: AgentActionRepository>>(
    fixture: &F,
    team: Team,
    at: DateTime<Utc>,
) -> Uuid {
    fixture.store().propose(call(team, at)).await.unwrap().proposal.public_id
}

pub(super) fn decision(team: Team, at: DateTime<Utc>) -> AgentActionDecision {
    AgentActionDecision { by: team.admin, at, reason: None }
}

async fn found<F: Fixture<Store: AgentActionRepository>>(fixture: &F, team: Team, id: Uuid) -> AgentAction {
    let found = AgentActionRepository::find(&*fixture.store(), id).await.unwrap();
    found.unwrap().within(team.project).unwrap()
}

/// Number of calls of the project in a state.
async fn count<F>(fixture: &F, project: ProjectId, state: Option<AgentActionState>, at: DateTime<Utc>) -> u64
where
    F: Fixture<Store: AgentActionRepository>,
{
    let filter = AgentActionFilter { state, ..AgentActionFilter::default() };
    let page = PageRequest::new(1, 5, 5).unwrap();
    AgentActionRepository::list(&*fixture.store(), project, filter, at, page).await.unwrap().total
}

fn refused<T>(outcome: Result<T, AgentActionError>) -> Option<AgentActionRefusal> {
    match outcome {
        Err(AgentActionError::Refused(refusal)) => Some(refusal),
        _ => None,
    }
}

/// Refusal of a step in this state.
fn not_in(state: AgentActionState) -> AgentActionRefusal {
    AgentActionRefusal::State(state)
}

/// Counts the refusals of concurrent calls, of which the others succeeded.
fn refusals<T>(outcomes: Vec<Result<T, AgentActionError>>, expected: &AgentActionRefusal) -> usize {
    let (done, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    let refusals: Vec<_> = lost.into_iter().map(refused).collect();
    assert!(refusals.iter().all(|refusal| refusal.as_ref() == Some(expected)), "{refusals:?}");
    assert!(!done.is_empty(), "one succeeds");
    refusals.len()
}

fn result(status: u16) -> AgentResult {
    AgentResult { status, code: None, body: Some("{}".to_owned()) }
}

/// Under concurrent calls, an equal call of an agent is proposed once. A deleted agent proposes nothing.
pub async fn an_equal_call_is_proposed_once<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let new = call(team, noon());
    let again = || NewAgentAction { public_id: public_id(), ..new.clone() };
    let outcomes = join_all((0..8).map(|_| store.propose(again()))).await;
    let outcomes: Vec<AgentAction> = outcomes.into_iter().map(Result::unwrap).collect();
    assert!(outcomes.windows(2).all(|pair| pair.first() == pair.last()), "{outcomes:?}");
    assert_eq!(count(fixture, team.project, None, noon()).await, 1);
    let latest = store.latest(new.token_id, new.arguments_hash.clone()).await.unwrap();
    assert_eq!(latest.as_ref(), outcomes.first());
    let others = call(team, noon()).token_id;
    assert_eq!(store.latest(others, new.arguments_hash.clone()).await.unwrap(), None, "another token");
    store.propose(NewAgentAction { token_id: others, ..again() }).await.unwrap();
    assert_eq!(count(fixture, team.project, None, noon()).await, 2);
    AgentRepository::delete(&*store, team.agent, both(), after(1)).await.unwrap();
    let refused = store.propose(call(team, after(2))).await;
    assert!(matches!(refused, Err(AgentActionError::NotFound)), "{refused:?}");
}

/// Under concurrent calls, an agent has a maximum number of calls that wait for a decision.
pub async fn an_agent_has_a_maximum_of_open_calls<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team, other) = (fixture.store(), team(fixture).await, team(fixture).await);
    let first = proposed(fixture, team, noon()).await;
    for _ in 2..MAX_OPEN_AGENT_ACTIONS {
        proposed(fixture, team, noon()).await;
    }
    let outcomes = join_all((0..4).map(|_| store.propose(call(team, noon())))).await;
    assert_eq!(refusals(outcomes, &AgentActionRefusal::TooMany), 3);
    proposed(fixture, other, noon()).await;
    store.decide(first, REFUSE, decision(team, after(1)), MANY).await.unwrap();
    proposed(fixture, team, after(2)).await;
    // The period of all others has passed.
    proposed(fixture, team, after(2_000)).await;
}

/// Under concurrent approvals and refusals, a call is decided once, and not after its period.
pub async fn a_call_is_decided_once<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let (late, id) = (proposed(fixture, team, noon()).await, proposed(fixture, team, noon()).await);
    let end = noon() + AGENT_ACTION_LIFETIME;
    for event in [APPROVE, REFUSE] {
        let outcome = store.decide(late, event, decision(team, end), MANY).await;
        assert_eq!(refused(outcome), Some(not_in(AgentActionState::Expired)));
        let unknown = store.decide(public_id(), event, decision(team, after(1)), MANY).await;
        assert!(matches!(unknown, Err(AgentActionError::NotFound)), "{unknown:?}");
    }
    assert_eq!(count(fixture, team.project, Some(AgentActionState::Expired), end).await, 2);
    let decide = |number: i32| {
        let event = if number % 3 == 1 { REFUSE } else { APPROVE };
        store.decide(id, event, decision(team, after(1)), MANY)
    };
    let outcomes = join_all((0..8).map(decide)).await;
    let left = found(fixture, team, id).await;
    assert_eq!(refusals(outcomes, &AgentActionRefusal::State(left.stored)), 7);
    assert_eq!(left.decision, Some(decision(team, after(1))));
    let begun = (left.stored == AgentActionState::Approved).then(|| AgentExecution::begun(after(1)));
    assert_eq!(left.execution, begun, "an approval begins the execution");
    assert_eq!(count(fixture, team.project, Some(AgentActionState::Proposed), after(1)).await, 1);
    assert_eq!(count(fixture, team.project, Some(left.stored), after(1)).await, 1);
}

/// An approved call is continued by one of concurrent callers after its lease, and has one result.
pub async fn an_approved_call_is_executed_once<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let id = proposed(fixture, team, noon()).await;
    assert_eq!(refused(store.start(id, after(1)).await), Some(not_in(AgentActionState::Proposed)));
    store.decide(id, APPROVE, decision(team, after(1)), MANY).await.unwrap();
    let lease = after(1) + AGENT_ACTION_LEASE;
    let before = lease - TimeDelta::seconds(1);
    assert_eq!(store.interrupted(before).await.unwrap(), None);
    assert_eq!(refused(store.start(id, before).await), Some(not_in(AgentActionState::Approved)));
    assert_eq!(store.interrupted(lease).await.unwrap(), Some(id));
    let outcomes = join_all((0..8).map(|_| store.start(id, lease))).await;
    assert_eq!(refusals(outcomes, &AgentActionRefusal::State(AgentActionState::Approved)), 7);
    let continued = AgentExecution::begun(after(1)).continued(lease);
    assert_eq!(found(fixture, team, id).await.execution, Some(continued));
    store.finish(id, 1, result(500), lease).await.unwrap();
    assert_eq!(found(fixture, team, id).await.stored, AgentActionState::Approved, "another attempt has begun");
    store.report(id, lease).await.unwrap();
    store.finish(id, 1, result(201), lease).await.unwrap();
    store.finish(id, 2, result(422), lease).await.unwrap();
    let done = found(fixture, team, id).await;
    assert_eq!((done.stored, done.result()), (AgentActionState::Executed, Some(&result(201))));
    assert_eq!(store.interrupted(after(86_400)).await.unwrap(), None);
    for seconds in [200, 300] {
        store.report(id, after(seconds)).await.unwrap();
        let reported = found(fixture, team, id).await;
        assert_eq!((reported.stored, reported.reported_at), (AgentActionState::Reported, Some(after(200))));
    }
}

/// Under concurrent calls, a policy is replaced once per version. It names agents of its project only.
pub async fn a_policy_is_replaced_once_per_version<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team, other) = (fixture.store(), team(fixture).await, team(fixture).await);
    let mut seen = AgentPolicy::default();
    assert_eq!(store.policy(team.project).await.unwrap(), seen);
    for version in 1..=2 {
        let money = Some(AgentRule::NeedsApproval);
        let rules = AgentRules { money, ..AgentRules::default() };
        let new = AgentPolicy { rules: rules.clone(), agents: [(team.agent, rules)].into(), ..seen };
        let set = |_: i32| store.set_policy(team.project, new.clone(), team.admin, after(version));
        let outcomes = join_all((0..8).map(set)).await;
        assert_eq!(refusals(outcomes, &AgentActionRefusal::Stale), 7);
        seen = store.policy(team.project).await.unwrap();
        assert_eq!(seen, AgentPolicy { version, ..new });
    }
    for unknown in [other.agent, team.admin] {
        let foreign = AgentPolicy { agents: [(unknown, AgentRules::default())].into(), ..seen.clone() };
        let outcome = store.set_policy(team.project, foreign, team.admin, after(3)).await;
        assert_eq!(refused(outcome), Some(AgentActionRefusal::UnknownAgents(vec![unknown.get()])));
    }
    assert_eq!(store.policy(team.project).await.unwrap(), seen);
    assert_eq!(store.policy(other.project).await.unwrap(), AgentPolicy::default());
}

/// A policy that refuses writes is read at once, and calls that were proposed before it are not approved.
pub async fn a_new_policy_stops_waiting_calls<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let id = proposed(fixture, team, noon()).await;
    let stopped = AgentPolicy { refuses_writes: true, ..AgentPolicy::default() };
    store.set_policy(team.project, stopped, team.admin, after(1)).await.unwrap();
    let policy = store.policy(team.project).await.unwrap();
    let rule = policy.rule(team.agent, Channel::Api, "POST /api/brands", ToolClass::Write);
    assert_eq!(rule, AgentRule::Forbidden);
    let outcomes = join_all((0..4).map(|_| store.decide(id, APPROVE, decision(team, after(2)), MANY))).await;
    for outcome in outcomes {
        assert_eq!(refused(outcome), Some(AgentActionRefusal::PolicyChanged));
    }
    assert_eq!(found(fixture, team, id).await.stored, AgentActionState::Proposed);
    store.decide(id, REFUSE, decision(team, after(3)), MANY).await.unwrap();
}

/// Under concurrent calls, an employee approves a maximum number of calls within an hour. Refusals do not count.
pub async fn an_employee_approves_a_maximum_per_hour<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let declined = proposed(fixture, team, noon()).await;
    store.decide(declined, REFUSE, decision(team, after(1)), 0).await.unwrap();
    let mut waiting = Vec::new();
    for _ in 0..6 {
        waiting.push(proposed(fixture, team, noon()).await);
    }
    let approve = |id: &Uuid| store.decide(*id, APPROVE, decision(team, after(2)), 2);
    let outcomes = join_all(waiting.iter().map(approve)).await;
    assert_eq!(refusals(outcomes, &AgentActionRefusal::TooManyApprovals), 4);
    assert_eq!(count(fixture, team.project, Some(AgentActionState::Approved), after(2)).await, 2);
    let later = proposed(fixture, team, after(3_600)).await;
    let early = store.decide(later, APPROVE, decision(team, after(3_601)), 2).await;
    assert_eq!(refused(early), Some(AgentActionRefusal::TooManyApprovals));
    store.decide(later, APPROVE, decision(team, after(3_602)), 2).await.unwrap();
}

/// Under concurrent calls, the limits of an agent for a day hold. A call beyond them is not counted.
pub async fn an_agent_stays_within_its_day<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team, other) = (fixture.store(), team(fixture).await, team(fixture).await);
    let (today, tomorrow) = (after(43_200), after(129_600));
    let limits = AgentLimits { calls_per_day: Some(4), money_per_day: Some(100) };
    let uses = |agent, day_end, amount| store.use_limits(agent, day_end, limits, amount);
    let costly = join_all((0..4).map(|_| uses(team.agent, today, 60))).await;
    assert_eq!(costly.into_iter().filter(|counted| *counted.as_ref().unwrap()).count(), 1, "money");
    let cheap = join_all((0..8).map(|_| uses(team.agent, today, 10))).await;
    assert_eq!(cheap.into_iter().filter(|counted| *counted.as_ref().unwrap()).count(), 3, "calls");
    assert!(uses(team.agent, tomorrow, 100).await.unwrap(), "each day counts anew");
    assert!(uses(other.agent, today, 100).await.unwrap(), "each agent has its own day");
    AgentRepository::delete(&*store, other.agent, both(), after(1)).await.unwrap();
    assert!(!uses(other.agent, tomorrow, 0).await.unwrap(), "the agent is deleted");
}

/// Under concurrent attempts, an approved call counts once toward the day of its agent. A call beyond a limit is not
/// counted, and counts on a day with room.
pub async fn an_approved_call_is_counted_once<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team) = (fixture.store(), team(fixture).await);
    let (today, tomorrow) = (after(43_200), after(129_600));
    let limits = AgentLimits { calls_per_day: Some(2), money_per_day: Some(100) };
    let counts = |id, day_end, amount| store.count_approved(id, day_end, limits, amount);
    let (first, second) = (proposed(fixture, team, noon()).await, proposed(fixture, team, noon()).await);
    for id in [first, second] {
        store.decide(id, APPROVE, decision(team, after(1)), MANY).await.unwrap();
    }
    let attempts = join_all((0..8).map(|_| counts(first, today, 60))).await;
    assert!(attempts.iter().all(|counted| *counted.as_ref().unwrap()), "{attempts:?}");
    assert!(!counts(second, today, 60).await.unwrap(), "money");
    assert!(store.use_limits(team.agent, today, limits, 40).await.unwrap(), "the first call counts once");
    assert!(!counts(second, today, 0).await.unwrap(), "calls");
    assert!(counts(second, tomorrow, 60).await.unwrap(), "not counted before");
    assert!(counts(second, today, 60).await.unwrap(), "counted on another day");
    assert!(!counts(public_id(), tomorrow, 0).await.unwrap(), "unknown");
    assert!(store.use_limits(team.agent, tomorrow, limits, 40).await.unwrap());
}

/// An entry of the log is no proposal. Failures beyond the maximum within an hour are counted on the newest entry.
pub async fn further_failures_are_only_counted<F>(fixture: &F)
where
    F: Fixture<Store: AgentRepository + AgentActionRepository>,
{
    let (store, team, other) = (fixture.store(), team(fixture).await, team(fixture).await);
    let ended = |team: Team, at: DateTime<Utc>, stored: AgentActionState, status: u16| {
        let execution = AgentExecution { finished: Some((at, result(status))), ..AgentExecution::begun(at) };
        let proposal = NewAgentAction { needs_approval: false, expires_at: at, ..call(team, at) };
        AgentAction { proposal, stored, decision: None, execution: Some(execution), reported_at: None }
    };
    let failed = |team: Team, at: DateTime<Utc>| ended(team, at, AgentActionState::Failed, 403);
    let entries: Vec<AgentAction> = (0..MAX_LOGGED_AGENT_FAILURES).map(|_| failed(team, noon())).collect();
    for entry in &entries {
        store.record(entry.clone()).await.unwrap();
    }
    let newest = &entries.last().unwrap().proposal;
    assert_eq!(store.latest(newest.token_id, newest.arguments_hash.clone()).await.unwrap(), None);
    for outcome in join_all((0..3).map(|_| store.record(failed(team, after(1))))).await {
        outcome.unwrap();
    }
    let most = u64::try_from(MAX_LOGGED_AGENT_FAILURES).unwrap();
    assert_eq!(count(fixture, team.project, None, noon()).await, most);
    let counted = found(fixture, team, newest.public_id).await.execution.unwrap();
    assert_eq!(counted.attempts, 4);
    let executed = ended(team, after(1), AgentActionState::Executed, 200);
    for entry in [executed, failed(other, after(1)), failed(team, after(3_600))] {
        let id = entry.proposal.public_id;
        store.record(entry.clone()).await.unwrap();
        let stored = AgentActionRepository::find(&*store, id).await.unwrap().unwrap();
        assert_eq!(stored.within(entry.proposal.project_id), Some(entry));
    }
}
