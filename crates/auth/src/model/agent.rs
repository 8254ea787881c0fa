use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Edit, Email, Name, Permission, PermissionId, ProjectId, Prose, TokenId, UserId, draft_and_change};

use super::{GrantedPermission, Login, Reference, check_held};
use crate::AgentRefusal;

/// Default validity of an agent token.
pub const AGENT_TOKEN_LIFETIME: TimeDelta = TimeDelta::days(30);
/// Maximum validity of an agent token.
pub const MAX_AGENT_TOKEN_LIFETIME: TimeDelta = TimeDelta::days(365);
/// Maximum number of tokens of an agent.
pub const MAX_AGENT_TOKENS: i64 = 50;

/// Program that uses the platform surface like an employee, with its own permissions. It cannot sign in and
/// authenticates with tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Identifier, from the same sequence as employees.
    pub id: UserId,
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Prose>,
    /// `true` if the agent is paused: its tokens are refused.
    pub is_banned: bool,
    /// Employee who created the agent.
    pub creator: Option<Reference<UserId>>,
    /// Upper bound of its permissions, by identifier.
    pub permissions: Vec<GrantedPermission>,
    /// Version, incremented by every change.
    pub version: u64,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

/// Reference to a permission, by identifier or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionRef {
    /// By identifier.
    Id(PermissionId),
    /// By name.
    Name(Permission),
}

draft_and_change! {
    /// Fields of a new agent.
    AgentDraft,
    /// Change of an agent.
    AgentChange {
        /// Name.
        name: Name,
        /// Purpose, in words.
        description: Option<Prose>,
        /// Permissions; a change replaces the whole set.
        permissions: Vec<PermissionRef>,
        /// `true` if the agent is paused.
        is_banned: bool,
    }
}

/// All stored fields of a new agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    /// Project.
    pub project_id: ProjectId,
    /// Employee who creates the agent.
    pub creator: UserId,
    /// Login that cannot be used to sign in.
    pub login: Login,
    /// E-mail address that accepts no mail.
    pub email: Email,
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Prose>,
    /// Permissions.
    pub permissions: BTreeSet<Permission>,
    /// `true` if the agent starts paused.
    pub is_banned: bool,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// All stored fields of a change of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentUpdate {
    /// Agent.
    pub agent: UserId,
    /// Permissions of the caller. An agent that holds more is not changed.
    pub held: BTreeSet<Permission>,
    /// Name.
    pub name: Edit<Name>,
    /// Purpose, in words.
    pub description: Edit<Option<Prose>>,
    /// New set of permissions.
    pub permissions: Edit<BTreeSet<Permission>>,
    /// `true` if the agent is paused.
    pub is_banned: Edit<bool>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Agent token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentToken {
    /// Identifier, the part before the `|`.
    pub id: TokenId,
    /// Name.
    pub name: Option<Name>,
    /// Upper bound of the token's permissions; `None` for all permissions of the agent.
    pub abilities: Option<BTreeSet<Permission>>,
    /// Time of the last use, accurate to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Time of issue.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

/// Expiry of an agent token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenExpiry {
    /// At this time.
    At(DateTime<Utc>),
    /// After this many days.
    InDays(i64),
}

/// Error: the expiry is not valid for an agent token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExpiryError {
    /// The time is not in the future.
    #[error("must be in the future")]
    Past,
    /// The time is too far in the future.
    #[error("must be at most {} days away", MAX_AGENT_TOKEN_LIFETIME.num_days())]
    TooFar,
}

impl TokenExpiry {
    /// Returns the expiry time of a token that is issued now.
    pub fn moment(self, now: DateTime<Utc>) -> Result<DateTime<Utc>, ExpiryError> {
        let at = match self {
            Self::At(at) => at,
            Self::InDays(days) => TimeDelta::try_days(days)
                .and_then(|days| now.checked_add_signed(days))
                .ok_or(if days > 0 { ExpiryError::TooFar } else { ExpiryError::Past })?,
        };
        match at - now {
            left if left <= TimeDelta::zero() => Err(ExpiryError::Past),
            left if left > MAX_AGENT_TOKEN_LIFETIME => Err(ExpiryError::TooFar),
            _ => Ok(at),
        }
    }
}

