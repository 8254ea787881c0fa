use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{DepartmentId, ProjectId, Reference, StoreError, TokenId, UserId};

use super::{Guard, InMemoryLogins, State};
use crate::StaffRegistryError;
use crate::model::{
    Employee, EmployeeChange, Login, NewEmployee, PasswordRecipient, PasswordRequest, Role, RoleChoice,
    StaffCredentials, TemporaryPassword, TokenOwner, is_last_owner,
};
use crate::ports::{MatchedPassword, PasswordRequests, SignIn, SignInAddresses, StaffRepository};

/// Employee with the fields that only the storage reads.
pub(super) struct StaffMember {
    pub(super) employee: Employee,
    password_hash: String,
    pub(super) temporary: Option<TemporaryPassword>,
}

/// Request for a temporary password in the queue.
pub(super) struct QueuedRequest {
    request: PasswordRequest,
    next_attempt_at: DateTime<Utc>,
    leased_until: Option<DateTime<Utc>>,
}

impl State {
    pub(super) fn member(&mut self, user: UserId) -> Result<&mut StaffMember, StaffRegistryError> {
        let found = self.staff.iter_mut().find(|member| member.employee.id == user);
        found.ok_or(StaffRegistryError::UnknownEmployee)
    }

    fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Option<StaffCredentials> {
        let member = self.staff.iter().find(|member| member.employee.login == *login)?;
        let temporary = member.temporary.as_ref().filter(|temporary| temporary.expires_at > at);
        Some(StaffCredentials {
            user_id: member.employee.id,
            project_id: member.employee.project_id,
            password_hash: member.password_hash.clone(),
            temporary_hash: temporary.map(|temporary| temporary.hash.clone()),
            is_banned: member.employee.is_banned,
        })
    }

    fn sign_in_staff(&mut self, sign_in: &SignIn) -> Option<TokenId> {
        let (owner, adopts) = (TokenOwner::Staff(sign_in.user_id), self.guards.has(Guard::Adoption));
        let member = self.member(sign_in.user_id).ok()?;
        if member.employee.is_banned {
            return None;
        }
        let mut adopted = false;
        match &sign_in.proved {
            MatchedPassword::Own(hash) if member.password_hash == *hash => {}
            MatchedPassword::Own(_) => return None,
            MatchedPassword::Temporary(hash) => {
                adopted = member.temporary.take_if(|temporary| temporary.hash == *hash).is_some();
                if !adopted && member.password_hash != *hash {
                    return None;
                }
                if adopts {
                    member.password_hash.clone_from(hash);
                }
            }
        }
        member.employee.last_activity_at = Some(sign_in.token.created_at);
        if adopted && adopts {
            self.revoke(|_, token| token.owner == owner);
        }
        Some(self.issue(owner, None, &sign_in.token))
    }

    fn require_role(
        &mut self,
        project: ProjectId,
        choice: RoleChoice,
        at: DateTime<Utc>,
    ) -> Result<Role, StaffRegistryError> {
        let chosen = self.chosen_role(project, choice, at)?;
        let found = chosen.and_then(|id| self.role_of_employee(id));
        found.map(|(role, _)| role).ok_or(StaffRegistryError::UnknownRole)
    }

    fn insert_employee(&mut self, new: NewEmployee) -> Result<UserId, StaffRegistryError> {
        if !self.apps.values().any(|app| app.project_id == new.project_id) {
            return Err(StaffRegistryError::UnknownProject);
        }
        if new.branch_id.is_some() {
            return Err(StaffRegistryError::UnknownBranch);
        }
        if new.department_id.is_some() {
            return Err(StaffRegistryError::UnknownDepartment);
        }
        let role = self.require_role(new.project_id, new.role, new.created_at)?;
        self.add_member(new, role, None).ok_or(StaffRegistryError::LoginTaken)
    }

