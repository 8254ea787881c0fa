//! JSON responses shared by the sandbox's own services: `{"message": "..."}`.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json;

/// Returns a response with a message.
pub fn message(status: StatusCode, text: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "message": text }))
}

/// 404.
pub async fn not_found() -> HttpResponse {
    message(StatusCode::NOT_FOUND, "not found; GET / lists what the sandbox offers")
}

/// 405.
pub async fn wrong_method() -> HttpResponse {
    message(StatusCode::METHOD_NOT_ALLOWED, "this path does not support this method")
}
