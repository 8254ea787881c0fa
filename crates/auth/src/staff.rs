use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{Clock, Permission, Random, SecretCipher, SecretString, Staff, StoreError};

use crate::model::{AccessToken, Employee, Login, NewToken, TokenLifetimes, TokenOwner, TokenSecret};
use crate::ports::{MatchedPassword, PasswordHasher, SignIn, StaffRepository, TokenRepository};
use crate::{LogoutExtent, StaffLoginError};

/// Result of an employee login.
#[derive(Debug)]
pub struct IssuedStaffToken {
    /// Employee record.
    pub employee: Employee,
    /// Access token.
    pub token: AccessToken,
}

/// Login and logout of employees.
pub struct StaffSessions {
    /// Storage of employees.
    pub staff: Arc<dyn StaffRepository>,
    /// Storage of tokens.
    pub tokens: Arc<dyn TokenRepository>,
    /// Hashes passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
    /// Validity of issued tokens.
    pub lifetimes: TokenLifetimes,
}

impl StaffSessions {
    /// Signs an employee in with their own or a temporary password. A temporary password becomes their own and revokes
    /// every earlier token. Every refusal takes two comparisons of a password hash and returns the same error.
    pub async fn log_in(&self, login: &Login, password: &SecretString) -> Result<IssuedStaffToken, StaffLoginError> {
        let known = self.staff.credentials(login, self.clock.now()).await?;
        let (own, temporary) =
            known.as_ref().map(|known| (known.password_hash.clone(), known.temporary_hash.clone())).unzip();
        let welcome = known.filter(|known| !known.is_banned);
        let matches = self.hasher.verify(password, own.clone()).await?;
        let proved = match own.filter(|_| matches) {
            // Success is visible in the response anyway, so skipping the second comparison leaks nothing.
            Some(own) if welcome.is_some() => Some(MatchedPassword::Own(own)),
            _ => {
                let temporary = temporary.flatten();
                let matches = self.hasher.verify(password, temporary.clone()).await?;
                temporary.filter(|_| matches).map(MatchedPassword::Temporary)
            }
        };
        let (known, proved) = welcome.zip(proved).ok_or(StaffLoginError::WrongCredentials)?;
        let user_id = known.user_id;

        let (secret, now) = (TokenSecret::generate(&*self.random), self.clock.now());
        let expires_at = now + self.lifetimes.staff;
        let fingerprint = secret.fingerprint(&*self.cipher);
        let token = NewToken { fingerprint, device: None, created_at: now, expires_at };
        let stored = self.staff.sign_in(SignIn { user_id, proved, token }).await?;
        let token_id = stored.ok_or(StaffLoginError::WrongCredentials)?;
        let employee = self.staff.employee(user_id).await?.ok_or(StaffLoginError::WrongCredentials)?;
        Ok(IssuedStaffToken { employee, token: secret.into_token(token_id, expires_at) })
    }

    /// Returns the record of the calling employee or agent, with the permissions that the token of the call grants;
    /// `None` if the record was deleted in the meantime.
    pub async fn current(&self, staff: &Staff) -> Result<Option<Employee>, StoreError> {
        let mut employee = self.staff.employee(staff.user_id).await?;
        if let Some(employee) = &mut employee {
            let (open, closed): (Vec<_>, Vec<_>) =
                Permission::all().partition(|permission| permission.is_covered_by(&staff.permissions));
            let named = |all: &[Permission]| all.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
            let (open, closed) = (named(&open), named(&closed));
            if employee.permissions.iter().any(|granted| closed.contains(&granted.name)) {
                employee.permissions.retain(|granted| open.contains(&granted.name));
            }
        }
        Ok(employee)
    }

