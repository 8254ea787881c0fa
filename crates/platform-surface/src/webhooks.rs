//! Webhooks of an application, their secrets and deliveries.

use actix_web::web::Data;
use actix_web::{HttpRequest, delete, get, patch, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Name, WebhookId};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::limits::WEBHOOK_TEST;
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, In, InputErrors, change_body};
use kontor_web::{Query, Service, SignedInStaff, ThreeIds, Throttle, TwoIds};
use kontor_webhooks::model::{
    Delivery, DeliveryStatus, EndpointUrl, IssuedWebhook, ProjectDelivery, Webhook, WebhookChange, WebhookDraft,
};
use kontor_webhooks::{DeliveryService, WebhookService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};

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

/// Registers the routes of one webhook.
pub(super) fn delivery_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_deliveries).service(show_delivery).service(resend_delivery).service(test_webhook);
}

handlers! {
    fn list_routes; DeliveryService, "Webhooks";

    /// List the deliveries of all webhooks
    ///
    /// Newest first. For `resend`, take application and webhook from the record.
    list "/api/webhook_deliveries" as list_webhook_deliveries
        = of_project(rows WebhookDeliveryParams TABLE 100) -> WebhookDeliveryList;

    /// List the deliveries of all webhooks as a table
    table "/api/tables/webhook_deliveries" as list_webhook_deliveries_table(WebhookDeliveryParams)
        = of_project() -> TABLE;
}

