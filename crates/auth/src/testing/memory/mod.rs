//! Logins in memory, for examples and for tests of use cases.

mod access_requests;
mod agent_actions;
mod agents;
mod applications;
mod approval_mails;
mod callbacks;
mod customers;
mod employees;
mod permissions;
mod roles;
mod staff;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{AppScope, ApplicationId, Contact, CounterpartyId, Phone, ProjectId, RoleId, TokenId, UserId};
use uuid::Uuid;

use crate::miniapp::MiniAppProvider;
use crate::model::{AgentAction, AgentPolicy, ClientSession, ContactOwner, NewToken, StoredAccessRequest, TokenOwner};
use agents::StoredAgent;
use applications::Client;
use approval_mails::QueuedMail;
use callbacks::{Attempt, Hold};
use customers::{Code, Customer};
use permissions::Permissions;
use roles::StoredRole;
use staff::{QueuedRequest, StaffMember};
use tokens::Token;

/// Storage of logins of any number of projects, in memory.
///
/// It implements the ports of customers and their sessions, of tokens, callback attempts, mini-apps and introspection
/// clients, and [`StaffRepository`](crate::ports::StaffRepository),
/// [`EmployeeRepository`](crate::ports::EmployeeRepository),
/// [`DirectoryRepository`](crate::ports::DirectoryRepository), [`RoleRepository`](crate::ports::RoleRepository),
/// [`PermissionRepository`](crate::ports::PermissionRepository),
/// [`PasswordRequests`](crate::ports::PasswordRequests) and [`SignInAddresses`](crate::ports::SignInAddresses). It
/// fulfills their [contract](crate::testing::contract). Clones share their data.
///
/// It also implements the ports of agents: [`AgentRepository`](crate::ports::AgentRepository),
/// [`AccessRequestRepository`](crate::ports::AccessRequestRepository),
/// [`AgentActionRepository`](crate::ports::AgentActionRepository) and
/// [`ApprovalMailQueue`](crate::ports::ApprovalMailQueue). The list of agents has no filters.
///
/// Limits: it keeps no histories. There are no branches, departments and avatars, so it refuses employees that refer to
/// them. The permissions of the service have no descriptions.
#[derive(Clone, Default)]
pub struct InMemoryLogins {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// A token of an agent is limited to its abilities.
    Abilities,
    /// A deleted agent has no tokens.
    AgentDeleted,
    /// Callers change no agent that has more permissions than they hold.
    AgentHeld,
    /// An agent has a maximum number of tokens.
    AgentTokens,
    /// An employee approves a maximum number of calls within an hour.
    Approvals,
    /// A mail about calls goes to an employee who is not banned.
    Approver,
    /// The failure of an earlier attempt is not the result of a call.
    CallAttempt,
    /// An approved call is counted once.
    CallCounted,
    /// A call is decided once.
    CallDecided,
    /// The execution of a call is continued after its lease.
    CallLease,
    /// An equal call is proposed once.
    CallProposed,
    /// A call has one result.
    CallResult,
    /// An agent has limits for a day.
    DayLimits,
    /// An access request or a call is decided in time.
    Deadline,
    /// Further failures of an agent are only counted.
    Failures,
    /// A mail about calls has one lease at a time.
    MailLease,
    /// A mail about calls is released by the worker that leased it.
    MailOwner,
    /// An agent has a maximum number of open calls.
    OpenCalls,
    /// A call is approved under the policy of its proposal.
    PolicyChanged,
    /// A policy is replaced from the version that was read.
    PolicyVersion,
    /// An access request belongs to the project that handled it first.
    RequestClaim,
    /// An access request gives one token.
    RequestConsumed,
    /// An access request is decided once.
    RequestDecided,
    /// A code is used once.
    Code,
    /// A code allows a number of wrong attempts.
    Attempts,
    /// A code expires.
    Expiry,
    /// A contact belongs to one customer of a project.
    Contact,
    /// A token is revoked by its owner.
    Owner,
    /// A token of a customer is not one of an employee.
    Kind,
    /// A ban revokes tokens and temporary passwords.
    Ban,
    /// A project keeps an owner.
    LastOwner,
    /// A login has one employee.
    Login,
    /// Callers assign permissions that they hold.
    Held,
    /// Employees, roles and permissions belong to one project.
    Project,
    /// The name of a permission is unique in its project.
    Name,
    /// A permission that a role has, and a role that an employee has, are not deleted.
    InUse,
    /// A role is changed from the version that was read.
    Version,
    /// The owner's role is not changed.
    OwnerRole,
    /// A nonce is used once.
    Nonce,
    /// A phone has one attempt at a time.
    Hold,
    /// An attempt is exchanged once.
    Exchange,
    /// The provider is queried at intervals.
    Interval,
    /// A session is continued from the state that was read.
    Session,
    /// A token that was revoked has no session.
    SignedOut,
    /// A request for a password has one lease at a time.
    Lease,
    /// A newer request for a password stays.
    Request,
    /// A temporary password becomes the own one and revokes other tokens.
    Adoption,
    /// A temporary password belongs to the address that it was sent to.
    Address,
    /// An application has one client for an audience.
    Audience,
    /// A client sees tokens of its application.
    Application,
    /// A disabled client is inactive.
    Disabled,
}

