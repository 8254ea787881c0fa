use std::collections::BTreeMap;

use kontor_kernel::{Permission, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::Channel;

/// Maximum number of agents with own rules in a project.
pub const MAX_AGENT_RULES: usize = 100;
/// Maximum number of operations with own rules, for the project and for each agent.
pub const MAX_OPERATION_RULES: usize = 500;
/// Approvals of an employee per hour, unless the policy says otherwise.
pub const APPROVALS_PER_HOUR: i64 = 60;
/// Days for which calls of agents are kept, unless the policy says otherwise.
pub const AGENT_LOG_DAYS: i64 = 90;

/// Kind of effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ToolClass {
    /// Changes nothing that belongs to the project.
    Read,
    /// Changes records in a way that another write can revert.
    Write,
    /// Moves money, or changes prices, stock or access. An unknown operation counts as this.
    Money,
    /// Deletes records, or ends what cannot be continued.
    Destructive,
}

/// Operation of the API that an agent may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// HTTP method.
    pub method: &'static str,
    /// Path template.
    pub path: &'static str,
    /// Kind of effect.
    pub class: ToolClass,
    /// Permissions that the operation requires.
    pub permissions: &'static [Permission],
    /// `true` if its body or its response holds secrets. Such a call is never stored, so it cannot wait for approval.
    pub holds_secrets: bool,
    /// `true` if `dry_run=1` returns its result without writing anything.
    pub has_preview: bool,
    /// Field of the body with the amount of money that it moves.
    pub amount: Option<&'static str>,
}

/// Treatment of a call of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AgentRule {
    /// Executed at once.
    Allowed,
    /// Executed when an employee approves it.
    NeedsApproval,
    /// Refused.
    Forbidden,
}

impl AgentRule {
    /// Returns the rule for a class that the policy does not mention. Calls to the API are allowed, as their permissions
    /// say.
    ///
    /// | Class | API | Tools |
    /// |---|---|---|
    /// | `read` | `allowed` | `allowed` |
    /// | `write` | `allowed` | `allowed` |
    /// | `money` | `allowed` | `needs_approval` |
    /// | `destructive` | `allowed` | `needs_approval` |
    pub fn by_default(channel: Channel, class: ToolClass) -> Self {
        match (channel, class) {
            (Channel::Mcp, ToolClass::Money | ToolClass::Destructive) => Self::NeedsApproval,
            _ => Self::Allowed,
        }
    }
}

/// Limits of an agent for a day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentLimits {
    /// Maximum number of writes.
    pub calls_per_day: Option<i64>,
    /// Maximum amount of money in minor units, over the operations that name an amount.
    pub money_per_day: Option<i64>,
}

impl AgentLimits {
    /// Returns `true` if there is a limit.
    pub fn any(self) -> bool {
        self.calls_per_day.is_some() || self.money_per_day.is_some()
    }

    /// Returns `true` if this use of a day is within the limits.
    pub fn allow(self, calls: i64, money: i64) -> bool {
        self.calls_per_day.is_none_or(|most| calls <= most) && self.money_per_day.is_none_or(|most| money <= most)
    }
}

/// Rules for the writes of agents. Reads are always allowed; permissions decide about them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentRules {
    /// Rule for [`ToolClass::Write`]; `None` for the default of the channel.
    pub write: Option<AgentRule>,
    /// Rule for [`ToolClass::Money`]; `None` for the default of the channel.
    pub money: Option<AgentRule>,
    /// Rule for [`ToolClass::Destructive`]; `None` for the default of the channel.
    pub destructive: Option<AgentRule>,
    /// Rules of single operations, named by method and path template.
    pub operations: BTreeMap<String, AgentRule>,
    /// Limits.
    pub limits: AgentLimits,
}

impl AgentRules {
    /// Returns the rule for an operation, if there is one.
    fn of(&self, operation: &str, class: ToolClass) -> Option<AgentRule> {
        self.operations.get(operation).copied().or(match class {
            ToolClass::Read => Some(AgentRule::Allowed),
            ToolClass::Write => self.write,
            ToolClass::Money => self.money,
            ToolClass::Destructive => self.destructive,
        })
    }
}

/// Policy of a project for the calls of its agents. Without a stored one, the defaults of the channels apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPolicy {
    /// Version, raised by each change; 0 if none is stored.
    pub version: i64,
    /// `true` to refuse every call of an agent that is not a read.
    pub refuses_writes: bool,
    /// Maximum number of approvals of an employee per hour.
    pub approvals_per_hour: i64,
    /// Days for which calls are kept.
    pub retention_days: i64,
    /// Rules for agents without own rules.
    pub rules: AgentRules,
    /// Rules of single agents.
    pub agents: BTreeMap<UserId, AgentRules>,
}

impl Default for AgentPolicy {
    fn default() -> Self {
        Self {
            version: 0,
            refuses_writes: false,
            approvals_per_hour: APPROVALS_PER_HOUR,
            retention_days: AGENT_LOG_DAYS,
            rules: AgentRules::default(),
            agents: BTreeMap::new(),
        }
    }
}

