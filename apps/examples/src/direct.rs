//! A backend beside Kontor: the app logs its customer in to Kontor, and sends the token here as well.

use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::web::{self, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};

use crate::answers::{lesson, signed_out};
use crate::kontor::Kontor;

/// Serves `GET /lesson`.
pub fn serve(kontor: Kontor, listener: TcpListener) -> std::io::Result<Server> {
    let kontor = Data::new(kontor);
    let app = move || App::new().app_data(kontor.clone()).route("/lesson", web::get().to(show));
    Ok(HttpServer::new(app).workers(1).disable_signals().listen(listener)?.run())
}

async fn show(request: HttpRequest, kontor: Data<Kontor>) -> HttpResponse {
    let header = request.headers().get("Authorization").and_then(|value| value.to_str().ok());
    let Some(token) = header.and_then(|value| value.strip_prefix("Bearer ")) else { return signed_out() };
    lesson(&kontor, token, &kontor.checkout_url()).await
}
