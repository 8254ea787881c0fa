//! Registration of receipts.
//!
//! The receipt of a payment or a refund is sent with its request, and its registration is read from there. The
//! receipt of a handover is requested separately: like charges and refunds, it is stored with its idempotency
//! key before the acquirer is called. Receipts that are canceled, or open for three days, are reported.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Clock, StoreError};

use crate::change::{Change, ReceiptChange};
use crate::model::{
    ChargePurpose, FiscalReceipt, GatewayReceipt, HandOverRequest, ProviderId, ReceiptKind, ReceiptTask, Registration,
};
use crate::ports::{Answer, PaymentGateway, Reading, ReceiptStore};
use crate::timing::{
    ABSENCE_CONFIRMED_AFTER, KEY_LIFETIME, LEASE, MAX_ATTEMPTS, RECEIPT_OVERDUE, RETRY_DELAY, next_registration_check,
};

/// Use cases of receipts.
pub struct ReceiptService {
    /// Storage of receipts.
    pub receipts: Arc<dyn ReceiptStore>,
    /// The acquirer, which passes receipts to the register.
    pub gateway: Arc<dyn PaymentGateway>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// Result of one round of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReconciledReceipts {
    /// Receipts checked.
    pub checked: u32,
    /// Problems that staff must check: receipts that are not registered.
    pub suspicious: Vec<(ChargePurpose, String)>,
}

impl ReceiptService {
    /// Checks due receipts one after the other, at most `most`. Each is leased, so that two workers never check
    /// the same receipt at the same time.
    pub async fn reconcile(&self, owner: &str, most: u32) -> Result<ReconciledReceipts, StoreError> {
        let mut done = ReconciledReceipts::default();
        while done.checked < most {
            let at = self.clock.now();
            let Some(receipt) = self.receipts.lease(owner, at, at + LEASE).await? else { break };
            done.checked += 1;
            let change = self.process(&receipt).await;
            let concern = problem_to_report(&receipt, &change);
            let recorded = self.receipts.record(receipt.id, receipt.tries, change, self.clock.now()).await?;
            let concern = concern.filter(|_| recorded == Change::Done);
            done.suspicious.extend(concern.map(|why| (receipt.purpose, why)));
        }
        Ok(done)
    }

    async fn process(&self, receipt: &FiscalReceipt) -> ReceiptChange {
        match &receipt.task {
            ReceiptTask::Payment(id) => match self.gateway.read(id).await {
                Reading::Known(payment) => self.change_for_state(receipt, payment.receipt),
                Reading::Absent => self.canceled_unfound(receipt, id),
                Reading::Unknown { why } => self.postponed(receipt, why, false, None),
            },
            ReceiptTask::Refund(id) => match self.gateway.read_refund(id).await {
                Reading::Known(refund) => self.change_for_state(receipt, refund.receipt),
                Reading::Absent => self.canceled_unfound(receipt, id),
                Reading::Unknown { why } => self.postponed(receipt, why, false, None),
            },
            ReceiptTask::HandOver(request) => self.hand_over(receipt, request).await,
        }
    }

    /// Converts the receipt state in a payment or a refund. A missing state counts as pending, since it may
    /// still appear.
    fn change_for_state(&self, receipt: &FiscalReceipt, reported: Option<Registration>) -> ReceiptChange {
        self.apply_state(receipt, None, reported.unwrap_or(Registration::Pending))
    }

    fn apply_state(
        &self,
        receipt: &FiscalReceipt,
        provider_id: Option<ProviderId>,
        status: Registration,
    ) -> ReceiptChange {
        match status {
            Registration::Succeeded => ReceiptChange::Succeeded { provider_id },
            Registration::Canceled => ReceiptChange::Canceled { why: "the register has canceled it".to_owned() },
            Registration::Pending => {
                let next_check_at = next_registration_check(receipt.checks, self.clock.now(), None);
                ReceiptChange::Pending { provider_id, overdue: self.is_overdue(receipt), next_check_at }
            }
        }
    }

