use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    Listing, Name, Page, Permission, PermissionId, ProjectId, ProjectScoped, StoreError, TokenId, UserId,
};

use super::tokens::Token;
use super::{Guard, InMemoryLogins, State};
use crate::model::{
    Agent, AgentToken, AgentUpdate, GrantedPermission, MAX_AGENT_TOKENS, NewAgent, NewAgentToken, NewToken, Reference,
    StoredStaffToken, TokenOwner, check_held,
};
use crate::ports::AgentRepository;
use crate::{AgentError, AgentRefusal};

/// Agent with the fields that only the storage reads.
pub(super) struct StoredAgent {
    pub(super) project: ProjectId,
    pub(super) agent: Agent,
    is_deleted: bool,
}

impl StoredAgent {
    fn permissions(&self) -> BTreeSet<Permission> {
        self.agent.permissions.iter().filter_map(|granted| granted.name.parse().ok()).collect()
    }
}

impl Token {
    fn of_agent(&self, id: TokenId) -> AgentToken {
        AgentToken {
            id,
            name: self.name.clone(),
            abilities: self.abilities.clone(),
            last_used_at: self.last_used_at,
            created_at: self.new.created_at,
            expires_at: self.new.expires_at,
        }
    }
}

impl State {
    /// Returns an agent that is not deleted.
    pub(super) fn live_agent(&mut self, id: UserId) -> Option<&mut StoredAgent> {
        self.agents.get_mut(&id).filter(|stored| !stored.is_deleted)
    }

    /// Returns an agent unless its permissions exceed those of the caller.
    fn weaker_agent(&mut self, id: UserId, held: &BTreeSet<Permission>) -> Result<&mut StoredAgent, AgentError> {
        let checked = self.guards.has(Guard::AgentHeld);
        let stored = self.live_agent(id).ok_or(AgentError::NotFound)?;
        if checked {
            check_held(held, &stored.permissions()).map_err(AgentRefusal::from)?;
        }
        Ok(stored)
    }

    pub(super) fn insert_agent(&mut self, new: NewAgent) -> Result<Agent, StoreError> {
        let mut staff = self.staff.iter().map(|member| &member.employee);
        let creator = staff.find(|member| member.id == new.creator);
        let creator = creator.map(|member| {
            let name = Name::parse(&format!("{} {}", member.first_name, member.last_name));
            Ok::<_, StoreError>(Reference { id: member.id, name: name.map_err(StoreError::corrupt)? })
        });
        let agent = Agent {
            id: self.ids.id(),
            name: new.name,
            description: new.description,
            is_banned: new.is_banned,
            creator: creator.transpose()?,
            permissions: self.granted(&new.permissions),
            version: 1,
            last_activity_at: None,
            created_at: new.at,
            updated_at: new.at,
        };
        let stored = StoredAgent { project: new.project_id, agent: agent.clone(), is_deleted: false };
        self.agents.insert(agent.id, stored);
        Ok(agent)
    }

    fn update_agent(&mut self, update: AgentUpdate) -> Result<Agent, AgentError> {
        let granted = update.permissions.as_set().map(|wanted| self.granted(wanted));
        let agent = &mut self.weaker_agent(update.agent, &update.held)?.agent;
        if let Some(granted) = granted {
            agent.permissions = granted;
        }
        agent.name = update.name.or(agent.name.clone());
        agent.description = update.description.or(agent.description.take());
        agent.is_banned = update.is_banned.or(agent.is_banned);
        (agent.version, agent.updated_at) = (agent.version + 1, update.at);
        Ok(agent.clone())
    }

    fn delete_agent(&mut self, id: UserId, held: &BTreeSet<Permission>) -> Result<(), AgentError> {
        let revokes = self.guards.has(Guard::AgentDeleted);
        self.weaker_agent(id, held)?.is_deleted = true;
        if revokes {
            self.revoke(|_, token| token.owner == TokenOwner::Staff(id));
        }
        Ok(())
    }

    fn agent_tokens(&self, agent: UserId) -> Vec<AgentToken> {
        let own = self.tokens.iter().filter(|(_, token)| token.owner == TokenOwner::Staff(agent));
        own.map(|(id, token)| token.of_agent(*id)).collect()
    }

