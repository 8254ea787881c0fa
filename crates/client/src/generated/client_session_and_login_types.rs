// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::*;
use crate::Secret;

/// Callback exchange.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackExchange {
    /// Same value as sent to `init`.
    pub client_nonce: Secret,
    /// Description of the device, set by the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Token returned by `init`.
    pub session_token: Secret,
}

/// Callback exchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackExchanged {
    pub access_token: AccessTokenRecord,
}

/// Callback start.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackStart {
    /// Secret of this attempt, created by the client. Send the same value in all three calls.
    pub client_nonce: Secret,
    /// Phone from which the customer will call.
    pub phone: String,
}

/// Callback started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackStarted {
    /// Number the customer must call, digits only.
    pub callback_number: String,
    /// Time when the attempt expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// Opaque token of the attempt. Send it to `status` and `exchange`.
    pub session_token: Secret,
}

words! {
    /// State of a login attempt.
    pub enum CallbackState {
        Pending = "pending",
        Verified = "verified",
        Expired = "expired",
    }
}

/// Callback status record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackStatusRecord {
    /// Time when the attempt expires. It can change after the call arrives.
    pub expires_at: Option<DateTime<Utc>>,
    /// Time until the attempt expires, in seconds.
    pub remaining_seconds: Option<i64>,
    /// Current time of the server.
    pub server_time: Option<DateTime<Utc>>,
    /// State of the attempt: `pending`, `verified` or `expired`.
    pub status: CallbackState,
    /// Present if the call could not be checked this time. Keep polling with the given delay.
    pub warning: Option<CallbackWarning>,
}

/// Callback status request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackStatusRequest {
    /// Same value as sent to `init`.
    pub client_nonce: Secret,
    /// Token returned by `init`.
    pub session_token: Secret,
}

/// Reason why the attempt could not be checked this time. The attempt stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackWarning {
    pub code: String,
    pub message: String,
    /// Time to wait before the next status check, in seconds.
    pub retry_after_seconds: i64,
}

/// Code login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CodeLogin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// One-time code.
    pub password: Secret,
    /// Phone or e-mail address.
    pub phone: String,
}

/// Code request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CodeRequest {
    /// Phone or e-mail address.
    pub phone: String,
}

/// Contact login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ContactLogin {
    /// Time when the messenger signed the contact: Unix time in seconds, milliseconds or microseconds.
    pub auth_date: i64,
    /// Description of the device, set by the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Signature of the contact by the messenger.
    pub hash: Secret,
    /// Launch data of the mini-app, unchanged.
    pub init_data: Secret,
    /// Phone as received from the messenger.
    pub phone: String,
}

/// Customer with token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerWithToken {
    pub address: Option<String>,
    pub avatar: Option<Picture>,
    pub birthday: Option<NaiveDate>,
    pub created_at: DateTime<Utc>,
    pub email: Option<String>,
    /// Favourite products that the application sells now, last added first. At most 100.
    pub favourite_products: Vec<ProductRecord>,
    pub first_name: Option<String>,
    pub id: i64,
    pub last_name: Option<String>,
    /// Employee responsible for the customer.
    pub manager: Option<ManagerRecord>,
    pub middle_name: Option<String>,
    /// Phone for login, 11 digits.
    pub phone_1: Option<String>,
    /// Additional phone, 11 digits. Not used for login.
    pub phone_2: Option<String>,
    pub r#type: CustomerType,
    pub updated_at: DateTime<Utc>,
    pub access_token: AccessTokenRecord,
}

/// Heartbeat record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeartbeatRecord {
    /// Time to wait before the next heartbeat, in seconds.
    pub next_heartbeat_in_seconds: i64,
    /// Current time of the server.
    pub server_time: DateTime<Utc>,
    pub session: SessionRecord,
}

/// Introspected application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IntrospectedApplication {
    pub id: i64,
    pub name: String,
}

/// Introspected project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IntrospectedProject {
    pub id: i64,
}

/// Introspection request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct IntrospectionRequest {
    /// Audience that the client credentials were issued for.
    pub audience: String,
    /// Complete Bearer token, `<id>|<secret>`.
    pub token: Secret,
}

/// Session record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Counted duration of the session, in seconds. A gap between two heartbeats counts as at most 180 seconds.
    pub duration_seconds: i64,
    pub id: i64,
    /// Time of the last heartbeat.
    pub last_seen_at: DateTime<Utc>,
    pub started_at: DateTime<Utc>,
    /// Always `active`.
    pub status: String,
}

/// Response of all login operations that return the customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignedInCounterparty {
    pub counterparty: CustomerWithToken,
}

/// State of a token. An inactive token has only `active`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenIntrospection {
    /// `true` if the token is valid for the client's application.
    pub active: bool,
    /// Application that the customer logged in to.
    pub application: Option<IntrospectedApplication>,
    /// Time when the token expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// UUID of the customer. It never changes.
    pub principal_handle: Option<Uuid>,
    /// Project of the token.
    pub project: Option<IntrospectedProject>,
    /// `counterparty`: access to the client surface of the application.
    pub scopes: Option<Vec<String>>,
}
