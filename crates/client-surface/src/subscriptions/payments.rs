//! Payments of a subscription and their retry, and its consents to recurring charges.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post};
use kontor_subscriptions::SubscriptionService;
use utoipa_actix_web::service_config::ServiceConfig;

use super::SubscriptionResponse;
use crate::queries::SubscriptionPaymentQuery;
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::SUBSCRIPTION_PAYMENTS;
use kontor_web::paging::paginated;
use kontor_web::subscription_record::{ConsentRecord, SubscriptionPaymentRecord};
use kontor_web::{PathId, Query, Service, SignedInCustomer, Throttle, TwoIds};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_subscription_payments).service(retry_subscription_payment).service(list_subscription_consents);
}

paginated!(
    /// One page of payments of a subscription.
    SubscriptionPaymentPage [SubscriptionPaymentRecord]
);

/// List the payments of a subscription
///
/// Newest first.
#[utoipa::path(
    tag = "Client: subscriptions",
    params(SubscriptionPaymentQuery),
    responses((status = 200, body = SubscriptionPaymentPage)),
)]
#[get("/api/counterparty/subscriptions/{id}/payments")]
async fn list_subscription_payments(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
    query: Query<SubscriptionPaymentQuery>,
) -> Answer<SubscriptionPaymentPage> {
    let page = service.payments(*customer, id.parse()?, query.0.page()?).await?;
    answer(page)
}

/// Retry the last payment of a subscription
///
/// The payment must have failed, and the terms must be unchanged. `can_retry_payment` and `retry_payment_reason` of the
/// subscription show if it is possible.
#[utoipa::path(
    tag = "Client: subscriptions",
    responses(
        (status = 200, body = SubscriptionResponse),
        (status = 409, description = "A payment is in progress, or its outcome is not known yet."),
        (status = 422, description = "The payment cannot be retried."),
        (status = 429, description = "Too many payments. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/subscriptions/{id}/payments/{payment_id}/retry")]
async fn retry_subscription_payment(
    request: HttpRequest,
    customer: SignedInCustomer,
    throttle: Data<Throttle>,
    service: Service<SubscriptionService>,
    ids: TwoIds,
) -> Answer<SubscriptionResponse> {
    throttle.hit(&request, &[(SUBSCRIPTION_PAYMENTS, &customer.counterparty_id.to_string())]).await?;
    let (id, payment) = ids.into_inner();
    answer(service.retry(*customer, id.parse()?, payment.parse()?).await?)
}

paginated!(
    /// One page of consents.
    SubscriptionConsentPage [ConsentRecord]
);

/// List the consents of a subscription
///
/// Newest first.
#[utoipa::path(
    tag = "Client: subscriptions",
    params(SubscriptionPaymentQuery),
    responses((status = 200, body = SubscriptionConsentPage)),
)]
#[get("/api/counterparty/subscriptions/{id}/consents")]
async fn list_subscription_consents(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
    query: Query<SubscriptionPaymentQuery>,
) -> Answer<SubscriptionConsentPage> {
    answer(service.consents(*customer, id.parse()?, query.0.page()?).await?)
}
