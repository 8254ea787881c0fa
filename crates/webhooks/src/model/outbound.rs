use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::host::Host;
use crate::model::is_public;

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
            None => url.is_localhost() && !self.permits(std::net::Ipv4Addr::LOCALHOST.into()),
        };
        if internal { Err(UrlRefusal::InternalHost) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
