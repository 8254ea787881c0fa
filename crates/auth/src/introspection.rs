use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, ExposeSecret, Random, SecretCipher, SecretString};
use uuid::Uuid;

use crate::model::{
    ActiveToken, Audience, BearerToken, ClientCredentials, NewIntrospectionClient, StoredIntrospection, TokenState,
};
use crate::ports::IntrospectionClients;
use crate::{IntrospectionError, IntrospectionRegistryError};

/// Length of a client secret, in letters and digits.
const SECRET_LENGTH: usize = 48;

/// Token introspection for backends.
pub struct Introspection {
    /// Storage of the clients.
    pub clients: Arc<dyn IntrospectionClients>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
}

/// Introspection request of an authenticated client.
#[derive(Debug)]
pub struct AuthenticatedIntrospection {
    client_id: Uuid,
    audience: Audience,
    state: TokenState,
}

impl AuthenticatedIntrospection {
    /// Returns the client that sent the request.
    pub fn client_id(&self) -> Uuid {
        self.client_id
    }

    /// Returns the token state for an audience, which must be the client's audience.
    pub fn answer(self, audience: &Audience) -> Result<TokenState, IntrospectionError> {
        if *audience == self.audience { Ok(self.state) } else { Err(IntrospectionError::WrongAudience) }
    }
}

impl Introspection {
    /// Authenticates the client and looks up the token. A token that is malformed, missing or otherwise invalid is
    /// inactive. Introspection does not count as a use of the token.
    pub async fn authenticate_client(
        &self,
        credentials: &ClientCredentials,
        token: Option<&str>,
    ) -> Result<AuthenticatedIntrospection, IntrospectionError> {
        let client_id = credentials.client_id;
        let presented = token.and_then(BearerToken::parse);
        let token_id = presented.as_ref().map(BearerToken::id);
        let known = match self.clients.remembered_inquiry(client_id, token_id) {
            Some(remembered) => self.check_client(credentials, presented.as_ref(), remembered),
            None => None,
        };
        // A cached entry may be older than a secret that another process has just rotated, so the cache never refuses.
        if let Some(known @ AuthenticatedIntrospection { state: TokenState::Active(_), .. }) = known {
            return Ok(known);
        }
        let stored = self.clients.client_and_token(client_id, token_id).await?;
        let inquiry = stored.and_then(|stored| self.check_client(credentials, presented.as_ref(), stored));
        inquiry.ok_or(IntrospectionError::WrongCredentials)
    }

    /// Returns `None` if the client is disabled or its secret is wrong.
    fn check_client(
        &self,
        credentials: &ClientCredentials,
        presented: Option<&BearerToken>,
        stored: StoredIntrospection,
    ) -> Option<AuthenticatedIntrospection> {
        if !stored.is_active || !self.knows(credentials, &stored) {
            return None;
        }
        let token = presented.zip(stored.token).filter(|(presented, token)| {
            presented.matches_fingerprint(&token.fingerprint, &*self.cipher) && token.expires_at > self.clock.now()
        });
        let state = token.map_or(TokenState::Inactive, |(_, token)| {
            TokenState::Active(ActiveToken {
                principal: token.principal,
                project_id: stored.project_id,
                application_id: stored.application_id,
                application_name: stored.application_name,
                expires_at: token.expires_at,
            })
        });
        Some(AuthenticatedIntrospection { client_id: credentials.client_id, audience: stored.audience, state })
    }

    fn knows(&self, credentials: &ClientCredentials, client: &StoredIntrospection) -> bool {
        self.cipher.same(&self.cipher.fingerprint(credentials.secret.expose_secret()), &client.fingerprint)
    }
}

/// Credentials of a backend. The secret is returned only once.
#[derive(Debug)]
pub struct IssuedIntrospectionClient {
    /// Public identifier.
    pub client_id: Uuid,
    /// Secret: 48 random letters and digits. Only the fingerprint is stored.
    pub secret: SecretString,
}

/// Issues, rotates and disables the credentials of backends.
pub struct IntrospectionRegistry {
    /// Storage of the clients.
    pub clients: Arc<dyn IntrospectionClients>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
}

