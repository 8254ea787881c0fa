//! Idempotency key of a request, and its scope.

use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use kontor_adapter_diesel::KeyOwner;
use kontor_kernel::{AppScope, CustomerScope, Visitor};

use super::KEY;
use crate::scopes::Admitted;
use crate::{ApiError, NamedError, NextAction};

/// Maximum length of a key, in characters.
const MAX_KEY_LENGTH: usize = 255;

/// Key of a request with its owner and scope.
pub(super) struct PresentedKey {
    pub key: String,
    pub owner: KeyOwner,
    /// Values that a key is unique within, joined by line breaks.
    pub scope: String,
}

fn refused(text: &str) -> ApiError {
    NamedError::new(StatusCode::BAD_REQUEST, "idempotency_key_invalid", NextAction::FixInput, text).into()
}

/// Returns the key of a request. Exactly one well-formed key is allowed.
pub(super) fn key(request: &ServiceRequest) -> Result<String, ApiError> {
    let mut keys = request.headers().get_all(KEY);
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(refused("The `Idempotency-Key` header must be sent only once."));
    };
    let key = key.as_bytes();
    if key.is_empty() || key.len() > MAX_KEY_LENGTH || !key.iter().all(u8::is_ascii_graphic) {
        return Err(refused("The `Idempotency-Key` header must have 1 to 255 visible ASCII characters."));
    }
    Ok(key.iter().copied().map(char::from).collect())
}

/// Returns the owner of a key, and the project, application and token that it is unique within.
fn owner(admitted: &Admitted) -> (KeyOwner, [String; 3]) {
    let of = |guard, id: Option<i64>, within| (KeyOwner { guard, id }, within);
    let none = String::new;
    let in_application = |app: &AppScope| [app.project_id.to_string(), app.application_id.to_string(), none()];
    let application = |app: &AppScope| of("application", Some(app.application_id.get()), in_application(app));
    match admitted {
        Admitted::Public => of("anybody", None, [none(), none(), none()]),
        Admitted::App(app) => application(app),
        // No endpoint for visitors writes.
        Admitted::Visitor(Visitor { app, counterparty_id }) => match counterparty_id {
            Some(customer) => of("counterparty", Some(customer.get()), in_application(app)),
            None => application(app),
        },
        Admitted::Customer(CustomerScope { app, counterparty_id, token_id }) => {
            let [project, application, _] = in_application(app);
            of("counterparty", Some(counterparty_id.get()), [project, application, token_id.to_string()])
        }
        Admitted::Staff(staff) => {
            let within = [staff.project_id.to_string(), none(), staff.token_id.to_string()];
            of("user", Some(staff.user_id.get()), within)
        }
        // The `Authorization` header identifies the backend. No endpoint for backends writes.
        Admitted::Backend(_) => of("backend", None, [none(), none(), none()]),
    }
}

/// Returns the key with its owner and scope, or the error of a malformed one.
pub(super) fn presented(request: &ServiceRequest, admitted: &Admitted) -> Result<PresentedKey, ApiError> {
    let key = key(request)?;
    let content_type = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes().to_ascii_lowercase());
    if content_type.is_some_and(|media| media.trim_ascii_start().starts_with(b"multipart/")) {
        return Err(refused("Uploads do not support `Idempotency-Key`. Send the request without it."));
    }
    let (owner, [project, application, token]) = owner(admitted);
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let id = owner.id.map(|id| id.to_string()).unwrap_or_default();
    // None of these contains a line break.
    let within = [&project, &application, owner.guard, &id, &token, request.method().as_str(), path];
    let scope = within.join("\n");
    Ok(PresentedKey { key, owner, scope })
}
