use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Clock, Random, StoreError};

use super::inquiry::{Resolution, inquire};
use crate::change::{Change, ChargeChange};
use crate::model::{
    Charge, ChargeFailure, ChargePurpose, ChargeState, GatewayPayment, GatewayStatus, NewCharge, ProviderId,
    Registration,
};
use crate::ports::{Answer, ChargeStore, ChargeStored, PaymentGateway, Reading};
use crate::timing::{LEASE, METHOD_DELETED, SUSPICIOUS_PAUSE, TAKEOVER, next_check};

/// Use cases of charges.
pub struct ChargeService {
    /// Storage of charges.
    pub charges: Arc<dyn ChargeStore>,
    /// The acquirer.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys and event identifiers.
    pub random: Arc<dyn Random>,
}

/// Outcome of requesting a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The acquirer has the payment; the charge has its state.
    Known,
    /// The acquirer refuses the payment; the consequences are committed.
    Refused {
        /// Reason given by the acquirer.
        reason: String,
    },
    /// The outcome is unknown; a worker resolves it.
    Unclear,
}

/// Outcome of canceling an open charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The outcome is known now: the charge is canceled, was paid, or had failed before.
    Settled,
    /// The acquirer keeps the payment open.
    Refused {
        /// Reason given by the acquirer.
        why: String,
    },
    /// The outcome is unknown.
    Unclear {
        /// Cause, for the log.
        why: String,
    },
}

/// Outcome of charging a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeResult {
    /// The charge is stored, and the payment was requested.
    Asked(Charge, Opened),
    /// A conflicting charge exists; no payment was requested.
    Present(Charge),
    /// The saved method belongs to another customer, or is no longer active.
    MethodGone,
    /// The customer was deleted.
    CustomerGone,
}

/// Result of a notification. It is handled unless the result is [`NotificationResult::Unreadable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotificationResult {
    /// The outcome became known.
    Settled(ChargePurpose),
    /// The payment is still pending.
    StillOpen(ChargePurpose),
    /// The outcome was known before.
    AlreadySettled(ChargePurpose),
    /// The payment belongs to no charge of this service.
    Ignored,
    /// The acquirer could not be read; the notification must be repeated.
    Unreadable {
        /// Cause, for the log.
        why: String,
    },
    /// Staff must check it: the payment does not match its charge, or money arrived for a charge that had
    /// failed.
    Suspicious {
        /// Purpose of the charge.
        purpose: ChargePurpose,
        /// Problem.
        why: String,
    },
}

/// Result of one round of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReconciledCharges {
    /// Charges checked.
    pub checked: u32,
    /// Charges of these with a known outcome now.
    pub settled: u32,
    /// Problems that staff must check.
    pub suspicious: Vec<(ChargePurpose, String)>,
}

enum Learned {
    Pending,
    Succeeded,
    Failed { reason: String },
    AlreadySettled,
    Suspicious { why: String },
    Postponed,
}

impl ChargeService {
    /// Stores a charge and requests its payment at the acquirer. Charges that belong to a larger commit, such as
    /// an order, are stored there and passed to [`ChargeService::open`].
    pub async fn charge(&self, new: NewCharge) -> Result<ChargeResult, StoreError> {
        Ok(match self.charges.store(new).await? {
            ChargeStored::New(charge) => {
                let opened = self.open(&charge).await?;
                ChargeResult::Asked(charge, opened)
            }
            ChargeStored::Present(charge) => ChargeResult::Present(charge),
            ChargeStored::MethodGone => ChargeResult::MethodGone,
            ChargeStored::CustomerGone => ChargeResult::CustomerGone,
        })
    }

    /// Requests the payment of a charge that was just stored, for the first time.
    pub async fn open(&self, charge: &Charge) -> Result<Opened, StoreError> {
        if !self.may_leave(charge).await? {
            let learned = self.fail(charge, None, ChargeFailure::Withdrawn, METHOD_DELETED.to_owned()).await?;
            return Ok(match learned {
                Learned::Failed { reason } => Opened::Refused { reason },
                _ => Opened::Known,
            });
        }
        if charge.provider_id.is_some() && charge.request.renewal.is_some() {
            // The acquirer has had it since before the database was restored.
            return Ok(opened(self.pursue(charge).await?));
        }
        let learned = match self.gateway.create(&charge.request).await {
            Answer::Known(payment) => self.learn(charge, payment).await?,
            // Nothing was requested under this key before, so the refusal is final.
            Answer::Refused { code, description } => {
                self.fail(charge, None, ChargeFailure::Refused, format!("{code}: {description}")).await?
            }
            Answer::Unknown { why, retry_after } => self.postpone(charge, why, true, retry_after).await?,
        };
        Ok(opened(learned))
    }

