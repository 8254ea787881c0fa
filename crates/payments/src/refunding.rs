//! Refunds: money is refunded once.
//!
//! A refund and its idempotency key are stored before the acquirer is called, and its money is reserved. The
//! request is repeated under the same key until its outcome is known. A new key is created only if the acquirer
//! certainly refunded nothing.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ChargeId, Clock, Random, StoreError};

use crate::change::{Change, RefundChange};
use crate::model::{
    ChargePurpose, GatewayRefund, GatewayStatus, NewRefund, ProviderId, Refund, RefundIntent, Registration,
};
use crate::ports::{Answer, ExternalRefundStored, PaymentGateway, Reading, RefundStore, RefundStored};
use crate::timing::{
    ABSENCE_CONFIRMED_AFTER, KEY_LIFETIME, LEASE, MAX_ATTEMPTS, RETRY_DELAY, SUSPICIOUS_PAUSE, next_check,
};

/// Use cases of refunds.
pub struct RefundService {
    /// Storage of refunds.
    pub refunds: Arc<dyn RefundStore>,
    /// The acquirer.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
}

/// Result of one round of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReconciledRefunds {
    /// Refunds checked.
    pub checked: u32,
    /// Problems that staff must check: money that is not refunded.
    pub suspicious: Vec<(ChargePurpose, String)>,
}

impl RefundService {
    /// Stores a refund; a worker requests it at the acquirer. A repeated call with the same key returns the same
    /// refund.
    pub async fn request(&self, charge_id: ChargeId, order: RefundIntent) -> Result<RefundStored, StoreError> {
        let at = self.clock.now();
        self.refunds.store(NewRefund { charge_id, order, next_check_at: at, at }).await
    }

    /// Checks due refunds one after the other, at most `most`. Each is leased, so that two workers never check
    /// the same refund at the same time.
    pub async fn reconcile(&self, owner: &str, most: u32) -> Result<ReconciledRefunds, StoreError> {
        let mut done = ReconciledRefunds::default();
        while done.checked < most {
            let at = self.clock.now();
            let Some(refund) = self.refunds.lease(owner, at, at + LEASE).await? else { break };
            done.checked += 1;
            let change = self.process(&refund).await;
            let concern = problem_to_report(&change);
            let recorded = self.refunds.record(refund.id, refund.request.key, change, self.clock.now()).await?;
            let concern = concern.filter(|_| recorded == Change::Done);
            done.suspicious.extend(concern.map(|why| (refund.purpose, why)));
        }
        Ok(done)
    }

    /// Requests a refund under its key, or reads its state.
    async fn process(&self, refund: &Refund) -> RefundChange {
        if let Some(id) = &refund.provider_id {
            return self.read(refund, id).await;
        }
        if self.clock.now() - refund.key_made_at >= KEY_LIFETIME {
            // The key has expired at the acquirer: the same request could create a second refund.
            return self.search(refund, "the refund was never created".to_owned()).await;
        }
        match self.gateway.refund(&refund.request).await {
            Answer::Known(known) => self.check_match(refund, known),
            Answer::Unknown { why, retry_after } => self.postponed(refund, why, true, retry_after),
            // An earlier request under this key may have succeeded although this one is refused.
            Answer::Refused { code, description } => self.search(refund, format!("{code}: {description}")).await,
        }
    }

    async fn read(&self, refund: &Refund, id: &ProviderId) -> RefundChange {
        match self.gateway.read_refund(id).await {
            Reading::Known(known) => self.check_match(refund, known),
            Reading::Absent => self.suspicious(format!("the acquirer no longer knows refund {id}")),
            Reading::Unknown { why } => self.postponed(refund, why, false, None),
        }
    }

