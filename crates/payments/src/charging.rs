//! Charges: taking money without guessing an outcome.
//!
//! A charge and its idempotency key are stored before the acquirer is called. The same request is repeated under
//! the same key until the outcome is known; notifications only trigger a check. The outcome is committed once,
//! guarded by the state of the charge, together with its consequences.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Clock, Random, StoreError};

use crate::change::{Change, ChargeChange};
use crate::model::{
    Charge, ChargeFailure, ChargePurpose, ChargeState, GatewayPayment, GatewayStatus, NewCharge, ProviderId,
    Registration,
};
use crate::ports::{Answer, ChargeStore, ChargeStored, PaymentGateway, Reading};
use crate::timing::{
    ABSENCE_CONFIRMED_AFTER, CLOCK_SKEW, KEY_LIFETIME, LEASE, METHOD_DELETED, SUSPICIOUS_PAUSE, TAKEOVER_DELAY,
    next_check,
};

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
pub enum PaymentRequested {
    /// The acquirer has the payment; the charge has its state.
    Known,
    /// The acquirer refuses the payment; the consequences are committed.
    Refused {
        /// Reason given by the acquirer.
        reason: String,
    },
    /// The outcome is unknown; a worker resolves it.
    OutcomeUnknown,
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
    OutcomeUnknown {
        /// Cause, for the log.
        why: String,
    },
}

/// Outcome of charging a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeResult {
    /// The charge is stored, and the payment was requested.
    Requested(Charge, PaymentRequested),
    /// A conflicting charge exists; no payment was requested.
    Existing(Charge),
    /// The saved method belongs to another customer, or is no longer active.
    MethodUnavailable,
    /// The customer was deleted.
    CustomerDeleted,
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

