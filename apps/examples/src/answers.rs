//! Responses shared by both examples.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use kontor_client::Error;
use serde_json::{Value, json};

use crate::access;
use crate::kontor::Kontor;

/// Returns the lesson for the holder of this token: `200` when a subscription to the plan grants it, else `402` with
/// the way to subscribe.
pub async fn lesson(kontor: &Kontor, token: &str, subscribe: &str) -> HttpResponse {
    match kontor.subscriptions(token).await {
        Ok(subscriptions) if access::opens(&subscriptions, kontor.plan(), access::now()) => {
            // A copy in a shared cache would outlive the access.
            HttpResponse::Ok()
                .insert_header(("Cache-Control", "no-store"))
                .json(json!({ "lesson": "How to brew tea: warm the pot first." }))
        }
        Ok(_) => HttpResponse::PaymentRequired().json(json!({
            "message": "This lesson is for members of the club.",
            "subscribe": subscribe,
        })),
        Err(error) => refused(&error),
    }
}

/// Converts a failed call into a response. A refusal by Kontor is passed on to the caller.
pub fn refused(error: &Error) -> HttpResponse {
    match error.refusal() {
        Some(refusal) if refusal.status == 401 => signed_out(),
        Some(refusal) if refusal.status < 500 => {
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_GATEWAY);
            HttpResponse::build(status).json(&refusal.body)
        }
        _ => {
            let body = json!({ "message": "Subscriptions are unavailable. Try again later." });
            HttpResponse::ServiceUnavailable().insert_header(("Retry-After", "5")).json(body)
        }
    }
}

/// Returns the response to a request without a session.
pub fn signed_out() -> HttpResponse {
    HttpResponse::Unauthorized().json(json!({ "message": "Sign in first." }))
}

/// Returns the string in a field.
pub fn text<'v>(body: &'v Value, field: &str) -> Option<&'v str> {
    body.get(field).and_then(Value::as_str)
}

/// Returns the response that lists the fields that are not strings.
pub fn must_be_texts(body: &Value, fields: &[&str]) -> HttpResponse {
    let wrong = fields.iter().filter(|field| text(body, field).is_none());
    let errors: serde_json::Map<_, _> =
        wrong.map(|field| ((*field).to_owned(), json!([format!("{field} must be a string")]))).collect();
    HttpResponse::UnprocessableEntity().json(json!({ "message": "Validation failed.", "errors": errors }))
}
