//! Applications: the sites, apps and services of a project.

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::ApplicationService;
use kontor_organization::model::{Application, ApplicationChange, ApplicationDraft, IssuedApplication};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::HistoryList;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, change_body};

handlers! {
    ApplicationService, "Applications";

    /// List applications
    ///
    /// Returns every application of the project. App Tokens are not included.
    list "/api/applications" as list_applications -> ApplicationList;

    /// Create an application
    ///
    /// The response contains the App Token. It is not shown again.
    create "/api/applications" as create_application(NewApplication) -> CreatedApplication;

    /// Get an application
    read "/api/applications/{id}" as show_application -> ApplicationResponse;

    /// Update an application
    ///
    /// Fields that are not sent keep their values. The App Token and the customers' tokens stay valid.
    update "/api/applications/{id}" as update_application(ChangedApplication) -> ApplicationResponse;

    /// List the history of an application
    ///
    /// Newest first, including changes of the categories and brands that it shows. A replaced App Token is an entry of
    /// `token_issued_at`; tokens themselves are never in the history.
    history "/api/applications/{id}/history" as list_application_history -> HistoryList;

    /// Activate an application
    ///
    /// Its App Token and the tokens of its customers are accepted again. Subscription charges continue; those that were
    /// missed are not made up.
    post "/api/applications/{id}/activate" as activate_application = activate(id) -> ApplicationResponse;

    /// Deactivate an application
    ///
    /// Its App Token and the tokens of its customers are refused at once, and its subscriptions are not charged until it is
    /// activated again.
    post "/api/applications/{id}/deactivate" as deactivate_application = deactivate(id) -> ApplicationResponse;

    /// Rotate the App Token of an application
    ///
    /// The response contains the new token. It is not shown again. The old token is refused at once; customers stay logged
    /// in. A deactivated application stays deactivated.
    post "/api/applications/{id}/rotate-token" as rotate_app_token = rotate_token(id) -> CreatedApplication;
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
    /// Time when its App Token was issued.
    token_issued_at: DateTime<Utc>,
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
            token_issued_at: application.token_issued_at,
            created_at: application.created_at,
            updated_at: application.updated_at,
        }
    }
}

list!(ApplicationList { applications: [ApplicationRecord], applications_count });
one!(ApplicationResponse { application: ApplicationRecord });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewApplication {
    /// Branch that runs the application.
    branch_id: wire::BranchId,
    name: wire::Name,
    #[deserr(default)]
    url: Option<wire::Link>,
    /// `false` by default.
    #[deserr(default)]
    wholesale: Option<wire::Flag>,
}

impl From<NewApplication> for ApplicationDraft {
    fn from(new: NewApplication) -> Self {
        Self {
            branch_id: new.branch_id.0,
            name: new.name.0,
            url: new.url.map(|url| url.0),
            wholesale: new.wholesale.is_some_and(|wholesale| wholesale.0),
        }
    }
}

change_body! {
    ChangedApplication => ApplicationChange {
        /// Branch that runs the application.
        branch_id: wire::BranchId,
        name: wire::Name,
        /// `null` removes the URL.
        url: wire::Link | null,
        /// `true` if the application sells wholesale.
        wholesale: wire::Flag,
    }
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
