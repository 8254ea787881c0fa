//! Access requests of programs without credentials: a program requests access, an employee decides, the program gets
//! its token.

mod requester;
mod reviewer;

use std::collections::BTreeSet;

use actix_web::web::Path;
use chrono::{DateTime, Utc};
use kontor_auth::model::{AccessRequest, Reason, RequestStatus, Stage};
use kontor_kernel::{Permission, Word};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::ApiError;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    requester::routes(config);
    reviewer::routes(config);
}

fn names(permissions: &BTreeSet<Permission>) -> Vec<String> {
    permissions.iter().map(ToString::to_string).collect()
}

/// Parses the public id of a request. An invalid UUID is reported as not found.
fn public_id(path: &Path<String>) -> Result<Uuid, ApiError> {
    Uuid::parse_str(path).map_err(|_| ApiError::not_found())
}

/// Access request as shown to employees.
#[derive(Serialize, ToSchema)]
struct AccessRequestRecord {
    /// Id of the request, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Name of the program, chosen by itself. Not verified.
    name: String,
    /// Purpose of the access, as stated by the program. Not verified.
    reason: String,
    /// Names of the requested permissions that remain after the review.
    permissions: Vec<String>,
    /// Names of the permissions that the program requested.
    requested_permissions: Vec<String>,
    /// `pending`, `approved`, `declined`, `consumed` or `expired`.
    status: &'static str,
    /// Reason of the employee, if the request was declined with one.
    decline_reason: Option<String>,
    created_at: DateTime<Utc>,
    /// Time when the request expires.
    expires_at: DateTime<Utc>,
}

fn decline_reason(request: &AccessRequest) -> Option<String> {
    match &request.stage {
        Stage::Declined(reason) => reason.as_ref().map(Reason::as_str).map(str::to_owned),
        Stage::Pending | Stage::Approved(_) | Stage::Consumed(_) => None,
    }
}

impl From<(AccessRequest, RequestStatus)> for AccessRequestRecord {
    fn from((request, status): (AccessRequest, RequestStatus)) -> Self {
        Self {
            public_id: request.public_id,
            permissions: names(&request.permissions),
            requested_permissions: names(&request.requested),
            status: status.word(),
            decline_reason: decline_reason(&request),
            created_at: request.created_at,
            expires_at: request.expires_at,
            reason: request.reason.as_str().to_owned(),
            name: request.name.into(),
        }
    }
}
