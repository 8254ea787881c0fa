//! The hosted page where the payer confirms a payment or the binding of a card, and the actions of the payer.

use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::web::{self, Data, Form, Path, ServiceConfig};
use actix_web::{HttpResponse, Resource};
use chrono::{DateTime, Utc};
use kontor_html::{self as html, Width, escape};
use serde::Deserialize;

use super::ledger::{Ledger, Object};
use super::method::{
    CardNumber, DECLINE_REASONS, DEFAULT_CARD, Kind, Method, MethodStatus, SavedMethod, Script, decline_reason,
};
use super::order::is_web_url;
use super::payment::{Canceled, Confirmation, Status, Verdict};
use super::view;
use crate::state::SandboxState;

/// Registers `/pay/{id}`, which confirms a payment, and `/bind/{id}`, which confirms a payment method.
pub fn routes(config: &mut ServiceConfig) {
    config.service(page("/pay/{id}", Subject::Payment)).service(page("/bind/{id}", Subject::Binding));
}

fn page(path: &str, subject: Subject) -> Resource {
    web::resource(path)
        .route(web::get().to(move |sandbox_state: Data<SandboxState>, id: Path<String>| async move {
            show(&sandbox_state, subject, &id, None)
        }))
        .route(web::post().to(
            move |sandbox_state: Data<SandboxState>, id: Path<String>, form: Form<Answers>| async move {
                submit(&sandbox_state, subject, &id, &form)
            },
        ))
}

/// Subject of a page.
#[derive(Clone, Copy)]
enum Subject {
    Payment,
    Binding,
}

/// Form fields as the browser sends them.
#[derive(Deserialize)]
struct Answers {
    action: String,
    #[serde(default)]
    card: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    save: String,
}

/// Contents of a page.
struct Sheet {
    amount: Option<String>,
    purpose: String,
    status: &'static str,
    pending: bool,
    /// The type of method the shop requires, if any.
    kind: Option<Kind>,
    may_save: bool,
    return_url: Option<String>,
}

impl Sheet {
    fn of(ledger: &Ledger, subject: Subject, id: &str) -> Option<Self> {
        let back = |asked: Option<&Confirmation>| {
            asked.and_then(|asked| asked.return_url.clone()).filter(|url| is_web_url(url))
        };
        match subject {
            Subject::Payment => ledger.payments.get(id).map(|payment| Self {
                amount: Some(format!("{} RUB", payment.amount)),
                purpose: payment.description.clone().unwrap_or_else(|| "Payment".to_owned()),
                status: payment.status.name(),
                pending: payment.status == Status::Pending && payment.step.is_none(),
                kind: payment.method.as_ref().map(|method| method.kind),
                may_save: payment.save,
                return_url: back(payment.confirmation.as_ref()),
            }),
            Subject::Binding => ledger.methods.get(id).map(|saved| Self {
                amount: None,
                purpose: "Save a payment method for later charges".to_owned(),
                status: saved.method.status.name(),
                pending: saved.method.status == MethodStatus::Pending,
                kind: Some(saved.method.kind),
                may_save: false,
                return_url: back(saved.confirmation.as_ref()),
            }),
        }
    }
}

fn submit(sandbox_state: &SandboxState, subject: Subject, id: &str, answers: &Answers) -> HttpResponse {
    let Some(sheet) = sandbox_state.with_ledger(|ledger, _| Sheet::of(ledger, subject, id)) else { return not_found() };
    let act = match read(answers, &sheet) {
        Ok(act) => act,
        Err(problem) => return show(sandbox_state, subject, id, Some(problem)),
    };
    let done = sandbox_state.with_ledger(|ledger, now| match subject {
        Subject::Payment => ledger.act_on_payment(id, &act, now),
        Subject::Binding => ledger.act_on_binding(id, &act, now),
    });
    match (done, sheet.return_url) {
        (Ok(()), Some(back)) => HttpResponse::SeeOther().insert_header((LOCATION, back)).finish(),
        (Ok(()), None) => show(sandbox_state, subject, id, None),
        (Err(ActError::NotPending(_)), _) => show(sandbox_state, subject, id, Some("Nothing is left to confirm here.")),
        (Err(ActError::Unknown), _) => not_found(),
    }
}

