use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kontor_webhooks::model::{DeliveryRequest, OutboundPolicy, SendFailure, SendOutcome};
use kontor_webhooks::ports::{SEND_TIMEOUT, WebhookSender};

use crate::http::{ClientError, client, read_start};
use crate::resolver::{CheckedResolver, Lookup, NoAddress, SystemLookup};

/// How much of an answer is read, so that the connection can be used again; it is thrown away.
const MOST_OF_AN_ANSWER: usize = 64 * 1024;

/// Sends webhook deliveries.
pub struct HttpWebhookSender {
    client: reqwest::Client,
    policy: Arc<OutboundPolicy>,
    timeout: Duration,
}

impl HttpWebhookSender {
    /// A sender that looks names up through the operating system and gives a receiver ten seconds.
    pub fn new(policy: OutboundPolicy) -> Result<Self, ClientError> {
        Self::with_lookup(policy, Arc::new(SystemLookup))
    }

    /// A sender with another way to look names up.
    pub fn with_lookup(policy: OutboundPolicy, lookup: Arc<dyn Lookup>) -> Result<Self, ClientError> {
        let policy = Arc::new(policy);
        let resolver = CheckedResolver { lookup, policy: Arc::clone(&policy) };
        let client = client().https_only(!policy.allow_http).dns_resolver(Arc::new(resolver)).build()?;
        Ok(Self { client, policy, timeout: SEND_TIMEOUT })
    }

    /// The same sender with another limit for a whole attempt.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn send(&self, request: DeliveryRequest) -> SendOutcome {
        // A host written as an address never reaches the resolver.
        if self.policy.admit(&request.url).is_err() {
            return SendOutcome::Failed(SendFailure::ForbiddenAddress);
        }
        let mut post = self.client.post(request.url.as_called()).timeout(self.timeout);
        for (name, value) in &request.headers {
            post = post.header(*name, value);
        }
        match post.body(request.body).send().await {
            Ok(response) => {
                let status = response.status().as_u16();
                // The status is the answer; how its body ends changes nothing.
                let _ = read_start(response, MOST_OF_AN_ANSWER).await;
                SendOutcome::Answered(status)
            }
            Err(error) => SendOutcome::Failed(failure(&error)),
        }
    }
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
