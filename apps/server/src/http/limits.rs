//! Every rate limit, in one table. A handler names its rules from here; docs/operations.md shows the same rows.

use std::time::Duration;

use kontor_kernel::RateRule;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);

const fn per(window: Duration, limit: u32, name: &'static str) -> RateRule {
    RateRule { name, limit, window }
}

/// Signing in of staff.
pub const STAFF_LOGIN: RateRule = per(MINUTE, 5, "staff-login");
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
/// What a cart costs.
pub const PRECALCULATE: RateRule = per(MINUTE, 30, "precalculate");
/// Notifications of the acquirer: more than it sends, less than would trouble it, for each of them is answered by
/// reading a payment.
pub const ACQUIRER_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "acquirer-notifications");

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
pub const TABLE: [Limit; 11] = [
    row("POST /api/login", STAFF_LOGIN, "address and login"),
    row("POST /api/counterparty/login", CUSTOMER_LOGIN_IP, "address"),
    row("POST /api/counterparty/login", CUSTOMER_LOGIN_CONTACT, "project and contact"),
    row("POST /api/counterparty/send_password", SEND_CODE_IP, "address"),
    row("POST /api/counterparty/send_password", SEND_CODE_CONTACT, "project and contact"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_IP, "address"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_CLIENT, "backend client"),
    row("POST /api/counterparty/session/heartbeat", HEARTBEAT_SESSION, "client session"),
    row("POST /api/counterparty/miniapps/{provider}/contact_auth", MINIAPP_CONTACT, "application and address"),
    row("POST /api/counterparty/orders/precalculate", PRECALCULATE, "application and address"),
    row("POST /callbacks/acquirer", ACQUIRER_NOTIFICATIONS, "address"),
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
