//! Every rate limit, in one table. A handler names its rules from here; docs/operations.md shows the same rows.

use std::time::Duration;

use kontor_kernel::RateRule;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

const fn per(window: Duration, limit: u32, name: &'static str) -> RateRule {
    RateRule { name, limit, window }
}

/// Signing in of staff, by address.
pub const STAFF_LOGIN_IP: RateRule = per(MINUTE, 30, "staff-login-ip");
/// Signing in of staff, by address and login.
pub const STAFF_LOGIN: RateRule = per(MINUTE, 5, "staff-login");
/// Signing in of staff, by login, wherever from. More than one address may try, so that it cannot shut the employee out.
pub const STAFF_LOGIN_ACCOUNT: RateRule = per(MINUTE, 20, "staff-login-account");
/// Requests of agents for access, by address and minute.
pub const AGENT_ACCESS_MINUTE: RateRule = per(MINUTE, 5, "agent-access-minute");
/// Requests of agents for access, by address and hour.
pub const AGENT_ACCESS_HOUR: RateRule = per(HOUR, 20, "agent-access-hour");
/// Looks at what became of a request for access.
pub const AGENT_ACCESS_STATUS: RateRule = per(MINUTE, 30, "agent-access-status");
/// Tries to fetch the token of a request for access.
pub const AGENT_ACCESS_CONSUME: RateRule = per(MINUTE, 30, "agent-access-consume");
/// Temporary passwords to staff, by address.
pub const STAFF_PASSWORD_IP: RateRule = per(HOUR, 20, "staff-password-ip");
/// Temporary passwords to staff, by login.
pub const STAFF_PASSWORD_LOGIN: RateRule = per(HOUR, 3, "staff-password-login");
/// Signing in of customers, by address.
pub const CUSTOMER_LOGIN_IP: RateRule = per(MINUTE, 30, "customer-login-ip");
/// Signing in of customers, by contact.
pub const CUSTOMER_LOGIN_CONTACT: RateRule = per(MINUTE, 5, "customer-login-contact");
/// Codes to customers, by address.
pub const SEND_CODE_IP: RateRule = per(HOUR, 20, "send-code-ip");
/// Codes to customers, by contact.
pub const SEND_CODE_CONTACT: RateRule = per(HOUR, 3, "send-code-contact");
/// Token introspection, by address.
pub const INTROSPECT_IP: RateRule = per(MINUTE, 60, "introspect-ip");
/// Token introspection, by backend client.
pub const INTROSPECT_CLIENT: RateRule = per(MINUTE, 300, "introspect-client");
/// Signs of life of a customer's session.
pub const HEARTBEAT_SESSION: RateRule = per(MINUTE, 6, "heartbeat-session");
/// Signing in from a mini-app.
pub const MINIAPP_CONTACT: RateRule = per(MINUTE, 5, "miniapp-contact");
/// Beginning to sign in by calling a number, by address.
pub const CALLBACK_INIT_IP: RateRule = per(MINUTE, 60, "callback-init-ip");
/// Beginning to sign in by calling a number, by phone.
pub const CALLBACK_INIT_PHONE: RateRule = per(HOUR, 10, "callback-init-phone");
/// Verifications by payment: asking again is how a client learns the outcome.
pub const VERIFICATION_CUSTOMER: RateRule = per(MINUTE, 60, "verification-customer");
/// First payments of subscriptions and payments tried again, together: each may ask the acquirer.
pub const SUBSCRIPTION_PAYMENTS: RateRule = per(MINUTE, 60, "subscription-payments");
/// What customers were told: clients ask again and again.
pub const NOTIFICATIONS: RateRule = per(MINUTE, 60, "notifications");
/// Orders of those who have not signed in, by address.
pub const CONTACT_FORM_IP: RateRule = per(HOUR, 20, "contact-form-ip");
/// Orders of those who have not signed in, by phone.
pub const CONTACT_FORM_PHONE: RateRule = per(HOUR, 5, "contact-form-phone");
/// What a cart costs.
pub const PRECALCULATE: RateRule = per(MINUTE, 30, "precalculate");
/// Suggested addresses to customers: people type, a letter at a time.
pub const SUGGEST_ADDRESS: RateRule = per(MINUTE, 120, "suggest-address");
/// Tickets at the door, one by one: more than people come through one.
pub const REDEEM: RateRule = per(MINUTE, 600, "redeem");
/// Scans made offline, in batches.
pub const REDEEM_BATCH: RateRule = per(MINUTE, 30, "redeem-batch");
/// Suggestions to staff, whatever they look for.
pub const SUGGEST_STAFF: RateRule = per(MINUTE, 120, "suggest-staff");
/// Notifications of the acquirer: more than it sends, less than would trouble it, for each of them is answered by
/// reading a payment.
pub const ACQUIRER_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "acquirer-notifications");
/// Messages of the telephony provider: more than it sends, less than would trouble us.
pub const TELEPHONY_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "telephony-notifications");

/// Rules of one-time codes, temporary passwords and calls: those that the setting `code_limit_factor` multiplies.
pub const OF_CODES: [RateRule; 9] = [
    STAFF_PASSWORD_IP,
    STAFF_PASSWORD_LOGIN,
    CUSTOMER_LOGIN_IP,
    CUSTOMER_LOGIN_CONTACT,
    SEND_CODE_IP,
    SEND_CODE_CONTACT,
    MINIAPP_CONTACT,
    CALLBACK_INIT_IP,
    CALLBACK_INIT_PHONE,
];

