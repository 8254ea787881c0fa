//! Suggestions, from the sandbox and from providers that misbehave. No request leaves the machine.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::DateTime;
use kontor_adapter_suggest::{SuggestSettings, Suggestions};
use kontor_kernel::{FixedClock, Line};
use kontor_organization::SuggestionError;
use kontor_organization::model::{CompanyField, CompanyQuery};
use kontor_organization::ports::SuggestionProvider;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const KEY: &str = "sandbox-suggest-key";

async fn sandbox() -> SandboxHandle {
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    Sandbox::start(SandboxConfig::new(clock)).await.unwrap()
}

fn client(base_url: &str, key: &str) -> Suggestions {
    Suggestions::new(SuggestSettings { base_url: base_url.to_owned(), api_key: key.to_owned().into() }).unwrap()
}

fn asking(sandbox: &SandboxHandle, key: &str) -> Suggestions {
    client(&format!("{}/suggestions/api/4_1/rs/", sandbox.url()), key)
}

async fn fault(sandbox: &SandboxHandle, fault: &str) {
    let planned = serde_json::json!({ "service": "suggest", "fault": fault });
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = http.post(format!("{}/control/faults", sandbox.url())).json(&planned).send().await.unwrap();
    assert!(answer.status().is_success());
}

fn company(text: &str, field: CompanyField) -> CompanyQuery {
    CompanyQuery::new(Line::parse(text).unwrap(), field).unwrap()
}

#[tokio::test]
async fn addresses_banks_and_companies_are_suggested() {
    let sandbox = sandbox().await;
    let suggestions = asking(&sandbox, KEY);
    let found = suggestions.addresses(Line::parse("москва ТВЕРСК").unwrap()).await.unwrap();
    let address = found.first().unwrap();
    assert!(address.value.starts_with("г Москва, ул Тверская"), "{address:?}");
    assert_eq!((address.city.as_deref(), address.postal_code.as_deref()), (Some("Москва"), Some("125009")));
    assert!(address.unrestricted_value.starts_with("125009, "));
    assert!(suggestions.addresses(Line::parse("no such street").unwrap()).await.unwrap().is_empty());

    for query in ["сбербанк", "044525225", "SABRRUMM"] {
        let found = suggestions.banks(Line::parse(query).unwrap()).await.unwrap();
        let bank = found.first().unwrap();
        assert_eq!((bank.bic.as_deref(), bank.is_active), (Some("044525225"), true), "{query}");
        assert!(bank.correspondent_account.is_some() && bank.address.is_some());
    }

    let by_name = suggestions.companies(company("ромашка", CompanyField::Name)).await.unwrap();
    assert!(by_name.len() > 1 && by_name.iter().all(|company| company.name.contains("РОМАШКА")), "{by_name:?}");
    let by_inn = suggestions.companies(company("7701234567", CompanyField::Inn)).await.unwrap();
    assert_eq!(by_inn.iter().map(|company| company.ogrn.as_deref()).collect::<Vec<_>>(), [Some("1027700000017")]);
    let part = suggestions.companies(company("77012", CompanyField::Inn)).await.unwrap();
    assert!(part.is_empty(), "a part of a number finds nothing");
    sandbox.stop().await;
}

#[tokio::test]
async fn without_an_account_no_provider_is_called() {
    // No server listens there.
    let suggestions = client("http://127.0.0.1:9", "");
    let refused = suggestions.addresses(Line::parse("a").unwrap()).await;
    assert_eq!(refused, Err(SuggestionError::NotConfigured));
}

#[tokio::test]
async fn trouble_is_named_without_the_key() {
    let sandbox = sandbox().await;
    let query = || Line::parse("Тверская").unwrap();
    for (key, kind) in [("wrong-key", None), (KEY, Some("http_500")), (KEY, Some("drop")), (KEY, Some("refuse"))] {
        if let Some(kind) = kind {
            fault(&sandbox, kind).await;
        }
        let refused = asking(&sandbox, key).addresses(query()).await;
        let Err(SuggestionError::Unavailable(reason)) = refused else { panic!("{kind:?}: {refused:?}") };
        assert!(!reason.contains(key) && !reason.contains("Тверская"), "{reason}");
    }
    assert!(asking(&sandbox, KEY).addresses(query()).await.is_ok(), "the next one is served");
    fault(&sandbox, "timeout").await;
    let began = Instant::now();
    let late = asking(&sandbox, KEY).with_timeout(Duration::from_millis(200)).addresses(query()).await;
    assert!(matches!(late, Err(SuggestionError::Unavailable(_))), "{late:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
    sandbox.stop().await;
}

/// Responds to every connection with these bytes; with `endless` it continues with spaces.
async fn provider(answer: &'static str, endless: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = socket.read(&mut request).await;
                let _ = socket.write_all(answer.as_bytes()).await;
                while endless && socket.write_all(&[b' '; 8192]).await.is_ok() {}
            });
        }
    });
    format!("http://127.0.0.1:{port}")
}

#[tokio::test]
async fn senseless_and_endless_answers_are_trouble() {
    for (answer, endless) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"suggestions\":[null]}", false),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\n\r\n", true),
        ("nonsense", false),
    ] {
        let suggestions = client(&provider(answer, endless).await, KEY);
        let refused = suggestions.addresses(Line::parse("a").unwrap()).await;
        assert!(matches!(refused, Err(SuggestionError::Unavailable(_))), "{answer}: {refused:?}");
    }
}
