use std::collections::BTreeSet;

use kontor_kernel::{AccessDenied, Permission, StoreError};

use crate::model::{BeyondReach, ExpiryError, RequestStatus};
use crate::ports::{HashingFailed, SendError};

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

/// Why an employee is not added.
#[derive(Debug, thiserror::Error)]
pub enum StaffRegistryError {
    /// Another employee has this login.
    #[error("the login is already in use")]
    LoginTaken,
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
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

/// Why an agent or its token stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The actor may not do this, or not in this project.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The actor has less than he would grant, or less than the agent has.
    #[error(transparent)]
    BeyondReach(#[from] BeyondReach),
    /// There is no such agent or token.
    #[error("there is no such agent or token")]
    NotFound,
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
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request for access does not go on.
#[derive(Debug, thiserror::Error)]
pub enum AccessRequestError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The employee has less than the agent would get.
    #[error(transparent)]
    BeyondReach(#[from] BeyondReach),
    /// There is no such request, its secret is another, or another project deals with it.
    #[error("there is no such request")]
    NotFound,
    /// These were not asked for, or an earlier review took them away.
    #[error("the request does not ask for these permissions")]
    NotRequested(BTreeSet<Permission>),
    /// The request has come to where this step cannot be taken.
    #[error("the request is {}", .0.as_str())]
    State(RequestStatus),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
