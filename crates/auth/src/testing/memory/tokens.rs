use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{AppScope, CustomerScope, Name, Permission, StoreError, TokenId};

use super::{Guard, InMemoryLogins, State};
use crate::model::{ClientSession, NewToken, StoredCustomerToken, StoredStaffToken, TokenOwner, TokenUse};
use crate::ports::{ClientSessions, SessionStart, TokenRepository};

/// Token with the fields that only the storage reads.
pub(super) struct Token {
    pub(super) owner: TokenOwner,
    pub(super) app: Option<AppScope>,
    pub(super) new: NewToken,
    pub(super) last_used_at: Option<DateTime<Utc>>,
    /// Name of a token of an agent.
    pub(super) name: Option<Name>,
    pub(super) abilities: Option<BTreeSet<Permission>>,
}

impl State {
    fn staff_token(&self, id: TokenId) -> Option<StoredStaffToken> {
        let token = self.tokens.get(&id)?;
        if let Some(of_agent) = self.agent_token(token) {
            return Some(of_agent);
        }
        let is_owner = |owner| token.owner == owner || !self.guards.has(Guard::Kind);
        let member = self.staff.iter().find(|member| is_owner(TokenOwner::Staff(member.employee.id)))?;
        Some(StoredStaffToken {
            fingerprint: token.new.fingerprint.clone(),
            expires_at: token.new.expires_at,
            last_used_at: token.last_used_at,
            user_id: member.employee.id,
            project_id: member.employee.project_id,
            is_banned: member.employee.is_banned,
            is_agent: false,
            permissions: self.opened_by(member.employee.role.id),
            abilities: None,
        })
    }

    fn customer_token(&self, id: TokenId) -> Option<StoredCustomerToken> {
        let token = self.tokens.get(&id)?;
        let TokenOwner::Customer(counterparty_id) = token.owner else { return None };
        Some(StoredCustomerToken {
            fingerprint: token.new.fingerprint.clone(),
            expires_at: token.new.expires_at,
            counterparty_id,
            app: token.app?,
            app_is_active: true,
            last_used_at: token.last_used_at,
        })
    }

    fn record_use(&mut self, used: TokenUse) {
        let Some(token) = self.tokens.get_mut(&used.token) else { return };
        let Some(active) = used.active_after(token.last_used_at) else { return };
        token.last_used_at = Some(used.last);
        let owner = token.owner;
        self.agent_was_active(owner, used.last);
        if let Some(member) = self.staff.iter_mut().find(|member| TokenOwner::Staff(member.employee.id) == owner) {
            member.employee.active_time += active;
            member.employee.last_activity_at = Some(used.last);
        }
    }

    pub(super) fn open_session(&mut self, token: TokenId, at: DateTime<Utc>) -> ClientSession {
        let session =
            ClientSession { id: self.ids.id(), started_at: at, last_seen_at: at, duration: TimeDelta::zero() };
        self.sessions.push((token, session));
        session
    }

    fn session_of(&self, token: TokenId) -> Option<ClientSession> {
        self.sessions.iter().find(|(owner, _)| *owner == token).map(|(_, session)| *session)
    }

    /// Returns the open session if it is still in the state that was read.
    fn seen(&mut self, session: ClientSession, seen_at: DateTime<Utc>) -> Option<&mut ClientSession> {
        let checked = self.guards.has(Guard::Session);
        let mut open = self.sessions.iter_mut().map(|(_, open)| open);
        open.find(|open| open.id == session.id && (open.last_seen_at == seen_at || !checked))
    }

    fn start_session(
        &mut self,
        customer: CustomerScope,
        before: Option<ClientSession>,
        at: DateTime<Utc>,
    ) -> SessionStart {
        if let Some(before) = before {
            if self.seen(before, before.last_seen_at).is_none() {
                return SessionStart::Superseded;
            }
            self.sessions.retain(|(_, open)| open.id != before.id);
        }
        if self.session_of(customer.token_id).is_some() {
            return SessionStart::Superseded;
        }
        let owner = TokenOwner::Customer(customer.counterparty_id);
        if self.tokens.get(&customer.token_id).is_none_or(|token| token.owner != owner) {
            return SessionStart::SignedOut;
        }
        SessionStart::Started(self.open_session(customer.token_id, at))
    }
}

#[async_trait]
impl TokenRepository for InMemoryLogins {
    async fn staff_token(&self, id: TokenId) -> Result<Option<StoredStaffToken>, StoreError> {
        Ok(self.state.with(|state| state.staff_token(id)))
    }

    async fn customer_token(&self, id: TokenId) -> Result<Option<StoredCustomerToken>, StoreError> {
        Ok(self.state.with(|state| state.customer_token(id)))
    }

    async fn record_uses(&self, uses: Vec<TokenUse>) -> Result<(), StoreError> {
        self.state.with(|state| uses.into_iter().for_each(|used| state.record_use(used)));
        Ok(())
    }

    async fn revoke(&self, owner: TokenOwner, token: TokenId) -> Result<(), StoreError> {
        self.state.with(|state| {
            let any = !state.guards.has(Guard::Owner);
            state.revoke(|id, known| id == token && (known.owner == owner || any));
        });
        Ok(())
    }

    async fn revoke_all(&self, owner: TokenOwner) -> Result<(), StoreError> {
        self.state.with(|state| state.revoke(|_, known| known.owner == owner));
        Ok(())
    }
}

#[async_trait]
impl ClientSessions for InMemoryLogins {
    async fn current(&self, token: TokenId) -> Result<Option<ClientSession>, StoreError> {
        Ok(self.state.with(|state| state.session_of(token)))
    }

    async fn continue_session(&self, session: ClientSession, seen_at: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.seen(session, seen_at).map(|open| *open = session).is_some()))
    }

    async fn start(
        &self,
        customer: CustomerScope,
        before: Option<ClientSession>,
        at: DateTime<Utc>,
    ) -> Result<SessionStart, StoreError> {
        Ok(self.state.with(|state| state.start_session(customer, before, at)))
    }
}