impl IntrospectionRegistry {
    fn generate_secret(&self) -> (SecretString, String) {
        let secret = self.random.alphanumeric(SECRET_LENGTH);
        let fingerprint = self.cipher.fingerprint(&secret);
        (secret.into(), fingerprint)
    }

    /// Issues a client of an application for an audience.
    pub async fn issue(
        &self,
        application_id: ApplicationId,
        audience: Audience,
    ) -> Result<IssuedIntrospectionClient, IntrospectionRegistryError> {
        let (client_id, (secret, fingerprint)) = (self.random.uuid(), self.generate_secret());
        let created_at = self.clock.now();
        let client = NewIntrospectionClient { client_id, application_id, audience, fingerprint, created_at };
        self.clients.insert(client).await?;
        Ok(IssuedIntrospectionClient { client_id, secret })
    }

    /// Rotates the secret of the application's client for an audience. The old secret is invalid at once. A disabled
    /// client becomes active again.
    pub async fn rotate(
        &self,
        application_id: ApplicationId,
        audience: Audience,
    ) -> Result<IssuedIntrospectionClient, IntrospectionRegistryError> {
        let (secret, fingerprint) = self.generate_secret();
        let rotated = self.clients.rotate(application_id, audience, fingerprint, self.clock.now()).await?;
        let client_id = rotated.ok_or(IntrospectionRegistryError::UnknownClient)?;
        Ok(IssuedIntrospectionClient { client_id, secret })
    }

