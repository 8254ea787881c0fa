//! Internal addresses are never connected to, in any spelling.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::DateTime;
use kontor_adapter_messaging::{HttpWebhookSender, Lookup};
use kontor_webhooks::model::{EndpointUrl, OutboundPolicy, SendFailure, SendOutcome};
use kontor_webhooks::ports::WebhookSender;

use crate::support::{Receiver, loopback, request};

const FORBIDDEN: SendOutcome = SendOutcome::Failed(SendFailure::ForbiddenAddress);

/// Names with addresses set by the test.
#[derive(Default)]
struct Names {
    known: HashMap<String, Vec<IpAddr>>,
    lookups: AtomicUsize,
}

impl Names {
    fn with(name: &str, addresses: &str) -> Arc<Self> {
        let addresses = addresses.split_whitespace().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self { known: HashMap::from([(name.to_owned(), addresses)]), lookups: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        self.known.get(host).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

fn public_only() -> OutboundPolicy {
    OutboundPolicy { allow_http: true, ..OutboundPolicy::default() }
}

async fn send(policy: OutboundPolicy, names: &Arc<Names>, url: &str) -> SendOutcome {
    let sender = HttpWebhookSender::with_lookup(policy, names.clone()).unwrap();
    sender.send(request(url, DateTime::UNIX_EPOCH)).await
}

#[tokio::test]
async fn a_name_that_leads_to_an_internal_address_is_not_called() {
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), false).await;
    let url = format!("http://shop.example:{}/hook", receiver.port);
    let internal = [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.1.2.3",
        "172.20.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
        // One internal address among public ones is enough.
        "93.184.216.34 127.0.0.1",
        "2606:4700::1111 ::1",
    ];
    for addresses in internal {
        let outcome = send(public_only(), &Names::with("shop.example", addresses), &url).await;
        assert_eq!(outcome, FORBIDDEN, "{addresses}");
    }
    assert_eq!(receiver.calls(), 0);
}

#[tokio::test]
async fn an_internal_address_in_any_spelling_is_not_called() {
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), false).await;
    let (names, port) = (Names::with("localhost", "127.0.0.1"), receiver.port);
    let spellings = [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "127.0.0.1.",
        "localhost",
        "LocalHost.",
    ];
    for host in spellings {
        let outcome = send(public_only(), &names, &format!("http://{host}:{port}/hook")).await;
        assert_eq!(outcome, FORBIDDEN, "{host}");
    }
    // Spellings that only clients understand never become an address to send to.
    for host in
        ["2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "0", "%31%32%37.0.0.1"]
    {
        assert!(EndpointUrl::parse(&format!("http://{host}:{port}/hook")).is_err(), "{host}");
    }
    assert_eq!(receiver.calls(), 0);
    assert_eq!(send(loopback(), &names, &format!("http://127.0.0.1:{port}/hook")).await, SendOutcome::Answered(200));
}

#[tokio::test]
async fn plain_http_is_not_spoken_where_only_https_is_allowed() {
    let names = Names::with("shop.example", "127.0.0.1");
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), false).await;
    let policy = OutboundPolicy { allow_http: false, ..loopback() };
    assert_eq!(send(policy, &names, &receiver.url()).await, FORBIDDEN);
    assert_eq!(receiver.calls(), 0);
}

#[tokio::test]
async fn the_connection_goes_to_the_checked_address_of_the_one_lookup() {
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), false).await;
    // Only this lookup resolves the name.
    let names = Names::with("shop.example", "127.0.0.1");
    let url = format!("http://shop.example:{}/hook", receiver.port);
    assert_eq!(send(loopback(), &names, &url).await, SendOutcome::Answered(200));
    assert_eq!((receiver.calls(), names.lookups.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_unknown() {
    for names in [Names::with("other.example", "93.184.216.34"), Names::with("shop.example", "")] {
        let outcome = send(public_only(), &names, "http://shop.example/hook").await;
        assert_eq!(outcome, SendOutcome::Failed(SendFailure::UnknownHost));
    }
}
