//! Deliveries of webhooks, the function that signs them, and their name lookup: once per connection, returning only
//! checked addresses.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kontor_auth::ports::Hmac;
use kontor_webhooks::model::{DeliveryRequest, OutboundPolicy, SendFailure, SendOutcome};
use kontor_webhooks::ports::{SEND_TIMEOUT, Signer, WebhookSender};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use ring::hmac;

use crate::{ClientError, client, read_start};

/// Maximum bytes read of a response, so that the connection can be reused; they are discarded.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Sends webhook deliveries.
pub struct HttpWebhookSender {
    client: reqwest::Client,
    policy: Arc<OutboundPolicy>,
    timeout: Duration,
}

impl HttpWebhookSender {
    /// Creates a sender that resolves names through the operating system, with a timeout of ten seconds.
    pub fn new(policy: OutboundPolicy) -> Result<Self, ClientError> {
        Self::with_lookup(policy, Arc::new(SystemLookup))
    }

    /// Creates a sender with another name lookup.
    pub fn with_lookup(policy: OutboundPolicy, lookup: Arc<dyn Lookup>) -> Result<Self, ClientError> {
        let policy = Arc::new(policy);
        let resolver = CheckedResolver { lookup, policy: Arc::clone(&policy) };
        let client = client().https_only(!policy.allow_http).dns_resolver(Arc::new(resolver)).build()?;
        Ok(Self { client, policy, timeout: SEND_TIMEOUT })
    }

    /// Sets another timeout for a whole attempt.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn send(&self, request: DeliveryRequest) -> SendOutcome {
        // A host that is an IP address never reaches the resolver.
        if self.policy.check(&request.url).is_err() {
            return SendOutcome::Failed(SendFailure::ForbiddenAddress);
        }
        let Ok(url) = reqwest::Url::parse(request.url.as_str()) else {
            return SendOutcome::Failed(SendFailure::UnknownHost);
        };
        // The client's own interpretation of the address is checked as well, in case the text passed the first check.
        if literal(&url).is_some_and(|address| !self.policy.permits(address)) {
            return SendOutcome::Failed(SendFailure::ForbiddenAddress);
        }
        let mut post = self.client.post(url).timeout(self.timeout);
        for (name, value) in &request.headers {
            post = post.header(*name, value);
        }
        match kontor_traces::send(post.body(request.body), "webhook").await {
            Ok(response) => {
                let status = response.status().as_u16();
                // The status is the result; an error in the body does not matter.
                let _ = read_start(response, MAX_RESPONSE_BYTES).await;
                SendOutcome::Answered(status)
            }
            Err(error) => SendOutcome::Failed(failure(&error)),
        }
    }
}

/// Returns the host if the client interprets it as an IP address.
fn literal(url: &reqwest::Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

fn failure(error: &reqwest::Error) -> SendFailure {
    let mut source = error.source();
    while let Some(cause) = source {
        match cause.downcast_ref::<NoAddress>() {
            Some(NoAddress::Unknown) => return SendFailure::UnknownHost,
            Some(NoAddress::Forbidden) => return SendFailure::ForbiddenAddress,
            None => source = cause.source(),
        }
    }
    if error.is_timeout() {
        SendFailure::TimedOut
    } else if error.is_connect() {
        SendFailure::NoConnection
    } else {
        SendFailure::BrokenAnswer
    }
}

/// HMAC-SHA256.
#[derive(Debug, Clone, Copy, Default)]
pub struct HmacSigner;

fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    let mut bytes = [0; 32];
    // The tag of SHA-256 has exactly this length.
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

impl Signer for HmacSigner {
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hmac_sha256(key, message)
    }
}

impl Hmac for HmacSigner {
    fn hmac_sha256(&self, key: &[u8], message: &[u8]) -> [u8; 32] {
        hmac_sha256(key, message)
    }
}

/// Resolves host names.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// Returns every address of the name.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Lookup by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Reason why a name has no address to connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAddress {
    #[error("the host name does not resolve")]
    Unknown,
    #[error("the host name resolves to an internal address")]
    Forbidden,
}

/// Returns the addresses of a name only if the policy permits every one of them. A name with a public and an internal
/// address is an attempt to bypass the check.
pub(crate) struct CheckedResolver {
    pub lookup: Arc<dyn Lookup>,
    pub policy: Arc<OutboundPolicy>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, policy) = (Arc::clone(&self.lookup), Arc::clone(&self.policy));
        Box::pin(async move {
            let found = lookup.addresses(name.as_str()).await.unwrap_or_default();
            if found.is_empty() {
                return Err(NoAddress::Unknown.into());
            }
            if !found.iter().all(|address| policy.permits(*address)) {
                return Err(NoAddress::Forbidden.into());
            }
            // Port 0 is replaced by the port of the URL.
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use kontor_webhooks::model::EndpointUrl;
    use proptest::prelude::*;

    use super::*;

    /// Checks that the client interprets an accepted URL in the same way as the rules.
    fn read_alike(text: &str) {
        let Ok(checked) = EndpointUrl::parse(text) else { return };
        let Ok(called) = reqwest::Url::parse(checked.as_str()) else {
            let host = checked.as_str().to_lowercase();
            assert!(!host.is_ascii() || host.contains("xn--"), "{text}: only names to convert may be none");
            return;
        };
        assert_eq!(literal(&called), checked.literal_address(), "{text}");
        assert!(called.username().is_empty() && called.password().is_none() && called.fragment().is_none(), "{text}");
        let https = OutboundPolicy { allow_http: false, ..OutboundPolicy::unrestricted() };
        assert_eq!(https.check(&checked).is_ok(), called.scheme() == "https", "{text}");
        let internal = called.host_str().is_some_and(|host| {
            let host = host.trim_end_matches('.');
            host == "localhost" || host.ends_with(".localhost")
        });
        if internal && checked.as_str().is_ascii() {
            let public = OutboundPolicy { allow_http: true, ..OutboundPolicy::default() };
            assert!(public.check(&checked).is_err(), "{text}");
        }
    }

    #[test]
    fn spellings_of_addresses_are_read_alike() {
        for host in "127.0.0.1 127.0.0.1. 127.0.0.1.. 127.1 0 0x7f.1 0X7F.0.0.1 0x 0x.1 1.0x 017.0.0.1 256.1.1.1 1.2.3.4.5 \
            a.1 1.a a.0x1 a.0xg 0ｘ7f.a a.0ｘ7f １２７.0.0.1 127。0。0。1 ①.②.③.④ [::1] [::ffff:1.2.3.4] [::1%25eth0] localhost. \
            ｌｏｃａｌｈｏｓｔ a..b .a xn--a xn--80aswg магазин.рф a_b a%62 a:80 a: a:0 a:65536 a:080 :80 [::1]:1 a\u{ad}b"
            .split_whitespace()
        {
            for scheme in ["http://", "HTTPS://", "http:/", "http:///", "http:"] {
                for rest in ["", "/", "?a=b", "/a?b#c", "/\\..\\a", "/ä/%zz", "@b", "/@b"] {
                    read_alike(&format!("{scheme}{host}{rest}"));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn accepted_spellings_are_read_alike(text in "(http|https|HTTP)://[a-f0-9xX.:\\[\\]@%/?#_\\-\u{2460}\u{ff11}\u{3002}\u{44f}]{1,24}") {
            read_alike(&text);
        }
    }

    /// Test case 2 of RFC 4231.
    #[test]
    fn it_is_the_standard_function() {
        let mac = hmac_sha256(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(mac[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
        assert_eq!(mac[24..], [0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43]);
    }
}
