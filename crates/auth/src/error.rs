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
