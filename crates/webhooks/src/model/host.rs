//! Strict parsing of the host of an address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::UrlError;

/// Host in the form that every HTTP client reads in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// `93.184.216.34` or `[2606:4700::1111]`
    Address(IpAddr),
    /// Name in lower case, without the dot of the root.
    Name(String),
}

impl Host {
    /// Parses the host before an optional port. The authority has no credentials.
    pub(super) fn of_authority(authority: &str) -> Result<Self, UrlError> {
        let (host, port) = match authority.rfind(':') {
            Some(colon) if !authority.ends_with(']') => authority.split_at(colon),
            _ => (authority, ":0"),
        };
        let port = port.strip_prefix(':').filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        if port.and_then(|port| port.parse::<u16>().ok()).is_none() {
            return Err(UrlError::Host);
        }
        if let Some(inner) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            return inner.parse::<Ipv6Addr>().map(|address| Self::Address(address.into())).map_err(|_| UrlError::Host);
        }
        let name = host.strip_suffix('.').unwrap_or(host);
        if let Ok(address) = name.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if name.len() > 253 || !name.split('.').all(is_label) || reads_as_number(last) {
            return Err(UrlError::Host);
        }
        Ok(Self::Name(name.to_lowercase()))
    }
}

/// Returns `true` for a label of letters, digits, hyphens and underscores. Letters of other alphabets are
/// converted by the client. Characters that the client would convert into a digit or a dot are refused.
fn is_label(label: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (!c.is_ascii() && c.is_alphabetic());
    (1..=63).contains(&label.chars().count()) && label.chars().all(known)
}

/// Returns `true` if a client may read a host that ends in this label as an address: digits, `0x7f`, or digits
/// among letters that it converts first.
fn reads_as_number(label: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let prefixed = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    let mixed = !label.is_ascii() && label.bytes().any(|byte| byte.is_ascii_digit());
    digits(label) || prefixed.is_some_and(hex) || mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_read_in_their_usual_spelling() {
        let name = |text: &str| Ok(Host::Name(text.to_owned()));
        for (text, host) in [
            ("shop.example", name("shop.example")),
            ("Shop.Example.:8443", name("shop.example")),
            ("receiver_1:0", name("receiver_1")),
            ("xn--80aswg.xn--p1ai", name("xn--80aswg.xn--p1ai")),
            ("Магазин.рф", name("магазин.рф")),
            ("1.2.3.4.example", name("1.2.3.4.example")),
            ("0xcafe.example", name("0xcafe.example")),
            ("93.184.216.34:80", Ok(Host::Address(Ipv4Addr::new(93, 184, 216, 34).into()))),
            ("[::1]:9000", Ok(Host::Address(Ipv6Addr::LOCALHOST.into()))),
        ] {
            assert_eq!(Host::of_authority(text), host, "{text}");
        }
        let refused = "| :80 shop.example: shop.example:65536 shop.example:+1 shop.example:8x ::1 [::1 [::1%eth0] [fe80::1]x \
            shop..example .shop.example shop.example.. 1.2.3 1.2.3.256 1.2.3.04 0xcafe 0x shop%2eexample a*b a|b 0\u{445}7f \
            \u{ff11}.example shop\u{3002}example shop\u{ad}.example";
        for text in refused.split(' ').filter(|text| !text.is_empty()) {
            assert_eq!(Host::of_authority(text), Err(UrlError::Host), "{text}");
        }
        assert_eq!(Host::of_authority(""), Err(UrlError::Host));
        assert_eq!(Host::of_authority(&"a".repeat(64)), Err(UrlError::Host));
        assert_eq!(Host::of_authority(&"a.".repeat(130)), Err(UrlError::Host));
    }
}
