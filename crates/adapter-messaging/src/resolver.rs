//! Name lookup: once per connection, returning only checked addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use kontor_webhooks::model::OutboundPolicy;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

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
