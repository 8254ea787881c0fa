use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use kontor_kernel::{Clock, CustomerScope, Random, StoreError, VerificationId};

use crate::change::Change;
use crate::error::VerificationError;
use crate::model::{
    GatewayPayment, GatewayStatus, NewVerification, ProviderPaymentId, Verification, VerificationChange,
    VerificationState, VerificationTerms,
};
use crate::payment::inquiry::{Finding, inquire};
use crate::payment::{LEASE, SUSPICIOUS_PAUSE, next_check};
use crate::ports::{CreateAnswer, PaymentGateway, ReadAnswer, Started, VerificationStore};

/// How long a verification that succeeded is given to who asks for one.
const STILL_COUNTS: TimeDelta = TimeDelta::hours(24);

/// How long the call that follows the commit may take before a worker takes the verification over; longer than the
/// acquirer's client waits.
const TAKEOVER: TimeDelta = TimeDelta::seconds(60);

/// Use cases of verifications.
pub struct VerificationService {
    pub(super) store: Arc<dyn VerificationStore>,
    pub(super) gateway: Arc<dyn PaymentGateway>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    terms: VerificationTerms,
}

/// What a customer who wants to prove himself is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verifying {
    /// A new verification, which the acquirer knows of.
    Opened(Verification),
    /// A new verification; whether its payment exists is still being found out, and there is no link yet.
    Unclear(Verification),
    /// The one he has: open, or succeeded not long ago.
    Present(Verification),
}

/// What came of a notification about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It was heard.
    Heard(VerificationId),
    /// The payment is of no verification.
    Ignored,
    /// The acquirer could not be asked; the notification must come again.
    Unreadable {
        /// What happened.
        why: String,
    },
    /// To be looked at by people: the payment does not fit, or money arrived for a verification that was given up.
    Suspicious {
        /// The verification.
        id: VerificationId,
        /// What is wrong.
        why: String,
    },
}

/// What a round of a worker did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerificationRound {
    /// Verifications worked on.
    pub checked: u32,
    /// What people must look at.
    pub suspicious: Vec<(VerificationId, String)>,
}

/// What people must look at, if anything.
pub(super) type Concern = Option<String>;

impl VerificationService {
    /// Wires the ports.
    pub fn new(
        store: Arc<dyn VerificationStore>,
        gateway: Arc<dyn PaymentGateway>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        terms: VerificationTerms,
    ) -> Self {
        Self { store, gateway, clock, random, terms }
    }

    /// Starts a verification, or gives the one the customer has. One that ran out of time is cleared up first.
    pub async fn start(&self, customer: CustomerScope) -> Result<Verifying, VerificationError> {
        let mut cleared_up = false;
        loop {
            let at = self.clock.now();
            let new = NewVerification {
                project_id: customer.app.project_id,
                counterparty_id: customer.counterparty_id,
                key: self.random.uuid(),
                terms: self.terms.clone(),
                still_counts_since: at - STILL_COUNTS,
                next_check_at: at + TAKEOVER,
                at,
            };
            match self.store.start(new).await? {
                Started::Gone => return Err(VerificationError::CustomerGone),
                Started::New(verification) => return self.open(verification).await,
                Started::Present(present) if !cleared_up && present.state.is_open() && present.expires_at <= at => {
                    self.pursue_payment(&present).await?;
                    cleared_up = true;
                }
                Started::Present(present) => return Ok(Verifying::Present(present)),
            }
        }
    }

    /// Asks the acquirer for the payment of a verification that has just been stored, for the first time.
    async fn open(&self, verification: Verification) -> Result<Verifying, VerificationError> {
        let answer = self.gateway.create(&verification.request, verification.request.attempt).await;
        let recorded = match answer {
            CreateAnswer::Known(payment) => self.learn(&verification, payment).await.map(|_| true),
            // Nothing was asked before under this key, so a refusal is the whole truth.
            CreateAnswer::Refused { code, description } => {
                let (id, reason) = (verification.id, format!("{code}: {description}"));
                self.fail(&verification, None, VerificationState::Refused, reason.clone()).await?;
                return Err(VerificationError::PaymentRefused { id, reason });
            }
            CreateAnswer::Unknown { why, retry_after } => {
                self.postpone(&verification, why, retry_after).await.map(|_| false)
            }
        };
        // It is committed: a storage that fails now must not look like a verification that failed.
        let (Ok(known), Ok(Some(read))) = (recorded, self.store.find(verification.id).await) else {
            return Ok(Verifying::Unclear(verification));
        };
        let unclear = !known || read.state == VerificationState::Prepared;
        Ok(if unclear { Verifying::Unclear(read) } else { Verifying::Opened(read) })
    }

