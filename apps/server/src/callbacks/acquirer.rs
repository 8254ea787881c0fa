//! Notifications of the acquirer. Their content is not trusted: the payment or refund is read again, and only that
//! result counts.

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data, Json};
use actix_web::{HttpRequest, post};
use ipnet::IpNet;
use kontor_kernel::RateRule;
use kontor_payments::model::{GatewayStatus, ProviderId};
use kontor_payments::{ChargeService, NotificationResult, RefundNotificationResult, RefundService};
use serde::Deserialize;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::limits::{ACQUIRER_NOTIFICATIONS, UNKNOWN_SENDER, UNKNOWN_SENDERS};
use kontor_web::records::Message;
use kontor_web::{ApiError, ClientIp, Service, Throttle};

/// Addresses from which the acquirer sends notifications.
#[derive(Debug, Clone)]
pub struct AcquirerAddresses(pub Vec<IpNet>);

impl AcquirerAddresses {
    /// Returns the rules that count a notification from this address. They apply before the payment is read: forged
    /// notifications must not use up our rate limit at the acquirer.
    fn rules(&self, ip: ClientIp) -> Vec<(RateRule, String)> {
        if self.0.iter().any(|range| range.contains(&ip.0.to_canonical())) {
            return vec![(ACQUIRER_NOTIFICATIONS, ip.subject())];
        }
        vec![(UNKNOWN_SENDER, ip.subject()), (UNKNOWN_SENDERS, "all".to_owned())]
    }
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(receive_acquirer_notification);
}

/// Raw body. The acquirer's content type varies.
type RawBody = Bytes;

const MAX_BODY_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Notification {
    event: String,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    id: String,
}

/// Send a notification of the acquirer
///
/// `200`: handled, or not about a known payment. `503`: the payment or refund could not be read; the acquirer must send
/// the notification again.
#[utoipa::path(
    tag = "Callbacks",
    request_body(content = Value, content_type = "application/json"),
    responses(
        (status = 200, body = Message),
        (status = 429, description = "Too many notifications. Retry after `Retry-After` seconds."),
        (
            status = 503,
            description = "The payment or refund could not be read from the acquirer. Send the notification again.",
        ),
    ),
)]
#[post("/callbacks/acquirer")]
async fn receive_acquirer_notification(
    request: HttpRequest,
    ip: ClientIp,
    addresses: Data<AcquirerAddresses>,
    throttle: Data<Throttle>,
    service: Service<ChargeService>,
    refunds: Service<RefundService>,
    body: RawBody,
) -> Result<Json<Message>, ApiError> {
    throttle.hit(&request, &addresses.rules(ip)).await?;
    if body.len() > MAX_BODY_BYTES {
        return Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.".to_owned()));
    }
    let notification: Notification = serde_json::from_slice(&body)
        .map_err(|error| ApiError::bad_request(format!("The body is not a notification: {error}")))?;
    let done = Json(Message::new("OK"));
    let Ok(id) = ProviderId::parse(&notification.object.id) else { return Ok(done) };
    if notification.event.starts_with("refund.") {
        return refund_notified(&refunds, &id).await.map(|()| done);
    }
    if !notification.event.starts_with("payment.") {
        return Ok(done);
    }
    match service.handle_notification(&id, reported(&notification.event)).await? {
        NotificationResult::Unreadable { why } => return Err(retry_later(&id, &why)),
        NotificationResult::Suspicious { purpose, why } => {
            tracing::error!(%purpose, payment = %id, %why, "a payment needs review; see `kontor payment --help`");
        }
        NotificationResult::Settled(purpose) => tracing::info!(%purpose, payment = %id, "a payment is settled"),
        NotificationResult::StillOpen(_) | NotificationResult::AlreadySettled(_) | NotificationResult::Ignored => {}
    }
    Ok(done)
}

async fn refund_notified(refunds: &RefundService, id: &ProviderId) -> Result<(), ApiError> {
    match refunds.handle_notification(id).await? {
        RefundNotificationResult::Unreadable { why } => {
            tracing::warn!(
                refund = %id, %why,
                "a refund could not be read; the acquirer must send the notification again"
            );
            return Err(ApiError::Message(
                StatusCode::SERVICE_UNAVAILABLE,
                "The refund could not be read from the acquirer. Send the notification again.".to_owned(),
            ));
        }
        RefundNotificationResult::Suspicious { purpose, why } => {
            tracing::error!(%purpose, refund = %id, %why, "a payment needs review; see `kontor payment --help`");
        }
        RefundNotificationResult::Recorded(purpose) => tracing::info!(%purpose, refund = %id, "a refund is recorded"),
        RefundNotificationResult::Ignored => {}
    }
    Ok(())
}

/// Returns the payment status that the name of an event claims.
fn reported(event: &str) -> Option<GatewayStatus> {
    match event {
        "payment.succeeded" => Some(GatewayStatus::Succeeded),
        "payment.canceled" => Some(GatewayStatus::Canceled),
        _ => None,
    }
}

fn retry_later(payment: &ProviderId, why: &str) -> ApiError {
    tracing::warn!(%payment, %why, "a payment could not be read; the acquirer must send the notification again");
    ApiError::Message(
        StatusCode::SERVICE_UNAVAILABLE,
        "The payment could not be read from the acquirer. Send the notification again.".to_owned(),
    )
}
