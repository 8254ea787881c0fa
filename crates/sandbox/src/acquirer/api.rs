//! The HTTP side of the API: authentication, idempotence keys, bodies, paths, lists, and error responses.
//! `GET /v3/payments`, `GET /v3/refunds` and `GET /v3/receipts` filter and page, newest first.

use std::collections::HashMap;

use actix_web::http::{StatusCode, header};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, Resource, Route};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::idempotence::{self, Outcome};
use super::ledger::{Ledger, Object, Shop};
use super::notifications::PendingNotifications;
use super::order::{self, BindingOrder, PaymentOrder, RefundOrder};
use super::payment::Status;
use super::receipt::{About, ReceiptOrder};
use super::view;
use crate::faults::{self, Fault, Service};
use crate::state::{Bounded, IdGenerator, SandboxState};

/// Registers the routes under `/v3`.
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::scope("/v3")
            .wrap(from_fn(faults::acquirer))
            .service(resource("/payments").route(listed(payments)).route(web::post().to(create_payment)))
            .service(resource("/payments/{id}").route(shown(Object::Payment)))
            .service(resource("/payments/{id}/capture").route(web::post().to(capture)))
            .service(resource("/payments/{id}/cancel").route(web::post().to(cancel)))
            .service(resource("/refunds").route(listed(refunds)).route(web::post().to(create_refund)))
            .service(resource("/refunds/{id}").route(shown(Object::Refund)))
            .service(resource("/receipts").route(listed(receipts)).route(web::post().to(create_receipt)))
            .service(resource("/receipts/{id}").route(shown(Object::Receipt)))
            .service(resource("/payment_methods").route(web::post().to(create_binding)))
            .service(resource("/payment_methods/{id}").route(shown(Object::Method)))
            .service(resource("/me").route(web::get().to(me)))
            .default_service(web::to(async |sandbox_state: Data<SandboxState>| {
                Refusal::not_found("Not found").answer(&sandbox_state.chance)
            })),
    );
}

/// A path that answers 405 in the API's error format to methods it does not have.
fn resource(path: &str) -> Resource {
    let refuse = async |sandbox_state: Data<SandboxState>| Refusal::wrong_method().answer(&sandbox_state.chance);
    web::resource(path).default_service(web::to(refuse))
}

async fn create_payment(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    let (mut step, mut repeated) = (None, true);
    let (result, pending) = change(&call, &sandbox_state, &body, |ledger, fields, now| {
        repeated = false;
        ledger.create_payment(PaymentOrder::read(fields)?, &mut step, now)
    });
    let fault = step.and_then(|step| step.fault);
    let planned = call.extensions().get::<Fault>().copied();
    let outcome = Outcome {
        result: step.is_none_or(|step| !step.prevents_work()).then_some(&result),
        repeated: repeated && result.is_ok(),
        fault: fault.or(planned).map(|fault| fault.kind),
    };
    sandbox_state.acquirer.charges.note(&call, &body, sandbox_state.now(), &outcome);
    pending.sent().await;
    let instead = match fault {
        Some(fault) => faults::instead(Service::Acquirer, fault, &sandbox_state).await,
        None => None,
    };
    instead.unwrap_or_else(|| answer(&sandbox_state, result))
}

async fn capture(call: HttpRequest, sandbox_state: Data<SandboxState>, id: Path<String>, body: Bytes) -> HttpResponse {
    write(&call, &sandbox_state, &body, |ledger, fields, now| ledger.capture(&id, order::capture_sum(fields)?, now))
        .await
}

async fn cancel(call: HttpRequest, sandbox_state: Data<SandboxState>, id: Path<String>, body: Bytes) -> HttpResponse {
    write(&call, &sandbox_state, &body, |ledger, _, _| ledger.cancel(&id)).await
}

async fn create_refund(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    write(&call, &sandbox_state, &body, |ledger, fields, now| ledger.create_refund(RefundOrder::read(fields)?, now))
        .await
}

