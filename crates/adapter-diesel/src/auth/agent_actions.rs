use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_auth::model::{
    AGENT_ACTION_LEASE, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState,
    AgentCall, AgentExecution, AgentOutcome, AgentPolicy, AgentRule, AgentRules, MAX_OPEN_AGENT_ACTIONS,
    NewAgentAction, Reason, canonical,
};
use kontor_auth::ports::AgentActionRepository;
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, UserId, Word};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{AGENT, agents, guard};
use crate::database::{Abort, AnyConnection, Backend, Database, on_duplicate};
use crate::decode;
use crate::records;
use crate::schema::{access_tokens, agent_actions as actions, agent_policies as policies, users};
use crate::unreadable;

const TABLE: &str = "agent_actions";
/// States that wait for a decision or for their execution, unless expired.
const OPEN: [AgentActionState; 2] = [AgentActionState::Proposed, AgentActionState::Approved];

#[derive(Queryable, Selectable)]
#[diesel(table_name = actions)]
struct ActionRow {
    id: i64,
    public_id: String,
    project_id: i64,
    agent_id: i64,
    token_id: i64,
    method: String,
    tool: String,
    path: String,
    query: String,
    body: Option<String>,
    idempotency_key: String,
    if_match: Option<String>,
    class: String,
    arguments_hash: String,
    policy_version: i64,
    state: String,
    decided_by: Option<i64>,
    decided_at: Option<NaiveDateTime>,
    reason: Option<String>,
    proposed_at: NaiveDateTime,
    expires_at: NaiveDateTime,
    started_at: Option<NaiveDateTime>,
    leased_until: Option<NaiveDateTime>,
    finished_at: Option<NaiveDateTime>,
    status_code: Option<i32>,
}

impl ActionRow {
    fn decision(&self) -> Result<Option<AgentActionDecision>, StoreError> {
        let (Some(by), Some(at)) = (self.decided_by, self.decided_at) else { return Ok(None) };
        let reason = self.reason.as_deref().map(Reason::parse).transpose().map_err(StoreError::corrupt)?;
        Ok(Some(AgentActionDecision { by: decode::id(by)?, at: decode::moment(at), reason }))
    }

    fn execution(&self) -> Result<Option<AgentExecution>, StoreError> {
        let (Some(started), Some(leased)) = (self.started_at, self.leased_until) else { return Ok(None) };
        let finished = match (self.finished_at, self.status_code) {
            (Some(at), Some(status)) => {
                Some((decode::moment(at), u16::try_from(status).map_err(StoreError::corrupt)?))
            }
            _ => None,
        };
        let (started_at, leased_until) = (decode::moment(started), decode::moment(leased));
        Ok(Some(AgentExecution { started_at, leased_until, finished }))
    }
}

impl TryFrom<ActionRow> for AgentAction {
    type Error = StoreError;

    fn try_from(row: ActionRow) -> Result<Self, StoreError> {
        let (decision, execution) = (row.decision()?, row.execution()?);
        let body = row.body.as_deref().map(serde_json::from_str).transpose().map_err(StoreError::corrupt)?;
        let stored = decode::word(TABLE, row.id, "state", &row.state)?;
        let proposal = NewAgentAction {
            public_id: decode::text(&row.public_id)?,
            project_id: decode::id(row.project_id)?,
            agent_id: decode::id(row.agent_id)?,
            token_id: decode::id(row.token_id)?,
            class: decode::word(TABLE, row.id, "class", &row.class)?,
            call: AgentCall {
                method: row.method,
                tool: row.tool,
                path: row.path,
                query: row.query,
                body,
                key: Some(row.idempotency_key),
                if_match: row.if_match,
            },
            arguments_hash: row.arguments_hash,
            policy_version: row.policy_version,
            proposed_at: decode::moment(row.proposed_at),
            expires_at: decode::moment(row.expires_at),
        };
        Ok(Self { proposal, stored, decision, execution })
    }
}

macro_rules! one {
    ($public_id:expr) => {
        actions::table.filter(actions::public_id.eq($public_id.to_string()))
    };
}

