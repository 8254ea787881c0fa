use std::sync::Arc;

use kontor_kernel::{AppScope, Clock, CustomerScope, SecretCipher, Staff, StoreError, TokenId};

use crate::model::{BearerToken, StoredCustomerToken, StoredStaffToken};
use crate::ports::TokenRepository;
use crate::uses::PendingUses;

/// Authenticates employees and agents by bearer token.
pub struct StaffGuard {
    tokens: Arc<dyn TokenRepository>,
    clock: Arc<dyn Clock>,
    cipher: Arc<dyn SecretCipher>,
    uses: PendingUses,
}

impl StaffGuard {
    /// Creates the service from its ports.
    pub fn new(tokens: Arc<dyn TokenRepository>, clock: Arc<dyn Clock>, cipher: Arc<dyn SecretCipher>) -> Self {
        Self { tokens, clock, cipher, uses: PendingUses::default() }
    }

    /// Stores the recorded uses of tokens. They stay recorded if the storage fails. Returns the number of used tokens.
    /// Must not be called concurrently.
    pub async fn store_uses(&self) -> Result<usize, StoreError> {
        self.uses.store(&*self.tokens).await
    }

    /// Returns the employee of a bearer token; `None` for a malformed, unknown or expired token, a customer token, or a
    /// banned employee.
    pub async fn authenticate(&self, bearer: &str) -> Result<Option<Staff>, StoreError> {
        let Some(presented) = BearerToken::parse(bearer) else { return Ok(None) };
        let stored = self.tokens.staff_token(presented.id()).await?;
        let stored = stored.filter(|stored| presented.matches_fingerprint(&stored.fingerprint, &*self.cipher));
        Ok(stored.and_then(|stored| self.admit(presented.id(), stored)))
    }

    /// Returns the employee of a stored token, if it is valid now. The caller of this function vouches for the request:
    /// no secret is compared.
    pub async fn authenticate_stored(&self, token: TokenId) -> Result<Option<Staff>, StoreError> {
        let stored = self.tokens.staff_token(token).await?;
        Ok(stored.and_then(|stored| self.admit(token, stored)))
    }

    fn admit(&self, token: TokenId, stored: StoredStaffToken) -> Option<Staff> {
        let now = self.clock.now();
        if stored.expires_at <= now || stored.is_banned {
            return None;
        }
        self.uses.record(token, stored.last_used_at, now);
        Some(Staff {
            project_id: stored.project_id,
            user_id: stored.user_id,
            token_id: token,
            is_agent: stored.is_agent,
            permissions: stored.granted(),
        })
    }
}

/// Result of authenticating a customer's bearer token in the calling application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerAuthentication {
    /// The customer is signed in to this application.
    SignedIn(CustomerScope),
    /// No valid customer token.
    Unauthenticated,
    /// Valid token of another application or project. The client surface answers `404`.
    OtherApplication,
}

/// Authenticates customers by bearer token.
pub struct CustomerGuard {
    tokens: Arc<dyn TokenRepository>,
    clock: Arc<dyn Clock>,
    cipher: Arc<dyn SecretCipher>,
    uses: PendingUses,
}

impl CustomerGuard {
    /// Creates the service from its ports.
    pub fn new(tokens: Arc<dyn TokenRepository>, clock: Arc<dyn Clock>, cipher: Arc<dyn SecretCipher>) -> Self {
        Self { tokens, clock, cipher, uses: PendingUses::default() }
    }

    /// Stores the recorded uses of tokens. They stay recorded if the storage fails. Returns the number of used tokens.
    /// Must not be called concurrently.
    pub async fn store_uses(&self) -> Result<usize, StoreError> {
        self.uses.store(&*self.tokens).await
    }

    async fn proved(&self, bearer: &str) -> Result<Option<(TokenId, StoredCustomerToken)>, StoreError> {
        let Some(presented) = BearerToken::parse(bearer) else { return Ok(None) };
        let stored = self.tokens.customer_token(presented.id()).await?;
        let now = self.clock.now();
        let proved = stored
            .filter(|stored| {
                presented.matches_fingerprint(&stored.fingerprint, &*self.cipher) && stored.expires_at > now
            })
            .map(|stored| (presented.id(), stored));
        Ok(proved)
    }

