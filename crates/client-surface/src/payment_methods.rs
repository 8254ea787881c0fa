//! Saved payment methods of customers, and the payment that saves one.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse, delete, get, post};
use chrono::{DateTime, Utc};
use kontor_kernel::Word as _;
use kontor_payments::SavedMethodService;
use kontor_payments::model::{ChargeState, SavedMethod};
use kontor_payments::verification::{StartedVerification, Verification, VerificationService};
use kontor_subscriptions::SubscriptionService;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::VERIFICATION_CUSTOMER;
use kontor_web::records::Message;
use kontor_web::{ApiError, BearerCustomer, PathId, Service, SignedInCustomer, Throttle};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_payment_methods).service(delete_payment_method);
}

#[derive(Serialize, ToSchema)]
struct PaymentMethodRecord {
    id: i64,
    payment_method_type: &'static str,
    /// Payment system of the card.
    card_type: Option<String>,
    /// Last four digits of the card.
    card_last_4: Option<String>,
    /// Display name from the acquirer.
    title: Option<String>,
    is_active: bool,
    created_at: DateTime<Utc>,
}

impl From<SavedMethod> for PaymentMethodRecord {
    fn from(saved: SavedMethod) -> Self {
        Self {
            id: saved.id.get(),
            payment_method_type: saved.method.word(),
            card_type: saved.card_type,
            card_last_4: saved.card_last_4,
            title: saved.title,
            is_active: saved.is_active,
            created_at: saved.created_at,
        }
    }
}

list!(PaymentMethodList { data: [PaymentMethodRecord] });

/// List saved payment methods
///
/// Returns methods that the customer saved in this application and that can be charged, newest first.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = PaymentMethodList)))]
#[get("/api/counterparty/payment-methods")]
async fn list_payment_methods(
    customer: SignedInCustomer,
    service: Service<SavedMethodService>,
) -> Answer<PaymentMethodList> {
    answer(service.list(*customer).await?)
}

/// Delete a saved payment method
///
/// The method is not charged any more, even if subscriptions use it. Paid subscriptions stay active until the end of
/// their period. To continue after that, they need another method.
#[utoipa::path(tag = "Client: subscriptions", responses((status = 200, body = Message)))]
#[delete("/api/counterparty/payment-methods/{id}")]
async fn delete_payment_method(
    customer: SignedInCustomer,
    service: Service<SubscriptionService>,
    id: Path<PathId>,
) -> Answer<Message> {
    service.delete_method(*customer, id.parse()?).await?;
    answer(Message::new("The payment method was deleted."))
}

pub(super) fn verification_routes(config: &mut ServiceConfig<'_>) {
    config.service(verify_by_payment);
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum VerificationStatus {
    /// The payment is open.
    Pending,
    /// The customer paid and is verified.
    Succeeded,
    /// The payment failed.
    Canceled,
    /// The time to pay is over.
    Expired,
}

#[derive(Serialize, ToSchema)]
struct VerificationRecord {
    id: i64,
    status: VerificationStatus,
    /// Payment page. `null` unless the payment is open.
    payment_link: Option<String>,
    /// End of the time to pay.
    expires_at: DateTime<Utc>,
}

impl From<Verification> for VerificationRecord {
    fn from(verification: Verification) -> Self {
        let status = match verification.charge.state {
            ChargeState::Prepared | ChargeState::Pending => VerificationStatus::Pending,
            ChargeState::Succeeded => VerificationStatus::Succeeded,
            ChargeState::Canceled | ChargeState::Refused => VerificationStatus::Canceled,
            ChargeState::Expired => VerificationStatus::Expired,
        };
        let payment_link = verification.charge.confirmation_url.filter(|_| verification.charge.state.is_open());
        let expires_at = verification.expires_at;
        Self { id: verification.id.get(), status, payment_link, expires_at }
    }
}

one!(VerificationResponse { verification: VerificationRecord });

/// Verify the customer by a small payment
///
/// Requests a payment through the fast payment system; it is refunded afterwards. While a verification is open, and for
/// a day after it succeeds, the same verification is returned.
#[utoipa::path(
    tag = "Client: profile",
    responses(
        (status = 200, description = "The existing verification.", body = VerificationResponse),
        (status = 201, description = "Verification created.", body = VerificationResponse),
        (
            status = 202,
            description = "Verification created. The payment link is not available yet.",
            body = VerificationResponse,
        ),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
        (status = 502, description = "The acquirer declined the payment.", body = Message),
    ),
)]
#[post("/api/counterparty/verifications/sbp-payment")]
async fn verify_by_payment(
    request: HttpRequest,
    customer: BearerCustomer,
    throttle: Data<Throttle>,
    service: Service<VerificationService>,
) -> Result<HttpResponse, ApiError> {
    throttle.hit(&request, &[(VERIFICATION_CUSTOMER, &customer.counterparty_id.to_string())]).await?;
    let (status, verification) = match service.start(*customer).await? {
        StartedVerification::PaymentRequested(verification) => (StatusCode::CREATED, verification),
        StartedVerification::OutcomeUnknown(verification) => (StatusCode::ACCEPTED, verification),
        StartedVerification::Existing(verification) => (StatusCode::OK, verification),
    };
    Ok(HttpResponse::build(status).json(VerificationResponse::from(verification)))
}
