//! Tokens, one-time codes, callback attempts and employees.

mod callback;
pub(crate) mod code;
mod employee;
mod stored;
mod token;

pub use callback::{
    AttemptChange, AttemptExchange, AttemptState, CALLBACK_COOLDOWN, CALLBACK_EXCHANGE_TIME, CALLBACK_LIFETIME,
    CallState, CallbackAttempt, CallbackCredentials, CallbackNumber, CheckId, ClientNonce, Exchanged, InvalidNonce,
    InvalidNumber, InvalidSessionToken, NewAttempt, SessionToken,
};
pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use employee::{
    Employee, GrantedPermission, Login, NewOwner, NewPassword, Reference, Role, StaffCredentials, WeakPassword,
};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