    /// Cancels an open charge at the acquirer. Every outcome found on the way is committed. A charge without an
    /// identifier at the acquirer stays as it is, since it may or may not have been received.
    pub async fn withdraw(&self, charge: &Charge) -> Result<CancelOutcome, StoreError> {
        let Some(id) = &charge.provider_id else {
            return Ok(CancelOutcome::Unclear { why: "it is not known yet whether the payment exists".to_owned() });
        };
        let (refused, why) = match self.gateway.cancel(id, self.random.uuid()).await {
            Answer::Known(payment) => {
                return self.withdrawn(charge, payment, true, "it is still open".to_owned()).await;
            }
            Answer::Refused { code, description } => (true, format!("{code}: {description}")),
            Answer::Unknown { why, .. } => (false, why),
        };
        // The payment may have been paid or canceled in the meantime, or an answer was lost.
        match self.gateway.read(id).await {
            Reading::Known(payment) => self.withdrawn(charge, payment, refused, why).await,
            Reading::Absent | Reading::Unknown { .. } => Ok(CancelOutcome::Unclear { why }),
        }
    }

    async fn withdrawn(
        &self,
        charge: &Charge,
        payment: GatewayPayment,
        answered: bool,
        why: String,
    ) -> Result<CancelOutcome, StoreError> {
        if payment.status == GatewayStatus::Pending && charge.ensure_matches(&payment).is_ok() {
            // Nothing changed. A request without an answer may still be in transit.
            return Ok(if answered { CancelOutcome::Refused { why } } else { CancelOutcome::Unclear { why } });
        }
        Ok(match self.learn(charge, payment).await? {
            Learned::Succeeded | Learned::Failed { .. } | Learned::AlreadySettled => CancelOutcome::Settled,
            Learned::Pending | Learned::Postponed => CancelOutcome::Unclear { why },
            Learned::Suspicious { why } => CancelOutcome::Unclear { why },
        })
    }

    /// Handles a notification from an unauthenticated sender: the payment is read again, and only the read state
    /// counts. A charge with a known outcome is read only if the `notified` state contradicts that outcome.
    pub async fn acquirer_notified(
        &self,
        id: &ProviderId,
        notified: Option<GatewayStatus>,
    ) -> Result<NotificationResult, StoreError> {
        let known = self.charges.by_provider(id).await?;
        if let Some(charge) = known.as_ref().filter(|charge| !charge.state.is_open())
            && !notified.is_some_and(|status| contradicts(charge, id, status))
        {
            return Ok(NotificationResult::AlreadySettled(charge.purpose()));
        }
        let payment = match self.gateway.read(id).await {
            Reading::Known(payment) => payment,
            Reading::Absent => return Ok(NotificationResult::Ignored),
            Reading::Unknown { why } => return Ok(NotificationResult::Unreadable { why }),
        };
        // A notification can arrive before the response that contains the payment's identifier.
        let charge = match (known, payment.key) {
            (Some(charge), _) => Some(charge),
            (None, Some(key)) => self.charges.by_key(key).await?,
            (None, None) => None,
        };
        let Some(charge) = charge else { return Ok(NotificationResult::Ignored) };
        let purpose = charge.purpose();
        let learned = if charge.state.is_open() {
            self.learn(&charge, payment).await?
        } else {
            self.compare(&charge, &payment.id, payment.status).await?
        };
        Ok(match learned {
            Learned::Succeeded | Learned::Failed { .. } => NotificationResult::Settled(purpose),
            Learned::Pending | Learned::Postponed => NotificationResult::StillOpen(purpose),
            Learned::AlreadySettled => NotificationResult::AlreadySettled(purpose),
            Learned::Suspicious { why } => NotificationResult::Suspicious { purpose, why },
        })
    }

    /// Checks due charges one after the other, at most `most`. Each is leased, so that two workers never check
    /// the same charge at the same time.
    pub async fn reconcile(&self, owner: &str, most: u32) -> Result<ReconciledCharges, StoreError> {
        let mut done = ReconciledCharges::default();
        while done.checked < most {
            let at = self.clock.now();
            let Some(charge) = self.charges.lease(owner, at, at + LEASE).await? else { break };
            done.checked += 1;
            match self.pursue(&charge).await? {
                Learned::Succeeded | Learned::Failed { .. } => done.settled += 1,
                Learned::Suspicious { why } => done.suspicious.push((charge.purpose(), why)),
                Learned::Pending | Learned::AlreadySettled | Learned::Postponed => {}
            }
        }
        Ok(done)
    }

    /// Checks the outcome of a charge now, for a caller that waits for it.
    pub async fn check_now(&self, charge: &Charge) -> Result<(), StoreError> {
        self.pursue(charge).await.map(|_| ())
    }

    /// Returns `true` if the request of a charge may be sent. A saved method that its customer deleted is never
    /// used again.
    async fn may_leave(&self, charge: &Charge) -> Result<bool, StoreError> {
        if charge.request.saved_method.is_none() {
            return Ok(true);
        }
        self.charges.departs(charge.id, self.clock.now() + TAKEOVER).await
    }

    async fn pursue(&self, charge: &Charge) -> Result<Learned, StoreError> {
        // A charge with an identifier at the acquirer is only read.
        let may_repeat = charge.provider_id.is_some() || self.may_leave(charge).await?;
        match inquire(&*self.gateway, &*self.clock, charge, may_repeat).await {
            Resolution::Known(payment) => self.learn(charge, *payment).await,
            Resolution::Nothing { failure, reason } => self.fail(charge, None, failure, reason).await,
            Resolution::Unclear { why, unanswered, retry_after } => {
                self.postpone(charge, why, unanswered, retry_after).await
            }
            Resolution::Suspicious { why } => self.suspect(charge, why).await,
        }
    }