enum ChargeUpdate {
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
                ChargeResult::Requested(charge, opened)
            }
            ChargeStored::Existing(charge) => ChargeResult::Existing(charge),
            ChargeStored::MethodUnavailable => ChargeResult::MethodUnavailable,
            ChargeStored::CustomerDeleted => ChargeResult::CustomerDeleted,
        })
    }

    /// Requests the payment of a charge that was just stored, for the first time.
    pub async fn open(&self, charge: &Charge) -> Result<PaymentRequested, StoreError> {
        if !self.may_send(charge).await? {
            let learned = self.fail(charge, None, ChargeFailure::Withdrawn, METHOD_DELETED.to_owned()).await?;
            return Ok(match learned {
                ChargeUpdate::Failed { reason } => PaymentRequested::Refused { reason },
                _ => PaymentRequested::Known,
            });
        }
        if charge.provider_id.is_some() && charge.request.renewal.is_some() {
            // The acquirer has had it since before the database was restored.
            return Ok(opened(self.process(charge).await?));
        }
        let learned = match self.gateway.create(&charge.request).await {
            Answer::Known(payment) => self.apply_payment(charge, payment).await?,
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
            return Ok(CancelOutcome::OutcomeUnknown {
                why: "it is not known yet whether the payment exists".to_owned(),
            });
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
            Reading::Absent | Reading::Unknown { .. } => Ok(CancelOutcome::OutcomeUnknown { why }),
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
            return Ok(if answered { CancelOutcome::Refused { why } } else { CancelOutcome::OutcomeUnknown { why } });
        }
        Ok(match self.apply_payment(charge, payment).await? {
            ChargeUpdate::Succeeded | ChargeUpdate::Failed { .. } | ChargeUpdate::AlreadySettled => {
                CancelOutcome::Settled
            }
            ChargeUpdate::Pending | ChargeUpdate::Postponed => CancelOutcome::OutcomeUnknown { why },
            ChargeUpdate::Suspicious { why } => CancelOutcome::OutcomeUnknown { why },
        })
    }

    /// Handles a notification from an unauthenticated sender: the payment is read again, and only the read state
    /// counts. A charge with a known outcome is read only if the `notified` state contradicts that outcome.
    pub async fn handle_notification(
        &self,
        id: &ProviderId,
        notified: Option<GatewayStatus>,
    ) -> Result<NotificationResult, StoreError> {
        let known = self.charges.by_provider(id).await?;
        if let Some(charge) = known.as_ref().filter(|charge| !charge.state.is_open())
            && !notified.is_some_and(|status| contradicts_outcome(charge, id, status))
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
            self.apply_payment(&charge, payment).await?
        } else {
            self.compare(&charge, &payment.id, payment.status).await?
        };
        Ok(match learned {
            ChargeUpdate::Succeeded | ChargeUpdate::Failed { .. } => NotificationResult::Settled(purpose),
            ChargeUpdate::Pending | ChargeUpdate::Postponed => NotificationResult::StillOpen(purpose),
            ChargeUpdate::AlreadySettled => NotificationResult::AlreadySettled(purpose),
            ChargeUpdate::Suspicious { why } => NotificationResult::Suspicious { purpose, why },
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
            match self.process(&charge).await? {
                ChargeUpdate::Succeeded | ChargeUpdate::Failed { .. } => done.settled += 1,
                ChargeUpdate::Suspicious { why } => done.suspicious.push((charge.purpose(), why)),
                ChargeUpdate::Pending | ChargeUpdate::AlreadySettled | ChargeUpdate::Postponed => {}
            }
        }
        Ok(done)
    }

    /// Checks the outcome of a charge now, for a caller that waits for it.
    pub async fn check_now(&self, charge: &Charge) -> Result<(), StoreError> {
        self.process(charge).await.map(|_| ())
    }

    /// Returns `true` if the request of a charge may be sent. A saved method that its customer deleted is never
    /// used again.
    async fn may_send(&self, charge: &Charge) -> Result<bool, StoreError> {
        if charge.request.saved_method.is_none() {
            return Ok(true);
        }
        self.charges.mark_sending(charge.id, self.clock.now() + TAKEOVER_DELAY).await
    }

    async fn process(&self, charge: &Charge) -> Result<ChargeUpdate, StoreError> {
        // A charge with an identifier at the acquirer is only read.
        let may_repeat = charge.provider_id.is_some() || self.may_send(charge).await?;
        match resolve(&*self.gateway, &*self.clock, charge, may_repeat).await {
            Resolution::Known(payment) => self.apply_payment(charge, *payment).await,
            Resolution::NoPayment { failure, reason } => self.fail(charge, None, failure, reason).await,
            Resolution::OutcomeUnknown { why, unanswered, retry_after } => {
                self.postpone(charge, why, unanswered, retry_after).await
            }
            Resolution::Suspicious { why } => self.mark_suspicious(charge, why).await,
        }
    }

    /// Records a payment state that contradicts its settled charge.
    async fn compare(
        &self,
        charge: &Charge,
        id: &ProviderId,
        status: GatewayStatus,
    ) -> Result<ChargeUpdate, StoreError> {
        if !contradicts_outcome(charge, id, status) {
            return Ok(ChargeUpdate::AlreadySettled);
        }
        let why = format!("payment {id} is {status:?} although its charge is {:?}", charge.state);
        self.charges.record_contradiction(charge.id, &why, self.clock.now()).await?;
        Ok(ChargeUpdate::Suspicious { why })
    }

    /// Commits the state of a payment. Arrived money is reported even if the charge was settled otherwise since
    /// it was read.
    async fn apply_payment(&self, charge: &Charge, payment: GatewayPayment) -> Result<ChargeUpdate, StoreError> {
        let (id, status) = (payment.id.clone(), payment.status);
        let learned = self.commit(charge, payment).await?;
        match learned {
            ChargeUpdate::AlreadySettled if status == GatewayStatus::Succeeded => {
                match self.charges.find(charge.id).await? {
                    Some(settled) if !settled.state.is_open() => self.compare(&settled, &id, status).await,
                    _ => Ok(learned),
                }
            }
            learned => Ok(learned),
        }
    }

    /// Commits the state of a payment after checking that it matches the request.
    async fn commit(&self, charge: &Charge, payment: GatewayPayment) -> Result<ChargeUpdate, StoreError> {
        if let Err(mismatch) = charge.ensure_matches(&payment) {
            return self.mark_suspicious(charge, mismatch.to_string()).await;
        }
        match payment.status {
            GatewayStatus::Pending => {
                let update = ChargeChange::Pending {
                    provider_id: payment.id,
                    confirmation_url: payment.confirmation_url,
                    next_check_at: next_check(charge.checks, self.clock.now(), None),
                };
                self.record(charge, update, ChargeUpdate::Pending).await
            }
            GatewayStatus::Succeeded => {
                let update = ChargeChange::Succeeded {
                    provider_id: payment.id,
                    event_id: self.random.uuid(),
                    refund: charge.automatic_refund(self.random.uuid()),
                    method: payment.saved_method.filter(|_| charge.request.save_method),
                    receipt: charge.request.receipt.as_ref().map(|_| payment.receipt.unwrap_or(Registration::Pending)),
                };
                self.record(charge, update, ChargeUpdate::Succeeded).await
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
    ) -> Result<ChargeUpdate, StoreError> {
        let update = ChargeChange::Failed { provider_id, failure, reason: reason.clone() };
        self.record(charge, update, ChargeUpdate::Failed { reason }).await
    }

    async fn postpone(
        &self,
        charge: &Charge,
        why: String,
        unanswered: bool,
        asked_pause: Option<Duration>,
    ) -> Result<ChargeUpdate, StoreError> {
        let next_check_at = next_check(charge.checks, self.clock.now(), asked_pause);
        self.record(charge, ChargeChange::Postponed { why, unanswered, next_check_at }, ChargeUpdate::Postponed).await
    }

    async fn mark_suspicious(&self, charge: &Charge, why: String) -> Result<ChargeUpdate, StoreError> {
        let next_check_at = self.clock.now() + SUSPICIOUS_PAUSE;
        let update = ChargeChange::Suspicious { why: why.clone(), next_check_at };
        self.record(charge, update, ChargeUpdate::Suspicious { why }).await
    }

    async fn record(
        &self,
        charge: &Charge,
        update: ChargeChange,
        learned: ChargeUpdate,
    ) -> Result<ChargeUpdate, StoreError> {
        match self.charges.record(charge.id, update, self.clock.now()).await? {
            Change::Done => Ok(learned),
            Change::Stale => Ok(ChargeUpdate::AlreadySettled),
        }
    }
}

fn opened(learned: ChargeUpdate) -> PaymentRequested {
    match learned {
        ChargeUpdate::Pending | ChargeUpdate::Succeeded | ChargeUpdate::AlreadySettled => PaymentRequested::Known,
        ChargeUpdate::Failed { reason } => PaymentRequested::Refused { reason },
        ChargeUpdate::Suspicious { .. } | ChargeUpdate::Postponed => PaymentRequested::OutcomeUnknown,
    }
}

/// Returns `true` if the state of a payment contradicts the outcome of its charge. Cases: money for a failed
/// charge, no money for a paid one, or a second payment with money.
fn contradicts_outcome(charge: &Charge, payment: &ProviderId, status: GatewayStatus) -> bool {
    let same = charge.provider_id.as_ref() == Some(payment);
    let arrived = charge.state == ChargeState::Succeeded;
    match status {
        GatewayStatus::Succeeded => !(same && arrived),
        GatewayStatus::Canceled => same && arrived,
        GatewayStatus::Pending => false,
    }
}

/// Result of resolving a payment.
enum Resolution {
    /// The acquirer has the payment.
    Known(Box<GatewayPayment>),
    /// The acquirer certainly has no payment, and none will be created.
    NoPayment { failure: ChargeFailure, reason: String },
    /// The outcome is still unknown. `unanswered` if the payment was requested and the acquirer did not answer.
    OutcomeUnknown { why: String, unanswered: bool, retry_after: Option<Duration> },
    /// The acquirer contradicts itself.
    Suspicious { why: String },
}

/// Reads the payment if its identifier is known. Otherwise repeats the request under its key, as long as the key
/// is valid and `may_repeat` allows it.
async fn resolve(gateway: &dyn PaymentGateway, clock: &dyn Clock, charge: &Charge, may_repeat: bool) -> Resolution {
    let unclear = |why| Resolution::OutcomeUnknown { why, unanswered: false, retry_after: None };
    if let Some(id) = &charge.provider_id {
        return match gateway.read(id).await {
            Reading::Known(payment) => Resolution::Known(Box::new(payment)),
            Reading::Absent => Resolution::Suspicious { why: format!("the acquirer no longer knows payment {id}") },
            Reading::Unknown { why } => unclear(why),
        };
    }
    let (failure, reason) = if clock.now() - charge.created_at >= KEY_LIFETIME {
        (ChargeFailure::Canceled, "the payment was never created".to_owned())
    } else if !may_repeat {
        (ChargeFailure::Withdrawn, METHOD_DELETED.to_owned())
    } else {
        match gateway.create(&charge.request).await {
            Answer::Known(payment) => return Resolution::Known(Box::new(payment)),
            Answer::Unknown { why, retry_after } => {
                return Resolution::OutcomeUnknown { why, unanswered: true, retry_after };
            }
            // An earlier request may have succeeded although this one is refused (another password, for
            // example).
            Answer::Refused { code, description } => (ChargeFailure::Refused, format!("{code}: {description}")),
        }
    };
    // The charge fails only if the acquirer certainly has no payment for it.
    match gateway.find(&charge.request, charge.created_at - CLOCK_SKEW).await {
        Reading::Known(payment) => Resolution::Known(Box::new(payment)),
        Reading::Absent if clock.now() - charge.asked_at >= ABSENCE_CONFIRMED_AFTER => {
            Resolution::NoPayment { failure, reason }
        }
        Reading::Absent => unclear(reason),
        Reading::Unknown { why } => unclear(why),
    }
}