    /// Searches for the refund. A new key is created only if the payment certainly has no such refund: an
    /// unanswered request may still reach the acquirer's list.
    async fn search(&self, refund: &Refund, why: String) -> RefundChange {
        match self.gateway.find_refund(&refund.request).await {
            Reading::Known(known) => self.check_match(refund, known),
            Reading::Absent if self.clock.now() - refund.asked_at >= ABSENCE_CONFIRMED_AFTER => self.retry(refund, why),
            Reading::Absent => self.postponed(refund, why, false, None),
            Reading::Unknown { why } => self.postponed(refund, why, false, None),
        }
    }

    /// Converts the state of a refund after checking that it matches the request.
    fn check_match(&self, refund: &Refund, known: GatewayRefund) -> RefundChange {
        if let Err(mismatch) = refund.request.ensure_matches(&known) {
            return self.suspicious(mismatch.to_string());
        }
        match known.status {
            GatewayStatus::Succeeded => {
                let asked = refund.request.receipt.as_ref().map(|_| Registration::Pending);
                RefundChange::Succeeded { provider_id: known.id, receipt: known.receipt.or(asked) }
            }
            GatewayStatus::Pending => {
                let next_check_at = next_check(refund.checks, self.clock.now(), None);
                RefundChange::Pending { provider_id: known.id, next_check_at }
            }
            GatewayStatus::Canceled => self.retry(refund, known.reason.unwrap_or_else(|| "canceled".to_owned())),
        }
    }

    fn postponed(&self, refund: &Refund, why: String, unanswered: bool, asked_pause: Option<Duration>) -> RefundChange {
        let next_check_at = next_check(refund.checks, self.clock.now(), asked_pause);
        RefundChange::Postponed { why, unanswered, next_check_at }
    }

    fn suspicious(&self, why: String) -> RefundChange {
        RefundChange::Suspicious { why, next_check_at: self.clock.now() + SUSPICIOUS_PAUSE }
    }

    fn retry(&self, refund: &Refund, why: String) -> RefundChange {
        if refund.tries + 1 >= MAX_ATTEMPTS {
            return RefundChange::Failed { why };
        }
        RefundChange::Retry { key: self.random.uuid(), why, next_check_at: self.clock.now() + RETRY_DELAY }
    }
}

/// Returns the problem that staff must check, if any: money that is not refunded.
fn problem_to_report(change: &RefundChange) -> Option<String> {
    match change {
        RefundChange::Retry { why, .. } => Some(format!("its refund was refused and is retried later: {why}")),
        RefundChange::Suspicious { why, .. } => Some(why.clone()),
        RefundChange::Failed { why } => Some(format!("its refund was refused and is not retried: {why}")),
        RefundChange::Pending { .. } | RefundChange::Succeeded { .. } | RefundChange::Postponed { .. } => None,
    }
}

/// Maximum time for a refund to succeed. Each comparison starts this long before the last one.
const COMPARISON_OVERLAP: TimeDelta = TimeDelta::days(3);
/// Period of the first comparison.
const FIRST_COMPARISON_PERIOD: TimeDelta = TimeDelta::days(30);
/// Maximum pages of one comparison.
const MAX_PAGES: usize = 1_000;

/// Result of a notification about a refund. It is handled unless the result is [`RefundNotificationResult::Unreadable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundNotificationResult {
    /// The refund is recorded now.
    Recorded(ChargePurpose),
    /// It was recorded before, has not succeeded, or its payment belongs to no charge of this service.
    Ignored,
    /// Staff must check it.
    Suspicious {
        /// Purpose of the charge.
        purpose: ChargePurpose,
        /// Problem.
        why: String,
    },
    /// The acquirer could not be read; the notification must be repeated.
    Unreadable {
        /// Cause, for the log.
        why: String,
    },
}

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComparedRefunds {
    /// Refunds that the acquirer listed.
    pub listed: u64,
    /// Refunds of these that were unknown, or not known to have succeeded.
    pub recorded: u64,
    /// Problems that staff must check.
    pub suspicious: Vec<(ChargePurpose, String)>,
    /// Reason why the list was not read to its end.
    pub broken_off: Option<String>,
}