    /// Stores an employee, unless the login is in use.
    pub(super) fn add_member(
        &mut self,
        new: NewEmployee,
        role: Role,
        creator: Option<Reference<UserId>>,
    ) -> Option<UserId> {
        let is_taken = self.staff.iter().any(|member| member.employee.login == new.login);
        if is_taken && self.guards.has(Guard::Login) {
            return None;
        }
        let id = self.ids.id();
        let employee = Employee {
            id,
            project_id: new.project_id,
            login: new.login,
            email: new.email,
            first_name: new.first_name,
            last_name: new.last_name,
            middle_name: new.middle_name,
            phone: new.phone,
            avatar: None,
            role,
            branch: None,
            department: None,
            creator,
            is_banned: false,
            is_sick: false,
            active_time: TimeDelta::zero(),
            last_activity_at: None,
            permissions: Vec::new(),
        };
        self.staff.push(StaffMember { employee, password_hash: new.password_hash, temporary: None });
        Some(id)
    }

    /// Returns `true` if the employee is the only owner of the project who can sign in.
    pub(super) fn is_only_owner(&self, project: ProjectId, user: UserId) -> bool {
        let admitted = self.staff.iter().map(|member| &member.employee).filter(|member| !member.is_banned);
        let owners = admitted.filter(|member| member.project_id == project && self.is_owner_role(member.role.id));
        let owners: Vec<UserId> = owners.map(|member| member.id).collect();
        self.guards.has(Guard::LastOwner) && is_last_owner(&owners, user)
    }

    /// Bans an employee and revokes their tokens and temporary password, or lifts the ban.
    pub(super) fn set_banned(&mut self, user: UserId, banned: bool) {
        let revokes = banned && self.guards.has(Guard::Ban);
        let Ok(member) = self.member(user) else { return };
        member.employee.is_banned = banned;
        if revokes {
            member.temporary = None;
            self.revoke(|_, token| token.owner == TokenOwner::Staff(user));
        }
    }

    fn ban(&mut self, user: UserId) -> Result<(), StaffRegistryError> {
        let project = self.member(user)?.employee.project_id;
        if self.is_only_owner(project, user) {
            return Err(StaffRegistryError::LastOwner);
        }
        self.set_banned(user, true);
        Ok(())
    }

    fn assign_role(&mut self, user: UserId, choice: RoleChoice, at: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        let project = self.member(user)?.employee.project_id;
        let role = self.require_role(project, choice, at)?;
        if !self.is_owner_role(role.id) && self.is_only_owner(project, user) {
            return Err(StaffRegistryError::LastOwner);
        }
        self.member(user)?.employee.role = role;
        Ok(())
    }

    fn update_employee(&mut self, login: &Login, change: EmployeeChange) -> Result<UserId, StaffRegistryError> {
        let found = self.staff.iter_mut().map(|member| &mut member.employee).find(|member| member.login == *login);
        let member = found.ok_or(StaffRegistryError::UnknownEmployee)?;
        if change.avatar.set_value().is_some() {
            return Err(StaffRegistryError::UnknownAvatar);
        }
        member.phone = change.phone.or(member.phone.take());
        member.middle_name = change.middle_name.or(member.middle_name.take());
        member.is_sick = change.is_sick.or(member.is_sick);
        Ok(member.id)
    }

    /// Queues a request and replaces an earlier one for the login.
    pub(super) fn enqueue(&mut self, login: Login, at: DateTime<Utc>) {
        let request = PasswordRequest { login, requested_at: at, attempts: 0 };
        self.requests.retain(|queued| queued.request.login != request.login);
        self.requests.push(QueuedRequest { request, next_attempt_at: at, leased_until: None });
    }

