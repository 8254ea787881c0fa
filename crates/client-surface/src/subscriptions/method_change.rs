//! Change of a subscription's payment method on the acquirer's page.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use kontor_kernel::{SavedMethodId, Word as _};
use kontor_subscriptions::{MethodChange, MethodChangeService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::bodies::{NewMethodChange, agreement};
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::SUBSCRIPTION_PAYMENTS;
use kontor_web::{Body, ClientIp, PathId, Service, SignedInCustomer, Throttle, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(change_payment_method).service(sync_payment_method_change);
}

/// Change of the payment method.
#[derive(Serialize, ToSchema)]
struct MethodChangeRecord {
    id: i64,
    subscription_id: i64,
    /// `pending`, `completed`, `failed` or `expired`.
    #[schema(examples("pending"))]
    status: &'static str,
    /// Page where the customer enters the method while the change is `pending`. `null` also while the outcome is
    /// unknown.
    confirmation_url: Option<String>,
    /// Id of the new method, once `completed`.
    saved_payment_method_id: Option<i64>,
    /// End of the time to enter the method.
    expires_at: DateTime<Utc>,
}

impl From<MethodChange> for MethodChangeRecord {
    fn from(change: MethodChange) -> Self {
        let is_open = change.charge.state.is_open();
        Self {
            id: change.id.get(),
            subscription_id: change.subscription.get(),
            status: change.status().word(),
            confirmation_url: change.charge.confirmation_url.filter(|_| is_open),
            saved_payment_method_id: change.saved_method.map(SavedMethodId::get),
            expires_at: change.expires_at,
        }
    }
}

/// Change the payment method of a subscription
///
/// The customer enters the new method at `confirmation_url`. The small amount paid there is refunded at once. Never
/// send card data to this endpoint.
#[utoipa::path(
    tag = "Client: subscriptions",
    request_body = NewMethodChange,
    responses(
        (status = 200, description = "The payment method change, new or pending.", body = MethodChangeRecord),
        (status = 422, description = "The consent is missing, a forbidden field was sent, or there is nothing to change."),
        (status = 429, description = "Too many payments. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/subscriptions/{id}/payment-method-change")]
async fn change_payment_method(
    request: HttpRequest,
    customer: SignedInCustomer,
    address: ClientIp,
    throttle: Data<Throttle>,
    service: Service<MethodChangeService>,
    id: Path<PathId>,
    body: Body<NewMethodChange>,
) -> Answer<MethodChangeRecord> {
    let id = id.parse()?;
    let agreement = agreement(&body.0.autopay_consent.0, address);
    throttle.hit(&request, &[(SUBSCRIPTION_PAYMENTS, &customer.counterparty_id.to_string())]).await?;
    let change = service.begin(*customer, id, &agreement).await?;
    answer(change)
}

/// Check a payment method change
///
/// Returns the state of the change. While it is unknown, the acquirer is queried.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = MethodChangeRecord)))]
#[post("/api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync")]
async fn sync_payment_method_change(
    customer: SignedInCustomer,
    service: Service<MethodChangeService>,
    ids: TwoIds,
) -> Answer<MethodChangeRecord> {
    let (id, change) = ids.into_inner();
    answer(service.sync(*customer, id.parse()?, change.parse()?).await?)
}
