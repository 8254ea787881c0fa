//! Callbacks of outside services.
//!
//! - Notifications of the acquirer. Their content is not trusted: the payment or refund is read again, and only that
//!   result counts.
//! - Messages of the telephony provider about expected calls. They are signed with the account's key.

use actix_multipart::Multipart;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, Data, Json};
use actix_web::{HttpRequest, HttpResponse, post};
use futures_util::{StreamExt, stream};
use ipnet::IpNet;
use kontor_auth::{CallNotificationError, CallbackLogin};
use kontor_kernel::RateRule;
use kontor_payments::model::{GatewayStatus, ProviderId};
use kontor_payments::{ChargeService, NotificationResult, RefundNotificationResult, RefundService};
use kontor_web::limits::{ACQUIRER_NOTIFICATIONS, TELEPHONY_NOTIFICATIONS, UNKNOWN_SENDER, UNKNOWN_SENDERS};
use kontor_web::policy::{Access, Policy, post as post_policy};
use kontor_web::records::Message;
use kontor_web::{ApiError, ClientIp, Service, Throttle};
use serde::Deserialize;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the callbacks.
pub fn routes(config: &mut ServiceConfig<'_>) {
    config.service(receive_acquirer_notification).service(receive_telephony_message);
}

/// Policies of the callbacks. Their handlers verify the request by a signature or by a request to the provider.
pub const POLICIES: &[Policy] =
    &[post_policy("/callbacks/acquirer", Access::Public), post_policy("/callbacks/telephony", Access::Public)];

/// Raw body. The content types of the senders vary.
type RawBody = Bytes;

const MAX_BODY_BYTES: usize = 64 * 1024;

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

const MAX_ENTRIES: usize = 100;

/// Response that the provider expects. After any other it repeats the message.
const ACCEPTED_RESPONSE: &str = "100";

/// Message with its entries in the order of arrival, which is the order of the signature.
#[derive(Debug, Default, PartialEq, Eq)]
struct Notice {
    entries: Vec<String>,
    hash: String,
}

impl Notice {
    fn add(&mut self, name: &str, value: String) {
        let entry = name.strip_prefix("data[").and_then(|rest| rest.strip_suffix(']'));
        if entry.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit())) {
            self.entries.push(value);
        } else if name == "hash" {
            self.hash = value;
        }
    }
}

fn unreadable() -> ApiError {
    ApiError::bad_request("The body is not a message about calls.")
}

async fn read(headers: &HeaderMap, body: Bytes) -> Result<Notice, ApiError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut notice = Notice::default();
    if !kind.to_ascii_lowercase().starts_with("multipart/form-data") {
        for (name, value) in form_urlencoded::parse(&body) {
            notice.add(&name, value.into_owned());
        }
        return Ok(notice);
    }
    let mut parts = Multipart::new(headers, stream::once(async { Ok::<_, PayloadError>(body) }));
    while let Some(part) = parts.next().await {
        let mut part = part.map_err(|_| unreadable())?;
        let name = part.name().unwrap_or_default().to_owned();
        let mut value = Vec::new();
        while let Some(chunk) = part.next().await {
            value.extend_from_slice(&chunk.map_err(|_| unreadable())?);
        }
        notice.add(&name, String::from_utf8(value).map_err(|_| unreadable())?);
    }
    Ok(notice)
}

/// Send a message of the telephony provider
///
/// Returns `100` for every message with a valid signature of the provider.
#[utoipa::path(
    tag = "Callbacks",
    request_body(content = String, content_type = "multipart/form-data"),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 403, description = "The signature is invalid."),
        (status = 429, description = "Too many messages. Retry after `Retry-After` seconds."),
        (status = 503, description = "The message could not be stored. Send it again."),
    ),
)]
#[post("/callbacks/telephony")]
async fn receive_telephony_message(
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    login: Service<CallbackLogin>,
    body: RawBody,
) -> Result<HttpResponse, ApiError> {
    throttle.hit(&request, &[(TELEPHONY_NOTIFICATIONS, &ip.subject())]).await?;
    let too_large = || ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.".to_owned());
    if body.len() > MAX_BODY_BYTES {
        return Err(too_large());
    }
    let notice = read(request.headers(), body).await?;
    if notice.entries.len() > MAX_ENTRIES {
        return Err(too_large());
    }
    login.notified(&notice.entries, &notice.hash).await.map_err(|error| match error {
        CallNotificationError::Forged => {
            ApiError::Message(StatusCode::FORBIDDEN, "The signature is invalid.".to_owned())
        }
        CallNotificationError::Store(error) => error.into(),
    })?;
    Ok(HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(ACCEPTED_RESPONSE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn headers(kind: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers
    }

    #[actix_web::test]
    async fn both_kinds_of_forms_are_read_in_their_order() {
        let expected = Notice { entries: vec!["a\n1".to_owned(), "b".to_owned()], hash: "h".to_owned() };
        let form = Bytes::from_static(b"data%5B0%5D=a%0A1&data[1]=b&data[x]=c&data=d&hash=h");
        assert_eq!(read(&headers("application/x-www-form-urlencoded"), form).await.unwrap(), expected);
        let parts = "--X\r\nContent-Disposition: form-data; name=\"data[0]\"\r\n\r\na\n1\r\n\
            --X\r\nContent-Disposition: form-data; name=\"data[1]\"\r\n\r\nb\r\n\
            --X\r\nContent-Disposition: form-data; name=\"hash\"\r\n\r\nh\r\n--X--\r\n";
        assert_eq!(read(&headers("multipart/form-data; boundary=X"), parts.into()).await.unwrap(), expected);
        assert!(read(&headers("multipart/form-data"), parts.into()).await.is_err());
        assert!(read(&headers("multipart/form-data; boundary=X"), Bytes::from_static(b"--X\r\nno")).await.is_err());
        assert_eq!(read(&HeaderMap::new(), Bytes::new()).await.unwrap(), Notice::default());
    }
}
