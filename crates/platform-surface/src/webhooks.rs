//! Webhooks of an application and their secrets.

use actix_web::{delete, get, patch, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_webhooks::WebhookService;
use kontor_webhooks::model::{EndpointUrl, IssuedWebhook, Webhook, WebhookChange, WebhookDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::wire::{self, In, InputErrors, change_body};
use kontor_web::{Service, SignedInStaff, TwoIds};

handlers! {
    fn usual_routes; WebhookService, "Webhooks";

    /// List webhooks
    ///
    /// Returns every webhook of an application. Secrets are not included.
    list "/api/applications/{application}/webhooks" as list_webhooks = list(id) -> WebhookList;

    /// Create a webhook
    ///
    /// The response contains the secret. It is not shown again.
    create "/api/applications/{application}/webhooks" as create_webhook(NewWebhook) = create(id, input)
        -> IssuedWebhookResponse;

    /// Get a webhook
    read "/api/applications/{application}/webhooks/{webhook}" as show_webhook = read(ids) -> WebhookResponse;

    /// Update a webhook
    ///
    /// Fields that are not sent keep their values. Deliveries of an inactive webhook wait until it is active again.
    patch "/api/applications/{application}/webhooks/{webhook}" as update_webhook(ChangedWebhook) = update(ids, input)
        -> WebhookResponse;

    /// Rotate the secret of a webhook
    ///
    /// All later attempts are signed with the new secret. The response contains it; it is not shown again.
    post "/api/applications/{application}/webhooks/{webhook}/rotate-secret" as rotate_webhook_secret
        = rotate_secret(ids) -> IssuedWebhookResponse;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(delete_webhook);
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

impl From<NewWebhook> for WebhookDraft {
    fn from(new: NewWebhook) -> Self {
        Self {
            name: new.name.map(|name| name.0),
            url: new.url.0,
            is_active: new.is_active.is_none_or(|active| active.0),
        }
    }
}

change_body! {
    ChangedWebhook => WebhookChange {
        /// `null` removes the name.
        name: wire::Name | null,
        url: WebhookUrl,
        is_active: wire::Flag,
    }
}

/// Delete a webhook
///
/// Its deliveries are deleted with it.
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = Deleted)))]
#[delete("/api/applications/{application}/webhooks/{webhook}")]
async fn delete_webhook(staff: SignedInStaff, service: Service<WebhookService>, path: TwoIds) -> Answer<Deleted> {
    service.delete(&staff, path.0.parse()?, path.1.parse()?).await?;
    answer(Deleted { message: "The webhook was deleted." })
}
