//! Outgoing calls.

use reqwest::{RequestBuilder, Response};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use tracing_subscriber::Registry;
use tracing_subscriber::registry::LookupSpan;

use crate::layer::OpenSpan;
use crate::{STATUS, TARGET, TRACEPARENT, TraceContext};

/// Sends a call to a peer in a span of its own. The call carries the context of the span, if it has one.
pub async fn send(call: RequestBuilder, peer: &'static str) -> Result<Response, reqwest::Error> {
    let span = tracing::info_span!(
        target: TARGET, "call", peer.service = peer, http.response.status_code = Empty, failed = Empty
    );
    let call = match context(&span) {
        Some(context) => call.header(TRACEPARENT, context.to_string()),
        None => call,
    };
    let outcome = call.send().instrument(span.clone()).await;
    match &outcome {
        Ok(response) => span.record(STATUS, response.status().as_u16()),
        Err(_) => span.record("failed", true),
    };
    outcome
}

/// Returns the context that the layer gave the span.
fn context(span: &Span) -> Option<TraceContext> {
    let context = span.with_subscriber(|(id, dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        let extensions = span.extensions();
        extensions.get::<OpenSpan>().map(OpenSpan::context)
    });
    context.flatten()
}
