//! Spans over HTTP: a peer and a collector read what they are sent.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::DateTime;
use kontor_kernel::{FixedClock, Random};
use kontor_traces::{Sampling, SpanExporter, TARGET, TraceContext, TraceLayer, send};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tracing::Instrument;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;

const REQUEST_ID: u128 = 0x0123_4567_89ab_4def_8123_4567_89ab_cdef;
const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Numbers every buffer in its first bytes.
struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        let number = (self.0.fetch_add(1, Ordering::Relaxed) + 1).to_be_bytes();
        bytes.iter_mut().zip(number).for_each(|(byte, digit)| *byte = digit);
    }
}

fn layer() -> TraceLayer {
    let clock = FixedClock::at(DateTime::from_timestamp_millis(1_772_337_600_000).unwrap());
    TraceLayer::new(Arc::new(Counting(AtomicU64::new(0))), Arc::new(clock))
}

/// Makes the layer the one of this thread.
fn subscribe(layer: TraceLayer) -> DefaultGuard {
    let filter = Targets::new().with_target(TARGET, LevelFilter::INFO);
    tracing::subscriber::set_default(tracing_subscriber::registry().with(layer.with_filter(filter)))
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// Answers one request. Returns its headers and its body.
async fn answer(listener: &TcpListener, status: &str) -> (String, String) {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let length = socket.read(&mut piece).await.unwrap();
        assert!(length > 0, "the request ends early");
        read.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((headers, body)) = text.split_once("\r\n\r\n") else { continue };
        let headers = headers.to_lowercase();
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() == length.map_or(0, |length| length.parse().unwrap()) {
            let response = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            socket.write_all(response.as_bytes()).await.unwrap();
            return (headers, body.to_owned());
        }
    }
}

fn traceparent(headers: &str) -> Option<TraceContext> {
    TraceContext::parse(headers.lines().find_map(|line| line.strip_prefix("traceparent: "))?)
}

/// Calls a peer. Returns the context that the call carried.
async fn call(status: &str) -> Option<TraceContext> {
    // An error means that another test was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (peer, url) = listen().await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let calling = async { send(client.post(url), "peer").await.unwrap() }.in_current_span();
    let ((headers, _), response) = tokio::join!(answer(&peer, status), calling);
    assert_eq!(response.status().as_str(), status);
    traceparent(&headers)
}

fn spans(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_request_and_its_call_are_spans_of_the_trace_of_the_caller() {
    let (collector, url) = listen().await;
    let (layer, exporter) = SpanExporter::new(layer(), &url, Sampling::percent(0)).unwrap();
    let _subscriber = subscribe(layer);
    let caller = TraceContext::parse(CALLER).unwrap();
    let span = Sampling::default().request(Some(CALLER), true, REQUEST_ID, "POST");
    let carried = call("503").instrument(span.clone()).await.unwrap();
    assert_eq!((carried.trace_id, carried.sampled), (caller.trace_id, true));
    Sampling::finish(&span, "/api/orders/{id}", 201);
    drop(span);

    let exporting = exporter.start();
    let ((headers, body), ()) = tokio::join!(answer(&collector, "200"), exporting.stop());
    assert!(headers.contains("content-type: application/json"), "{headers}");
    let spans = spans(&body);
    assert_eq!(spans.len(), 2, "{body}");
    let [outgoing, request] = [&spans[0], &spans[1]];
    for span in [outgoing, request] {
        assert_eq!(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(span["startTimeUnixNano"], "1772337600000000000");
    }
    assert_eq!(
        (&outgoing["kind"], &outgoing["name"], &outgoing["status"]["code"]),
        (&json!(3), &json!("peer"), &json!(2))
    );
    assert_eq!(outgoing["spanId"], format!("{:016x}", carried.span_id));
    assert_eq!(outgoing["parentSpanId"], "0123456789ab4def");
    assert_eq!((&request["kind"], &request["status"]["code"]), (&json!(2), &json!(0)));
    assert_eq!(request["name"], "POST /api/orders/{id}");
    assert_eq!(
        (&request["spanId"], &request["parentSpanId"]),
        (&json!("0123456789ab4def"), &json!("00f067aa0ba902b7"))
    );
    let status = json!({ "key": "http.response.status_code", "value": { "intValue": "201" } });
    assert!(request["attributes"].as_array().unwrap().contains(&status), "{request}");
}

#[tokio::test]
async fn contexts_are_passed_on_without_an_exporter() {
    let _subscriber = subscribe(layer());
    let unsampled = CALLER.replace("-01", "-00");
    let span = Sampling::default().request(Some(&unsampled), true, REQUEST_ID, "GET");
    let carried = call("200").instrument(span).await.unwrap();
    let caller = TraceContext::parse(&unsampled).unwrap();
    assert_eq!((carried.trace_id, carried.sampled), (caller.trace_id, false));
    assert_ne!(carried.span_id, caller.span_id);
    // A call outside a request begins no trace.
    assert_eq!(call("200").await, None);
    for header in [None, Some("nonsense")] {
        assert!(Sampling::default().request(header, true, REQUEST_ID, "GET").is_none());
    }
}

#[tokio::test]
async fn only_a_trusted_caller_decides_beyond_the_share() {
    let (_collector, url) = listen().await;
    let (layer, _exporter) = SpanExporter::new(layer(), &url, Sampling::default()).unwrap();
    let _subscriber = subscribe(layer);
    let trace_id = TraceContext::parse(CALLER).unwrap().trace_id;
    let unsampled = CALLER.replace("-01", "-00");
    for (header, is_trusted, percent, expected) in [
        (CALLER, true, 0, true),
        (CALLER, false, 0, false),
        (CALLER, false, 100, true),
        (unsampled.as_str(), true, 100, false),
        (unsampled.as_str(), false, 100, false),
    ] {
        let span = Sampling::percent(percent).request(Some(header), is_trusted, REQUEST_ID, "GET");
        let carried = call("200").instrument(span).await.unwrap();
        assert_eq!((carried.trace_id, carried.sampled), (trace_id, expected), "{header} {is_trusted} {percent}");
    }
}

#[tokio::test]
async fn a_call_in_the_background_begins_a_sampled_trace() {
    let (_collector, url) = listen().await;
    let (layer, _exporter) = SpanExporter::new(layer(), &url, Sampling::percent(100)).unwrap();
    let _subscriber = subscribe(layer);
    assert!(call("200").await.unwrap().sampled);
    assert!(!Sampling::percent(100).request(None, false, REQUEST_ID, "GET").is_none());
}

#[tokio::test]
async fn a_flood_of_spans_fills_the_queue_and_no_more() {
    let (collector, url) = listen().await;
    let (layer, exporter) = SpanExporter::new(layer(), &url, Sampling::percent(100)).unwrap();
    let _subscriber = subscribe(layer);
    let flood = || {
        for _ in 0..5_000 {
            drop(Sampling::default().request(Some(CALLER), true, REQUEST_ID, "GET"));
        }
    };
    flood();
    let exporting = exporter.start();
    let collect = async {
        let mut count = 0;
        for status in ["200", "500", "200", "200", "200", "200", "200", "200"] {
            count += spans(&answer(&collector, status).await.1).len();
            // Spans that finish meanwhile wait for the next second.
            flood();
        }
        count
    };
    let (count, ()) = tokio::join!(collect, exporting.stop());
    assert_eq!(count, 4_096);
    assert!(tokio::time::timeout(Duration::from_millis(100), collector.accept()).await.is_err());
}
