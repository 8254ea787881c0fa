//! Start, stop and load.

use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use kontor_sandbox::{Sandbox, SandboxConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{id, moment, order, outside, outside_with};

#[tokio::test]
async fn a_stopped_sandbox_leaves_its_ports_at_once() {
    let outside = outside().await;
    outside.fault("acquirer", "timeout", 1, 30_000).await;
    let held = outside.write("/payments", "a", Some(&order(json!({})))).send();
    let held = tokio::spawn(held);
    let (addr, smtp) = (outside.handle.addr(), outside.handle.smtp_addr());
    let mut letter = TcpStream::connect(smtp).await.unwrap();
    let is_held = async {
        while outside.get("/control/faults").await.1["faults"] != json!([]) {
            moment().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_held).await.unwrap();
    let started = Instant::now();
    outside.handle.stop().await;
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let _ = held.await.unwrap();
    let mut rest = Vec::new();
    letter.read_to_end(&mut rest).await.unwrap();
    for port in [addr, smtp] {
        assert!(TcpStream::connect(port).await.is_err());
    }
    let again = Sandbox::start(SandboxConfig { bind: addr, ..SandboxConfig::new(outside.clock) }).await.unwrap();
    assert_eq!(again.addr(), addr);
    again.stop().await;
}

#[tokio::test]
async fn a_connection_that_rests_can_be_used_again() {
    let outside = outside().await;
    let mut connection = TcpStream::connect(outside.handle.addr()).await.unwrap();
    let mut answer = [0; 12];
    // By default servers close connections that are idle for five seconds.
    for rest in [Duration::from_secs(7), Duration::ZERO] {
        connection.write_all(b"GET /control/clock HTTP/1.1\r\nHost: sandbox\r\n\r\n").await.unwrap();
        connection.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        let rested =
            tokio::time::timeout(rest, async { while connection.read(&mut [0; 512]).await.unwrap() > 0 {} }).await;
        assert!(rested.is_err(), "the connection was closed");
    }
}

#[test]
fn it_runs_inside_an_actix_system_too() {
    actix_web::rt::System::new().block_on(async {
        let outside = outside().await;
        assert_eq!(outside.get("/control/clock").await.0, 200);
        outside.handle.stop().await;
    });
}

#[tokio::test]
async fn a_taken_port_is_reported() {
    let outside = outside().await;
    let addr = outside.handle.addr();
    let Err(error) = Sandbox::start(SandboxConfig { bind: addr, ..SandboxConfig::new(outside.clock) }).await else {
        panic!("two sandboxes on one port");
    };
    assert!(error.to_string().contains(&addr.to_string()), "{error}");
}

#[tokio::test]
async fn the_public_url_is_what_pages_and_hooks_are_reached_by() {
    let url = Some("https://sandbox.test/".to_owned());
    let outside = outside_with(|config| SandboxConfig { public_url: url, ..config }).await;
    assert_eq!(outside.handle.url(), "https://sandbox.test");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_payments_and_their_notifications_pass_quickly() {
    let outside = outside().await;
    let (hook, url) = outside.hook(json!({})).await;
    outside.handle.set_notification_url(url);
    let started = Instant::now();
    stream::iter(0..2_000)
        .for_each_concurrent(32, async |number| {
            let payment = outside.payment(&format!("key-{number}"), json!({})).await;
            let page = payment["confirmation"]["confirmation_url"].as_str().unwrap();
            let form = [("action", "pay"), ("card", "5555555555554444")];
            assert_eq!(outside.http.post(page).form(&form).send().await.unwrap().status(), 303);
            let (_, paid) = outside.look(&format!("/payments/{}", id(&payment))).await;
            assert_eq!(paid["status"], "succeeded");
        })
        .await;
    let paid = started.elapsed();
    assert_eq!(outside.deliveries(&hook, 2_000).await.len(), 2_000);
    println!("2000 payments in {paid:?}, told after {:?}", started.elapsed());
    assert!(paid < Duration::from_mins(1), "{paid:?}");
}
