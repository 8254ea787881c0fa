//! `GET /`: the list of what the sandbox offers, and `GET /mailbox`: the latest messages. Both are pages for
//! developers. `GET /pictures/{name}.svg`: pictures of items, as an image host serves them, drawn from the name.

use std::fmt::Write as _;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{self, Data, ServiceConfig};
use kontor_html::{Width, escape, page, rows};
use serde_json::Value;

use crate::state::SandboxState;

const LATEST: usize = 100;

const OFFERS: &[(&str, &str)] = &[
    ("/v3", "Acquirer: YooKassa API v3 (payments, refunds, receipts, payment methods, me)"),
    ("/pay/{id}, /bind/{id}", "The payer's pages"),
    ("/code/call", "Telephony: SMS.RU flash call"),
    ("/callcheck/add, /callcheck/status", "Telephony: SMS.RU check by an incoming call"),
    ("/sms/send", "Telephony: SMS.RU text message"),
    ("/suggestions/api/4_1/rs/suggest/{address|bank|party}, .../findById/...", "DaData suggestions"),
    ("/hooks/{id}", "Webhook receiver"),
    ("/s3/{bucket}/{key}", "A bucket: S3 with signed requests, uploads in parts and listings"),
    ("GET /control/messages?to=", "Calls, SMS and e-mails of a phone or an address"),
    ("GET /control/payments", "The latest payments"),
    ("POST /control/payments/{id}", "{outcome: succeed|decline|expire, card?, reason?, party?, save?}"),
    ("POST /control/payment_methods/{id}", "{outcome: succeed|decline|expire|revoke, card?, reason?, party?, times?}"),
    (
        "GET, POST /control/payment_methods/{id}/script",
        "What happens to the next charges: {steps: [{outcome: succeed|decline|pending, reason?, party?, \
         after_seconds?, then?: succeed|decline, fault?, delay_ms?, \
         notifications?: duplicate|reorder, notifies_first?, times?}]}",
    ),
    ("GET /control/charges?payment_method_id=", "The requests to charge a saved method, and their results"),
    ("POST /control/refunds/{id}", "{outcome: succeed|decline}"),
    ("GET /control/notifications", "Results of the latest notifications"),
    (
        "GET, POST /control/acquirer",
        "{notification_url?, notification_urls?, refunds?, receipts?: pending|succeeded|canceled, cancels_unpaid?, \
         notifies_first?}",
    ),
    ("GET /control/receipts", "The latest receipts that were requested separately"),
    (
        "POST /control/contacts",
        "{token, phone, user_id?} gives a contact that MAX has signed for the bot with this token",
    ),
    ("POST /control/calls", "{from, to}: a phone calls a number"),
    ("GET /control/callchecks?phone=", "The checks that wait for a call, and how others ended"),
    ("POST /control/callchecks/{id}", "{outcome: expire}"),
    ("POST /control/telephony", "{callback_url?, refuse_phone?, refuse_code?}"),
    ("GET /control/telephony", "Where messages about calls go, and what was answered"),
    ("POST /control/hooks", "{status?, times?} gives {id, url}"),
    ("GET /control/objects", "Objects in the bucket"),
    ("GET /control/hooks/{id}", "The deliveries to a hook"),
    ("POST /control/faults", "{service, fault, times?, delay_ms?}"),
    ("GET, DELETE /control/faults", "The planned faults"),
    ("GET /control/clock", "The time of the sandbox"),
    ("POST /control/clock", "{advance_seconds? | advance_to?, dry_run?}"),
];

/// Registers the developer's pages and the pictures.
pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/", web::get().to(index))
        .route("/mailbox", web::get().to(mailbox))
        .route("/pictures/{name}.svg", web::get().to(picture));
}

async fn index() -> HttpResponse {
    let body = format!(
        "<h1>Sandbox</h1><p>An outside world for development and tests. The <a href=\"/mailbox\">mailbox</a> shows \
         every call, SMS and e-mail.</p><table>{}</table>",
        rows(OFFERS.iter().copied())
    );
    page(StatusCode::OK, "Sandbox", Width::Wide, &body)
}

async fn mailbox(sandbox_state: Data<SandboxState>) -> HttpResponse {
    let rows = sandbox_state.messages.newest(None, LATEST).iter().fold(String::new(), |mut rows, message| {
        let cell = |name: &str| escape(message.get(name).and_then(Value::as_str).unwrap_or_default());
        let _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><strong>{}</strong></td><td>{} {}</td></tr>",
            cell("created_at"),
            cell("channel"),
            cell("to"),
            cell("code"),
            cell("subject"),
            cell("text"),
        );
        rows
    });
    let body = format!("<h1>Mailbox</h1><table>{rows}</table><p><a href=\"/\">Sandbox</a></p>");
    page(StatusCode::OK, "Mailbox", Width::Wide, &body)
}

/// Draws a crate in a colour derived from the name, with the name on it.
async fn picture(name: web::Path<String>) -> HttpResponse {
    let hue = name.bytes().fold(7_u32, |hue, byte| (hue * 31 + u32::from(byte)) % 360);
    let label: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(16).collect();
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 300\" role=\"img\" aria-label=\"{label}\">\
         <rect width=\"400\" height=\"300\" fill=\"hsl({hue} 45% 92%)\"/>\
         <rect x=\"90\" y=\"70\" width=\"220\" height=\"160\" rx=\"8\" fill=\"hsl({hue} 50% 55%)\"/>\
         <path d=\"M90 120h220M90 180h220\" stroke=\"hsl({hue} 50% 40%)\" stroke-width=\"6\"/>\
         <text x=\"200\" y=\"160\" text-anchor=\"middle\" font-family=\"sans-serif\" font-size=\"24\" fill=\"#fff\">{label}</text>\
         </svg>"
    );
    HttpResponse::Ok().content_type("image/svg+xml").body(svg)
}
