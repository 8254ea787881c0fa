//! SMS.RU's check by an incoming call: the owner of the phone calls the number shown to them.

use std::collections::HashMap;
use std::sync::Mutex;

use actix_web::web::{Bytes, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::{Parameters, Refusal, get_and_post, routed};
use crate::messages::recipient;
use crate::state::{Bounded, SandboxState, lock};

const LIFETIME: TimeDelta = TimeDelta::minutes(5);
const MAX_REFUSALS: usize = 1_000;

/// Status of an expected call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    Waiting,
    Confirmed,
    Over,
}

impl CheckStatus {
    pub fn code(self) -> u16 {
        match self {
            Self::Waiting => 400,
            Self::Confirmed => 401,
            Self::Over => 402,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Waiting => "Пользователь пока не позвонил",
            Self::Confirmed => "Авторизация по звонку: номер подтвержден",
            Self::Over => "Истекло время, отведенное для авторизации, либо неверно указан check_id",
        }
    }
}

/// One expected call.
struct Check {
    id: String,
    phone: String,
    number: String,
    expires_at: DateTime<Utc>,
    /// Status of a check that ended before its expiry.
    ended: Option<CheckStatus>,
}

impl Check {
    fn status(&self, now: DateTime<Utc>) -> CheckStatus {
        let lapsed = if self.expires_at <= now { CheckStatus::Over } else { CheckStatus::Waiting };
        self.ended.unwrap_or(lapsed)
    }

    fn view(&self, now: DateTime<Utc>) -> Value {
        json!({
            "check_id": self.id,
            "phone": self.phone,
            "call_phone": self.number,
            "check_status": self.status(now).code(),
        })
    }
}

pub struct Checks {
    kept: Mutex<Bounded<Check>>,
    /// Phones that are refused, with the provider's error number.
    refused: Mutex<HashMap<String, u16>>,
}

impl Checks {
    pub fn new(capacity: usize) -> Self {
        Self { kept: Mutex::new(Bounded::new(capacity)), refused: Mutex::default() }
    }

    /// Refuses a phone with this error number from now on, or serves it again. Returns `false` when too many are
    /// refused.
    pub fn refuse(&self, phone: &str, code: Option<u16>) -> bool {
        let mut refused = lock(&self.refused);
        match code {
            None => refused.remove(&recipient(phone)),
            Some(_) if refused.len() >= MAX_REFUSALS => return false,
            Some(code) => refused.insert(recipient(phone), code),
        };
        true
    }

    /// Returns the refused phones with their error numbers.
    pub fn refused(&self) -> HashMap<String, u16> {
        lock(&self.refused).clone()
    }

    /// Handles a call from a phone to a number. Returns the checks that the call confirms.
    pub fn call(&self, from: &str, to: &str, now: DateTime<Utc>) -> Vec<String> {
        let (from, to) = (recipient(from), recipient(to));
        let mut kept = lock(&self.kept);
        let fits = |check: &&Check| check.phone == from && check.number == to;
        let live = |check: &&Check| check.status(now) == CheckStatus::Waiting;
        let ids: Vec<String> = kept.newest().filter(fits).filter(live).map(|check| check.id.clone()).collect();
        for id in &ids {
            if let Some(check) = kept.get_mut(id) {
                check.ended = Some(CheckStatus::Confirmed);
            }
        }
        ids
    }

    /// Ends the waiting time of a check. `None` when there is no such check, else `true` if it was waiting.
    pub fn give_up(&self, id: &str, now: DateTime<Utc>) -> Option<bool> {
        let mut kept = lock(&self.kept);
        let check = kept.get_mut(id)?;
        let waiting = check.status(now) == CheckStatus::Waiting;
        if waiting {
            check.ended = Some(CheckStatus::Over);
        }
        Some(waiting)
    }

    /// Returns the checks of a phone or of all, newest first.
    pub fn views(&self, phone: Option<&str>, most: usize, now: DateTime<Utc>) -> Vec<Value> {
        let phone = phone.map(recipient);
        let kept = lock(&self.kept);
        let wanted = kept.newest().filter(|check| phone.as_ref().is_none_or(|phone| check.phone == *phone));
        wanted.take(most).map(|check| check.view(now)).collect()
    }

    fn expect(&self, sandbox_state: &SandboxState, phone: &str) -> Result<(String, String), Refusal> {
        let phone = routed(phone)?;
        if let Some(code) = lock(&self.refused).get(&phone) {
            return Err(Refusal::Planned(*code));
        }
        let running = sandbox_state.chance.number();
        let id = format!("{}-{}", 200_000 + running, sandbox_state.chance.digits(3));
        // The running number makes the phone numbers distinct.
        let number = format!("7800{}{:04}", sandbox_state.chance.digits(3), running % 10_000);
        let expires_at = sandbox_state.now().checked_add_signed(LIFETIME).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let check = Check { id: id.clone(), phone, number: number.clone(), expires_at, ended: None };
        lock(&self.kept).put(&id, check);
        Ok((id, number))
    }

    fn status(&self, id: &str, now: DateTime<Utc>) -> CheckStatus {
        lock(&self.kept).get(id).map_or(CheckStatus::Over, |check| check.status(now))
    }
}

/// Registers `/callcheck/add` and `/callcheck/status`, both by GET and POST.
pub fn routes(config: &mut ServiceConfig) {
    get_and_post(config, "/callcheck/add", add);
    get_and_post(config, "/callcheck/status", status);
}

/// Answers with JSON if it was requested, else with lines.
fn answer(parameters: &Parameters, done: Result<(Value, Vec<String>), Refusal>) -> HttpResponse {
    if parameters.get("json") == "1" {
        return HttpResponse::Ok().json(done.map_or_else(Refusal::view, |(view, _)| view));
    }
    let lines = done.map_or_else(|refusal| vec![refusal.code_and_text().0.to_string()], |(_, lines)| lines);
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(lines.join("\n"))
}

async fn add(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    let parameters = Parameters::read(&call, &body);
    let expected = parameters
        .authenticate(&sandbox_state)
        .and_then(|()| sandbox_state.checks.expect(&sandbox_state, parameters.get("phone")));
    let done = expected.map(|(id, number)| {
        let pretty = match (number.get(1..4), number.get(4..7), number.get(7..)) {
            (Some(code), Some(first), Some(rest)) => format!("+7 ({code}) {first}-{rest}"),
            _ => number.clone(),
        };
        let view = json!({
            "status": "OK",
            "status_code": 100,
            "check_id": id,
            "call_phone": number,
            "call_phone_pretty": pretty,
            "call_phone_html": format!("<a href=\"callto:{number}\">{pretty}</a>"),
        });
        (view, vec!["100".to_owned(), id, number])
    });
    answer(&parameters, done)
}

async fn status(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    let parameters = Parameters::read(&call, &body);
    let done = parameters.authenticate(&sandbox_state).map(|()| {
        let status = sandbox_state.checks.status(parameters.get("check_id"), sandbox_state.now());
        let view = json!({
            "status": "OK",
            "status_code": 100,
            "check_status": status.code().to_string(),
            "check_status_text": status.text(),
        });
        (view, vec!["100".to_owned(), status.code().to_string()])
    });
    answer(&parameters, done)
}
