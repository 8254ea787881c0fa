//! Access policies: one per endpoint. A middleware enforces them, the API description shows them, and a test checks
//! each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, web};
use kontor_auth::model::Tool;
use kontor_kernel::{AppScope, RateRule, Visitor, Word};
use kontor_platform_surface::agent_tools;
use matchit::Router;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, PathItem, RefOr, SecurityRequirement};

use crate::callbacks;
use kontor_web::agent_gate::{Stopped, log_refused, pass};
use kontor_web::body::refuse_compressed;
use kontor_web::body_budget::BodyShare;
use kontor_web::body_buffer::{BodyReader, ReadBody};
use kontor_web::description as implied;
use kontor_web::idempotency::recovery::can_show_result;
use kontor_web::idempotency::{accepts_keys, has_key, serve};
use kontor_web::in_process::Origin;
use kontor_web::limits::CUSTOMER_WRITES;
use kontor_web::policy::{Access, Endpoint, Policy, Repeatability, ResultSource};
use kontor_web::rehearsal::rehearse;
use kontor_web::response_cache::memory;
use kontor_web::scopes::{Admitted, admit};
use kontor_web::{ApiError, ClientIp, NamedError, Throttle};

/// Returns every policy of every surface.
pub fn all() -> impl Iterator<Item = &'static Policy> {
    [kontor_client_surface::POLICIES, kontor_platform_surface::POLICIES, callbacks::POLICIES].into_iter().flatten()
}

/// Mismatch of endpoints and policies.
#[derive(Debug, thiserror::Error)]
#[error(
    "policies and routes differ: without a policy {without_policy:?}, without a route {without_route:?}, twice {twice:?}"
)]
pub struct PoliciesIncomplete {
    without_policy: Vec<String>,
    without_route: Vec<String>,
    twice: Vec<String>,
    ambiguous: Vec<String>,
}

/// Policies by path. A literal segment has priority over a placeholder, independent of the order of declaration.
pub struct Policies(Router<Vec<Arc<Endpoint>>>);

