//! The landing page, and the start page of the sandbox.

use std::sync::Arc;

use kontor::adapters::SystemClock;
use kontor::cli::demo::{Demo, DemoArguments, tour};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_html::{STYLE, escape};
use kontor_sandbox::{Sandbox, SandboxConfig};
use reqwest::Client;

use crate::support::{Answer, TestServer, send};

async fn browse(http: &Client, url: &str) -> Answer {
    send(http.get(url).header("Accept", "text/html,*/*;q=0.8")).await
}

/// Checks a page: its styles are inline, it loads nothing and runs no script.
fn is_plain(page: &Answer) {
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-type"]),
        (200, &"text/html; charset=utf-8".parse().unwrap())
    );
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("script"), "{policy}");
    assert!(page.text.contains(STYLE) && page.text.contains("width=device-width"));
    for lack in ["<script", "src=", "style=", "onclick"] {
        assert!(!page.text.contains(lack), "{lack}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_console_is_served_unless_it_is_switched_off() {
    for (console, status) in [(true, 200), (false, 404)] {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let server = TestServer::start_with(db, |config| config.console = console).await;
        assert_eq!(browse(&server.http, &format!("{}/console/", server.url)).await.status, status);
        let page = browse(&server.http, &format!("{}/", server.url)).await;
        assert_eq!(page.text.contains("href=\"/console/\""), console);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_page_leads_on_and_knows_no_credentials() {
    let server = TestServer::start(TestDatabase::fresh(Kind::Sqlite)).await;
    let page = browse(&server.http, &format!("{}/", server.url)).await;
    is_plain(&page);
    let links: Vec<_> = page.text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links, ["/console/", "/docs/", "/openapi.json", "/readyz"]);
    for link in links {
        assert_eq!(browse(&server.http, &format!("{}{link}", server.url)).await.status, 200, "{link}");
    }
    assert!(!page.text.contains("demo") && !page.text.contains("Credentials"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_the_sandbox_look_alike() {
    TestServer::prepare();
    let sandbox = Sandbox::start(SandboxConfig::new(Arc::new(SystemClock))).await.unwrap();
    let http = Client::builder().no_proxy().build().unwrap();
    for path in ["/", "/mailbox"] {
        is_plain(&browse(&http, &format!("{}{path}", sandbox.url())).await);
    }
    let lost = browse(&http, &format!("{}/pay/nothing", sandbox.url())).await;
    assert!(lost.status == 404 && lost.text.contains(STYLE));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_shows_its_visitors_everything_they_need() {
    TestServer::prepare();
    let (folder, free) = (tempfile::tempdir().unwrap(), "127.0.0.1:0".parse().unwrap());
    let arguments =
        DemoArguments { bind: Some(free), sandbox_bind: free, data: folder.path().join("shop"), database: None };
    let demo = Demo::start(&arguments, None).await.unwrap();
    let http = Client::builder().no_proxy().build().unwrap();
    let page = browse(&http, &format!("{}/", demo.file.base_url)).await;
    is_plain(&page);
    let file = &demo.file;
    for shown in [&file.app_token, &file.customer.phone, &file.staff.login, &file.staff.password, &escape(&tour(file))]
    {
        assert!(page.text.contains(shown.as_str()), "{shown}");
    }
    for link in [format!("{}/", file.sandbox_url), format!("{}/mailbox", file.sandbox_url)] {
        assert!(page.text.contains(&format!("href=\"{link}\"")), "{link}");
        is_plain(&browse(&http, &link).await);
    }
    let rebound = send(http.get(format!("{}/", file.base_url)).header("Host", "evil.example")).await;
    is_plain(&rebound);
    for secret in [&file.app_token, &file.customer.phone, &file.staff.login, &file.staff.password] {
        assert!(!rebound.text.contains(secret.as_str()), "{secret}");
    }
    demo.stop().await;
}
