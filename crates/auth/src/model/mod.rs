//! Tokens, one-time codes, client sessions, introspection clients and employees.

pub(crate) mod code;
mod employee;
mod introspection;
mod session;
mod stored;
mod token;
pub(crate) mod usage;
mod access_request;
mod agent;
mod reach;
mod directory;
mod grant;
mod holdings;
mod password;
mod permission;
mod role;
mod callback;
pub(crate) mod phone_change;

pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use employee::{Employee, GrantedPermission, Login, NewOwner, NewPassword, Reference, Role, StaffCredentials, WeakPassword, NewEmployee, RoleChoice};
pub use introspection::{ActiveToken, Audience, CLIENT_SCOPES, ClientCredentials, IntrospectedToken, NewIntrospectionClient, StoredInquiry, TokenState};
pub use session::{COUNTED_AT_MOST, ClientSession, NEXT_HEARTBEAT, SESSION_BREAK, SessionStep};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
pub use usage::TokenUse;
pub use access_request::{ACCESS_REQUEST_LIFETIME, AccessRequest, AccessRequestDraft, Approval, Consumption, NewAccessRequest, Reason, Refusal, RequestStatus, Review, Stage, StoredAccessRequest};
pub use agent::{AGENT_TOKEN_LIFETIME, AGENT_TOKEN_LIFETIME_MOST, AGENT_TOKENS_MOST, Agent, AgentChange, AgentDraft, AgentPatch, AgentToken, AgentTokenDraft, ExpiryError, NewAgent, NewAgentToken, PermissionRef, TokenExpiry};
pub use reach::{BeyondReach, within_reach};
pub use directory::{Colleague, EmployeeFilter, Searched};
pub use grant::{Grant, GrantDenied};
pub use holdings::{BeyondHoldings, Holdings};
pub use password::{PASSWORD_REQUEST_LIFETIME, PasswordRecipient, PasswordRequest, TEMPORARY_PASSWORD_LIFETIME, TemporaryPassword};
pub use permission::{PermissionDraft, PermissionName, PermissionNameError, PermissionPatch};
pub use role::{RoleDraft, RolePatch, StaffRole};
pub use callback::{AttemptChange, AttemptExchange, AttemptState, CALLBACK_COOLDOWN, CALLBACK_EXCHANGE_TIME, CALLBACK_LIFETIME, CallState, CallbackAttempt, CallbackCredentials, CallbackNumber, CheckId, ClientNonce, Exchanged, InvalidNonce, InvalidNumber, InvalidSessionToken, NewAttempt, SessionToken};
pub use phone_change::{NewPhoneCode, PhoneChangeTry, PhoneChanged, PhoneStanding};