    /// Records a payment state that contradicts its settled charge.
    async fn compare(&self, charge: &Charge, id: &ProviderId, status: GatewayStatus) -> Result<Learned, StoreError> {
        if !contradicts(charge, id, status) {
            return Ok(Learned::AlreadySettled);
        }
        let why = format!("payment {id} is {status:?} although its charge is {:?}", charge.state);
        self.charges.contradicted(charge.id, &why, self.clock.now()).await?;
        Ok(Learned::Suspicious { why })
    }

    /// Commits the state of a payment. Arrived money is reported even if the charge was settled otherwise since
    /// it was read.
    async fn learn(&self, charge: &Charge, payment: GatewayPayment) -> Result<Learned, StoreError> {
        let (id, status) = (payment.id.clone(), payment.status);
        let learned = self.commit(charge, payment).await?;
        match learned {
            Learned::AlreadySettled if status == GatewayStatus::Succeeded => {
                match self.charges.find(charge.id).await? {
                    Some(settled) if !settled.state.is_open() => self.compare(&settled, &id, status).await,
                    _ => Ok(learned),
                }
            }
            learned => Ok(learned),
        }
    }

    /// Commits the state of a payment after checking that it matches the request.
    async fn commit(&self, charge: &Charge, payment: GatewayPayment) -> Result<Learned, StoreError> {
        if let Err(mismatch) = charge.ensure_matches(&payment) {
            return self.suspect(charge, mismatch.to_string()).await;
        }
        match payment.status {
            GatewayStatus::Pending => {
                let news = ChargeChange::Pending {
                    provider_id: payment.id,
                    confirmation_url: payment.confirmation_url,
                    next_check_at: next_check(charge.checks, self.clock.now(), None),
                };
                self.record(charge, news, Learned::Pending).await
            }
            GatewayStatus::Succeeded => {
                let news = ChargeChange::Succeeded {
                    provider_id: payment.id,
                    event_id: self.random.uuid(),
                    refund: charge.automatic_refund(self.random.uuid()),
                    method: payment.saved_method.filter(|_| charge.request.save_method),
                    receipt: charge.request.receipt.as_ref().map(|_| payment.receipt.unwrap_or(Registration::Pending)),
                };
                self.record(charge, news, Learned::Succeeded).await
            }
            GatewayStatus::Canceled => {
                let failure = ChargeFailure::of_canceled(payment.reason.as_deref());
                let reason = payment.reason.unwrap_or_else(|| "canceled".to_owned());
                self.fail(charge, Some(payment.id), failure, reason).await
            }
        }
    }

    async fn fail(
        &self,
        charge: &Charge,
        provider_id: Option<ProviderId>,
        failure: ChargeFailure,
        reason: String,
    ) -> Result<Learned, StoreError> {
        let news = ChargeChange::Failed { provider_id, failure, reason: reason.clone() };
        self.record(charge, news, Learned::Failed { reason }).await
    }

    async fn postpone(
        &self,
        charge: &Charge,
        why: String,
        unanswered: bool,
        asked_pause: Option<Duration>,
    ) -> Result<Learned, StoreError> {
        let next_check_at = next_check(charge.checks, self.clock.now(), asked_pause);
        self.record(charge, ChargeChange::Postponed { why, unanswered, next_check_at }, Learned::Postponed).await
    }

    async fn suspect(&self, charge: &Charge, why: String) -> Result<Learned, StoreError> {
        let next_check_at = self.clock.now() + SUSPICIOUS_PAUSE;
        let news = ChargeChange::Suspicious { why: why.clone(), next_check_at };
        self.record(charge, news, Learned::Suspicious { why }).await
    }

    async fn record(&self, charge: &Charge, news: ChargeChange, learned: Learned) -> Result<Learned, StoreError> {
        match self.charges.record(charge.id, news, self.clock.now()).await? {
            Change::Done => Ok(learned),
            Change::Stale => Ok(Learned::AlreadySettled),
        }
    }
}

fn opened(learned: Learned) -> Opened {
    match learned {
        Learned::Pending | Learned::Succeeded | Learned::AlreadySettled => Opened::Known,
        Learned::Failed { reason } => Opened::Refused { reason },
        Learned::Suspicious { .. } | Learned::Postponed => Opened::Unclear,
    }
}

/// Returns `true` if the state of a payment contradicts the outcome of its charge. Cases: money for a failed
/// charge, no money for a paid one, or a second payment with money.
fn contradicts(charge: &Charge, payment: &ProviderId, status: GatewayStatus) -> bool {
    let same = charge.provider_id.as_ref() == Some(payment);
    let arrived = charge.state == ChargeState::Succeeded;
    match status {
        GatewayStatus::Succeeded => !(same && arrived),
        GatewayStatus::Canceled => same && arrived,
        GatewayStatus::Pending => false,
    }
}
