//! Messages of the telephony provider about expected calls. They are signed with the account's key.

use actix_multipart::Multipart;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, post};
use futures_util::{StreamExt, stream};
use kontor_auth::{CallNotificationError, CallbackLogin};
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::limits::TELEPHONY_NOTIFICATIONS;
use kontor_web::{ApiError, ClientIp, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(receive_telephony_message);
}

const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_ENTRIES: usize = 100;

/// Response that the provider expects. After any other it repeats the message.
const ACCEPTED_RESPONSE: &str = "100";

type RawBody = Bytes;

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
