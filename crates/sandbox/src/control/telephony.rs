//! `/control/telephony`, `/control/calls` and `/control/callchecks`: the side of the phone owners.

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Path, Query};
use serde_json::json;

use super::input::{Input, Wrong, required};
use crate::state::World;
use crate::telephony::CheckStatus;

const MAX_CALLS: usize = 1_000;

/// `GET /control/telephony`
pub async fn settings(world: Data<World>) -> HttpResponse {
    answer(&world)
}

/// `POST /control/telephony`: the URL of the provider's messages, and a phone to refuse with an error number (none:
/// the phone is served again).
pub async fn configure(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["callback_url", "refuse_phone", "refuse_code"])?;
    let url = input.text("callback_url")?;
    if url.is_some_and(|url| !crate::acquirer::is_web_url(url)) {
        return Err(Wrong::field("callback_url", "must be an http or https URL"));
    }
    let code = input.whole("refuse_code", 200, 999)?.and_then(|code| u16::try_from(code).ok());
    if let Some(phone) = input.text("refuse_phone")?
        && !world.checks.refuse(phone, code)
    {
        return Err(Wrong::Conflict("too many phones are refused".to_owned()));
    }
    if input.mentions("callback_url") {
        world.pushes.set_url(url.map(str::to_owned));
    }
    Ok(answer(&world))
}

fn answer(world: &World) -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "callback_url": world.pushes.url(),
        "refused": world.checks.refused(),
        "pushes": world.pushes.answers(),
    }))
}

/// `POST /control/calls`: a call from a phone to a number. The checks it confirms are announced.
pub async fn call(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["from", "to"])?;
    let (from, to) = (required("from", input.text("from")?)?, required("to", input.text("to")?)?);
    let confirmed = world.checks.call(from, to, world.now());
    for id in &confirmed {
        world.pushes.announce(&world, id, CheckStatus::Confirmed);
    }
    Ok(HttpResponse::Ok().json(json!({ "confirmed": confirmed })))
}

/// `GET /control/callchecks?phone=`
pub async fn checks(world: Data<World>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let phone = query.get("phone").map(String::as_str).filter(|phone| !phone.trim().is_empty());
    HttpResponse::Ok().json(json!({ "callchecks": world.checks.views(phone, MAX_CALLS, world.now()) }))
}

/// `POST /control/callchecks/{id}`: ends the waiting time of a check.
pub async fn give_up(world: Data<World>, id: Path<String>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["outcome"])?;
    let expire = |name: &str| (name == "expire").then_some(());
    required("outcome", input.one_of("outcome", &["expire"], expire)?)?;
    match world.checks.give_up(&id, world.now()) {
        None => Err(Wrong::Unknown("check")),
        Some(false) => Err(Wrong::Conflict("the check has already ended".to_owned())),
        Some(true) => {
            world.pushes.announce(&world, &id, CheckStatus::Over);
            Ok(HttpResponse::Ok().json(json!({ "check_id": *id, "check_status": CheckStatus::Over.code() })))
        }
    }
}
