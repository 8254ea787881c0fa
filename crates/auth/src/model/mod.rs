//! Tokens, one-time codes, employees and what they may do.

pub(crate) mod code;
mod directory;
mod employee;
mod grant;
mod holdings;
mod password;
mod permission;
mod role;
mod stored;
mod token;

pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use directory::{Colleague, EmployeeFilter, Searched};
pub use employee::{
    Employee, GrantedPermission, Login, NewEmployee, NewOwner, NewPassword, Reference, Role, RoleChoice,
    StaffCredentials, WeakPassword,
};
pub use grant::{Grant, GrantDenied};
pub use holdings::{BeyondHoldings, Holdings};
pub use password::{
    PASSWORD_REQUEST_LIFETIME, PasswordRecipient, PasswordRequest, TEMPORARY_PASSWORD_LIFETIME, TemporaryPassword,
};
pub use permission::{PermissionDraft, PermissionName, PermissionNameError, PermissionPatch};
pub use role::{RoleDraft, RolePatch, StaffRole};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
