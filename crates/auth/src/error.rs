use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;

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
