//! `/control/clock`

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use serde_json::json;

use super::input::{Input, Wrong, required};
use crate::world::{World, moment};

/// Ten years: far enough for any demo, near enough for every calendar.
pub const FARTHEST: u64 = 10 * 366 * 24 * 3_600;

/// `GET /control/clock`
pub async fn show(world: Data<World>) -> HttpResponse {
    answer(&world)
}

/// `POST /control/clock`
pub async fn advance(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["advance_seconds"])?;
    let seconds = required("advance_seconds", input.whole("advance_seconds", 0, FARTHEST)?)?;
    let clock = world.adjustable_clock.as_ref().ok_or_else(|| {
        Wrong::Conflict(
            "this sandbox runs on a clock that cannot be moved; start it with an adjustable clock".to_owned(),
        )
    })?;
    let seconds = i64::try_from(seconds).map_err(|_| Wrong::field("advance_seconds", "is too large"))?;
    clock.advance(seconds);
    world.acquirer.notifier.clock_has_moved();
    Ok(answer(&world))
}

fn answer(world: &World) -> HttpResponse {
    let offset = world.adjustable_clock.as_ref().map_or(0, |clock| clock.offset_seconds());
    HttpResponse::Ok().json(json!({ "now": moment(world.now()), "offset_seconds": offset }))
}