fn read(answers: &Answers, sheet: &Sheet) -> Result<Act, &'static str> {
    match answers.action.as_str() {
        "pay" => {
            let chosen = sheet.kind.or_else(|| Kind::named(&answers.method)).unwrap_or(Kind::BANK_CARD);
            let card = match answers.card.trim() {
                "" if chosen == Kind::BANK_CARD => return Err("Enter the card number."),
                text if chosen == Kind::BANK_CARD => CardNumber::parse(text).ok_or("Check the card number.")?,
                _ => CardNumber::default(),
            };
            Ok(Act::Pay(Means { kind: chosen, card, save: !answers.save.is_empty() }))
        }
        "decline" => decline_reason(&answers.reason)
            .map(|reason| Act::Decline(Canceled::by_network(reason)))
            .ok_or("Choose a reason from the list."),
        "expire" => Ok(Act::Expire),
        _ => Err("Choose what to do."),
    }
}

fn not_found() -> HttpResponse {
    html::page(
        StatusCode::NOT_FOUND,
        "Not found",
        Width::Narrow,
        "<h1>Not found</h1><p>There is nothing to confirm at this address.</p>",
    )
}

fn show(sandbox_state: &SandboxState, subject: Subject, id: &str, problem: Option<&str>) -> HttpResponse {
    let Some(sheet) = sandbox_state.with_ledger(|ledger, _| Sheet::of(ledger, subject, id)) else { return not_found() };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let title = sheet.amount.clone().unwrap_or_else(|| "Save a card".to_owned());
    let problem = problem.map(|text| format!("<p class=\"problem\" role=\"alert\">{}</p>", escape(text)));
    let body = format!(
        "<p class=\"hint\">Test acquirer: no money moves.</p><h1>{}</h1><p>{}</p>{}{}",
        escape(&title),
        escape(&sheet.purpose),
        problem.unwrap_or_default(),
        if sheet.pending { form(&sheet) } else { outcome(&sheet) },
    );
    html::page(status, &title, Width::Narrow, &body)
}

fn outcome(sheet: &Sheet) -> String {
    let back =
        sheet.return_url.as_deref().map(|url| format!("<p><a href=\"{}\">Back to the shop</a></p>", escape(url)));
    format!("<p>Status: <strong>{}</strong></p>{}", sheet.status, back.unwrap_or_default())
}

fn form(sheet: &Sheet) -> String {
    let by_card = sheet.kind.is_none_or(|kind| kind == Kind::BANK_CARD);
    let choice = "<label>Pay by <select name=\"method\"><option value=\"bank_card\">Card</option>\
                  <option value=\"sbp\">SBP</option></select></label>";
    let card = format!(
        "<label>Card number <input name=\"card\" inputmode=\"numeric\" autocomplete=\"cc-number\" \
         value=\"{DEFAULT_CARD}\"></label>"
    );
    let save = "<label><input type=\"checkbox\" name=\"save\" value=\"1\" checked> Save the card</label>";
    let reasons = DECLINE_REASONS.map(|reason| format!("<option>{reason}</option>")).concat();
    let part = |shown: bool, text: &str| if shown { text.to_owned() } else { String::new() };
    format!(
        "<form method=\"post\">{}{}{}<button name=\"action\" value=\"pay\">Pay</button>\
         <fieldset><legend>Other endings</legend>\
         <label>Reason <select name=\"reason\">{reasons}</select></label>\
         <button class=\"quiet\" name=\"action\" value=\"decline\">Decline</button>\
         <button class=\"quiet\" name=\"action\" value=\"expire\">Expire</button></fieldset></form>",
        part(sheet.kind.is_none(), choice),
        part(by_card, &card),
        part(sheet.may_save, save),
    )
}

