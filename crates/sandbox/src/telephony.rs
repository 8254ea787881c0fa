//! The telephony provider: SMS.RU's flash call, check by an incoming call, and SMS.

mod callcheck;

pub use callcheck::{CheckStatus, Checks};

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::http::header;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, ServiceConfig};
use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Responder};
use kontor_kernel::hex;
use reqwest::multipart::Form;
use ring::digest;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::faults::{self, FaultKind, Service};
use crate::messages::{Channel, Message, find_code, recipient};
use crate::server;
use crate::state::{SandboxState, keep_newest, lock};

const BALANCE: f64 = 4_122.56;
const MAX_RECIPIENTS: usize = 100;
const MAX_TEXT_LENGTH: usize = 1_000;

/// Refusals of the provider, each with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    WrongKey,
    BadPhone,
    EmptyText,
    TooLong,
    TooManyRecipients,
    Unavailable,
    Internal,
    /// A refusal planned through the control interface.
    Planned(u16),
}

impl Refusal {
    fn code_and_text(self) -> (u16, &'static str) {
        match self {
            Self::WrongKey => (200, "Неправильный api_id"),
            Self::BadPhone => (202, "Неправильно указан номер телефона получателя, либо на него нет маршрута"),
            Self::EmptyText => (203, "Нет текста сообщения"),
            Self::TooLong => (205, "Сообщение слишком длинное"),
            Self::TooManyRecipients => (213, "Указано более 100 номеров в списке получателей"),
            Self::Unavailable => (220, "Сервис временно недоступен, попробуйте чуть позже"),
            Self::Internal => (500, "Ошибка на сервере. Повторите запрос."),
            Self::Planned(code) => (code, "Отказано по плану"),
        }
    }

    fn view(self) -> Value {
        let (code, text) = self.code_and_text();
        json!({ "status": "ERROR", "status_code": code, "status_text": text })
    }
}

/// Registers `/code/call`, `/callcheck` and `/sms/send`, all by GET and POST.
pub fn routes(config: &mut ServiceConfig) {
    callcheck::routes(config);
    get_and_post(config, "/code/call", code_call);
    get_and_post(config, "/sms/send", sms_send);
}

fn get_and_post<F, Args>(config: &mut ServiceConfig, path: &str, handler: F)
where
    F: Handler<Args, Output: Responder + 'static>,
    Args: FromRequest + 'static,
{
    config.service(
        web::resource(path)
            .wrap(from_fn(faults::telephony))
            .route(web::get().to(handler.clone()))
            .route(web::post().to(handler))
            .default_service(web::to(server::wrong_method)),
    );
}

/// Returns the response to a call hit by an `http_500` fault.
pub fn internal_error() -> HttpResponse {
    HttpResponse::InternalServerError().json(Refusal::Internal.view())
}

/// Returns the response to a call hit by a `refuse` fault.
pub fn unavailable() -> HttpResponse {
    HttpResponse::Ok().json(Refusal::Unavailable.view())
}

/// Parameters of a call, from the query and the form together.
struct Parameters(HashMap<String, String>);