    /// Disables the application's client for an audience at once and returns its identifier.
    pub async fn disable(
        &self,
        application_id: ApplicationId,
        audience: Audience,
    ) -> Result<Uuid, IntrospectionRegistryError> {
        self.clients.disable(application_id, audience).await?.ok_or(IntrospectionRegistryError::UnknownClient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IntrospectedToken;
    use crate::ports::MockIntrospectionClients;
    use chrono::{DateTime, TimeDelta, Utc};
    use kontor_kernel::testing::{CountingRandom, PlainCipher};
    use kontor_kernel::{FixedClock, Name, ProjectId};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const CLIENT: Uuid = Uuid::from_u128(7);
    const PRINCIPAL: Uuid = Uuid::from_u128(9);

    fn audience(text: &str) -> Audience {
        Audience::parse(text).unwrap()
    }

    fn stored() -> StoredIntrospection {
        StoredIntrospection {
            fingerprint: "plain:c".to_owned(),
            is_active: true,
            audience: audience("billing"),
            project_id: ProjectId::new(2).unwrap(),
            application_id: ApplicationId::new(8).unwrap(),
            application_name: Name::parse("Shop").unwrap(),
            token: Some(IntrospectedToken {
                fingerprint: "plain:s".to_owned(),
                expires_at: NOW + TimeDelta::seconds(1),
                principal: PRINCIPAL,
            }),
        }
    }

    async fn authenticate_client(
        stored: Option<StoredIntrospection>,
        secret: &str,
        token: &str,
    ) -> Result<AuthenticatedIntrospection, IntrospectionError> {
        let mut clients = MockIntrospectionClients::new();
        clients.expect_remembered_inquiry().returning(|_, _| None);
        clients.expect_client_and_token().returning(move |_, id| {
            Ok(stored
                .clone()
                .map(|client| StoredIntrospection { token: client.token.filter(|_| id.is_some()), ..client }))
        });
        let introspection = introspection(clients);
        let credentials = ClientCredentials::parse(&format!("{CLIENT}:{secret}")).unwrap();
        introspection.authenticate_client(&credentials, Some(token)).await
    }

    #[tokio::test]
    async fn a_valid_token_is_active_only_for_its_audience() {
        let inquiry = authenticate_client(Some(stored()), "c", "5|s").await.unwrap();
        assert_eq!(inquiry.client_id(), CLIENT);
        let TokenState::Active(active) = inquiry.answer(&audience("billing")).unwrap() else { panic!("inactive") };
        assert_eq!((active.principal, active.application_name.as_str()), (PRINCIPAL, "Shop"));
        for other in ["Billing", "billin", "shipping"] {
            let refused = authenticate_client(Some(stored()), "c", "5|s").await.unwrap().answer(&audience(other));
            assert!(matches!(refused, Err(IntrospectionError::WrongAudience)));
        }
    }

    #[tokio::test]
    async fn anything_wrong_with_the_token_looks_the_same() {
        let expired = StoredIntrospection {
            token: stored().token.map(|token| IntrospectedToken { expires_at: NOW, ..token }),
            ..stored()
        };
        let absent = StoredIntrospection { token: None, ..stored() };
        let long = format!("5|{}", "s".repeat(10_000));
        let known = ["5|t", "5", "s", "5s", "|", "|s", "5|", "", &long].map(|token| (stored(), token));
        for (client, token) in known.into_iter().chain([(expired, "5|s"), (absent, "5|s")]) {
            let inquiry = authenticate_client(Some(client), "c", token).await.unwrap();
            assert_eq!(inquiry.answer(&audience("billing")).unwrap(), TokenState::Inactive, "{token}");
        }
    }

    #[tokio::test]
    async fn an_unauthenticated_client_gets_no_token_state() {
        let inactive = StoredIntrospection { is_active: false, ..stored() };
        for (client, secret) in [(None, "c"), (Some(stored()), "d"), (Some(inactive), "c")] {
            let refused = authenticate_client(client, secret, "5|s").await;
            assert!(matches!(refused, Err(IntrospectionError::WrongCredentials)));
        }
    }

    #[tokio::test]
    async fn the_cache_accepts_and_never_refuses() {
        let renewed = StoredIntrospection { fingerprint: "plain:new".to_owned(), ..stored() };
        for (secret, asked) in [("c", 0), ("new", 1), ("wrong", 1)] {
            let mut clients = MockIntrospectionClients::new();
            clients.expect_remembered_inquiry().returning(|_, _| Some(stored()));
            let renewed = renewed.clone();
            clients.expect_client_and_token().times(asked).returning(move |_, _| Ok(Some(renewed.clone())));
            let introspection = introspection(clients);
            let credentials = ClientCredentials::parse(&format!("{CLIENT}:{secret}")).unwrap();
            let found = introspection.authenticate_client(&credentials, Some("5|s")).await;
            assert_eq!(found.is_ok(), secret != "wrong", "{secret}");
        }
    }

    fn introspection(clients: MockIntrospectionClients) -> Introspection {
        let clock = Arc::new(FixedClock::at(NOW));
        Introspection { clients: Arc::new(clients), clock, cipher: Arc::new(PlainCipher) }
    }

    fn registry(clients: MockIntrospectionClients) -> IntrospectionRegistry {
        let clock = Arc::new(FixedClock::at(NOW));
        let random = Arc::new(CountingRandom::new());
        IntrospectionRegistry { clients: Arc::new(clients), clock, random, cipher: Arc::new(PlainCipher) }
    }

    #[tokio::test]
    async fn only_the_fingerprint_of_a_secret_is_stored() {
        let mut clients = MockIntrospectionClients::new();
        clients.expect_insert().withf(|client| client.fingerprint.starts_with("plain:")).returning(|_| Ok(()));
        clients
            .expect_rotate()
            .withf(|_, _, fingerprint, _| fingerprint.len() == 54)
            .returning(|_, _, _, _| Ok(Some(CLIENT)));
        let registry = registry(clients);
        let application = ApplicationId::new(8).unwrap();
        let issued = registry.issue(application, audience("billing")).await.unwrap();
        assert_eq!((issued.secret.expose_secret().len(), issued.client_id.get_version_num()), (48, 4));
        let rotated = registry.rotate(application, audience("billing")).await.unwrap();
        assert_eq!(rotated.client_id, CLIENT);
        assert_ne!(rotated.secret.expose_secret(), issued.secret.expose_secret());
    }

    #[tokio::test]
    async fn an_unknown_client_is_unknown_to_the_caller() {
        let mut clients = MockIntrospectionClients::new();
        clients.expect_rotate().returning(|_, _, _, _| Ok(None));
        clients.expect_disable().returning(|_, _| Ok(None));
        let (registry, application) = (registry(clients), ApplicationId::new(8).unwrap());
        let rotated = registry.rotate(application, audience("billing")).await;
        assert!(matches!(rotated, Err(IntrospectionRegistryError::UnknownClient)));
        let disabled = registry.disable(application, audience("billing")).await;
        assert!(matches!(disabled, Err(IntrospectionRegistryError::UnknownClient)));
    }
}
