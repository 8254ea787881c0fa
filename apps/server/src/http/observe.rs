//! What every request gets: an identifier, a log line, metrics, and bounded headers.

use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, ResponseError, web};
use kontor_kernel::{Clock, Random};

use super::ApiError;
use super::error::quota_headers;
use super::policy::Policy;
use super::throttle::TightestQuota;

/// The identifier of a request, made by the server; one sent by the client is ignored.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const MOST_HEADER_BYTES: usize = 16 * 1024;

/// When a blocked caller is let in again, in Unix seconds.
fn reset_of(response: &ServiceResponse<impl MessageBody>) -> Option<i64> {
    let seconds: i64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    let clock = response.request().app_data::<web::Data<Arc<dyn Clock>>>()?;
    (response.status() == StatusCode::TOO_MANY_REQUESTS).then(|| clock.now().timestamp() + seconds)
}

/// Structured refusals name the request in their body, too.
fn with_request_id<B: MessageBody + 'static>(response: ServiceResponse<B>, id: &str) -> ServiceResponse<EitherBody<B>> {
    let named = match response.response().error().and_then(|error| error.as_error::<ApiError>()) {
        Some(ApiError::Named(named)) => named.body(Some(id)).to_string(),
        _ => return response.map_into_left_body(),
    };
    response.map_body(|_, _| EitherBody::Right { body: BoxBody::new(named) })
}

/// The outermost middleware.
pub async fn observe(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let started = Instant::now();
    let id = request
        .app_data::<web::Data<Arc<dyn Random>>>()
        .map(|random| random.get_ref().uuid().to_string())
        .unwrap_or_default();
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = request.method().clone();

    let header_bytes: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let mut response = if header_bytes > MOST_HEADER_BYTES {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let refusal = ApiError::Message(status, "The headers are too large.".to_owned());
        request.into_response(refusal.error_response()).map_into_right_body()
    } else {
        // Errors of handlers and extractors are responses by now; the request must not be held while it is routed.
        with_request_id(next.call(request).await?, &id)
    };

    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if let Some(reset) = reset_of(&response) {
        response.headers_mut().insert(RATE_RESET, HeaderValue::from(reset));
    }
    let quota = response.request().extensions().get::<TightestQuota>().copied();
    // A 429 that is not ours (a provider's) says nothing about our counters.
    if let Some(TightestQuota(quota)) = quota
        && (!quota.allowed || response.status() != StatusCode::TOO_MANY_REQUESTS)
    {
        for (name, value) in quota_headers(&quota) {
            response.headers_mut().insert(name, value);
        }
    }

    // The template, never the path: a path may carry identifiers, and a query string anything at all.
    let policy = response.request().extensions().get::<&'static Policy>().copied();
    let route = match policy {
        Some(policy) => policy.path.to_owned(),
        None => response.request().match_pattern().unwrap_or_else(|| "unmatched".to_owned()),
    };
    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    let labels = [("method", method.to_string()), ("route", route.clone()), ("status", status.to_string())];
    metrics::counter!("kontor_http_requests_total", &labels).increment(1);
    metrics::histogram!("kontor_http_request_seconds", "method" => method.to_string(), "route" => route.clone())
        .record(elapsed.as_secs_f64());
    let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    if status >= 500 {
        tracing::warn!(%method, %route, status, micros, request_id = %id, "request");
    } else {
        tracing::info!(%method, %route, status, micros, request_id = %id, "request");
    }
    Ok(response)
}
