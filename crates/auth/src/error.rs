use chrono::{DateTime, Utc};
use kontor_kernel::{ContactError, Permission, RecordError, Refusal, StoreError, Unsealable, Word};
use std::collections::BTreeSet;

use crate::miniapp::Doubt;
use crate::model::{BeyondReach, ExpiryError, RequestStatus};
use crate::ports::{CallCheckError, HashingFailed, SendError};

/// Why an employee is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum StaffLoginError {
    /// The login is unknown, the password wrong or the employee banned; which of them is not said.
    #[error("the login or the password is wrong")]
    WrongCredentials,
    /// The password could not be compared.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an employee is not added or changed.
#[derive(Debug, thiserror::Error)]
pub enum StaffRegistryError {
    /// Another employee has this login.
    #[error("the login is already in use")]
    LoginTaken,
    /// There is no such project.
    #[error("there is no such project")]
    UnknownProject,
    /// There is no such employee.
    #[error("there is no such employee")]
    UnknownEmployee,
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The named role is not one of the project's staff.
    #[error("there is no such role")]
    UnknownRole,
    /// The named department is not one of the project.
    #[error("there is no such department")]
    UnknownDepartment,
    /// The named file is no avatar of the project.
    #[error("there is no such avatar")]
    UnknownAvatar,
    /// Without him nobody could do everything in the project.
    #[error("he is the last owner of the project")]
    LastOwner,
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why no one-time code is on its way.
#[derive(Debug, thiserror::Error)]
pub enum SendCodeError {
    /// The provider did not accept it; it counts as not requested.
    #[error("the code could not be sent")]
    CodeNotSent(#[from] SendError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a customer is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum CustomerLoginError {
    /// No customer of the project has this contact.
    #[error("there is no customer with this phone or e-mail address")]
    UnknownContact,
    /// No code was requested, or it was used, expired or tried too often.
    #[error("no valid code: request a new one")]
    CodeNotRequested,
    /// The code is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a sign of life is not taken.
#[derive(Debug, thiserror::Error)]
pub enum HeartbeatError {
    /// The token ended meanwhile.
    #[error("the customer has signed out")]
    SignedOut,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a customer is not signed in with a contact from a mini-app.
#[derive(Debug, thiserror::Error)]
pub enum ContactLoginError {
    /// The messenger does not prove whose phone it is.
    #[error("this messenger does not prove whose phone it is")]
    NotSupported,
    /// The application has no bot at this messenger.
    #[error("the application has no bot at this messenger")]
    NotConfigured,
    /// The stored token of the bot was sealed with another service key.
    #[error(transparent)]
    Unsealable(#[from] Unsealable),
    /// The contact is not proven, or too old.
    #[error("the contact is not proven: {0}")]
    NotProven(#[from] Doubt),
    /// The phone is the customer's, but none that can be used here.
    #[error("the phone {0}")]
    UnusablePhone(#[from] ContactError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a backend learns nothing about a token.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectionError {
    /// The client is unknown or shut out, its application is inactive, or the secret is wrong; which of them is not
    /// said.
    #[error("the client credentials are wrong")]
    WrongCredentials,
    /// The client was issued for another audience.
    #[error("the client was not issued for this audience")]
    WrongAudience,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a client for introspection is not issued or changed.
#[derive(Debug, thiserror::Error)]
pub enum IntrospectionRegistryError {
    /// There is no such application.
    #[error("there is no such application")]
    UnknownApplication,
    /// The application has a client for this audience.
    #[error("the application has a client for this audience; rotate its secret instead")]
    AlreadyIssued,
    /// There is no such client.
    #[error("there is no such client")]
    UnknownClient,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the bot of an application is not set or removed.
#[derive(Debug, thiserror::Error)]
pub enum MiniAppRegistryError {
    /// The messenger does not prove whose phone it is.
    #[error("this messenger does not sign contacts, so nobody can sign in with it")]
    NotSupported,
    /// There is no such application.
    #[error("there is no such application")]
    UnknownApplication,
    /// There is nothing to remove.
    #[error("the application has no bot at this messenger")]
    NotSet,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an agent or its token stays as it is.
pub type AgentError = RecordError<AgentRefusal>;

/// What only agents and their tokens refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    /// The actor has less than he would grant, or less than the agent has.
    #[error(transparent)]
    BeyondReach(#[from] BeyondReach),
    /// These places of the list name no permission.
    #[error("some of these are no permissions")]
    UnknownPermissions(Vec<usize>),
    /// The token would be held to something that the agent may not do.
    #[error("the agent does not have these permissions")]
    BeyondAgent(BTreeSet<Permission>),
    /// The token would end at an impossible moment.
    #[error(transparent)]
    Expiry(#[from] ExpiryError),
    /// The agent has as many tokens as it may have.
    #[error("the agent has as many tokens as it may have")]
    TooManyTokens,
}

impl Refusal for AgentRefusal {}

/// Why a request for access does not go on. It is not found, either, by whoever has another secret, or is of another
/// project than the one that deals with it.
pub type AccessRequestError = RecordError<AccessRequestRefusal>;

/// What only requests for access refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessRequestRefusal {
    /// The employee has less than the agent would get.
    #[error(transparent)]
    BeyondReach(#[from] BeyondReach),
    /// These were not asked for, or an earlier review took them away.
    #[error("the request does not ask for these permissions")]
    NotRequested(BTreeSet<Permission>),
    /// The request has come to where this step cannot be taken.
    #[error("the request is {}", .0.word())]
    State(RequestStatus),
}

impl Refusal for AccessRequestRefusal {}

/// Why a use case of roles is refused.
pub type RoleError = RecordError<RoleRefusal>;

/// What only roles refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoleRefusal {
    /// The role, as it is or would be, has permissions that the employee lacks.
    #[error(transparent)]
    BeyondReach(#[from] BeyondReach),
    /// The role that allows everything is as it is.
    #[error("the owner's role cannot be changed or deleted")]
    OwnerRole,
    /// The named permissions at these places do not exist in the project.
    #[error("there are no such permissions")]
    UnknownPermissions(Vec<usize>),
    /// Somebody has the role.
    #[error("there are employees with the role")]
    InUse,
    /// The role was changed meanwhile.
    #[error("the role was changed meanwhile, look at it again")]
    Stale,
}

impl Refusal for RoleRefusal {}

/// Why a use case of permissions and screens is refused.
pub type PermissionError = RecordError<PermissionRefusal>;

/// What only permissions refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PermissionRefusal {
    /// The service's own permissions are as they are.
    #[error("the permission is the service's own")]
    OfTheService,
    /// The project has a permission of this name.
    #[error("the name is already in use")]
    NameTaken,
    /// There is no such screen.
    #[error("there is no such screen")]
    UnknownScreen,
    /// A role has the permission.
    #[error("there are roles with the permission")]
    InUse,
}

impl Refusal for PermissionRefusal {}

/// Why requests for temporary passwords are not answered.
#[derive(Debug, thiserror::Error)]
pub enum SendPasswordError {
    /// The password could not be hashed.
    #[error(transparent)]
    Hashing(#[from] HashingFailed),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a step of the login by calling a number does not succeed.
#[derive(Debug, thiserror::Error)]
pub enum CallbackLoginError {
    /// An attempt of the application had this nonce: begin anew with a new one.
    #[error("the nonce was used")]
    SessionAlreadyStarted,
    /// Another attempt of the project holds the phone.
    #[error("the phone is held until {until}")]
    ChallengeAlreadyActive {
        /// When the phone is free again at the latest.
        until: DateTime<Utc>,
    },
    /// The provider did not take the attempt on.
    #[error(transparent)]
    NotStarted(CallCheckError),
    /// There is no such attempt of this application, or the nonce is another one; which of them is not said.
    #[error("there is no such attempt")]
    UnknownAttempt,
    /// The call has not come.
    #[error("the call has not come")]
    NotVerified,
    /// The provider could not be asked whether the call came; the attempt goes on.
    #[error("the call cannot be verified now: {0}")]
    VerificationUnavailable(CallCheckError),
    /// The attempt is of no more use: begin anew with a new nonce.
    #[error("the attempt is over")]
    Expired,
    /// Several customers of the project have the phone.
    #[error("several customers have this phone")]
    PhoneIdentityConflict,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a message of the telephony provider is not taken.
#[derive(Debug, thiserror::Error)]
pub enum CallNoticeError {
    /// The signature is not the provider's.
    #[error("the signature is wrong")]
    Forged,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a customer does not get another phone.
#[derive(Debug, thiserror::Error)]
pub enum PhoneChangeError {
    /// It is his first phone already.
    #[error("is your phone already")]
    Unchanged,
    /// Another customer of the project has it.
    #[error("belongs to another customer")]
    Taken,
    /// The provider did not accept the code; it counts as not requested.
    #[error("the code could not be sent")]
    CodeNotSent(#[from] SendError),
    /// No code was requested for this phone, or it was used, expired or tried too often.
    #[error("no valid code: request a new one")]
    CodeNotRequested,
    /// The code is wrong.
    #[error("the code is wrong")]
    WrongCode,
    /// The customer has left.
    #[error("there is no such customer")]
    Gone,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