/// Fields of a new agent token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTokenDraft {
    /// Name.
    pub name: Name,
    /// Upper bound of the token's permissions; `None` for all permissions of the agent.
    pub abilities: Option<Vec<PermissionRef>>,
    /// Expiry.
    pub expiry: Option<TokenExpiry>,
}

/// All stored fields of a new agent token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgentToken {
    /// Agent.
    pub agent: UserId,
    /// Permissions of the caller.
    pub held: BTreeSet<Permission>,
    /// Name.
    pub name: Name,
    /// Upper bound of the token's permissions; `None` for all permissions of the agent.
    pub abilities: Option<BTreeSet<Permission>>,
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

impl NewAgentToken {
    /// Checks the token against the agent's permissions: the agent has all its abilities, and the caller holds all
    /// permissions that it grants.
    pub fn check(&self, agent: &BTreeSet<Permission>) -> Result<(), AgentRefusal> {
        if let Some(abilities) = &self.abilities {
            let foreign: BTreeSet<Permission> = abilities.difference(agent).copied().collect();
            if !foreign.is_empty() {
                return Err(AgentRefusal::ExceedsAgent(foreign));
            }
        }
        Ok(check_held(&self.held, self.abilities.as_ref().unwrap_or(agent))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Resource;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn a_token_ends_within_a_year() {
        let days = |days| TokenExpiry::InDays(days).moment(NOW);
        assert_eq!(days(365), Ok(NOW + TimeDelta::days(365)));
        for (wrong, error) in [
            (0, ExpiryError::Past),
            (-1, ExpiryError::Past),
            (i64::MIN, ExpiryError::Past),
            (366, ExpiryError::TooFar),
            (i64::MAX, ExpiryError::TooFar),
        ] {
            assert_eq!(days(wrong), Err(error), "{wrong}");
        }
        let second = TimeDelta::seconds(1);
        assert_eq!(TokenExpiry::At(NOW + second).moment(NOW), Ok(NOW + second));
        assert_eq!(TokenExpiry::At(NOW).moment(NOW), Err(ExpiryError::Past));
        let far = TokenExpiry::At(NOW + MAX_AGENT_TOKEN_LIFETIME + second);
        assert_eq!(far.moment(NOW), Err(ExpiryError::TooFar));
        assert_eq!(TokenExpiry::At(DateTime::<Utc>::MAX_UTC).moment(NOW), Err(ExpiryError::TooFar));
        assert_eq!(ExpiryError::TooFar.to_string(), "must be at most 365 days away");
    }

    #[test]
    fn a_token_opens_part_of_what_the_agent_may_do() {
        let (view, edit) = (Permission::view(Resource::Orders), Permission::edit(Resource::Orders));
        let token = |held: &[Permission], abilities: Option<&[Permission]>| NewAgentToken {
            agent: UserId::new(5).unwrap(),
            held: held.iter().copied().collect(),
            name: Name::parse("Night run").unwrap(),
            abilities: abilities.map(|some| some.iter().copied().collect()),
            fingerprint: "f".to_owned(),
            created_at: NOW,
            expires_at: NOW,
        };
        let agent = BTreeSet::from([view, edit]);
        assert!(token(&[view, edit], None).check(&agent).is_ok());
        assert!(token(&[view], Some(&[view])).check(&agent).is_ok());
        assert!(token(&[], Some(&[])).check(&agent).is_ok());
        assert!(matches!(token(&[view], None).check(&agent), Err(AgentRefusal::PermissionsNotHeld(_))));
        assert!(matches!(token(&[view], Some(&[edit])).check(&agent), Err(AgentRefusal::PermissionsNotHeld(_))));
        let wider = token(&[view, edit], Some(&[view, edit])).check(&[view].into());
        assert!(matches!(wider, Err(AgentRefusal::ExceedsAgent(foreign)) if foreign == [edit].into()));
    }
}