/// The rule that counts under this `code_limit_factor`.
pub fn raised(rule: RateRule, factor: u32) -> RateRule {
    let factor = if OF_CODES.contains(&rule) { factor } else { 1 };
    RateRule { limit: rule.limit.saturating_mul(factor), ..rule }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Method and path template.
    pub operation: &'static str,
    /// The rule.
    pub rule: RateRule,
    /// Whom it counts, in words.
    pub subject: &'static str,
}

const fn row(operation: &'static str, rule: RateRule, subject: &'static str) -> Limit {
    Limit { operation, rule, subject }
}

/// The whole table. The rules of one operation stand in the order in which they count.
pub const TABLE: [Limit; 42] = [
    row("POST /api/login", STAFF_LOGIN_IP, "address"),
    row("POST /api/login", STAFF_LOGIN, "address and login"),
    row("POST /api/login", STAFF_LOGIN_ACCOUNT, "login"),
    row("POST /api/agent-access-requests", AGENT_ACCESS_MINUTE, "address"),
    row("POST /api/agent-access-requests", AGENT_ACCESS_HOUR, "address"),
    row("POST /api/agent-access-requests/{publicId}/status", AGENT_ACCESS_STATUS, "request"),
    row("POST /api/agent-access-requests/{publicId}/consume", AGENT_ACCESS_CONSUME, "request"),
    row("POST /api/send_password", STAFF_PASSWORD_IP, "address"),
    row("POST /api/send_password", STAFF_PASSWORD_LOGIN, "login"),
    row("POST /api/counterparty/login", CUSTOMER_LOGIN_IP, "address"),
    row("POST /api/counterparty/login", CUSTOMER_LOGIN_CONTACT, "project and contact"),
    row("POST /api/counterparty/send_password", SEND_CODE_IP, "address"),
    row("POST /api/counterparty/send_password", SEND_CODE_CONTACT, "project and contact"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_IP, "address"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_CLIENT, "backend client"),
    row("POST /api/counterparty/session/heartbeat", HEARTBEAT_SESSION, "client session"),
    row("POST /api/counterparty/miniapps/{provider}/contact_auth", MINIAPP_CONTACT, "application and address"),
    row("POST /api/counterparty/callback_auth/init", CALLBACK_INIT_IP, "address"),
    row("POST /api/counterparty/callback_auth/init", CALLBACK_INIT_PHONE, "project and phone"),
    row("POST /api/counterparty/phone/request_change", SEND_CODE_IP, "address"),
    row("POST /api/counterparty/phone/request_change", SEND_CODE_CONTACT, "project and contact"),
    row("POST /api/counterparty/phone/verify_change", CUSTOMER_LOGIN_IP, "address"),
    row("POST /api/counterparty/phone/verify_change", CUSTOMER_LOGIN_CONTACT, "project and contact"),
    row("POST /api/counterparty/verifications/sbp-payment", VERIFICATION_CUSTOMER, "customer"),
    row("POST /api/counterparty/subscriptions/checkout", SUBSCRIPTION_PAYMENTS, "customer"),
    row("POST /api/counterparty/subscriptions", SUBSCRIPTION_PAYMENTS, "customer"),
    row("POST /api/counterparty/subscriptions/{id}/payments/{payment_id}/retry", SUBSCRIPTION_PAYMENTS, "customer"),
    row("POST /api/counterparty/subscriptions/{id}/payment-method-change", SUBSCRIPTION_PAYMENTS, "customer"),
    row("GET /api/counterparty/notifications", NOTIFICATIONS, "customer"),
    row("POST /api/counterparty/contact_form", CONTACT_FORM_IP, "address"),
    row("POST /api/counterparty/contact_form", CONTACT_FORM_PHONE, "project and phone"),
    row("POST /api/counterparty/orders/precalculate", PRECALCULATE, "application and address"),
    row("POST /api/counterparty/search_address", SUGGEST_ADDRESS, "application and address"),
    row("POST /api/search_address", SUGGEST_STAFF, "employee"),
    row("POST /api/search_bank", SUGGEST_STAFF, "employee"),
    row("POST /api/search_company", SUGGEST_STAFF, "employee"),
    row("POST /api/branches/{id}/bank_requisites", SUGGEST_STAFF, "employee, where the bank is looked up"),
    row("POST /api/counterparties/{id}/bank_requisites", SUGGEST_STAFF, "employee, where the bank is looked up"),
    row("POST /api/orders/redeem", REDEEM, "employee"),
    row("POST /api/orders/redeem/batch", REDEEM_BATCH, "employee"),
    row("POST /callbacks/acquirer", ACQUIRER_NOTIFICATIONS, "address"),
    row("POST /callbacks/telephony", TELEPHONY_NOTIFICATIONS, "address"),
];

impl Limit {
    /// The number and the window as people say them.
    pub fn words(&self) -> String {
        let window = match self.rule.window {
            HOUR => "hour".to_owned(),
            MINUTE => "minute".to_owned(),
            other => format!("{} seconds", other.as_secs()),
        };
        format!("{} per {window}", self.rule.limit)
    }
}
