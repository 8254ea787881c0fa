use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{
    BranchId, Clock, Email, Permission, ProjectId, Random, SecretKeeper, SecretString, Staff, StoreError, UserId,
};

use crate::model::{
    AccessToken, Employee, Login, NewOwner, NewPassword, NewToken, TokenLifetimes, TokenOwner, TokenSecret,
};
use crate::ports::{PasswordHasher, StaffRepository, TokenRepository};
use crate::{LogoutExtent, StaffLoginError, StaffRegistryError};

/// An employee who has just signed in.
#[derive(Debug)]
pub struct SignedInStaff {
    /// His record.
    pub employee: Employee,
    /// His token.
    pub token: AccessToken,
}

/// Signing in and out of employees.
pub struct StaffSessions {
    staff: Arc<dyn StaffRepository>,
    tokens: Arc<dyn TokenRepository>,
    hasher: Arc<dyn PasswordHasher>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    keeper: Arc<dyn SecretKeeper>,
    lifetimes: TokenLifetimes,
}

impl StaffSessions {
    /// Wires the ports.
    pub fn new(
        staff: Arc<dyn StaffRepository>,
        tokens: Arc<dyn TokenRepository>,
        hasher: Arc<dyn PasswordHasher>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        keeper: Arc<dyn SecretKeeper>,
        lifetimes: TokenLifetimes,
    ) -> Self {
        Self { staff, tokens, hasher, clock, random, keeper, lifetimes }
    }

    /// Signs an employee in. Every refusal costs one comparison of a password hash and looks the same.
    pub async fn log_in(&self, login: &Login, password: &SecretString) -> Result<SignedInStaff, StaffLoginError> {
        let known = self.staff.credentials(login).await?;
        let hash = known.as_ref().map(|known| known.password_hash.clone());
        let proved = self.hasher.verify(password, hash).await?;
        let user = known.filter(|known| proved && !known.is_banned).ok_or(StaffLoginError::WrongCredentials)?.user_id;

        let (secret, now) = (TokenSecret::generate(&*self.random), self.clock.now());
        let expires_at = now + self.lifetimes.staff;
        let fingerprint = secret.fingerprint(&*self.keeper);
        let token = NewToken { fingerprint, device: None, created_at: now, expires_at };
        let token_id = self.staff.sign_in(user, token).await?;
        let employee = self.staff.employee(user).await?.ok_or(StaffLoginError::WrongCredentials)?;
        Ok(SignedInStaff { employee, token: secret.into_token(token_id, expires_at) })
    }

    /// The record of the employee or agent himself, with the permissions that the token of the call opens; `None` when
    /// he was removed meanwhile.
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

    /// Ends the token he came with, or all his tokens.
    pub async fn log_out(&self, staff: &Staff, extent: LogoutExtent) -> Result<(), StoreError> {
        let owner = TokenOwner::Staff(staff.user_id);
        match extent {
            LogoutExtent::ThisDevice => self.tokens.revoke(owner, staff.token_id).await,
            LogoutExtent::AllDevices => self.tokens.revoke_all(owner).await,
        }
    }
}

/// Accounts of employees, as provisioning makes them.
pub struct StaffRegistry {
    staff: Arc<dyn StaffRepository>,
    hasher: Arc<dyn PasswordHasher>,
    clock: Arc<dyn Clock>,
}

impl StaffRegistry {
    /// Wires the ports.
    pub fn new(staff: Arc<dyn StaffRepository>, hasher: Arc<dyn PasswordHasher>, clock: Arc<dyn Clock>) -> Self {
        Self { staff, hasher, clock }
    }

