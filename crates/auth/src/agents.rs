use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kontor_kernel::{
    Clock, Edit, Email, Listing, Page, Permission, PermissionId, Random, Resource, SecretCipher, Staff, StoreError,
    TokenId, UserId,
};

use crate::model::{
    AGENT_TOKEN_LIFETIME, AccessToken, Agent, AgentChange, AgentDraft, AgentToken, AgentTokenDraft, AgentUpdate, Login,
    NewAgent, NewAgentToken, PermissionRef, TokenSecret, check_held,
};
use crate::ports::AgentRepository;
use crate::{AgentError, AgentRefusal};

/// Agent token that was just issued.
#[derive(Debug)]
pub struct IssuedAgentToken {
    /// Record of the token, as lists show it.
    pub record: AgentToken,
    /// Value of the token. It is returned only once.
    pub token: AccessToken,
}

/// Creates a login and an e-mail address for an account that cannot sign in. Logins are searched among employees only,
/// and an address under `.invalid` accepts no mail (RFC 2606).
pub(crate) fn unusable_account(random: &dyn Random) -> Result<(Login, Email), StoreError> {
    let login = Login::parse(&format!("agent-{}", random.uuid())).map_err(StoreError::corrupt)?;
    let email = Email::parse(&format!("{login}@agents.invalid")).map_err(StoreError::corrupt)?;
    Ok((login, email))
}

/// Agents of a project and their tokens. Agents use this service like employees do. Callers cannot grant permissions
/// they do not hold at that time.
pub struct AgentService {
    /// Storage of agents.
    pub agents: Arc<dyn AgentRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets and logins.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
}