impl AgentPolicy {
    fn rules(&self, agent: UserId) -> &AgentRules {
        self.agents.get(&agent).unwrap_or(&self.rules)
    }

    /// Returns the rule for a call of an agent. An operation that the project forbids is forbidden to all agents.
    pub fn rule(&self, agent: UserId, channel: Channel, operation: &str, class: ToolClass) -> AgentRule {
        if class == ToolClass::Read {
            return AgentRule::Allowed;
        }
        if self.refuses_writes || self.rules.operations.get(operation) == Some(&AgentRule::Forbidden) {
            return AgentRule::Forbidden;
        }
        self.rules(agent).of(operation, class).unwrap_or(AgentRule::by_default(channel, class))
    }

    /// Returns the limits of an agent.
    pub fn limits(&self, agent: UserId) -> AgentLimits {
        self.rules(agent).limits
    }

    /// Returns `true` if the lists of rules are short enough to be stored.
    pub fn is_bounded(&self) -> bool {
        let mut all = self.agents.values().chain([&self.rules]);
        self.agents.len() <= MAX_AGENT_RULES && all.all(|rules| rules.operations.len() <= MAX_OPERATION_RULES)
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word as _;

    use super::*;

    const REFUND: &str = "POST /api/orders/{id}/request-refund";

    fn agent(number: i64) -> UserId {
        UserId::new(number).unwrap()
    }

    #[test]
    fn rustdoc_shows_the_default_rules() {
        let rows = include_str!("agent_policy.rs").lines().filter_map(|line| line.strip_prefix("    /// | ")).skip(1);
        let row = |class: &ToolClass| {
            let rule = |channel| AgentRule::by_default(channel, *class).word();
            format!("`{}` | `{}` | `{}` |", class.word(), rule(Channel::Api), rule(Channel::Mcp))
        };
        assert_eq!(rows.collect::<Vec<_>>(), ToolClass::all().iter().map(row).collect::<Vec<_>>());
    }

    #[test]
    fn channels_differ_only_where_the_policy_is_silent() {
        let policy = AgentPolicy::default();
        for (class, api, mcp) in [
            (ToolClass::Read, AgentRule::Allowed, AgentRule::Allowed),
            (ToolClass::Write, AgentRule::Allowed, AgentRule::Allowed),
            (ToolClass::Money, AgentRule::Allowed, AgentRule::NeedsApproval),
            (ToolClass::Destructive, AgentRule::Allowed, AgentRule::NeedsApproval),
        ] {
            assert_eq!(policy.rule(agent(1), Channel::Api, REFUND, class), api);
            assert_eq!(policy.rule(agent(1), Channel::Mcp, REFUND, class), mcp);
        }
        let rules = AgentRules { money: Some(AgentRule::Forbidden), ..AgentRules::default() };
        let policy = AgentPolicy { rules, ..policy };
        for channel in [Channel::Api, Channel::Mcp] {
            assert_eq!(policy.rule(agent(1), channel, REFUND, ToolClass::Money), AgentRule::Forbidden);
        }
    }

    #[test]
    fn an_operation_and_an_agent_have_own_rules() {
        let operations = BTreeMap::from([(REFUND.to_owned(), AgentRule::NeedsApproval)]);
        let own = AgentRules { money: Some(AgentRule::Forbidden), operations, ..AgentRules::default() };
        let policy = AgentPolicy { agents: BTreeMap::from([(agent(1), own)]), ..AgentPolicy::default() };
        let rule = |policy: &AgentPolicy, number, operation| {
            policy.rule(agent(number), Channel::Api, operation, ToolClass::Money)
        };
        assert_eq!(rule(&policy, 1, REFUND), AgentRule::NeedsApproval);
        assert_eq!(rule(&policy, 1, "POST /api/orders"), AgentRule::Forbidden);
        assert_eq!(rule(&policy, 2, REFUND), AgentRule::Allowed);
        // Switches of the project are stronger than rules of an agent.
        let mut switched = policy.clone();
        switched.rules.operations.insert(REFUND.to_owned(), AgentRule::Forbidden);
        assert_eq!(rule(&switched, 1, REFUND), AgentRule::Forbidden);
        let stopped = AgentPolicy { refuses_writes: true, ..policy };
        assert_eq!(rule(&stopped, 2, "POST /api/orders"), AgentRule::Forbidden);
        assert_eq!(stopped.rule(agent(2), Channel::Api, "POST /api/x", ToolClass::Read), AgentRule::Allowed);
    }

    #[test]
    fn a_limit_includes_its_last_use() {
        let limits = AgentLimits { calls_per_day: Some(2), money_per_day: Some(100) };
        assert!(limits.any() && limits.allow(2, 100));
        assert!(!limits.allow(3, 0) && !limits.allow(1, 101));
        assert!(!AgentLimits::default().any() && AgentLimits::default().allow(i64::MAX, i64::MAX));
    }
}
