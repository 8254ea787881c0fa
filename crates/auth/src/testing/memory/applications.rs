use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, Name, StoreError, TokenId};
use uuid::Uuid;

use super::{Guard, InMemoryLogins, State};
use crate::IntrospectionRegistryError;
use crate::miniapp::MiniAppProvider;
use crate::model::{Audience, IntrospectedToken, NewIntrospectionClient, StoredIntrospection, TokenOwner};
use crate::ports::{IntrospectionClients, MiniAppTokens};

/// Introspection client, and `true` if it is active.
pub(super) type Client = (NewIntrospectionClient, bool);

impl State {
    fn client(&mut self, application: ApplicationId, audience: &Audience) -> Option<&mut Client> {
        let is_asked =
            |known: &NewIntrospectionClient| known.application_id == application && known.audience == *audience;
        self.clients.iter_mut().find(|(known, _)| is_asked(known))
    }

    fn introspect(&self, client_id: Uuid, token: Option<TokenId>) -> Result<Option<StoredIntrospection>, StoreError> {
        let Some((client, is_active)) = self.clients.iter().find(|(client, _)| client.client_id == client_id) else {
            return Ok(None);
        };
        let Some(app) = self.apps.get(&client.application_id) else { return Ok(None) };
        let seen = token.and_then(|id| self.tokens.get(&id)).and_then(|token| {
            let TokenOwner::Customer(customer) = token.owner else { return None };
            let own = token.app.is_some_and(|app| app.application_id == client.application_id);
            (own || !self.guards.has(Guard::Application)).then(|| IntrospectedToken {
                fingerprint: token.new.fingerprint.clone(),
                expires_at: token.new.expires_at,
                principal: Uuid::from_u64_pair(1, customer.get().unsigned_abs()),
            })
        });
        Ok(Some(StoredIntrospection {
            fingerprint: client.fingerprint.clone(),
            is_active: *is_active,
            audience: client.audience.clone(),
            project_id: app.project_id,
            application_id: app.application_id,
            application_name: Name::parse("Application").map_err(StoreError::corrupt)?,
            token: seen,
        }))
    }

    fn insert_client(&mut self, new: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError> {
        if !self.apps.contains_key(&new.application_id) {
            return Err(IntrospectionRegistryError::UnknownApplication);
        }
        if self.guards.has(Guard::Audience) && self.client(new.application_id, &new.audience).is_some() {
            return Err(IntrospectionRegistryError::AlreadyIssued);
        }
        self.clients.push((new, true));
        Ok(())
    }
}

#[async_trait]
impl IntrospectionClients for InMemoryLogins {
    async fn client_and_token(
        &self,
        client_id: Uuid,
        token: Option<TokenId>,
    ) -> Result<Option<StoredIntrospection>, StoreError> {
        self.state.with(|state| state.introspect(client_id, token))
    }

    fn remembered_inquiry(&self, _: Uuid, _: Option<TokenId>) -> Option<StoredIntrospection> {
        None
    }

    async fn insert(&self, client: NewIntrospectionClient) -> Result<(), IntrospectionRegistryError> {
        self.state.with(|state| state.insert_client(client))
    }

    async fn rotate(
        &self,
        application_id: ApplicationId,
        audience: Audience,
        fingerprint: String,
        _: DateTime<Utc>,
    ) -> Result<Option<Uuid>, StoreError> {
        Ok(self.state.with(|state| {
            let (client, is_active) = state.client(application_id, &audience)?;
            (client.fingerprint, *is_active) = (fingerprint, true);
            Some(client.client_id)
        }))
    }

    async fn disable(&self, application_id: ApplicationId, audience: Audience) -> Result<Option<Uuid>, StoreError> {
        Ok(self.state.with(|state| {
            let stays = !state.guards.has(Guard::Disabled);
            let (client, is_active) = state.client(application_id, &audience)?;
            *is_active = stays;
            Some(client.client_id)
        }))
    }
}

#[async_trait]
impl MiniAppTokens for InMemoryLogins {
    async fn token(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<Option<String>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.bots.iter().find(|(key, _)| *key == (application, provider));
            found.map(|(_, sealed)| sealed.clone())
        }))
    }

    async fn put(
        &self,
        application: ApplicationId,
        provider: MiniAppProvider,
        sealed: String,
        _: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let exists = state.apps.contains_key(&application);
            if exists {
                state.bots.retain(|(key, _)| *key != (application, provider));
                state.bots.push(((application, provider), sealed));
            }
            exists
        }))
    }

    async fn remove(&self, application: ApplicationId, provider: MiniAppProvider) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let before = state.bots.len();
            state.bots.retain(|(key, _)| *key != (application, provider));
            state.bots.len() < before
        }))
    }
}
