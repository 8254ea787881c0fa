//! Table of all error codes. `NamedError::new` accepts no other in debug builds; `docs/reference/errors.md` shows the
//! same rows.

use serde::Serialize;
use utoipa::ToSchema;

use self::NextAction::{ContactSupport, FixInput, Poll, Restart, Wait};

/// Next action of a client. The contract has exactly these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    /// Correct the named fields.
    FixInput,
    /// Stop, and show the request id to the support.
    ContactSupport,
    /// Start a new attempt with a new nonce.
    Restart,
    /// Keep checking the same attempt.
    Poll,
    /// Wait without a new attempt.
    Wait,
}

/// Row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ErrorCode {
    /// Value of `error.code`.
    pub code: &'static str,
    /// Status of the response.
    pub status: u16,
    /// Next action of the client.
    pub next_action: NextAction,
    /// Meaning, in one sentence.
    pub meaning: &'static str,
}

const fn row(status: u16, code: &'static str, next_action: NextAction, meaning: &'static str) -> ErrorCode {
    ErrorCode { code, status, next_action, meaning }
}

/// All rows, grouped by the endpoints that use them.
pub const ERROR_CODES: &[ErrorCode] = &[
    // All endpoints
    row(400, "idempotency_key_invalid", FixInput, "`Idempotency-Key` is malformed, sent twice, or sent with a file."),
    row(409, "idempotency_in_progress", Poll, "The first request with this key is in progress."),
    row(422, "idempotency_key_reused", FixInput, "The key was used with another body."),
    row(409, "idempotency_result_lost", ContactSupport, "The request succeeded, but no record shows its result."),
    row(400, "precondition_malformed", FixInput, "`If-Match` or `If-None-Match` is not a list of entity tags."),
    row(412, "precondition_failed", Restart, "The record has changed since it was read; `current` is its version."),
    row(428, "precondition_required", FixInput, "The project requires `If-Match` for this change."),
    // Flows in which all errors have a code
    row(422, "invalid_input", FixInput, "Fields are invalid; `errors` lists them."),
    row(401, "application_token_invalid", ContactSupport, "The App Token is missing or invalid."),
    // Customers
    row(429, "callback_auth_rate_limited", Wait, "Too many attempts to log in by call, here or at the provider."),
    row(503, "callback_auth_provider_unavailable", Wait, "The telephony provider is unavailable; nothing was started."),
    row(409, "callback_auth_session_already_started", Restart, "`client_nonce` was used before."),
    row(409, "callback_auth_challenge_already_active", Wait, "Another attempt for this phone waits for its call."),
    row(404, "callback_auth_not_found", Restart, "No attempt has this nonce and session token."),
    row(409, "callback_auth_not_verified", Poll, "The call has not arrived yet."),
    row(503, "callback_auth_verification_unavailable", Poll, "The call cannot be checked now; the attempt stays open."),
    row(409, "callback_auth_expired", Restart, "The attempt has expired."),
    row(409, "counterparty_phone_identity_conflict", ContactSupport, "Several customers have this phone."),
    row(422, "miniapp_contact_auth_not_supported", ContactSupport, "The messenger does not sign contacts."),
    row(401, "miniapp_contact_auth_invalid", Restart, "The contact is not signed correctly, or too old."),
    row(503, "miniapp_contact_auth_not_configured", ContactSupport, "The application has no bot of this messenger."),
    row(503, "counterparty_session_unavailable", Wait, "The session could not be stored."),
    row(409, "counterparty_payment_open", Wait, "A payment of the customer is in progress."),
    // Suggestions
    row(503, "suggestions_not_configured", ContactSupport, "The service has no account for suggestions."),
    row(503, "suggestions_unavailable", Wait, "The provider failed or did not answer within 3 seconds."),
    // Access requests of agents
    row(409, "agent_access_pending", Poll, "No employee has decided yet."),
    row(409, "agent_access_approved", ContactSupport, "The request is already approved."),
    row(409, "agent_access_declined", ContactSupport, "An employee declined the request."),
    row(409, "agent_access_consumed", Restart, "The token was already fetched."),
    row(409, "agent_access_expired", Restart, "The request has expired."),
    // Calls of agents that need approval
    row(403, "agent_call_forbidden", ContactSupport, "The policy of the project does not allow the call to the agent."),
    row(409, "agent_call_refused", ContactSupport, "An employee refused the call."),
    row(409, "agent_call_executing", Poll, "The approved call is being executed."),
    row(409, "agent_call_decided", Restart, "The call is already decided, expired or executed."),
    row(409, "agent_call_limit", Wait, "Too many calls of the agent wait for approval."),
    row(429, "agent_limit_exceeded", Wait, "The call exceeds a limit of the agent for this day."),
    row(429, "agent_approval_limit", Wait, "The employee has approved the maximum number of calls within an hour."),
    row(409, "agent_policy_changed", Restart, "The policy for agents was changed after the proposal or the last read."),
    // Orders
    row(409, "order_already_paid", ContactSupport, "The order is already paid."),
    row(409, "order_paid_online", ContactSupport, "The acquirer takes the money of this order."),
    row(409, "order_final", ContactSupport, "The order is issued or canceled, or belongs to a subscription."),
    row(409, "order_last_line", FixInput, "The last line cannot be removed; cancel the order."),
    row(409, "order_refund_pending", Wait, "A refund of the order is pending."),
    row(409, "order_payment_open", Wait, "The acquirer does not withdraw the open payment."),
    row(409, "order_payment_unclear", Wait, "The state of the open payment is unknown."),
    row(409, "order_changed_meanwhile", Restart, "The order was paid or moved during the change."),
    row(409, "order_customer_left", ContactSupport, "The customer of the order is deleted."),
    // Ticket scans
    row(404, "unknown", FixInput, "No ticket has this token."),
    row(409, "canceled", ContactSupport, "The order is canceled, or its tickets were returned."),
    row(409, "unpaid", Wait, "The order is not paid."),
    row(409, "already_redeemed", ContactSupport, "All tickets are redeemed."),
    row(409, "too_many", FixInput, "Fewer tickets are left than requested."),
    row(409, "other_shop", ContactSupport, "The tickets are for another shop."),
    row(409, "not_yet", Wait, "The tickets are not valid yet."),
    row(409, "expired", ContactSupport, "The scan or the ticket has expired."),
    row(409, "scan_id_reused", FixInput, "`scan_id` was used for another scan."),
    row(422, "unknown_shop", FixInput, "The shop of a scan in a batch does not exist."),
];

/// Returns `true` if the table has this combination.
pub(super) fn is_listed(status: u16, code: &str, next_action: NextAction) -> bool {
    ERROR_CODES.iter().any(|row| (row.status, row.code, row.next_action) == (status, code, next_action))
}
