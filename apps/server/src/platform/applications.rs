//! Applications: the sites, apps and services of a project.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::model::{Application, ApplicationDraft};
use kontor_organization::{ApplicationError, ApplicationService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_applications).service(create_application).service(show_application);
}

impl From<ApplicationError> for ApiError {
    fn from(error: ApplicationError) -> Self {
        match error {
            ApplicationError::Denied(denied) => denied.into(),
            ApplicationError::NotFound => Self::not_found(),
            ApplicationError::UnknownBranch => Self::invalid("branch_id", "names no branch of the project"),
            ApplicationError::UnknownPaymentType => Self::invalid("payment_type_ids", error),
            ApplicationError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct ApplicationRecord {
    id: i64,
    branch_id: i64,
    name: String,
    url: Option<String>,
    wholesale: bool,
    is_active: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Application> for ApplicationRecord {
    fn from(application: Application) -> Self {
        let details = application.details;
        Self {
            id: application.id.get(),
            branch_id: details.branch_id.get(),
            name: details.name.into(),
            url: details.url.map(Into::into),
            wholesale: details.wholesale,
            is_active: application.is_active,
            created_at: application.created_at,
            updated_at: application.updated_at,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApplicationList {
    applications: Vec<ApplicationRecord>,
    applications_count: usize,
}

#[derive(Serialize, ToSchema)]
struct OneApplication {
    application: ApplicationRecord,
}

/// Every application of the project. Tokens are never shown again.
#[utoipa::path(tag = "Applications", responses((status = 200, body = ApplicationList)))]
#[get("/api/applications")]
async fn list_applications(
    staff: SignedInStaff,
    service: Data<ApplicationService>,
) -> Result<Json<ApplicationList>, ApiError> {
    let applications: Vec<ApplicationRecord> = service.list(&staff).await?.into_iter().map(Into::into).collect();
    Ok(Json(ApplicationList { applications_count: applications.len(), applications }))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewApplication {
    branch_id: wire::BranchId,
    name: wire::Name,
    #[deserr(default)]
    url: Option<wire::Line500>,
    #[deserr(default)]
    wholesale: Option<wire::Flag>,
}

#[derive(Serialize, ToSchema)]
struct IssuedApplicationRecord {
    #[serde(flatten)]
    record: ApplicationRecord,
    /// The App Token, shown this once.
    token: String,
}

#[derive(Serialize, ToSchema)]
struct CreatedApplication {
    application: IssuedApplicationRecord,
}

/// Adds an application. The answer shows its App Token once.
#[utoipa::path(
    tag = "Applications",
    request_body = NewApplication,
    responses((status = 201, body = CreatedApplication)),
)]
#[post("/api/applications")]
async fn create_application(
    staff: SignedInStaff,
    service: Data<ApplicationService>,
    body: Body<NewApplication>,
) -> Result<(Json<CreatedApplication>, StatusCode), ApiError> {
    let new = body.0;
    let draft = ApplicationDraft {
        branch_id: new.branch_id.0,
        name: new.name.0,
        url: new.url.map(|url| url.0),
        wholesale: new.wholesale.is_some_and(|wholesale| wholesale.0),
    };
    let issued = service.create(&staff, draft).await?;
    let token = issued.token.reveal().to_owned();
    let application = IssuedApplicationRecord { record: issued.application.into(), token };
    Ok((Json(CreatedApplication { application }), StatusCode::CREATED))
}

/// One application.
#[utoipa::path(
    tag = "Applications",
    params(("id" = i64, Path)),
    responses((status = 200, body = OneApplication)),
)]
#[get("/api/applications/{id}")]
async fn show_application(
    staff: SignedInStaff,
    service: Data<ApplicationService>,
    id: Path<PathId>,
) -> Result<Json<OneApplication>, ApiError> {
    let application = service.read(&staff, id.parse()?).await?.into();
    Ok(Json(OneApplication { application }))
}
