use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Clock, Random, StoreError};

use super::inquiry::{Finding, inquire};
use crate::change::{Change, ChargeChange};
use crate::model::{
    Charge, ChargeFailure, ChargePurpose, ChargeState, GatewayPayment, GatewayStatus, NewCharge, ProviderId,
    Registration,
};
use crate::ports::{Answer, ChargeStore, ChargeStored, PaymentGateway, Reading};
use crate::timing::{LEASE, METHOD_DELETED, SUSPICIOUS_PAUSE, TAKEOVER, next_check};

/// Use cases of charges.
pub struct ChargeService {
    /// Where charges are kept.
    pub charges: Arc<dyn ChargeStore>,
    /// The acquirer.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys and identifiers of what follows.
    pub random: Arc<dyn Random>,
}

/// What came of asking the acquirer for a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// It has the payment; the charge says how it stands.
    Known,
    /// It will not take the money; what follows from that is committed.
    Refused {
        /// The acquirer's reason.
        reason: String,
    },
    /// Nobody can tell yet; a worker goes on.
    Unclear,
}

/// What came of taking a charge back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawal {
    /// Its outcome is known now: it is taken back, or was paid, or had failed before.
    Settled,
    /// The acquirer keeps the payment open.
    Refused {
        /// The acquirer's reason.
        why: String,
    },
    /// Nobody can tell how it stands.
    Unclear {
        /// What happened.
        why: String,
    },
}

/// What came of charging a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Charged {
    /// The charge is stored, and the acquirer was asked.
    Asked(Charge, Opened),
    /// There was one that stands against it; nobody was asked.
    Present(Charge),
    /// The saved method is not the customer's, or no longer active.
    MethodGone,
    /// The customer has left.
    CustomerGone,
}

/// What came of a notification. It is handled unless it is [`Notified::Unreadable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notified {
    /// The outcome is known now.
    Settled(ChargePurpose),
    /// The payment is still pending.
    StillOpen(ChargePurpose),
    /// The outcome was known before.
    AlreadySettled(ChargePurpose),
    /// The payment is none of ours.
    Ignored,
    /// The acquirer could not be asked; the notification must come again.
    Unreadable {
        /// What happened.
        why: String,
    },
    /// To be looked at by people: the payment does not fit its charge, or money arrived for one that was given up.
    Suspicious {
        /// What the charge is for.
        purpose: ChargePurpose,
        /// What is wrong.
        why: String,
    },
}

