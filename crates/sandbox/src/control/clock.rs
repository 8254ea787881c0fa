//! `/control/clock`

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde_json::json;

use super::input::{Input, Wrong};
use crate::state::{World, moment};

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
pub async fn show(world: Data<World>) -> HttpResponse {
    answer(&world)
}

/// `POST /control/clock`: moves the clock by `advance_seconds` or to `advance_to`, never back.
///
/// Without a [`TimeTravel`](crate::TimeTravel) the clock jumps, and `dry_run` is refused with 409. With it:
/// - the response comes when everything due until then has happened, and lists it;
/// - with `dry_run` the clock does not move, and the response lists what would happen.
pub async fn advance(world: Data<World>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let asked = Asked::read(&Input::loose(&body)?)?;
    let clock = world.adjustable_clock.as_ref().ok_or_else(|| {
        Wrong::Conflict(
            "this sandbox runs on a clock that cannot be moved; start it with an adjustable clock".to_owned(),
        )
    })?;
    let Some(travel) = world.traveller.get() else {
        if asked.dry_run {
            return Err(Wrong::Conflict(
                "the outcome is not known here: dry_run needs the service in the same process (kontor demo)".to_owned(),
            ));
        }
        let to = asked.goal.from(world.now())?;
        match asked.goal {
            // Advances by exactly this duration, however long reading the request took.
            Goal::By(time) => {
                clock.advance(time.num_seconds());
            }
            Goal::To(_) => clock.advance_to(to),
        }
        world.acquirer.notifier.clock_has_moved();
        return Ok(answer(&world));
    };
    // A client that disconnects must not stop the journey halfway, so it runs in a task.
    let (here, dry_run) = (Arc::clone(&world), asked.dry_run);
    let journey = tokio::spawn(async move {
        let _turn = here.traveller.turn().await;
        let to = asked.goal.from(here.now())?;
        travel.travel(to, dry_run, &*here).await.map_err(Wrong::Conflict)
    });
    let ended = journey.await.map_err(|_| Wrong::Conflict("the sandbox is stopping".to_owned()))?;
    Ok(HttpResponse::Ok().json(ended?))
}

fn answer(world: &World) -> HttpResponse {
    let offset = world.adjustable_clock.as_ref().map_or(0, |clock| clock.offset_seconds());
    HttpResponse::Ok().json(json!({ "now": moment(world.now()), "offset_seconds": offset }))
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
