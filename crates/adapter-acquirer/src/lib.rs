//! Payment gateway over the acquirer's HTTP API (`YooKassa` API v3).
//!
//! **Owns** the protocol: authentication, the idempotency key, timeouts, and the interpretation of responses.
//!
//! **Invariants**
//! - An outcome is never guessed: only an explicit response makes a payment known or refused. Timeouts, broken
//!   connections, `202`, `408`, `429`, `5xx` and responses that cannot be parsed are unknown.
//! - A failed connection carried no request: a payment is refused, a refund is requested again.
//! - The same request has the same body.
//!
//! **Implements** [`kontor_payments::ports::PaymentGateway`].

mod answer;
mod wire;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{ExposeSecret, SecretString};
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, HandOverRequest, ProviderId,
    RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use reqwest::redirect::Policy;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::answer::Exchange;

/// Address and credentials of the acquirer.
#[derive(Debug, Clone)]
pub struct AcquirerConfig {
    /// Address of the API, up to `/v3`.
    pub url: String,
    /// Number of the shop.
    pub shop_id: String,
    /// Secret key of the shop.
    pub secret_key: SecretString,
    /// Timeout for a connection.
    pub connect_timeout: Duration,
    /// Timeout for a whole call; the acquirer's own timeout is 30 seconds.
    pub timeout: Duration,
}

impl AcquirerConfig {
    /// Creates a configuration with timeouts of 5 seconds for a connection and 35 seconds for a whole call.
    pub fn new(url: impl Into<String>, shop_id: impl Into<String>, secret_key: SecretString) -> Self {
        Self {
            url: url.into().trim_end_matches('/').to_owned(),
            shop_id: shop_id.into(),
            secret_key,
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(35),
        }
    }
}

/// The HTTP client could not be created; usually the machine has no certificate authorities.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// HTTP client of the acquirer.
pub struct AcquirerClient {
    http: reqwest::Client,
    config: AcquirerConfig,
}

/// Maximum size of a response in bytes. Responses of the acquirer are far smaller.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
const PAGE: &str = "100";
/// Maximum pages to search. Beyond them, the outcome stays unknown.
const MAX_PAGES: usize = 500;

impl AcquirerClient {
    /// Creates the client without a call.
    pub fn new(config: AcquirerConfig) -> Result<Self, ClientError> {
        // An error means that the process has chosen its TLS provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(config.connect_timeout)
            .timeout(config.timeout)
            .user_agent(concat!("Kontor/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, config })
    }

    fn authorized(&self, call: RequestBuilder) -> RequestBuilder {
        call.basic_auth(&self.config.shop_id, Some(self.config.secret_key.expose_secret()))
    }

    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Exchange {
        let call = self.http.get(format!("{}{path}", self.config.url)).query(query);
        exchange(self.authorized(call)).await
    }

    /// Returns one page of objects created since a time. Objects that cannot be parsed are logged and left out.
    async fn page<T>(
        &self,
        list: &str,
        since: DateTime<Utc>,
        cursor: Option<String>,
        read: impl Fn(Value) -> Result<T, String>,
    ) -> Reading<GatewayPage<T>> {
        let since = since.to_rfc3339_opts(SecondsFormat::Millis, true);
        let mut query = vec![("limit", PAGE), ("created_at.gte", since.as_str())];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = match answer::list(self.get(&format!("/{list}"), &query).await) {
            Ok(page) => page,
            Err(why) => return Reading::Unknown { why },
        };
        let readable = |object| {
            read(object).inspect_err(
                |why| tracing::warn!(%list, %why, "an object in the response of the acquirer cannot be parsed"),
            )
        };
        let items = page.items.into_iter().filter_map(|object| readable(object).ok()).collect();
        Reading::Known(GatewayPage { items, next: page.next_cursor })
    }

    /// Searches a list, page by page, for the first object that `take` accepts.
    async fn find_in_list<T>(
        &self,
        list: &str,
        filter: (&str, &str),
        take: impl Fn(Value) -> Option<Result<T, String>>,
    ) -> Reading<T> {
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut query = vec![("limit", PAGE), filter];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = match answer::list(self.get(&format!("/{list}"), &query).await) {
                Ok(page) => page,
                Err(why) => return Reading::Unknown { why },
            };
            match page.items.into_iter().find_map(&take) {
                Some(Ok(found)) => return Reading::Known(found),
                Some(Err(why)) => return Reading::Unknown { why },
                None => {}
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Reading::Absent,
            }
        }
        Reading::Unknown { why: format!("too many {list} to search") }
    }
}

/// Checks that the response is about the requested object.
fn same(what: &str, asked: &ProviderId, reported: &ProviderId) -> Result<(), String> {
    if asked == reported { Ok(()) } else { Err(format!("requested {what} {asked}, received {reported}")) }
}

async fn exchange(call: RequestBuilder) -> Exchange {
    match kontor_traces::send(call, "acquirer").await {
        Ok(response) => {
            let status = response.status().as_u16();
            match read_whole(response).await {
                Ok(body) => Exchange::Answered { status, body },
                Err(why) => Exchange::Lost(why),
            }
        }
        Err(error) if error.is_connect() || error.is_builder() => Exchange::NotSent(without_address(error)),
        Err(error) => Exchange::Lost(without_address(error)),
    }
}

/// Removes the URL from an error: identifiers of payments do not belong in logs.
fn without_address(error: reqwest::Error) -> String {
    let error = error.without_url();
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

async fn read_whole(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(without_address)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err("the response is too long".to_owned());
        }
    }
    Ok(body)
}

