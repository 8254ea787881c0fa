//! Addresses of endpoints: strict parsing of hosts, the check for addresses of the public Internet, and the policy for
//! outbound calls.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

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

const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

const fn v6(first: u16, second: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), prefix)
}

/// IANA's special-purpose registry and the multicast and reserved blocks.
const INTERNAL_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 8),       // "this network"
    v4(10, 0, 0, 8),      // private
    v4(100, 64, 0, 10),   // carrier-grade NAT
    v4(127, 0, 0, 8),     // loopback
    v4(169, 254, 0, 16),  // link-local, cloud metadata
    v4(172, 16, 0, 12),   // private
    v4(192, 0, 0, 24),    // protocol assignments
    v4(192, 0, 2, 24),    // documentation
    v4(192, 88, 99, 24),  // 6to4 relays
    v4(192, 168, 0, 16),  // private
    v4(198, 18, 0, 15),   // benchmarking
    v4(198, 51, 100, 24), // documentation
    v4(203, 0, 113, 24),  // documentation
    v4(224, 0, 0, 4),     // multicast
    v4(240, 0, 0, 4),     // reserved, broadcast
];

/// The only block assigned to the public Internet. Loopback, unique local, link-local, multicast, IPv4-mapped,
/// IPv4-compatible and NAT64 addresses are outside it.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// Special-purpose blocks inside the global block.
const INTERNAL_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),      // protocol assignments, among them Teredo, which carries IPv4 addresses
    v6(0x2001, 0x0db8, 32), // documentation
    v6(0x2002, 0, 16),      // 6to4, which carries IPv4 addresses
    v6(0x3fff, 0, 20),      // documentation
];

/// Returns `true` if an address is on the public Internet: not private, local, reserved or wrapped in another
/// protocol.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !INTERNAL_V4.iter().any(|block| block.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !INTERNAL_V6.iter().any(|block| block.contains(&address))
        }
    }
}

/// Errors of a text that is no webhook address under any policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not an absolute `http` or `https` address with a host.
    #[error("must be an absolute https address")]
    NotHttp,
    /// Host or port in an unusual notation.
    #[error("must have a host name or an address in its canonical form")]
    Host,
    /// A user name or password in the address would end up in logs.
    #[error("must not contain a user name or password")]
    Credentials,
    /// A fragment is never sent.
    #[error("must not contain a fragment")]
    Fragment,
    /// Longer than the database column allows.
    #[error("must have at most 2048 characters")]
    TooLong,
}

/// Reasons why this installation does not call a valid address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// Plain `http`.
    #[error("must begin with https://")]
    HttpsOnly,
    /// A host of the internal network, of this machine or of a reserved block.
    #[error("must not point to an internal address")]
    InternalHost,
}

/// Target address of deliveries: absolute `http` or `https`, without credentials and fragment, at most 2048
/// characters.
///
/// Only the usual notation of a host is accepted. HTTP clients read `0x7f.1` as `127.0.0.1`; this type refuses
/// it, so that the checked address is the called one. Names in national letters are left to the client's own
/// conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointUrl {
    text: String,
    https: bool,
    host: Host,
}