#[derive(Serialize, ToSchema)]
struct DeliveryRecord {
    id: i64,
    /// Value of the header `X-Webhook-Event-Id`.
    event_id: Uuid,
    /// Value of the header `X-Webhook-Delivery-Id`.
    delivery_id: Uuid,
    /// Type of the event.
    #[schema(example = "order.paid")]
    event: String,
    /// `pending`, `delivered` or `failed`.
    status: &'static str,
    /// Number of attempts since the event or the last resend.
    attempts: u32,
    /// HTTP status of the response to the last attempt.
    response_status: Option<u16>,
    /// Error of the last attempt.
    last_error: Option<String>,
    /// Time of the next attempt. `null` if none is planned.
    next_attempt_at: Option<DateTime<Utc>>,
    delivered_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

impl From<Delivery> for DeliveryRecord {
    fn from(delivery: Delivery) -> Self {
        let state = delivery.state;
        Self {
            id: delivery.id.get(),
            event_id: delivery.event_id,
            delivery_id: delivery.delivery_id,
            event: delivery.event,
            status: state.status(),
            attempts: state.attempts(),
            response_status: delivery.response_status,
            last_error: delivery.last_error,
            next_attempt_at: state.next_attempt_at(),
            delivered_at: state.delivered_at(),
            created_at: delivery.created_at,
        }
    }
}

list!(DeliveryList { deliveries: [DeliveryRecord], deliveries_count of all, pagination });
one!(DeliveryResponse { delivery: DeliveryRecord });

#[derive(Serialize, ToSchema)]
struct ProjectDeliveryRecord {
    #[serde(flatten)]
    record: DeliveryRecord,
    /// Application of the webhook.
    application_id: i64,
    webhook_id: i64,
    webhook_name: Option<String>,
}

impl From<ProjectDelivery> for ProjectDeliveryRecord {
    fn from(one: ProjectDelivery) -> Self {
        Self {
            application_id: one.application_id.get(),
            webhook_id: one.delivery.webhook_id.get(),
            webhook_name: one.webhook_name.map(Into::into),
            record: one.delivery.into(),
        }
    }
}

list!(/// One page of the deliveries of the project.
    WebhookDeliveryList { webhook_deliveries: [ProjectDeliveryRecord], webhook_deliveries_count of all, pagination });

/// Table of `GET /api/tables/webhook_deliveries` and `GET /api/webhook_deliveries`.
const TABLE: Table<ProjectDelivery> = Table {
    id: 71,
    resource: "webhook_deliveries",
    version: None,
    columns: &[
        Column::new("id", "No.", |one| Cell::plain(one.delivery.id.get())),
        Column::new("event", "Event", |one| Cell::plain(one.delivery.event.as_str())),
        Column::new("status", "Status", |one| Cell::plain(one.delivery.state.status())),
        Column::with_icon("webhook", "Webhook", |one| {
            let (application, webhook) = (one.application_id, one.delivery.webhook_id);
            let name = one.webhook_name.as_ref().map(Name::as_str);
            Cell::linked(name, format!("/api/applications/{application}/webhooks/{webhook}"))
        }),
        Column::new("attempts", "Attempts", |one| Cell::plain(one.delivery.state.attempts())),
        Column::new("response_status", "Response", |one| Cell::plain(one.delivery.response_status)),
        Column::new("last_error", "Error", |one| Cell::plain(one.delivery.last_error.as_deref())),
        Column::new("next_attempt_at", "Next attempt", |one| Cell::moment(one.delivery.state.next_attempt_at())),
        Column::new("delivered_at", "Delivered", |one| Cell::moment(one.delivery.state.delivered_at())),
        Column::new("created_at", "Created", |one| Cell::moment(one.delivery.created_at)),
    ],
    sorts: &["id"],
    filters: &[
        Filter::word::<DeliveryStatus>("status", "In these states."),
        Filter::id::<WebhookId>("webhook_id", "Of these webhooks."),
    ],
    search: None,
    period: None,
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/webhook_deliveries` and `GET /api/webhook_deliveries`.
    WebhookDeliveryParams of TABLE
}

#[derive(Deserr, utoipa::IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeliveryPage {
    /// Number of the page, from 1. `1` by default.
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 1 to 100, 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

/// List the deliveries of a webhook
///
/// Newest first.
#[utoipa::path(tag = "Webhooks", params(DeliveryPage), responses((status = 200, body = DeliveryList)))]
#[get("/api/applications/{application}/webhooks/{webhook}/deliveries")]
async fn list_deliveries(
    staff: SignedInStaff,
    service: Service<DeliveryService>,
    path: TwoIds,
    query: Query<DeliveryPage>,
) -> Answer<DeliveryList> {
    let request = page_of(query.0.page.as_ref(), query.0.per_page.as_ref(), 15)?;
    answer(service.list(&staff, path.0.parse()?, path.1.parse()?, request).await?)
}

/// Get a delivery of a webhook
#[utoipa::path(tag = "Webhooks", responses((status = 200, body = DeliveryResponse)))]
#[get("/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}")]
async fn show_delivery(
    staff: SignedInStaff,
    service: Service<DeliveryService>,
    path: ThreeIds,
) -> Answer<DeliveryResponse> {
    let (application, webhook, delivery) = (path.0.parse()?, path.1.parse()?, path.2.parse()?);
    answer(service.read(&staff, application, webhook, delivery).await?)
}

/// Send a test event to a webhook
///
/// The event `ping` is signed and retried like any other. Only this webhook receives it. Read the delivery for the
/// result.
#[utoipa::path(
    tag = "Webhooks",
    responses(
        (status = 201, body = DeliveryResponse),
        (status = 409, description = "The webhook is inactive."),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/applications/{application}/webhooks/{webhook}/test")]
async fn test_webhook(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    service: Service<DeliveryService>,
    path: TwoIds,
) -> Created<DeliveryResponse> {
    let (application, webhook) = (path.0.parse()?, path.1.parse()?);
    throttle.hit(&request, &[(WEBHOOK_TEST, staff.project_id.to_string())]).await?;
    created(service.send_test(&staff, application, webhook).await?)
}

/// Resend a delivery
///
/// The delivery must be delivered or failed. It is sent with the same ids and a new retry schedule.
#[utoipa::path(
    tag = "Webhooks",
    responses(
        (status = 200, body = DeliveryResponse),
        (status = 409, description = "The delivery is already pending, or the webhook is inactive."),
    ),
)]
#[post("/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}/resend")]
async fn resend_delivery(
    staff: SignedInStaff,
    service: Service<DeliveryService>,
    path: ThreeIds,
) -> Answer<DeliveryResponse> {
    let (application, webhook, delivery) = (path.0.parse()?, path.1.parse()?, path.2.parse()?);
    answer(service.resend(&staff, application, webhook, delivery).await?)
}
