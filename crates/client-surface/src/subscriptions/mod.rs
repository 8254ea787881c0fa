//! Subscriptions of the logged-in customer.

mod bodies;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, get, patch, post};
use chrono::{DateTime, Utc};
use kontor_kernel::{SavedMethodId, Word as _};
use kontor_subscriptions::{
    Checkout, CheckoutResult, MethodChange, MethodChangeService, SubscriptionService, SubscriptionStatus,
};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::SUBSCRIPTION_PAYMENTS;
use kontor_web::paging::paginated;
use kontor_web::subscription_record::{ConsentRecord, SubscriptionPaymentRecord, SubscriptionRecord};
use kontor_web::{ApiError, Body, ClientIp, PathId, Query, Service, SignedInCustomer, Throttle, TwoIds};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::bodies::{
    ChangedSubscription, NewCheckout, NewMethodChange, NewSubscription, ResumedSubscription, agreement,
};
use crate::queries::{OwnListQuery, SubscriptionPaymentQuery};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(check_out_subscriptions).service(change_payment_method).service(sync_payment_method_change);
    config.service(list_subscription_payments).service(retry_subscription_payment).service(list_subscription_consents);
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
/// Returns subscriptions of this application and those that belong to the whole project, newest first. Without `page`
/// and `per_page` these are the newest 500.
#[utoipa::path(
    tag = "Client: subscriptions",
    params(OwnListQuery),
    responses((status = 200, body = SubscriptionList)),
)]
#[get("/api/counterparty/subscriptions")]
async fn list_subscriptions(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    query: Query<OwnListQuery>,
) -> Answer<SubscriptionList> {
    answer(service.list(*customer, query.0.page()?).await?)
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

/// First payment of subscriptions.
#[derive(Serialize, ToSchema)]
struct CheckoutRecord {
    /// Id of the order that the payment belongs to.
    order_id: i64,
    /// Id of the first plan.
    nomenclature_id: i64,
    /// Ids of all plans.
    nomenclature_ids: Vec<i64>,
    /// Total amount of all plans.
    #[schema(examples("990.00"))]
    amount: String,
    /// ISO 4217 code.
    #[schema(examples("RUB"))]
    currency: String,
    /// Length of a period, in months.
    billing_period_months: u8,
    payment_method_type: &'static str,
    /// Payment page while the payment is open. `null` also while the payment outcome is unknown.
    payment_link: Option<String>,
}

impl TryFrom<Checkout> for CheckoutRecord {
    type Error = ApiError;

    fn try_from(checkout: Checkout) -> Result<Self, ApiError> {
        let (order, charge) = (checkout.payment.order, checkout.payment.charge);
        let plans = checkout.payment.subscriptions.into_iter().map(|view| view.subscription.terms);
        let plans: Vec<_> = plans.collect();
        let first = plans.first().ok_or_else(|| ApiError::internal(&"a first payment has no subscription"))?;
        Ok(Self {
            order_id: order.get(),
            nomenclature_id: first.plan.get(),
            nomenclature_ids: plans.iter().map(|terms| terms.plan.get()).collect(),
            amount: charge.request.amount.to_string(),
            billing_period_months: first.billing_months,
            currency: charge.request.currency,
            payment_method_type: charge.request.method.word(),
            payment_link: charge.confirmation_url.filter(|_| charge.state.is_open()),
        })
    }
}

/// Check out subscriptions
///
/// Creates a payment on the acquirer's page for one or several plans. The payment method is saved for later charges.
/// The subscriptions become active when the payment succeeds. While the payment is open, the same request returns the
/// same payment.
#[utoipa::path(
    tag = "Client: subscriptions",
    request_body = NewCheckout,
    responses(
        (status = 200, description = "The existing unfinished payment.", body = CheckoutRecord),
        (status = 201, description = "Payment created.", body = CheckoutRecord),
        (
            status = 202,
            description = "The payment outcome is not known yet. Repeat the request to get the payment link.",
            body = CheckoutRecord,
        ),
        (status = 409, description = "A first payment for other plans is unfinished."),
        (status = 422, description = "Validation failed, a plan is not available, or the payment was declined."),
        (status = 429, description = "Too many payments. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/subscriptions/checkout")]
async fn check_out_subscriptions(
    request: HttpRequest,
    customer: SignedInCustomer,
    address: ClientIp,
    throttle: Data<Throttle>,
    service: Service<SubscriptionService>,
    body: Body<NewCheckout>,
) -> Result<(Json<CheckoutRecord>, StatusCode), ApiError> {
    throttle.hit(&request, &[(SUBSCRIPTION_PAYMENTS, &customer.counterparty_id.to_string())]).await?;
    let agreement = agreement(&body.0.autopay_consent.0, address);
    let (purchase, fields) = body.0.purchase()?;
    let begun = service.check_out(*customer, &purchase, &agreement).await;
    let checkout = begun.map_err(|error| fields.into_response(error))?;
    let status = match checkout.result {
        CheckoutResult::New => StatusCode::CREATED,
        CheckoutResult::Present => StatusCode::OK,
        CheckoutResult::OutcomeUnknown => StatusCode::ACCEPTED,
    };
    Ok((Json(checkout.try_into()?), status))
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
