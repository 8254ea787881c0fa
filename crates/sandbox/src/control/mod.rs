//! The control interface: JSON over HTTP for tests, demos and developers. Here: `/control/faults`, `/control/contacts`,
//! `/control/hooks`, `/control/messages`, `/control/objects`, `/control/clock`, and the side of the phone owners,
//! `/control/telephony`, `/control/calls` and `/control/callchecks`.

mod acquirer;
mod input;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{self, Bytes, Data, Path, Query, ServiceConfig};
use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde_json::json;

use self::input::{Input, Wrong, required};
use crate::faults::{FaultKind, Plan, Service};
use crate::messages::share_contact;
use crate::server;
use crate::state::{SandboxState, moment};
use crate::telephony::CheckStatus;

/// Registers the routes under `/control`.
pub fn routes(config: &mut ServiceConfig) {
    let path = |path: &str| web::resource(path).default_service(web::to(server::wrong_method));
    config.service(
        web::scope("/control")
            .service(
                path("/acquirer").route(web::get().to(acquirer::settings)).route(web::post().to(acquirer::configure)),
            )
            .service(path("/payments").route(web::get().to(acquirer::payments)))
            .service(path("/payments/{id}").route(web::post().to(acquirer::act_on_payment)))
            .service(path("/receipts").route(web::get().to(acquirer::receipts)))
            .service(path("/payment_methods/{id}").route(web::post().to(acquirer::act_on_method)))
            .service(
                path("/payment_methods/{id}/script")
                    .route(web::get().to(acquirer::show_script))
                    .route(web::post().to(acquirer::replace_script)),
            )
            .service(path("/charges").route(web::get().to(acquirer::charges)))
            .service(path("/refunds/{id}").route(web::post().to(acquirer::end_refund)))
            .service(path("/notifications").route(web::get().to(acquirer::notifications)))
            .service(path("/messages").route(web::get().to(list_messages)))
            .service(path("/contacts").route(web::post().to(sign_contact)))
            .service(path("/telephony").route(web::get().to(show_telephony)).route(web::post().to(configure_telephony)))
            .service(path("/calls").route(web::post().to(call)))
            .service(path("/callchecks").route(web::get().to(list_checks)))
            .service(path("/callchecks/{id}").route(web::post().to(expire_check)))
            .service(path("/objects").route(web::get().to(list_objects)))
            .service(path("/hooks").route(web::post().to(open_hook)))
            .service(path("/hooks/{id}").route(web::get().to(hook_deliveries)))
            .service(
                path("/faults")
                    .route(web::get().to(list_faults))
                    .route(web::post().to(plan_fault))
                    .route(web::delete().to(clear_faults)),
            )
            .service(path("/clock").route(web::get().to(show)).route(web::post().to(advance)))
            .default_service(web::to(server::not_found)),
    );
}

const MAX_TIMES: u64 = 1_000_000;
pub const MAX_DELAY: u64 = 40_000;

/// `GET /control/faults`
async fn list_faults(sandbox_state: Data<SandboxState>) -> HttpResponse {
    planned_faults(&sandbox_state)
}

/// `POST /control/faults`
async fn plan_fault(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
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
    if !sandbox_state.faults.plan(plan) {
        return Err(Wrong::Conflict("too many faults are planned; delete them with DELETE /control/faults".to_owned()));
    }
    Ok(planned_faults(&sandbox_state))
}

/// `DELETE /control/faults`
async fn clear_faults(sandbox_state: Data<SandboxState>) -> HttpResponse {
    sandbox_state.faults.clear();
    planned_faults(&sandbox_state)
}

fn planned_faults(sandbox_state: &SandboxState) -> HttpResponse {
    let view = |plan: Plan| {
        json!({
            "service": plan.service.name(),
            "fault": plan.kind.name(),
            "times": plan.times,
            "delay_ms": plan.delay.and_then(|delay| u64::try_from(delay.as_millis()).ok()),
        })
    };
    let faults: Vec<_> = sandbox_state.faults.planned().into_iter().map(view).collect();
    HttpResponse::Ok().json(json!({ "faults": faults }))
}