async fn create_receipt(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    write(&call, &sandbox_state, &body, |ledger, fields, now| ledger.create_receipt(ReceiptOrder::read(fields)?, now))
        .await
}

async fn create_binding(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    write(&call, &sandbox_state, &body, |ledger, fields, now| ledger.create_binding(BindingOrder::read(fields)?, now))
        .await
}

/// One object by its identifier.
fn shown(object: fn(String) -> Object) -> Route {
    web::get().to(move |call: HttpRequest, sandbox_state: Data<SandboxState>, id: Path<String>| async move {
        show(&call, &sandbox_state, &object(id.into_inner()))
    })
}

/// A page of a list.
fn listed(list: fn(&Ledger, &Query) -> Result<Value, Refusal>) -> Route {
    web::get().to(move |call: HttpRequest, sandbox_state: Data<SandboxState>, query: web::Query<HashMap<String, String>>| async move {
        read(&call, &sandbox_state, |ledger| list(ledger, &Query(query.into_inner())))
    })
}

async fn me(call: HttpRequest, sandbox_state: Data<SandboxState>) -> HttpResponse {
    read(&call, &sandbox_state, |ledger| {
        Ok(json!({
            "account_id": ledger.shop.id,
            "status": "enabled",
            "test": ledger.shop.test,
            "fiscalization_enabled": false,
            "payment_methods": ["bank_card", "sbp"],
        }))
    })
}

fn show(call: &HttpRequest, sandbox_state: &SandboxState, object: &Object) -> HttpResponse {
    read(call, sandbox_state, |ledger| {
        let what = match object {
            Object::Payment(_) => "Payment",
            Object::Refund(_) => "Refund",
            Object::Method(_) => "Payment method",
            Object::Receipt(_) => "Receipt",
        };
        ledger.view(object).ok_or_else(|| Refusal::not_found(&format!("{what} doesn't exist or access denied")))
    })
}

/// Handles a call that changes nothing.
fn read(
    call: &HttpRequest,
    sandbox_state: &SandboxState,
    work: impl FnOnce(&Ledger) -> Result<Value, Refusal>,
) -> HttpResponse {
    let outcome = authenticate(call, &sandbox_state.acquirer.shop)
        .and_then(|()| sandbox_state.with_ledger(|ledger, _| work(ledger)));
    answer(sandbox_state, outcome)
}

/// Handles a call that changes something.
async fn write(
    call: &HttpRequest,
    sandbox_state: &SandboxState,
    body: &[u8],
    work: impl FnOnce(&mut Ledger, &Map<String, Value>, DateTime<Utc>) -> Result<Object, Refusal>,
) -> HttpResponse {
    let (outcome, pending) = change(call, sandbox_state, body, work);
    pending.sent().await;
    answer(sandbox_state, outcome)
}

/// Does the work of a call once per idempotence key. Also returns the notifications to send before the response.
fn change(
    call: &HttpRequest,
    sandbox_state: &SandboxState,
    body: &[u8],
    work: impl FnOnce(&mut Ledger, &Map<String, Value>, DateTime<Utc>) -> Result<Object, Refusal>,
) -> (Result<Value, Refusal>, PendingNotifications) {
    let outcome = authenticate(call, &sandbox_state.acquirer.shop).and_then(|()| {
        let key = idempotence::check(header_text(call, "idempotence-key"))?;
        let fields = parse(call, body)?;
        let fingerprint = idempotence::fingerprint(call.method().as_str(), call.path(), fields.as_ref());
        let fields = match fields {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Ok(sandbox_state.with_ledger_and_notifications(|ledger, now| {
            let object = ledger.once(key, fingerprint, now, |ledger| work(ledger, &fields, now))?;
            ledger.view(&object).ok_or_else(Refusal::internal)
        }))
    });
    outcome.unwrap_or_else(|refusal| (Err(refusal), PendingNotifications::default()))
}

fn answer(sandbox_state: &SandboxState, outcome: Result<Value, Refusal>) -> HttpResponse {
    match outcome {
        Ok(object) => HttpResponse::Ok().json(object),
        Err(refusal) => refusal.answer(&sandbox_state.chance),
    }
}

fn header_text<'a>(call: &'a HttpRequest, name: &str) -> Option<&'a str> {
    call.headers().get(name)?.to_str().ok()
}

