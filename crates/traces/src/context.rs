//! The header `traceparent`.

use std::fmt;

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
}
