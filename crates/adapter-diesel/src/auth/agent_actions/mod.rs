//! Actions of agents: the policy of a project, proposals, decisions and results.

mod rows;

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use kontor_auth::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState, AgentExecution,
    AgentLimits, AgentPolicy, AgentResult, AgentRule, AgentRules, MAX_LOGGED_AGENT_FAILURES, MAX_OPEN_AGENT_ACTIONS,
    NewAgentAction, Reason,
};
use kontor_auth::ports::AgentActionRepository;
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, UserId, Word};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use self::rows::{ActionRow, TABLE, insert, load, lock_action, matching, moved, newest, one, row_of};
use super::{AGENT, agents, approval_mails, guard};
use crate::database::{Abort, AnyConnection, Database, Extent, on_duplicate};
use crate::lease::is_here;
use crate::locks::lock_project;
use crate::schema::{
    access_tokens, agent_actions as actions, agent_policies as policies, agent_usage as usage, keyed, users,
};
use crate::{decode, records, unreadable};

/// Refuses an approval beyond the maximum of the employee within an hour. The lock of the employee orders their
/// concurrent approvals.
fn require_approvals_left(
    connection: &mut AnyConnection,
    project: ProjectId,
    decision: &AgentActionDecision,
    most: i64,
) -> Result<(), Abort<AgentActionError>> {
    let employee = keyed!(users, decision.by.get(), project);
    diesel::update(employee).set(users::is_banned.eq(users::is_banned)).execute(connection)?;
    let approved: i64 = actions::table
        .filter(actions::decided_by.eq(decision.by.get()))
        .filter(actions::decided_at.gt((decision.at - TimeDelta::hours(1)).naive_utc()))
        .filter(actions::state.ne(AgentActionState::Refused.word()))
        .count()
        .get_result(connection)?;
    if approved < most { Ok(()) } else { Err(Abort::refused(AgentActionRefusal::TooManyApprovals)) }
}

/// Refuses an approval of a call that was proposed under another policy. The lock of the project orders approvals and
/// changes of its policy.
fn require_same_policy(
    connection: &mut AnyConnection,
    proposal: &NewAgentAction,
) -> Result<(), Abort<AgentActionError>> {
    let project = proposal.project_id;
    lock_project(connection, project)?;
    let version: Option<i64> =
        policies::table.find(project.get()).select(policies::version).first(connection).optional()?;
    let is_same = version.unwrap_or_default() == proposal.policy_version;
    if is_same { Ok(()) } else { Err(Abort::refused(AgentActionRefusal::PolicyChanged)) }
}

/// Counts a failure on the newest entry of the log, if the agent has the maximum of entries within an hour. Returns
/// `false` if the failure gets an entry of its own.
fn is_only_counted(connection: &mut AnyConnection, new: &NewAgentAction) -> Result<bool, Abort<StoreError>> {
    // The lock of the agent orders its concurrent failures.
    agents::lock_agent(connection, new.agent_id)?;
    let hour = (new.proposed_at - TimeDelta::hours(1)).naive_utc();
    // The period of an entry of the log ends with its call.
    let recent = || {
        actions::table
            .filter(actions::agent_id.eq(new.agent_id.get()))
            .filter(actions::expires_at.gt(hour))
            .filter(actions::needs_approval.eq(false))
            .filter(actions::state.eq(AgentActionState::Failed.word()))
    };
    let logged: i64 = recent().count().get_result(connection)?;
    if logged < MAX_LOGGED_AGENT_FAILURES {
        return Ok(false);
    }
    let newest: i64 = recent().order(actions::id.desc()).select(actions::id).first(connection)?;
    diesel::update(keyed!(actions, newest, new.project_id))
        .set(actions::attempts.eq(actions::attempts + 1))
        .execute(connection)?;
    Ok(true)
}

/// Reads calls to check that their rows can be decoded, one by one, because their arguments may be long.
pub(crate) fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
    for id in ids {
        let row: Option<ActionRow> =
            actions::table.filter(actions::id.eq(*id)).select(ActionRow::as_select()).first(connection).optional()?;
        row.map(AgentAction::try_from).transpose()?;
    }
    Ok(Vec::new())
}

