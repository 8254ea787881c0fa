//! `GET /`: landing page with links.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use actix_web::http::StatusCode;
use actix_web::http::header::HOST;
use actix_web::http::uri::Authority;
use actix_web::{HttpRequest, HttpResponse, get, web};
use kontor_html::{Width, page};

/// Path of the API reference. In production it usually has an address of its own.
const VIEWER: &str = "/docs/";
const CONSOLE: &str = "/console/";

/// Links of the page: target, title and description.
const LINKS: [(&str, &str, &str); 4] = [
    (CONSOLE, "Staff console", "orders, stock, catalog and customers, for employees"),
    (VIEWER, "API reference", "every operation with examples; requests can be sent from the page"),
    ("/openapi.json", "OpenAPI 3.1 description", "for generators and agents"),
    ("/readyz", "State", "status of the database, its migrations and the worker"),
];

/// Additional markup for visitors on this machine, set at the start of the service. It may hold credentials.
#[derive(Debug, Clone, Default)]
pub struct LandingMarkup(Arc<OnceLock<String>>);

impl LandingMarkup {
    /// Adds markup to the page. Only the first call has an effect.
    pub fn say(&self, markup: String) {
        let _ = self.0.set(markup);
    }

    fn said_to(&self, request: &HttpRequest) -> &str {
        match self.0.get() {
            Some(markup) if names_this_machine(request) => markup,
            Some(_) => ELSEWHERE,
            None => "",
        }
    }
}

/// Shown instead of the markup to visitors who use another name or address of this machine.
const ELSEWHERE: &str = "<p>The demo shows its credentials on this page only under <code>localhost</code> or \
     <code>127.0.0.1</code>. They are also in <code>demo.json</code>.</p>";

/// Returns `true` if the `Host` header is a loopback name. It differs for a foreign page whose name resolves to this
/// machine (DNS rebinding). Headers of proxies are ignored.
fn names_this_machine(request: &HttpRequest) -> bool {
    let mut hosts = request.headers().get_all(HOST);
    let (host, more) = (hosts.next(), hosts.next());
    let Some(authority) =
        host.filter(|_| more.is_none()).and_then(|host| host.to_str().ok()?.parse::<Authority>().ok())
    else {
        return false;
    };
    let is_plain = !authority.as_str().contains('@');
    is_plain && ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| authority.host().eq_ignore_ascii_case(name))
}

/// Pages that the same address serves.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// The API viewer.
    pub viewer: bool,
    /// The staff console.
    pub console: bool,
}

impl Pages {
    fn has(self, path: &str) -> bool {
        match path {
            VIEWER => self.viewer,
            CONSOLE => self.console,
            _ => true,
        }
    }
}

/// `GET /`
#[get("/")]
pub async fn landing(request: HttpRequest, welcome: web::Data<LandingMarkup>, pages: web::Data<Pages>) -> HttpResponse {
    let links =
        LINKS.iter().filter(|(path, ..)| pages.has(path)).fold(String::new(), |mut links, (path, name, what)| {
            let _ = write!(links, "<li><a href=\"{path}\">{name}</a>: {what}</li>");
            links
        });
    let body = format!(
        "<h1>Kontor</h1><p>Commerce backend. The client surface under <code>/api/counterparty</code> serves shops and \
         apps; the platform surface under the rest of <code>/api</code> serves staff, integrations and \
         agents.</p><ul>{links}</ul>{}",
        welcome.said_to(&request)
    );
    page(StatusCode::OK, "Kontor", Width::Wide, &body)
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn printed(hosts: &[&str]) -> String {
        let welcome = LandingMarkup::default();
        welcome.say("secret".to_owned());
        let request = hosts.iter().fold(TestRequest::default(), |request, host| request.append_header((HOST, *host)));
        let request =
            request.insert_header(("X-Forwarded-Host", "localhost")).insert_header(("Forwarded", "host=localhost"));
        welcome.said_to(&request.to_http_request()).to_owned()
    }

    #[test]
    fn a_welcome_is_for_loopback_names_alone() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:8080", "[::1]:8080"] {
            assert_eq!(printed(&[host]), "secret", "{host}");
        }
        let others = [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.168.0.7:8080",
            "localhost@evil.example",
            "evil@localhost",
            "",
            "localhost:8080:1",
        ];
        for host in others {
            assert_eq!(printed(&[host]), ELSEWHERE, "{host:?}");
        }
        assert_eq!(
            (printed(&[]), printed(&["localhost", "evil.example"])),
            (ELSEWHERE.to_owned(), ELSEWHERE.to_owned())
        );
        assert_eq!(LandingMarkup::default().said_to(&TestRequest::default().to_http_request()), "", "no demo, no word");
    }
}