/// What a round of a worker did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReconciledCharges {
    /// Charges asked about.
    pub checked: u32,
    /// Of these, with an outcome now.
    pub settled: u32,
    /// What people must look at.
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
    /// Stores a charge and asks the acquirer for its payment. Charges that belong to a larger commit, such as an order,
    /// are stored there and go through [`ChargeService::open`].
    pub async fn charge(&self, new: NewCharge) -> Result<Charged, StoreError> {
        Ok(match self.charges.store(new).await? {
            ChargeStored::New(charge) => {
                let opened = self.open(&charge).await?;
                Charged::Asked(charge, opened)
            }
            ChargeStored::Present(charge) => Charged::Present(charge),
            ChargeStored::MethodGone => Charged::MethodGone,
            ChargeStored::CustomerGone => Charged::CustomerGone,
        })
    }

    /// Asks the acquirer for the payment of a charge that has just been stored, for the first time.
    pub async fn open(&self, charge: &Charge) -> Result<Opened, StoreError> {
        if !self.may_leave(charge).await? {
            let learned = self.fail(charge, None, ChargeFailure::Withdrawn, METHOD_DELETED.to_owned()).await?;
            return Ok(match learned {
                Learned::Failed { reason } => Opened::Refused { reason },
                _ => Opened::Known,
            });
        }
        if charge.provider_id.is_some() && charge.request.renewal.is_some() {
            // The acquirer has it since before the database was restored.
            return Ok(opened(self.pursue(charge).await?));
        }
        let learned = match self.gateway.create(&charge.request).await {
            Answer::Known(payment) => self.learn(charge, payment).await?,
            // Nothing was asked before under this key, so a refusal is the whole truth.
            Answer::Refused { code, description } => {
                self.fail(charge, None, ChargeFailure::Refused, format!("{code}: {description}")).await?
            }
            Answer::Unknown { why, retry_after } => self.postpone(charge, why, true, retry_after).await?,
        };
        Ok(opened(learned))
    }

    /// Takes an open charge back at the acquirer. What is learned on the way is committed. A charge of which it is not known
    /// whether the acquirer has heard of it stays as it is.
    pub async fn withdraw(&self, charge: &Charge) -> Result<Withdrawal, StoreError> {
        let Some(id) = &charge.provider_id else {
            return Ok(Withdrawal::Unclear { why: "whether there is a payment is not known yet".to_owned() });
        };
        let (refused, why) = match self.gateway.cancel(id, self.random.uuid()).await {
            Answer::Known(payment) => {
                return self.withdrawn(charge, payment, true, "it is still open".to_owned()).await;
            }
            Answer::Refused { code, description } => (true, format!("{code}: {description}")),
            Answer::Unknown { why, .. } => (false, why),
        };
        // It may have been paid or canceled meanwhile, or an answer was lost.
        match self.gateway.read(id).await {
            Reading::Known(payment) => self.withdrawn(charge, payment, refused, why).await,
            Reading::Absent | Reading::Unknown { .. } => Ok(Withdrawal::Unclear { why }),
        }
    }

    async fn withdrawn(
        &self,
        charge: &Charge,
        payment: GatewayPayment,
        answered: bool,
        why: String,
    ) -> Result<Withdrawal, StoreError> {
        if payment.status == GatewayStatus::Pending && charge.ensure_matches(&payment).is_ok() {
            // Nothing was learned. A request that was not answered may still be on its way.
            return Ok(if answered { Withdrawal::Refused { why } } else { Withdrawal::Unclear { why } });
        }
        Ok(match self.learn(charge, payment).await? {
            Learned::Succeeded | Learned::Failed { .. } | Learned::AlreadySettled => Withdrawal::Settled,
            Learned::Pending | Learned::Postponed => Withdrawal::Unclear { why },
            Learned::Suspicious { why } => Withdrawal::Unclear { why },
        })
    }

    /// Handles the word of somebody who may be the acquirer: the payment is read again, and only what is read counts. A charge
    /// whose outcome is known is read when it is `told` to have ended otherwise.
    pub async fn acquirer_notified(
        &self,
        id: &ProviderId,
        told: Option<GatewayStatus>,
    ) -> Result<Notified, StoreError> {
        let known = self.charges.by_provider(id).await?;
        if let Some(charge) = known.as_ref().filter(|charge| !charge.state.is_open())
            && !told.is_some_and(|status| contradicts(charge, id, status))
        {
            return Ok(Notified::AlreadySettled(charge.purpose()));
        }
        let payment = match self.gateway.read(id).await {
            Reading::Known(payment) => payment,
            Reading::Absent => return Ok(Notified::Ignored),
            Reading::Unknown { why } => return Ok(Notified::Unreadable { why }),
        };
        // A notification can overtake the answer that would have told us the payment's identifier.
        let charge = match (known, payment.key) {
            (Some(charge), _) => Some(charge),
            (None, Some(key)) => self.charges.by_key(key).await?,
            (None, None) => None,
        };
        let Some(charge) = charge else { return Ok(Notified::Ignored) };
        let purpose = charge.purpose();
        let learned = if charge.state.is_open() {
            self.learn(&charge, payment).await?
        } else {
            self.compare(&charge, &payment.id, payment.status).await?
        };
        Ok(match learned {
            Learned::Succeeded | Learned::Failed { .. } => Notified::Settled(purpose),
            Learned::Pending | Learned::Postponed => Notified::StillOpen(purpose),
            Learned::AlreadySettled => Notified::AlreadySettled(purpose),
            Learned::Suspicious { why } => Notified::Suspicious { purpose, why },
        })
    }

    /// Works on charges that are due, one after the other and at most `most`, each leased so that several workers never
    /// ask about the same one at a time.
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

    /// Finds out at once how a charge stands, for somebody who waits for it.
    pub async fn check_now(&self, charge: &Charge) -> Result<(), StoreError> {
        self.pursue(charge).await.map(|_| ())
    }

    /// Whether the request of a charge may be sent. A saved method that its customer deleted is never named again.
    async fn may_leave(&self, charge: &Charge) -> Result<bool, StoreError> {
        if charge.request.saved_method.is_none() {
            return Ok(true);
        }
        self.charges.departs(charge.id, self.clock.now() + TAKEOVER).await
    }

    async fn pursue(&self, charge: &Charge) -> Result<Learned, StoreError> {
        // Whoever is known by the acquirer's identifier is only read.
        let may_repeat = charge.provider_id.is_some() || self.may_leave(charge).await?;
        match inquire(&*self.gateway, &*self.clock, charge, may_repeat).await {
            Finding::Known(payment) => self.learn(charge, *payment).await,
            Finding::Nothing { failure, reason } => self.fail(charge, None, failure, reason).await,
            Finding::Unclear { why, unanswered, retry_after } => {
                self.postpone(charge, why, unanswered, retry_after).await
            }
            Finding::Suspicious { why } => self.suspect(charge, why).await,
        }
    }

    /// Records it when a payment says otherwise than its settled charge.
    async fn compare(&self, charge: &Charge, id: &ProviderId, status: GatewayStatus) -> Result<Learned, StoreError> {
        if !contradicts(charge, id, status) {
            return Ok(Learned::AlreadySettled);
        }
        let why = format!("payment {id} is {status:?} although its charge is {:?}", charge.state);
        self.charges.contradicted(charge.id, &why, self.clock.now()).await?;
        Ok(Learned::Suspicious { why })
    }

    /// Commits what a payment says. Money that arrived is told of although the charge was settled otherwise since it was read.
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

    /// Commits what a payment says, once it is surely the one that was asked for.
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

/// Whether a payment cannot stand as it does beside the outcome of its charge: money for one that ended without, none for one
/// that was paid, or a second payment that took money.
fn contradicts(charge: &Charge, payment: &ProviderId, status: GatewayStatus) -> bool {
    let same = charge.provider_id.as_ref() == Some(payment);
    let arrived = charge.state == ChargeState::Succeeded;
    match status {
        GatewayStatus::Succeeded => !(same && arrived),
        GatewayStatus::Canceled => same && arrived,
        GatewayStatus::Pending => false,
    }
}
