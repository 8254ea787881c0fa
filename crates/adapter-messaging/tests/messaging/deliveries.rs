//! Webhook deliveries.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use kontor_adapter_messaging::HttpWebhookSender;
use kontor_webhooks::model::{SendFailure, SendOutcome};
use kontor_webhooks::ports::WebhookSender;

use crate::support::{BODY, Receiver, loopback, outside, request};

fn sender() -> HttpWebhookSender {
    HttpWebhookSender::new(loopback()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_arrives_as_it_was_signed() {
    let outside = outside().await;
    let (hook, url) = outside.hook(204).await;
    let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(1_800_000_000);
    let request = request(&url, at);
    let signature = request.header("X-Signature").unwrap().to_owned();
    assert_eq!(sender().send(request).await, SendOutcome::Answered(204));

    let received = &outside.deliveries(&hook).await[0];
    assert_eq!(received["body"], BODY);
    let headers = &received["headers"];
    assert_eq!(headers["x-webhook-event"], "order.paid");
    assert_eq!(headers["x-webhook-event-id"], "00000000-0000-0000-0000-000000000001");
    assert_eq!(headers["x-webhook-delivery-id"], "00000000-0000-0000-0000-000000000002");
    assert_eq!(headers["x-webhook-timestamp"], "1800000000");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers["x-signature"], signature.as_str());
    let digest = signature.strip_prefix("sha256=").unwrap();
    assert!(digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_of_the_receiver_is_the_outcome() {
    let outside = outside().await;
    for status in [200, 201, 299, 302, 400, 410, 500, 503] {
        let (_, url) = outside.hook(status).await;
        let outcome = sender().send(request(&url, DateTime::UNIX_EPOCH)).await;
        assert_eq!(outcome, SendOutcome::Answered(status));
        assert_eq!(outcome.is_accepted(), status < 300);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_not_followed() {
    let target = Receiver::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(), false).await;
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let answer = format!("HTTP/1.1 {status}\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", target.url());
        let receiver = Receiver::start(answer, false).await;
        let outcome = sender().send(request(&receiver.url(), DateTime::UNIX_EPOCH)).await;
        assert_eq!(outcome, SendOutcome::Answered(status[..3].parse().unwrap()));
        assert_eq!(receiver.calls(), 1);
    }
    assert_eq!(target.calls(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_does_not_answer_is_given_up() {
    assert_eq!(kontor_webhooks::ports::SEND_TIMEOUT, Duration::from_secs(10));
    let outside = outside().await;
    let (hook, url) = outside.hook(200).await;
    outside.fault("webhook", "timeout").await;
    let impatient = sender().with_timeout(Duration::from_secs(2));
    let begun = Instant::now();
    let outcome = impatient.send(request(&url, DateTime::UNIX_EPOCH)).await;
    assert_eq!(outcome, SendOutcome::Failed(SendFailure::TimedOut));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(outside.deliveries(&hook).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_failures_are_distinguished() {
    let outside = outside().await;
    let (_, url) = outside.hook(200).await;
    outside.fault("webhook", "drop").await;
    let dropped = sender().send(request(&url, DateTime::UNIX_EPOCH)).await;
    assert_eq!(dropped, SendOutcome::Failed(SendFailure::BrokenAnswer));

    let no_http = Receiver::start("SSH-2.0-OpenSSH_9.2\r\n".to_owned(), false).await;
    let outcome = sender().send(request(&no_http.url(), DateTime::UNIX_EPOCH)).await;
    assert_eq!(outcome, SendOutcome::Failed(SendFailure::BrokenAnswer));

    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let closed = sender().send(request(&format!("http://{free}/hook"), DateTime::UNIX_EPOCH)).await;
    assert_eq!(closed, SendOutcome::Failed(SendFailure::NoConnection));
    let plain = sender().send(request(&no_http.url().replace("http:", "https:"), DateTime::UNIX_EPOCH)).await;
    assert_eq!(plain, SendOutcome::Failed(SendFailure::NoConnection));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_answer_is_cut_off() {
    let receiver = Receiver::start("HTTP/1.1 200 OK\r\n\r\n".to_owned(), true).await;
    let begun = Instant::now();
    let outcome = sender().send(request(&receiver.url(), DateTime::UNIX_EPOCH)).await;
    assert_eq!(outcome, SendOutcome::Answered(200));
    assert!(begun.elapsed() < kontor_webhooks::ports::SEND_TIMEOUT);
}