/// The payer's choice of method on the page.
pub struct Means {
    pub kind: Kind,
    pub card: CardNumber,
    /// `true` if the payer agrees to save the method.
    pub save: bool,
}

impl Means {
    fn verdict(&self) -> Verdict {
        if self.kind == Kind::BANK_CARD { self.card.verdict() } else { Verdict::APPROVED }
    }
}

/// Action of the payer on the page, or of the bank on a pending charge.
pub enum Act {
    Pay(Means),
    Decline(Canceled),
    Expire,
}

/// Reason why an action is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActError {
    Unknown,
    /// The object has this status and is not pending.
    NotPending(&'static str),
}

impl Ledger {
    /// Acts on a pending payment. A charge of a saved method is paid by that method, regardless of the means.
    pub fn act_on_payment(&mut self, id: &str, act: &Act, now: DateTime<Utc>) -> Result<(), ActError> {
        let payment = self.payments.get(id).ok_or(ActError::Unknown)?;
        let refused = ActError::NotPending(payment.status.name());
        if payment.status != Status::Pending {
            return Err(refused);
        }
        let means = match act {
            Act::Pay(means) if payment.step.is_none() => Some(means),
            _ => None,
        };
        let confirmed = |verdict| payment.status.confirmed(verdict, payment.capture, now);
        let decided = match act {
            Act::Pay(_) => confirmed(means.map_or(Verdict::APPROVED, Means::verdict)),
            Act::Decline(canceled) => confirmed(Verdict::Declined(*canceled)),
            Act::Expire => payment.status.expired(),
        };
        let status = decided.ok_or(refused)?;
        let method = means.map(|means| self.used(id, means, status.is_paid() && payment.save && means.save, now));
        if let Some(method) = method.as_ref().filter(|method| method.saved) {
            let saved = SavedMethod {
                method: Method { sbp_operation_id: None, ..method.clone() },
                confirmation: None,
                metadata: serde_json::Map::new(),
                script: Script::default(),
            };
            self.methods.put(id, saved);
        }
        self.change_payment(id, |payment| {
            payment.status = status;
            payment.method = method.or_else(|| payment.method.take());
        });
        Ok(())
    }

    /// Returns the method the payer has just used.
    fn used(&self, id: &str, means: &Means, saved: bool, now: DateTime<Utc>) -> Method {
        Method {
            id: id.to_owned(),
            kind: means.kind,
            saved,
            status: if saved { MethodStatus::Active } else { MethodStatus::Inactive },
            card: (means.kind == Kind::BANK_CARD).then(|| means.card.card(now)),
            sbp_operation_id: (means.kind == Kind::SBP).then(|| self.chance.digits(18)),
        }
    }

    /// Acts on a pending binding.
    pub fn act_on_binding(&mut self, id: &str, act: &Act, now: DateTime<Utc>) -> Result<(), ActError> {
        let saved = self.methods.get(id).ok_or(ActError::Unknown)?;
        if saved.method.status != MethodStatus::Pending {
            return Err(ActError::NotPending(saved.method.status.name()));
        }
        let before = view::saved_method(saved, &self.shop);
        let method = match act {
            Act::Pay(means) if matches!(means.verdict(), Verdict::Approved { .. }) => {
                Method { sbp_operation_id: None, ..self.used(id, means, true, now) }
            }
            Act::Pay(_) | Act::Decline(_) | Act::Expire => {
                Method { status: MethodStatus::Inactive, ..saved.method.clone() }
            }
        };
        let active = method.saved;
        if let Some(saved) = self.methods.get_mut(id) {
            saved.method = method;
        }
        if active {
            self.tell("payment_method.active", &Object::Method(id.to_owned()), ("payment_method.active", before));
        }
        Ok(())
    }
}
