//! Table of all rate limits, and the counting of hits. Handlers name their rules from here; docs/reference/limits.md
//! shows the same rows.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage, HttpRequest};
use kontor_kernel::{Quota, RateLimiter, RateRule};

use super::ApiError;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

const fn per(window: Duration, limit: u32, name: &'static str) -> RateRule {
    RateRule { name, limit, window }
}

/// Login of staff, by address.
pub const STAFF_LOGIN_IP: RateRule = per(MINUTE, 30, "staff-login-ip");
/// Login of staff, by address and login. Continued attempts are blocked for longer by the two rules that follow.
pub const STAFF_LOGIN: RateRule = per(MINUTE, 5, "staff-login");
/// Login of staff, by address and login, per hour.
pub const STAFF_LOGIN_HOUR: RateRule = per(HOUR, 60, "staff-login-hour");
/// Login of staff, by address and login, per day. Addresses from which the employee has logged in before are exempt.
pub const STAFF_LOGIN_DAY: RateRule = per(DAY, 200, "staff-login-day");
/// Login of staff, by login, from all addresses from which the employee has not logged in before. A few addresses
/// cannot reach it, so they cannot lock the employee out.
pub const STAFF_LOGIN_ACCOUNT: RateRule = per(MINUTE, 100, "staff-login-account");
/// Access requests of agents, by address, per minute.
pub const AGENT_ACCESS_MINUTE: RateRule = per(MINUTE, 5, "agent-access-minute");
/// Access requests of agents, by address, per hour.
pub const AGENT_ACCESS_HOUR: RateRule = per(HOUR, 20, "agent-access-hour");
/// Status checks of an access request.
pub const AGENT_ACCESS_STATUS: RateRule = per(MINUTE, 30, "agent-access-status");
/// Attempts to fetch the token of an access request.
pub const AGENT_ACCESS_CONSUME: RateRule = per(MINUTE, 30, "agent-access-consume");
/// Messages of the Model Context Protocol, by address. They count before authentication, so that failed attempts count
/// too.
pub const MCP_ADDRESS: RateRule = per(MINUTE, 1_200, "mcp-address");
/// Messages of the Model Context Protocol, by token. The limit is above the pace of an assistant and below a harmful load.
pub const MCP_TOKEN: RateRule = per(MINUTE, 600, "mcp-token");
/// Temporary passwords for staff, by address.
pub const STAFF_PASSWORD_IP: RateRule = per(HOUR, 20, "staff-password-ip");
/// Temporary passwords for staff, by login.
pub const STAFF_PASSWORD_LOGIN: RateRule = per(HOUR, 3, "staff-password-login");
/// Login of customers, by address.
pub const CUSTOMER_LOGIN_IP: RateRule = per(MINUTE, 30, "customer-login-ip");
/// Login of customers, by contact.
pub const CUSTOMER_LOGIN_CONTACT: RateRule = per(MINUTE, 5, "customer-login-contact");
/// Codes for customers, by address.
pub const SEND_CODE_IP: RateRule = per(HOUR, 20, "send-code-ip");
/// Codes for customers, by contact.
pub const SEND_CODE_CONTACT: RateRule = per(HOUR, 3, "send-code-contact");
/// Token introspection, by address.
pub const INTROSPECT_IP: RateRule = per(MINUTE, 60, "introspect-ip");
/// Token introspection, by backend client.
pub const INTROSPECT_CLIENT: RateRule = per(MINUTE, 300, "introspect-client");
/// Heartbeats of a customer's session.
pub const HEARTBEAT_SESSION: RateRule = per(MINUTE, 6, "heartbeat-session");
/// Codes by call and SMS, and checks by a call, of a project: each costs money. The limit is the setting
/// `phone_codes_per_hour`.
pub const PHONE_CODES_PROJECT: RateRule = per(HOUR, 1_000, "phone-codes-project");
/// Login from a mini-app.
pub const MINIAPP_CONTACT: RateRule = per(MINUTE, 5, "miniapp-contact");
/// Started logins by callback, by address.
pub const CALLBACK_INIT_IP: RateRule = per(MINUTE, 60, "callback-init-ip");
/// Started logins by callback, by phone.
pub const CALLBACK_INIT_PHONE: RateRule = per(HOUR, 10, "callback-init-phone");
/// Verifications by payment. Clients poll for the outcome with the same request.
pub const VERIFICATION_CUSTOMER: RateRule = per(MINUTE, 60, "verification-customer");
/// First payments of subscriptions and retried payments together: each may call the acquirer.
pub const SUBSCRIPTION_PAYMENTS: RateRule = per(MINUTE, 60, "subscription-payments");
/// Notifications of customers: clients poll for them.
pub const NOTIFICATIONS: RateRule = per(MINUTE, 60, "notifications");
/// Orders of customers who are not logged in, by address.
pub const CONTACT_FORM_IP: RateRule = per(HOUR, 20, "contact-form-ip");
/// Orders of customers who are not logged in, by phone.
pub const CONTACT_FORM_PHONE: RateRule = per(HOUR, 5, "contact-form-phone");
/// All writes of a logged-in customer. The limit is the setting `customer_writes_per_minute`.
pub const CUSTOMER_WRITES: RateRule = per(MINUTE, 120, "customer-writes");
/// Cart calculations, and orders with a promo code: each may be a guess at a code.
pub const PRECALCULATE: RateRule = per(MINUTE, 30, "precalculate");
/// Address suggestions for customers: one request per typed letter.
pub const SUGGEST_ADDRESS: RateRule = per(MINUTE, 120, "suggest-address");
/// Single ticket scans at the door. The limit is above the number of people that pass one door.
pub const REDEEM: RateRule = per(MINUTE, 600, "redeem");
/// Batches of offline scans.
pub const REDEEM_BATCH: RateRule = per(MINUTE, 30, "redeem-batch");
/// Test events to webhooks: each is a call to an address that staff choose.
pub const WEBHOOK_TEST: RateRule = per(MINUTE, 30, "webhook-test");
/// Suggestions of all kinds for staff.
pub const SUGGEST_STAFF: RateRule = per(MINUTE, 120, "suggest-staff");
/// Notifications from an address of the acquirer. The limit is above its usual traffic and below its own limits,
/// because each notification causes a read of a payment.
pub const ACQUIRER_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "acquirer-notifications");
/// Notifications from an address that is not the acquirer's: each may cause a read at the acquirer.
pub const UNKNOWN_SENDER: RateRule = per(MINUTE, 60, "acquirer-stranger");
/// Notifications from all such addresses together.
pub const UNKNOWN_SENDERS: RateRule = per(MINUTE, 300, "acquirer-strangers");
/// Messages of the telephony provider. The limit is above its usual traffic and below a harmful load.
pub const TELEPHONY_NOTIFICATIONS: RateRule = per(MINUTE, 1_200, "telephony-notifications");