/// Returns the path with all placeholders renamed alike, since the same segment may have several names.
fn shape(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{_}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns `true` if one shape matches every path of the other: `/{_}` those of `/export`.
fn covers(wide: &str, narrow: &str) -> bool {
    let (mut wide, mut narrow) = (wide.split('/'), narrow.split('/'));
    loop {
        match (wide.next(), narrow.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other || one == "{_}" => {}
            _ => return false,
        }
    }
}

/// Adds the policies of matching placeholders to each literal path. The routes fall back to the placeholder if the
/// literal path lacks a method.
fn fill_from_placeholders(by_shape: &mut BTreeMap<String, Vec<Arc<Endpoint>>>) {
    let with_placeholders = by_shape.iter().filter(|(shape, _)| shape.contains("{_}"));
    let mut wide: Vec<_> = with_placeholders.map(|(shape, rows)| (shape.clone(), rows.clone())).collect();
    wide.sort_by_key(|(shape, _)| shape.matches("{_}").count());
    for (narrow, rows) in by_shape {
        for endpoint in wide.iter().filter(|(shape, _)| covers(shape, narrow)).flat_map(|(_, rows)| rows) {
            if rows.iter().all(|row| row.policy.method != endpoint.policy.method) {
                rows.push(Arc::clone(endpoint));
            }
        }
    }
}

impl Policies {
    /// Collects the policies. Every endpoint of the description must have exactly one; otherwise the server does not
    /// start.
    pub fn of(api: &OpenApi) -> Result<Self, PoliciesIncomplete> {
        let paths = api.paths.paths.iter();
        let mut routes: BTreeSet<String> =
            paths.flat_map(|(path, item)| methods(item).map(move |method| format!("{method} {path}"))).collect();
        let mut by_shape: BTreeMap<String, Vec<Arc<Endpoint>>> = BTreeMap::new();
        let (mut without_route, mut twice) = (Vec::new(), Vec::new());
        for policy in all() {
            let name = format!("{} {}", policy.method, policy.path);
            let alike = by_shape.entry(shape(policy.path)).or_default();
            if alike.iter().any(|other| other.policy.method == policy.method) {
                twice.push(name);
                continue;
            }
            if !routes.remove(&name) {
                without_route.push(name);
            }
            alike.push(Endpoint::of(policy, result_source(api, policy)));
        }
        fill_from_placeholders(&mut by_shape);
        let mut tree = Router::new();
        let ambiguous: Vec<String> = by_shape
            .into_iter()
            .filter_map(|(shape, rows)| tree.insert(shape.clone(), rows).err().map(|_| shape))
            .collect();
        if routes.is_empty() && without_route.is_empty() && twice.is_empty() && ambiguous.is_empty() {
            Ok(Self(tree))
        } else {
            let without_policy = routes.into_iter().collect();
            Err(PoliciesIncomplete { without_policy, without_route, twice, ambiguous })
        }
    }

    fn find(&self, method: &Method, path: &str) -> Option<&Arc<Endpoint>> {
        self.0.at(path).ok()?.value.iter().find(|endpoint| endpoint.policy.method == *method)
    }
}

/// Returns the success status of an operation and the reference of its schema.
fn success<'a>(api: &'a OpenApi, policy: &Policy) -> Option<(StatusCode, &'a str)> {
    let item = api.paths.paths.get(policy.path)?;
    let operation = match policy.method {
        Method::GET => item.get.as_ref(),
        Method::POST => item.post.as_ref(),
        Method::PUT => item.put.as_ref(),
        Method::PATCH => item.patch.as_ref(),
        Method::DELETE => item.delete.as_ref(),
        _ => None,
    };
    let responses = &operation?.responses.responses;
    // A created record is described by `201`, even if `200` is declared for a preview.
    let made = responses.get_key_value("201");
    let (status, response) = made.or_else(|| responses.iter().find(|(status, _)| status.starts_with('2')))?;
    let RefOr::T(response) = response else { return None };
    let RefOr::T(content) = response.content.get("application/json")? else { return None };
    match content.schema.as_ref()? {
        RefOr::Ref(schema) => Some((StatusCode::from_bytes(status.as_bytes()).ok()?, schema.ref_location.as_str())),
        RefOr::T(_) => None,
    }
}

/// Returns the source of the result of a write: an endpoint with the same schema as the write's response.
fn result_source(api: &OpenApi, write: &'static Policy) -> Option<ResultSource> {
    if write.rerun == Repeatability::Whole {
        return Some(ResultSource::Rerun);
    }
    let (status, schema) = success(api, write).filter(|_| write.method != Method::GET)?;
    if write.method == Method::DELETE && write.result_from.is_none() {
        return schema.ends_with("/Message").then_some(ResultSource::Deleted);
    }
    // A policy that names its endpoint guarantees the form: optional fields may be missing.
    let is_alike = |shown: &str| shown == schema || write.result_from.is_some();
    let shows =
        |read: &&Policy| can_show_result(write, read) && success(api, read).is_some_and(|(_, shown)| is_alike(shown));
    all().find(shows).map(|read| ResultSource::Record { by: Endpoint::of(read, None), status })
}

/// Returns the application of a caller without a customer.
fn application_without_customer(admitted: &Admitted) -> Option<&AppScope> {
    match admitted {
        Admitted::App(app) | Admitted::Visitor(Visitor { app, counterparty_id: None }) => Some(app),
        _ => None,
    }
}

/// Returns the id of the customer, if the request is a customer's write.
fn writing_customer(policy: &Policy, admitted: &Admitted) -> Option<String> {
    match admitted {
        Admitted::Customer(customer) if policy.method != Method::GET => Some(customer.counterparty_id.to_string()),
        _ => None,
    }
}

