//! Tokens, one-time codes, employees and agents.

mod access_request;
mod agent;
pub(crate) mod code;
mod employee;
mod reach;
mod stored;
mod token;

pub use access_request::{
    ACCESS_REQUEST_LIFETIME, AccessRequest, AccessRequestDraft, Approval, Consumption, NewAccessRequest, Reason,
    Refusal, RequestStatus, Review, Stage, StoredAccessRequest,
};
pub use agent::{
    AGENT_TOKEN_LIFETIME, AGENT_TOKEN_LIFETIME_MOST, AGENT_TOKENS_MOST, Agent, AgentChange, AgentDraft, AgentPatch,
    AgentToken, AgentTokenDraft, ExpiryError, NewAgent, NewAgentToken, PermissionRef, TokenExpiry,
};
pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, Redeemed};
pub use employee::{
    Employee, GrantedPermission, Login, NewOwner, NewPassword, Reference, Role, StaffCredentials, WeakPassword,
};
pub use reach::{BeyondReach, within_reach};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