impl EndpointUrl {
    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        if text.chars().count() > 2048 {
            return Err(UrlError::TooLong);
        }
        // A client would silently drop line breaks and tabs, and read backslashes as slashes.
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(UrlError::NotHttp);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::NotHttp)?;
        let https = scheme.eq_ignore_ascii_case("https");
        if !https && !scheme.eq_ignore_ascii_case("http") {
            return Err(UrlError::NotHttp);
        }
        if rest.contains('#') {
            return Err(UrlError::Fragment);
        }
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        Ok(Self { text: text.to_owned(), https, host: Host::of_authority(authority)? })
    }

    /// Address as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Host of the address if it is an IP address.
    pub fn literal_address(&self) -> Option<IpAddr> {
        match &self.host {
            Host::Address(address) => Some(*address),
            Host::Name(_) => None,
        }
    }

    /// Returns `true` for `localhost` and the names below it, which resolve to this machine.
    fn is_localhost(&self) -> bool {
        matches!(&self.host, Host::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Policy for the target addresses of deliveries. By default only the public Internet over `https`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboundPolicy {
    /// `true` if plain `http` is accepted.
    pub allow_http: bool,
    /// Internal networks that may be called, such as `127.0.0.0/8` on a developer's machine.
    pub internal_networks: Vec<IpNet>,
}

impl OutboundPolicy {
    /// Permits every address, also over plain `http`. For development, where the receiver runs beside the
    /// service.
    pub fn unrestricted() -> Self {
        Self { allow_http: true, internal_networks: vec![Ipv4Net::default().into(), Ipv6Net::default().into()] }
    }

    /// Returns `true` if a connection to this address may be opened.
    pub fn permits(&self, address: IpAddr) -> bool {
        is_public(address) || self.internal_networks.iter().any(|network| network.contains(&address))
    }

    /// Checks the address as written. The addresses its name resolves to are checked at the call.
    pub fn check(&self, url: &EndpointUrl) -> Result<(), UrlRefusal> {
        if !url.https && !self.allow_http {
            return Err(UrlRefusal::HttpsOnly);
        }
        let internal = match url.literal_address() {
            Some(address) => !self.permits(address),
            None => url.is_localhost() && !self.permits(Ipv4Addr::LOCALHOST.into()),
        };
        if internal { Err(UrlRefusal::InternalHost) } else { Ok(()) }
    }
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

    #[test]
    fn internal_addresses_of_every_class_are_refused() {
        let internal = [
            ("unspecified", "0.0.0.0 0.255.255.255 ::"),
            ("loopback", "127.0.0.1 127.255.255.254 ::1"),
            ("private", "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255"),
            ("carrier-grade NAT", "100.64.0.1 100.127.255.255"),
            ("link-local", "169.254.169.254 169.254.0.1 fe80::1 febf::1"),
            ("unique local", "fc00::1 fd00:ec2::254 fdff::1"),
            ("site-local", "fec0::1"),
            ("multicast", "224.0.0.1 239.255.255.255 ff02::1 ff0e::1"),
            ("broadcast and reserved", "255.255.255.255 240.0.0.1"),
            ("documentation", "192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1"),
            ("benchmarking", "198.18.0.1 198.19.255.255 2001:2::1"),
            ("protocol assignments", "192.0.0.1 192.0.0.170"),
            ("6to4", "192.88.99.1 2002:7f00:1::1"),
            ("Teredo", "2001::1 2001:0:7f00:1::1"),
            ("mapped", "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8"),
            ("compatible", "::127.0.0.1 ::8.8.8.8"),
            ("NAT64", "64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1"),
            ("discard", "100::1"),
            ("segment routing", "5f00::1"),
        ];
        for (class, addresses) in internal {
            for address in addresses.split(' ') {
                assert!(!is_public(address.parse().unwrap()), "{class}: {address}");
            }
        }
        let public = "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 \
            169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 \
            198.20.0.0 223.255.255.255 2606:4700:4700::1111 2a00:1450::1 2001:4860:4860::8888 2003::1";
        for address in public.split_whitespace() {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn only_plain_absolute_http_addresses_are_webhooks() {
        for text in ["https://shop.example/hook?source=kontor", " http://shop.example:8080 ", "HTTPS://Shop.example/"] {
            assert_eq!(EndpointUrl::parse(text).unwrap().as_str(), text.trim(), "{text}");
        }
        let long = format!("https://shop.example/{}", "a".repeat(2048));
        let refused = [
            ("", UrlError::NotHttp),
            ("shop.example/hook", UrlError::NotHttp),
            ("/hook", UrlError::NotHttp),
            ("ftp://shop.example", UrlError::NotHttp),
            ("javascript:alert(1)", UrlError::NotHttp),
            ("file:///etc/passwd", UrlError::NotHttp),
            ("https:shop.example", UrlError::NotHttp),
            ("https:///shop.example", UrlError::Host),
            ("https://", UrlError::Host),
            ("https://?query", UrlError::Host),
            ("https://shop.example/\nHost: other", UrlError::NotHttp),
            ("https:\\\\shop.example", UrlError::NotHttp),
            ("https://user@shop.example", UrlError::Credentials),
            ("https://:password@shop.example", UrlError::Credentials),
            ("https://shop.example/#part", UrlError::Fragment),
            (long.as_str(), UrlError::TooLong),
        ];
        for (text, error) in refused {
            assert_eq!(EndpointUrl::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn internal_hosts_are_refused_and_unusual_spellings_are_no_addresses() {
        let policy = OutboundPolicy { allow_http: true, ..OutboundPolicy::default() };
        let internal = "http://127.0.0.1 http://[::1] http://[::ffff:127.0.0.1] http://[::ffff:7f00:1] \
            http://169.254.169.254/latest http://127.0.0.1. http://localhost http://LOCALHOST. http://a.localhost:8080 \
            http://[fd00::1]";
        for text in internal.split_whitespace() {
            let url = EndpointUrl::parse(text).unwrap();
            assert_eq!(policy.check(&url), Err(UrlRefusal::InternalHost), "{text}");
        }
        let unusual = "http://2130706433 http://0x7f000001 http://0x7f.1 http://0177.0.0.1 http://127.1 http://0 \
            http://%31%32%37.0.0.1 http://①②⑦.0.0.1 http://127。0。0。1";
        for text in unusual.split_whitespace() {
            assert_eq!(EndpointUrl::parse(text), Err(UrlError::Host), "{text}");
        }
        assert_eq!(policy.check(&EndpointUrl::parse("http://93.184.216.34/").unwrap()), Ok(()));
    }

    #[test]
    fn a_policy_can_open_single_networks_or_everything() {
        let networks = vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let policy = OutboundPolicy { allow_http: true, internal_networks: networks };
        for text in ["http://127.0.0.1:9000/hook", "http://localhost:9000", "http://[::1]:9000"] {
            assert_eq!(policy.check(&EndpointUrl::parse(text).unwrap()), Ok(()), "{text}");
        }
        let metadata = EndpointUrl::parse("http://169.254.169.254").unwrap();
        assert_eq!(policy.check(&metadata), Err(UrlRefusal::InternalHost));
        assert_eq!(OutboundPolicy::unrestricted().check(&metadata), Ok(()));
        let plain = EndpointUrl::parse("http://shop.example").unwrap();
        assert_eq!(OutboundPolicy::default().check(&plain), Err(UrlRefusal::HttpsOnly));
    }
}
