//! Tokens, one-time codes and employees.

pub(crate) mod code;
mod employee;
pub(crate) mod phone_change;
mod stored;
mod token;

pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use employee::{
    Employee, GrantedPermission, Login, NewOwner, NewPassword, Reference, Role, StaffCredentials, WeakPassword,
};
pub use phone_change::{NewPhoneCode, PhoneChangeTry, PhoneChanged, PhoneStanding};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