/// Rules of one-time codes, temporary passwords and calls, which the setting `code_limit_factor` multiplies.
pub const CODE_RULES: [RateRule; 9] = [
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
    /// `code_limit_factor`: factor for the limits of [`CODE_RULES`].
    pub code_factor: u32,
    /// `phone_codes_per_hour`: limit of [`PHONE_CODES_PROJECT`].
    pub phone_codes: u32,
    /// `customer_writes_per_minute`: limit of [`CUSTOMER_WRITES`].
    pub customer_writes: u32,
}

impl LimitSettings {
    /// Returns the rule with the configured limit.
    pub fn configured(&self, rule: RateRule) -> RateRule {
        let limit = if rule == PHONE_CODES_PROJECT {
            self.phone_codes
        } else if rule == CUSTOMER_WRITES {
            self.customer_writes
        } else if CODE_RULES.contains(&rule) {
            rule.limit.saturating_mul(self.code_factor)
        } else {
            rule.limit
        };
        RateRule { limit, ..rule }
    }
}

/// Row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Method and path template.
    pub operation: &'static str,
    /// Rate limit rule.
    pub rule: RateRule,
    /// Counted subject, in words.
    pub subject: &'static str,
}

const fn row(operation: &'static str, rule: RateRule, subject: &'static str) -> Limit {
    Limit { operation, rule, subject }
}

/// All rows. The rules of one operation are in the order in which they count.
pub const TABLE: [Limit; 56] = [
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
    row("POST /api/agent-actions/{publicId}/approve", STAFF_LOGIN, "employee, if a password is sent"),
    row("POST /api/agent-actions/{publicId}/approve", STAFF_LOGIN_HOUR, "employee, if a password is sent"),
    row("POST /mcp", MCP_ADDRESS, "address"),
    row("POST /mcp", MCP_TOKEN, "token"),
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
    row("POST /api/applications/{application}/webhooks/{webhook}/test", WEBHOOK_TEST, "project"),
    row("POST /api/orders/redeem", REDEEM, "employee"),
    row("POST /api/orders/redeem/batch", REDEEM_BATCH, "employee"),
    row("POST /callbacks/acquirer", ACQUIRER_NOTIFICATIONS, "address of the acquirer"),
    row("POST /callbacks/acquirer", UNKNOWN_SENDER, "any other address"),
    row("POST /callbacks/acquirer", UNKNOWN_SENDERS, "all other addresses together"),
    row("POST /callbacks/telephony", TELEPHONY_NOTIFICATIONS, "address"),
];

impl Limit {
    /// Returns the setting that changes the limit, if any.
    pub fn setting(&self) -> &'static str {
        match self.rule {
            PHONE_CODES_PROJECT => "`phone_codes_per_hour`",
            CUSTOMER_WRITES => "`customer_writes_per_minute`",
            rule if CODE_RULES.contains(&rule) => "multiplies",
            _ => "",
        }
    }

    /// Returns the number and the window as readable text.
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

/// Rate limiter of the process.
#[derive(Clone)]
pub struct Throttle {
    limiter: Arc<dyn RateLimiter>,
    settings: LimitSettings,
}

/// Counter shown in the response headers: the exhausted counter, otherwise the one with the fewest hits left.
#[derive(Clone, Copy)]
pub struct TightestQuota(pub Quota);

impl Throttle {
    /// Creates the throttle from a limiter.
    pub fn new(limiter: Arc<dyn RateLimiter>, settings: LimitSettings) -> Self {
        Self { limiter, settings }
    }

    /// Counts one hit against each rule in order, up to the first exhausted rule, which rejects the request. The rules
    /// before it have counted, the rules after it have not. Put the rule by address first: callers rejected by address
    /// then use up no contact's quota.
    pub async fn hit(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), ApiError> {
        self.count(request, hits).await.map_err(ApiError::Throttled)
    }

    /// Counts like [`Self::hit`], for flows with named codes: returns the exhausted counter, see
    /// [`super::error::seconds_to_wait`].
    pub async fn count(&self, request: &HttpRequest, hits: &[(RateRule, impl AsRef<str>)]) -> Result<(), Quota> {
        for (rule, subject) in hits {
            let quota = self.limiter.hit(self.settings.configured(*rule), subject.as_ref()).await;
            let mut known = request.extensions_mut();
            let tighter = known
                .get::<TightestQuota>()
                .is_none_or(|TightestQuota(tightest)| !quota.allowed || quota.remaining < tightest.remaining);
            if tighter {
                known.insert(TightestQuota(quota));
            }
            drop(known);
            if !quota.allowed {
                return Err(quota);
            }
        }
        Ok(())
    }
}