    /// Revokes the token of the call, or all tokens of the employee.
    pub async fn log_out(&self, staff: &Staff, extent: LogoutExtent) -> Result<(), StoreError> {
        let owner = TokenOwner::Staff(staff.user_id);
        match extent {
            LogoutExtent::ThisDevice => self.tokens.revoke(owner, staff.token_id).await,
            LogoutExtent::AllDevices => self.tokens.revoke_all(owner).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GrantedPermission, StaffCredentials};
    use crate::ports::{MockPasswordHasher, MockStaffRepository, MockTokenRepository};
    use chrono::{DateTime, TimeDelta};
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{ExposeSecret, FixedClock, ProjectId, Resource, TokenId, UserId};

    fn anna() -> Login {
        Login::parse(" Anna").unwrap()
    }

    fn employee() -> Employee {
        Employee { project_id: ProjectId::new(2).unwrap(), ..Employee::sample(3) }
    }

    fn credentials(is_banned: bool) -> StaffCredentials {
        StaffCredentials {
            user_id: UserId::new(3).unwrap(),
            project_id: ProjectId::new(2).unwrap(),
            password_hash: "hash".to_owned(),
            temporary_hash: Some("temporary".to_owned()),
            is_banned,
        }
    }

    /// The passwords `hash` and `temporary` match the hashes of the same name.
    fn sessions(staff: MockStaffRepository, tokens: MockTokenRepository, comparisons: usize) -> StaffSessions {
        let mut hasher = MockPasswordHasher::new();
        let same = |password: &SecretString, hash: Option<String>| hash.as_deref() == Some(password.expose_secret());
        hasher.expect_verify().times(comparisons).returning(move |password, hash| Ok(same(password, hash)));
        StaffSessions {
            staff: Arc::new(staff),
            tokens: Arc::new(tokens),
            hasher: Arc::new(hasher),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
            lifetimes: TokenLifetimes::default(),
        }
    }

    #[tokio::test]
    async fn the_right_password_gives_a_token_for_thirty_days() {
        let mut staff = MockStaffRepository::new();
        staff
            .expect_credentials()
            .withf(|login, _| login.as_str() == "anna")
            .returning(|_, _| Ok(Some(credentials(false))));
        staff
            .expect_sign_in()
            .withf(|sign_in| {
                sign_in.user_id.get() == 3
                    && sign_in.proved == MatchedPassword::Own("hash".to_owned())
                    && sign_in.token.fingerprint.starts_with("plain:")
            })
            .returning(|_| Ok(Some(TokenId::new(9).unwrap())));
        staff.expect_employee().returning(|_| Ok(Some(employee())));
        let sessions = sessions(staff, MockTokenRepository::new(), 1);
        let signed = sessions.log_in(&anna(), &"hash".into()).await.unwrap();
        assert_eq!(signed.token.expires_at, DateTime::UNIX_EPOCH + TimeDelta::days(30));
        assert!(signed.token.value.expose_secret().starts_with("9|"));
        assert_eq!(signed.employee, employee());
    }

    #[tokio::test]
    async fn a_temporary_password_is_adopted() {
        let mut staff = MockStaffRepository::new();
        staff.expect_credentials().returning(|_, _| Ok(Some(credentials(false))));
        staff
            .expect_sign_in()
            .withf(|sign_in| sign_in.proved == MatchedPassword::Temporary("temporary".to_owned()))
            .once()
            .returning(|_| Ok(Some(TokenId::new(9).unwrap())));
        staff.expect_employee().returning(|_| Ok(Some(employee())));
        let sessions = sessions(staff, MockTokenRepository::new(), 2);
        assert!(sessions.log_in(&anna(), &"temporary".into()).await.is_ok());
    }

    #[tokio::test]
    async fn every_refusal_is_the_same() {
        let none = StaffCredentials { temporary_hash: None, ..credentials(false) };
        for (known, password) in [
            (None, "hash"),
            (Some(credentials(false)), "wrong"),
            (Some(none), "temporary"),
            (Some(credentials(true)), "hash"),
            (Some(credentials(true)), "temporary"),
        ] {
            let mut staff = MockStaffRepository::new();
            staff.expect_credentials().returning(move |_, _| Ok(known.clone()));
            let refused = sessions(staff, MockTokenRepository::new(), 2).log_in(&anna(), &password.into()).await;
            assert!(matches!(refused, Err(StaffLoginError::WrongCredentials)), "{password}");
        }
    }

    #[tokio::test]
    async fn an_employee_banned_during_login_is_refused() {
        let mut staff = MockStaffRepository::new();
        staff.expect_credentials().returning(|_, _| Ok(Some(credentials(false))));
        staff.expect_sign_in().returning(|_| Ok(None));
        let refused = sessions(staff, MockTokenRepository::new(), 1).log_in(&anna(), &"hash".into()).await;
        assert!(matches!(refused, Err(StaffLoginError::WrongCredentials)));
    }

    #[tokio::test]
    async fn logging_out_ends_one_token_or_all() {
        let staff = staff_with([]);
        let owner = TokenOwner::Staff(staff.user_id);
        let mut tokens = MockTokenRepository::new();
        tokens.expect_revoke().withf(move |o, t| *o == owner && t.get() == 1).once().returning(|_, _| Ok(()));
        tokens.expect_revoke_all().withf(move |o| *o == owner).once().returning(|_| Ok(()));
        let sessions = sessions(MockStaffRepository::new(), tokens, 0);
        sessions.log_out(&staff, LogoutExtent::ThisDevice).await.unwrap();
        sessions.log_out(&staff, LogoutExtent::AllDevices).await.unwrap();
    }

    #[tokio::test]
    async fn the_own_record_lists_what_the_token_opens() {
        let granted = |id, name: &str| GrantedPermission::sample(id, None, name);
        let all = [granted(1, "view-orders"), granted(2, "edit-brands"), granted(3, "view-of-a-project")];
        let (orders, brands) = (Permission::view(Resource::Orders), Permission::edit(Resource::Brands));
        for (open, listed) in [(vec![orders, brands], 3), (vec![brands], 1), (vec![], 0)] {
            let mut staff = MockStaffRepository::new();
            let record = Employee { permissions: all.to_vec(), ..employee() };
            staff.expect_employee().returning(move |_| Ok(Some(record.clone())));
            let sessions = sessions(staff, MockTokenRepository::new(), 0);
            let current = sessions.current(&staff_with(open)).await.unwrap().unwrap();
            assert_eq!(current.permissions.len(), listed);
        }
    }
}