    /// Adds an employee with the role that allows everything: the first one of a project.
    pub async fn create_owner(
        &self,
        project_id: ProjectId,
        login: Login,
        email: Email,
        password: &NewPassword,
        branch_id: Option<BranchId>,
    ) -> Result<UserId, StaffRegistryError> {
        let password_hash = self.hasher.hash(password.as_secret()).await?;
        let created_at = self.clock.now();
        self.staff.insert_owner(NewOwner { project_id, branch_id, login, email, password_hash, created_at }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GrantedPermission, Reference, Role, StaffCredentials};
    use crate::ports::{MockPasswordHasher, MockStaffRepository, MockTokenRepository};
    use chrono::{DateTime, TimeDelta};
    use kontor_kernel::testing::{CountingRandom, PlainKeeper, staff_with};
    use kontor_kernel::{ExposeSecret, FixedClock, Name, PermissionId, Resource, RoleId, ScreenId, TokenId};

    fn anna() -> Login {
        Login::parse(" Anna").unwrap()
    }

    fn employee() -> Employee {
        let name = Name::parse("Anna").unwrap();
        Employee {
            id: UserId::new(3).unwrap(),
            project_id: ProjectId::new(2).unwrap(),
            login: Login::parse("anna").unwrap(),
            first_name: name.clone(),
            last_name: name.clone(),
            middle_name: None,
            phone: None,
            role: Role { id: RoleId::new(1).unwrap(), name, description: None },
            branch: None,
            creator: None,
            is_banned: false,
            is_sick: false,
            active_time: TimeDelta::zero(),
            last_activity_at: None,
            permissions: Vec::new(),
        }
    }

    fn credentials(is_banned: bool) -> StaffCredentials {
        StaffCredentials {
            user_id: UserId::new(3).unwrap(),
            project_id: ProjectId::new(2).unwrap(),
            password_hash: "hash".to_owned(),
            is_banned,
        }
    }

    fn sessions(staff: MockStaffRepository, tokens: MockTokenRepository, proved: bool) -> StaffSessions {
        let mut hasher = MockPasswordHasher::new();
        hasher.expect_verify().times(..=1).returning(move |_, hash| Ok(proved && hash.is_some()));
        StaffSessions::new(
            Arc::new(staff),
            Arc::new(tokens),
            Arc::new(hasher),
            Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            Arc::new(CountingRandom::new()),
            Arc::new(PlainKeeper),
            TokenLifetimes::default(),
        )
    }

    #[tokio::test]
    async fn the_right_password_gives_a_token_for_thirty_days() {
        let mut staff = MockStaffRepository::new();
        staff.expect_credentials().withf(|login| login.as_str() == "anna").returning(|_| Ok(Some(credentials(false))));
        staff
            .expect_sign_in()
            .withf(|user, token| user.get() == 3 && token.fingerprint.starts_with("plain:"))
            .returning(|_, _| Ok(TokenId::new(9).unwrap()));
        staff.expect_employee().returning(|_| Ok(Some(employee())));
        let signed = sessions(staff, MockTokenRepository::new(), true).log_in(&anna(), &"pw".into()).await.unwrap();
        assert_eq!(signed.token.expires_at, DateTime::UNIX_EPOCH + TimeDelta::days(30));
        assert!(signed.token.value.expose_secret().starts_with("9|"));
        assert_eq!(signed.employee, employee());
    }

    #[tokio::test]
    async fn every_refusal_is_the_same() {
        for (known, proved) in [(None, true), (Some(credentials(false)), false), (Some(credentials(true)), true)] {
            let mut staff = MockStaffRepository::new();
            staff.expect_credentials().returning(move |_| Ok(known.clone()));
            let refused = sessions(staff, MockTokenRepository::new(), proved).log_in(&anna(), &"pw".into()).await;
            assert!(matches!(refused, Err(StaffLoginError::WrongCredentials)));
        }
    }

    #[tokio::test]
    async fn the_own_record_lists_what_the_token_opens() {
        let granted = |id, name: &str| GrantedPermission {
            id: PermissionId::new(id).unwrap(),
            screen: Reference { id: ScreenId::new(1).unwrap(), name: Name::parse("screen").unwrap() },
            name: name.to_owned(),
            description: String::new(),
        };
        let all = [granted(1, "view-orders"), granted(2, "edit-brands"), granted(3, "view-of-a-project")];
        let (orders, brands) = (Permission::view(Resource::Orders), Permission::edit(Resource::Brands));
        for (open, listed) in [(vec![orders, brands], 3), (vec![brands], 1), (vec![], 0)] {
            let mut staff = MockStaffRepository::new();
            let record = Employee { permissions: all.to_vec(), ..employee() };
            staff.expect_employee().returning(move |_| Ok(Some(record.clone())));
            let sessions = sessions(staff, MockTokenRepository::new(), false);
            let current = sessions.current(&staff_with(open)).await.unwrap().unwrap();
            assert_eq!(current.permissions.len(), listed);
        }
    }

    #[tokio::test]
    async fn logging_out_ends_one_token_or_all() {
        let staff = staff_with([]);
        let owner = TokenOwner::Staff(staff.user_id);
        let mut tokens = MockTokenRepository::new();
        tokens.expect_revoke().withf(move |o, t| *o == owner && t.get() == 1).once().returning(|_, _| Ok(()));
        tokens.expect_revoke_all().withf(move |o| *o == owner).once().returning(|_| Ok(()));
        let sessions = sessions(MockStaffRepository::new(), tokens, false);
        sessions.log_out(&staff, LogoutExtent::ThisDevice).await.unwrap();
        sessions.log_out(&staff, LogoutExtent::AllDevices).await.unwrap();
    }

    #[tokio::test]
    async fn an_owner_is_stored_with_a_hash() {
        let mut hasher = MockPasswordHasher::new();
        hasher.expect_hash().returning(|_| Ok("hashed".to_owned()));
        let mut staff = MockStaffRepository::new();
        staff
            .expect_insert_owner()
            .withf(|owner| owner.password_hash == "hashed" && owner.login.as_str() == "boss")
            .returning(|_| Err(StaffRegistryError::LoginTaken));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let registry = StaffRegistry::new(Arc::new(staff), Arc::new(hasher), clock);
        let refused = registry
            .create_owner(
                ProjectId::new(1).unwrap(),
                Login::parse("Boss").unwrap(),
                Email::parse("boss@x.ru").unwrap(),
                &NewPassword::parse("long enough").unwrap(),
                None,
            )
            .await;
        assert!(matches!(refused, Err(StaffRegistryError::LoginTaken)));
    }
}
