//! A backend for a frontend: it logs the customer in, keeps their token, and sends the browser an opaque cookie.

mod sessions;

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::http::header::{COOKIE, SET_COOKIE};
use actix_web::web::{self, Data, Json};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use serde_json::{Value, json};

use self::sessions::Sessions;
use crate::answers::{lesson, must_be_texts, refused, signed_out, text};
use crate::kontor::Kontor;

const SESSION: &str = "session";

/// Serves `POST /code`, `POST` and `DELETE /session`, `POST /subscription` and `GET /lesson`. With `https` the cookie
/// is `Secure`.
pub fn serve(kontor: Kontor, listener: TcpListener, https: bool) -> std::io::Result<Server> {
    let (kontor, sessions, secure) = (Data::new(kontor), Data::new(Sessions::default()), Data::new(Secure(https)));
    let app = move || {
        let shared = App::new().app_data(kontor.clone()).app_data(sessions.clone()).app_data(secure.clone());
        shared
            .route("/code", web::post().to(send_code))
            .route("/session", web::post().to(sign_in))
            .route("/session", web::delete().to(sign_out))
            .route("/subscription", web::post().to(subscribe))
            .route("/lesson", web::get().to(show))
    };
    Ok(HttpServer::new(app).workers(1).disable_signals().listen(listener)?.run())
}

struct Secure(bool);

impl Secure {
    /// Returns the header that sets or clears the session cookie. Scripts cannot read it, and other sites cannot send
    /// it.
    fn cookie(&self, id: &str) -> (actix_web::http::header::HeaderName, String) {
        let secure = if self.0 { "; Secure" } else { "" };
        let age = if id.is_empty() { "; Max-Age=0" } else { "" };
        (SET_COOKIE, format!("{SESSION}={id}; Path=/; HttpOnly; SameSite=Strict{secure}{age}"))
    }
}

fn session(request: &HttpRequest) -> Option<String> {
    let sent = request.headers().get_all(COOKIE).filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == SESSION).map(|(_, id)| id.to_owned())
}

fn token(request: &HttpRequest, sessions: &Sessions) -> Option<String> {
    sessions.token(&session(request)?)
}

/// `{"phone"}`: sends a code by a call.
async fn send_code(kontor: Data<Kontor>, body: Json<Value>) -> HttpResponse {
    let Some(phone) = text(&body, "phone") else { return must_be_texts(&body, &["phone"]) };
    match kontor.send_code(phone).await {
        Ok(()) => HttpResponse::NoContent().finish(),
        Err(error) => refused(&error),
    }
}

/// `{"phone", "code"}`: the response sets a cookie; the token stays in this backend.
async fn sign_in(
    kontor: Data<Kontor>,
    sessions: Data<Sessions>,
    secure: Data<Secure>,
    body: Json<Value>,
) -> HttpResponse {
    let (Some(phone), Some(code)) = (text(&body, "phone"), text(&body, "code")) else {
        return must_be_texts(&body, &["phone", "code"]);
    };
    let token = match kontor.log_in(phone, code).await {
        Ok(token) => token,
        Err(error) => return refused(&error),
    };
    match sessions.open(token) {
        Some(id) => HttpResponse::NoContent().insert_header(secure.cookie(&id)).finish(),
        None => HttpResponse::ServiceUnavailable().json(json!({ "message": "Too many sessions. Try again later." })),
    }
}

/// Ends the session, and revokes the token at Kontor.
async fn sign_out(
    request: HttpRequest,
    kontor: Data<Kontor>,
    sessions: Data<Sessions>,
    secure: Data<Secure>,
) -> HttpResponse {
    if let Some(token) = session(&request).and_then(|id| sessions.close(&id)) {
        // The session ends here even if Kontor refuses.
        let _ = kontor.log_out(&token).await;
    }
    HttpResponse::NoContent().insert_header(secure.cookie("")).finish()
}

/// `{"autopay_consent": true}`: the customer's consent. The response has the `payment_link` for the browser.
async fn subscribe(
    request: HttpRequest,
    kontor: Data<Kontor>,
    sessions: Data<Sessions>,
    body: Json<Value>,
) -> HttpResponse {
    let Some(token) = token(&request, &sessions) else { return signed_out() };
    let consents = body.get("autopay_consent") == Some(&Value::Bool(true));
    match kontor.check_out(&token, consents).await {
        Ok(payment_link) => HttpResponse::Created().json(json!({ "payment_link": payment_link })),
        Err(error) => refused(&error),
    }
}

async fn show(request: HttpRequest, kontor: Data<Kontor>, sessions: Data<Sessions>) -> HttpResponse {
    let Some(token) = token(&request, &sessions) else { return signed_out() };
    lesson(&kontor, &token, "/subscription").await
}