#[derive(Default)]
struct State {
    ids: Sequence,
    access_requests: Vec<StoredAccessRequest>,
    agents: BTreeMap<UserId, StoredAgent>,
    approval_mails: Vec<QueuedMail>,
    calls: Vec<AgentAction>,
    counted_calls: BTreeSet<Uuid>,
    day_uses: BTreeMap<(UserId, DateTime<Utc>), (i64, i64)>,
    policies: BTreeMap<ProjectId, AgentPolicy>,
    apps: BTreeMap<ApplicationId, AppScope>,
    customers: BTreeMap<CounterpartyId, Customer>,
    logins: Vec<(ProjectId, Contact, CounterpartyId)>,
    codes: Vec<((ProjectId, Contact), Code)>,
    phone_codes: BTreeMap<CounterpartyId, (Phone, Code)>,
    tokens: BTreeMap<TokenId, Token>,
    sessions: Vec<(TokenId, ClientSession)>,
    attempts: Vec<Attempt>,
    holds: Vec<Hold>,
    permissions: Permissions,
    roles: BTreeMap<RoleId, StoredRole>,
    staff: Vec<StaffMember>,
    requests: Vec<QueuedRequest>,
    addresses: BTreeMap<String, DateTime<Utc>>,
    clients: Vec<Client>,
    bots: Vec<((ApplicationId, MiniAppProvider), String)>,
    guards: Guards<Guard>,
}

impl InMemoryLogins {
    /// Adds an active application, and its project.
    pub fn add_app(&self, app: AppScope) {
        self.state.with(|state| state.apps.insert(app.application_id, app));
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

impl State {
    /// Stores a token, and opens the session of a customer.
    fn issue(&mut self, owner: TokenOwner, app: Option<AppScope>, new: &NewToken) -> TokenId {
        let id = self.ids.id();
        let last_used_at = Some(new.created_at);
        self.tokens.insert(id, Token { owner, app, new: new.clone(), last_used_at, name: None, abilities: None });
        if matches!(owner, TokenOwner::Customer(_)) {
            self.open_session(id, new.created_at);
        }
        id
    }

    /// Revokes tokens, and closes their sessions.
    fn revoke(&mut self, is_revoked: impl Fn(TokenId, &Token) -> bool) {
        self.tokens.retain(|id, token| !is_revoked(*id, token));
        let signed_out = self.guards.has(Guard::SignedOut);
        let tokens = &self.tokens;
        self.sessions.retain(|(token, _)| !signed_out || tokens.contains_key(token));
    }

    /// Returns `true` if a record of the first project may be used by the second one.
    fn owns(&self, owner: ProjectId, project: ProjectId) -> bool {
        owner == project || !self.guards.has(Guard::Project)
    }

    fn owner_of(&self, project: ProjectId, contact: &Contact) -> ContactOwner {
        ContactOwner::of(self.signs_in(project, contact), &self.recorded(project, contact))
    }
}