impl Parameters {
    fn read(call: &HttpRequest, body: &[u8]) -> Self {
        let form = call
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
        let body = if form { std::str::from_utf8(body).unwrap_or_default() } else { "" };
        let pairs = |text: &str| {
            web::Query::<Vec<(String, String)>>::from_query(text).map_or_else(|_| Vec::new(), web::Query::into_inner)
        };
        Self(pairs(call.query_string()).into_iter().chain(pairs(body)).collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    fn authenticate(&self, sandbox_state: &SandboxState) -> Result<(), Refusal> {
        if self.get("api_id") == sandbox_state.telephony_api_id { Ok(()) } else { Err(Refusal::WrongKey) }
    }

    /// Returns pairs of phone and text: from `to` and `msg`, or from `to[PHONE]=text`.
    fn texts(&self) -> Vec<(String, String)> {
        let named = self.0.iter().filter_map(|(name, text)| {
            let phone = name.strip_prefix("to[")?.strip_suffix(']')?;
            Some((phone.to_owned(), text.clone()))
        });
        let listed = self.get("to").split(',').map(str::trim).filter(|phone| !phone.is_empty());
        listed.map(|phone| (phone.to_owned(), self.get("msg").to_owned())).chain(named).collect()
    }
}

/// Normalises a phone the provider has a route to: 11 digits that begin with 7.
fn routed(phone: &str) -> Result<String, Refusal> {
    let phone = recipient(phone);
    if phone.len() == 11 && phone.starts_with('7') { Ok(phone) } else { Err(Refusal::BadPhone) }
}

async fn code_call(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    let parameters = Parameters::read(&call, &body);
    let answer = parameters.authenticate(&sandbox_state).and_then(|()| routed(parameters.get("phone"))).map(|phone| {
        let code = sandbox_state.chance.digits(4);
        sandbox_state.messages.keep(Message {
            channel: Channel::Call,
            to: phone,
            code: Some(code.clone()),
            subject: None,
            text: format!("Incoming call from a number that ends in {code}"),
            created_at: sandbox_state.now(),
        });
        let call_id = format!("000000-{:08}", 10_000_000 + sandbox_state.chance.number());
        json!({ "status": "OK", "code": code, "call_id": call_id, "cost": 0.4, "balance": BALANCE })
    });
    HttpResponse::Ok().json(answer.unwrap_or_else(Refusal::view))
}

async fn sms_send(call: HttpRequest, sandbox_state: Data<SandboxState>, body: Bytes) -> HttpResponse {
    let parameters = Parameters::read(&call, &body);
    let sent = parameters.authenticate(&sandbox_state).and_then(|()| {
        let texts = parameters.texts();
        match texts.len() {
            0 => Err(Refusal::BadPhone),
            1..=MAX_RECIPIENTS => Ok(texts),
            _ => Err(Refusal::TooManyRecipients),
        }
    });
    let rehearsal = parameters.get("test") == "1";
    let sent = sent.map(|texts| {
        texts
            .into_iter()
            .map(|(phone, text)| (phone.clone(), send_one(&sandbox_state, &phone, text, rehearsal)))
            .collect::<Vec<_>>()
    });
    if parameters.get("json") == "1" {
        HttpResponse::Ok().json(sent.map_or_else(Refusal::view, |sent| as_json(&sent)))
    } else {
        HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(as_lines(sent))
    }
}

/// Sends one SMS and returns its number.
fn send_one(sandbox_state: &SandboxState, phone: &str, text: String, rehearsal: bool) -> Result<String, Refusal> {
    let phone = routed(phone)?;
    if text.is_empty() {
        return Err(Refusal::EmptyText);
    }
    if text.chars().count() > MAX_TEXT_LENGTH {
        return Err(Refusal::TooLong);
    }
    if !rehearsal {
        sandbox_state.messages.keep(Message {
            channel: Channel::Sms,
            to: phone,
            code: find_code(&text),
            subject: None,
            text,
            created_at: sandbox_state.now(),
        });
    }
    Ok(format!("000000-{:06}", sandbox_state.chance.number()))
}

type Sent = Vec<(String, Result<String, Refusal>)>;

fn as_json(sent: &Sent) -> Value {
    let each: Map<String, Value> = sent
        .iter()
        .map(|(phone, outcome)| {
            let view = match outcome {
                Ok(id) => json!({ "status": "OK", "status_code": 100, "sms_id": id, "cost": "0.50" }),
                Err(refusal) => refusal.view(),
            };
            (phone.clone(), view)
        })
        .collect();
    json!({ "status": "OK", "status_code": 100, "sms": each, "balance": BALANCE })
}

/// Returns the provider's response as lines of text, for callers that did not request JSON.
fn as_lines(sent: Result<Sent, Refusal>) -> String {
    match sent {
        Err(refusal) => refusal.code_and_text().0.to_string(),
        Ok(sent) => {
            let each = sent
                .into_iter()
                .map(|(_, outcome)| outcome.unwrap_or_else(|refusal| refusal.code_and_text().0.to_string()));
            let lines: Vec<String> =
                std::iter::once("100".to_owned()).chain(each).chain([format!("balance={BALANCE}")]).collect();
            lines.join("\n")
        }
    }
}

const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The provider repeats for days. The sandbox gives up sooner.
const MAX_ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(500);
const MAX_CALLBACKS: usize = 100;

/// One message to one URL.
pub struct Push {
    url: String,
    entry: String,
}

/// URL of the messages, their queue and the latest responses.
pub struct Pushes {
    url: Mutex<Option<String>>,
    outbox: UnboundedSender<Push>,
    answers: Mutex<VecDeque<Value>>,
}

impl Pushes {
    pub fn new(outbox: UnboundedSender<Push>) -> Self {
        Self { url: Mutex::default(), outbox, answers: Mutex::default() }
    }

    pub fn url(&self) -> Option<String> {
        lock(&self.url).clone()
    }

    pub fn set_url(&self, url: Option<String>) {
        *lock(&self.url) = url;
    }

    /// Returns the responses to the latest messages, newest first.
    pub fn answers(&self) -> Vec<Value> {
        lock(&self.answers).iter().rev().cloned().collect()
    }

    /// Sends the status of a check. Without a URL none is sent.
    pub fn announce(&self, sandbox_state: &SandboxState, check: &str, status: CheckStatus) {
        let Some(url) = self.url() else { return };
        let fault = sandbox_state.faults.take_for_notification(Service::Telephony).map(|fault| fault.kind);
        let entry = format!("callcheck_status\n{check}\n{}\n{}", status.code(), sandbox_state.now().timestamp());
        for _ in 0..if fault == Some(FaultKind::Duplicate) { 2 } else { 1 } {
            // The receiver is dropped only when the sandbox is stopping.
            let _ = self.outbox.send(Push { url: url.clone(), entry: entry.clone() });
        }
    }

    fn record(&self, push: &Push, status: Option<u16>, answer: &str) {
        let answer = json!({ "entry": push.entry, "status": status, "answer": answer });
        keep_newest(&mut lock(&self.answers), MAX_CALLBACKS, answer);
    }
}

/// Returns the signature of entries: SHA-256 over the account's key and all of them, in lower-case hex.
pub fn signature(api_id: &str, entries: &[&str]) -> String {
    let signed = digest::digest(&digest::SHA256, format!("{api_id}{}", entries.concat()).as_bytes());
    hex(signed.as_ref())
}

/// Sends messages until the sandbox stops.
pub async fn courier(sandbox_state: Arc<SandboxState>, client: reqwest::Client, mut inbox: UnboundedReceiver<Push>) {
    loop {
        tokio::select! {
            () = sandbox_state.stopping.cancelled() => break,
            Some(push) = inbox.recv() => {
                let (sandbox_state, client) = (Arc::clone(&sandbox_state), client.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = deliver(&sandbox_state, &client, &push) => {}
                        () = sandbox_state.stopping.cancelled() => {}
                    }
                });
            }
        }
    }
}

async fn deliver(sandbox_state: &SandboxState, client: &reqwest::Client, push: &Push) {
    for _ in 0..MAX_ATTEMPTS {
        let hash = signature(&sandbox_state.telephony_api_id, &[&push.entry]);
        let form = Form::new().text("data[0]", push.entry.clone()).text("hash", hash);
        let taken = match client.post(&push.url).timeout(ANSWER_WITHIN).multipart(form).send().await {
            Err(error) => {
                sandbox_state.pushes.record(push, None, &error.without_url().to_string());
                false
            }
            Ok(answer) => {
                let status = answer.status().as_u16();
                let text = answer.text().await.unwrap_or_default();
                sandbox_state.pushes.record(push, Some(status), &text);
                text.trim() == "100"
            }
        };
        if taken {
            return;
        }
        sandbox_state.pause(PAUSE).await;
    }
}
