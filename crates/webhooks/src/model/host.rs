//! Hosts of addresses: strict parsing, and the check for addresses of the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

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
}
