//! Outermost middleware: request id, span, log line, metrics, and a limit on the size of headers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, ResponseError, web};
use kontor_kernel::Clock;
use kontor_traces::Sampling;
use tracing::{Instrument, Span};
use uuid::Uuid;

use kontor_web::body_buffer::{HeldBody, holding};
use kontor_web::error::quota_headers;
use kontor_web::idempotency::has_key;
use kontor_web::limits::TightestQuota;
use kontor_web::policy::{Endpoint, declare_caching};
use kontor_web::request_id::{RequestId, RequestIds};
use kontor_web::traffic::{count_unrouted, method_label};
use kontor_web::{ApiError, RefusalLog, TrustedProxies};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Forbids browsers to guess a content type.
const NO_GUESSING: HeaderValue = HeaderValue::from_static("nosniff");
const RATE_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
/// Log target of these lines.
const TARGET: &str = "kontor::request";
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Requests slower than this are logged even on success.
const SLOW: Duration = Duration::from_secs(1);

/// Returns the time at which a blocked caller may retry, in Unix seconds.
fn reset_of(response: &ServiceResponse<impl MessageBody>) -> Option<i64> {
    let seconds: i64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    let clock = response.request().app_data::<web::Data<Arc<dyn Clock>>>()?;
    (response.status() == StatusCode::TOO_MANY_REQUESTS).then(|| clock.now().timestamp() + seconds)
}

fn endpoint_of(response: &ServiceResponse<impl MessageBody>) -> Option<Arc<Endpoint>> {
    response.request().extensions().get().cloned()
}

/// Returns the template of a route without a policy. It is never the path: a path may contain identifiers, and a query
/// string arbitrary data.
fn other_route(response: &ServiceResponse<impl MessageBody>) -> String {
    response.request().match_pattern().unwrap_or_else(|| "unmatched".to_owned())
}

/// Adds the request id to the body of a structured refusal, and logs some of them.
fn with_request_id<B: MessageBody + 'static>(response: ServiceResponse<B>, id: &str) -> ServiceResponse<EitherBody<B>> {
    let Some(ApiError::Named(named)) = response.response().error().and_then(|error| error.as_error::<ApiError>())
    else {
        return response.map_into_left_body();
    };
    // Calls without an application belong to no flow. Counting them would displace the refusals of flows.
    if named.fixed_message.is_none()
        && let Some(failures) = response.request().app_data::<web::Data<RefusalLog>>()
    {
        match endpoint_of(&response) {
            Some(endpoint) => failures.record(endpoint.policy.path, named, id),
            None => failures.record(&other_route(&response), named, id),
        }
    }
    let body = named.body(Some(id)).to_string();
    response.map_body(|_, _| EitherBody::Right { body: BoxBody::new(body) })
}

/// Opens the span of a request. Two headers are no context. Only proxies that are trusted decide about its export.
fn span_of(request: &ServiceRequest, id: &Uuid, method: &'static str) -> Span {
    let mut sent = request.headers().get_all(TRACEPARENT);
    let header = sent.next().filter(|_| sent.next().is_none()).and_then(|value| value.to_str().ok());
    let sampling = request.app_data::<Sampling>().copied().unwrap_or_default();
    let is_trusted = header.is_some() && TrustedProxies::have_sent(request.request());
    sampling.request(header, is_trusted, id.as_u128(), method)
}

