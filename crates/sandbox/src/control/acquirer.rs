//! `/control/acquirer`, `/control/payments` and related paths: the payer's and the bank's side of the acquirer.
//! `/control/payment_methods/{id}/script`: outcomes of the next charges of a saved method, in order.

use std::collections::HashMap;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data, Path, Query};
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::input::{Input, Wrong, required};
use super::{MAX_ADVANCE, MAX_DELAY};
use crate::acquirer::{
    Act, ActError, Canceled, CardNumber, DECLINE_REASONS, Ending, Kind, Ledger, Means, Object, Party, RefundStatus,
    Registration, SavedMethod, Script, Step, Verdict, decline_reason,
};
use crate::faults::{Fault, FaultKind};
use crate::state::SandboxState;

const USUAL_PAGE: usize = 1_000;
const OUTCOMES: [&str; 3] = ["succeed", "decline", "expire"];
const METHOD_OUTCOMES: [&str; 4] = ["succeed", "decline", "expire", "revoke"];

/// `GET /control/acquirer`
pub async fn settings(sandbox_state: Data<SandboxState>) -> HttpResponse {
    answer_settings(&sandbox_state)
}

/// `POST /control/acquirer` changes:
/// - `notification_url` or `notification_urls`;
/// - `refunds`: final status of new refunds;
/// - `receipts`: registration status of receipts, including those that wait for it;
/// - `cancels_unpaid`: the shop can cancel unpaid payments;
/// - `notifies_first`: notifications are sent before the response.
pub async fn configure(sandbox_state: Data<SandboxState>, body: Bytes) -> Result<HttpResponse, Wrong> {
    let input = Input::read(
        &body,
        &["notification_url", "notification_urls", "refunds", "receipts", "cancels_unpaid", "notifies_first"],
    )?;
    let one = input.text("notification_url")?;
    let several = input.texts("notification_urls")?;
    let refunds = input.one_of("refunds", RefundStatus::NAMES, RefundStatus::named)?;
    let receipts = input.one_of("receipts", Registration::NAMES, Registration::named)?;
    let cancels_unpaid = input.flag("cancels_unpaid")?;
    let notifies_first = input.flag("notifies_first")?;
    let name = if several.is_some() { "notification_urls" } else { "notification_url" };
    let urls = several.unwrap_or_else(|| one.map(str::to_owned).into_iter().collect());
    if !urls.iter().all(|url| crate::acquirer::is_web_url(url)) {
        return Err(Wrong::field(name, "must be an http or https URL"));
    }
    if input.mentions("notification_url") || input.mentions("notification_urls") {
        sandbox_state.acquirer.notifier.set_urls(urls);
    }
    sandbox_state.with_ledger(|ledger, _| {
        ledger.refunds_end = refunds.unwrap_or(ledger.refunds_end);
        ledger.cancels_unpaid = cancels_unpaid.unwrap_or(ledger.cancels_unpaid);
        ledger.notifies_first = notifies_first.unwrap_or(ledger.notifies_first);
        if let Some(receipts) = receipts {
            ledger.set_receipt_result(receipts);
        }
    });
    Ok(answer_settings(&sandbox_state))
}

fn answer_settings(sandbox_state: &SandboxState) -> HttpResponse {
    let urls = sandbox_state.acquirer.notifier.urls();
    HttpResponse::Ok().json(json!({
        "notification_url": urls.first(),
        "notification_urls": urls,
        "refunds": sandbox_state.with_ledger(|ledger, _| ledger.refunds_end.name()),
        "receipts": sandbox_state.with_ledger(|ledger, _| ledger.receipts_end().name()),
        "cancels_unpaid": sandbox_state.with_ledger(|ledger, _| ledger.cancels_unpaid),
        "notifies_first": sandbox_state.with_ledger(|ledger, _| ledger.notifies_first),
    }))
}

/// `GET /control/payments`
pub async fn payments(
    sandbox_state: Data<SandboxState>,
    query: Query<HashMap<String, String>>,
) -> Result<HttpResponse, Wrong> {
    let limit = match query.get("limit") {
        None => USUAL_PAGE,
        Some(text) => text.parse().map_err(|_| Wrong::field("limit", "must be a whole number"))?,
    };
    let payments: Vec<Value> = sandbox_state.with_ledger(|ledger, _| {
        let brief = ledger.payments.newest().take(limit).map(|payment| {
            let mut brief = json!({
                "id": payment.id,
                "status": payment.status.name(),
                "amount": payment.amount.view(),
                "refunded_amount": payment.refunded.view(),
                "description": payment.description,
                "metadata": payment.metadata,
            });
            if let (Some(slip), Some(fields)) = (&payment.receipt, brief.as_object_mut()) {
                fields.insert("receipt".to_owned(), slip.body.clone());
            }
            brief
        });
        brief.collect()
    });
    Ok(HttpResponse::Ok().json(json!({ "payments": payments })))
}

