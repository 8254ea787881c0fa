//! Error responses of the acquirer.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::{Value, json};

use crate::ids::IdGenerator;

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
