//! Responses to refusals of `kontor-auth`.

use crate::{ApiError, NamedError, NextAction};
use std::fmt::Display;

use actix_web::http::StatusCode;
use kontor_auth::model::{AgentActionState, EmployeeReference, NEXT_HEARTBEAT, RequestStatus};
use kontor_auth::{
    AccessRequestRefusal, AgentActionRefusal, AgentRefusal, ContactLoginError, CustomerLoginError, EmployeeRefusal,
    HeartbeatError, IntrospectionError, PermissionRefusal, PhoneChangeError, RoleRefusal, SendCodeError,
    StaffLoginError,
};
use kontor_kernel::{Violations, Word};

/// Polling interval for the requester of an agent's access, in seconds.
pub const POLL_SECONDS: u64 = 5;

impl From<HeartbeatError> for ApiError {
    fn from(error: HeartbeatError) -> Self {
        match error {
            HeartbeatError::SignedOut => Self::unauthenticated("Unauthenticated."),
            HeartbeatError::Store(reason) => {
                tracing::warn!(%reason, "customer sessions are unavailable");
                let text = "The session could not be stored. Try again later.";
                let code = "counterparty_session_unavailable";
                let refusal = NamedError::new(StatusCode::SERVICE_UNAVAILABLE, code, NextAction::Wait, text);
                Self::Named(refusal.retry_after(NEXT_HEARTBEAT.num_seconds().unsigned_abs()))
            }
        }
    }
}

impl From<IntrospectionError> for ApiError {
    fn from(error: IntrospectionError) -> Self {
        match error {
            IntrospectionError::WrongCredentials => Self::Challenge("The client credentials are invalid."),
            IntrospectionError::WrongAudience => {
                Self::Message(StatusCode::FORBIDDEN, "The client was not issued for this audience.".to_owned())
            }
            IntrospectionError::Store(error) => error.into(),
        }
    }
}

impl From<ContactLoginError> for ApiError {
    fn from(error: ContactLoginError) -> Self {
        let named =
            |status, code, next_action, message: &str| Self::Named(NamedError::new(status, code, next_action, message));
        match error {
            ContactLoginError::NotSupported => named(
                StatusCode::UNPROCESSABLE_ENTITY,
                "miniapp_contact_auth_not_supported",
                NextAction::ContactSupport,
                "This messenger does not support login by contact. Use another login method.",
            ),
            ContactLoginError::NotConfigured => not_configured(),
            ContactLoginError::UnsealError(reason) => {
                tracing::error!(%reason, "the token of a bot cannot be decrypted; set it again");
                not_configured()
            }
            ContactLoginError::NotProven(doubt) => {
                tracing::debug!(%doubt, "a contact from a mini-app was rejected");
                named(
                    StatusCode::UNAUTHORIZED,
                    "miniapp_contact_auth_invalid",
                    NextAction::Restart,
                    "The contact is not signed correctly or too old. Share it again.",
                )
            }
            ContactLoginError::UnusablePhone(error) => {
                Self::Named(NamedError::fix_input(Violations::single("phone", error)))
            }
            ContactLoginError::Store(error) => error.into(),
        }
    }
}

impl From<PhoneChangeError> for ApiError {
    fn from(error: PhoneChangeError) -> Self {
        match error {
            PhoneChangeError::Unchanged | PhoneChangeError::Taken => Self::invalid("phone", error),
            PhoneChangeError::CodeNotSent(reason) => SendCodeError::CodeNotSent(reason).into(),
            PhoneChangeError::CodeNotRequested => {
                Self::bad_request("The code for this phone is missing, used or expired. Request a new one.")
            }
            PhoneChangeError::WrongCode => Self::unauthenticated("The code is wrong."),
            PhoneChangeError::CustomerDeleted => Self::not_found(),
            PhoneChangeError::Store(error) => error.into(),
        }
    }
}

impl From<SendCodeError> for ApiError {
    fn from(error: SendCodeError) -> Self {
        match error {
            SendCodeError::CodeNotSent(reason) => {
                tracing::warn!(%reason, "a one-time code was not sent");
                let message = "The code could not be sent.".to_owned();
                Self::Message(StatusCode::INTERNAL_SERVER_ERROR, message)
            }
            SendCodeError::Store(error) => error.into(),
        }
    }
}