impl RefundService {
    /// Handles a notification from an unauthenticated sender: the refund is read again, and only the read state
    /// counts.
    pub async fn handle_notification(&self, id: &ProviderId) -> Result<RefundNotificationResult, StoreError> {
        match self.gateway.read_refund(id).await {
            Reading::Known(refund) => self.notice(refund).await,
            Reading::Absent => Ok(RefundNotificationResult::Ignored),
            Reading::Unknown { why } => Ok(RefundNotificationResult::Unreadable { why }),
        }
    }

    /// Compares with the acquirer's list of refunds if that is due, since notifications may be lost. `None` if
    /// it is not due.
    pub async fn compare_when_due(&self) -> Result<Option<ComparedRefunds>, StoreError> {
        let at = self.clock.now();
        let Some(before) = self.refunds.claim_comparison(at).await? else { return Ok(None) };
        let compared = self.compare((before - COMPARISON_OVERLAP).max(at - FIRST_COMPARISON_PERIOD)).await?;
        if compared.broken_off.is_none() {
            self.refunds.compared(at).await?;
        }
        Ok(Some(compared))
    }

    /// Compares with the refunds that the acquirer created since this time.
    pub async fn compare(&self, since: DateTime<Utc>) -> Result<ComparedRefunds, StoreError> {
        let (mut compared, mut page) = (ComparedRefunds::default(), None);
        for _ in 0..MAX_PAGES {
            let listed = match self.gateway.list_refunds(since, page).await {
                Reading::Known(listed) => listed,
                Reading::Absent => return Ok(compared),
                Reading::Unknown { why } => return Ok(ComparedRefunds { broken_off: Some(why), ..compared }),
            };
            for refund in listed.items {
                compared.listed += 1;
                match self.notice(refund).await? {
                    RefundNotificationResult::Recorded(_) => compared.recorded += 1,
                    RefundNotificationResult::Suspicious { purpose, why } => compared.suspicious.push((purpose, why)),
                    RefundNotificationResult::Ignored | RefundNotificationResult::Unreadable { .. } => {}
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(compared);
            }
        }
        Ok(ComparedRefunds { broken_off: Some("too many refunds to search".to_owned()), ..compared })
    }

    /// Records a refund that has succeeded: on the stored refund that it matches, or as one made outside the
    /// service.
    async fn notice(&self, refund: GatewayRefund) -> Result<RefundNotificationResult, StoreError> {
        if refund.status != GatewayStatus::Succeeded {
            return Ok(RefundNotificationResult::Ignored);
        }
        let Some(known) = self.refunds.of_payment(&refund.payment).await? else {
            return Ok(RefundNotificationResult::Ignored);
        };
        let same = |own: &&Refund| own.provider_id.as_ref() == Some(&refund.id);
        let answered =
            |own: &&Refund| own.state.is_open() && own.provider_id.is_none() && own.request.is_fulfilled_by(&refund);
        let at = self.clock.now();
        if let Some(own) = known.iter().find(same).or_else(|| known.iter().find(answered)) {
            if !own.state.is_open() {
                return Ok(RefundNotificationResult::Ignored);
            }
            let change = self.check_match(own, refund);
            let concern = problem_to_report(&change);
            let recorded = self.refunds.record(own.id, own.request.key, change, at).await?;
            return Ok(match concern {
                _ if recorded == Change::Stale => RefundNotificationResult::Ignored,
                Some(why) => RefundNotificationResult::Suspicious { purpose: own.purpose, why },
                None => RefundNotificationResult::Recorded(own.purpose),
            });
        }
        Ok(match self.refunds.record_outside(self.random.uuid(), refund, at).await? {
            ExternalRefundStored::Recorded(purpose) => RefundNotificationResult::Recorded(purpose),
            ExternalRefundStored::Contradicted { purpose, why } => {
                RefundNotificationResult::Suspicious { purpose, why }
            }
            ExternalRefundStored::Known(_) | ExternalRefundStored::UnknownCharge => RefundNotificationResult::Ignored,
        })
    }
}
