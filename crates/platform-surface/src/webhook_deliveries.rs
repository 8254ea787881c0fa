//! Deliveries of a webhook, and their resend.

use actix_web::web::Data;
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_webhooks::DeliveryService;
use kontor_webhooks::model::Delivery;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::InputErrors;
use kontor_web::{Query, SignedInStaff, ThreeIds, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_deliveries).service(resend_delivery);
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
    service: Data<DeliveryService>,
    path: TwoIds,
    query: Query<DeliveryPage>,
) -> Answer<DeliveryList> {
    let request = page_of(query.0.page.as_ref(), query.0.per_page.as_ref(), 15)?;
    answer(service.list(&staff, path.0.parse()?, path.1.parse()?, request).await?)
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
    service: Data<DeliveryService>,
    path: ThreeIds,
) -> Answer<DeliveryResponse> {
    let (application, webhook, delivery) = (path.0.parse()?, path.1.parse()?, path.2.parse()?);
    answer(service.resend(&staff, application, webhook, delivery).await?)
}
