//! Optimistic concurrency: `ETag`, `If-Match` and `If-None-Match` prevent lost updates.
//!
//! **Position.** The middleware runs after authentication, rate limits and the idempotency lookup, before the handler
//! and so before validation. The policy of an endpoint names its versioned record.
//!
//! **Checks.** The version is compared twice: before the handler, for a quick response, and in the transaction of the
//! handler's write, where the record is locked ([`kontor_adapter_diesel::VersionedRequest`]).

mod tag;

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use kontor_adapter_diesel::{Database, LastChange, RequestContext, VersionedRecord, VersionedRequest, VersionedRow};
use kontor_kernel::ProjectId;
use kontor_kernel::history::Author;
use serde_json::{Value, json};

use self::tag::{Tags, of_body, of_version, version};
use super::policy::{Endpoint, Policy};
use super::scopes::Admitted;
use super::{ApiError, NamedError, NextAction};

/// Returns `true` if an endpoint creates a versioned record: its path lacks the id of the record.
pub fn creates_versioned(policy: &Policy) -> bool {
    let numbers = policy.path.matches('{').count();
    policy.method == Method::POST && policy.versioned.is_some_and(|record| record.numbers() == numbers + 1)
}

/// Returns `true` if an endpoint writes to an existing versioned record.
pub fn accepts_if_match(policy: &Policy) -> bool {
    policy.versioned.is_some() && policy.method != Method::GET && !creates_versioned(policy)
}

/// Returns `true` if a project may require `If-Match`. Actions on a record by `POST` do not need it.
pub fn may_require_if_match(policy: &Policy) -> bool {
    accepts_if_match(policy) && policy.method != Method::POST
}

/// Returns `true` if an endpoint shows a versioned record.
pub fn accepts_if_none_match(policy: &Policy) -> bool {
    policy.versioned.is_some() && policy.method == Method::GET
}

/// Record of a request.
struct Target {
    database: web::Data<Database>,
    record: VersionedRecord,
    project: ProjectId,
    numbers: Vec<i64>,
    /// Kind and ids, as in entity tags.
    name: String,
    /// `true` if the caller is a customer. Customers do not see the identity of employees.
    by_customer: bool,
}

/// Returns the numbers at the placeholders of a path, or `None` if a segment is no number.
fn numbers(template: &str, path: &str) -> Option<Vec<i64>> {
    let placeholders = template.split('/').zip(path.split('/')).filter(|(segment, _)| segment.starts_with('{'));
    placeholders.map(|(_, sent)| sent.parse().ok().filter(|_| sent.bytes().all(|byte| byte.is_ascii_digit()))).collect()
}

impl Target {
    /// Returns the record of the request, if its policy names one and its path has the numbers.
    fn of(request: &ServiceRequest, policy: &Policy) -> Option<Self> {
        Self::for_caller(request, policy, request.extensions().get::<Admitted>()?)
    }

    fn for_caller(request: &ServiceRequest, policy: &Policy, admitted: &Admitted) -> Option<Self> {
        let record = policy.versioned?;
        let (project, customer) = match admitted {
            Admitted::Staff(staff) => (staff.project_id, None),
            Admitted::Customer(scope) => (scope.app.project_id, Some(scope.counterparty_id.get())),
            _ => return None,
        };
        let settings = (record == VersionedRecord::Settings).then(|| project.get());
        let mut numbers = numbers(policy.path, request.path())?;
        // A write to a part of a record counts as a write to the record.
        numbers.truncate(record.numbers());
        // A path without numbers refers to the calling customer, or to the settings of the caller's project.
        numbers.extend(customer.or(settings).filter(|_| !policy.path.contains('{')));
        let name = numbers.iter().fold(record.kind().to_owned(), |name, number| format!("{name}-{number}"));
        let database = request.app_data::<web::Data<Database>>()?.clone();
        Some(Self { database, record, project, numbers, name, by_customer: customer.is_some() })
    }

    fn row(&self) -> VersionedRow {
        self.record.row(self.project, &self.numbers)
    }

