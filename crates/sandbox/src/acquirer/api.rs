//! The HTTP side of the API: authentication, idempotence keys, bodies, paths.

use std::collections::HashMap;

use actix_web::http::header;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse, Resource, Route};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::charge_log::Outcome;
use super::ledger::{Ledger, Object, Shop};
use super::notifications::News;
use super::order::{self, BindingOrder, PaymentOrder, RefundOrder};
use super::receipt::ReceiptOrder;
use super::refusal::Refusal;
use super::{idempotence, listing};
use crate::fault_middleware;
use crate::faults::{Fault, Service};
use crate::state::World;

/// Registers the routes under `/v3`.
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::scope("/v3")
            .wrap(from_fn(fault_middleware::acquirer))
            .service(resource("/payments").route(listed(listing::payments)).route(web::post().to(create_payment)))
            .service(resource("/payments/{id}").route(shown(Object::Payment)))
            .service(resource("/payments/{id}/capture").route(web::post().to(capture)))
            .service(resource("/payments/{id}/cancel").route(web::post().to(cancel)))
            .service(resource("/refunds").route(listed(listing::refunds)).route(web::post().to(create_refund)))
            .service(resource("/refunds/{id}").route(shown(Object::Refund)))
            .service(resource("/receipts").route(listed(listing::receipts)).route(web::post().to(create_receipt)))
            .service(resource("/receipts/{id}").route(shown(Object::Receipt)))
            .service(resource("/payment_methods").route(web::post().to(create_binding)))
            .service(resource("/payment_methods/{id}").route(shown(Object::Method)))
            .service(resource("/me").route(web::get().to(me)))
            .default_service(web::to(async |world: Data<World>| Refusal::not_found("Not found").answer(&world.chance))),
    );
}

/// A path that answers 405 in the API's error format to methods it does not have.
fn resource(path: &str) -> Resource {
    let refuse = async |world: Data<World>| Refusal::wrong_method().answer(&world.chance);
    web::resource(path).default_service(web::to(refuse))
}

async fn create_payment(call: HttpRequest, world: Data<World>, body: Bytes) -> HttpResponse {
    let (mut step, mut repeated) = (None, true);
    let (result, news) = change(&call, &world, &body, |ledger, fields, now| {
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
    world.acquirer.charges.note(&call, &body, world.now(), &outcome);
    news.sent().await;
    let instead = match fault {
        Some(fault) => fault_middleware::instead(Service::Acquirer, fault, &world).await,
        None => None,
    };
    instead.unwrap_or_else(|| answer(&world, result))
}

async fn capture(call: HttpRequest, world: Data<World>, id: Path<String>, body: Bytes) -> HttpResponse {
    write(&call, &world, &body, |ledger, fields, now| ledger.capture(&id, order::capture_sum(fields)?, now)).await
}

async fn cancel(call: HttpRequest, world: Data<World>, id: Path<String>, body: Bytes) -> HttpResponse {
    write(&call, &world, &body, |ledger, _, _| ledger.cancel(&id)).await
}

async fn create_refund(call: HttpRequest, world: Data<World>, body: Bytes) -> HttpResponse {
    write(&call, &world, &body, |ledger, fields, now| ledger.create_refund(RefundOrder::read(fields)?, now)).await
}

async fn create_receipt(call: HttpRequest, world: Data<World>, body: Bytes) -> HttpResponse {
    write(&call, &world, &body, |ledger, fields, now| ledger.create_receipt(ReceiptOrder::read(fields)?, now)).await
}

async fn create_binding(call: HttpRequest, world: Data<World>, body: Bytes) -> HttpResponse {
    write(&call, &world, &body, |ledger, fields, now| ledger.create_binding(BindingOrder::read(fields)?, now)).await
}

/// One object by its identifier.
fn shown(object: fn(String) -> Object) -> Route {
    web::get().to(move |call: HttpRequest, world: Data<World>, id: Path<String>| async move {
        show(&call, &world, &object(id.into_inner()))
    })
}

/// A page of a list.
fn listed(list: fn(&Ledger, &listing::Query) -> Result<Value, Refusal>) -> Route {
    web::get().to(move |call: HttpRequest, world: Data<World>, query: web::Query<HashMap<String, String>>| async move {
        read(&call, &world, |ledger| list(ledger, &listing::Query(query.into_inner())))
    })
}

async fn me(call: HttpRequest, world: Data<World>) -> HttpResponse {
    read(&call, &world, |ledger| {
        Ok(json!({
            "account_id": ledger.shop.id,
            "status": "enabled",
            "test": ledger.shop.test,
            "fiscalization_enabled": false,
            "payment_methods": ["bank_card", "sbp"],
        }))
    })
}

fn show(call: &HttpRequest, world: &World, object: &Object) -> HttpResponse {
    read(call, world, |ledger| {
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
fn read(call: &HttpRequest, world: &World, work: impl FnOnce(&Ledger) -> Result<Value, Refusal>) -> HttpResponse {
    let outcome = authenticate(call, &world.acquirer.shop).and_then(|()| world.with_ledger(|ledger, _| work(ledger)));
    answer(world, outcome)
}

/// Handles a call that changes something.
async fn write(
    call: &HttpRequest,
    world: &World,
    body: &[u8],
    work: impl FnOnce(&mut Ledger, &Map<String, Value>, DateTime<Utc>) -> Result<Object, Refusal>,
) -> HttpResponse {
    let (outcome, news) = change(call, world, body, work);
    news.sent().await;
    answer(world, outcome)
}

/// Does the work of a call once per idempotence key. Also returns the notifications to send before the response.
fn change(
    call: &HttpRequest,
    world: &World,
    body: &[u8],
    work: impl FnOnce(&mut Ledger, &Map<String, Value>, DateTime<Utc>) -> Result<Object, Refusal>,
) -> (Result<Value, Refusal>, News) {
    let outcome = authenticate(call, &world.acquirer.shop).and_then(|()| {
        let key = idempotence::check(header_text(call, "idempotence-key"))?;
        let fields = parse(call, body)?;
        let fingerprint = idempotence::fingerprint(call.method().as_str(), call.path(), fields.as_ref());
        let fields = match fields {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Ok(world.with_ledger_and_notifications(|ledger, now| {
            let object = ledger.once(key, fingerprint, now, |ledger| work(ledger, &fields, now))?;
            ledger.view(&object).ok_or_else(Refusal::internal)
        }))
    });
    outcome.unwrap_or_else(|refusal| (Err(refusal), News::default()))
}

fn answer(world: &World, outcome: Result<Value, Refusal>) -> HttpResponse {
    match outcome {
        Ok(object) => HttpResponse::Ok().json(object),
        Err(refusal) => refusal.answer(&world.chance),
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
