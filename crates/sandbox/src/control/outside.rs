//! `/control/contacts`, `/control/hooks`, `/control/messages` and `/control/objects`.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data, Path, Query};
use serde_json::json;

use super::input::{Input, Wrong, required};
use crate::messenger::share_contact;
use crate::state::World;

const DEFAULT_USER_ID: u64 = 67_890;
const MAX_MESSAGES: usize = 1_000;

/// `POST /control/contacts`
pub async fn contact(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["token", "phone", "user_id"])?;
    let token = required("token", input.text("token")?)?;
    let phone = required("phone", input.text("phone")?)?;
    let user_id = input.whole("user_id", 1, u64::from(u32::MAX))?.unwrap_or(DEFAULT_USER_ID);
    Ok(HttpResponse::Ok().json(share_contact(token, user_id, phone, world.now())))
}

/// `POST /control/hooks`
pub async fn open_hook(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
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
pub async fn hook_deliveries(world: Data<World>, id: Path<String>) -> Result<HttpResponse, Wrong> {
    let deliveries = world.hooks.deliveries(&id).ok_or(Wrong::Unknown("hook"))?;
    Ok(HttpResponse::Ok().json(json!({ "deliveries": deliveries })))
}

/// `GET /control/messages?to=`
pub async fn messages(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let to = query.get("to").map(String::as_str).filter(|to| !to.trim().is_empty());
    HttpResponse::Ok().json(json!({ "messages": world.messages.newest(to, MAX_MESSAGES) }))
}

/// `GET /control/objects`: the contents of the bucket.
pub async fn objects(world: Data<World>) -> HttpResponse {
    HttpResponse::Ok().json(world.storage.view())
}
