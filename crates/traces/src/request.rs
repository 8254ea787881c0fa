//! Spans of incoming requests.

use tracing::Span;
use tracing::field::Empty;

use crate::{REQUEST, STATUS, TARGET, TraceContext};

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

    #[test]
    fn the_share_is_met() {
        let sampled = |percent| (0..1_000_u128).filter(|id| Sampling::percent(percent).takes(*id)).count();
        assert_eq!((sampled(0), sampled(1), sampled(37), sampled(100)), (0, 10, 370, 1_000));
        assert!(!Sampling::default().takes(0));
    }
}
