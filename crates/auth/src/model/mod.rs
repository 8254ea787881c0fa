//! Tokens, one-time codes, client sessions, introspection clients and employees.

pub(crate) mod code;
mod employee;
mod introspection;
mod session;
mod stored;
mod token;
pub(crate) mod usage;

pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use employee::{
    Employee, GrantedPermission, Login, NewOwner, NewPassword, Reference, Role, StaffCredentials, WeakPassword,
};
pub use introspection::{
    ActiveToken, Audience, CLIENT_SCOPES, ClientCredentials, IntrospectedToken, NewIntrospectionClient, StoredInquiry,
    TokenState,
};
pub use session::{COUNTED_AT_MOST, ClientSession, NEXT_HEARTBEAT, SESSION_BREAK, SessionStep};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
pub use usage::TokenUse;
