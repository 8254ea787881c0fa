//! An acquirer within the process. A payment is paid as soon as its status is requested.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, GatewayStatus, HandOverRequest,
    ProviderId, RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use uuid::Uuid;

/// Holds the latest payment.
#[derive(Default)]
pub struct PayingAcquirer(Mutex<Option<GatewayPayment>>);

fn nothing<T>() -> Answer<T> {
    Answer::Unknown { why: "the till takes money and does nothing else".to_owned(), retry_after: None }
}

impl PayingAcquirer {
    fn last(&self) -> MutexGuard<'_, Option<GatewayPayment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the identifier of the latest payment.
    pub fn payment(&self) -> Option<ProviderId> {
        self.last().as_ref().map(|payment| payment.id.clone())
    }
}

#[async_trait]
impl PaymentGateway for PayingAcquirer {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        let Ok(id) = ProviderId::parse(&format!("till-{}", request.key)) else { return nothing() };
        let payment = GatewayPayment {
            confirmation_url: Some(format!("https://pay.example/{}", request.key)),
            id,
            status: GatewayStatus::Pending,
            amount: request.amount,
            currency: request.currency.clone(),
            reason: None,
            purpose: Some(request.purpose),
            key: Some(request.key),
            renewal: request.renewal,
            saved_method: None,
            receipt: None,
        };
        *self.last() = Some(payment.clone());
        Answer::Known(payment)
    }

    async fn cancel(&self, _: &ProviderId, _: Uuid) -> Answer<GatewayPayment> {
        nothing()
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        let known = self.last().clone().filter(|payment| payment.id == *id);
        known.map_or(Reading::Absent, |payment| {
            Reading::Known(GatewayPayment { status: GatewayStatus::Succeeded, ..payment })
        })
    }

    async fn find(&self, _: &ChargeRequest, _: DateTime<Utc>) -> Reading<GatewayPayment> {
        Reading::Absent
    }

    async fn list_payments(&self, _: DateTime<Utc>, _: Option<String>) -> Reading<GatewayPage<GatewayPayment>> {
        Reading::Absent
    }

    async fn refund(&self, _: &RefundRequest) -> Answer<GatewayRefund> {
        nothing()
    }

    async fn read_refund(&self, _: &ProviderId) -> Reading<GatewayRefund> {
        Reading::Absent
    }

    async fn find_refund(&self, _: &RefundRequest) -> Reading<GatewayRefund> {
        Reading::Absent
    }

    async fn list_refunds(&self, _: DateTime<Utc>, _: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        Reading::Absent
    }

    async fn register(&self, _: &HandOverRequest) -> Answer<GatewayReceipt> {
        nothing()
    }

    async fn read_receipt(&self, _: &ProviderId) -> Reading<GatewayReceipt> {
        Reading::Absent
    }

    async fn find_receipt(&self, _: &HandOverRequest) -> Reading<GatewayReceipt> {
        Reading::Absent
    }
}
