//! Tokens, one-time codes, client sessions, introspection clients and employees.

mod access_request;
mod agent;
mod agent_action;
mod agent_policy;
mod callback;
mod channel;
pub(crate) mod code;
mod contact_owner;
mod employee;
mod introspection;
mod permission;
mod session;
mod token;

pub use crate::approval_mails::{ApprovalMail, WaitingCall};
pub use crate::directory::{EmployeeFilter, EmployeeSearchText, EmployeeSummary};
pub use crate::passwords::{
    PASSWORD_REQUEST_LIFETIME, PasswordRecipient, PasswordRequest, TEMPORARY_PASSWORD_LIFETIME, TemporaryPassword,
};
pub use crate::phone_change::{NewPhoneCode, PhoneChangeAttempt, PhoneChangeOutcome, PhoneOwnership};
pub use crate::roles::{RoleChange, RoleDraft, StaffRole};
pub use crate::uses::TokenUse;
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
    AgentExecution, AgentResult, MAX_AGENT_CALL_BYTES, MAX_AGENT_RESULT_BYTES, MAX_LOGGED_AGENT_FAILURES,
    MAX_OPEN_AGENT_ACTIONS, NewAgentAction, canonical,
};
pub use agent_policy::{
    AGENT_LOG_DAYS, APPROVALS_PER_HOUR, AgentLimits, AgentPolicy, AgentRule, AgentRules, MAX_AGENT_RULES,
    MAX_OPERATION_RULES, Tool, ToolClass,
};
pub use callback::{
    AttemptChange, AttemptExchange, AttemptState, CALLBACK_COOLDOWN, CALLBACK_EXCHANGE_TIME, CALLBACK_LIFETIME,
    CallState, CallbackAttempt, CallbackCredentials, CallbackNumber, CheckId, ClientNonce, ExchangeOutcome,
    InvalidNonce, InvalidNumber, InvalidSessionToken, NewAttempt, SessionToken,
};
pub use channel::Channel;
pub use code::{CODE_ATTEMPTS, CODE_LIFETIME, CodeRedemption, NewCode, RedeemOutcome};
pub use contact_owner::ContactOwner;
pub use employee::{
    Employee, EmployeeChange, EmployeeDraft, EmployeeEditor, EmployeeReference, EmployeeUpdate, GrantedPermission,
    Login, NewEmployee, NewPassword, Role, RoleChoice, StaffCredentials, WeakPassword, is_last_owner,
};
pub use introspection::{
    ActiveToken, Audience, CLIENT_SCOPES, ClientCredentials, IntrospectedToken, NewIntrospectionClient,
    StoredIntrospection, TokenState,
};
pub use kontor_kernel::Reference;
pub use permission::{
    FoundPermission, HeldPermissions, PermissionChange, PermissionDraft, PermissionName, PermissionNameError,
    PermissionsNotHeld, check_held,
};
pub use session::{ClientSession, HeartbeatEffect, MAX_COUNTED_GAP, NEXT_HEARTBEAT, SESSION_BREAK};
pub use token::{
    AccessToken, BearerToken, Device, InvalidDevice, NewToken, StoredCustomerToken, StoredStaffToken, TokenLifetimes,
    TokenOwner, TokenSecret,
};
