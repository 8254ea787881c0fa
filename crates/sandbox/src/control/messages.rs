//! `/control/messages`

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::web::{Data, Query};
use serde_json::json;

use crate::state::World;

const MAX_MESSAGES: usize = 1_000;

/// `GET /control/messages?to=`
pub async fn list(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let to = query.get("to").map(String::as_str).filter(|to| !to.trim().is_empty());
    HttpResponse::Ok().json(json!({ "messages": world.messages.newest(to, MAX_MESSAGES) }))
}
