//! Common parts of the HTTP clients.

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Response};

/// The HTTP client could not be created; usually the machine has no certificate authorities.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Returns a client builder without redirects and without a proxy from the environment.
pub(crate) fn client() -> ClientBuilder {
    // An error means that the process has chosen its TLS provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .user_agent(concat!("Kontor/", env!("CARGO_PKG_VERSION")))
}

/// Reads the first `most` bytes of a body; the rest is never read.
pub(crate) async fn read_start(mut response: Response, most: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        body.extend(chunk.iter().take(room));
        if body.len() == most {
            break;
        }
    }
    Ok(body)
}