    fn insert_agent_token(&mut self, new: &NewAgentToken) -> Result<AgentToken, AgentError> {
        let permissions = self.live_agent(new.agent).ok_or(AgentError::NotFound)?.permissions();
        if self.guards.has(Guard::AgentHeld) {
            new.check(&permissions)?;
        }
        if !self.has_room(new.agent) {
            return Err(AgentRefusal::TooManyTokens.into());
        }
        Ok(self.issue_agent_token(new))
    }

    /// Returns `true` if an agent may get a further token.
    pub(super) fn has_room(&self, agent: UserId) -> bool {
        let has_room = i64::try_from(self.agent_tokens(agent).len()).is_ok_and(|count| count < MAX_AGENT_TOKENS);
        has_room || !self.guards.has(Guard::AgentTokens)
    }

    /// Stores a token of an agent without checks.
    pub(super) fn issue_agent_token(&mut self, new: &NewAgentToken) -> AgentToken {
        let id: TokenId = self.ids.id();
        let token = Token {
            owner: TokenOwner::Staff(new.agent),
            app: None,
            new: NewToken {
                fingerprint: new.fingerprint.clone(),
                device: None,
                created_at: new.created_at,
                expires_at: new.expires_at,
            },
            last_used_at: None,
            name: Some(new.name.clone()),
            abilities: new.abilities.clone(),
        };
        let issued = token.of_agent(id);
        self.tokens.insert(id, token);
        issued
    }

    fn delete_agent_token(&mut self, agent: UserId, token: TokenId) -> bool {
        let before = self.tokens.len();
        self.revoke(|id, known| id == token && known.owner == TokenOwner::Staff(agent));
        self.tokens.len() < before
    }

    /// Returns a token as the guard of employees reads it, if an agent owns it.
    pub(super) fn agent_token(&self, token: &Token) -> Option<StoredStaffToken> {
        let TokenOwner::Staff(user_id) = token.owner else { return None };
        let stored = self.agents.get(&user_id)?;
        Some(StoredStaffToken {
            fingerprint: token.new.fingerprint.clone(),
            expires_at: token.new.expires_at,
            last_used_at: token.last_used_at,
            user_id,
            project_id: stored.project,
            is_banned: stored.agent.is_banned,
            is_agent: true,
            permissions: stored.permissions(),
            abilities: token.abilities.clone().filter(|_| self.guards.has(Guard::Abilities)),
        })
    }

    /// Records the activity of the owner of a token, if it is an agent.
    pub(super) fn agent_was_active(&mut self, owner: TokenOwner, at: DateTime<Utc>) {
        if let TokenOwner::Staff(user) = owner
            && let Some(stored) = self.agents.get_mut(&user)
        {
            stored.agent.last_activity_at = Some(at);
        }
    }
}

#[async_trait]
impl AgentRepository for InMemoryLogins {
    async fn known_permissions(&self) -> Result<BTreeMap<PermissionId, Permission>, StoreError> {
        let known = |granted: &GrantedPermission| Some((granted.id, granted.name.parse().ok()?));
        Ok(self.state.with(|state| state.permissions_of_service().filter_map(known).collect()))
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Agent>, StoreError> {
        listing.page_of(self.state.with(|state| {
            let own = state.agents.values().filter(|stored| stored.project == project && !stored.is_deleted);
            own.map(|stored| stored.agent.clone()).collect()
        }))
    }

    async fn find(&self, agent: UserId) -> Result<Option<ProjectScoped<Agent>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.live_agent(agent);
            found.map(|stored| ProjectScoped::new(stored.project, stored.agent.clone()))
        }))
    }

    async fn insert(&self, new: NewAgent) -> Result<Agent, StoreError> {
        self.state.with(|state| state.insert_agent(new))
    }

    async fn update(&self, update: AgentUpdate) -> Result<Agent, AgentError> {
        self.state.with(|state| state.update_agent(update))
    }

    async fn delete(&self, agent: UserId, held: BTreeSet<Permission>, _: DateTime<Utc>) -> Result<(), AgentError> {
        self.state.with(|state| state.delete_agent(agent, &held))
    }

    async fn tokens(&self, agent: UserId) -> Result<Vec<AgentToken>, StoreError> {
        Ok(self.state.with(|state| state.agent_tokens(agent)))
    }

    async fn insert_token(&self, token: NewAgentToken) -> Result<AgentToken, AgentError> {
        self.state.with(|state| state.insert_agent_token(&token))
    }

    async fn delete_token(&self, agent: UserId, token: TokenId) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.delete_agent_token(agent, token)))
    }
}