#[async_trait]
impl PaymentGateway for AcquirerClient {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        let call = self
            .http
            .post(format!("{}/payments", self.config.url))
            .header("Idempotence-Key", request.key.to_string())
            .json(&wire::body(request));
        let answer = answer::created(exchange(self.authorized(call)).await);
        match &answer {
            Answer::Known(payment) => {
                tracing::info!(purpose = %request.purpose, payment = %payment.id, "payment requested");
            }
            Answer::Refused { code, description } => {
                tracing::warn!(purpose = %request.purpose, %code, %description, "the acquirer refuses a payment");
            }
            Answer::Unknown { why, .. } => {
                tracing::warn!(purpose = %request.purpose, %why, "the outcome of a payment request is unknown");
            }
        }
        answer
    }

    async fn cancel(&self, id: &ProviderId, key: Uuid) -> Answer<GatewayPayment> {
        let call = self
            .http
            .post(format!("{}/payments/{id}/cancel", self.config.url))
            .header("Idempotence-Key", key.to_string())
            .json(&json!({}));
        let answer = answer::asked(exchange(self.authorized(call)).await, |object| {
            let payment = wire::payment(object)?;
            same("payment", id, &payment.id).map(|()| payment)
        });
        match &answer {
            Answer::Known(_) => tracing::info!(payment = %id, "payment canceled"),
            Answer::Refused { code, description } => {
                tracing::warn!(payment = %id, %code, %description, "the acquirer refuses to cancel a payment");
            }
            Answer::Unknown { why, .. } => {
                tracing::warn!(payment = %id, %why, "the outcome of a payment cancellation is unknown");
            }
        }
        answer
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        answer::read(self.get(&format!("/payments/{id}"), &[]).await, |object| {
            let payment = wire::payment(object)?;
            same("payment", id, &payment.id).map(|()| payment)
        })
    }

    async fn find(&self, request: &ChargeRequest, since: DateTime<Utc>) -> Reading<GatewayPayment> {
        let since = since.to_rfc3339_opts(SecondsFormat::Millis, true);
        let asked_for = |object: Value| {
            let is_it = wire::key_of(&object) == Some(request.key);
            is_it.then(|| wire::payment(object))
        };
        self.find_in_list("payments", ("created_at.gte", since.as_str()), asked_for).await
    }

    async fn list_payments(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayPayment>> {
        self.page("payments", since, page, wire::payment).await
    }

    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund> {
        let call = self
            .http
            .post(format!("{}/refunds", self.config.url))
            .header("Idempotence-Key", request.key.to_string())
            .json(&wire::refund_body(request));
        let answer = answer::asked(exchange(self.authorized(call)).await, wire::refund);
        match &answer {
            Answer::Known(refund) => {
                tracing::info!(payment = %request.payment, refund = %refund.id, "refund requested");
            }
            Answer::Refused { code, description } => {
                tracing::warn!(payment = %request.payment, %code, %description, "the acquirer refuses a refund");
            }
            Answer::Unknown { why, .. } => {
                tracing::warn!(payment = %request.payment, %why, "the outcome of a refund request is unknown");
            }
        }
        answer
    }

    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund> {
        answer::read(self.get(&format!("/refunds/{id}"), &[]).await, |object| {
            let refund = wire::refund(object)?;
            same("refund", id, &refund.id).map(|()| refund)
        })
    }

    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund> {
        let meets = |object| match wire::refund(object) {
            // An ignored filter would return other refunds.
            Ok(refund) if !request.is_fulfilled_by(&refund) => None,
            read => Some(read),
        };
        self.find_in_list("refunds", ("payment_id", request.payment.as_str()), meets).await
    }

    async fn list_refunds(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        self.page("refunds", since, page, wire::refund).await
    }

    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt> {
        let call = self
            .http
            .post(format!("{}/receipts", self.config.url))
            .header("Idempotence-Key", &request.key)
            .json(&wire::hand_over_body(request));
        let answer = answer::asked(exchange(self.authorized(call)).await, wire::receipt);
        match &answer {
            Answer::Known(receipt) => {
                tracing::info!(payment = %request.payment, receipt = %receipt.id, "receipt requested");
            }
            Answer::Refused { code, description } => {
                tracing::warn!(payment = %request.payment, %code, %description, "the acquirer refuses a receipt");
            }
            Answer::Unknown { why, .. } => {
                tracing::warn!(payment = %request.payment, %why, "the outcome of a receipt request is unknown");
            }
        }
        answer
    }

    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt> {
        answer::read(self.get(&format!("/receipts/{id}"), &[]).await, |object| {
            let receipt = wire::receipt(object)?;
            same("receipt", id, &receipt.id).map(|()| receipt)
        })
    }

    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt> {
        let meets = |object| match wire::receipt(object) {
            Ok(receipt) if !request.is_fulfilled_by(&receipt) => None,
            read => Some(read),
        };
        self.find_in_list("receipts", ("payment_id", request.payment.as_str()), meets).await
    }
}
