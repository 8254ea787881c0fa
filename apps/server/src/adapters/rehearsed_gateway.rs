use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_adapter_diesel::Rehearsal;
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, HandOverRequest, ProviderId,
    RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use uuid::Uuid;

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
