//! Verification of a customer's identity by a small bank payment, which is refunded.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};
use chrono::{DateTime, Utc};
use kontor_payments::model::ChargeState;
use kontor_payments::verification::{StartedVerification, Verification, VerificationService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::one;
use kontor_web::limits::VERIFICATION_CUSTOMER;
use kontor_web::records::Message;
use kontor_web::{ApiError, BearerCustomer, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
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
