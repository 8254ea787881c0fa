//! In-memory acquirer for tests and simulations.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by panicking")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use kontor_kernel::{Money, SavedMethodId};
use uuid::Uuid;

use crate::model::{
    ChargeRequest, GatewayMethod, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, GatewayStatus,
    HandOverRequest, PaymentMethod, ProviderId, RefundRequest, Registration,
};
use crate::ports::{Answer, PaymentGateway, Reading};

/// Behaviour of the acquirer at the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcquirerMode {
    /// The payment or refund stays pending.
    Pending,
    /// It succeeds at once.
    Paid,
    /// The request is refused, and nothing is created.
    Refuses,
    /// The payment is created and canceled for this reason.
    Declines(&'static str),
    /// The payment is created, but the answer is lost.
    LosesTheAnswer,
    /// Nothing is created, and there is no answer.
    Silent,
}

/// Acquirer that creates one payment per key, as the real one does.
pub struct Acquirer {
    /// Behaviour at the next request.
    pub mode: Mutex<AcquirerMode>,
    /// Payments, by the keys of their requests.
    pub payments: Mutex<Vec<(Uuid, GatewayPayment)>>,
    /// Refunds, by the keys of their requests.
    pub refunds: Mutex<Vec<(Uuid, GatewayRefund)>>,
    /// Receipts of handovers, by the keys of their requests.
    pub receipts: Mutex<Vec<(String, GatewayReceipt)>>,
    /// State that the register gives to receipts.
    pub register: Mutex<Registration>,
    /// Number of payment requests, cancellations and payment reads.
    pub requests: AtomicU64,
    /// Saved methods named by requests, recorded when the requests are answered.
    pub named: Mutex<Vec<SavedMethodId>>,
    lingers: Mutex<Option<Journey>>,
}

/// Delay of a request that names a saved method.
pub type Journey = fn() -> BoxFuture<'static, ()>;

impl Default for Acquirer {
    /// An acquirer that answers at once.
    fn default() -> Self {
        Self {
            mode: Mutex::new(AcquirerMode::Pending),
            payments: Mutex::default(),
            refunds: Mutex::default(),
            receipts: Mutex::default(),
            register: Mutex::new(Registration::Succeeded),
            requests: AtomicU64::new(0),
            named: Mutex::default(),
            lingers: Mutex::new(None),
        }
    }
}

impl Acquirer {
    /// An acquirer that delays requests that name a saved method.
    pub fn with_delay(journey: Journey) -> Self {
        Self { lingers: Mutex::new(Some(journey)), ..Self::default() }
    }

