use kontor_kernel::StoreError;

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