impl From<CustomerLoginError> for ApiError {
    fn from(error: CustomerLoginError) -> Self {
        match error {
            CustomerLoginError::UnknownContact => Self::invalid("phone", "is not known"),
            CustomerLoginError::CodeNotRequested => {
                Self::bad_request("The code is missing, used or expired. Request a new one.")
            }
            CustomerLoginError::WrongCode => Self::unauthenticated("The code is wrong."),
            CustomerLoginError::Store(error) => error.into(),
        }
    }
}

impl From<AccessRequestRefusal> for ApiError {
    fn from(refusal: AccessRequestRefusal) -> Self {
        match refusal {
            AccessRequestRefusal::PermissionsNotHeld(denied) => denied.into(),
            AccessRequestRefusal::NotRequested(foreign) => {
                Self::invalid("permissions", format!("the request does not include {}", listed(&foreign)))
            }
            AccessRequestRefusal::State(status) => Self::Named(conflict(status)),
            AccessRequestRefusal::TooManyTokens => too_many_tokens(),
        }
    }
}

impl From<AgentActionRefusal> for ApiError {
    fn from(refusal: AgentActionRefusal) -> Self {
        let conflict = |code, next, text: &str| NamedError::new(StatusCode::CONFLICT, code, next, text);
        match refusal {
            AgentActionRefusal::State(AgentActionState::Refused) => {
                conflict("agent_call_refused", NextAction::ContactSupport, "An employee refused the call.").into()
            }
            AgentActionRefusal::State(AgentActionState::Approved) => {
                conflict("agent_call_executing", NextAction::Poll, "The call is approved and being executed.")
                    .retry_after(POLL_SECONDS)
                    .into()
            }
            AgentActionRefusal::State(state) => {
                let text = format!("The call is already {}.", state.word());
                conflict("agent_call_decided", NextAction::Restart, &text).into()
            }
            AgentActionRefusal::TooMany => {
                let text = "Too many calls of the agent wait for approval. Wait until an employee has decided.";
                conflict("agent_call_limit", NextAction::Wait, text).retry_after(POLL_SECONDS).into()
            }
            AgentActionRefusal::PolicyChanged | AgentActionRefusal::Stale => {
                let text = format!("{refusal}.");
                conflict("agent_policy_changed", NextAction::Restart, &text).into()
            }
            AgentActionRefusal::UnknownOperation => Self::Message(StatusCode::CONFLICT, format!("{refusal}.")),
            AgentActionRefusal::PasswordRequired => {
                Self::invalid("password", "is required, because you logged in after the proposal")
            }
            AgentActionRefusal::WrongPassword => Self::invalid("password", "is wrong"),
            AgentActionRefusal::UnknownAgents(ids) => {
                Self::invalid("agents", format!("must name agents of the project, unlike {}", listed(ids)))
            }
            AgentActionRefusal::TooManyRules => {
                Self::invalid("agents", "must have at most 100 entries, each with at most 500 operations")
            }
            AgentActionRefusal::TooManyApprovals => {
                let text = "You have approved the maximum number of calls within an hour.";
                let status = StatusCode::TOO_MANY_REQUESTS;
                NamedError::new(status, "agent_approval_limit", NextAction::Wait, text).retry_after(POLL_SECONDS).into()
            }
        }
    }
}

impl From<AgentRefusal> for ApiError {
    fn from(refusal: AgentRefusal) -> Self {
        agent_refused(refusal, "permissions", "expires_at")
    }
}

impl From<EmployeeRefusal> for ApiError {
    fn from(refusal: EmployeeRefusal) -> Self {
        match refusal {
            EmployeeRefusal::PermissionsNotHeld(denied) => denied.into(),
            EmployeeRefusal::UnknownReferences(unknown) => {
                let mut violations = Violations::default();
                for reference in unknown {
                    let (field, wrong) = match reference {
                        EmployeeReference::Role => ("role_id", "must be the id of a role of the project"),
                        EmployeeReference::Branch => ("branch_id", "must be the id of a branch of the project"),
                        EmployeeReference::Department => {
                            ("department_id", "must be the id of a department of the project")
                        }
                    };
                    violations.add(field, wrong);
                }
                violations.into()
            }
            EmployeeRefusal::LoginTaken => Self::invalid("login", "is already in use"),
            EmployeeRefusal::OwnAccount => Self::invalid("id", "is your own; another employee must change this"),
            EmployeeRefusal::OwnRole => Self::invalid("role_id", "is your own role; another employee must change it"),
            EmployeeRefusal::LastOwner => Self::invalid("id", "is the last owner of the project"),
        }
    }
}

