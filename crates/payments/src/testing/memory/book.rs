use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::Guards;
use kontor_kernel::{ChargeId, Money};

use super::numbered;
use crate::change::{ChargeChange, RecordedChange};
use crate::model::{Charge, ChargePurpose, ChargeState, NewCharge};

/// Guard of a [`ChargeBook`]. A test removes one, to prove that a contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeGuard {
    /// A key has one charge, a purpose one open charge, and one that does not recur at most one successful charge.
    Conflict,
    /// An outcome is recorded once.
    Outcome,
    /// A charge has one lease at a time.
    Lease,
    /// Refunded amounts never exceed the received amount.
    Refund,
}

/// Charges in memory, with the guards of [`ChargeStore`](crate::ports::ChargeStore). It is the part of a storage that
/// knows nothing about purposes; a storage adds the effects on its orders or subscriptions.
#[derive(Debug, Clone, Default)]
pub struct ChargeBook {
    entries: Vec<Entry>,
    guards: Guards<ChargeGuard>,
}

/// Charge with the fields that only the storage reads.
#[derive(Debug, Clone)]
struct Entry {
    charge: Charge,
    next_check_at: Option<DateTime<Utc>>,
    leased_until: Option<DateTime<Utc>>,
    reason: Option<String>,
    contradiction: Option<String>,
}

impl ChargeBook {
    /// Removes a guard.
    pub fn remove_guard(&mut self, guard: ChargeGuard) {
        self.guards = Guards::without(guard);
    }

    /// Returns the first charge with a property.
    pub fn find(&self, is: impl Fn(&Charge) -> bool) -> Option<Charge> {
        self.entries.iter().map(|entry| &entry.charge).find(|charge| is(charge)).cloned()
    }

    /// Returns the open charge for this purpose.
    pub fn open_for(&self, purpose: ChargePurpose) -> Option<Charge> {
        self.find(|charge| charge.purpose() == purpose && charge.state.is_open())
    }

    /// Returns the charge that prevents another one.
    pub fn conflicting(&self, new: &NewCharge) -> Option<Charge> {
        if !self.guards.has(ChargeGuard::Conflict) {
            return None;
        }
        let purpose = new.request.purpose;
        self.find(|charge| charge.request.key == new.request.key).or_else(|| {
            self.find(|charge| {
                let paid = charge.state == ChargeState::Succeeded && !purpose.is_recurring();
                charge.purpose() == purpose && (paid || charge.state.is_open())
            })
        })
    }

    /// Stores a charge; `None` if another one prevents it.
    pub fn store(&mut self, new: &NewCharge) -> Option<Charge> {
        if self.conflicting(new).is_some() {
            return None;
        }
        let number = i64::try_from(self.entries.len()).unwrap_or(i64::MAX).saturating_add(1);
        let charge = new.stored_as(numbered(number));
        self.entries.push(Entry {
            charge: charge.clone(),
            next_check_at: Some(new.next_check_at),
            leased_until: None,
            reason: None,
            contradiction: None,
        });
        Some(charge)
    }

    /// Leases the open charge that has been due longest.
    pub fn lease(&mut self, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<Charge> {
        let exclusive = self.guards.has(ChargeGuard::Lease);
        let is_due = |entry: &&mut Entry| {
            let free = !exclusive || entry.leased_until.is_none_or(|leased| leased <= at);
            free && entry.charge.state.is_open() && entry.next_check_at.is_some_and(|next| next <= at)
        };
        let longest = self.entries.iter_mut().filter(is_due).min_by_key(|entry| entry.next_check_at)?;
        longest.leased_until = Some(until);
        Some(longest.charge.clone())
    }

    /// Records an update of an open charge, and reserves the money of its refund. `None` if it is stale. The caller
    /// writes the effects on the purpose.
    pub fn record<'a>(
        &mut self,
        id: ChargeId,
        change: &'a ChargeChange,
        at: DateTime<Utc>,
    ) -> Option<RecordedChange<'a>> {
        let once = self.guards.has(ChargeGuard::Outcome);
        let entry = self.entries.iter_mut().find(|entry| entry.charge.id == id)?;
        if once && !entry.charge.state.is_open() {
            return None;
        }
        let repeated = entry.learn(change, at);
        Some(RecordedChange { charge: entry.charge.clone(), change, repeated })
    }

    /// Reserves money of a charge for a refund. The error is the amount that is left.
    pub fn reserve(&mut self, id: ChargeId, amount: Money) -> Result<(), Money> {
        if !self.guards.has(ChargeGuard::Refund) {
            return Ok(());
        }
        let entry = self.entries.iter_mut().find(|entry| entry.charge.id == id).ok_or(Money::ZERO)?;
        let left = entry.charge.refundable();
        if amount > left {
            return Err(left);
        }
        entry.charge.refunding = plus(entry.charge.refunding, amount);
        Ok(())
    }

    /// Ends the reservation of money: it was refunded or not.
    pub fn settle_refund(&mut self, id: ChargeId, amount: Money, is_refunded: bool) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.charge.id == id) {
            entry.charge.refunding = entry.charge.refunding.saturating_sub(amount);
            if is_refunded {
                entry.charge.refunded = plus(entry.charge.refunded, amount);
            }
        }
    }

    /// Records that the known outcome of a charge is doubtful, once per reason. Returns the charge if it is new.
    pub fn contradict(&mut self, id: ChargeId, why: &str) -> Option<Charge> {
        let entry = self.entries.iter_mut().find(|entry| entry.charge.id == id && !entry.charge.state.is_open())?;
        if entry.contradiction.as_deref() == Some(why) {
            return None;
        }
        entry.contradiction = Some(why.to_owned());
        Some(entry.charge.clone())
    }
}

/// Sum of two amounts.
fn plus(left: Money, right: Money) -> Money {
    left.checked_add(right).unwrap_or(Money::MAX)
}

impl Entry {
    /// Applies an update. Returns `true` if the charge already had its reason.
    fn learn(&mut self, change: &ChargeChange, at: DateTime<Utc>) -> bool {
        let target = &mut self.charge;
        let mut reason = None;
        match change {
            ChargeChange::Pending { provider_id, confirmation_url, .. } => {
                target.provider_id = Some(provider_id.clone());
                target.confirmation_url.clone_from(confirmation_url);
            }
            ChargeChange::Succeeded { provider_id, refund, .. } => {
                target.provider_id = Some(provider_id.clone());
                target.captured = target.request.amount;
                if let Some(refund) = refund {
                    target.refunding = plus(target.refunding, refund.amount());
                }
            }
            ChargeChange::Failed { provider_id, reason: why, .. } => {
                target.provider_id = provider_id.clone().or(target.provider_id.take());
                reason = Some(why);
            }
            ChargeChange::Postponed { why, unanswered, .. } => {
                if *unanswered {
                    target.asked_at = at;
                }
                reason = Some(why);
            }
            ChargeChange::Suspicious { why, .. } => reason = Some(why),
        }
        target.checks += 1;
        if let Some(state) = change.state() {
            target.state = state;
            target.settled_at = (!state.is_open()).then_some(at);
        }
        self.next_check_at = change.next_check_at();
        self.leased_until = None;
        let repeated = reason.is_some() && self.reason.as_ref() == reason;
        if let Some(reason) = reason {
            self.reason = Some(reason.clone());
        }
        repeated
    }
}
