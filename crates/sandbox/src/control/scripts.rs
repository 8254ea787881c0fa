//! `/control/payment_methods/{id}/script`: outcomes of the next charges of a saved method, in order.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Path};
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::clock::MAX_ADVANCE;
use super::faults::MAX_DELAY;
use super::input::{Input, Wrong, required};
use crate::acquirer::{Canceled, DECLINE_REASONS, Ending, Party, Script, Step, Verdict, decline_reason};
use crate::faults::{Fault, FaultKind};
use crate::state::World;

const MAX_STEPS: usize = 1_000;
const FIELDS: [&str; 10] = [
    "outcome",
    "reason",
    "party",
    "then",
    "after_seconds",
    "fault",
    "delay_ms",
    "notifications",
    "notifies_first",
    "times",
];
const OUTCOMES: [&str; 3] = ["succeed", "decline", "pending"];
/// Faults a charge can have. To delay its response, use a short `timeout`.
const FAULTS: [FaultKind; 6] = [
    FaultKind::Timeout,
    FaultKind::Http500,
    FaultKind::Http500AfterCommit,
    FaultKind::Drop,
    FaultKind::DropAfterCommit,
    FaultKind::Refuse,
];
const NOTIFICATIONS: [FaultKind; 2] = [FaultKind::Duplicate, FaultKind::Reorder];

/// `GET /control/payment_methods/{id}/script`: the remaining steps.
pub async fn show(world: Data<World>, id: Path<String>) -> Result<HttpResponse, Wrong> {
    answer(&world, &id)
}

/// `POST /control/payment_methods/{id}/script`: `steps` that replace the remaining ones.
pub async fn replace(world: Data<World>, id: Path<String>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["steps"])?;
    let steps = required("steps", input.objects("steps", &FIELDS)?)?;
    if steps.len() > MAX_STEPS {
        return Err(Wrong::field("steps", format!("must have at most {MAX_STEPS} steps")));
    }
    let read = |(number, step): (usize, &Input)| read(step).map_err(|wrong| wrong.within(&format!("steps[{number}]")));
    let script = steps.iter().enumerate().map(read).collect::<Result<Script, _>>()?;
    world.with_ledger(|ledger, _| ledger.direct(&id, script));
    answer(&world, &id)
}

fn answer(world: &World, id: &str) -> Result<HttpResponse, Wrong> {
    let steps: Option<Vec<Value>> =
        world.with_ledger(|ledger, _| Some(ledger.methods.get(id)?.script.steps().map(view).collect()));
    let steps = steps.ok_or(Wrong::Unknown("payment method"))?;
    Ok(HttpResponse::Ok().json(json!({ "payment_method_id": id, "steps": steps })))
}

fn read(input: &Input) -> Result<Step, Wrong> {
    let known = |name: &str| OUTCOMES.into_iter().find(|outcome| *outcome == name);
    let outcome = required("outcome", input.one_of("outcome", &OUTCOMES, known)?)?;
    let declined = Verdict::Declined(canceled(input)?);
    let verdict = |name: &str| match name {
        "succeed" => Some(Verdict::APPROVED),
        "decline" => Some(declined),
        _ => None,
    };
    let then = input.one_of("then", &["succeed", "decline"], verdict)?;
    let after = input.whole("after_seconds", 0, MAX_ADVANCE)?.and_then(|seconds| i64::try_from(seconds).ok());
    let ending = match (outcome, after.and_then(TimeDelta::try_seconds)) {
        ("succeed", _) => Ending::AtOnce(Verdict::APPROVED),
        ("decline", _) => Ending::AtOnce(declined),
        (_, Some(pause)) => Ending::After(pause, then.unwrap_or(Verdict::APPROVED)),
        (_, None) if then.is_some() => return Err(Wrong::field("after_seconds", "is required")),
        (_, None) => Ending::WhenTold,
    };
    let delay = input.whole("delay_ms", 0, MAX_DELAY)?.map(Duration::from_millis);
    let times = input.whole("times", 1, u64::from(u32::MAX))?.and_then(|times| u32::try_from(times).ok());
    Ok(Step {
        ending,
        fault: kind(input, "fault", &FAULTS)?.map(|kind| Fault::new(kind, delay)),
        notifications: kind(input, "notifications", &NOTIFICATIONS)?,
        notifies_first: input.flag("notifies_first")?.unwrap_or(false),
        // Null means all charges that follow.
        times: if input.mentions("times") { times } else { Some(1) },
    })
}

/// Reads the party that declines and the reason.
pub fn canceled(input: &Input) -> Result<Canceled, Wrong> {
    Ok(Canceled {
        party: input.one_of("party", Party::NAMES, Party::named)?.unwrap_or(Party::PaymentNetwork),
        reason: input.one_of("reason", &DECLINE_REASONS, decline_reason)?.unwrap_or("general_decline"),
    })
}

fn kind(input: &Input, field: &str, kinds: &[FaultKind]) -> Result<Option<FaultKind>, Wrong> {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    input.one_of(field, &names, |name| FaultKind::named(name).filter(|kind| kinds.contains(kind)))
}

fn view(step: &Step) -> Value {
    let (outcome, pause, verdict) = match step.ending {
        Ending::AtOnce(verdict) => (spoken(verdict), None, Some(verdict)),
        Ending::After(pause, verdict) => ("pending", Some(pause), Some(verdict)),
        Ending::WhenTold => ("pending", None, None),
    };
    let canceled = match verdict {
        Some(Verdict::Declined(canceled)) => Some(canceled),
        Some(Verdict::Approved { .. }) | None => None,
    };
    json!({
        "outcome": outcome,
        "reason": canceled.map(|canceled| canceled.reason),
        "party": canceled.map(|canceled| canceled.party.name()),
        "then": pause.and(verdict).map(spoken),
        "after_seconds": pause.map(|pause| pause.num_seconds()),
        "fault": step.fault.map(|fault| fault.kind.name()),
        "delay_ms": step.fault.and_then(|fault| u64::try_from(fault.pause.as_millis()).ok()),
        "notifications": step.notifications.map(FaultKind::name),
        "notifies_first": step.notifies_first,
        "times": step.times,
    })
}

fn spoken(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved { .. } => "succeed",
        Verdict::Declined(_) => "decline",
    }
}
