//! Traces: spans of requests and of outgoing calls.
//!
//! **Owns** the header `traceparent` ([W3C Trace Context](https://www.w3.org/TR/trace-context/)), the decision which
//! traces are sampled, and the export of finished spans as OTLP/HTTP with JSON.
//!
//! **Invariants**
//! - A request without `traceparent` that is not sampled has no span and costs nothing.
//! - Callers that are not trusted cannot raise the share of sampled requests.
//! - At most 4,096 spans are exported per second.
//! - Spans contain route templates, names of peers and status codes; never paths, addresses, headers or bodies.
//! - The queue of finished spans is bounded. Spans that do not fit, or that the collector does not take, are dropped and
//!   counted in `kontor_trace_spans_dropped_total`. No request waits for the export.
//!
//! Spans are those of the crate `tracing`: [`TraceLayer`] gives them their identifiers. Without the layer, calls carry no
//! context.

mod context;
mod export;
mod layer;

pub use context::{Sampling, TraceContext, send};
pub use export::{CollectorError, Exporting, SpanExporter, begin_counters};
pub use layer::TraceLayer;

/// Target of the spans. A filter must let it pass at the level `INFO`.
pub const TARGET: &str = "kontor::trace";

/// Name of the header with the context.
const TRACEPARENT: &str = "traceparent";
/// Name of the spans of requests.
const REQUEST: &str = "request";
/// Field with the status of a response.
const STATUS: &str = "http.response.status_code";