const DEFAULT_USER_ID: u64 = 67_890;
const MAX_MESSAGES: usize = 1_000;

/// `POST /control/contacts`
async fn sign_contact(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["token", "phone", "user_id"])?;
    let token = required("token", input.text("token")?)?;
    let phone = required("phone", input.text("phone")?)?;
    let user_id = input.whole("user_id", 1, u64::from(u32::MAX))?.unwrap_or(DEFAULT_USER_ID);
    Ok(HttpResponse::Ok().json(share_contact(token, user_id, phone, sandbox_state.now())))
}

/// `POST /control/hooks`
async fn open_hook(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["status", "times"])?;
    let status = input.whole("status", 200, 599)?.unwrap_or(200);
    let status = u16::try_from(status)
        .ok()
        .and_then(|status| StatusCode::from_u16(status).ok())
        .ok_or_else(|| Wrong::field("status", "is not an HTTP status"))?;
    let times = input.whole("times", 0, u64::from(u32::MAX))?.and_then(|times| u32::try_from(times).ok());
    let id = sandbox_state.chance.id();
    sandbox_state.hooks.open(&id, status, times);
    Ok(HttpResponse::Created().json(json!({ "id": id, "url": format!("{}/hooks/{id}", sandbox_state.url) })))
}

/// `GET /control/hooks/{id}`
async fn hook_deliveries(sandbox_state: Data<SandboxState>, id: Path<String>) -> Result<HttpResponse, Wrong> {
    let deliveries = sandbox_state.hooks.deliveries(&id).ok_or(Wrong::Unknown("hook"))?;
    Ok(HttpResponse::Ok().json(json!({ "deliveries": deliveries })))
}

/// `GET /control/messages?to=`
async fn list_messages(sandbox_state: Data<SandboxState>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let to = query.get("to").map(String::as_str).filter(|to| !to.trim().is_empty());
    HttpResponse::Ok().json(json!({ "messages": sandbox_state.messages.newest(to, MAX_MESSAGES) }))
}

/// `GET /control/objects`: the contents of the bucket.
async fn list_objects(sandbox_state: Data<SandboxState>) -> HttpResponse {
    HttpResponse::Ok().json(sandbox_state.storage.view())
}

const MAX_CALLS: usize = 1_000;

/// `GET /control/telephony`
async fn show_telephony(sandbox_state: Data<SandboxState>) -> HttpResponse {
    telephony_settings(&sandbox_state)
}

/// `POST /control/telephony`: the URL of the provider's messages, and a phone to refuse with an error number (none:
/// the phone is served again).
async fn configure_telephony(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["callback_url", "refuse_phone", "refuse_code"])?;
    let url = input.text("callback_url")?;
    if url.is_some_and(|url| !crate::acquirer::is_web_url(url)) {
        return Err(Wrong::field("callback_url", "must be an http or https URL"));
    }
    let code = input.whole("refuse_code", 200, 999)?.and_then(|code| u16::try_from(code).ok());
    if let Some(phone) = input.text("refuse_phone")?
        && !sandbox_state.checks.refuse(phone, code)
    {
        return Err(Wrong::Conflict("too many phones are refused".to_owned()));
    }
    if input.mentions("callback_url") {
        sandbox_state.pushes.set_url(url.map(str::to_owned));
    }
    Ok(telephony_settings(&sandbox_state))
}

fn telephony_settings(sandbox_state: &SandboxState) -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "callback_url": sandbox_state.pushes.url(),
        "refused": sandbox_state.checks.refused(),
        "pushes": sandbox_state.pushes.answers(),
    }))
}

/// `POST /control/calls`: a call from a phone to a number. The checks it confirms are announced.
async fn call(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["from", "to"])?;
    let (from, to) = (required("from", input.text("from")?)?, required("to", input.text("to")?)?);
    let confirmed = sandbox_state.checks.call(from, to, sandbox_state.now());
    for id in &confirmed {
        sandbox_state.pushes.announce(&sandbox_state, id, CheckStatus::Confirmed);
    }
    Ok(HttpResponse::Ok().json(json!({ "confirmed": confirmed })))
}

