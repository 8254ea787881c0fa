//! Applications: the sites, apps and services of a project.

use actix_web::web::{Data, Path};
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::ApplicationService;
use kontor_organization::model::{Application, ApplicationDraft, IssuedApplication};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_applications).service(create_application).service(show_application);
}

#[derive(Serialize, ToSchema)]
struct ApplicationRecord {
    id: i64,
    /// Branch that runs the application.
    branch_id: i64,
    name: String,
    url: Option<String>,
    /// `true` if the application sells wholesale.
    wholesale: bool,
    /// `true` if its App Token is accepted.
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

list!(ApplicationList { applications: [ApplicationRecord], applications_count });
one!(ApplicationResponse { application: ApplicationRecord });

/// List applications
///
/// Returns every application of the project. App Tokens are not included.
#[utoipa::path(tag = "Applications", responses((status = 200, body = ApplicationList)))]
#[get("/api/applications")]
async fn list_applications(staff: SignedInStaff, service: Data<ApplicationService>) -> Answer<ApplicationList> {
    answer(service.list(&staff).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewApplication {
    /// Branch that runs the application.
    branch_id: wire::BranchId,
    name: wire::Name,
    #[deserr(default)]
    url: Option<wire::Link>,
    #[deserr(default)]
    wholesale: Option<wire::Flag>,
}

#[derive(Serialize, ToSchema)]
struct IssuedApplicationRecord {
    #[serde(flatten)]
    record: ApplicationRecord,
    /// App Token. Shown only in this response.
    token: String,
}

impl From<IssuedApplication> for IssuedApplicationRecord {
    fn from(issued: IssuedApplication) -> Self {
        Self { token: issued.token.reveal().to_owned(), record: issued.application.into() }
    }
}

one!(CreatedApplication { application: IssuedApplicationRecord });

/// Create an application
///
/// The response contains the App Token. It is not shown again.
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
) -> Created<CreatedApplication> {
    let new = body.0;
    let draft = ApplicationDraft {
        branch_id: new.branch_id.0,
        name: new.name.0,
        url: new.url.map(|url| url.0),
        wholesale: new.wholesale.is_some_and(|wholesale| wholesale.0),
    };
    created(service.create(&staff, draft).await?)
}

/// Get an application
#[utoipa::path(tag = "Applications", responses((status = 200, body = ApplicationResponse)))]
#[get("/api/applications/{id}")]
async fn show_application(
    staff: SignedInStaff,
    service: Data<ApplicationService>,
    id: Path<PathId>,
) -> Answer<ApplicationResponse> {
    answer(service.read(&staff, id.parse()?).await?)
}