    /// Requests the receipt under its key, or reads its state.
    async fn hand_over(&self, receipt: &FiscalReceipt, request: &HandOverRequest) -> ReceiptChange {
        if let Some(id) = &receipt.provider_id {
            return match self.gateway.read_receipt(id).await {
                Reading::Known(known) => self.check_match(receipt, request, known),
                Reading::Absent => self.canceled_unfound(receipt, id),
                Reading::Unknown { why } => self.postponed(receipt, why, false, None),
            };
        }
        if self.clock.now() - receipt.key_made_at >= KEY_LIFETIME {
            // The key has expired at the acquirer: the same request could create a second receipt.
            return self.search(receipt, request, "the receipt was never created".to_owned()).await;
        }
        match self.gateway.register(request).await {
            Answer::Known(known) => self.check_match(receipt, request, known),
            Answer::Unknown { why, retry_after } => self.postponed(receipt, why, true, retry_after),
            // An earlier request under this key may have succeeded although this one is refused.
            Answer::Refused { code, description } => {
                self.search(receipt, request, format!("{code}: {description}")).await
            }
        }
    }

    /// Searches for the receipt. A new key is created only if the payment certainly has no such receipt.
    async fn search(&self, receipt: &FiscalReceipt, request: &HandOverRequest, why: String) -> ReceiptChange {
        match self.gateway.find_receipt(request).await {
            Reading::Known(known) => self.check_match(receipt, request, known),
            Reading::Absent if self.clock.now() - receipt.asked_at < ABSENCE_CONFIRMED_AFTER => {
                self.postponed(receipt, why, false, None)
            }
            Reading::Absent if receipt.tries + 1 >= MAX_ATTEMPTS => ReceiptChange::Canceled { why },
            Reading::Absent => {
                let key = HandOverRequest::key(receipt.charge_key, receipt.tries + 1);
                ReceiptChange::Retry { key, why, next_check_at: self.clock.now() + RETRY_DELAY }
            }
            Reading::Unknown { why } => self.postponed(receipt, why, false, None),
        }
    }

    /// Converts the state of a receipt after checking that it matches the request.
    fn check_match(&self, receipt: &FiscalReceipt, request: &HandOverRequest, known: GatewayReceipt) -> ReceiptChange {
        match request.ensure_matches(&known) {
            Ok(()) => self.apply_state(receipt, Some(known.id), known.status),
            Err(mismatch) => ReceiptChange::Canceled { why: mismatch.to_string() },
        }
    }

    fn canceled_unfound(&self, receipt: &FiscalReceipt, id: &ProviderId) -> ReceiptChange {
        self.postponed(receipt, format!("the acquirer no longer knows {id}"), false, None)
    }

    fn postponed(
        &self,
        receipt: &FiscalReceipt,
        why: String,
        unanswered: bool,
        asked_pause: Option<Duration>,
    ) -> ReceiptChange {
        let next_check_at = next_registration_check(receipt.checks, self.clock.now(), asked_pause);
        ReceiptChange::Postponed { why, unanswered, overdue: self.is_overdue(receipt), next_check_at }
    }

    /// Returns `true` if the receipt must be reported as overdue, which happens once.
    fn is_overdue(&self, receipt: &FiscalReceipt) -> bool {
        receipt.overdue_at.is_none() && self.clock.now() - receipt.key_made_at >= RECEIPT_OVERDUE
    }
}

/// Returns the problem that staff must check, if any.
fn problem_to_report(receipt: &FiscalReceipt, change: &ReceiptChange) -> Option<String> {
    let kind = receipt.task.kind();
    let what = match kind {
        ReceiptKind::Payment => "the receipt of its payment",
        ReceiptKind::Refund => "the receipt of a refund",
        ReceiptKind::HandOver => "the receipt of its hand-over",
    };
    match change {
        ReceiptChange::Canceled { why } => Some(format!("{what} is canceled: {why}")),
        ReceiptChange::Retry { why, .. } => Some(format!("{what} was refused and is retried later: {why}")),
        change if change.is_overdue() => Some(format!("{what} has been pending since {}", receipt.created_at)),
        _ => None,
    }
}