/// `GET /control/callchecks?phone=`
async fn list_checks(sandbox_state: Data<SandboxState>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let phone = query.get("phone").map(String::as_str).filter(|phone| !phone.trim().is_empty());
    HttpResponse::Ok().json(json!({ "callchecks": sandbox_state.checks.views(phone, MAX_CALLS, sandbox_state.now()) }))
}

/// `POST /control/callchecks/{id}`: ends the waiting time of a check.
async fn expire_check(sandbox_state: Data<SandboxState>, id: Path<String>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["outcome"])?;
    let expire = |name: &str| (name == "expire").then_some(());
    required("outcome", input.one_of("outcome", &["expire"], expire)?)?;
    match sandbox_state.checks.give_up(&id, sandbox_state.now()) {
        None => Err(Wrong::Unknown("check")),
        Some(false) => Err(Wrong::Conflict("the check has already ended".to_owned())),
        Some(true) => {
            sandbox_state.pushes.announce(&sandbox_state, &id, CheckStatus::Over);
            Ok(HttpResponse::Ok().json(json!({ "check_id": *id, "check_status": CheckStatus::Over.code() })))
        }
    }
}

/// Largest advance, in seconds: ten years. It is enough for a demo and safe for calendar arithmetic.
pub const MAX_ADVANCE: u64 = 10 * 366 * 24 * 3_600;

const FIELDS: [&str; 3] = ["advance_seconds", "advance_to", "dry_run"];

/// Target time of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    By(TimeDelta),
    To(DateTime<Utc>),
}

#[derive(Debug, PartialEq, Eq)]
struct Asked {
    goal: Goal,
    dry_run: bool,
}

/// `GET /control/clock`
pub async fn show(sandbox_state: Data<SandboxState>) -> HttpResponse {
    answer(&sandbox_state)
}

/// `POST /control/clock`: moves the clock by `advance_seconds` or to `advance_to`, never back.
///
/// Without a [`TimeTravel`](crate::TimeTravel) the clock jumps, and `dry_run` is refused with 409. With it:
/// - the response comes when everything due until then has happened, and lists it;
/// - with `dry_run` the clock does not move, and the response lists what would happen.
pub async fn advance(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let asked = Asked::read(&Input::loose(&body)?)?;
    let clock = sandbox_state.adjustable_clock.as_ref().ok_or_else(|| {
        Wrong::Conflict(
            "this sandbox runs on a clock that cannot be moved; start it with an adjustable clock".to_owned(),
        )
    })?;
    let Some(travel) = sandbox_state.clock_handler.get() else {
        if asked.dry_run {
            return Err(Wrong::Conflict(
                "the outcome is not known here: dry_run needs the service in the same process (kontor demo)".to_owned(),
            ));
        }
        let to = asked.goal.from(sandbox_state.now())?;
        match asked.goal {
            // Advances by exactly this duration, however long reading the request took.
            Goal::By(time) => {
                clock.advance(time.num_seconds());
            }
            Goal::To(_) => clock.advance_to(to),
        }
        sandbox_state.acquirer.notifier.clock_has_moved();
        return Ok(answer(&sandbox_state));
    };
    // A client that disconnects must not stop the journey halfway, so it runs in a task.
    let (here, dry_run) = (Arc::clone(&sandbox_state), asked.dry_run);
    let journey = tokio::spawn(async move {
        let _turn = here.clock_handler.turn().await;
        let to = asked.goal.from(here.now())?;
        travel.travel(to, dry_run, &*here).await.map_err(Wrong::Conflict)
    });
    let ended = journey.await.map_err(|_| Wrong::Conflict("the sandbox is stopping".to_owned()))?;
    Ok(HttpResponse::Ok().json(ended?))
}

fn answer(sandbox_state: &SandboxState) -> HttpResponse {
    let offset = sandbox_state.adjustable_clock.as_ref().map_or(0, |clock| clock.offset_seconds());
    HttpResponse::Ok().json(json!({ "now": moment(sandbox_state.now()), "offset_seconds": offset }))
}

