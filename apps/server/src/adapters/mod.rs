//! Adapters of the kernel's ports on this machine, and the acquirer of rehearsals.

mod html;
mod password;
mod service_key;

pub use html::HtmlAllowList;
pub use password::Argon2Passwords;
pub use service_key::ServiceKey;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, SubsecRound, Utc};
use kontor_adapter_diesel::Rehearsal;
use kontor_kernel::{Clock, Random};
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, HandOverRequest, ProviderId,
    RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use ring::rand::SecureRandom;
use uuid::Uuid;

/// Clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// Random source of the operating system.
pub struct SystemRandom(ring::rand::SystemRandom);

impl SystemRandom {
    /// Opens the source.
    #[expect(clippy::disallowed_methods, reason = "the one place that opens the random source")]
    pub fn new() -> Self {
        Self(ring::rand::SystemRandom::new())
    }
}

impl Default for SystemRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemRandom {
    #[expect(clippy::expect_used, reason = "without randomness no secret can be made; going on would be worse")]
    fn fill(&self, bytes: &mut [u8]) {
        self.0.fill(bytes).expect("the operating system gives no random bytes");
    }
}

const WHY: &str = "a rehearsal does not call the acquirer";

/// Acquirer of a request that must have no effect: it is not called, and the rehearsal has no result.
pub struct RehearsedGateway(pub Arc<Rehearsal>);

impl RehearsedGateway {
    fn answer<T>(&self) -> Answer<T> {
        self.0.note_outside();
        Answer::Unknown { why: WHY.to_owned(), retry_after: None }
    }

    fn reading<T>(&self) -> Reading<T> {
        self.0.note_outside();
        Reading::Unknown { why: WHY.to_owned() }
    }
}

#[async_trait]
impl PaymentGateway for RehearsedGateway {
    async fn create(&self, _request: &ChargeRequest) -> Answer<GatewayPayment> {
        self.answer()
    }

    async fn cancel(&self, _id: &ProviderId, _key: Uuid) -> Answer<GatewayPayment> {
        self.answer()
    }

    async fn read(&self, _id: &ProviderId) -> Reading<GatewayPayment> {
        self.reading()
    }

    async fn find(&self, _request: &ChargeRequest, _since: DateTime<Utc>) -> Reading<GatewayPayment> {
        self.reading()
    }

    async fn list_payments(
        &self,
        _since: DateTime<Utc>,
        _page: Option<String>,
    ) -> Reading<GatewayPage<GatewayPayment>> {
        self.reading()
    }

    async fn refund(&self, _request: &RefundRequest) -> Answer<GatewayRefund> {
        self.answer()
    }

    async fn read_refund(&self, _id: &ProviderId) -> Reading<GatewayRefund> {
        self.reading()
    }

    async fn find_refund(&self, _request: &RefundRequest) -> Reading<GatewayRefund> {
        self.reading()
    }

    async fn list_refunds(&self, _since: DateTime<Utc>, _page: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        self.reading()
    }

    async fn register(&self, _request: &HandOverRequest) -> Answer<GatewayReceipt> {
        self.answer()
    }

    async fn read_receipt(&self, _id: &ProviderId) -> Reading<GatewayReceipt> {
        self.reading()
    }

    async fn find_receipt(&self, _request: &HandOverRequest) -> Reading<GatewayReceipt> {
        self.reading()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_rehearsal_that_needs_the_acquirer_has_no_result() {
        let rehearsal = Rehearsal::begin();
        let gateway = RehearsedGateway(Arc::clone(&rehearsal));
        assert!(!rehearsal.needs_outside());
        let read = gateway.list_payments(DateTime::UNIX_EPOCH, None).await;
        assert!(matches!(read, Reading::Unknown { .. }) && rehearsal.needs_outside());
    }
}