/// `GET /control/receipts`: receipts that were requested separately, newest first.
pub async fn receipts(sandbox_state: Data<SandboxState>) -> HttpResponse {
    let objects: Vec<Value> = sandbox_state.with_ledger(|ledger, _| {
        let views = ledger.receipts.newest().take(USUAL_PAGE);
        views.filter_map(|receipt| ledger.view(&Object::Receipt(receipt.id.clone()))).collect()
    });
    HttpResponse::Ok().json(json!({ "receipts": objects }))
}

/// `POST /control/payments/{id}`: an action of the payer, or of the bank on a pending charge. The card decides the
/// result of `succeed`; a pending charge succeeds.
pub async fn act_on_payment(
    sandbox_state: Data<SandboxState>,
    id: Path<String>,
    body: Bytes,
) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["outcome", "card", "reason", "party", "save"])?;
    let outcome = required("outcome", input.one_of("outcome", &OUTCOMES, known_outcome)?)?;
    let card = match input.text("card")? {
        None => None,
        Some(text) => Some(CardNumber::parse(text).ok_or_else(|| Wrong::field("card", "is not a card number"))?),
    };
    let canceled = canceled(&input)?;
    let save = input.flag("save")?.unwrap_or(true);
    let id = id.into_inner();
    let done = sandbox_state.with_ledger(|ledger, now| {
        let asked = ledger.payments.get(&id).and_then(|payment| payment.method.as_ref()).map(|method| method.kind);
        let act = match outcome {
            "decline" => Act::Decline(canceled),
            "expire" => Act::Expire,
            _ => Act::Pay(Means { kind: asked.unwrap_or(Kind::BANK_CARD), card: card.unwrap_or_default(), save }),
        };
        let done = ledger.act_on_payment(&id, &act, now);
        done.map(|()| ledger.view(&Object::Payment(id.clone())))
    });
    answer(done.map_err(|refused| no_act(refused, "payment"))?)
}

/// `POST /control/payment_methods/{id}`: the ending of the next charges of a saved method, as a script of one step
/// (`revoke`: the payer has forbidden them at the bank), or an action of the payer on a pending method.
pub async fn act_on_method(
    sandbox_state: Data<SandboxState>,
    id: Path<String>,
    body: Bytes,
) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["outcome", "card", "reason", "party", "times"])?;
    let known = |name: &str| METHOD_OUTCOMES.into_iter().find(|outcome| *outcome == name);
    let outcome = required("outcome", input.one_of("outcome", &METHOD_OUTCOMES, known)?)?;
    let card = match input.text("card")? {
        None => CardNumber::default(),
        Some(text) => CardNumber::parse(text).ok_or_else(|| Wrong::field("card", "is not a card number"))?,
    };
    let canceled = canceled(&input)?;
    let times = input.whole("times", 1, u64::from(u32::MAX))?.and_then(|times| u32::try_from(times).ok());
    let id = id.into_inner();
    let declining =
        |canceled, times| Script::from(Step { times, ..Step::new(Ending::AtOnce(Verdict::Declined(canceled))) });
    let done = sandbox_state.with_ledger(|ledger, now| {
        let chargeable = ledger.methods.get(&id).is_some_and(SavedMethod::is_chargeable);
        match (chargeable, outcome) {
            (true, "succeed") => Ok(ledger.direct(&id, Script::default())),
            (true, "decline") => Ok(ledger.direct(&id, declining(canceled, times))),
            (true, "revoke") => Ok(ledger.direct(&id, declining(Canceled::by_network("permission_revoked"), None))),
            _ => bind(ledger, &id, outcome, card, canceled, now),
        }
        .map(|object| object.and_then(|object| ledger.view(&object)))
    });
    answer(done.map_err(|refused| no_act(refused, "payment method"))?)
}

