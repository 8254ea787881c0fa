//! Outside services: an acquirer, a telephony provider and webhook receivers. Their behaviour comes from the seed.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_auth::ports::{CodeSender, HashingFailed, PasswordHasher};
use kontor_kernel::testing::TestRng;
use kontor_kernel::{Email, Phone, SecretString, SendError};
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, GatewayStatus, HandOverRequest,
    ProviderId, RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use kontor_payments::testing::acquirer::{Acquirer, AcquirerMode};
use kontor_webhooks::model::{DeliveryRequest, SendFailure, SendOutcome};
use kontor_webhooks::ports::{Signer, WebhookSender};
use uuid::Uuid;

use crate::scheduler::Turns;

/// All outside services.
pub struct Outside {
    /// Holds the payments that were really made.
    pub acquirer: Acquirer,
    /// Codes sent, by contact, the latest last.
    pub codes: Mutex<BTreeMap<String, Vec<String>>>,
    /// Accepted deliveries, by identifier.
    pub accepted: Mutex<BTreeMap<String, u32>>,
    rng: Mutex<TestRng>,
    calm: Mutex<bool>,
    turns: Turns,
}

const LATER: [&str; 3] = ["insufficient_funds", "general_decline", "unheard_of"];
const ACT: [&str; 2] = ["call_issuer", "3d_secure_failed"];
const NEVER: [&str; 2] = ["card_expired", "permission_revoked"];

impl Outside {
    /// Creates outside services with behaviour from this seed.
    pub fn new(rng: TestRng, turns: Turns) -> Self {
        Self {
            acquirer: Acquirer::default(),
            codes: Mutex::default(),
            accepted: Mutex::default(),
            rng: Mutex::new(rng),
            calm: Mutex::new(false),
            turns,
        }
    }

    /// Turns all faults off.
    pub fn stop_faults(&self) {
        *lock(&self.calm) = true;
    }

    fn is_fault_free(&self) -> bool {
        *lock(&self.calm)
    }

    fn below(&self, bound: u64) -> u64 {
        lock(&self.rng).below(bound)
    }

    fn reason(&self, of: &[&'static str]) -> &'static str {
        lock(&self.rng).one_of(of).unwrap_or("general_decline")
    }

    /// Chooses the behaviour for a payment by a saved method, or for one on the acquirer's page.
    fn charge_behaviour(&self, by_method: bool) -> AcquirerMode {
        if self.is_fault_free() {
            return if by_method { AcquirerMode::Paid } else { AcquirerMode::Pending };
        }
        match self.below(100) {
            0..70 if by_method => AcquirerMode::Paid,
            0..80 if !by_method => AcquirerMode::Pending,
            0..82 => AcquirerMode::Declines(self.reason(&LATER)),
            82..84 => AcquirerMode::Declines(self.reason(&ACT)),
            84 => AcquirerMode::Declines(self.reason(&NEVER)),
            85..88 => AcquirerMode::Pending,
            88..93 => AcquirerMode::LosesTheAnswer,
            93..97 => AcquirerMode::Silent,
            _ => AcquirerMode::Refuses,
        }
    }

    /// Chooses the behaviour for any other request.
    fn request_behaviour(&self) -> AcquirerMode {
        if self.is_fault_free() {
            return AcquirerMode::Paid;
        }
        match self.below(100) {
            0..72 => AcquirerMode::Paid,
            72..82 => AcquirerMode::Pending,
            82..90 => AcquirerMode::LosesTheAnswer,
            90..96 => AcquirerMode::Silent,
            _ => AcquirerMode::Refuses,
        }
    }

    /// Returns `true` if a request gets no response.
    fn drops_request(&self) -> bool {
        !self.is_fault_free() && self.below(100) < 6
    }

    /// Waits for a turn, then sets the behaviour for the request.
    async fn send_with(&self, acquirer_mode: AcquirerMode) {
        self.turns.take().await;
        self.acquirer.set_mode(acquirer_mode);
    }

    /// Returns payments that wait for their payers or banks.
    pub fn waiting(&self) -> Vec<ProviderId> {
        let payments = lock(&self.acquirer.payments);
        let open = payments.iter().filter(|(_, payment)| payment.status == GatewayStatus::Pending);
        open.map(|(_, payment)| payment.id.clone()).collect()
    }

    /// Ends a payment with this status, unless it has ended.
    pub fn decide(&self, id: &ProviderId, status: GatewayStatus) {
        let mut payments = lock(&self.acquirer.payments);
        let found = payments.iter_mut().map(|(_, payment)| payment).find(|payment| payment.id == *id);
        if let Some(payment) = found.filter(|payment| payment.status == GatewayStatus::Pending) {
            payment.status = status;
            if status == GatewayStatus::Canceled {
                payment.reason = Some("expired_on_confirmation".to_owned());
            }
        }
    }

    /// Completes the refunds that are pending.
    pub fn complete_refunds(&self) {
        let mut refunds = lock(&self.acquirer.refunds);
        let open = refunds.iter_mut().map(|(_, refund)| refund);
        open.filter(|refund| refund.status == GatewayStatus::Pending)
            .for_each(|refund| refund.status = GatewayStatus::Succeeded);
    }

    /// Returns the latest code sent to a contact.
    pub fn code_for(&self, contact: &str) -> Option<String> {
        lock(&self.codes).get(contact).and_then(|codes| codes.last().cloned())
    }
}

/// Locks a mutex, ignoring earlier panics.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unnotified<T>() -> Reading<T> {
    Reading::Unknown { why: "no answer".to_owned() }
}

#[async_trait]
impl PaymentGateway for Outside {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        let acquirer_mode = self.charge_behaviour(request.saved_method.is_some());
        self.send_with(acquirer_mode).await;
        let answer = self.acquirer.create(request).await;
        self.turns.take().await;
        answer
    }