impl From<PermissionRefusal> for ApiError {
    fn from(refusal: PermissionRefusal) -> Self {
        match refusal {
            PermissionRefusal::SystemPermission => {
                Self::forbidden("The service's own permissions cannot be changed or deleted.")
            }
            PermissionRefusal::NameTaken => Self::invalid("name", "is already in use"),
            PermissionRefusal::UnknownScreen => Self::invalid("screen_id", "must be the id of a screen"),
            PermissionRefusal::InUse => Self::invalid("id", "is used by roles"),
        }
    }
}

impl From<RoleRefusal> for ApiError {
    fn from(refusal: RoleRefusal) -> Self {
        match refusal {
            RoleRefusal::PermissionsNotHeld(denied) => {
                let names = denied.missing.join(", ");
                Self::forbidden(format!("This action is unauthorized: you do not have {names} yourself."))
            }
            RoleRefusal::OwnerRole => Self::forbidden("The owner's role cannot be changed or deleted."),
            RoleRefusal::UnknownPermissions(places) => {
                let mut violations = Violations::default();
                for place in places {
                    violations.add(format!("permissions.{place}"), "must be the id of a permission of the project");
                }
                violations.into()
            }
            RoleRefusal::InUse => Self::invalid("id", "is assigned to employees"),
            RoleRefusal::Stale => Self::Message(StatusCode::CONFLICT, refusal.to_string()),
        }
    }
}

impl From<StaffLoginError> for ApiError {
    fn from(error: StaffLoginError) -> Self {
        match error {
            StaffLoginError::WrongCredentials => Self::unauthenticated("The login or the password is invalid."),
            StaffLoginError::Hashing(error) => Self::internal(&error),
            StaffLoginError::Store(error) => error.into(),
        }
    }
}

fn not_configured() -> ApiError {
    ApiError::Named(NamedError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "miniapp_contact_auth_not_configured",
        NextAction::ContactSupport,
        "Login with this messenger is not configured for the application.",
    ))
}

/// Returns the error for a step that does not fit the status of the request.
fn conflict(status: RequestStatus) -> NamedError {
    let refusal =
        |code, next, text: &str| NamedError::new(StatusCode::CONFLICT, code, next, format!("The request {text}."));
    match status {
        RequestStatus::Pending => {
            refusal("agent_access_pending", NextAction::Poll, "is waiting for approval by an employee")
                .retry_after(POLL_SECONDS)
        }
        RequestStatus::Approved => refusal("agent_access_approved", NextAction::ContactSupport, "is already approved"),
        RequestStatus::Declined => refusal("agent_access_declined", NextAction::ContactSupport, "was declined"),
        RequestStatus::Consumed => {
            refusal("agent_access_consumed", NextAction::Restart, "was already used to fetch the token")
        }
        RequestStatus::Expired => refusal("agent_access_expired", NextAction::Restart, "has expired"),
    }
}

/// Converts a refusal to an error. `permissions` is the field that lists permissions (`permissions` or `abilities`);
/// `expiry` is the field that sets the expiry time.
pub fn agent_refused(refusal: AgentRefusal, permissions: &str, expiry: &str) -> ApiError {
    match refusal {
        AgentRefusal::PermissionsNotHeld(denied) => denied.into(),
        AgentRefusal::UnknownPermissions(places) => {
            let mut violations = Violations::default();
            for place in places {
                violations
                    .add(format!("{permissions}.{place}"), "must be the id or the name of an existing permission");
            }
            violations.into()
        }
        AgentRefusal::ExceedsAgent(foreign) => {
            ApiError::invalid(permissions, format!("the agent does not have {}", listed(&foreign)))
        }
        AgentRefusal::Expiry(reason) => ApiError::invalid(expiry, reason),
        AgentRefusal::TooManyTokens => too_many_tokens(),
    }
}

/// Refuses a token beyond the maximum of its agent.
fn too_many_tokens() -> ApiError {
    ApiError::invalid("agent", "has reached the maximum number of tokens")
}

/// Returns the names, separated by commas.
fn listed<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
}
