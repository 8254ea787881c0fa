use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Edit, Email, Name, Permission, PermissionId, ProjectId, Prose, TokenId, UserId};

use super::{GrantedPermission, Login, Reference, within_reach};
use crate::AgentRefusal;

/// How long a token of an agent is valid when nobody says otherwise.
pub const AGENT_TOKEN_LIFETIME: TimeDelta = TimeDelta::days(30);
/// The longest validity of a token of an agent.
pub const AGENT_TOKEN_LIFETIME_MOST: TimeDelta = TimeDelta::days(365);
/// How many tokens an agent may have at a time.
pub const AGENT_TOKENS_MOST: i64 = 50;

/// A program that works on the platform surface like an employee, with permissions of its own. It cannot sign in; it
/// comes with tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its number, among those of the employees.
    pub id: UserId,
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<Prose>,
    /// Whether it is paused: none of its tokens opens anything.
    pub is_banned: bool,
    /// Who made it.
    pub creator: Option<Reference<UserId>>,
    /// What it may do at most, by number.
    pub permissions: Vec<GrantedPermission>,
    /// Raised by every change.
    pub version: u64,
    /// When it last did something, to the minute or so.
    pub last_activity_at: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A permission, by its number or by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionRef {
    /// By number.
    Id(PermissionId),
    /// By name.
    Name(Permission),
}

/// An agent that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDraft {
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<Prose>,
    /// What it may do.
    pub permissions: Vec<PermissionRef>,
    /// Whether it starts paused.
    pub is_banned: bool,
}

/// What is to change in an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentChange {
    /// Its name.
    pub name: Edit<Name>,
    /// What it is for.
    pub description: Edit<Option<Prose>>,
    /// What it may do from now on.
    pub permissions: Edit<Vec<PermissionRef>>,
    /// Whether it is paused.
    pub is_banned: Edit<bool>,
}

/// All that is written of a new agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgent {
    /// Its project.
    pub project_id: ProjectId,
    /// Who makes it.
    pub creator: UserId,
    /// A login that nobody can sign in with.
    pub login: Login,
    /// An address that takes no mail.
    pub email: Email,
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<Prose>,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
    /// Whether it starts paused.
    pub is_banned: bool,
    /// Now.
    pub at: DateTime<Utc>,
}

/// All that is written when an agent changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentUpdate {
    /// The agent.
    pub agent: UserId,
    /// What the actor may do himself; an agent that may do more is not changed by him.
    pub held: BTreeSet<Permission>,
    /// Its name.
    pub name: Edit<Name>,
    /// What it is for.
    pub description: Edit<Option<Prose>>,
    /// What it may do from now on.
    pub permissions: Edit<BTreeSet<Permission>>,
    /// Whether it is paused.
    pub is_banned: Edit<bool>,
    /// Now.
    pub at: DateTime<Utc>,
}

/// A token of an agent, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentToken {
    /// Its number, the part before the `|`.
    pub id: TokenId,
    /// What it is called.
    pub name: Option<Name>,
    /// What it may do at most; `None` for all that the agent may do.
    pub abilities: Option<BTreeSet<Permission>>,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it was issued.
    pub created_at: DateTime<Utc>,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
}

/// When a token of an agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenExpiry {
    /// At this moment.
    At(DateTime<Utc>),
    /// After this many days.
    InDays(i64),
}

/// An end that no token of an agent can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExpiryError {
    /// The token would be dead at once.
    #[error("must be in the future")]
    Past,
    /// The token would live too long.
    #[error("must be at most {} days away", AGENT_TOKEN_LIFETIME_MOST.num_days())]
    TooFar,
}

impl TokenExpiry {
    /// The moment, for a token that is issued now.
    pub fn moment(self, now: DateTime<Utc>) -> Result<DateTime<Utc>, ExpiryError> {
        let at = match self {
            Self::At(at) => at,
            Self::InDays(days) => TimeDelta::try_days(days)
                .and_then(|days| now.checked_add_signed(days))
                .ok_or(if days > 0 { ExpiryError::TooFar } else { ExpiryError::Past })?,
        };
        match at - now {
            left if left <= TimeDelta::zero() => Err(ExpiryError::Past),
            left if left > AGENT_TOKEN_LIFETIME_MOST => Err(ExpiryError::TooFar),
            _ => Ok(at),
        }
    }
}

/// A token that is to be issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTokenDraft {
    /// What it is called.
    pub name: Name,
    /// What it may do at most; `None` for all that the agent may do.
    pub abilities: Option<Vec<PermissionRef>>,
    /// When it ends.
    pub expiry: Option<TokenExpiry>,
}

/// All that is written of a new token of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgentToken {
    /// The agent.
    pub agent: UserId,
    /// What the actor may do himself.
    pub held: BTreeSet<Permission>,
    /// What it is called.
    pub name: Name,
    /// What it may do at most; `None` for all that the agent may do.
    pub abilities: Option<BTreeSet<Permission>>,
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// Now.
    pub created_at: DateTime<Utc>,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
}

impl NewAgentToken {
    /// Whether it may be issued for an agent with these permissions: it is held to some of them, and the actor has all
    /// that it opens.
    pub fn check(&self, agent: &BTreeSet<Permission>) -> Result<(), AgentRefusal> {
        if let Some(abilities) = &self.abilities {
            let foreign: BTreeSet<Permission> = abilities.difference(agent).copied().collect();
            if !foreign.is_empty() {
                return Err(AgentRefusal::BeyondAgent(foreign));
            }
        }
        Ok(within_reach(&self.held, self.abilities.as_ref().unwrap_or(agent))?)
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
        let far = TokenExpiry::At(NOW + AGENT_TOKEN_LIFETIME_MOST + second);
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
        assert!(matches!(token(&[view], None).check(&agent), Err(AgentRefusal::BeyondReach(_))));
        assert!(matches!(token(&[view], Some(&[edit])).check(&agent), Err(AgentRefusal::BeyondReach(_))));
        let wider = token(&[view, edit], Some(&[view, edit])).check(&[view].into());
        assert!(matches!(wider, Err(AgentRefusal::BeyondAgent(foreign)) if foreign == [edit].into()));
    }
}
