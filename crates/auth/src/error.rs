use chrono::{DateTime, Utc};
use kontor_kernel::{ContactError, Permission, RecordError, Refusal, StoreError, UnsealError, Word};
use std::collections::BTreeSet;

use crate::miniapp::ProofError;
use crate::model::{AgentActionState, EmployeeReference, ExpiryError, PermissionsNotHeld, RequestStatus};
use crate::ports::{CallCheckError, HashingFailed, SendError};

/// Error of an employee login.
#[derive(Debug, thiserror::Error)]
pub enum StaffLoginError {
    /// The login is unknown, the password is wrong or the employee is banned. The response does not say which.
    #[error("the login or the password is wrong")]
    WrongCredentials,
    /// The password could not be verified.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of creating or changing an employee.
#[derive(Debug, thiserror::Error)]
pub enum StaffRegistryError {
    /// The login is in use.
    #[error("the login is already in use")]
    LoginTaken,
    /// The project does not exist.
    #[error("there is no such project")]
    UnknownProject,
    /// The employee does not exist.
    #[error("there is no such employee")]
    UnknownEmployee,
    /// The branch does not belong to the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The role does not belong to the staff roles of the project.
    #[error("there is no such role")]
    UnknownRole,
    /// The department does not belong to the project.
    #[error("there is no such department")]
    UnknownDepartment,
    /// The file is not an avatar of the project.
    #[error("there is no such avatar")]
    UnknownAvatar,
    /// The employee is the last owner of the project.
    #[error("the employee is the last owner of the project")]
    LastOwner,
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a use case of employees, managed by staff of the project.
pub type EmployeeError = RecordError<EmployeeRefusal>;

/// Refusals specific to employees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmployeeRefusal {
    /// The employee, before or after the change, has permissions that the caller lacks.
    #[error(transparent)]
    PermissionsNotHeld(#[from] PermissionsNotHeld),
    /// References to records that the project does not have.
    #[error("there are no such records")]
    UnknownReferences(Vec<EmployeeReference>),
    /// The login is in use.
    #[error("the login is already in use")]
    LoginTaken,
    /// Callers cannot ban themselves.
    #[error("you cannot ban yourself")]
    OwnAccount,
    /// Callers cannot change their own role.
    #[error("you cannot change your own role")]
    OwnRole,
    /// The employee is the last owner of the project.
    #[error("the employee is the last owner of the project")]
    LastOwner,
}

impl Refusal for EmployeeRefusal {}

/// Error of sending a one-time code.
#[derive(Debug, thiserror::Error)]
pub enum SendCodeError {
    /// The provider did not accept the code. It counts as not requested.
    #[error("the code could not be sent")]
    CodeNotSent(#[from] SendError),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a customer login.
#[derive(Debug, thiserror::Error)]
pub enum CustomerLoginError {
    /// No customer of the project has this contact.
    #[error("there is no customer with this phone or e-mail address")]
    UnknownContact,
    /// No valid code: it was not requested, was used, has expired or has no attempts left.
    #[error("no valid code: request a new one")]
    CodeNotRequested,
    /// Wrong code.
    #[error("the code is wrong")]
    WrongCode,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a heartbeat.
#[derive(Debug, thiserror::Error)]
pub enum HeartbeatError {
    /// The token was revoked in the meantime.
    #[error("the customer has signed out")]
    SignedOut,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a login with a contact from a mini-app.
#[derive(Debug, thiserror::Error)]
pub enum ContactLoginError {
    /// The messenger does not prove who owns a phone.
    #[error("this messenger does not verify phone numbers")]
    NotSupported,
    /// The application has no bot at this messenger.
    #[error("the application has no bot at this messenger")]
    NotConfigured,
    /// The stored bot token was sealed with another service key.
    #[error(transparent)]
    UnsealError(#[from] UnsealError),
    /// The contact is not proven, or is too old.
    #[error("the contact is not verified: {0}")]
    NotProven(#[from] ProofError),
    /// The phone is proven but cannot be used as a login.
    #[error("the phone {0}")]
    UnusablePhone(#[from] ContactError),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of token introspection.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectionError {
    /// The client is unknown or disabled, its application is inactive, or the secret is wrong. The response does not
    /// say which.
    #[error("the client credentials are wrong")]
    WrongCredentials,
    /// The client was issued for another audience.
    #[error("the client was not issued for this audience")]
    WrongAudience,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of issuing or changing an introspection client.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectionRegistryError {
    /// The application does not exist.
    #[error("there is no such application")]
    UnknownApplication,
    /// The application already has a client for this audience.
    #[error("the application has a client for this audience; rotate its secret instead")]
    AlreadyIssued,
    /// The client does not exist.
    #[error("there is no such client")]
    UnknownClient,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of setting or removing the bot of an application.
#[derive(Debug, thiserror::Error)]
pub enum MiniAppRegistryError {
    /// The messenger does not prove who owns a phone.
    #[error("this messenger does not sign contacts; sign-in with it is not supported")]
    NotSupported,
    /// The application does not exist.
    #[error("there is no such application")]
    UnknownApplication,
    /// The application has no bot at this messenger.
    #[error("the application has no bot at this messenger")]
    NotSet,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a use case of agents and their tokens.
pub type AgentError = RecordError<AgentRefusal>;

/// Refusals specific to agents and their tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    /// The caller holds fewer permissions than they would grant, or fewer than the agent has.
    #[error(transparent)]
    PermissionsNotHeld(#[from] PermissionsNotHeld),
    /// Positions in the list that name no permission.
    #[error("some of these are not permissions")]
    UnknownPermissions(Vec<usize>),
    /// The token would be limited to permissions that the agent does not have.
    #[error("the agent does not have these permissions")]
    ExceedsAgent(BTreeSet<Permission>),
    /// The expiry time is not valid.
    #[error(transparent)]
    Expiry(#[from] ExpiryError),
    /// The agent has the maximum number of tokens.
    #[error("the agent has the maximum number of tokens")]
    TooManyTokens,
}

impl Refusal for AgentRefusal {}

/// Error of a use case of calls of agents that need approval.
pub type AgentActionError = RecordError<AgentActionRefusal>;

/// Refusals specific to calls of agents that need approval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentActionRefusal {
    /// The state of the call does not allow this.
    #[error("the call is {}", .0.word())]
    State(AgentActionState),
    /// The agent has the maximum number of open calls.
    #[error("the agent has the maximum number of open calls")]
    TooMany,
    /// The policy was changed after the proposal.
    #[error("the policy was changed after the proposal")]
    PolicyChanged,
    /// The service no longer has the operation.
    #[error("the service does not have this operation")]
    UnknownOperation,
    /// The session began after the proposal, so the password is needed.
    #[error("the password is required, because you logged in after the proposal")]
    PasswordRequired,
    /// The password is wrong.
    #[error("the password is wrong")]
    WrongPassword,
    /// The policy was changed in the meantime.
    #[error("the policy was changed by another request; load it again and retry")]
    Stale,
    /// Numbers that name no agent of the project.
    #[error("some of these are not agents of the project")]
    UnknownAgents(Vec<i64>),
    /// The policy has too many rules.
    #[error("the policy has too many rules")]
    TooManyRules,
    /// The employee has approved the maximum number of calls within an hour.
    #[error("you have approved the maximum number of calls within an hour")]
    TooManyApprovals,
}

impl Refusal for AgentActionRefusal {}

/// Error of a use case of access requests. A wrong secret and a request handled by another project are reported as not
/// found.
pub type AccessRequestError = RecordError<AccessRequestRefusal>;

/// Refusals specific to access requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessRequestRefusal {
    /// The employee holds fewer permissions than the agent would get.
    #[error(transparent)]
    PermissionsNotHeld(#[from] PermissionsNotHeld),
    /// The request does not ask for these permissions, or an earlier review removed them.
    #[error("the request does not ask for these permissions")]
    NotRequested(BTreeSet<Permission>),
    /// The status of the request does not allow this.
    #[error("the request is {}", .0.word())]
    State(RequestStatus),
    /// The agent of the request has the maximum number of tokens.
    #[error("the agent has the maximum number of tokens")]
    TooManyTokens,
}

impl Refusal for AccessRequestRefusal {}

/// Error of a use case of roles.
pub type RoleError = RecordError<RoleRefusal>;

/// Refusals specific to roles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoleRefusal {
    /// The role, before or after the change, has permissions that the employee lacks.
    #[error(transparent)]
    PermissionsNotHeld(#[from] PermissionsNotHeld),
    /// The owner role cannot be changed or deleted.
    #[error("the owner's role cannot be changed or deleted")]
    OwnerRole,
    /// Positions in the list of permissions that do not exist in the project.
    #[error("there are no such permissions")]
    UnknownPermissions(Vec<usize>),
    /// Employees have the role.
    #[error("there are employees with the role")]
    InUse,
    /// The role was changed in the meantime.
    #[error("the role was changed by another request; load it again and retry")]
    Stale,
}

impl Refusal for RoleRefusal {}

/// Error of a use case of permissions and screens.
pub type PermissionError = RecordError<PermissionRefusal>;

/// Refusals specific to permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PermissionRefusal {
    /// Permissions of the service cannot be changed.
    #[error("the permission is built in and cannot be changed")]
    SystemPermission,
    /// The project has a permission of this name.
    #[error("the name is already in use")]
    NameTaken,
    /// The screen does not exist.
    #[error("there is no such screen")]
    UnknownScreen,
    /// Roles have the permission.
    #[error("there are roles with the permission")]
    InUse,
}

impl Refusal for PermissionRefusal {}

/// Error of sending temporary passwords.
#[derive(Debug, thiserror::Error)]
pub enum SendPasswordError {
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a login by calling a number.
#[derive(Debug, thiserror::Error)]
pub enum CallbackLoginError {
    /// The application has already used this nonce: start again with a new nonce.
    #[error("the nonce is already used")]
    SessionAlreadyStarted,
    /// Another attempt of the project holds the phone.
    #[error("another attempt reserves the phone until {until}")]
    ChallengeAlreadyActive {
        /// Latest time at which the phone becomes free.
        until: DateTime<Utc>,
    },
    /// The provider did not accept the attempt.
    #[error(transparent)]
    NotStarted(CallCheckError),
    /// The application has no such attempt, or the nonce is wrong. The response does not say which.
    #[error("there is no such attempt")]
    UnknownAttempt,
    /// The expected call has not arrived.
    #[error("the call has not arrived")]
    NotVerified,
    /// The provider could not be queried. The attempt continues.
    #[error("the call cannot be verified now: {0}")]
    VerificationUnavailable(CallCheckError),
    /// The attempt has ended: start again with a new nonce.
    #[error("the attempt has ended")]
    Expired,
    /// Several customers of the project have the phone.
    #[error("several customers have this phone")]
    PhoneIdentityConflict,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of processing a notification of the telephony provider.
#[derive(Debug, thiserror::Error)]
pub enum CallNotificationError {
    /// The signature is wrong.
    #[error("the signature is wrong")]
    Forged,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Error of a phone change.
#[derive(Debug, thiserror::Error)]
pub enum PhoneChangeError {
    /// The phone is already the customer's first phone.
    #[error("is already your phone")]
    Unchanged,
    /// Another customer of the project has the phone.
    #[error("belongs to another customer")]
    Taken,
    /// The provider did not accept the code. It counts as not requested.
    #[error("the code could not be sent")]
    CodeNotSent(#[from] SendError),
    /// No valid code for this phone: it was not requested, was used, has expired or has no attempts left.
    #[error("no valid code: request a new one")]
    CodeNotRequested,
    /// Wrong code.
    #[error("the code is wrong")]
    WrongCode,
    /// The customer was deleted.
    #[error("there is no such customer")]
    CustomerDeleted,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}