    /// Authenticates a bearer token for the calling application. An employee's token is not accepted.
    pub async fn authenticate(&self, app: AppScope, bearer: &str) -> Result<CustomerAuthentication, StoreError> {
        Ok(match self.proved(bearer).await? {
            None => CustomerAuthentication::Unauthenticated,
            Some((_, stored))
                if (stored.app.project_id, stored.app.application_id) != (app.project_id, app.application_id) =>
            {
                CustomerAuthentication::OtherApplication
            }
            Some((token_id, stored)) => {
                self.uses.record(token_id, stored.last_used_at, self.clock.now());
                let counterparty_id = stored.counterparty_id;
                CustomerAuthentication::SignedIn(CustomerScope { app, counterparty_id, token_id })
            }
        })
    }

    /// Authenticates a bearer token for calls without an App Token, in the application the customer logged in to.
    /// `None` also if that application is no longer active.
    pub async fn authenticate_without_app(&self, bearer: &str) -> Result<Option<CustomerScope>, StoreError> {
        let proved = self.proved(bearer).await?.filter(|(_, stored)| stored.app_is_active);
        Ok(proved.map(|(token_id, stored)| {
            self.uses.record(token_id, stored.last_used_at, self.clock.now());
            CustomerScope { app: stored.app, counterparty_id: stored.counterparty_id, token_id }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TokenUse;
    use crate::ports::MockTokenRepository;
    use chrono::{DateTime, TimeDelta, Utc};
    use kontor_kernel::testing::{PlainCipher, app_scope};
    use kontor_kernel::{CounterpartyId, FixedClock, Permission, ProjectId, Resource, UserId};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn staff_token() -> StoredStaffToken {
        StoredStaffToken {
            fingerprint: "plain:s".to_owned(),
            expires_at: NOW + TimeDelta::seconds(1),
            last_used_at: Some(NOW),
            user_id: UserId::new(3).unwrap(),
            project_id: ProjectId::new(2).unwrap(),
            is_banned: false,
            is_agent: false,
            permissions: [Permission::view(Resource::Orders)].into(),
            abilities: None,
        }
    }

    fn staff_guard(stored: StoredStaffToken) -> (StaffGuard, Arc<FixedClock>) {
        let mut tokens = MockTokenRepository::new();
        tokens.expect_staff_token().returning(move |_| Ok(Some(stored.clone())));
        let clock = Arc::new(FixedClock::at(NOW));
        (StaffGuard::new(Arc::new(tokens), clock.clone(), Arc::new(PlainCipher)), clock)
    }

    #[tokio::test]
    async fn an_employee_is_authenticated_by_the_whole_token_until_it_expires() {
        let (guard, clock) = staff_guard(staff_token());
        let staff = guard.authenticate("5|s").await.unwrap().unwrap();
        assert_eq!((staff.user_id.get(), staff.project_id.get(), staff.token_id.get()), (3, 2, 5));
        assert!(staff.require(Permission::view(Resource::Orders)).is_ok());
        assert_eq!(guard.authenticate("5|t").await.unwrap(), None);
        assert_eq!(guard.authenticate("s").await.unwrap(), None);
        clock.advance(TimeDelta::seconds(1));
        assert_eq!(guard.authenticate("5|s").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_token_allows_no_more_than_the_role() {
        let wider = [Permission::view(Resource::Orders), Permission::edit(Resource::Orders)];
        for (abilities, expected) in [(Vec::new(), Vec::new()), (wider.to_vec(), vec![wider[0]])] {
            let abilities = Some(abilities.into_iter().collect());
            let (guard, _) = staff_guard(StoredStaffToken { abilities, ..staff_token() });
            let staff = guard.authenticate("5|s").await.unwrap().unwrap();
            assert_eq!(staff.permissions.into_iter().collect::<Vec<_>>(), expected);
        }
    }

    #[tokio::test]
    async fn an_agent_never_decides_about_agents() {
        let all: std::collections::BTreeSet<Permission> = Permission::all().collect();
        for (is_agent, expected) in [(false, Permission::all().count()), (true, Permission::all().count() - 3)] {
            let (guard, _) = staff_guard(StoredStaffToken { is_agent, permissions: all.clone(), ..staff_token() });
            let staff = guard.authenticate("5|s").await.unwrap().unwrap();
            assert_eq!((staff.is_agent, staff.permissions.len()), (is_agent, expected));
            assert_eq!(staff.require(Permission::APPROVE_AGENT_ACTIONS).is_ok(), !is_agent);
        }
    }

    #[tokio::test]
    async fn a_banned_employee_is_unknown() {
        let (guard, _) = staff_guard(StoredStaffToken { is_banned: true, ..staff_token() });
        assert_eq!(guard.authenticate("5|s").await.unwrap(), None);
    }

    #[tokio::test]
    async fn authentication_writes_nothing_and_uses_are_stored_later() {
        let mut tokens = MockTokenRepository::new();
        let stored = StoredStaffToken { expires_at: NOW + TimeDelta::days(1), ..staff_token() };
        tokens.expect_staff_token().returning(move |_| Ok(Some(stored.clone())));
        let minute = NOW + TimeDelta::seconds(60);
        let used = TokenUse { token: TokenId::new(5).unwrap(), first: minute, last: minute };
        tokens.expect_record_uses().withf(move |uses| uses == &[used]).once().returning(|_| Ok(()));
        let clock = Arc::new(FixedClock::at(NOW + TimeDelta::seconds(59)));
        let guard = StaffGuard::new(Arc::new(tokens), clock.clone(), Arc::new(PlainCipher));
        assert!(guard.authenticate("5|s").await.unwrap().is_some());
        assert_eq!(guard.store_uses().await.unwrap(), 0);
        clock.advance(TimeDelta::seconds(1));
        assert!(guard.authenticate("5|s").await.unwrap().is_some());
        assert!(guard.authenticate("5|wrong").await.unwrap().is_none());
        assert_eq!(guard.store_uses().await.unwrap(), 1);
    }

    fn customer_guard(app_is_active: bool) -> (CustomerGuard, Arc<FixedClock>) {
        let mut tokens = MockTokenRepository::new();
        tokens.expect_customer_token().returning(move |_| {
            Ok(Some(StoredCustomerToken {
                fingerprint: "plain:s".to_owned(),
                expires_at: NOW + TimeDelta::seconds(1),
                counterparty_id: CounterpartyId::new(4).unwrap(),
                app: app_scope(2, 8),
                app_is_active,
                last_used_at: None,
            }))
        });
        tokens.expect_record_uses().returning(|_| Ok(()));
        let clock = Arc::new(FixedClock::at(NOW));
        (CustomerGuard::new(Arc::new(tokens), clock.clone(), Arc::new(PlainCipher)), clock)
    }

    #[tokio::test]
    async fn a_customer_is_signed_in_to_one_application() {
        let (guard, clock) = customer_guard(true);
        let seen = guard.authenticate(app_scope(2, 8), "5|s").await.unwrap();
        assert!(matches!(seen, CustomerAuthentication::SignedIn(scope) if scope.counterparty_id.get() == 4));
        for other in [app_scope(2, 9), app_scope(3, 8)] {
            assert_eq!(guard.authenticate(other, "5|s").await.unwrap(), CustomerAuthentication::OtherApplication);
            assert_eq!(guard.authenticate(other, "5|t").await.unwrap(), CustomerAuthentication::Unauthenticated);
        }
        assert_eq!(guard.store_uses().await.unwrap(), 1);
        clock.advance(TimeDelta::seconds(1));
        let expired = guard.authenticate(app_scope(2, 8), "5|s").await.unwrap();
        assert_eq!(expired, CustomerAuthentication::Unauthenticated);
        assert_eq!(guard.authenticate_without_app("5|s").await.unwrap(), None);
    }

    #[tokio::test]
    async fn without_an_application_the_token_names_it() {
        let (guard, _) = customer_guard(true);
        let scope = guard.authenticate_without_app("5|s").await.unwrap().unwrap();
        assert_eq!((scope.app, scope.token_id.get()), (app_scope(2, 8), 5));
        assert_eq!(guard.authenticate_without_app("5|t").await.unwrap(), None);
        assert_eq!(customer_guard(false).0.authenticate_without_app("5|s").await.unwrap(), None);
    }
}