    async fn version(&self) -> Result<Option<i64>, ApiError> {
        Ok(self.database.version_of(self.row()).await?)
    }

    /// Returns the current version and the error that describes it.
    async fn refusal(&self) -> Result<(Option<i64>, ApiError), ApiError> {
        let current = self.version().await?;
        let last = match self.numbers.as_slice() {
            [number] => self.database.last_change(self.record, self.project, *number).await?,
            _ => None,
        };
        let text = "The record has changed since it was read. Read it again, then retry with its new `ETag`.";
        let named = NamedError::new(StatusCode::PRECONDITION_FAILED, "precondition_failed", NextAction::Restart, text);
        Ok((current, named.with_field("current", self.conflict_details(current, last)).into()))
    }

    fn conflict_details(&self, version: Option<i64>, last: Option<LastChange>) -> Value {
        let at = last.as_ref().map(|last| last.at);
        let by = last.map(|last| {
            let (kind, id) = match last.author {
                Author::User(id) => ("user", Some(id.get())),
                Author::Customer(id) => ("counterparty", Some(id.get())),
                Author::System => ("system", None),
            };
            if self.by_customer {
                return json!({ "kind": kind, "id": null, "name": null });
            }
            json!({ "kind": kind, "id": id, "name": last.author_name })
        });
        json!({ "version": version, "changed_at": at, "changed_by": by })
    }

    /// Responds with `412`.
    async fn refuse(&self, request: HttpRequest) -> ServiceResponse<BoxBody> {
        let (current, refusal) = self.refusal().await.unwrap_or_else(|error| (None, error));
        let mut response = ServiceResponse::from_err(refusal, request);
        if let Some(version) = current {
            set_etag(&mut response, of_version(&self.name, version));
        }
        response
    }
}

fn set_etag(response: &mut ServiceResponse<BoxBody>, tag: String) {
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
}

fn malformed(header: &str) -> ApiError {
    let text = format!("The `{header}` header must be `*` or a comma-separated list of quoted entity tags.");
    NamedError::new(StatusCode::BAD_REQUEST, "precondition_malformed", NextAction::FixInput, text).into()
}

fn required() -> ApiError {
    let text = "This project requires the `If-Match` header. Send the `ETag` of the record as last read.";
    let status = StatusCode::PRECONDITION_REQUIRED;
    NamedError::new(status, "precondition_required", NextAction::FixInput, text).into()
}

/// Returns the tag of the current version of the record that a request writes to, if it has one.
pub(crate) async fn current_tag(
    request: &ServiceRequest,
    policy: &Policy,
    admitted: &Admitted,
) -> Result<Option<String>, ApiError> {
    let target = Target::for_caller(request, policy, admitted).filter(|_| accepts_if_match(policy));
    let Some(target) = target else { return Ok(None) };
    Ok(target.version().await?.map(|version| of_version(&target.name, version)))
}

/// Reads the body of a response and returns both. A streamed body is not read.
fn with_body<B: MessageBody + 'static>(response: ServiceResponse<B>) -> (ServiceResponse<BoxBody>, Option<web::Bytes>) {
    let (request, response) = response.into_parts();
    let (response, body) = response.into_parts();
    match body.try_into_bytes() {
        Ok(body) => (ServiceResponse::new(request, response.set_body(BoxBody::new(body.clone()))), Some(body)),
        Err(body) => (ServiceResponse::new(request, response.set_body(BoxBody::new(body))), None),
    }
}

/// Middleware inside the one that enforces the policies.
pub async fn check_preconditions(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let endpoint = request.extensions().get::<Arc<Endpoint>>().cloned();
    let policy = endpoint.filter(|endpoint| endpoint.policy.versioned.is_some()).map(|endpoint| endpoint.policy);
    match policy {
        Some(policy) if accepts_if_none_match(policy) => show(request, next, policy).await,
        Some(policy) if accepts_if_match(policy) => change(request, next, policy).await,
        Some(policy) => make(request, next, policy).await,
        None => Ok(next.call(request).await?.map_into_boxed_body()),
    }
}

