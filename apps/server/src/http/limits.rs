//! Every rate limit, in one table. A handler names its rules from here; docs/operations.md shows the same rows.

use std::time::Duration;

use kontor_kernel::RateRule;

use crate::config::Config;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

const fn per(window: Duration, limit: u32, name: &'static str) -> RateRule {
    RateRule { name, limit, window }
}

/// Signing in of staff, by address.
pub const STAFF_LOGIN_IP: RateRule = per(MINUTE, 30, "staff-login-ip");
/// Sign-in of staff, by address and login. Whoever goes on is blocked for longer: see the two rules that follow.
pub const STAFF_LOGIN: RateRule = per(MINUTE, 5, "staff-login");
/// Sign-in of staff, by address and login, in an hour.
pub const STAFF_LOGIN_HOUR: RateRule = per(HOUR, 60, "staff-login-hour");
/// Sign-in of staff, by address and login, in a day. Addresses where the employee has signed in before are exempt.
pub const STAFF_LOGIN_DAY: RateRule = per(DAY, 200, "staff-login-day");
/// Sign-in of staff, by login, from all addresses where the employee has not signed in before. A few addresses cannot reach
/// it, so they cannot lock the employee out.
pub const STAFF_LOGIN_ACCOUNT: RateRule = per(MINUTE, 100, "staff-login-account");
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
/// Codes by call and SMS, and checks by a call, of a project: each costs money. The limit is the setting
/// `phone_codes_per_hour`.
pub const PHONE_CODES_PROJECT: RateRule = per(HOUR, 1_000, "phone-codes-project");
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
/// Every write of a signed-in customer. The limit is the setting `customer_writes_per_minute`.
pub const CUSTOMER_WRITES: RateRule = per(MINUTE, 120, "customer-writes");
/// What a cart costs, and orders with a promo code: each try may guess one.
pub const PRECALCULATE: RateRule = per(MINUTE, 30, "precalculate");
/// Suggested addresses to customers: people type, a letter at a time.
pub const SUGGEST_ADDRESS: RateRule = per(MINUTE, 120, "suggest-address");
/// Tickets at the door, one by one: more than people come through one.
pub const REDEEM: RateRule = per(MINUTE, 600, "redeem");
/// Scans made offline, in batches.
pub const REDEEM_BATCH: RateRule = per(MINUTE, 30, "redeem-batch");
/// Suggestions to staff, whatever they look for.
pub const SUGGEST_STAFF: RateRule = per(MINUTE, 120, "suggest-staff");
/// Notifications from an address of the acquirer: more than it sends, less than would trouble it, for each of them is answered by
/// reading a payment.
pub const ACQUIRER_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "acquirer-notifications");
/// Notifications from an address that is not the acquirer's: each may cause a read at the acquirer.
pub const ACQUIRER_STRANGER: RateRule = per(MINUTE, 60, "acquirer-stranger");
/// Notifications from all such addresses together.
pub const ACQUIRER_STRANGERS: RateRule = per(MINUTE, 300, "acquirer-strangers");
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

/// Settings that change limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    /// `code_limit_factor`: multiplies the limits of [`OF_CODES`].
    pub code_factor: u32,
    /// `phone_codes_per_hour`: the limit of [`PHONE_CODES_PROJECT`].
    pub phone_codes: u32,
    /// `customer_writes_per_minute`: the limit of [`CUSTOMER_WRITES`].
    pub customer_writes: u32,
}

impl From<&Config> for LimitSettings {
    fn from(config: &Config) -> Self {
        Self {
            code_factor: config.code_limit_factor,
            phone_codes: config.phone_codes_per_hour,
            customer_writes: config.customer_writes_per_minute,
        }
    }
}

