//! Policy of a project for the calls of its agents.

use std::collections::BTreeMap;

use actix_web::{get, put};
use deserr::Deserr;
use kontor_auth::AgentActionService;
use kontor_auth::model::{AgentLimits, AgentPolicy, AgentRule, AgentRules as Rules};
use kontor_kernel::{Violations, Word};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, one};
use kontor_web::named::NamedErrorBody;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, Service, SignedInStaff};

/// Maximum of `retention_days`.
const MAX_RETENTION_DAYS: i64 = 3_650;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_agent_policy).service(update_agent_policy);
}

/// Rule for one operation.
#[derive(Serialize, ToSchema)]
struct OperationRuleRecord {
    /// Method and path template.
    #[schema(examples("POST /api/orders/{id}/request-refund"))]
    operation: String,
    /// `allowed`, `needs_approval` or `forbidden`.
    rule: &'static str,
}

/// Rules for the writes of agents. `null` is the default of the channel: calls to the API are allowed, and those of
/// the Model Context Protocol need approval if they move money or are destructive.
#[derive(Serialize, ToSchema)]
struct AgentRulesRecord {
    /// Rule for writes that another write takes back: `allowed`, `needs_approval` or `forbidden`.
    write: Option<&'static str>,
    /// Rule for calls that move money, or change prices, stock, settings or access.
    money: Option<&'static str>,
    /// Rule for calls that delete records, or end what cannot be continued.
    destructive: Option<&'static str>,
    /// Rules of single operations. They replace the rule of the class.
    operations: Vec<OperationRuleRecord>,
    /// Maximum number of writes per day in UTC. `null` for no limit.
    calls_per_day: Option<i64>,
    /// Maximum amount per day in UTC, in minor units, over the operations that name an amount. `null` for no limit.
    money_per_day: Option<i64>,
}

/// Agent with own rules. They replace the rules of the project.
#[derive(Serialize, ToSchema)]
struct OwnRulesRecord {
    agent_id: i64,
    rules: AgentRulesRecord,
}

/// Policy of the project for the calls of its agents.
#[derive(Serialize, ToSchema)]
struct AgentPolicyRecord {
    /// Version, for the next change. 0 if the policy was never changed.
    version: i64,
    /// `true` if every write of an agent is refused.
    refuses_writes: bool,
    /// Maximum number of approvals of an employee per hour.
    approvals_per_hour: i64,
    /// Days for which calls of agents are kept. A change applies to later calls.
    retention_days: i64,
    /// Rules for agents without own rules. An operation that is forbidden here is forbidden to all agents.
    rules: AgentRulesRecord,
    /// Agents with own rules.
    agents: Vec<OwnRulesRecord>,
}

impl From<Rules> for AgentRulesRecord {
    fn from(rules: Rules) -> Self {
        let word = |rule: Option<AgentRule>| rule.map(Word::word);
        let operations = rules.operations.into_iter();
        Self {
            write: word(rules.write),
            money: word(rules.money),
            destructive: word(rules.destructive),
            operations: operations
                .map(|(operation, rule)| OperationRuleRecord { operation, rule: rule.word() })
                .collect(),
            calls_per_day: rules.limits.calls_per_day,
            money_per_day: rules.limits.money_per_day,
        }
    }
}

impl From<AgentPolicy> for AgentPolicyRecord {
    fn from(policy: AgentPolicy) -> Self {
        let agents = policy.agents.into_iter();
        Self {
            version: policy.version,
            refuses_writes: policy.refuses_writes,
            approvals_per_hour: policy.approvals_per_hour,
            retention_days: policy.retention_days,
            rules: policy.rules.into(),
            agents: agents
                .map(|(agent, rules)| OwnRulesRecord { agent_id: agent.get(), rules: rules.into() })
                .collect(),
        }
    }
}

one!(AgentPolicyResponse { agent_policy: AgentPolicyRecord });

/// Rule for one operation.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct OperationRuleInput {
    /// Method and path template, as in the API description.
    operation: wire::Line250,
    rule: wire::AgentRuleWord,
}

/// Rules for the writes of agents. A missing rule is the default of the channel, a missing limit is none.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentRulesInput {
    #[deserr(default)]
    write: Option<wire::AgentRuleWord>,
    #[deserr(default)]
    money: Option<wire::AgentRuleWord>,
    #[deserr(default)]
    destructive: Option<wire::AgentRuleWord>,
    /// Rules of single operations, at most 500. `forbidden` is a kill switch.
    operations: Vec<OperationRuleInput>,
    #[deserr(default)]
    calls_per_day: Option<wire::Integer>,
    /// In minor units. With this limit, a refund must name its amount.
    #[deserr(default)]
    money_per_day: Option<wire::Integer>,
}