/// Shows a record. The version is read before the record, so that a tag is never newer than its content.
async fn show(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    policy: &Policy,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Ok(asked) = tag::sent(request.headers(), &IF_NONE_MATCH) else {
        return Ok(request.error_response(malformed("If-None-Match")));
    };
    let target = Target::of(&request, policy);
    let version = match &target {
        Some(target) => target.version().await?,
        None => None,
    };
    let (mut response, body) = with_body(next.call(request).await?);
    let (StatusCode::OK, Some(target), Some(version), Some(body)) = (response.status(), target, version, body) else {
        return Ok(response);
    };
    let tag = of_body(&target.name, version, &body);
    let is_known = match asked {
        None => false,
        Some(Tags::Any) => true,
        // Weak comparison, as for every `If-None-Match`.
        Some(Tags::Listed(tags)) => tags.iter().any(|sent| tag.trim_matches('"') == sent.opaque),
    };
    if is_known {
        response = response.map_body(|_, _| BoxBody::new(()));
        *response.response_mut().status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    set_etag(&mut response, tag);
    Ok(response)
}

/// Makes the writes of the request check the record. The request may have an idempotency key too.
fn add_to_context(request: &ServiceRequest, work: &Arc<VersionedRequest>) {
    let mut extensions = request.extensions_mut();
    let context = extensions.remove::<RequestContext>().unwrap_or_default();
    extensions.insert(RequestContext { versioned: Some(Arc::clone(work)), ..context });
}

/// Changes or deletes a record, if `If-Match` names its current version.
async fn change(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    policy: &Policy,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Ok(asked) = tag::sent(request.headers(), &IF_MATCH) else {
        return Ok(request.error_response(malformed("If-Match")));
    };
    let Some(target) = Target::of(&request, policy) else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    if asked.is_none()
        && may_require_if_match(policy)
        && target.database.requires_if_match(target.project).await.map_err(ApiError::from)?
    {
        return Ok(request.error_response(required()));
    }
    let known = if asked.is_some() { target.version().await? } else { None };
    let mut expected = None;
    if let (Some(Tags::Listed(tags)), Some(current)) = (&asked, known) {
        if !tags.iter().any(|sent| version(sent, &target.name) == Some(current)) {
            return Ok(target.refuse(request.into_parts().0).await);
        }
        expected = known;
    }
    let work = VersionedRequest::new(target.row(), expected);
    add_to_context(&request, &work);
    let response = next.call(request).await?;
    if work.is_stale() {
        return Ok(target.refuse(response.into_parts().0).await);
    }
    // A request that wrote nothing leaves the previous version.
    let left = work.left().map(|left| left.version).or(known.filter(|_| policy.method != Method::DELETE));
    Ok(answered(response, &target.name, left))
}

/// Adds the version after a write to the response.
fn answered(
    response: ServiceResponse<impl MessageBody + 'static>,
    name: &str,
    left: Option<i64>,
) -> ServiceResponse<BoxBody> {
    let (mut response, body) = with_body(response);
    if let (true, Some(version), Some(body)) = (response.status().is_success(), left, body) {
        set_etag(&mut response, of_body(name, version, &body));
    }
    response
}

/// Creates a record.
async fn make(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
    policy: &Policy,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Some(target) = Target::of(&request, policy) else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let work = VersionedRequest::making(target.record.new_row(target.project, &target.numbers));
    add_to_context(&request, &work);
    let response = next.call(request).await?;
    let made = work.left().and_then(|left| Some((left.made?, left.version)));
    let name = made.map(|(number, _)| format!("{}-{number}", target.name)).unwrap_or_default();
    Ok(answered(response, &name, made.map(|(_, version)| version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_path_stand_where_its_template_has_placeholders() {
        let of = |path| numbers("/api/applications/{a}/webhooks/{w}", path);
        assert_eq!(of("/api/applications/5/webhooks/7"), Some(vec![5, 7]));
        assert_eq!(of("/api/applications/5/webhooks/+7"), None);
        assert_eq!(of("/api/applications/x/webhooks/7"), None);
        assert_eq!(numbers("/api/counterparty", "/api/counterparty"), Some(vec![]));
    }
}