impl Goal {
    /// Returns the target time, computed from `now`.
    fn from(self, now: DateTime<Utc>) -> Result<DateTime<Utc>, Wrong> {
        let farthest = i64::try_from(MAX_ADVANCE).ok().and_then(TimeDelta::try_seconds).unwrap_or(TimeDelta::MAX);
        match self {
            Self::By(time) => {
                now.checked_add_signed(time).ok_or_else(|| Wrong::field("advance_seconds", "is too large"))
            }
            Self::To(moment) if moment < now => Err(Wrong::field(
                "advance_to",
                format!("must not be before the current time, {}", crate::state::moment(now)),
            )),
            Self::To(moment) if moment - now > farthest => {
                Err(Wrong::field("advance_to", format!("must be at most {MAX_ADVANCE} seconds away")))
            }
            Self::To(moment) => Ok(moment),
        }
    }
}

impl Asked {
    /// Reports all errors of the request together.
    fn read(input: &Input) -> Result<Self, Wrong> {
        let mut wrong = input.unknown(&FIELDS);
        let mut noted = |complaint| wrong.push(complaint);
        let seconds = input.whole("advance_seconds", 0, MAX_ADVANCE).map_err(&mut noted).ok().flatten();
        let to = input.text("advance_to").and_then(|text| text.map(read_moment).transpose());
        let to = to.map_err(&mut noted).ok().flatten();
        let dry_run = input.flag("dry_run").map_err(&mut noted).ok().flatten().unwrap_or(false);
        match (input.is_given("advance_seconds"), input.is_given("advance_to")) {
            (false, false) => noted(Wrong::field("advance_seconds", "is required, or advance_to")),
            (true, true) => noted(Wrong::field("advance_to", "must not be sent together with advance_seconds")),
            _ => {}
        }
        let by = seconds.and_then(|seconds| TimeDelta::try_seconds(i64::try_from(seconds).ok()?)).map(Goal::By);
        match (wrong.is_empty(), by.or(to.map(Goal::To))) {
            (true, Some(goal)) => Ok(Self { goal, dry_run }),
            _ => Err(Wrong::all(&wrong)),
        }
    }
}

fn read_moment(text: &str) -> Result<DateTime<Utc>, Wrong> {
    let read = DateTime::parse_from_rfc3339(text);
    let wrong = |_| Wrong::field("advance_to", "must be a moment such as 2027-03-01T00:00:00Z");
    read.map(|moment| moment.to_utc().trunc_subsecs(6)).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Asked, String> {
        Asked::read(&Input::loose(body.as_bytes()).unwrap()).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn all_errors_are_reported_together() {
        let wrong = read(r#"{"advance_seconds":-1,"advance_to":"soon","dry_run":"yes","by":1}"#).unwrap_err();
        for field in ["by: unknown", "advance_seconds: must", "advance_to: must be a moment", "dry_run: must"] {
            assert!(wrong.contains(field), "{wrong}");
        }
        assert!(wrong.contains("advance_to: must not be sent together"), "{wrong}");
        assert!(read("{}").unwrap_err().starts_with("advance_seconds: is required"));
        assert!(read(r#"{"dry_run":true}"#).is_err() && read(r#"{"advance_to":null}"#).is_err());
        let both = r#"{"advance_seconds":1,"advance_to":"2027-03-01T00:00:00Z"}"#;
        assert_eq!(read(both).unwrap_err(), "advance_to: must not be sent together with advance_seconds");
    }

    #[test]
    fn time_goes_forward_and_not_too_far() {
        let now = DateTime::UNIX_EPOCH;
        let goal = |body: &str| read(body).unwrap().goal.from(now).map_err(|wrong| wrong.to_string());
        assert_eq!(goal(r#"{"advance_seconds":0}"#).unwrap(), now);
        assert_eq!(goal(r#"{"advance_to":"1970-01-01T02:00:01+02:00"}"#).unwrap(), now + TimeDelta::seconds(1));
        assert!(goal(r#"{"advance_to":"1969-12-31T23:59:59Z"}"#).unwrap_err().contains("before the current time"));
        assert!(
            goal(r#"{"advance_to":"1981-01-01T00:00:00Z"}"#).unwrap_err().starts_with("advance_to: must be at most")
        );
    }
}