    fn lease_request(&mut self, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<PasswordRequest> {
        let exclusive = self.guards.has(Guard::Lease);
        let is_due = |queued: &&mut QueuedRequest| {
            let is_free = !exclusive || queued.leased_until.is_none_or(|leased| leased <= at);
            is_free && queued.next_attempt_at <= at
        };
        let queued = self.requests.iter_mut().filter(is_due).min_by_key(|queued| queued.next_attempt_at)?;
        queued.leased_until = Some(until);
        queued.request.attempts += 1;
        Some(queued.request.clone())
    }

    fn store_temporary(&mut self, password: TemporaryPassword) -> bool {
        let checked = self.guards.has(Guard::Address);
        let Ok(member) = self.member(password.recipient.user_id) else { return false };
        let is_same = !checked || member.employee.email == password.recipient.email;
        let stores = is_same && !member.employee.is_banned;
        if stores {
            member.temporary = Some(password);
        }
        stores
    }
}

#[async_trait]
impl StaffRepository for InMemoryLogins {
    async fn credentials(&self, login: &Login, at: DateTime<Utc>) -> Result<Option<StaffCredentials>, StoreError> {
        Ok(self.state.with(|state| state.credentials(login, at)))
    }

    async fn sign_in(&self, sign_in: SignIn) -> Result<Option<TokenId>, StoreError> {
        Ok(self.state.with(|state| state.sign_in_staff(&sign_in)))
    }

    async fn employee(&self, user: UserId) -> Result<Option<Employee>, StoreError> {
        Ok(self.state.with(|state| state.employee(user)))
    }

    async fn insert_employee(&self, employee: NewEmployee) -> Result<UserId, StaffRegistryError> {
        self.state.with(|state| state.insert_employee(employee))
    }

    async fn ban(&self, user: UserId, _: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.state.with(|state| state.ban(user))
    }

    async fn unban(&self, user: UserId, _: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.state.with(|state| {
            state.member(user)?;
            state.set_banned(user, false);
            Ok(())
        })
    }

    async fn assign_role(&self, user: UserId, role: RoleChoice, at: DateTime<Utc>) -> Result<(), StaffRegistryError> {
        self.state.with(|state| state.assign_role(user, role, at))
    }

    async fn assign_department(
        &self,
        user: UserId,
        department: Option<DepartmentId>,
        _: DateTime<Utc>,
    ) -> Result<(), StaffRegistryError> {
        self.state.with(|state| state.member(user).map(|_| ()))?;
        if department.is_some() { Err(StaffRegistryError::UnknownDepartment) } else { Ok(()) }
    }

    async fn update_employee(
        &self,
        login: &Login,
        change: EmployeeChange,
        _: DateTime<Utc>,
    ) -> Result<UserId, StaffRegistryError> {
        self.state.with(|state| state.update_employee(login, change))
    }
}

#[async_trait]
impl PasswordRequests for InMemoryLogins {
    async fn enqueue(&self, login: &Login, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.enqueue(login.clone(), at));
        Ok(())
    }

    async fn lease(
        &self,
        _: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<PasswordRequest>, StoreError> {
        Ok(self.state.with(|state| state.lease_request(at, until)))
    }

    async fn postpone(&self, request: &PasswordRequest, next: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            if let Some(queued) = state.requests.iter_mut().find(|queued| queued.request == *request) {
                (queued.next_attempt_at, queued.leased_until) = (next, None);
            }
        });
        Ok(())
    }

    async fn recipient(&self, login: &Login) -> Result<Option<PasswordRecipient>, StoreError> {
        Ok(self.state.with(|state| {
            let mut admitted = state.staff.iter().map(|member| &member.employee).filter(|member| !member.is_banned);
            let found = admitted.find(|member| member.login == *login);
            found.map(|member| PasswordRecipient { user_id: member.id, email: member.email.clone() })
        }))
    }

    async fn store(&self, password: TemporaryPassword) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.store_temporary(password)))
    }

    async fn forget(&self, request: &PasswordRequest) -> Result<(), StoreError> {
        self.state.with(|state| {
            let any = !state.guards.has(Guard::Request);
            state.requests.retain(|queued| {
                let is_same = any || queued.request.requested_at == request.requested_at;
                queued.request.login != request.login || !is_same
            });
        });
        Ok(())
    }
}

#[async_trait]
impl SignInAddresses for InMemoryLogins {
    async fn contains(&self, fingerprint: &str) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.addresses.contains_key(fingerprint)))
    }

    async fn remember(&self, fingerprint: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.addresses.insert(fingerprint.to_owned(), at));
        Ok(())
    }
}
