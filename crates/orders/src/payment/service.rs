use std::sync::Arc;

use kontor_kernel::{Clock, OrderId, Random, StoreError};

use super::inquiry::{Finding, inquire};
use super::{LEASE, SUSPICIOUS_PAUSE, next_check};
use crate::change::{AttemptChange, Change};
use crate::model::{AttemptState, GatewayPayment, GatewayStatus, PaidEvent, PaymentAttempt, ProviderPaymentId};
use crate::ports::{AttemptStore, CreateAnswer, PaymentGateway, ReadAnswer};

/// Use cases of payments.
pub struct PaymentService {
    attempts: Arc<dyn AttemptStore>,
    gateway: Arc<dyn PaymentGateway>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

/// What came of asking the acquirer for a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It has the payment; the order says how it stands.
    Known,
    /// It will not take the money: the order is canceled.
    Refused {
        /// The acquirer's reason.
        reason: String,
    },
    /// Nobody can tell yet; a worker goes on.
    Unclear,
}

/// What came of a notification. It is handled unless it is [`Notified::Unreadable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notified {
    /// The outcome of this order is settled now.
    Settled(OrderId),
    /// The payment is still pending.
    StillOpen(OrderId),
    /// The outcome was settled before.
    AlreadySettled(OrderId),
    /// The payment is none of ours.
    Ignored,
    /// The acquirer could not be asked; the notification must come again.
    Unreadable {
        /// What happened.
        why: String,
    },
    /// To be looked at by people: the payment does not fit its order, or money arrived for an order that was given up.
    Suspicious {
        /// The order.
        order_id: OrderId,
        /// What is wrong.
        why: String,
    },
}

/// What a round of a worker did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciled {
    /// Attempts asked about.
    pub checked: u32,
    /// Of these, with an outcome now.
    pub settled: u32,
    /// What people must look at.
    pub suspicious: Vec<(OrderId, String)>,
}

enum Learned {
    Pending,
    Paid,
    Failed { reason: String },
    AlreadySettled,
    Suspicious { why: String },
    Postponed,
}

impl PaymentService {
    /// Wires the ports.
    pub fn new(
        attempts: Arc<dyn AttemptStore>,
        gateway: Arc<dyn PaymentGateway>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { attempts, gateway, clock, random }
    }

    /// Asks the acquirer for the payment of an attempt that has just been stored, for the first time.
    pub async fn open(&self, attempt: &PaymentAttempt) -> Result<Opened, StoreError> {
        let learned = match self.gateway.create(&attempt.request, attempt.request.attempt).await {
            CreateAnswer::Known(payment) => self.learn(attempt, payment).await?,
            // Nothing was asked before under this key, so a refusal is the whole truth.
            CreateAnswer::Refused { code, description } => {
                self.fail(attempt, None, true, format!("{code}: {description}")).await?
            }
            CreateAnswer::Unknown { why, retry_after } => self.postpone(attempt, why, retry_after).await?,
        };
        Ok(match learned {
            Learned::Pending | Learned::Paid | Learned::AlreadySettled => Opened::Known,
            Learned::Failed { reason } => Opened::Refused { reason },
            Learned::Suspicious { .. } | Learned::Postponed => Opened::Unclear,
        })
    }

    /// Handles the word of somebody who may be the acquirer: the payment is read again, and only what is read counts.
    pub async fn acquirer_notified(&self, id: &ProviderPaymentId) -> Result<Notified, StoreError> {
        let known = self.attempts.by_provider(id).await?;
        if let Some(attempt) = known.as_ref().filter(|attempt| !attempt.state.is_open()) {
            return Ok(Notified::AlreadySettled(attempt.order_id));
        }
        let payment = match self.gateway.read(id).await {
            ReadAnswer::Known(payment) => payment,
            ReadAnswer::Absent => return Ok(Notified::Ignored),
            ReadAnswer::Unknown { why } => return Ok(Notified::Unreadable { why }),
        };
        // A notification can overtake the answer that would have told us the payment's identifier.
        let attempt = match (known, payment.attempt) {
            (Some(attempt), _) => Some(attempt),
            (None, Some(key)) => self.attempts.by_key(key).await?,
            (None, None) => None,
        };
        let Some(attempt) = attempt else { return Ok(Notified::Ignored) };
        let order_id = attempt.order_id;
        if !attempt.state.is_open() {
            let why = stray(&attempt, &payment);
            return Ok(why.map_or(Notified::AlreadySettled(order_id), |why| Notified::Suspicious { order_id, why }));
        }
        Ok(match self.learn(&attempt, payment).await? {
            Learned::Paid | Learned::Failed { .. } => Notified::Settled(order_id),
            Learned::Pending | Learned::Postponed => Notified::StillOpen(order_id),
            Learned::AlreadySettled => Notified::AlreadySettled(order_id),
            Learned::Suspicious { why } => Notified::Suspicious { order_id, why },
        })
    }

