//! `/control/faults`

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use serde_json::json;

use super::input::{Input, Wrong, required};
use crate::faults::{FaultKind, Plan, Service};
use crate::state::World;

const MAX_TIMES: u64 = 1_000_000;
pub const MAX_DELAY: u64 = 40_000;

/// `GET /control/faults`
pub async fn list(world: Data<World>) -> HttpResponse {
    answer(&world)
}

/// `POST /control/faults`
pub async fn plan(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["service", "fault", "times", "delay_ms"])?;
    let service = required("service", input.one_of("service", Service::NAMES, Service::named)?)?;
    let kind = required("fault", input.one_of("fault", FaultKind::NAMES, FaultKind::named)?)?;
    let notifies = match kind {
        FaultKind::Duplicate => matches!(service, Service::Acquirer | Service::Telephony),
        _ => service == Service::Acquirer,
    };
    if kind.concerns_notifications() && !notifies {
        return Err(Wrong::field("fault", format!("{} does not concern {}", kind.name(), service.name())));
    }
    let times = input.whole("times", 0, MAX_TIMES)?.unwrap_or(1);
    let plan = Plan {
        service,
        kind,
        times: u32::try_from(times).unwrap_or(u32::MAX),
        delay: input.whole("delay_ms", 0, MAX_DELAY)?.map(Duration::from_millis),
    };
    if !world.faults.plan(plan) {
        return Err(Wrong::Conflict("too many faults are planned; delete them with DELETE /control/faults".to_owned()));
    }
    Ok(answer(&world))
}

/// `DELETE /control/faults`
pub async fn clear(world: Data<World>) -> HttpResponse {
    world.faults.clear();
    answer(&world)
}

fn answer(world: &World) -> HttpResponse {
    let view = |plan: Plan| {
        json!({
            "service": plan.service.name(),
            "fault": plan.kind.name(),
            "times": plan.times,
            "delay_ms": plan.delay.and_then(|delay| u64::try_from(delay.as_millis()).ok()),
        })
    };
    let faults: Vec<_> = world.faults.planned().into_iter().map(view).collect();
    HttpResponse::Ok().json(json!({ "faults": faults }))
}
