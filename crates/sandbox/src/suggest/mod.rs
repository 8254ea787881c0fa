//! The provider of suggestions: DaData's suggestions API 4.1, over a few built-in records.

mod records;

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::fault_middleware;
use crate::state::World;

use records::{Record, addresses, banks, parties};

const MAX_QUERY_LENGTH: usize = 300;
const USUAL_COUNT: usize = 10;
const MAX_COUNT: usize = 20;

static ADDRESSES: LazyLock<Vec<Record>> = LazyLock::new(addresses);
static BANKS: LazyLock<Vec<Record>> = LazyLock::new(banks);
static PARTIES: LazyLock<Vec<Record>> = LazyLock::new(parties);

/// Registers both methods, POST only.
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::resource("/suggestions/api/4_1/rs/{method}/{kind}")
            .wrap(from_fn(fault_middleware::suggest))
            .route(web::post().to(suggest))
            .default_service(web::to(wrong_method)),
    );
}

/// A refusal: status, reason and message.
struct Refusal(StatusCode, &'static str, &'static str);

impl Refusal {
    fn answer(self) -> HttpResponse {
        let Self(status, reason, message) = self;
        let family = if status.is_client_error() { "CLIENT_ERROR" } else { "SERVER_ERROR" };
        HttpResponse::build(status).json(json!({ "family": family, "reason": reason, "message": message }))
    }
}

async fn wrong_method() -> HttpResponse {
    Refusal(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", "POST is expected").answer()
}

/// Returns the response to a call hit by an `http_500` fault.
pub fn internal_error() -> HttpResponse {
    Refusal(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error", "something went wrong").answer()
}

/// Returns the response to a call hit by a `refuse` fault.
pub fn limit_spent() -> HttpResponse {
    Refusal(StatusCode::FORBIDDEN, "Forbidden", "the limit of the day is spent").answer()
}

/// Checks the key. A missing key and an unknown key get different refusals.
fn authenticate(call: &HttpRequest, world: &World) -> Result<(), Refusal> {
    let header = call.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = header.and_then(|value| value.strip_prefix("Token ")).filter(|key| !key.is_empty());
    match key {
        None => Err(Refusal(StatusCode::UNAUTHORIZED, "Unauthorized", "the key is missing")),
        Some(key) if key != world.suggest_api_key => {
            Err(Refusal(StatusCode::FORBIDDEN, "Forbidden", "Feature 'SUGGESTIONS' disabled for token"))
        }
        Some(_) => Ok(()),
    }
}

/// Reads the query and the maximum number of results.
fn read(call: &HttpRequest, body: &[u8]) -> Result<(String, usize), Refusal> {
    let bad = |message| Refusal(StatusCode::BAD_REQUEST, "Bad Request", message);
    let kind = call.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unsupported Media Type", "JSON is expected"));
    }
    let body: Value = serde_json::from_slice(body).map_err(|_| bad("the body is not JSON"))?;
    let query = body.get("query").and_then(Value::as_str).ok_or_else(|| bad("`query` is missing"))?;
    if query.chars().count() > MAX_QUERY_LENGTH {
        return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large", "`query` is too long"));
    }
    let count = body.get("count").and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    Ok((query.trim().to_lowercase(), count.unwrap_or(USUAL_COUNT).min(MAX_COUNT)))
}

async fn suggest(call: HttpRequest, path: Path<(String, String)>, world: Data<World>, body: Bytes) -> HttpResponse {
    let (method, kind) = path.into_inner();
    find(&call, (&method, &kind), &world, &body).unwrap_or_else(Refusal::answer)
}

fn find(call: &HttpRequest, (method, kind): (&str, &str), world: &World, body: &[u8]) -> Result<HttpResponse, Refusal> {
    let nothing = |message| Refusal(StatusCode::NOT_FOUND, "Not Found", message);
    let records = match kind {
        "address" => &*ADDRESSES,
        "bank" => &*BANKS,
        "party" => &*PARTIES,
        _ => return Err(nothing("there is no such directory")),
    };
    let fits: fn(&Record, &str) -> bool = match method {
        "suggest" => Record::mentions,
        "findById" => Record::is,
        _ => return Err(nothing("there is no such method")),
    };
    authenticate(call, world)?;
    let (query, count) = read(call, body)?;
    let found: Vec<&Value> =
        records.iter().filter(|record| fits(record, &query)).take(count).map(|record| &record.view).collect();
    Ok(HttpResponse::Ok().json(json!({ "suggestions": found })))
}
