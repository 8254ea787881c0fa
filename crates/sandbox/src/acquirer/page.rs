//! The hosted page where the payer confirms a payment or the binding of a card.

use actix_web::http::StatusCode;
use actix_web::http::header::LOCATION;
use actix_web::web::{self, Data, Form, Path, ServiceConfig};
use actix_web::{HttpResponse, Resource};
use kontor_html::{self as html, Width, escape};
use serde::Deserialize;

use super::cards::{CardNumber, DECLINE_REASONS, DEFAULT_CARD, decline_reason};
use super::ledger::Ledger;
use super::method::{Kind, Standing};
use super::order::is_web_url;
use super::payer::{Act, ActError, Means};
use super::payment::{Canceled, Confirmation, Status};
use crate::state::World;

/// Registers `/pay/{id}`, which confirms a payment, and `/bind/{id}`, which confirms a payment method.
pub fn routes(config: &mut ServiceConfig) {
    config.service(page("/pay/{id}", Subject::Payment)).service(page("/bind/{id}", Subject::Binding));
}

fn page(path: &str, subject: Subject) -> Resource {
    web::resource(path)
        .route(
            web::get().to(move |world: Data<World>, id: Path<String>| async move { show(&world, subject, &id, None) }),
        )
        .route(web::post().to(move |world: Data<World>, id: Path<String>, form: Form<Answers>| async move {
            submit(&world, subject, &id, &form)
        }))
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
                status: saved.method.standing.name(),
                pending: saved.method.standing == Standing::Pending,
                kind: Some(saved.method.kind),
                may_save: false,
                return_url: back(saved.confirmation.as_ref()),
            }),
        }
    }
}

fn submit(world: &World, subject: Subject, id: &str, answers: &Answers) -> HttpResponse {
    let Some(sheet) = world.with_ledger(|ledger, _| Sheet::of(ledger, subject, id)) else { return not_found() };
    let act = match read(answers, &sheet) {
        Ok(act) => act,
        Err(problem) => return show(world, subject, id, Some(problem)),
    };
    let done = world.with_ledger(|ledger, now| match subject {
        Subject::Payment => ledger.act_on_payment(id, &act, now),
        Subject::Binding => ledger.act_on_binding(id, &act, now),
    });
    match (done, sheet.return_url) {
        (Ok(()), Some(back)) => HttpResponse::SeeOther().insert_header((LOCATION, back)).finish(),
        (Ok(()), None) => show(world, subject, id, None),
        (Err(ActError::NotPending(_)), _) => show(world, subject, id, Some("Nothing is left to confirm here.")),
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

fn show(world: &World, subject: Subject, id: &str, problem: Option<&str>) -> HttpResponse {
    let Some(sheet) = world.with_ledger(|ledger, _| Sheet::of(ledger, subject, id)) else { return not_found() };
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