/// Agent with own rules.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct OwnRulesInput {
    agent_id: wire::UserId,
    rules: AgentRulesInput,
}

/// Policy to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentPolicyInput {
    /// Version of the policy as last read.
    version: wire::Integer,
    /// `true` to refuse every write of every agent, from the next call on.
    refuses_writes: wire::Flag,
    /// Approvals of an employee within an hour, 60 in a new project.
    approvals_per_hour: wire::Integer,
    /// Days for which the log is kept, 90 in a new project, at most 3650.
    retention_days: wire::Integer,
    rules: AgentRulesInput,
    /// Agents with own rules, at most 100.
    agents: Vec<OwnRulesInput>,
}

/// Reads the parts of a policy and collects their violations.
struct Reading<'a> {
    service: &'a AgentActionService,
    violations: Violations,
}

impl Reading<'_> {
    fn bounded(&mut self, field: &str, value: wire::Integer, least: i64, most: i64) -> i64 {
        let value = value.0;
        if value < least {
            self.violations.add(field, format!("must be at least {least}"));
        } else if value > most {
            self.violations.add(field, format!("must be at most {most}"));
        }
        value
    }

    fn rules(&mut self, place: &str, input: AgentRulesInput) -> Rules {
        let mut operations = BTreeMap::new();
        for (index, OperationRuleInput { operation, rule }) in input.operations.into_iter().enumerate() {
            let name = operation.0.as_str().to_owned();
            let field = format!("{place}.operations.{index}.operation");
            if !self.service.has_operation(&name) {
                self.violations.add(field, "is no write that agents can call");
            } else if operations.insert(name, rule.0).is_some() {
                self.violations.add(field, "is in the list twice");
            }
        }
        let limits = AgentLimits {
            calls_per_day: input
                .calls_per_day
                .map(|limit| self.bounded(&format!("{place}.calls_per_day"), limit, 0, i64::MAX)),
            money_per_day: input
                .money_per_day
                .map(|limit| self.bounded(&format!("{place}.money_per_day"), limit, 0, i64::MAX)),
        };
        let [write, money, destructive] =
            [input.write, input.money, input.destructive].map(|rule| rule.map(|rule| rule.0));
        Rules { write, money, destructive, operations, limits }
    }

    /// Reads the policy. Each agent may be named once.
    fn policy(mut self, input: AgentPolicyInput) -> Result<AgentPolicy, Violations> {
        let rules = self.rules("rules", input.rules);
        let mut agents = BTreeMap::new();
        for (index, OwnRulesInput { agent_id, rules }) in input.agents.into_iter().enumerate() {
            let rules = self.rules(&format!("agents.{index}.rules"), rules);
            if agents.insert(agent_id.0, rules).is_some() {
                self.violations.add(format!("agents.{index}.agent_id"), "is in the list twice");
            }
        }
        let approvals_per_hour = self.bounded("approvals_per_hour", input.approvals_per_hour, 0, i64::MAX);
        let retention_days = self.bounded("retention_days", input.retention_days, 1, MAX_RETENTION_DAYS);
        if !self.violations.fields().is_empty() {
            return Err(self.violations);
        }
        Ok(AgentPolicy {
            version: input.version.0,
            refuses_writes: input.refuses_writes.0,
            approvals_per_hour,
            retention_days,
            rules,
            agents,
        })
    }
}

/// Get the policy for calls of agents
#[utoipa::path(tag = "Agent actions", responses((status = 200, body = AgentPolicyResponse)))]
#[get("/api/agent-policy")]
async fn show_agent_policy(staff: SignedInStaff, service: Service<AgentActionService>) -> Answer<AgentPolicyResponse> {
    answer(service.policy(&staff).await?)
}

/// Set the policy for calls of agents
///
/// Applies from the next call on. Calls proposed under the previous policy can no longer be approved; the agent
/// proposes them again.
#[utoipa::path(
    tag = "Agent actions",
    request_body = AgentPolicyInput,
    responses(
        (status = 200, body = AgentPolicyResponse),
        (status = 409, description = "The policy was changed since it was read.", body = NamedErrorBody),
    ),
)]
#[put("/api/agent-policy")]
async fn update_agent_policy(
    staff: SignedInStaff,
    service: Service<AgentActionService>,
    body: Body<AgentPolicyInput>,
) -> Answer<AgentPolicyResponse> {
    let policy = Reading { service: &service, violations: Violations::default() }.policy(body.0)?;
    answer(service.set_policy(&staff, policy).await?)
}