impl LimitSettings {
    /// The rule with the limit that counts.
    pub fn effective(&self, rule: RateRule) -> RateRule {
        let limit = if rule == PHONE_CODES_PROJECT {
            self.phone_codes
        } else if rule == CUSTOMER_WRITES {
            self.customer_writes
        } else if OF_CODES.contains(&rule) {
            rule.limit.saturating_mul(self.code_factor)
        } else {
            rule.limit
        };
        RateRule { limit, ..rule }
    }
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
pub const TABLE: [Limit; 51] = [
    row("POST /api/login", STAFF_LOGIN_IP, "address"),
    row("POST /api/login", STAFF_LOGIN, "address and login"),
    row("POST /api/login", STAFF_LOGIN_HOUR, "address and login"),
    row("POST /api/login", STAFF_LOGIN_DAY, "address and login, where the employee has not signed in before"),
    row(
        "POST /api/login",
        STAFF_LOGIN_ACCOUNT,
        "login, over all addresses where the employee has not signed in before",
    ),
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
    row("POST /api/counterparty/send_password", PHONE_CODES_PROJECT, "project, for phones"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_IP, "address"),
    row("POST /api/counterparty/auth/introspect", INTROSPECT_CLIENT, "backend client"),
    row("POST /api/counterparty/session/heartbeat", HEARTBEAT_SESSION, "client session"),
    row("POST /api/counterparty/miniapps/{provider}/contact_auth", MINIAPP_CONTACT, "application and address"),
    row("POST /api/counterparty/callback_auth/init", CALLBACK_INIT_IP, "address"),
    row("POST /api/counterparty/callback_auth/init", CALLBACK_INIT_PHONE, "project and phone"),
    row("POST /api/counterparty/callback_auth/init", PHONE_CODES_PROJECT, "project"),
    row("POST /api/counterparty/phone/request_change", SEND_CODE_IP, "address"),
    row("POST /api/counterparty/phone/request_change", SEND_CODE_CONTACT, "project and contact"),
    row("POST /api/counterparty/phone/request_change", PHONE_CODES_PROJECT, "project"),
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
    row("every write of a signed-in customer", CUSTOMER_WRITES, "customer"),
    row("POST /api/counterparty/orders/precalculate", PRECALCULATE, "application and address"),
    row("POST /api/counterparty/orders", PRECALCULATE, "application and address, with a promo code"),
    row("POST /api/counterparty/search_address", SUGGEST_ADDRESS, "application and address"),
    row("POST /api/search_address", SUGGEST_STAFF, "employee"),
    row("POST /api/search_bank", SUGGEST_STAFF, "employee"),
    row("POST /api/search_company", SUGGEST_STAFF, "employee"),
    row("POST /api/branches/{id}/bank_requisites", SUGGEST_STAFF, "employee, where the bank is looked up"),
    row("POST /api/counterparties/{id}/bank_requisites", SUGGEST_STAFF, "employee, where the bank is looked up"),
    row("POST /api/orders/redeem", REDEEM, "employee"),
    row("POST /api/orders/redeem/batch", REDEEM_BATCH, "employee"),
    row("POST /callbacks/acquirer", ACQUIRER_NOTIFICATIONS, "address of the acquirer"),
    row("POST /callbacks/acquirer", ACQUIRER_STRANGER, "any other address"),
    row("POST /callbacks/acquirer", ACQUIRER_STRANGERS, "all other addresses together"),
    row("POST /callbacks/telephony", TELEPHONY_NOTIFICATIONS, "address"),
];

impl Limit {
    /// The setting that changes the limit, if any.
    pub fn setting(&self) -> &'static str {
        match self.rule {
            PHONE_CODES_PROJECT => "`phone_codes_per_hour`",
            CUSTOMER_WRITES => "`customer_writes_per_minute`",
            rule if OF_CODES.contains(&rule) => "multiplies",
            _ => "",
        }
    }

    /// The number and the window as people say them.
    pub fn words(&self) -> String {
        let window = match self.rule.window {
            HOUR => "hour".to_owned(),
            MINUTE => "minute".to_owned(),
            DAY => "day".to_owned(),
            other => format!("{} seconds", other.as_secs()),
        };
        format!("{} per {window}", self.rule.limit)
    }
}