fn bind(
    ledger: &mut Ledger,
    id: &str,
    outcome: &str,
    card: CardNumber,
    canceled: Canceled,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<Option<Object>, ActError> {
    let kind = ledger.methods.get(id).map_or(Kind::BANK_CARD, |saved| saved.method.kind);
    let act = match outcome {
        "decline" | "revoke" => Act::Decline(canceled),
        "expire" => Act::Expire,
        _ => Act::Pay(Means { kind, card, save: true }),
    };
    ledger.act_on_binding(id, &act, now)?;
    Ok(Some(Object::Method(id.to_owned())))
}

/// `GET /control/charges?payment_method_id=`: the requests to charge a saved method, newest first.
pub async fn charges(sandbox_state: Data<SandboxState>, query: Query<HashMap<String, String>>) -> HttpResponse {
    let method_id = query.get("payment_method_id").map(String::as_str);
    HttpResponse::Ok().json(json!({ "charges": sandbox_state.acquirer.charges.newest(method_id, USUAL_PAGE) }))
}

/// `POST /control/refunds/{id}`: ends a pending refund.
pub async fn end_refund(
    sandbox_state: Data<SandboxState>,
    id: Path<String>,
    body: Bytes,
) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["outcome"])?;
    let find = |name: &str| match name {
        "succeed" => Some(RefundStatus::Succeeded),
        "decline" => Some(RefundStatus::Canceled),
        _ => None,
    };
    let status = required("outcome", input.one_of("outcome", &["succeed", "decline"], find)?)?;
    let id = id.into_inner();
    let ended = sandbox_state.with_ledger(|ledger, _| {
        let known = ledger.refunds.get(&id).is_some();
        let object = ledger.end_refund(&id, status);
        object.and_then(|object| ledger.view(&object)).ok_or(known)
    });
    let wrong = |known| {
        if known { Wrong::Conflict("the refund has already ended".to_owned()) } else { Wrong::Unknown("refund") }
    };
    answer(Some(ended.map_err(wrong)?))
}

/// `GET /control/notifications`: the latest attempts, newest first.
pub async fn notifications(sandbox_state: Data<SandboxState>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "notifications": sandbox_state.acquirer.notifier.attempts() }))
}

fn known_outcome(name: &str) -> Option<&'static str> {
    OUTCOMES.into_iter().find(|outcome| *outcome == name)
}

fn no_act(refused: ActError, what: &'static str) -> Wrong {
    match refused {
        ActError::Unknown => Wrong::Unknown(what),
        ActError::NotPending(status) => Wrong::Conflict(format!("the {what} is {status} and not pending")),
    }
}

fn answer(object: Option<Value>) -> Result<HttpResponse, Wrong> {
    object.map(|object| HttpResponse::Ok().json(object)).ok_or(Wrong::Unknown("object"))
}

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
const CHARGE_OUTCOMES: [&str; 3] = ["succeed", "decline", "pending"];
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
pub async fn show_script(sandbox_state: Data<SandboxState>, id: Path<String>) -> Result<HttpResponse, Wrong> {
    script_of(&sandbox_state, &id)
}

/// `POST /control/payment_methods/{id}/script`: `steps` that replace the remaining ones.
pub async fn replace_script(
    sandbox_state: Data<SandboxState>,
    id: Path<String>,
    body: Bytes,
) -> Result<HttpResponse, Wrong> {
    let input = Input::read(&body, &["steps"])?;
    let steps = required("steps", input.objects("steps", &FIELDS)?)?;
    if steps.len() > MAX_STEPS {
        return Err(Wrong::field("steps", format!("must have at most {MAX_STEPS} steps")));
    }
    let read = |(number, step): (usize, &Input)| read(step).map_err(|wrong| wrong.within(&format!("steps[{number}]")));
    let script = steps.iter().enumerate().map(read).collect::<Result<Script, _>>()?;
    sandbox_state.with_ledger(|ledger, _| ledger.direct(&id, script));
    script_of(&sandbox_state, &id)
}

fn script_of(sandbox_state: &SandboxState, id: &str) -> Result<HttpResponse, Wrong> {
    let steps: Option<Vec<Value>> =
        sandbox_state.with_ledger(|ledger, _| Some(ledger.methods.get(id)?.script.steps().map(view).collect()));
    let steps = steps.ok_or(Wrong::Unknown("payment method"))?;
    Ok(HttpResponse::Ok().json(json!({ "payment_method_id": id, "steps": steps })))
}

fn read(input: &Input) -> Result<Step, Wrong> {
    let known = |name: &str| CHARGE_OUTCOMES.into_iter().find(|outcome| *outcome == name);
    let outcome = required("outcome", input.one_of("outcome", &CHARGE_OUTCOMES, known)?)?;
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
        (_, None) => Ending::OnRequest,
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
        Ending::OnRequest => ("pending", None, None),
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