fn authenticate(call: &HttpRequest, shop: &Shop) -> Result<(), Refusal> {
    let given = header_text(call, header::AUTHORIZATION.as_str())
        .ok_or_else(|| Refusal::unauthenticated("Authorization header not found"))?;
    let expected = format!("{}:{}", shop.id, shop.secret_key);
    given
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
        .and_then(|(_, credentials)| BASE64.decode(credentials.trim()).ok())
        .filter(|credentials| *credentials == expected.into_bytes())
        .map(|_| ())
        .ok_or_else(|| Refusal::unauthenticated("Basic authentication failed"))
}

/// Reads the body: nothing, or a JSON object.
fn parse(call: &HttpRequest, body: &[u8]) -> Result<Option<Value>, Refusal> {
    if body.is_empty() {
        return Ok(None);
    }
    let is_json = header_text(call, header::CONTENT_TYPE.as_str())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        return Err(Refusal::wrong_content_type());
    }
    serde_json::from_slice(body)
        .ok()
        .filter(|value| matches!(value, Value::Object(_) | Value::Null))
        .map(Some)
        .ok_or_else(|| Refusal::invalid("Failed to parse request body"))
}

/// Query parameters of a list.
pub struct Query(pub HashMap<String, String>);

/// A time interval given by the parameters `NAME.gte`, `.gt`, `.lte` and `.lt`.
struct Interval(Vec<(&'static str, DateTime<Utc>)>);

impl Interval {
    fn contains(&self, moment: Option<DateTime<Utc>>) -> bool {
        self.0.iter().all(|(bound, at)| {
            moment.is_some_and(|moment| match *bound {
                "gte" => moment >= *at,
                "gt" => moment > *at,
                "lte" => moment <= *at,
                _ => moment < *at,
            })
        })
    }
}

impl Query {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn matches(&self, name: &str, value: Option<&str>) -> bool {
        self.get(name).is_none_or(|wanted| value == Some(wanted))
    }

    fn limit(&self) -> Result<usize, Refusal> {
        self.get("limit").map_or(Ok(10), |text| {
            text.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| wrong("limit"))
        })
    }

    fn interval(&self, name: &str) -> Result<Interval, Refusal> {
        let mut bounds = Vec::new();
        for bound in ["gte", "gt", "lte", "lt"] {
            let parameter = format!("{name}.{bound}");
            if let Some(text) = self.get(&parameter) {
                // An unencoded plus sign of a time zone arrives as a space.
                let at = DateTime::parse_from_rfc3339(&text.replace(' ', "+")).map_err(|_| wrong(&parameter))?;
                bounds.push((bound, at.to_utc()));
            }
        }
        Ok(Interval(bounds))
    }
}

fn wrong(parameter: &str) -> Refusal {
    Refusal::invalid("Invalid request parameter").at(parameter)
}

/// Returns a page of payments.
pub fn payments(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let (created, captured) = (query.interval("created_at")?, query.interval("captured_at")?);
    let captured_at = |status: Status| match status {
        Status::Succeeded { captured_at, .. } => Some(captured_at),
        _ => None,
    };
    page(
        &ledger.payments,
        query,
        |payment| {
            query.matches("status", Some(payment.status.name()))
                && query.matches("payment_method", payment.method.as_ref().map(|method| method.kind.name()))
                && created.contains(Some(payment.created_at))
                && captured.contains(captured_at(payment.status))
        },
        |payment| (payment.id.clone(), view::payment(payment, &ledger.shop)),
    )
}

/// Returns a page of refunds.
pub fn refunds(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let created = query.interval("created_at")?;
    page(
        &ledger.refunds,
        query,
        |refund| {
            query.matches("status", Some(refund.status.name()))
                && query.matches("payment_id", Some(&refund.payment_id))
                && created.contains(Some(refund.created_at))
        },
        |refund| (refund.id.clone(), view::refund(refund)),
    )
}

/// Returns a page of receipts.
pub fn receipts(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let created = query.interval("created_at")?;
    page(
        &ledger.receipts,
        query,
        |receipt| {
            let (payment, refund) = match &receipt.order.about {
                About::Payment(id) => (Some(id.as_str()), None),
                About::Refund(id) => (None, Some(id.as_str())),
            };
            query.matches("status", Some(receipt.state.name()))
                && query.matches("payment_id", payment)
                && query.matches("refund_id", refund)
                && created.contains(Some(receipt.created_at))
        },
        |receipt| (receipt.id.clone(), view::receipt(receipt)),
    )
}

fn page<T>(
    shelf: &Bounded<T>,
    query: &Query,
    keep: impl Fn(&T) -> bool,
    show: impl Fn(&T) -> (String, Value),
) -> Result<Value, Refusal> {
    let limit = query.limit()?;
    let mut found: Vec<_> = match query.get("cursor") {
        None => shelf.newest().filter(|item| keep(item)).take(limit + 1).map(show).collect(),
        Some(cursor) => {
            let older = shelf.older_than(cursor).ok_or_else(|| wrong("cursor"))?;
            older.filter(|item| keep(item)).take(limit + 1).map(show).collect()
        }
    };
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map(|(id, _)| id.clone());
    let items: Vec<_> = found.into_iter().map(|(_, view)| view).collect();
    let mut answer = json!({ "type": "list", "items": items });
    if let (true, Some(last), Value::Object(fields)) = (more, last, &mut answer) {
        fields.insert("next_cursor".to_owned(), last.into());
    }
    Ok(answer)
}

/// An error response of the acquirer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    /// `None` for 405 and 415.
    pub code: Option<&'static str>,
    pub description: String,
    /// The header or the path in the body that is wrong.
    pub parameter: Option<String>,
}