/// Locks the row by an update, then reads it. Concurrent moves of the call wait, so the read state stays valid.
fn lock_action<R>(connection: &mut AnyConnection, public_id: Uuid) -> Result<Option<AgentAction>, Abort<R>> {
    diesel::update(one!(public_id)).set(actions::state.eq(actions::state)).execute(connection)?;
    let row: Option<ActionRow> = one!(public_id).select(ActionRow::as_select()).first(connection).optional()?;
    Ok(row.map(AgentAction::try_from).transpose()?)
}

/// Locks a call, and returns it with its state after the event.
fn moved(
    connection: &mut AnyConnection,
    public_id: Uuid,
    event: AgentActionEvent,
    at: DateTime<Utc>,
) -> Result<(AgentAction, AgentActionState), Abort<AgentActionError>> {
    let action = lock_action(connection, public_id)?.ok_or(Abort::Refused(AgentActionError::NotFound))?;
    let state = action.after(event, at).map_err(Abort::refused)?;
    Ok((action, state))
}

fn newest(
    connection: &mut AnyConnection,
    token: TokenId,
    arguments_hash: &str,
) -> Result<Option<AgentAction>, Abort<StoreError>> {
    let row: Option<ActionRow> = actions::table
        .filter(actions::token_id.eq(token.get()))
        .filter(actions::arguments_hash.eq(arguments_hash))
        .order(actions::id.desc())
        .select(ActionRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(AgentAction::try_from).transpose()?)
}