    async fn cancel(&self, id: &ProviderId, key: Uuid) -> Answer<GatewayPayment> {
        let acquirer_mode = self.request_behaviour();
        self.send_with(acquirer_mode).await;
        self.acquirer.cancel(id, key).await
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.read(id).await }
    }

    async fn find(&self, request: &ChargeRequest, since: DateTime<Utc>) -> Reading<GatewayPayment> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.find(request, since).await }
    }

    async fn list_payments(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayPayment>> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.list_payments(since, page).await }
    }

    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund> {
        let acquirer_mode = self.request_behaviour();
        self.send_with(acquirer_mode).await;
        let answer = self.acquirer.refund(request).await;
        self.turns.take().await;
        answer
    }

    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.read_refund(id).await }
    }

    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.find_refund(request).await }
    }

    async fn list_refunds(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        self.turns.take().await;
        if self.drops_request() { unnotified() } else { self.acquirer.list_refunds(since, page).await }
    }

    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt> {
        let acquirer_mode = self.request_behaviour();
        self.send_with(acquirer_mode).await;
        self.acquirer.register(request).await
    }

    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt> {
        self.turns.take().await;
        self.acquirer.read_receipt(id).await
    }

    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt> {
        self.turns.take().await;
        self.acquirer.find_receipt(request).await
    }
}

#[async_trait]
impl CodeSender for Outside {
    async fn code_to_phone(&self, phone: &Phone, proposed: &str, _: Option<IpAddr>) -> Result<String, SendError> {
        self.turns.take().await;
        // A call uses the digits of its number as the code, a message uses the proposed code.
        let code = if self.below(2) == 0 { format!("{:04}", self.below(10_000)) } else { proposed.to_owned() };
        if !self.is_fault_free() && self.below(100) < 5 {
            return Err(SendError::Refused("no money".to_owned()));
        }
        lock(&self.codes).entry(phone.as_str().to_owned()).or_default().push(code.clone());
        Ok(code)
    }

    async fn email_code(&self, email: &Email, code: &str) -> Result<(), SendError> {
        self.turns.take().await;
        lock(&self.codes).entry(email.as_str().to_owned()).or_default().push(code.to_owned());
        Ok(())
    }
}

#[async_trait]
impl WebhookSender for Outside {
    async fn send(&self, request: DeliveryRequest) -> SendOutcome {
        self.turns.take().await;
        let roll = if self.is_fault_free() { 0 } else { self.below(100) };
        let outcome = match roll {
            0..70 => SendOutcome::Answered(204),
            70..80 => SendOutcome::Answered(500),
            80..85 => SendOutcome::Answered(302),
            85..92 => SendOutcome::Failed(SendFailure::TimedOut),
            _ => SendOutcome::Failed(SendFailure::NoConnection),
        };
        if outcome.is_accepted() {
            let id = request.header("X-Webhook-Delivery-Id").unwrap_or_default().to_owned();
            *lock(&self.accepted).entry(id).or_default() += 1;
        }
        outcome
    }
}

/// Employees without passwords.
pub struct NoPasswords;

#[async_trait]
impl PasswordHasher for NoPasswords {
    async fn hash(&self, _: &SecretString) -> Result<String, HashingFailed> {
        Err(HashingFailed("no password is hashed".to_owned()))
    }

    async fn verify(&self, _: &SecretString, _: Option<String>) -> Result<bool, HashingFailed> {
        Ok(false)
    }
}

/// Signs nothing, because no receiver checks the signature.
pub struct NoSigner;

impl Signer for NoSigner {
    fn hmac_sha256(&self, _: &[u8], _: &[u8]) -> [u8; 32] {
        [0; 32]
    }
}
