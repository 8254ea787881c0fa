//! Export of finished spans, as OTLP/HTTP with JSON.

use std::error::Error;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::layer::{QUEUE, count_dropped};
use crate::{REQUEST, STATUS, Sampling, TraceContext, TraceLayer};

/// Maximum number of finished spans that wait for the export, and that are exported between two pauses.
const QUEUE_SPANS: usize = 4_096;
/// Maximum number of spans of one call.
const BATCH_SPANS: usize = 512;
/// Pause between exports.
const PAUSE: Duration = Duration::from_secs(1);
/// Timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Reason label of spans that the collector did not take.
const COLLECTOR: &str = "collector";

/// Gives the counter of dropped spans its first values, so that alerts on growth see the first drop.
pub fn begin_counters() {
    for reason in [QUEUE, COLLECTOR] {
        count_dropped(reason, 0);
    }
}

/// The client of the collector could not be created.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created: {0}")]
pub struct CollectorError(#[from] reqwest::Error);

/// A finished span of a sampled trace.
pub(crate) struct FinishedSpan {
    /// Name of the `tracing` span: a request or a call.
    pub(crate) kind: &'static str,
    pub(crate) context: TraceContext,
    pub(crate) parent_id: Option<u64>,
    pub(crate) started_at: DateTime<Utc>,
    pub(crate) ended_at: DateTime<Utc>,
    pub(crate) attributes: Vec<(&'static str, Value)>,
}

/// Exporter that was not started yet.
pub struct SpanExporter {
    queue: mpsc::Receiver<FinishedSpan>,
    client: reqwest::Client,
    url: String,
}

/// Exporter at work.
pub struct Exporting {
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl SpanExporter {
    /// Creates an exporter to a collector, and lets the layer send its spans to it.
    pub fn new(layer: TraceLayer, url: &str, sampling: Sampling) -> Result<(TraceLayer, Self), CollectorError> {
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(TIMEOUT)
            .user_agent(concat!("Kontor/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let (sender, queue) = mpsc::channel(QUEUE_SPANS);
        Ok((layer.exporting(sender, sampling), Self { queue, client, url: url.to_owned() }))
    }

    /// Exports until [`Exporting::stop`]. Needs a tokio runtime.
    pub fn start(self) -> Exporting {
        let (stop, stopped) = oneshot::channel();
        Exporting { stop, running: tokio::spawn(self.run(stopped)) }
    }

    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        let mut was_taken = true;
        loop {
            let is_last = tokio::select! {
                _ = &mut stopped => true,
                () = tokio::time::sleep(PAUSE) => false,
            };
            for _ in 0..QUEUE_SPANS / BATCH_SPANS {
                let batch: Vec<_> = std::iter::from_fn(|| self.queue.try_recv().ok()).take(BATCH_SPANS).collect();
                if batch.is_empty() {
                    break;
                }
                let outcome = self.export(&batch).await;
                match &outcome {
                    Ok(()) if !was_taken => tracing::info!("the collector of traces takes spans again"),
                    Ok(()) => {}
                    Err(cause) => {
                        count_dropped(COLLECTOR, u64::try_from(batch.len()).unwrap_or(u64::MAX));
                        if was_taken {
                            tracing::warn!(%cause, "the collector of traces takes no spans");
                        }
                    }
                }
                was_taken = outcome.is_ok();
            }
            if is_last {
                return;
            }
        }
    }

    /// Sends spans once. Returns the status or the error if the collector has not taken them.
    async fn export(&self, batch: &[FinishedSpan]) -> Result<(), String> {
        match self.client.post(&self.url).json(&body(batch)).send().await {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(response.status().to_string()),
            Err(error) => Err(cause(&error).to_string()),
        }
    }
}

impl Exporting {
    /// Exports the remaining spans and stops.
    pub async fn stop(self) {
        // An error means that the task has ended.
        let _ = self.stop.send(());
        let _ = tokio::time::timeout(TIMEOUT, self.running).await;
    }
}

/// Returns the first cause of an error, such as a refused connection. The error itself names only the URL.
fn cause(error: &dyn Error) -> &dyn Error {
    match error.source() {
        Some(source) => cause(source),
        None => error,
    }
}

fn body(batch: &[FinishedSpan]) -> Value {
    let resource = [
        attribute("service.name", &json!({ "stringValue": "kontor" })),
        attribute("service.version", &json!({ "stringValue": env!("CARGO_PKG_VERSION") })),
    ];
    let spans: Vec<Value> = batch.iter().map(span).collect();
    let scope = json!({ "scope": { "name": "kontor" }, "spans": spans });
    json!({ "resourceSpans": [{ "resource": { "attributes": resource }, "scopeSpans": [scope] }] })
}

fn attribute(key: &str, value: &Value) -> Value {
    json!({ "key": key, "value": value })
}

fn span(span: &FinishedSpan) -> Value {
    let text =
        |name: &str| span.attribute(name).and_then(|value| value.get("stringValue")?.as_str()).unwrap_or_default();
    let status = span.attribute(STATUS).and_then(|value| value.get("intValue")?.as_str()?.parse::<u16>().ok());
    let is_request = span.kind == REQUEST;
    let (kind, name, first_error) = if is_request {
        (2, format!("{} {}", text("http.request.method"), text("http.route")), 500)
    } else {
        (3, text("peer.service").to_owned(), 400)
    };
    let failed = span.attribute("failed").is_some() || status.is_some_and(|status| status >= first_error);
    let code = if failed { 2 } else { 0 };
    let nanos = |time: DateTime<Utc>| time.timestamp_nanos_opt().unwrap_or_default().to_string();
    let attributes: Vec<Value> = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    json!({
        "traceId": format!("{:032x}", span.context.trace_id),
        "spanId": format!("{:016x}", span.context.span_id),
        "parentSpanId": span.parent_id.map_or_else(String::new, |id| format!("{id:016x}")),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": nanos(span.started_at),
        "endTimeUnixNano": nanos(span.ended_at),
        "attributes": attributes,
        "status": { "code": code },
    })
}

impl FinishedSpan {
    fn attribute(&self, name: &str) -> Option<&Value> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}