    /// Handles the word of somebody who may be the acquirer: the payment is read again, and only what is read counts.
    pub async fn acquirer_notified(&self, id: &ProviderPaymentId) -> Result<Notice, StoreError> {
        let known = self.store.by_provider(id).await?;
        if let Some(verification) = known.as_ref().filter(|verification| !verification.state.is_open()) {
            return Ok(Notice::Heard(verification.id));
        }
        let payment = match self.gateway.read(id).await {
            ReadAnswer::Known(payment) => payment,
            ReadAnswer::Absent => return Ok(Notice::Ignored),
            ReadAnswer::Unknown { why } => return Ok(Notice::Unreadable { why }),
        };
        // A notification can overtake the answer that would have told us the payment's identifier.
        let verification = match (known, payment.attempt) {
            (Some(verification), _) => Some(verification),
            (None, Some(key)) => self.store.by_key(key).await?,
            (None, None) => None,
        };
        let Some(verification) = verification else { return Ok(Notice::Ignored) };
        let id = verification.id;
        if !verification.state.is_open() {
            let stray = payment.status == GatewayStatus::Succeeded
                && !(verification.state == VerificationState::Succeeded
                    && verification.provider_id.as_ref() == Some(&payment.id));
            let why =
                format!("payment {} took money although its verification is {:?}", payment.id, verification.state);
            return Ok(if stray { Notice::Suspicious { id, why } } else { Notice::Heard(id) });
        }
        let concern = self.learn(&verification, payment).await?;
        Ok(concern.map_or(Notice::Heard(id), |why| Notice::Suspicious { id, why }))
    }

    /// Works on verifications that are due, payments and refunds alike, one after the other and at most `most`, each
    /// leased so that several workers never ask about the same one at a time.
    pub async fn reconcile(&self, owner: &str, most: u32) -> Result<VerificationRound, StoreError> {
        let mut done = VerificationRound::default();
        while done.checked < most {
            let at = self.clock.now();
            let Some(verification) = self.store.claim(owner, at, at + LEASE).await? else { break };
            done.checked += 1;
            let concern = match &verification.refund {
                Some(refund) => self.pursue_refund(&verification, refund).await?,
                None => self.pursue_payment(&verification).await?,
            };
            done.suspicious.extend(concern.map(|why| (verification.id, why)));
        }
        Ok(done)
    }

    async fn pursue_payment(&self, verification: &Verification) -> Result<Concern, StoreError> {
        let (known, asked_at) = (verification.provider_id.as_ref(), verification.created_at);
        match inquire(&*self.gateway, &*self.clock, &verification.request, known, asked_at).await {
            Finding::Known(payment) => self.learn(verification, payment).await,
            Finding::Nothing { refused, reason } => {
                let state = if refused { VerificationState::Refused } else { VerificationState::Canceled };
                self.fail(verification, None, state, reason).await
            }
            Finding::Unclear { why, retry_after } => self.postpone(verification, why, retry_after).await,
            Finding::Odd { why } => self.suspect(verification, why).await,
        }
    }

    /// Commits what a payment says, once it is surely the one that was asked for.
    async fn learn(&self, verification: &Verification, payment: GatewayPayment) -> Result<Concern, StoreError> {
        if let Err(mismatch) = verification.request.verify(verification.provider_id.as_ref(), &payment) {
            return self.suspect(verification, mismatch.to_string()).await;
        }
        let change = match payment.status {
            GatewayStatus::Pending => VerificationChange::Pending {
                provider_id: payment.id,
                confirmation_url: payment.confirmation_url,
                next_check_at: next_check(verification.checks, self.clock.now(), None),
            },
            GatewayStatus::Succeeded => {
                VerificationChange::Verified { provider_id: payment.id, refund_key: self.random.uuid() }
            }
            GatewayStatus::Canceled => {
                let state = VerificationState::of_canceled(payment.reason.as_deref());
                let reason = payment.reason.unwrap_or_else(|| "canceled".to_owned());
                return self.fail(verification, Some(payment.id), state, reason).await;
            }
        };
        self.record(verification, change).await.map(|_| None)
    }

    async fn fail(
        &self,
        verification: &Verification,
        provider_id: Option<ProviderPaymentId>,
        state: VerificationState,
        reason: String,
    ) -> Result<Concern, StoreError> {
        self.record(verification, VerificationChange::Failed { provider_id, state, reason }).await.map(|_| None)
    }

    async fn postpone(
        &self,
        verification: &Verification,
        why: String,
        asked_pause: Option<Duration>,
    ) -> Result<Concern, StoreError> {
        let next_check_at = next_check(verification.checks, self.clock.now(), asked_pause);
        self.record(verification, VerificationChange::Postponed { why, next_check_at }).await.map(|_| None)
    }

    async fn suspect(&self, verification: &Verification, why: String) -> Result<Concern, StoreError> {
        let next_check_at = self.clock.now() + SUSPICIOUS_PAUSE;
        let change = VerificationChange::Postponed { why: why.clone(), next_check_at };
        Ok((self.record(verification, change).await? == Change::Done).then_some(why))
    }

    pub(super) async fn record(
        &self,
        verification: &Verification,
        change: VerificationChange,
    ) -> Result<Change, StoreError> {
        self.store.record(verification.id, change, self.clock.now()).await
    }
}
