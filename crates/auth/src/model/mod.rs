//! Tokens, one-time codes, client sessions, introspection clients and employees.

mod access_request;
mod agent;
mod agent_action;
mod callback;
pub(crate) mod code;
mod contact_owner;
mod directory;
mod employee;
mod employee_change;
mod held_permissions;
mod introspection;
mod password;
mod permission;
pub(crate) mod phone_change;
mod role;
mod session;
mod stored;
mod token;
pub(crate) mod usage;

pub use access_request::{
    ACCESS_REQUEST_LIFETIME, AccessRequest, AccessRequestDraft, Approval, Consumption, NewAccessRequest, Reason,
    Refusal, RequestStatus, Review, Stage, StoredAccessRequest,
};
pub use agent::{
    AGENT_TOKEN_LIFETIME, Agent, AgentChange, AgentDraft, AgentToken, AgentTokenDraft, AgentUpdate, ExpiryError,
    MAX_AGENT_TOKEN_LIFETIME, MAX_AGENT_TOKENS, NewAgent, NewAgentToken, PermissionRef, TokenExpiry,
};
#[cfg(test)]
pub(crate) use agent_action::tests::action as agent_action_sample;
pub use agent_action::{
    AGENT_ACTION_LEASE, AGENT_ACTION_LIFETIME, AGENT_ACTION_MOVES, AGENT_ACTION_REPLAY, AgentAction,
    AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionMove, AgentActionState, AgentCall,
    AgentExecution, AgentOutcome, AgentPolicy, AgentRule, AgentRules, MAX_AGENT_CALL_BYTES, MAX_AGENT_RULES,
    MAX_OPEN_AGENT_ACTIONS, NewAgentAction, Tool, ToolClass, canonical,
};
pub use callback::{
    AttemptChange, AttemptExchange, AttemptState, CALLBACK_COOLDOWN, CALLBACK_EXCHANGE_TIME, CALLBACK_LIFETIME,
    CallState, CallbackAttempt, CallbackCredentials, CallbackNumber, CheckId, ClientNonce, ExchangeOutcome,
    InvalidNonce, InvalidNumber, InvalidSessionToken, NewAttempt, SessionToken,
};
pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, RedeemOutcome};
pub use contact_owner::ContactOwner;
pub use directory::{EmployeeFilter, EmployeeSearchText, EmployeeSummary};
pub use employee::{
    Employee, EmployeeChange, GrantedPermission, Login, NewEmployee, NewOwner, NewPassword, Reference, Role,
    RoleChoice, StaffCredentials, WeakPassword, is_last_owner,
};
pub use employee_change::{EmployeeDraft, EmployeeEditor, EmployeeReference, EmployeeUpdate};
pub use held_permissions::{HeldPermissions, PermissionsNotHeld, check_held};
pub use introspection::{
    ActiveToken, Audience, CLIENT_SCOPES, ClientCredentials, IntrospectedToken, NewIntrospectionClient,
    StoredIntrospection, TokenState,
};
pub use password::{
    PASSWORD_REQUEST_LIFETIME, PasswordRecipient, PasswordRequest, TEMPORARY_PASSWORD_LIFETIME, TemporaryPassword,
};
pub use permission::{FoundPermission, PermissionChange, PermissionDraft, PermissionName, PermissionNameError};
pub use phone_change::{NewPhoneCode, PhoneChangeAttempt, PhoneChangeOutcome, PhoneOwnership};
pub use role::{RoleChange, RoleDraft, StaffRole};
pub use session::{ClientSession, HeartbeatEffect, MAX_COUNTED_GAP, NEXT_HEARTBEAT, SESSION_BREAK};
pub use stored::{StoredCustomerToken, StoredStaffToken, TokenOwner};
pub use token::{AccessToken, BearerToken, Device, InvalidDevice, NewToken, TokenLifetimes, TokenSecret};
pub use usage::TokenUse;