impl Refusal {
    fn new(status: StatusCode, code: Option<&'static str>, description: impl Into<String>) -> Self {
        Self { status, code, description: description.into(), parameter: None }
    }

    /// 400: the request must be changed.
    pub fn invalid(description: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Some("invalid_request"), description)
    }

    /// 401.
    pub fn unauthenticated(description: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Some("invalid_credentials"), description)
    }

    /// 403: the shop may not do this.
    pub fn forbidden(description: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, Some("forbidden"), description)
    }

    /// 404.
    pub fn not_found(description: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, Some("not_found"), description)
    }

    /// 405.
    pub fn wrong_method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, None, "Method not allowed")
    }

    /// 415.
    pub fn wrong_content_type() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, "Content-Type must be application/json")
    }

    /// 500: the outcome is unknown to the client.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Some("internal_server_error"), "Internal server error")
    }

    /// Sets the header or the path in the body that is wrong.
    #[must_use]
    pub fn at(self, parameter: impl Into<String>) -> Self {
        Self { parameter: Some(parameter.into()), ..self }
    }

    /// Returns the HTTP response.
    pub fn answer(&self, chance: &IdGenerator) -> HttpResponse {
        let mut body = json!({ "type": "error", "id": chance.id(), "description": self.description });
        if let Value::Object(fields) = &mut body {
            if let Some(code) = self.code {
                fields.insert("code".to_owned(), code.into());
            }
            if let Some(parameter) = &self.parameter {
                fields.insert("parameter".to_owned(), parameter.as_str().into());
            }
        }
        HttpResponse::build(self.status).json(body)
    }
}
