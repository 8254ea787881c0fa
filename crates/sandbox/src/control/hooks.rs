//! `/control/hooks`

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data, Path};
use serde_json::json;

use super::input::{Input, Wrong};
use crate::state::World;

/// `POST /control/hooks`
pub async fn open(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["status", "times"])?;
    let status = input.whole("status", 200, 599)?.unwrap_or(200);
    let status = u16::try_from(status)
        .ok()
        .and_then(|status| StatusCode::from_u16(status).ok())
        .ok_or_else(|| Wrong::field("status", "is not an HTTP status"))?;
    let times = input.whole("times", 0, u64::from(u32::MAX))?.and_then(|times| u32::try_from(times).ok());
    let id = world.chance.id();
    world.hooks.open(&id, status, times);
    Ok(HttpResponse::Created().json(json!({ "id": id, "url": format!("{}/hooks/{id}", world.url) })))
}

/// `GET /control/hooks/{id}`
pub async fn deliveries(world: Data<World>, id: Path<String>) -> Result<HttpResponse, Wrong> {
    let deliveries = world.hooks.deliveries(&id).ok_or(Wrong::Unknown("hook"))?;
    Ok(HttpResponse::Ok().json(json!({ "deliveries": deliveries })))
}
