//! The layer that gives spans their identifiers and hands finished ones to the exporter.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, Random};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::export::FinishedSpan;
use crate::{Sampling, TraceContext};

/// Reason label of spans that did not fit into the queue.
pub(crate) const QUEUE: &str = "queue";

/// Counts dropped spans.
pub(crate) fn count_dropped(reason: &'static str, spans: u64) {
    metrics::counter!("kontor_trace_spans_dropped_total", "reason" => reason).increment(spans);
}

/// Layer of a subscriber, for the spans with the target [`TARGET`](crate::TARGET).
pub struct TraceLayer {
    random: Arc<dyn Random>,
    clock: Arc<dyn Clock>,
    sampling: Sampling,
    queue: Option<Sender<FinishedSpan>>,
}

impl TraceLayer {
    /// Creates a layer that passes contexts on and exports nothing.
    pub fn new(random: Arc<dyn Random>, clock: Arc<dyn Clock>) -> Self {
        Self { random, clock, sampling: Sampling::default(), queue: None }
    }

    pub(crate) fn exporting(self, queue: Sender<FinishedSpan>, sampling: Sampling) -> Self {
        Self { queue: Some(queue), sampling, ..self }
    }

    fn number(&self) -> u128 {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        u128::from_be_bytes(bytes)
    }

    /// Returns the identifier of a new span.
    fn span_id(&self) -> u64 {
        u64::try_from(self.number() >> 64).unwrap_or_default().max(1)
    }

    /// Returns the context of a new span, and its parent: those in its fields, or a child of the span around it. A span
    /// without either begins a trace, if that is sampled.
    fn context(&self, fields: &Fields, around: Option<TraceContext>) -> Option<(TraceContext, Option<u64>)> {
        if let (Some(trace_id), Some(span_id)) = (fields.trace_id, fields.span_id) {
            return Some((TraceContext { trace_id, span_id, sampled: fields.sampled }, fields.parent_span_id));
        }
        if let Some(around) = around {
            return Some((TraceContext { span_id: self.span_id(), ..around }, Some(around.span_id)));
        }
        let trace_id = self.number().max(1);
        let sampled = self.sampling.takes(trace_id);
        sampled.then(|| (TraceContext { trace_id, span_id: self.span_id(), sampled }, None))
    }
}

/// A span that is not finished, in the extensions of its `tracing` span.
pub(crate) struct OpenSpan {
    context: TraceContext,
    parent_id: Option<u64>,
    started_at: DateTime<Utc>,
    attributes: Vec<(&'static str, Value)>,
}

impl OpenSpan {
    pub(crate) fn context(&self) -> TraceContext {
        self.context
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let around = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            extensions.get::<OpenSpan>().map(OpenSpan::context)
        });
        if let Some((context, parent_id)) = self.context(&fields, around) {
            let (started_at, attributes) = (self.clock.now(), fields.attributes);
            span.extensions_mut().insert(OpenSpan { context, parent_id, started_at, attributes });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            let mut fields = Fields::default();
            values.record(&mut fields);
            open.attributes.append(&mut fields.attributes);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some((span, queue)) = context.span(&id).zip(self.queue.as_ref()) else { return };
        let Some(open) = span.extensions_mut().remove::<OpenSpan>().filter(|open| open.context.sampled) else { return };
        let OpenSpan { context, parent_id, started_at, attributes } = open;
        let (kind, ended_at) = (span.name(), self.clock.now());
        let finished = FinishedSpan { kind, context, parent_id, started_at, ended_at, attributes };
        if queue.try_send(finished).is_err() {
            count_dropped(QUEUE, 1);
        }
    }
}

/// Fields of a span. Values are in the form of OTLP.
#[derive(Default)]
struct Fields {
    trace_id: Option<u128>,
    span_id: Option<u64>,
    parent_span_id: Option<u64>,
    sampled: bool,
    attributes: Vec<(&'static str, Value)>,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "trace_id" => self.trace_id = u128::from_str_radix(value, 16).ok(),
            "span_id" => self.span_id = u64::from_str_radix(value, 16).ok(),
            "parent_span_id" => self.parent_span_id = u64::from_str_radix(value, 16).ok(),
            name => self.attributes.push((name, json!({ "stringValue": value }))),
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "sampled" => self.sampled = value,
            name => self.attributes.push((name, json!({ "boolValue": value }))),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.attributes.push((field.name(), json!({ "intValue": value.to_string() })));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
