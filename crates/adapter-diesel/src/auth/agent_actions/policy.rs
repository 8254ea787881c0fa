use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_auth::model::{AgentLimits, AgentPolicy, AgentRule, AgentRules};
use kontor_auth::{AgentActionError, AgentActionRefusal};
use kontor_kernel::{ProjectId, StoreError, UserId, Word};
use serde_json::{Map, Value, json};

use super::super::{AGENT, agents};
use crate::database::{Abort, AnyConnection, on_duplicate};
use crate::decode;
use crate::schema::{agent_policies as policies, agent_usage as usage, users};

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

pub(super) fn load(connection: &mut AnyConnection, project: ProjectId) -> Result<AgentPolicy, Abort<StoreError>> {
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
pub(super) fn store(
    connection: &mut AnyConnection,
    project: ProjectId,
    policy: &AgentPolicy,
    (by, at): (UserId, DateTime<Utc>),
) -> Result<AgentPolicy, Abort<AgentActionError>> {
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
pub(super) fn count(
    connection: &mut AnyConnection,
    agent: UserId,
    day_end: DateTime<Utc>,
    limits: AgentLimits,
    amount: i64,
) -> Result<bool, Abort<StoreError>> {
    if agents::lock_agent(connection, agent)?.is_none() {
        return Ok(false);
    }
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
        diesel::update(usage::table.find(day)).set(values).execute(connection)?;
    } else {
        let key = (usage::agent_id.eq(day.0), usage::day_end.eq(day.1));
        diesel::insert_into(usage::table).values((key, values)).execute(connection)?;
    }
    Ok(true)
}
