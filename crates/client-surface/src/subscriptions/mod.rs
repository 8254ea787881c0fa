//! Subscriptions of the logged-in customer.

mod bodies;
mod checkout;
mod method_change;
mod payments;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, get, patch, post};
use kontor_subscriptions::{SubscriptionService, SubscriptionStatus};
use utoipa_actix_web::service_config::ServiceConfig;

use self::bodies::{ChangedSubscription, NewSubscription, ResumedSubscription, agreement};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::SUBSCRIPTION_PAYMENTS;
use kontor_web::subscription_record::SubscriptionRecord;
use kontor_web::{ApiError, Body, ClientIp, PathId, Service, SignedInCustomer, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    checkout::routes(config);
    method_change::routes(config);
    payments::routes(config);
    config
        .service(list_subscriptions)
        .service(show_subscription)
        .service(create_subscription)
        .service(update_subscription)
        .service(cancel_subscription)
        .service(resume_subscription);
}

/// List the customer's subscriptions
///
/// Returns subscriptions of this application and those that belong to the whole project, newest first.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = SubscriptionList)))]
#[get("/api/counterparty/subscriptions")]
async fn list_subscriptions(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
) -> Answer<SubscriptionList> {
    answer(service.list(*customer).await?)
}

/// Get a subscription of the customer
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = SubscriptionResponse)))]
#[get("/api/counterparty/subscriptions/{id}")]
async fn show_subscription(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
) -> Answer<SubscriptionResponse> {
    answer(service.read(*customer, id.parse()?).await?)
}

/// Create a subscription with a saved payment method
///
/// The first period is charged at once. Never send card data to this endpoint.
#[utoipa::path(
    tag = "Client: subscriptions",
    request_body = NewSubscription,
    responses(
        (status = 201, description = "The subscription is paid and active.", body = SubscriptionResponse),
        (
            status = 202,
            description = "The charge is in progress, or its outcome is not known yet.",
            body = SubscriptionResponse,
        ),
        (status = 409, description = "Another first payment of the customer is unfinished."),
        (
            status = 422,
            description = "Validation failed, the plan or the payment method is not available, or the charge failed.",
        ),
        (status = 429, description = "Too many payments. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/subscriptions")]
async fn create_subscription(
    request: HttpRequest,
    customer: SignedInCustomer,
    address: ClientIp,
    throttle: Data<Throttle>,
    service: Service<SubscriptionService>,
    body: Body<NewSubscription>,
) -> Result<(Json<SubscriptionResponse>, StatusCode), ApiError> {
    throttle.hit(&request, &[(SUBSCRIPTION_PAYMENTS, &customer.counterparty_id.to_string())]).await?;
    let agreement = agreement(&body.0.autopay_consent.0, address);
    let (purchase, fields) = body.0.purchase()?;
    let charged = service.charge_at_once(*customer, &purchase, &agreement).await;
    let view = charged.map_err(|error| fields.into_response(error))?;
    let is_active = view.subscription.status == SubscriptionStatus::Active;
    let status = if is_active { StatusCode::CREATED } else { StatusCode::ACCEPTED };
    Ok((Json(view.into()), status))
}

/// Update the plan or payment method of a subscription
///
/// A new plan applies from the next period, a new saved method from the next charge. Never send card data to this
/// endpoint.
#[utoipa::path(
    tag = "Client: subscriptions",
    request_body = ChangedSubscription,
    responses(
        (status = 200, body = SubscriptionResponse),
        (
            status = 422,
            description = "Validation failed, the consent is missing, the plan or the payment method is not available, \
                or another subscription of the customer has the plan.",
        ),
    ),
)]
#[patch("/api/counterparty/subscriptions/{id}")]
async fn update_subscription(
    customer: SignedInCustomer,
    address: ClientIp,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
    body: Body<ChangedSubscription>,
) -> Answer<SubscriptionResponse> {
    let id = id.parse()?;
    let agreement = body.0.consent().map(|consent| agreement(&consent, address));
    let (edit, fields) = body.0.edit()?;
    let changed = service.change(*customer, id, &edit, agreement.as_ref()).await;
    answer(changed.map_err(|error| fields.into_response(error))?)
}

/// Cancel a subscription
///
/// Nothing is charged any more.
#[utoipa::path(
    tag = "Client: subscriptions",
    responses(
        (status = 200, body = SubscriptionResponse),
        (status = 422, description = "The subscription is already canceled, or a charge is in progress."),
    ),
)]
#[post("/api/counterparty/subscriptions/{id}/cancel")]
async fn cancel_subscription(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
) -> Answer<SubscriptionResponse> {
    answer(service.cancel(*customer, id.parse()?).await?)
}

/// Resume a canceled subscription
///
/// The subscription becomes `active` while its paid period lasts; otherwise it is `past_due` until it is paid.
#[utoipa::path(
    tag = "Client: subscriptions",
    request_body = ResumedSubscription,
    responses(
        (status = 200, body = SubscriptionResponse),
        (
            status = 422,
            description = "The consent is missing, the subscription is not canceled, the plan or the payment method is \
                not available, or another subscription of the customer has the plan.",
        ),
    ),
)]
#[post("/api/counterparty/subscriptions/{id}/resume")]
async fn resume_subscription(
    customer: SignedInCustomer,
    address: ClientIp,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
    body: Body<ResumedSubscription>,
) -> Answer<SubscriptionResponse> {
    let agreement = agreement(&body.0.autopay_consent.0, address);
    answer(service.resume(*customer, id.parse()?, &agreement).await?)
}

one!(SubscriptionResponse { data: SubscriptionRecord });

list!(SubscriptionList { data: [SubscriptionRecord] });