    /// Sets the behaviour at the next request.
    pub fn set_mode(&self, mode: AcquirerMode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Ends the delay of requests.
    pub fn hurries(&self) {
        *self.lingers.lock().unwrap() = None;
    }

    /// Sets the state of the last payment, as if the payer paid or did not.
    pub fn settle(&self, status: GatewayStatus) -> ProviderId {
        let mut payments = self.payments.lock().unwrap();
        let (_, payment) = payments.last_mut().unwrap();
        payment.status = status;
        payment.id.clone()
    }

    /// Cancels all pending payments and returns them.
    pub fn end(&self) -> Vec<ProviderId> {
        let mut payments = self.payments.lock().unwrap();
        let open =
            payments.iter_mut().map(|(_, payment)| payment).filter(|payment| payment.status == GatewayStatus::Pending);
        open.map(|payment| {
            payment.status = GatewayStatus::Canceled;
            payment.id.clone()
        })
        .collect()
    }

    /// Removes all payments and recorded methods.
    pub fn forget(&self) {
        self.payments.lock().unwrap().clear();
        self.named.lock().unwrap().clear();
    }

    /// Sets the state of all receipts, existing and future.
    pub fn registers(&self, end: Registration) {
        *self.register.lock().unwrap() = end;
        let (mut payments, mut receipts) = (self.payments.lock().unwrap(), self.receipts.lock().unwrap());
        payments.iter_mut().filter_map(|(_, payment)| payment.receipt.as_mut()).for_each(|receipt| *receipt = end);
        receipts.iter_mut().for_each(|(_, receipt)| receipt.status = end);
    }

    /// Adds a refund made in the acquirer's own console.
    pub fn add_external_refund(&self, payment: &ProviderId, amount: Money) -> ProviderId {
        let mut refunds = self.refunds.lock().unwrap();
        let refund = GatewayRefund {
            id: ProviderId::parse(&format!("by-hand-{}", refunds.len())).unwrap(),
            payment: payment.clone(),
            status: GatewayStatus::Succeeded,
            amount,
            currency: "RUB".to_owned(),
            reason: None,
            key: None,
            receipt: None,
        };
        refunds.push((Uuid::nil(), refund.clone()));
        refund.id
    }

    fn registration(&self) -> Registration {
        *self.register.lock().unwrap()
    }

    /// Number of payments.
    pub fn count(&self) -> usize {
        self.payments.lock().unwrap().len()
    }

    fn make(&self, request: &ChargeRequest, status: GatewayStatus) -> GatewayPayment {
        let (key, mut payments) = (request.key, self.payments.lock().unwrap());
        if let Some((_, known)) = payments.iter().find(|(known, _)| *known == key) {
            return known.clone();
        }
        let payment = GatewayPayment {
            id: ProviderId::parse(&format!("pay-{key}")).unwrap(),
            status,
            amount: request.amount,
            currency: request.currency.clone(),
            confirmation_url: Some(format!("https://pay.example/{key}")),
            reason: None,
            purpose: Some(request.purpose),
            key: Some(key),
            renewal: request.renewal,
            saved_method: request.save_method.then(|| card(key)),
            receipt: request.receipt.as_ref().map(|_| self.registration()),
        };
        payments.push((key, payment.clone()));
        payment
    }
}

#[async_trait]
impl PaymentGateway for Acquirer {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if let Some(method) = &request.saved_method {
            let journey = *self.lingers.lock().unwrap();
            if let Some(journey) = journey {
                journey().await;
            }
            self.named.lock().unwrap().push(method.id);
        }
        let unknown = || Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        let acquirer_mode = *self.mode.lock().unwrap();
        match acquirer_mode {
            AcquirerMode::Pending => Answer::Known(self.make(request, GatewayStatus::Pending)),
            AcquirerMode::Paid => Answer::Known(self.make(request, GatewayStatus::Succeeded)),
            AcquirerMode::Refuses => {
                Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
            }
            AcquirerMode::Declines(reason) => {
                self.make(request, GatewayStatus::Canceled);
                let mut payments = self.payments.lock().unwrap();
                let (_, made) = payments.iter_mut().find(|(key, _)| *key == request.key).unwrap();
                made.reason = Some(reason.to_owned());
                Answer::Known(made.clone())
            }
            AcquirerMode::LosesTheAnswer => {
                self.make(request, GatewayStatus::Pending);
                unknown()
            }
            AcquirerMode::Silent => unknown(),
        }
    }