fn insert(connection: &mut AnyConnection, new: &NewAgentAction) -> Result<(), diesel::result::Error> {
    let call = &new.call;
    diesel::insert_into(actions::table)
        .values((
            actions::public_id.eq(new.public_id.to_string()),
            actions::project_id.eq(new.project_id.get()),
            actions::agent_id.eq(new.agent_id.get()),
            actions::token_id.eq(new.token_id.get()),
            actions::method.eq(&call.method),
            actions::tool.eq(&call.tool),
            actions::path.eq(&call.path),
            actions::query.eq(&call.query),
            actions::body.eq(call.body.as_ref().map(canonical)),
            actions::idempotency_key.eq(call.key.as_deref().unwrap_or_default()),
            actions::if_match.eq(call.if_match.as_deref()),
            actions::class.eq(new.class.word()),
            actions::arguments_hash.eq(&new.arguments_hash),
            actions::policy_version.eq(new.policy_version),
            actions::state.eq(AgentActionState::Proposed.word()),
            actions::proposed_at.eq(new.proposed_at.naive_utc()),
            actions::expires_at.eq(new.expires_at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Calls of a project that match a filter at a time.
fn matching(project: ProjectId, filter: AgentActionFilter, at: DateTime<Utc>) -> actions::BoxedQuery<'static, Backend> {
    let at = at.naive_utc();
    let mut query = actions::table.filter(actions::project_id.eq(project.get())).into_boxed();
    if let Some(agent) = filter.agent {
        query = query.filter(actions::agent_id.eq(agent.get()));
    }
    match filter.state {
        None => query,
        Some(AgentActionState::Expired) => {
            let [proposed, approved] = OPEN.map(Word::word);
            query.filter(actions::state.eq(proposed).or(actions::state.eq(approved))).filter(actions::expires_at.le(at))
        }
        Some(state) if OPEN.contains(&state) => {
            query.filter(actions::state.eq(state.word())).filter(actions::expires_at.gt(at))
        }
        Some(state) => query.filter(actions::state.eq(state.word())),
    }
}

fn encoded(rules: AgentRules) -> Value {
    let AgentRules { write, money, destructive } = rules;
    json!({ "write": write.word(), "money": money.word(), "destructive": destructive.word() })
}

/// Reads stored rules. An unknown word is an error: it is never taken for a permission.
fn decoded(value: Option<&Value>) -> Result<AgentRules, StoreError> {
    let rule = |class: &str| {
        let word = value.and_then(|rules| rules.get(class)).and_then(Value::as_str);
        word.and_then(AgentRule::from_word)
            .ok_or_else(|| StoreError::corrupt(format!("agent_policies: the rule for {class} is unknown")))
    };
    Ok(AgentRules { write: rule("write")?, money: rule("money")?, destructive: rule("destructive")? })
}

fn rules_text(policy: &AgentPolicy) -> String {
    let agents: Map<String, Value> =
        policy.agents.iter().map(|(agent, rules)| (agent.get().to_string(), encoded(*rules))).collect();
    json!({ "project": encoded(policy.rules), "agents": agents }).to_string()
}

fn policy_of((version, refuses_writes, rules): (i64, bool, String)) -> Result<AgentPolicy, StoreError> {
    let stored: Value = serde_json::from_str(&rules).map_err(StoreError::corrupt)?;
    let mut agents = BTreeMap::new();
    for (number, rules) in stored.get("agents").and_then(Value::as_object).into_iter().flatten() {
        let number: i64 = number.parse().map_err(StoreError::corrupt)?;
        agents.insert(decode::id::<UserId>(number)?, decoded(Some(rules))?);
    }
    Ok(AgentPolicy { version, refuses_writes, rules: decoded(stored.get("project"))?, agents })
}

/// Refuses numbers that name no agent of the project.
fn require_agents(
    connection: &mut AnyConnection,
    project: ProjectId,
    policy: &AgentPolicy,
) -> Result<(), Abort<AgentActionError>> {
    let wanted: Vec<i64> = policy.agents.keys().map(|agent| agent.get()).collect();
    let known: Vec<i64> = users::table
        .filter(users::project_id.eq(project.get()))
        .filter(users::kind.eq(AGENT))
        .filter(users::id.eq_any(&wanted))
        .select(users::id)
        .load(connection)?;
    let unknown: Vec<i64> = wanted.into_iter().filter(|id| !known.contains(id)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(Abort::refused(AgentActionRefusal::UnknownAgents(unknown))) }
}

#[async_trait]
impl AgentActionRepository for Database {
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError> {
        self.read_brief(move |connection| {
            let row: Option<(i64, bool, String)> = policies::table
                .find(project.get())
                .select((policies::version, policies::refuses_writes, policies::rules))
                .first(connection)
                .optional()?;
            Ok(row.map(policy_of).transpose()?.unwrap_or_default())
        })
        .await
    }

    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        by: UserId,
        at: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError> {
        self.write(move |connection| {
            require_agents(connection, project, &policy)?;
            let (version, rules) = (policy.version.saturating_add(1), rules_text(&policy));
            if policy.version == 0 {
                diesel::insert_into(policies::table)
                    .values((
                        policies::project_id.eq(project.get()),
                        policies::version.eq(version),
                        policies::refuses_writes.eq(policy.refuses_writes),
                        policies::rules.eq(&rules),
                        policies::updated_by.eq(by.get()),
                        policies::updated_at.eq(at.naive_utc()),
                    ))
                    .execute(connection)
                    .map_err(on_duplicate(AgentActionRefusal::Stale))?;
            } else {
                let same = policies::table.find(project.get()).filter(policies::version.eq(policy.version));
                let changed = diesel::update(same)
                    .set((
                        policies::version.eq(version),
                        policies::refuses_writes.eq(policy.refuses_writes),
                        policies::rules.eq(&rules),
                        policies::updated_by.eq(by.get()),
                        policies::updated_at.eq(at.naive_utc()),
                    ))
                    .execute(connection)?;
                if changed == 0 {
                    return Err(Abort::refused(AgentActionRefusal::Stale));
                }
            }
            Ok(AgentPolicy { version, ..policy.clone() })
        })
        .await
    }

    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError> {
        self.read_brief(move |connection| newest(connection, token, &arguments_hash)).await
    }

    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            // The lock of the agent orders equal calls, and the count of its open calls.
            agents::lock_agent(connection, new.agent_id)?.ok_or(Abort::Refused(AgentActionError::NotFound))?;
            let known = newest(connection, new.token_id, &new.arguments_hash).map_err(Abort::into_store)?;
            if let Some(known) = known.filter(|known| known.answers(new.proposed_at)) {
                return Ok(known);
            }
            let open: i64 = actions::table
                .filter(actions::agent_id.eq(new.agent_id.get()))
                .filter(actions::expires_at.gt(new.proposed_at.naive_utc()))
                .filter(actions::state.eq_any(OPEN.map(Word::word)))
                .count()
                .get_result(connection)?;
            if open >= MAX_OPEN_AGENT_ACTIONS {
                return Err(Abort::refused(AgentActionRefusal::TooMany));
            }
            insert(connection, &new)?;
            let stored = AgentActionState::Proposed;
            Ok(AgentAction { proposal: new.clone(), stored, decision: None, execution: None })
        })
        .await
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError> {
        self.read_brief(move |connection| {
            let row: Option<ActionRow> = one!(public_id).select(ActionRow::as_select()).first(connection).optional()?;
            let found = row.map(|row| records::of_project(row.project_id, AgentAction::try_from(row)));
            Ok(found.transpose()?)
        })
        .await
    }

    async fn list(
        &self,
        project: ProjectId,
        filter: AgentActionFilter,
        at: DateTime<Utc>,
        page: PageRequest,
    ) -> Result<Page<AgentAction>, StoreError> {
        self.read_snapshot(move |connection| {
            let total: i64 = matching(project, filter, at).count().get_result(connection)?;
            let rows: Vec<ActionRow> = matching(project, filter, at)
                .order(actions::id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select(ActionRow::as_select())
                .load(connection)?;
            let items = unreadable::rows(TABLE, rows, |row| row.id, AgentAction::try_from)?;
            Ok::<_, Abort<StoreError>>(decode::page(items, total, page)?)
        })
        .await
    }

    async fn decide(
        &self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
    ) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, event, decision.at)?;
            diesel::update(one!(public_id))
                .set((
                    actions::state.eq(stored.word()),
                    actions::decided_by.eq(decision.by.get()),
                    actions::decided_at.eq(decision.at.naive_utc()),
                    actions::reason.eq(decision.reason.as_ref().map(Reason::as_str)),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, decision: Some(decision.clone()), ..action })
        })
        .await
    }

    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, AgentActionEvent::Start, at)?;
            let started_at = action.execution.map_or(at, |execution| execution.started_at);
            let execution = AgentExecution { started_at, leased_until: at + AGENT_ACTION_LEASE, finished: None };
            diesel::update(one!(public_id))
                .set((
                    actions::state.eq(stored.word()),
                    actions::started_at.eq(execution.started_at.naive_utc()),
                    actions::leased_until.eq(execution.leased_until.naive_utc()),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, execution: Some(execution), ..action })
        })
        .await
    }

    async fn finish(&self, public_id: Uuid, outcome: AgentOutcome, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(action) = lock_action::<StoreError>(connection, public_id)? else { return Ok(()) };
            let (event, status) = match outcome {
                AgentOutcome::Succeeded(status) => (AgentActionEvent::Succeed, status),
                AgentOutcome::Failed(status) => (AgentActionEvent::Fail, status),
                AgentOutcome::Unknown => {
                    diesel::update(one!(public_id).filter(actions::state.eq(AgentActionState::Executing.word())))
                        .set(actions::leased_until.eq(at.naive_utc()))
                        .execute(connection)?;
                    return Ok(());
                }
            };
            if let Ok(state) = action.after(event, at) {
                diesel::update(one!(public_id))
                    .set((
                        actions::state.eq(state.word()),
                        actions::finished_at.eq(at.naive_utc()),
                        actions::status_code.eq(i32::from(status)),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.read_brief(move |connection| {
            let created: Option<NaiveDateTime> = access_tokens::table
                .filter(access_tokens::id.eq(token.get()))
                .filter(access_tokens::guard.eq(guard::USER))
                .select(access_tokens::created_at)
                .first(connection)
                .optional()?;
            Ok(created.map(decode::moment))
        })
        .await
    }
}
