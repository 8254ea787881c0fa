//! Webhooks of an application and their secrets.

use actix_web::web::{Data, Path};
use actix_web::{delete, get, patch, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::WebhookId;
use kontor_webhooks::WebhookService;
use kontor_webhooks::model::{EndpointUrl, IssuedWebhook, Webhook, WebhookChange, WebhookDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::wire::{self, In, InputErrors, NonNullPatch, Patch, into_domain};
use kontor_web::{ApiError, Body, PathId, SignedInStaff, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_webhooks)
        .service(create_webhook)
        .service(show_webhook)
        .service(update_webhook)
        .service(delete_webhook)
        .service(rotate_webhook_secret);
}

/// URL of a webhook in requests.
type WebhookUrl = In<EndpointUrl>;

#[derive(Serialize, ToSchema)]
struct WebhookRecord {
    id: i64,
    name: Option<String>,
    url: String,
    /// `false` if deliveries wait until the webhook is activated.
    is_active: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Webhook> for WebhookRecord {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id.get(),
            name: webhook.details.name.map(Into::into),
            url: webhook.details.url.to_string(),
            is_active: webhook.details.is_active,
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
        }
    }
}

list!(WebhookList { webhooks: [WebhookRecord], webhooks_count });
one!(WebhookResponse { webhook: WebhookRecord });

#[derive(Serialize, ToSchema)]
struct IssuedWebhookRecord {
    #[serde(flatten)]
    record: WebhookRecord,
    /// Signature secret. Shown only in this response. The bytes of the whole text, including `whsec_`, are the key.
    secret: String,
}

impl From<IssuedWebhook> for IssuedWebhookRecord {
    fn from(issued: IssuedWebhook) -> Self {
        Self { secret: issued.secret.reveal().to_owned(), record: issued.webhook.into() }
    }
}

one!(IssuedWebhookResponse { webhook: IssuedWebhookRecord });

#[derive(Serialize, ToSchema)]
struct Deleted {
    message: &'static str,
}

fn webhook_id(path: &TwoIds) -> Result<WebhookId, ApiError> {
    path.1.parse()
}

/// List webhooks
///
/// Returns every webhook of an application. Secrets are not included.
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = WebhookList)))]
#[get("/api/applications/{application}/webhooks")]
async fn list_webhooks(
    staff: SignedInStaff,
    service: Data<WebhookService>,
    application: Path<PathId>,
) -> Answer<WebhookList> {
    answer(service.list(&staff, application.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewWebhook {
    #[deserr(default)]
    name: Option<wire::Name>,
    /// Absolute https URL.
    url: WebhookUrl,
    /// `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
}

/// Create a webhook
///
/// The response contains the secret. It is not shown again.
#[utoipa::path(tag = "Webhooks", request_body = NewWebhook, responses((status = 201, body = IssuedWebhookResponse)))]
#[post("/api/applications/{application}/webhooks")]
async fn create_webhook(
    staff: SignedInStaff,
    service: Data<WebhookService>,
    application: Path<PathId>,
    body: Body<NewWebhook>,
) -> Created<IssuedWebhookResponse> {
    let new = body.0;
    let draft = WebhookDraft {
        name: new.name.map(|name| name.0),
        url: new.url.0,
        is_active: new.is_active.is_none_or(|active| active.0),
    };
    let issued = service.create(&staff, application.parse()?, draft).await?;
    created(issued)
}

/// Get a webhook
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = WebhookResponse)))]
#[get("/api/applications/{application}/webhooks/{webhook}")]
async fn show_webhook(staff: SignedInStaff, service: Data<WebhookService>, path: TwoIds) -> Answer<WebhookResponse> {
    answer(service.read(&staff, path.0.parse()?, webhook_id(&path)?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedWebhook {
    /// `null` removes the name.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>)]
    name: Patch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<WebhookUrl>, nullable = false)]
    url: NonNullPatch<WebhookUrl>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    is_active: NonNullPatch<wire::Flag>,
}

into_domain!(ChangedWebhook => WebhookChange { name, url, is_active });

/// Update a webhook
///
/// Fields that are not sent keep their values. Deliveries of an inactive webhook wait until it is active again.
#[utoipa::path(tag = "Webhooks", request_body = ChangedWebhook, responses((status = 200, body = WebhookResponse)))]
#[patch("/api/applications/{application}/webhooks/{webhook}")]
async fn update_webhook(
    staff: SignedInStaff,
    service: Data<WebhookService>,
    path: TwoIds,
    body: Body<ChangedWebhook>,
) -> Answer<WebhookResponse> {
    answer(service.update(&staff, path.0.parse()?, webhook_id(&path)?, body.0.into()).await?)
}

/// Delete a webhook
///
/// Its deliveries are deleted with it.
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = Deleted)))]
#[delete("/api/applications/{application}/webhooks/{webhook}")]
async fn delete_webhook(staff: SignedInStaff, service: Data<WebhookService>, path: TwoIds) -> Answer<Deleted> {
    service.delete(&staff, path.0.parse()?, webhook_id(&path)?).await?;
    answer(Deleted { message: "The webhook was deleted." })
}

/// Rotate the secret of a webhook
///
/// All later attempts are signed with the new secret. The response contains it; it is not shown again.
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = IssuedWebhookResponse)))]
#[post("/api/applications/{application}/webhooks/{webhook}/rotate-secret")]
async fn rotate_webhook_secret(
    staff: SignedInStaff,
    service: Data<WebhookService>,
    path: TwoIds,
) -> Answer<IssuedWebhookResponse> {
    answer(service.rotate_secret(&staff, path.0.parse()?, webhook_id(&path)?).await?)
}