async fn count(request: &HttpRequest, rule: RateRule, subject: String) -> Result<(), ApiError> {
    let throttle = request.app_data::<web::Data<Throttle>>();
    let throttle = throttle.ok_or_else(|| ApiError::internal(&"the rate limits are missing"))?;
    throttle.hit(request, &[(rule, subject)]).await
}

/// Authenticates the caller as the policy requires. Every write of a logged-in customer counts toward their rate limit.
async fn authenticate_and_count(request: &HttpRequest, policy: &Policy) -> Result<Admitted, ApiError> {
    let admitted = admit(request, policy.access).await?;
    if let Some(customer) = writing_customer(policy, &admitted) {
        count(request, CUSTOMER_WRITES, customer).await?;
    }
    Ok(admitted)
}

/// Reads the body, unless the handler does. After a slow transfer the caller is authenticated again: they may have been
/// banned, have lost a permission or have logged out since.
async fn take_body(
    request: &mut ServiceRequest,
    policy: &Policy,
    admitted: Admitted,
) -> Result<(Admitted, Option<BodyShare>), ApiError> {
    if policy.method == Method::GET {
        return Ok((admitted, None));
    }
    refuse_compressed(request.headers())?;
    let whole = !policy.streamed || has_key(request.headers());
    if !whole {
        return Ok((admitted, None));
    }
    let intake = request.app_data::<web::Data<BodyReader>>().cloned();
    let intake = intake.ok_or_else(|| ApiError::internal(&"the body reader is missing"))?;
    // Boxed, because most requests have no body and need no space for reading one.
    match Box::pin(intake.take(request)).await? {
        None => Ok((admitted, None)),
        Some(ReadBody { came_at_once: true, share }) => Ok((admitted, Some(share))),
        Some(ReadBody { share, .. }) => Ok((admit(request.request(), policy.access).await?, Some(share))),
    }
}

/// Innermost middleware: it checks access before anything else of the request. Extractors run concurrently, so a guard
/// among them could lose to the error of a wrong body.
pub async fn enforce(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let policies = request.app_data::<web::Data<Policies>>();
    let endpoint = policies.and_then(|policies| policies.find(request.method(), request.match_info().unprocessed()));
    let (mut pending, mut held, mut logged) = (None, None, None);
    if let Some(endpoint) = endpoint.cloned() {
        let answers = memory(&request).filter(|_| endpoint.policy.server_cached);
        let question = answers.as_ref().and_then(|answers| answers.cache_key(request.request()));
        if let (Some(answers), Some(question)) = (&answers, &question)
            && let Some(answer) = answers.get(question, request.request()).await
        {
            request.extensions_mut().insert(endpoint);
            return Ok(request.into_response(answer).map_into_right_body());
        }
        let (policy, called) = (endpoint.policy, Arc::clone(&endpoint));
        request.extensions_mut().insert(endpoint);
        if let Some(rule) = policy.limited
            && let Err(refusal) = count(request.request(), rule, ClientIp::of(request.request()).subject()).await
        {
            return Ok(request.error_response(refusal).map_into_right_body());
        }
        let admitted = match authenticate_and_count(request.request(), policy).await {
            Ok(admitted) => take_body(&mut request, policy, admitted).await,
            Err(refusal) => Err(refusal),
        };
        let passed = match admitted {
            Ok((admitted, share)) => {
                pass(&mut request, policy, &admitted).await.map(|passage| (admitted, share, passage))
            }
            Err(refusal) => {
                Box::pin(log_refused(&request, policy, &refusal)).await;
                Err(Stopped::Refused(refusal))
            }
        };
        match passed {
            Ok((admitted, share, _)) if Origin::is_rehearsal(request.request()) => {
                let response = Box::pin(rehearse(request, next, policy, admitted)).await?;
                drop(share);
                return Ok(response.map_into_right_body());
            }
            Ok((admitted, share, passage)) if has_key(request.headers()) && accepts_keys(policy) => {
                let answering = serve(request, next, called, admitted, passage.execution);
                let response = match passage.log {
                    Some(entry) => Box::pin(entry.around(answering)).await?,
                    None => answering.await?,
                };
                drop(share);
                return Ok(response.map_into_right_body());
            }
            Ok((admitted, share, passage)) => {
                (held, logged) = (share, passage.log);
                if let (Some(answers), Some(question), Some(app)) =
                    (answers, question, application_without_customer(&admitted))
                {
                    pending = answers.begin(question, app).map(|pending| (answers, pending));
                }
                request.extensions_mut().insert(admitted);
            }
            Err(Stopped::Answered(response)) => return Ok(request.into_response(*response).map_into_right_body()),
            Err(Stopped::Refused(refusal)) => {
                let refusal = if policy.structured { NamedError::of_application(refusal) } else { refusal };
                return Ok(request.error_response(refusal).map_into_right_body());
            }
        }
    }
    let response = match logged {
        Some(entry) => Box::pin(entry.around(async move { next.call(request).await })).await?,
        None => next.call(request).await?,
    };
    drop(held);
    Ok(match pending {
        None => response.map_into_left_body(),
        Some((answers, pending)) => answers.store(pending, response).await,
    })
}