impl AgentService {
    /// Returns one page of the agents of the employee's project.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Agent>, AgentError> {
        staff.require(Permission::view(Resource::Agents))?;
        Ok(self.agents.list(staff.project_id, listing).await?)
    }

    /// Returns one agent of the employee's project.
    pub async fn read(&self, staff: &Staff, agent: UserId) -> Result<Agent, AgentError> {
        self.require_own(staff, agent, Permission::view(Resource::Agents)).await
    }

    /// Creates an agent.
    pub async fn create(&self, staff: &Staff, draft: AgentDraft) -> Result<Agent, AgentError> {
        staff.require(Permission::create(Resource::Agents))?;
        let permissions = self.resolve(&draft.permissions).await?;
        check_held(&staff.permissions, &permissions).map_err(AgentRefusal::from)?;
        let (login, email) = unusable_account(&*self.random)?;
        let new = NewAgent {
            project_id: staff.project_id,
            creator: staff.user_id,
            login,
            email,
            name: draft.name,
            description: draft.description,
            permissions,
            is_banned: draft.is_banned,
            at: self.clock.now(),
        };
        Ok(self.agents.insert(new).await?)
    }

    /// Changes an agent. The change applies to its tokens at once.
    pub async fn update(&self, staff: &Staff, agent: UserId, change: AgentChange) -> Result<Agent, AgentError> {
        self.require_own(staff, agent, Permission::edit(Resource::Agents)).await?;
        let permissions = match &change.permissions {
            Edit::Keep => Edit::Keep,
            Edit::Set(wanted) => {
                let wanted = self.resolve(wanted).await?;
                check_held(&staff.permissions, &wanted).map_err(AgentRefusal::from)?;
                Edit::Set(wanted)
            }
        };
        let update = AgentUpdate {
            agent,
            held: staff.permissions.clone(),
            name: change.name,
            description: change.description,
            permissions,
            is_banned: change.is_banned,
            at: self.clock.now(),
        };
        self.agents.update(update).await
    }

    /// Deletes an agent. Its tokens are revoked at once.
    pub async fn delete(&self, staff: &Staff, agent: UserId) -> Result<(), AgentError> {
        self.require_own(staff, agent, Permission::edit(Resource::Agents)).await?;
        self.agents.delete(agent, staff.permissions.clone(), self.clock.now()).await
    }

    /// Returns the tokens of an agent, without their secrets.
    pub async fn tokens(&self, staff: &Staff, agent: UserId) -> Result<Vec<AgentToken>, AgentError> {
        self.require_own(staff, agent, Permission::view(Resource::Agents)).await?;
        Ok(self.agents.tokens(agent).await?)
    }

    /// Issues an agent token with all or a part of the agent's permissions.
    pub async fn issue_token(
        &self,
        staff: &Staff,
        agent: UserId,
        draft: AgentTokenDraft,
    ) -> Result<IssuedAgentToken, AgentError> {
        self.require_own(staff, agent, Permission::edit(Resource::Agents)).await?;
        let now = self.clock.now();
        let expires_at = match draft.expiry {
            Some(expiry) => expiry.moment(now).map_err(AgentRefusal::from)?,
            None => now + AGENT_TOKEN_LIFETIME,
        };
        let abilities = match &draft.abilities {
            None => None,
            Some(wanted) => Some(self.resolve(wanted).await?),
        };
        let secret = TokenSecret::generate(&*self.random);
        let token = NewAgentToken {
            agent,
            held: staff.permissions.clone(),
            name: draft.name,
            abilities,
            fingerprint: secret.fingerprint(&*self.cipher),
            created_at: now,
            expires_at,
        };
        let record = self.agents.insert_token(token).await?;
        let token = secret.into_token(record.id, expires_at);
        Ok(IssuedAgentToken { record, token })
    }

    /// Revokes an agent token. The permission to edit agents is enough, even if the agent holds more permissions than
    /// the caller.
    pub async fn revoke_token(&self, staff: &Staff, agent: UserId, token: TokenId) -> Result<(), AgentError> {
        self.require_own(staff, agent, Permission::edit(Resource::Agents)).await?;
        if self.agents.delete_token(agent, token).await? { Ok(()) } else { Err(AgentError::NotFound) }
    }

    async fn require_own(&self, staff: &Staff, agent: UserId, needed: Permission) -> Result<Agent, AgentError> {
        staff.require(needed)?;
        staff.require_own(self.agents.find(agent).await?)
    }

    async fn resolve(&self, wanted: &[PermissionRef]) -> Result<BTreeSet<Permission>, AgentError> {
        let known: BTreeMap<PermissionId, Permission> = if wanted.iter().any(|one| matches!(one, PermissionRef::Id(_)))
        {
            self.agents.known_permissions().await?
        } else {
            BTreeMap::new()
        };
        let found: Vec<Option<Permission>> = wanted
            .iter()
            .map(|one| match one {
                PermissionRef::Id(id) => known.get(id).copied(),
                PermissionRef::Name(permission) => Some(*permission),
            })
            .collect();
        let unknown: Vec<usize> =
            found.iter().enumerate().filter_map(|(index, one)| one.is_none().then_some(index)).collect();
        if unknown.is_empty() {
            Ok(found.into_iter().flatten().collect())
        } else {
            Err(AgentRefusal::UnknownPermissions(unknown).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GrantedPermission, TokenExpiry};
    use crate::ports::MockAgentRepository;
    use chrono::{DateTime, TimeDelta, Utc};
    use kontor_kernel::listing::Sort;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{AccessDenied, ExposeSecret, FixedClock, Name, PageRequest, ProjectId, ProjectScoped};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const ORDERS: Permission = Permission::view(Resource::Orders);
    const EDIT: Permission = Permission::edit(Resource::Agents);

    fn service(agents: MockAgentRepository) -> AgentService {
        AgentService {
            agents: Arc::new(agents),
            clock: Arc::new(FixedClock::at(NOW)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
        }
    }

    fn agent() -> Agent {
        Agent {
            id: UserId::new(9).unwrap(),
            name: Name::parse("Bot").unwrap(),
            description: None,
            is_banned: false,
            creator: None,
            permissions: vec![GrantedPermission::sample(46, None, "view-orders")],
            version: 1,
            last_activity_at: None,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn id() -> UserId {
        UserId::new(9).unwrap()
    }

    fn draft(permissions: Vec<PermissionRef>) -> AgentDraft {
        AgentDraft { name: Name::parse("Bot").unwrap(), description: None, permissions, is_banned: false }
    }

    fn wanted(abilities: Option<Vec<PermissionRef>>, expiry: Option<TokenExpiry>) -> AgentTokenDraft {
        AgentTokenDraft { name: Name::parse("Night run").unwrap(), abilities, expiry }
    }

    /// Finds an agent of this project, any number of times.
    fn knowing(project: i64) -> MockAgentRepository {
        let mut agents = MockAgentRepository::new();
        agents
            .expect_find()
            .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), agent()))));
        agents
    }

    #[tokio::test]
    async fn an_agent_cannot_sign_in() {
        let mut agents = MockAgentRepository::new();
        agents.expect_known_permissions().returning(|| Ok([(PermissionId::new(46).unwrap(), ORDERS)].into()));
        agents
            .expect_insert()
            .withf(|new| {
                new.login.as_str().starts_with("agent-")
                    && new.email.as_str().ends_with("@agents.invalid")
                    && new.permissions == BTreeSet::from([ORDERS])
                    && (new.project_id.get(), new.creator.get()) == (1, 1)
            })
            .returning(|_| Ok(agent()));
        let staff = staff_with([Permission::edit(Resource::Agents), ORDERS]);
        let number = PermissionRef::Id(PermissionId::new(46).unwrap());
        let made = service(agents).create(&staff, draft(vec![number, PermissionRef::Name(ORDERS)])).await;
        assert_eq!(made.unwrap(), agent());
    }

    #[tokio::test]
    async fn granted_permissions_exist_and_are_held() {
        let mut agents = MockAgentRepository::new();
        agents.expect_known_permissions().returning(|| Ok([(PermissionId::new(46).unwrap(), ORDERS)].into()));
        let service = service(agents);
        let staff = staff_with([Permission::create(Resource::Agents)]);
        let refused = service.create(&staff, draft(vec![PermissionRef::Name(ORDERS)])).await.unwrap_err();
        assert!(
            matches!(refused, AgentError::Refused(AgentRefusal::PermissionsNotHeld(denied)) if denied.missing == [ORDERS.to_string()])
        );
        let number = |id| PermissionRef::Id(PermissionId::new(id).unwrap());
        let unknown = service.create(&staff, draft(vec![number(999), number(46), number(1000)])).await.unwrap_err();
        assert!(matches!(unknown, AgentError::Refused(AgentRefusal::UnknownPermissions(places)) if places == [0, 2]));
    }

    #[tokio::test]
    async fn every_step_needs_its_permission_and_the_own_project() {
        let nobody = staff_with([Permission::view(Resource::Users)]);
        let service_of_nobody = service(MockAgentRepository::new());
        let page = PageRequest::new(1, 15, 100).unwrap();
        let listing = Listing::unfiltered(Sort::ascending("id"), page);
        let token = TokenId::new(4).unwrap();
        assert!(matches!(service_of_nobody.list(&nobody, listing).await, Err(AgentError::Denied(_))));
        assert!(matches!(service_of_nobody.create(&nobody, draft(vec![])).await, Err(AgentError::Denied(_))));
        let all = staff_with(Permission::all());
        for (staff, service, foreign) in [(&nobody, service_of_nobody, false), (&all, service(knowing(2)), true)] {
            let refusals = [
                service.read(staff, id()).await.unwrap_err(),
                service.update(staff, id(), AgentChange::default()).await.unwrap_err(),
                service.delete(staff, id()).await.unwrap_err(),
                service.tokens(staff, id()).await.unwrap_err(),
                service.issue_token(staff, id(), wanted(None, None)).await.unwrap_err(),
                service.revoke_token(staff, id(), token).await.unwrap_err(),
            ];
            for refusal in refusals {
                let AgentError::Denied(denied) = refusal else { panic!("{refusal}") };
                assert_eq!(denied == AccessDenied::ForeignProject, foreign);
            }
        }
    }

    #[tokio::test]
    async fn a_change_carries_what_the_actor_holds() {
        let staff = staff_with([EDIT, ORDERS]);
        let mut agents = knowing(1);
        agents
            .expect_update()
            .withf(|update| {
                update.held == BTreeSet::from([EDIT, ORDERS]) && update.permissions == Edit::Set([ORDERS].into())
            })
            .once()
            .returning(|_| Ok(agent()));
        let service = service(agents);
        let allowing = |permission| AgentChange {
            permissions: Edit::Set(vec![PermissionRef::Name(permission)]),
            ..AgentChange::default()
        };
        service.update(&staff, id(), allowing(ORDERS)).await.unwrap();
        let wider = service.update(&staff, id(), allowing(Permission::edit(Resource::Orders))).await;
        assert!(matches!(wider, Err(AgentError::Refused(AgentRefusal::PermissionsNotHeld(_)))));
    }

    #[tokio::test]
    async fn a_token_is_shown_once_and_lives_thirty_days_by_default() {
        for (expiry, days) in [(None, 30), (Some(TokenExpiry::InDays(1)), 1)] {
            let mut agents = knowing(1);
            agents.expect_insert_token().withf(|token| token.fingerprint.starts_with("plain:")).returning(|token| {
                Ok(AgentToken {
                    id: TokenId::new(4).unwrap(),
                    name: Some(token.name),
                    abilities: token.abilities,
                    last_used_at: None,
                    created_at: token.created_at,
                    expires_at: token.expires_at,
                })
            });
            let staff = staff_with([EDIT]);
            let issued = service(agents).issue_token(&staff, id(), wanted(None, expiry)).await.unwrap();
            assert!(issued.token.value.expose_secret().starts_with("4|"));
            assert_eq!((issued.token.expires_at, issued.record.abilities), (NOW + TimeDelta::days(days), None));
        }
        let dead = wanted(None, Some(TokenExpiry::InDays(0)));
        let late = service(knowing(1)).issue_token(&staff_with([EDIT]), id(), dead).await;
        assert!(matches!(late, Err(AgentError::Refused(AgentRefusal::Expiry(_)))));
    }

    #[tokio::test]
    async fn a_token_of_another_agent_is_not_there() {
        let mut agents = knowing(1);
        agents.expect_delete_token().returning(|_, _| Ok(false));
        let gone = service(agents).revoke_token(&staff_with([EDIT]), id(), TokenId::new(4).unwrap()).await;
        assert!(matches!(gone, Err(AgentError::NotFound)));
    }
}
