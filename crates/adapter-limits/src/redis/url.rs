use std::fmt;
use std::str::FromStr;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

/// Text that is not a Redis URL. The error does not repeat the text, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, or unix:///PATH[?db=DB]")]
pub struct InvalidRedisUrl;

/// Address and credentials of a Redis. Printed without the credentials.
#[derive(Clone)]
pub struct RedisUrl(ConnectionInfo);

/// Installs the TLS provider of the process.
pub fn provide_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl RedisUrl {
    pub(super) fn connection_info(&self) -> ConnectionInfo {
        self.0.clone()
    }

    /// Returns another node of the same cluster, given as `HOST:PORT`, with the same credentials and TLS. Without a
    /// host, the host stays the same.
    pub(super) fn node(&self, node: &str) -> Option<ConnectionInfo> {
        let (host, port) = node.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = |own: &str| if host.is_empty() { own.to_owned() } else { host.trim_matches(['[', ']']).to_owned() };
        let address = match self.0.addr() {
            ConnectionAddr::Tcp(own, _) => ConnectionAddr::Tcp(host(own), port),
            ConnectionAddr::TcpTls { host: own, insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host: host(own), port, insecure: *insecure, tls_params: tls_params.clone() }
            }
            _ => ConnectionAddr::Tcp(host("127.0.0.1"), port),
        };
        Some(self.0.clone().set_addr(address))
    }
}

impl FromStr for RedisUrl {
    type Err = InvalidRedisUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRedisUrl> {
        let info = text.into_connection_info().map_err(|_| InvalidRedisUrl)?;
        match info.addr() {
            // Certificates are always checked.
            ConnectionAddr::TcpTls { insecure: true, .. } => Err(InvalidRedisUrl),
            address if address.is_supported() => Ok(Self(info)),
            _ => Err(InvalidRedisUrl),
        }
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0.redis_settings();
        let account = if settings.username().or(settings.password()).is_some() { "***@" } else { "" };
        match self.0.addr() {
            ConnectionAddr::Unix(path) => write!(f, "unix://{}?db={}", path.display(), settings.db()),
            address @ ConnectionAddr::TcpTls { .. } => write!(f, "rediss://{account}{address}/{}", settings.db()),
            address => write!(f, "redis://{account}{address}/{}", settings.db()),
        }
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_the_account_and_the_tls_of_the_address() {
        for (text, node, expected) in [
            ("redis://:hunter2@a.example:6380", "10.0.0.7:7001", "redis://***@10.0.0.7:7001/0"),
            ("redis://a.example", ":7001", "redis://a.example:7001/0"),
            ("redis://a.example", "::1:7001", "redis://::1:7001/0"),
            ("rediss://kontor:hunter2@a.example", "b.example:7001", "rediss://***@b.example:7001/0"),
            ("unix:///run/redis.sock", "127.0.0.1:7001", "redis://127.0.0.1:7001/0"),
        ] {
            let url: RedisUrl = text.parse().unwrap();
            assert_eq!(RedisUrl(url.node(node).unwrap()).to_string(), expected);
        }
        let url: RedisUrl = "redis://a.example".parse().unwrap();
        assert!(url.node("b.example").is_none() && url.node("b.example:port").is_none() && url.node("").is_none());
    }

    #[test]
    fn what_is_printed_is_the_place_and_never_the_account() {
        for (text, shown) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379/0"),
            ("redis://:hunter2@redis.example:6380/3", "redis://***@redis.example:6380/3"),
            ("rediss://kontor:hunter2@redis.example", "rediss://***@redis.example:6379/0"),
            ("unix:///run/redis.sock?db=2&pass=hunter2", "unix:///run/redis.sock?db=2"),
        ] {
            let url: RedisUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("RedisUrl({shown})"));
        }
    }

    #[test]
    fn other_texts_are_refused_without_repeating_them() {
        for text in [
            "",
            "redis",
            "127.0.0.1:6379",
            "http://:hunter2@redis",
            "redis://:hunter2@host/zero",
            "rediss://host/#insecure",
        ] {
            let error = text.parse::<RedisUrl>().unwrap_err();
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