    /// Cancels a pending payment, unless the behaviour is `Silent` or `Refuses`.
    async fn cancel(&self, id: &ProviderId, _: Uuid) -> Answer<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let acquirer_mode = *self.mode.lock().unwrap();
        let refused = || Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() };
        let mut payments = self.payments.lock().unwrap();
        let found = payments.iter_mut().map(|(_, payment)| payment).find(|payment| payment.id == *id);
        let Some(payment) = found else { return refused() };
        let lost = Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        match acquirer_mode {
            AcquirerMode::Silent => return lost,
            AcquirerMode::Refuses => return refused(),
            _ if payment.status != GatewayStatus::Pending => return refused(),
            AcquirerMode::Pending | AcquirerMode::Paid | AcquirerMode::LosesTheAnswer | AcquirerMode::Declines(_) => {}
        }
        payment.status = GatewayStatus::Canceled;
        payment.reason = Some("canceled_by_merchant".to_owned());
        if acquirer_mode == AcquirerMode::LosesTheAnswer { lost } else { Answer::Known(payment.clone()) }
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let payments = self.payments.lock().unwrap();
        let found = payments.iter().find(|(_, payment)| payment.id == *id);
        found.map_or(Reading::Absent, |(_, payment)| Reading::Known(payment.clone()))
    }

    async fn find(&self, request: &ChargeRequest, _: DateTime<Utc>) -> Reading<GatewayPayment> {
        let payments = self.payments.lock().unwrap();
        let found = payments.iter().find(|(key, _)| *key == request.key);
        found.map_or(Reading::Absent, |(_, payment)| Reading::Known(payment.clone()))
    }

    async fn list_payments(&self, _: DateTime<Utc>, _: Option<String>) -> Reading<GatewayPage<GatewayPayment>> {
        let payments = self.payments.lock().unwrap();
        let items = payments.iter().rev().map(|(_, payment)| payment.clone()).collect();
        Reading::Known(GatewayPage { items, next: None })
    }

    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund> {
        let acquirer_mode = *self.mode.lock().unwrap();
        let (id, status) = match acquirer_mode {
            AcquirerMode::Silent => return Answer::Unknown { why: "no answer".to_owned(), retry_after: None },
            AcquirerMode::Refuses => {
                return Answer::Refused { code: "forbidden".to_owned(), description: "no".to_owned() };
            }
            AcquirerMode::Pending => (request.key, GatewayStatus::Pending),
            AcquirerMode::Paid | AcquirerMode::LosesTheAnswer | AcquirerMode::Declines(_) => {
                (request.key, GatewayStatus::Succeeded)
            }
        };
        let mut refunds = self.refunds.lock().unwrap();
        let known = refunds.iter().find(|(key, _)| *key == id).map(|(_, known)| known.clone());
        let refund = known.unwrap_or_else(|| {
            let made = GatewayRefund {
                id: ProviderId::parse(&format!("ref-{id}")).unwrap(),
                payment: request.payment.clone(),
                status,
                amount: request.amount,
                currency: request.currency.clone(),
                reason: None,
                key: Some(id),
                receipt: request.receipt.as_ref().map(|_| self.registration()),
            };
            refunds.push((id, made.clone()));
            made
        });
        if acquirer_mode == AcquirerMode::LosesTheAnswer {
            return Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        }
        Answer::Known(refund)
    }

    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund> {
        let refunds = self.refunds.lock().unwrap();
        let found = refunds.iter().find(|(_, refund)| refund.id == *id);
        found.map_or(Reading::Absent, |(_, refund)| Reading::Known(refund.clone()))
    }

    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund> {
        let refunds = self.refunds.lock().unwrap();
        let found = refunds.iter().find(|(_, refund)| request.is_fulfilled_by(refund));
        found.map_or(Reading::Absent, |(_, refund)| Reading::Known(refund.clone()))
    }

    /// Returns one refund per page.
    async fn list_refunds(&self, _: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        let refunds = self.refunds.lock().unwrap();
        let number: usize = page.map_or(0, |page| page.parse().unwrap());
        let items: Vec<_> = refunds.iter().rev().skip(number).take(1).map(|(_, refund)| refund.clone()).collect();
        let next = (number + 1 < refunds.len()).then(|| (number + 1).to_string());
        Reading::Known(GatewayPage { items, next })
    }

    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt> {
        let acquirer_mode = *self.mode.lock().unwrap();
        match acquirer_mode {
            AcquirerMode::Silent => return Answer::Unknown { why: "no answer".to_owned(), retry_after: None },
            AcquirerMode::Refuses => {
                return Answer::Refused { code: "forbidden".to_owned(), description: "no".to_owned() };
            }
            AcquirerMode::Pending | AcquirerMode::Paid | AcquirerMode::LosesTheAnswer | AcquirerMode::Declines(_) => {}
        }
        let mut receipts = self.receipts.lock().unwrap();
        let known = receipts.iter().find(|(key, _)| *key == request.key).map(|(_, known)| known.clone());
        let receipt = known.unwrap_or_else(|| {
            let made = GatewayReceipt {
                id: ProviderId::parse(&format!("rt-{}", receipts.len())).unwrap(),
                payment: Some(request.payment.clone()),
                status: self.registration(),
                prepaid: request.receipt.total(),
            };
            receipts.push((request.key.clone(), made.clone()));
            made
        });
        if acquirer_mode == AcquirerMode::LosesTheAnswer {
            return Answer::Unknown { why: "no answer".to_owned(), retry_after: None };
        }
        Answer::Known(receipt)
    }

    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt> {
        let receipts = self.receipts.lock().unwrap();
        let found = receipts.iter().find(|(_, receipt)| receipt.id == *id);
        found.map_or(Reading::Absent, |(_, receipt)| Reading::Known(receipt.clone()))
    }

    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt> {
        let receipts = self.receipts.lock().unwrap();
        let found = receipts.iter().find(|(_, receipt)| request.is_fulfilled_by(receipt));
        found.map_or(Reading::Absent, |(_, receipt)| Reading::Known(receipt.clone()))
    }
}

/// The card that the payer of this request uses.
fn card(key: Uuid) -> GatewayMethod {
    GatewayMethod {
        provider_id: ProviderId::parse(&format!("method-{key}")).unwrap(),
        method: PaymentMethod::BankCard,
        card_type: Some("Mir".to_owned()),
        card_last_4: Some("4444".to_owned()),
        title: Some("Bank card *4444".to_owned()),
    }
}
