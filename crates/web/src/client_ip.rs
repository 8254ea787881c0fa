//! Address of the client. Only trusted proxies may forward it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use actix_web::http::header::HeaderMap;
use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use ipnet::IpNet;

use super::ApiError;

/// Proxies whose headers `X-Forwarded-For` and `traceparent` are trusted.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(pub Vec<IpNet>);

impl TrustedProxies {
    /// Returns `true` if the request comes directly from a trusted proxy.
    pub fn have_sent(request: &HttpRequest) -> bool {
        let peer = request.peer_addr().map(|peer| peer.ip().to_canonical());
        let trusted = request.app_data::<web::Data<Self>>();
        peer.zip(trusted).is_some_and(|(peer, trusted)| trusted.trusts(peer))
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(&address))
    }

    /// Walks back from the connection. Each trusted hop vouches for the address before it.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        let forwarded = headers.get_all("x-forwarded-for").filter_map(|value| value.to_str().ok());
        let hops: Vec<&str> = forwarded.flat_map(|line| line.split(',')).collect();
        for hop in hops.iter().rev() {
            if !self.trusts(client) {
                break;
            }
            let Some(address) = address_of(hop.trim()) else { break };
            client = address.to_canonical();
        }
        client
    }
}

/// Returns the address of a hop. Some proxies add the port, and brackets around an IPv6 address.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// Address of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIp(pub IpAddr);

impl ClientIp {
    /// Reads the address from a request. Without a peer (tests without a socket) it is the unspecified address.
    pub fn of(request: &HttpRequest) -> Self {
        let peer = request.peer_addr().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.ip().to_canonical());
        let trusted = request.app_data::<web::Data<TrustedProxies>>();
        Self(trusted.map_or(peer, |trusted| trusted.client(peer, request.headers())))
    }
}

impl ClientIp {
    /// Returns the subject of rate limits by address. An IPv6 address counts as its /64: a subscriber gets a whole /64
    /// and can change addresses within it.
    pub fn subject(&self) -> String {
        match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("{}/64", Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        }
    }
}

impl FromRequest for ClientIp {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(Ok(Self::of(request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};
    use actix_web::test::TestRequest;

    fn client(trusted: &str, peer: &str, forwarded: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("x-forwarded-for"), HeaderValue::from_str(forwarded).unwrap());
        let proxies = TrustedProxies(trusted.split_whitespace().map(|range| range.parse().unwrap()).collect());
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_hops_vouch_for_others() {
        assert_eq!(client("", "203.0.113.9", "198.51.100.7"), "203.0.113.9");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.7, 10.2.0.1"), "198.51.100.7");
        assert_eq!(client("10.0.0.0/8", "10.0.0.1", "nonsense"), "10.0.0.1");
    }

    #[test]
    fn only_the_direct_peer_is_a_proxy_that_has_sent_the_request() {
        for (peer, expected) in [("10.0.0.1:80", true), ("[::ffff:10.0.0.1]:80", true), ("203.0.113.9:80", false)] {
            let request = TestRequest::default().peer_addr(peer.parse().unwrap());
            let request = request.insert_header(("x-forwarded-for", "10.0.0.1")).to_http_request();
            assert!(!TrustedProxies::have_sent(&request), "none is trusted");
            let proxies = TrustedProxies(vec!["10.0.0.0/8".parse().unwrap()]);
            let request = TestRequest::default().peer_addr(peer.parse().unwrap()).app_data(web::Data::new(proxies));
            let request = request.insert_header(("x-forwarded-for", "10.0.0.1")).to_http_request();
            assert_eq!(TrustedProxies::have_sent(&request), expected, "{peer}");
        }
    }

    #[test]
    fn a_hop_may_have_a_port_and_brackets() {
        for (forwarded, expected) in [
            ("198.51.100.7:52114", "198.51.100.7"),
            ("[2001:db8::7]:52114", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[::ffff:198.51.100.7]:1", "198.51.100.7"),
            ("1.1.1.1, 198.51.100.7:80, 10.2.0.1:443", "198.51.100.7"),
            ("198.51.100.7:port", "10.0.0.1"),
            ("198.51.100.7:99999", "10.0.0.1"),
            ("[198.51.100.7", "10.0.0.1"),
            ("", "10.0.0.1"),
        ] {
            assert_eq!(client("10.0.0.0/8", "10.0.0.1", forwarded), expected, "{forwarded}");
        }
    }

    #[test]
    fn limits_count_an_ipv6_network_and_not_each_of_its_addresses() {
        let subject = |text: &str| ClientIp(text.parse().unwrap()).subject();
        assert_eq!(subject("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(subject("2001:db8:1:2:ffff::1"), subject("2001:db8:1:2::7"));
        assert_ne!(subject("2001:db8:1:3::7"), subject("2001:db8:1:2::7"));
        assert_eq!(subject("203.0.113.9"), "203.0.113.9");
        assert_eq!(subject("::ffff:203.0.113.9"), "203.0.113.9");
    }
}
