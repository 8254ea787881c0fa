//! `GET /`: what this is, and where to go on.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get, web};
use kontor_html::{Width, page};

use crate::config::Config;

/// In production it usually has an address of its own.
const VIEWER: &str = "/docs/";

/// Where the page leads, and what is there.
const LINKS: [(&str, &str, &str); 3] = [
    (VIEWER, "API reference", "every operation with examples, to be tried out"),
    ("/openapi.json", "OpenAPI 3.1 description", "for generators and agents"),
    ("/readyz", "State", "whether the database, its migrations and a worker are there"),
];

/// What the page says beyond that: nothing, unless whoever started the service has visitors to welcome.
#[derive(Debug, Clone, Default)]
pub struct Welcome(Arc<OnceLock<String>>);

impl Welcome {
    /// Adds markup to the page; the first call counts.
    pub fn say(&self, markup: String) {
        let _ = self.0.set(markup);
    }

    fn said(&self) -> &str {
        self.0.get().map_or("", String::as_str)
    }
}

/// `GET /`
#[get("/")]
pub async fn landing(welcome: web::Data<Welcome>, config: web::Data<Config>) -> HttpResponse {
    let has_viewer = matches!(config.monitoring(), Ok(None));
    let links = LINKS.iter().filter(|(path, ..)| has_viewer || *path != VIEWER).fold(
        String::new(),
        |mut links, (path, name, what)| {
            let _ = write!(links, "<li><a href=\"{path}\">{name}</a>: {what}</li>");
            links
        },
    );
    let body = format!(
        "<h1>Kontor</h1><p>One service that runs a merchant\u{2019}s whole trade: a client surface for shops and apps below \
         <code>/api/counterparty</code>, a platform surface for staff, integrations and agents below the rest of \
         <code>/api</code>.</p><ul>{links}</ul>{}",
        welcome.said()
    );
    page(StatusCode::OK, "Kontor", Width::Wide, &body)
}