fn methods(item: &PathItem) -> impl Iterator<Item = Method> {
    let all = [
        (Method::GET, item.get.is_some()),
        (Method::POST, item.post.is_some()),
        (Method::PUT, item.put.is_some()),
        (Method::PATCH, item.patch.is_some()),
        (Method::DELETE, item.delete.is_some()),
    ];
    all.into_iter().filter_map(|(method, present)| present.then_some(method))
}

/// Returns the operation of a policy.
fn operation_of<'a>(api: &'a mut OpenApi, policy: &Policy) -> Option<&'a mut Operation> {
    let item = api.paths.paths.get_mut(policy.path)?;
    match policy.method {
        Method::GET => item.get.as_mut(),
        Method::POST => item.post.as_mut(),
        Method::PUT => item.put.as_mut(),
        Method::PATCH => item.patch.as_mut(),
        Method::DELETE => item.delete.as_mut(),
        _ => None,
    }
}

/// Adds the policies to the description, and what follows from them and from the input of an operation. Schemes of one
/// requirement are sent together; requirements are alternatives.
pub fn describe(api: &mut OpenApi) {
    let tools = agent_tools();
    for policy in all() {
        let Some(operation) = operation_of(api, policy) else { continue };
        implied::complete(operation, policy);
        let none: [&str; 0] = [];
        let scheme = |name: &str| SecurityRequirement::new(name, none);
        operation.security = match policy.access {
            Access::Public => None,
            Access::App => Some(vec![scheme("app_token")]),
            Access::Visitor => Some(vec![scheme("app_token"), scheme("app_token").add("customer", none)]),
            Access::Customer => Some(vec![scheme("app_token").add("customer", none)]),
            Access::CustomerOnly => Some(vec![scheme("customer"), scheme("app_token").add("customer", none)]),
            Access::Staff(_) => Some(vec![scheme("staff")]),
            Access::Backend => Some(vec![scheme("backend")]),
        };
        if let Access::Staff(permissions) = policy.access {
            let names: Vec<String> = permissions.iter().map(ToString::to_string).collect();
            let mut extensions = ExtensionsBuilder::new().add("x-permissions", names);
            let is_this = |tool: &&Tool| tool.path == policy.path && tool.method == policy.method.as_str();
            if let Some(tool) = tools.iter().find(is_this) {
                extensions = extensions.add("x-agent-class", tool.class.word());
            }
            let extensions = extensions.build();
            match &mut operation.extensions {
                Some(present) => present.merge(extensions),
                none => *none = Some(extensions),
            }
        }
    }
}
