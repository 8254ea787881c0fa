//! Subscription checkout: the customer pays the first period on the acquirer's page.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, post};
use kontor_kernel::Word as _;
use kontor_subscriptions::{Checkout, CheckoutResult, SubscriptionService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::bodies::{NewCheckout, agreement};
use kontor_web::limits::SUBSCRIPTION_PAYMENTS;
use kontor_web::{ApiError, Body, ClientIp, Service, SignedInCustomer, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(check_out_subscriptions);
}

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