/// Reads the policies of projects to check that their rows can be decoded.
pub(crate) fn try_to_read_policies(
    connection: &mut AnyConnection,
    projects: &[i64],
) -> Result<Vec<()>, Abort<StoreError>> {
    for project in projects {
        load_policy(connection, decode::id(*project)?)?;
    }
    Ok(Vec::new())
}

#[async_trait]
impl AgentActionRepository for Database {
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| load_policy(connection, project)).await
    }

    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        by: UserId,
        at: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError> {
        self.write(move |connection| store_policy(connection, project, &policy, (by, at))).await
    }

    async fn use_limits(
        &self,
        agent: UserId,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| count_use(connection, agent, day_end, limits, amount)).await
    }

    async fn count_approved(
        &self,
        public_id: Uuid,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| count_approved(connection, public_id, day_end, limits, amount)).await
    }

    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| newest(connection, token, &arguments_hash)).await
    }

    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            // The lock of the agent orders equal calls, and the count of its open calls.
            agents::lock_agent(connection, new.agent_id)?.ok_or(Abort::Refused(AgentActionError::NotFound))?;
            let known = newest(connection, new.token_id, &new.arguments_hash)?;
            if let Some(known) = known.filter(|known| known.answers(new.proposed_at, new.policy_version)) {
                return Ok(known);
            }
            let open: i64 = actions::table
                .filter(actions::agent_id.eq(new.agent_id.get()))
                .filter(actions::expires_at.gt(new.proposed_at.naive_utc()))
                .filter(actions::state.eq(AgentActionState::Proposed.word()))
                .count()
                .get_result(connection)?;
            if open >= MAX_OPEN_AGENT_ACTIONS {
                return Err(Abort::refused(AgentActionRefusal::TooMany));
            }
            let stored = AgentActionState::Proposed;
            let (decision, execution, reported_at) = (None, None, None);
            let action = AgentAction { proposal: new.clone(), stored, decision, execution, reported_at };
            insert(connection, &action)?;
            approval_mails::request(connection, new.project_id, new.proposed_at)?;
            Ok(action)
        })
        .await
    }

    async fn record(&self, ended: AgentAction) -> Result<(), StoreError> {
        self.write(move |connection| {
            if ended.stored == AgentActionState::Failed && is_only_counted(connection, &ended.proposal)? {
                return Ok(());
            }
            insert(connection, &ended)
        })
        .await
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found = load(connection, public_id)?;
                let found = found.map(|row| records::of_project(row.project_id, AgentAction::try_from(row)));
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
        self.snapshot(move |connection| {
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
        approvals_per_hour: i64,
    ) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, event, decision.at)?;
            let execution = (stored == AgentActionState::Approved).then(|| AgentExecution::begun(decision.at));
            if execution.is_some() {
                require_same_policy(connection, &action.proposal)?;
                require_approvals_left(connection, action.proposal.project_id, &decision, approvals_per_hour)?;
            }
            diesel::update(row_of!(public_id, action))
                .set((
                    actions::state.eq(stored.word()),
                    actions::decided_by.eq(decision.by.get()),
                    actions::decided_at.eq(decision.at.naive_utc()),
                    actions::reason.eq(decision.reason.as_ref().map(Reason::as_str)),
                    actions::started_at.eq(execution.as_ref().map(|begun| begun.started_at.naive_utc())),
                    actions::leased_until.eq(execution.as_ref().map(|begun| begun.leased_until.naive_utc())),
                    actions::attempts.eq(execution.as_ref().map_or(0, |begun| begun.attempts)),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, decision: Some(decision.clone()), execution, ..action })
        })
        .await
    }

    async fn interrupted(&self, at: DateTime<Utc>) -> Result<Option<Uuid>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found: Option<String> = actions::table
                    .filter(actions::state.eq(AgentActionState::Approved.word()))
                    .filter(actions::leased_until.le(at.naive_utc()))
                    .filter(sql::<Bool>(&is_here("agent_actions")))
                    .order(actions::leased_until)
                    .select(actions::public_id)
                    .first(connection)
                    .optional()?;
                Ok(found.as_deref().map(decode::text).transpose()?)
            })
            .await
    }

    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError> {
        self.write(move |connection| {
            let (action, stored) = moved(connection, public_id, AgentActionEvent::Start, at)?;
            let begun = action.execution.map_or_else(|| AgentExecution::begun(at), |begun| begun.continued(at));
            diesel::update(row_of!(public_id, action))
                .set((
                    actions::state.eq(stored.word()),
                    actions::leased_until.eq(begun.leased_until.naive_utc()),
                    actions::attempts.eq(begun.attempts),
                ))
                .execute(connection)?;
            Ok(AgentAction { stored, execution: Some(begun), ..action })
        })
        .await
    }

    async fn finish(
        &self,
        public_id: Uuid,
        attempt: i32,
        result: AgentResult,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(action) = lock_action(connection, public_id)? else { return Ok(()) };
            let is_latest = action.execution.as_ref().is_none_or(|execution| execution.attempts == attempt);
            let counts = is_latest || result.event() == AgentActionEvent::Succeed;
            if let (true, Ok(state)) = (counts, action.after(result.event(), at)) {
                diesel::update(row_of!(public_id, action))
                    .set((
                        actions::state.eq(state.word()),
                        actions::finished_at.eq(at.naive_utc()),
                        actions::status_code.eq(i32::from(result.status)),
                        actions::error_code.eq(result.code.as_deref()),
                        actions::result.eq(result.body.as_deref()),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn report(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(action) = lock_action(connection, public_id)? else { return Ok(()) };
            if let Ok(state) = action.after(AgentActionEvent::Report, at) {
                diesel::update(row_of!(public_id, action))
                    .set((actions::state.eq(state.word()), actions::reported_at.eq(at.naive_utc())))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
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

fn encoded(rules: &AgentRules) -> Value {
    let word = |rule: Option<AgentRule>| rule.map(Word::word);
    let operations = rules.operations.iter().map(|(operation, rule)| (operation.clone(), rule.word().into()));
    json!({
        "write": word(rules.write),
        "money": word(rules.money),
        "destructive": word(rules.destructive),
        "operations": operations.collect::<Map<String, Value>>(),
        "calls_per_day": rules.limits.calls_per_day,
        "money_per_day": rules.limits.money_per_day,
    })
}

fn corrupt(what: &str) -> StoreError {
    StoreError::corrupt(format!("agent_policies: {what} is not valid"))
}

/// Reads stored rules. A missing or unknown word is an error: it is never taken for a permission.
fn decoded(value: &Value) -> Result<AgentRules, StoreError> {
    let word = |value: &Value| value.as_str().and_then(AgentRule::from_word);
    let rule = |class: &str| match value.get(class) {
        Some(Value::Null) => Ok(None),
        stored => stored.and_then(word).map(Some).ok_or_else(|| corrupt(class)),
    };
    let limit = |name: &str| match value.get(name) {
        Some(Value::Null) => Ok(None),
        stored => stored.and_then(Value::as_i64).map(Some).ok_or_else(|| corrupt(name)),
    };
    let operations = value.get("operations").and_then(Value::as_object).ok_or_else(|| corrupt("operations"))?;
    let operation =
        |(name, stored): (&String, &Value)| word(stored).map(|rule| (name.clone(), rule)).ok_or_else(|| corrupt(name));
    Ok(AgentRules {
        write: rule("write")?,
        money: rule("money")?,
        destructive: rule("destructive")?,
        operations: operations.iter().map(operation).collect::<Result<_, _>>()?,
        limits: AgentLimits { calls_per_day: limit("calls_per_day")?, money_per_day: limit("money_per_day")? },
    })
}

fn rules_text(policy: &AgentPolicy) -> String {
    let agents = policy.agents.iter().map(|(agent, rules)| (agent.get().to_string(), encoded(rules)));
    json!({ "project": encoded(&policy.rules), "agents": agents.collect::<Map<String, Value>>() }).to_string()
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = policies)]
struct PolicyRow {
    version: i64,
    refuses_writes: bool,
    approvals_per_hour: i64,
    retention_days: i64,
    rules: String,
}

impl TryFrom<PolicyRow> for AgentPolicy {
    type Error = StoreError;

    fn try_from(row: PolicyRow) -> Result<Self, StoreError> {
        let stored: Value = serde_json::from_str(&row.rules).map_err(StoreError::corrupt)?;
        let mut agents = BTreeMap::new();
        for (number, rules) in stored.get("agents").and_then(Value::as_object).ok_or_else(|| corrupt("agents"))? {
            let number: i64 = number.parse().map_err(StoreError::corrupt)?;
            agents.insert(decode::id::<UserId>(number)?, decoded(rules)?);
        }
        Ok(Self {
            version: row.version,
            refuses_writes: row.refuses_writes,
            approvals_per_hour: row.approvals_per_hour,
            retention_days: row.retention_days,
            rules: decoded(stored.get("project").unwrap_or(&Value::Null))?,
            agents,
        })
    }
}

fn load_policy(connection: &mut AnyConnection, project: ProjectId) -> Result<AgentPolicy, Abort<StoreError>> {
    let row: Option<PolicyRow> =
        policies::table.find(project.get()).select(PolicyRow::as_select()).first(connection).optional()?;
    Ok(row.map(AgentPolicy::try_from).transpose()?.unwrap_or_default())
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

/// Replaces the policy, if the stored one has its version.
fn store_policy(
    connection: &mut AnyConnection,
    project: ProjectId,
    policy: &AgentPolicy,
    (by, at): (UserId, DateTime<Utc>),
) -> Result<AgentPolicy, Abort<AgentActionError>> {
    lock_project(connection, project)?;
    require_agents(connection, project, policy)?;
    let version = policy.version.saturating_add(1);
    let values = (
        policies::version.eq(version),
        policies::refuses_writes.eq(policy.refuses_writes),
        policies::approvals_per_hour.eq(policy.approvals_per_hour),
        policies::retention_days.eq(policy.retention_days),
        policies::rules.eq(rules_text(policy)),
        policies::updated_by.eq(by.get()),
        policies::updated_at.eq(at.naive_utc()),
    );
    if policy.version == 0 {
        diesel::insert_into(policies::table)
            .values((policies::project_id.eq(project.get()), values))
            .execute(connection)
            .map_err(on_duplicate(AgentActionRefusal::Stale))?;
    } else {
        let same = policies::table.find(project.get()).filter(policies::version.eq(policy.version));
        if diesel::update(same).set(values).execute(connection)? == 0 {
            return Err(Abort::refused(AgentActionRefusal::Stale));
        }
    }
    Ok(AgentPolicy { version, ..policy.clone() })
}

/// Counts a call toward the day of an agent. The lock of the agent orders concurrent calls.
fn count_use(
    connection: &mut AnyConnection,
    agent: UserId,
    day_end: DateTime<Utc>,
    limits: AgentLimits,
    amount: i64,
) -> Result<bool, Abort<StoreError>> {
    let Some((_, project)) = agents::lock_agent(connection, agent)? else { return Ok(false) };
    let day = (agent.get(), day_end.naive_utc());
    let used: Option<(i64, i64)> =
        usage::table.find(day).select((usage::calls, usage::money)).first(connection).optional()?;
    let (calls, money) = used.unwrap_or_default();
    let (calls, money) = (calls.saturating_add(1), money.saturating_add(amount));
    if !limits.allow(calls, money) {
        return Ok(false);
    }
    let values = (usage::calls.eq(calls), usage::money.eq(money));
    if used.is_some() {
        let counted = usage::table.find(day).filter(usage::project_id.eq(project));
        diesel::update(counted).set(values).execute(connection)?;
    } else {
        let key = (usage::project_id.eq(project), usage::agent_id.eq(day.0), usage::day_end.eq(day.1));
        diesel::insert_into(usage::table).values((key, values)).execute(connection)?;
    }
    Ok(true)
}

/// Counts an approved call toward the day of its agent, unless it is counted. The lock of the call orders its attempts.
fn count_approved(
    connection: &mut AnyConnection,
    public_id: Uuid,
    day_end: DateTime<Utc>,
    limits: AgentLimits,
    amount: i64,
) -> Result<bool, Abort<StoreError>> {
    let Some(action) = lock_action(connection, public_id)? else { return Ok(false) };
    let is_counted: bool = row_of!(public_id, action).select(actions::is_counted).first(connection)?;
    if is_counted {
        return Ok(true);
    }
    let counts = count_use(connection, action.proposal.agent_id, day_end, limits, amount)?;
    if counts {
        diesel::update(row_of!(public_id, action)).set(actions::is_counted.eq(true)).execute(connection)?;
    }
    Ok(counts)
}