    /// Works on attempts that are due, one after the other and at most `most`, each leased so that several workers
    /// never ask about the same one at a time.
    pub async fn reconcile(&self, owner: &str, most: u32) -> Result<Reconciled, StoreError> {
        let mut done = Reconciled::default();
        while done.checked < most {
            let at = self.clock.now();
            let Some(attempt) = self.attempts.claim(owner, at, at + LEASE).await? else { break };
            done.checked += 1;
            match self.pursue(&attempt).await? {
                Learned::Paid | Learned::Failed { .. } => done.settled += 1,
                Learned::Suspicious { why } => done.suspicious.push((attempt.order_id, why)),
                Learned::Pending | Learned::AlreadySettled | Learned::Postponed => {}
            }
        }
        Ok(done)
    }

    async fn pursue(&self, attempt: &PaymentAttempt) -> Result<Learned, StoreError> {
        let (known, asked_at) = (attempt.provider_id.as_ref(), attempt.created_at);
        match inquire(&*self.gateway, &*self.clock, &attempt.request, known, asked_at).await {
            Finding::Known(payment) => self.learn(attempt, payment).await,
            Finding::Nothing { refused, reason } => self.fail(attempt, None, refused, reason).await,
            Finding::Unclear { why, retry_after } => self.postpone(attempt, why, retry_after).await,
            Finding::Odd { why } => self.suspect(attempt, why).await,
        }
    }

    /// Commits what a payment says, once it is surely the one that was asked for.
    async fn learn(&self, attempt: &PaymentAttempt, payment: GatewayPayment) -> Result<Learned, StoreError> {
        if let Err(mismatch) = attempt.verify(&payment) {
            return self.suspect(attempt, mismatch.to_string()).await;
        }
        let at = self.clock.now();
        match payment.status {
            GatewayStatus::Pending => {
                let change = AttemptChange::Pending {
                    provider_id: payment.id,
                    confirmation_url: payment.confirmation_url,
                    next_check_at: next_check(attempt.checks, at, None),
                };
                self.record(attempt, change, Learned::Pending).await
            }
            GatewayStatus::Succeeded => {
                let event = PaidEvent {
                    event_id: self.random.uuid(),
                    order_id: attempt.order_id,
                    application_id: attempt.application_id,
                    project_id: attempt.project_id,
                    amount: attempt.request.amount,
                    currency: attempt.request.currency.clone(),
                    paid_at: at,
                };
                self.record(attempt, AttemptChange::Paid { provider_id: payment.id, event }, Learned::Paid).await
            }
            GatewayStatus::Canceled => {
                let reason = payment.reason.unwrap_or_else(|| "canceled".to_owned());
                self.fail(attempt, Some(payment.id), false, reason).await
            }
        }
    }

    async fn fail(
        &self,
        attempt: &PaymentAttempt,
        provider_id: Option<ProviderPaymentId>,
        refused: bool,
        reason: String,
    ) -> Result<Learned, StoreError> {
        let change = AttemptChange::Failed { provider_id, refused, reason: reason.clone() };
        self.record(attempt, change, Learned::Failed { reason }).await
    }

    async fn postpone(
        &self,
        attempt: &PaymentAttempt,
        why: String,
        asked_pause: Option<std::time::Duration>,
    ) -> Result<Learned, StoreError> {
        let next_check_at = next_check(attempt.checks, self.clock.now(), asked_pause);
        self.record(attempt, AttemptChange::Postponed { why, next_check_at }, Learned::Postponed).await
    }

    async fn suspect(&self, attempt: &PaymentAttempt, why: String) -> Result<Learned, StoreError> {
        let next_check_at = self.clock.now() + SUSPICIOUS_PAUSE;
        let change = AttemptChange::Suspicious { why: why.clone(), next_check_at };
        self.record(attempt, change, Learned::Suspicious { why }).await
    }

    async fn record(
        &self,
        attempt: &PaymentAttempt,
        change: AttemptChange,
        learned: Learned,
    ) -> Result<Learned, StoreError> {
        match self.attempts.record(attempt.id, change, self.clock.now()).await? {
            Change::Done => Ok(learned),
            Change::Stale => Ok(Learned::AlreadySettled),
        }
    }
}

/// What is wrong when a payment speaks about an attempt that is settled: money for an order that was given up.
fn stray(attempt: &PaymentAttempt, payment: &GatewayPayment) -> Option<String> {
    let same = attempt.provider_id.as_ref() == Some(&payment.id);
    let paid_twice = payment.status == GatewayStatus::Succeeded && !(same && attempt.state == AttemptState::Succeeded);
    paid_twice.then(|| format!("payment {} took money although its attempt is {:?}", payment.id, attempt.state))
}
