//! The service, and its two surfaces.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::error::Error;
use crate::transport::{Credentials, Retries, Transport};
use crate::values::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_mins(1);

/// A Kontor service. Clones share connections.
#[derive(Clone)]
pub struct Client(Transport);

/// The client surface, with an App Token and the token of a customer.
#[derive(Clone)]
pub struct ClientSurface(Transport);

/// The platform surface, with the token of an employee or an agent.
#[derive(Clone)]
pub struct PlatformSurface(Transport);

impl Client {
    /// Creates a client of the service at this address. It uses no proxy, and gives up an attempt after 60 seconds. The
    /// first client of a process installs its TLS provider.
    pub fn new(url: &str) -> Result<Self, Error> {
        let parsed = Url::parse(url).map_err(|error| Error::Invalid(format!("{url}: {error}")))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(Error::Invalid(format!("{url}: the scheme must be http or https")));
        }
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            // The header `Token` would be sent to another host.
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("kontor-client/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::Invalid(format!("no HTTP client: {error}")))?;
        let (base, credentials) = (url.trim_end_matches('/').into(), Credentials::default());
        Ok(Self(Transport { http, base, timeout: TIMEOUT, retries: Retries::default(), credentials }))
    }

    /// Sets the timeout of each attempt.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = timeout;
        self
    }

    /// Sets the number of attempts and the pauses between them.
    #[must_use]
    pub fn with_retries(mut self, retries: Retries) -> Self {
        self.0.retries = retries;
        self
    }

    /// Returns the client surface of the application with this App Token.
    pub fn application(&self, app_token: impl Into<Secret>) -> ClientSurface {
        ClientSurface(self.with(Credentials { app_token: Some(app_token.into()), ..Credentials::default() }))
    }

    /// Returns the client surface for a backend that checks tokens of customers with
    /// [`introspect`](ClientSurface::introspect).
    pub fn backend(&self, client_id: impl Into<String>, client_secret: impl Into<Secret>) -> ClientSurface {
        let backend = Some((client_id.into(), client_secret.into()));
        ClientSurface(self.with(Credentials { backend, ..Credentials::default() }))
    }

    /// Returns the platform surface without a token, to [log in](PlatformSurface::log_in).
    pub fn platform(&self) -> PlatformSurface {
        PlatformSurface(self.with(Credentials::default()))
    }

    /// Returns the platform surface for an employee or an agent.
    pub fn staff(&self, token: impl Into<Secret>) -> PlatformSurface {
        PlatformSurface(self.with(Credentials { bearer: Some(token.into()), ..Credentials::default() }))
    }

    fn with(&self, credentials: Credentials) -> Transport {
        Transport { credentials, ..self.0.clone() }
    }
}

impl ClientSurface {
    /// Returns the surface for a customer of the application.
    #[must_use]
    pub fn with_customer(&self, token: impl Into<Secret>) -> Self {
        let mut transport = self.0.clone();
        transport.credentials.bearer = Some(token.into());
        Self(transport)
    }

    /// Calls an operation by its path from `/`. A path with a segment `.` or `..` is an error.
    pub fn call<T: DeserializeOwned>(&self, method: Method, path: &str) -> Call<T> {
        Call::new(self.0.clone(), method, path)
    }
}

impl PlatformSurface {
    /// Calls an operation by its path from `/`, for operations without a method of this type. A path with a segment `.`
    /// or `..` is an error.
    pub fn call<T: DeserializeOwned>(&self, method: Method, path: &str) -> Call<T> {
        Call::new(self.0.clone(), method, path)
    }
}