/// Outermost middleware.
pub async fn observe(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let started = Instant::now();
    let id = request.app_data::<RequestIds>().map(RequestIds::next).unwrap_or_default();
    let mut spelled = Uuid::encode_buffer();
    let method = method_label(request.method());
    let span = span_of(&request, &id, method);
    let id: &str = id.hyphenated().encode_lower(&mut spelled);
    // Handled as `GET`; the connection omits the body. Handlers of file contents answer `HEAD` themselves without
    // opening a file.
    if request.method() == Method::HEAD && !request.path().starts_with("/files/") {
        request.head_mut().method = Method::GET;
    }
    let kept = HeldBody::of(&mut request);

    let header_bytes: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let mut response = if header_bytes > MAX_HEADER_BYTES {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let refusal = ApiError::Message(status, "The headers are too large.".to_owned());
        request.into_response(refusal.error_response()).map_into_right_body()
    } else {
        if has_key(request.headers()) {
            request.extensions_mut().insert(RequestId(id.to_owned()));
        }
        // Errors of handlers and extractors are responses here. The request must not be held while it is routed.
        with_request_id(next.call(request).instrument(span.clone()).await?, id)
    };

    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, NO_GUESSING);
    if let Some(reset) = reset_of(&response) {
        response.headers_mut().insert(RATE_RESET, HeaderValue::from(reset));
    }
    let quota = response.request().extensions().get::<TightestQuota>().copied();
    // A provider's 429 does not describe our counters.
    if let Some(TightestQuota(quota)) = quota
        && (!quota.allowed || response.status() != StatusCode::TOO_MANY_REQUESTS)
    {
        for (name, value) in quota_headers(&quota) {
            response.headers_mut().insert(name, value);
        }
    }

    let endpoint = endpoint_of(&response);
    declare_caching(&mut response, endpoint.as_deref().map(|endpoint| endpoint.policy));

    let (status, elapsed) = (response.status(), started.elapsed());
    let finish = |route: &str| {
        Sampling::finish(&span, route, status.as_u16());
        span.in_scope(|| log(method, route, status, elapsed, id));
    };
    if let Some(endpoint) = endpoint {
        endpoint.traffic.count(status.as_u16(), elapsed);
        finish(endpoint.policy.path);
    } else {
        let route = other_route(&response);
        count_unrouted(method, &route, status.as_u16(), elapsed);
        finish(&route);
    }
    Ok(holding(response, kept))
}

/// Writes one line per request. Fast, successful requests are logged only at the debug level, because writing a line
/// costs more than many responses.
fn log(method: &'static str, route: &str, status: StatusCode, elapsed: Duration, request_id: &str) {
    let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let code = status.as_u16();
    if status.is_server_error() {
        tracing::warn!(target: TARGET, method, route, status = code, micros, request_id, "request");
    } else if status.is_client_error() || elapsed >= SLOW {
        tracing::info!(target: TARGET, method, route, status = code, micros, request_id, "request");
    } else {
        tracing::debug!(target: TARGET, method, route, status = code, micros, request_id, "request");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::Version;
    use actix_web::middleware::from_fn;
    use actix_web::test::{TestRequest, call_service, init_service};
    use actix_web::{App, HttpResponse};
    use metrics_exporter_prometheus::PrometheusBuilder;

    #[actix_web::test]
    async fn no_flood_of_odd_requests_makes_more_series() {
        let recorder = PrometheusBuilder::new().set_buckets(&[0.1, 1.0]).unwrap().build_recorder();
        let _counted_here = metrics::set_default_local_recorder(&recorder);
        let app = App::new()
            .route("/api/x/{id}", web::get().to(HttpResponse::Ok))
            .route("/api/y", web::post().to(HttpResponse::Ok))
            .default_service(web::to(HttpResponse::NotFound))
            .wrap(from_fn(observe));
        let app = init_service(app).await;
        let versions = [Version::HTTP_09, Version::HTTP_10, Version::HTTP_11, Version::HTTP_2, Version::HTTP_3];
        for (number, version) in (0..100_000_u32).zip(versions.into_iter().cycle()) {
            let method = match number % 4 {
                0 => Method::GET,
                1 => Method::TRACE,
                _ => Method::from_bytes(format!("BREW-{number}").as_bytes()).unwrap(),
            };
            let path = match number % 3 {
                0 => format!("/{number}"),
                1 => format!("/api/x/{number}?q={number}"),
                _ => "/api/y".to_owned(),
            };
            let request = TestRequest::with_uri(&path).method(method).version(version);
            call_service(&app, request.to_request()).await;
            if number % 1_000 == 0 {
                recorder.handle().run_upkeep();
            }
        }
        let text = recorder.handle().render();
        let series = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
        // Three routes (one of them is for all that are not declared), `GET` and `other`, `200`, `404` and `4xx`.
        assert!(series("kontor_http_requests_total{") <= 3 * 2 * 3, "{text}");
        assert!(series("kontor_http_request_seconds_count{") <= 3 * 2, "{text}");
        let counted = text.lines().filter(|line| line.starts_with("kontor_http_requests_total{"));
        let counted = counted.filter_map(|line| line.rsplit(' ').next()?.parse::<u32>().ok());
        assert_eq!(counted.sum::<u32>(), 100_000, "each is counted");
        assert!(!text.contains("BREW") && !text.contains("TRACE"), "{text}");
    }
}
