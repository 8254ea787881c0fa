//! The header `traceparent`, and the spans of incoming requests and outgoing calls that have it.

use std::fmt;

use reqwest::{RequestBuilder, Response};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use tracing_subscriber::Registry;
use tracing_subscriber::registry::LookupSpan;

use crate::layer::OpenSpan;
use crate::{REQUEST, STATUS, TARGET, TRACEPARENT};

/// Position in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// Identifier of the trace; not zero.
    pub trace_id: u128,
    /// Identifier of the span; not zero.
    pub span_id: u64,
    /// `true` if the spans of the trace are recorded.
    pub sampled: bool,
}

/// Parses lowercase hexadecimal digits, and exactly so many.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let valid = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if valid { u128::from_str_radix(text, 16).ok() } else { None }
}

impl TraceContext {
    /// Parses a header. Later versions may append parts, which are ignored.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let version = hex(parts.next()?, 2)?;
        let trace_id = hex(parts.next()?, 32)?;
        let span_id = u64::try_from(hex(parts.next()?, 16)?).ok()?;
        let flags = hex(parts.next()?, 2)?;
        let known = if version == 0 { parts.next().is_none() } else { version < 0xff };
        (known && trace_id != 0 && span_id != 0).then_some(Self { trace_id, span_id, sampled: flags & 1 == 1 })
    }
}

/// Writes the header.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, u8::from(self.sampled))
    }
}

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

/// Share of the requests without a trusted caller, and of the calls of the worker, that are sampled. None by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampling {
    percent: u32,
}

impl Sampling {
    /// Samples this percentage.
    pub fn percent(percent: u32) -> Self {
        Self { percent }
    }

    /// Decides by the identifier, which is random.
    pub(crate) fn takes(self, trace_id: u128) -> bool {
        self.percent > 0 && trace_id % 100 < u128::from(self.percent)
    }

    /// Opens the span of a request. Its parent is the caller's span, if the caller sent a valid `traceparent`. A trace
    /// that begins here has the identifier of the request.
    ///
    /// A trusted caller decides if its trace is sampled. Of traces sampled by other callers, the configured share is exported.
    /// The identifier of the request decides, because callers choose that of the trace.
    pub fn request(self, traceparent: Option<&str>, is_trusted: bool, request_id: u128, method: &'static str) -> Span {
        let parent = traceparent.and_then(TraceContext::parse);
        let is_taken = self.takes(request_id);
        if parent.is_none() && !is_taken {
            return Span::none();
        }
        let trace_id = format!("{:032x}", parent.map_or(request_id, |parent| parent.trace_id));
        // The first half of a UUID contains its version, so it is not zero.
        let span_id = format!("{:016x}", request_id >> 64);
        let parent_span_id = parent.map(|parent| format!("{:016x}", parent.span_id));
        let parent_span_id = parent_span_id.as_deref();
        let sampled = parent.is_none_or(|parent| parent.sampled && (is_trusted || is_taken));
        tracing::info_span!(
            target: TARGET, REQUEST, trace_id, span_id, parent_span_id, sampled, http.request.method = method,
            http.route = Empty, http.response.status_code = Empty
        )
    }

    /// Notes the result of a request in its span.
    pub fn finish(span: &Span, route: &str, status: u16) {
        span.record("http.route", route).record(STATUS, status);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_header_is_read_and_written() {
        let context = TraceContext::parse(EXAMPLE).unwrap();
        assert_eq!(context.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!((context.span_id, context.sampled), (0x00f0_67aa_0ba9_02b7, true));
        assert_eq!(context.to_string(), EXAMPLE);
        let unsampled = TraceContext { sampled: false, ..context };
        assert_eq!(TraceContext::parse(&unsampled.to_string()), Some(unsampled));
    }

    #[test]
    fn later_versions_may_have_more_parts() {
        let later = EXAMPLE.replace("00-4b", "cc-4b") + "-what-comes";
        assert_eq!(TraceContext::parse(&later), TraceContext::parse(EXAMPLE));
        assert_eq!(TraceContext::parse(&EXAMPLE.replace("-01", "-ff")), TraceContext::parse(EXAMPLE));
    }

    #[test]
    fn other_texts_are_no_context() {
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        ] {
            assert_eq!(TraceContext::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_share_is_met() {
        let sampled = |percent| (0..1_000_u128).filter(|id| Sampling::percent(percent).takes(*id)).count();
        assert_eq!((sampled(0), sampled(1), sampled(37), sampled(100)), (0, 10, 370, 1_000));
        assert!(!Sampling::default().takes(0));
    }
}
