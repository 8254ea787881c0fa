use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CallbackAttemptId, Contact, Phone, ProjectId, StoreError};

use super::{Guard, InMemoryLogins, State};
use crate::model::{
    AttemptChange, AttemptExchange, AttemptState, CallbackAttempt, CheckId, ContactOwner, ExchangeOutcome, NewAttempt,
};
use crate::ports::{CallbackAttempts, ClaimError, QueryPurpose};

/// Attempt with the fields that only the storage reads. It has a call once it is open.
pub(super) struct Attempt {
    id: CallbackAttemptId,
    new: NewAttempt,
    check: Option<CheckId>,
    state: AttemptState,
    expires_at: DateTime<Utc>,
    status_asked_at: Option<DateTime<Utc>>,
    exchange_asked_at: Option<DateTime<Utc>>,
}

/// Reservation of a phone by an attempt.
pub(super) struct Hold {
    project: ProjectId,
    phone: Phone,
    attempt: CallbackAttemptId,
    until: DateTime<Utc>,
}

impl Attempt {
    fn shown(&self) -> Option<CallbackAttempt> {
        Some(CallbackAttempt {
            id: self.id,
            nonce_fingerprint: self.new.nonce_fingerprint.clone(),
            check: self.check.clone()?,
            state: self.state,
            expires_at: self.expires_at,
        })
    }

    fn is_pending(&self) -> bool {
        self.check.is_some() && self.state == AttemptState::Pending
    }
}

impl State {
    fn attempt(&mut self, id: CallbackAttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.id == id)
    }

    fn begin(&mut self, new: NewAttempt) -> Result<CallbackAttemptId, ClaimError> {
        let (app, at) = (new.app, new.created_at);
        let repeats = |known: &Attempt| {
            known.new.app.application_id == app.application_id && known.new.nonce_fingerprint == new.nonce_fingerprint
        };
        if self.guards.has(Guard::Nonce) && self.attempts.iter().any(repeats) {
            return Err(ClaimError::NonceUsed);
        }
        let is_held = |hold: &&Hold| hold.project == app.project_id && hold.phone == new.phone && hold.until > at;
        if let Some(hold) = self.holds.iter().find(is_held).filter(|_| self.guards.has(Guard::Hold)) {
            return Err(ClaimError::PhoneHeld { until: hold.until });
        }
        let id = self.ids.id();
        let phone = new.phone.clone();
        self.holds.push(Hold { project: app.project_id, phone, attempt: id, until: new.phone_held_until });
        self.attempts.push(Attempt {
            id,
            check: None,
            state: AttemptState::Pending,
            expires_at: new.expires_at,
            status_asked_at: None,
            exchange_asked_at: None,
            new,
        });
        Ok(id)
    }

    fn may_ask(
        &mut self,
        id: CallbackAttemptId,
        asking: QueryPurpose,
        at: DateTime<Utc>,
        not_since: DateTime<Utc>,
    ) -> bool {
        let checked = self.guards.has(Guard::Interval);
        let Some(attempt) = self.attempt(id).filter(|attempt| attempt.is_pending()) else { return false };
        let asked_at = match asking {
            QueryPurpose::Status => &mut attempt.status_asked_at,
            QueryPurpose::Exchange => &mut attempt.exchange_asked_at,
        };
        let may = !checked || asked_at.is_none_or(|asked| asked <= not_since);
        if may {
            *asked_at = Some(at);
        }
        may
    }

    fn change_attempt(
        &mut self,
        id: CallbackAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Option<CallbackAttempt> {
        let attempt = self.attempt(id)?;
        let applies = attempt.is_pending() && attempt.expires_at > at;
        if applies {
            (attempt.state, attempt.expires_at) = match change {
                AttemptChange::Verified { expires_at } => (AttemptState::Verified, expires_at),
                AttemptChange::Expired => (AttemptState::Expired, at),
            };
        }
        let shown = attempt.shown();
        if applies {
            self.holds.retain(|hold| hold.attempt != id);
        }
        shown
    }

    fn exchange(&mut self, exchange: &AttemptExchange) -> ExchangeOutcome {
        let (app, now) = (exchange.app, exchange.token.created_at);
        let is_verified = |attempt: &&mut Attempt| {
            let own = attempt.new.app.application_id == app.application_id;
            own && attempt.state == AttemptState::Verified && attempt.expires_at > now
        };
        let Some(attempt) = self.attempt(exchange.attempt).filter(is_verified) else {
            return ExchangeOutcome::NotVerified;
        };
        let contact = Contact::Phone(attempt.new.phone.clone());
        if matches!(self.owner_of(app.project_id, &contact), ContactOwner::Several { .. }) {
            return ExchangeOutcome::SeveralCustomers;
        }
        if self.guards.has(Guard::Exchange)
            && let Some(attempt) = self.attempt(exchange.attempt)
        {
            (attempt.state, attempt.expires_at) = (AttemptState::Expired, now);
        }
        let (counterparty_id, token_id) = self.sign_in(app, &contact, &exchange.token);
        ExchangeOutcome::SignedIn { counterparty_id, token_id }
    }
}

#[async_trait]
impl CallbackAttempts for InMemoryLogins {
    async fn begin(&self, attempt: NewAttempt) -> Result<CallbackAttemptId, ClaimError> {
        self.state.with(|state| state.begin(attempt))
    }

    async fn open(&self, id: CallbackAttemptId, check: &CheckId, expires_at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            let prepared = state.attempt(id);
            let prepared = prepared.filter(|known| known.check.is_none() && known.state == AttemptState::Pending);
            if let Some(attempt) = prepared {
                (attempt.check, attempt.expires_at) = (Some(check.clone()), expires_at);
            }
        });
        Ok(())
    }

    async fn abandon(&self, id: CallbackAttemptId) -> Result<(), StoreError> {
        self.state.with(|state| {
            if let Some(attempt) = state.attempt(id).filter(|attempt| attempt.check.is_none()) {
                attempt.state = AttemptState::Expired;
            }
            state.holds.retain(|hold| hold.attempt != id);
        });
        Ok(())
    }

    async fn find(&self, app: AppScope, session_fingerprint: &str) -> Result<Option<CallbackAttempt>, StoreError> {
        Ok(self.state.with(|state| {
            let mut own = state.attempts.iter().filter(|attempt| {
                let known = &attempt.new;
                known.app.application_id == app.application_id && known.session_fingerprint == session_fingerprint
            });
            own.find_map(Attempt::shown)
        }))
    }

    async fn find_by_check(&self, check: &CheckId) -> Result<Option<CallbackAttempt>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.attempts.iter().find(|attempt| attempt.check.as_ref() == Some(check));
            found.and_then(Attempt::shown)
        }))
    }

    async fn may_ask(
        &self,
        id: CallbackAttemptId,
        asking: QueryPurpose,
        at: DateTime<Utc>,
        not_since: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.may_ask(id, asking, at, not_since)))
    }

    async fn change(
        &self,
        id: CallbackAttemptId,
        change: AttemptChange,
        at: DateTime<Utc>,
    ) -> Result<CallbackAttempt, StoreError> {
        let changed = self.state.with(|state| state.change_attempt(id, change, at));
        changed.ok_or_else(|| StoreError::Failed("there is no such open attempt".to_owned()))
    }

    async fn exchange(&self, exchange: AttemptExchange) -> Result<ExchangeOutcome, StoreError> {
        Ok(self.state.with(|state| state.exchange(&exchange)))
    }
}
