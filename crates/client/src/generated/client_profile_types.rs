// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Patch, Secret};

/// Profile of the customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerRecord {
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
}

/// Customer response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerResponse {
    pub counterparty: CustomerRecord,
}

/// Phone change proof.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PhoneChangeProof {
    /// One-time code.
    pub password: Secret,
    /// New phone.
    pub phone: String,
}

/// Phone change request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PhoneChangeRequest {
    /// New phone.
    pub phone: String,
}

/// Profile patch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ProfilePatch {
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub address: Patch<String>,
    /// Not in the future and not before 1900.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub birthday: Patch<NaiveDate>,
    /// Must not be the login address of another customer. It cannot be used for login until it is verified.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub first_name: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub last_name: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub middle_name: Patch<String>,
    /// Only the current phone is accepted. To change it, use `phone/request_change` and `phone/verify_change`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone_1: Patch<String>,
    /// Additional phone. Not used for login.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone_2: Patch<String>,
}

/// Verification record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VerificationRecord {
    /// End of the time to pay.
    pub expires_at: DateTime<Utc>,
    pub id: i64,
    /// Payment page. `null` unless the payment is open.
    pub payment_link: Option<String>,
    pub status: VerificationStatus,
}

/// Verification response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VerificationResponse {
    pub verification: VerificationRecord,
}

words! {
    /// Verification status.
    pub enum VerificationStatus {
        Pending = "pending",
        Succeeded = "succeeded",
        Canceled = "canceled",
        Expired = "expired",
    }
}
