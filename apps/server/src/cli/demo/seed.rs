//! Project, employee, application and webhook of the demo: created on the first run, completed on later runs.

use std::sync::Arc;

use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::demo_data::{DemoIdentity, DemoProject};
use kontor_auth::StaffRegistry;
use kontor_auth::model::{Login, NewPassword};
use kontor_kernel::{Email, Language, ProjectId};
use kontor_organization::ports::ProjectRepository as _;
use reqwest::Method;
use serde_json::{Value, json};

use super::restore::{MadeRecords, Restoration};
use super::{ApiClient, DemoCustomer, DemoFile, DemoStaff, DemoWebhook, at};
use crate::cli::{Failure, project};
use crate::config::Config;
use crate::service::wiring::Adapters;

const NAME: &str = "Hanse Kontor";
const EMAIL: &str = "owner@example.com";
const PHONE: &str = "79001234567";

/// Start of the demo.
pub struct DemoStart<'a> {
    pub config: &'a Config,
    pub database: &'a Database,
    pub around: &'a Adapters,
    pub base_url: &'a str,
    pub sandbox_url: &'a str,
}

impl DemoStart<'_> {
    /// Creates the project and everything in it, on the first run.
    pub async fn create_project(&self) -> Result<(DemoFile, MadeRecords), Failure> {
        let created = project::create(self.config, self.database, NAME, &self.login(), EMAIL).await?;
        // The demo is in English.
        self.database.set_language(ProjectId::new(created.project_id)?, Language::En).await?;
        let file = DemoFile {
            base_url: String::new(),
            docs_url: String::new(),
            sandbox_url: self.sandbox_url.to_owned(),
            project_id: created.project_id,
            application_id: created.application_id,
            app_token: created.app_token,
            staff: DemoStaff { login: created.login, password: created.password },
            customer: DemoCustomer { phone: PHONE.to_owned() },
            webhook: DemoWebhook { id: 0, hook_id: String::new() },
        };
        let made = self.reopen(file, MadeRecords::default()).await?;
        made.ok_or_else(|| "the new project does not exist".into())
    }

    /// Restores missing records and keeps existing ones. Returns `None` if the project was deleted, or is in another
    /// database.
    pub async fn reopen(&self, known: DemoFile, made: MadeRecords) -> Result<Option<(DemoFile, MadeRecords)>, Failure> {
        let project = ProjectId::new(known.project_id)?;
        let identity = self.identity(&known);
        let Some(there) = self.database.demo_project(project, identity).await? else { return Ok(None) };
        let (staff_client, staff) = self.employee(project, &there, known.staff).await?;
        let (application_id, app_token) = match there.application {
            Some(id) => (id, known.app_token),
            None => self.application(&staff_client, &there).await?,
        };
        let known = DemoFile { application_id, app_token, staff, ..known };
        let restoration = Restoration {
            database: self.database,
            clock: &*self.around.clock,
            staff_client: &staff_client,
            sandbox_url: self.sandbox_url,
            project,
            identity: self.identity(&known),
            application: application_id,
        };
        let made = restoration.run(made.of(project)).await?;
        let webhook = self.webhook(&staff_client, &there, &known).await?;
        let file = DemoFile {
            base_url: self.base_url.to_owned(),
            docs_url: format!("{}/docs/", self.base_url),
            sandbox_url: self.sandbox_url.to_owned(),
            webhook,
            ..known
        };
        Ok(Some((file, made)))
    }

    fn identity(&self, file: &DemoFile) -> DemoIdentity {
        let token_fingerprint = self.around.cipher.fingerprint(&file.app_token);
        DemoIdentity { login: file.staff.login.clone(), token_fingerprint }
    }

    fn login(&self) -> String {
        format!("owner-{}", self.around.random.digits(6))
    }

    /// Returns the employee, or a new one if the password or permissions have changed.
    async fn employee(
        &self,
        project: ProjectId,
        there: &DemoProject,
        known: DemoStaff,
    ) -> Result<(ApiClient<'_>, DemoStaff), Failure> {
        if there.owner_is_in
            && let Some(staff_client) = ApiClient::open(self.base_url, &known.login, &known.password).await?
        {
            return Ok((staff_client, known));
        }
        let Adapters { clock, random, hasher, .. } = self.around.clone();
        let registry = StaffRegistry { staff: Arc::new(self.database.clone()), hasher, clock };
        let (login, password) = (self.login(), random.alphanumeric(20));
        let named = Login::parse(&login).map_err(|error| error.to_string())?;
        let email = Email::parse(EMAIL).map_err(|error| error.to_string())?;
        let secret = NewPassword::parse(&password).map_err(|error| error.to_string())?;
        registry.create_owner(project, named, email, &secret, None).await?;
        let staff_client = ApiClient::open(self.base_url, &login, &password).await?;
        let staff_client = staff_client.ok_or("the new employee of the demo cannot sign in")?;
        Ok((staff_client, DemoStaff { login, password }))
    }

    /// Creates another application, because the token of the first no longer works.
    async fn application(&self, staff_client: &ApiClient<'_>, there: &DemoProject) -> Result<(i64, String), Failure> {
        let branch = match there.branch {
            Some(branch) => branch,
            None => staff_client.make("/api/branches", &json!({ "name": NAME }), "/branch/id").await?,
        };
        let made = staff_client.post("/api/applications", &json!({ "name": NAME, "branch_id": branch })).await?;
        let id = at(&made, "/application/id")?.as_i64().unwrap_or_default();
        Ok((id, at(&made, "/application/token")?.as_str().unwrap_or_default().to_owned()))
    }

    /// Redirects the webhook to a new receiver, because the sandbox does not store receivers. If a visitor changed its
    /// target, it stays, and the demo creates another.
    async fn webhook(
        &self,
        staff_client: &ApiClient<'_>,
        there: &DemoProject,
        known: &DemoFile,
    ) -> Result<DemoWebhook, Failure> {
        let request = staff_client.http.post(format!("{}/control/hooks", self.sandbox_url)).json(&json!({}));
        let hook: Value = request.send().await?.error_for_status()?.json().await?;
        let hook_id = at(&hook, "/id")?.as_str().unwrap_or_default().to_owned();
        let url = format!("{}/hooks/{hook_id}", self.sandbox_url);
        let path = format!("/api/applications/{}/webhooks", known.application_id);
        let receivers = format!("{}/hooks/", known.sandbox_url);
        let ours = |(id, url): &&(i64, String)| *id == known.webhook.id && url.starts_with(&receivers);
        let id = match there.webhooks.iter().find(ours) {
            Some((id, _)) => {
                let body = json!({ "url": url });
                staff_client.send(Method::PATCH, &format!("{path}/{id}"), |request| request.json(&body)).await?;
                *id
            }
            None => staff_client.make(&path, &json!({ "name": "Demo", "url": url }), "/webhook/id").await?,
        };
        Ok(DemoWebhook { id, hook_id })
    }
}
