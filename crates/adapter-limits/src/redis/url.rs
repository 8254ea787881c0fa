use std::fmt;
use std::str::FromStr;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

/// A text that names no Redis. It does not repeat the text: there may be a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// for TLS, or unix:///PATH[?db=DB]")]
pub struct NotARedisUrl;

/// Where a Redis is and how to sign in. Printed without the account.
#[derive(Clone)]
pub struct RedisUrl(ConnectionInfo);

/// TLS needs a provider for the whole process.
pub fn provide_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl RedisUrl {
    pub(super) fn connection_info(&self) -> ConnectionInfo {
        self.0.clone()
    }
}

impl FromStr for RedisUrl {
    type Err = NotARedisUrl;

    fn from_str(text: &str) -> Result<Self, NotARedisUrl> {
        let info = text.into_connection_info().map_err(|_| NotARedisUrl)?;
        match info.addr() {
            // Certificates are always checked.
            ConnectionAddr::TcpTls { insecure: true, .. } => Err(NotARedisUrl),
            address if address.is_supported() => Ok(Self(info)),
            _ => Err(NotARedisUrl),
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
