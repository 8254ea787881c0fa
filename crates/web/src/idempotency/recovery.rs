//! Recovery of a lost response: the result is read from the record.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::IF_NONE_MATCH;
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse};
use kontor_adapter_diesel::StoredKey;

use crate::policy::{Endpoint, Policy, ResultSource};
use crate::records::Message;
use crate::scopes::admit;
use crate::{ApiError, NamedError, NextAction};

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with('{')
}

/// Returns the last segment of a path that is no placeholder: the resource name.
fn kind(path: &str) -> Option<&str> {
    path.rsplit('/').find(|segment| !is_placeholder(segment))
}

/// Returns `true` if the `GET` endpoint may show the result of the write. The API description decides if the form is
/// the same.
pub fn can_show_result(write: &Policy, read: &Policy) -> bool {
    let is_item_of = |collection: &str, item: &str| {
        item.strip_prefix(collection)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|rest| is_placeholder(rest) && !rest.contains('/'))
    };
    if read.method != Method::GET {
        return false;
    }
    if let Some(result_from) = write.result_from {
        return read.path == result_from;
    }
    match write.method {
        Method::PUT | Method::PATCH => read.path == write.path,
        // Creates a record in a list, or acts on a record.
        Method::POST => {
            let acted_on = write.path.rsplit_once('/').map(|(record, _)| record);
            is_item_of(write.path, read.path)
                || acted_on.is_some_and(|record| read.path == record && record.ends_with('}'))
        }
        _ => false,
    }
}

/// Returns the path to read. Segments that both templates share come from the sent path; further placeholders take the
/// id of `record`.
fn path(template: &str, write: &str, sent: &str, record: Option<&(String, i64)>) -> Option<String> {
    let (mut written, mut sent) = (write.split('/'), sent.split('/'));
    let mut is_same = true;
    let segments = template.split('/').map(|segment| {
        let (as_written, as_sent) = (written.next(), sent.next());
        is_same = is_same && as_written == Some(segment);
        match (is_same, as_sent) {
            (true, Some(sent)) => Some(sent.to_owned()),
            _ if is_placeholder(segment) => {
                let (resource, id) = record?;
                (Some(resource.as_str()) == kind(template)).then(|| id.to_string())
            }
            _ => Some(segment.to_owned()),
        }
    });
    segments.collect::<Option<Vec<_>>>().map(|segments| segments.join("/"))
}

fn lost(kept: &StoredKey) -> ApiError {
    let about = kept.record.as_ref().map(|(resource, id)| format!(" The record is {resource}/{id}."));
    let text = format!("The request succeeded, but its response is lost.{}", about.unwrap_or_default());
    NamedError::new(StatusCode::CONFLICT, "idempotency_result_lost", NextAction::ContactSupport, text).into()
}

/// Answers a request that was already executed with its result.
pub(super) async fn recover<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: &Next<B>,
    endpoint: &Arc<Endpoint>,
    kept: &StoredKey,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let (by, status) = match endpoint.result_source.clone() {
        None => return Ok(request.error_response(lost(kept))),
        Some(ResultSource::Deleted) => {
            return Ok(request.into_response(HttpResponse::Ok().json(Message::new("The record was deleted."))));
        }
        Some(ResultSource::Rerun) => return Ok(next.call(request).await?.map_into_boxed_body()),
        Some(ResultSource::Record { by, status }) => (by, status),
    };
    let path = path(by.policy.path, endpoint.policy.path, request.path(), kept.record.as_ref());
    let path = path.and_then(|path| PathAndQuery::try_from(path).ok());
    let Some(path) = path else { return Ok(request.error_response(lost(kept))) };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(path);
    let uri = Uri::from_parts(parts).map_err(|error| ApiError::internal(&error))?;
    // The request may already have been routed.
    request.match_info_mut().reset();
    request.match_info_mut().get_mut().update(&uri);
    request.head_mut().uri = uri;
    request.head_mut().method = Method::GET;
    request.headers_mut().remove(IF_NONE_MATCH);
    let Ok(admitted) = admit(request.request(), by.policy.access).await else {
        return Ok(request.error_response(lost(kept)));
    };
    request.extensions_mut().insert(Arc::clone(&by));
    request.extensions_mut().insert(admitted);
    let response = next.call(request).await?;
    response.request().extensions_mut().insert(Arc::clone(endpoint));
    if response.status() != StatusCode::OK {
        return Ok(ServiceResponse::new(response.request().clone(), HttpResponse::from_error(lost(kept))));
    }
    let mut response = response.map_into_boxed_body();
    *response.response_mut().status_mut() = status;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Access, get, post, put};

    #[test]
    fn written_text_is_read_in_place() {
        let seven = |kind: &str| (kind.to_owned(), 7);
        let brands = seven("brands");
        let (one, all) = ("/api/brands/{id}", "/api/brands");
        assert_eq!(path(one, all, all, Some(&brands)).unwrap(), "/api/brands/7");
        assert_eq!(path(one, one, "/api/brands/3", None).unwrap(), "/api/brands/3");
        assert_eq!(path(one, all, all, Some(&seven("tags"))), None);
        assert_eq!(path(one, all, all, None), None);
        let (one, all) = ("/api/applications/{a}/webhooks/{w}", "/api/applications/{a}/webhooks");
        let sent = "/api/applications/5/webhooks";
        assert_eq!(path(one, all, sent, Some(&seven("webhooks"))).unwrap(), "/api/applications/5/webhooks/7");
        let import = "/api/nomenclatures/import";
        assert_eq!(path("/api/jobs/{id}", import, import, Some(&seven("jobs"))).unwrap(), "/api/jobs/7");
    }

    #[test]
    fn only_reads_of_the_record_show_the_result() {
        let tells = |write: &Policy, path| can_show_result(write, &get(path, Access::Public));
        let new = post("/api/brands", Access::Public);
        assert!(tells(&new, "/api/brands/{id}"));
        assert!(!tells(&new, "/api/brands") && !tells(&new, "/api/brands/{id}/history"));
        let changed = put("/api/brands/{id}", Access::Public);
        assert!(tells(&changed, "/api/brands/{id}") && !tells(&changed, "/api/brands"));
        let paused = post("/api/discounts/{id}/pause", Access::Public);
        assert!(tells(&paused, "/api/discounts/{id}") && !tells(&paused, "/api/discounts"));
    }
}
