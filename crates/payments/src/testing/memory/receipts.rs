use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{ProjectId, ReceiptId, StoreError};

use super::{Guard, InMemoryPayments, State};
use crate::change::{Change, ReceiptChange};
use crate::model::{Charge, FiscalReceipt, ReceiptState, ReceiptTask, ReceiptTerms, Registration};
use crate::ports::{ReceiptSettings, ReceiptStore};

/// Receipt with the fields that only the storage reads.
pub(super) struct StoredReceipt {
    receipt: FiscalReceipt,
    next_check_at: Option<DateTime<Utc>>,
    leased_until: Option<DateTime<Utc>>,
}

impl State {
    /// Adds the receipt that was sent with a payment or a refund, to be checked unless it is registered.
    pub(super) fn add_receipt(
        &mut self,
        charge: &Charge,
        task: ReceiptTask,
        registration: Registration,
        at: DateTime<Utc>,
    ) {
        let state = match registration {
            Registration::Succeeded => ReceiptState::Succeeded,
            Registration::Pending | Registration::Canceled => ReceiptState::Pending,
        };
        let receipt = FiscalReceipt {
            id: self.ids.id(),
            project_id: charge.project_id,
            purpose: charge.purpose(),
            state,
            task,
            charge_key: charge.request.key,
            tries: 0,
            key_made_at: at,
            asked_at: at,
            provider_id: None,
            checks: 0,
            overdue_at: None,
            created_at: at,
        };
        self.receipts.push(StoredReceipt { receipt, next_check_at: Some(at), leased_until: None });
    }

    fn lease_receipt(&mut self, at: DateTime<Utc>, until: DateTime<Utc>) -> Option<FiscalReceipt> {
        let exclusive = self.guards.has(Guard::ReceiptLease);
        let is_due = |known: &&mut StoredReceipt| {
            let free = !exclusive || known.leased_until.is_none_or(|leased| leased <= at);
            let open = ReceiptState::OPEN.contains(&known.receipt.state);
            free && open && known.next_check_at.is_some_and(|next| next <= at)
        };
        let longest = self.receipts.iter_mut().filter(is_due).min_by_key(|known| known.next_check_at)?;
        longest.leased_until = Some(until);
        Some(longest.receipt.clone())
    }

    fn record_receipt(&mut self, id: ReceiptId, tries: u32, change: &ReceiptChange, at: DateTime<Utc>) -> Change {
        let any = !self.guards.has(Guard::ReceiptAttempt);
        let is_open = |known: &&mut StoredReceipt| {
            let receipt = &known.receipt;
            receipt.id == id && (any || (receipt.tries == tries && ReceiptState::OPEN.contains(&receipt.state)))
        };
        let Some(stored) = self.receipts.iter_mut().find(is_open) else { return Change::Stale };
        stored.next_check_at = change.next_check_at();
        stored.leased_until = None;
        let receipt = &mut stored.receipt;
        receipt.checks += 1;
        receipt.state = change.state().unwrap_or(receipt.state);
        if change.is_overdue() {
            receipt.overdue_at = Some(at);
        }
        match change {
            ReceiptChange::Pending { provider_id, .. } | ReceiptChange::Succeeded { provider_id } => {
                receipt.provider_id = provider_id.clone().or(receipt.provider_id.take());
            }
            ReceiptChange::Retry { key, .. } => {
                if let ReceiptTask::HandOver(request) = &mut receipt.task {
                    request.key.clone_from(key);
                }
                (receipt.key_made_at, receipt.asked_at) = (at, at);
                (receipt.tries, receipt.checks) = (receipt.tries + 1, 0);
            }
            ReceiptChange::Postponed { unanswered: true, .. } => receipt.asked_at = at,
            ReceiptChange::Postponed { .. } | ReceiptChange::Canceled { .. } => {}
        }
        Change::Done
    }
}

#[async_trait]
impl ReceiptStore for InMemoryPayments {
    async fn lease(
        &self,
        _: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<FiscalReceipt>, StoreError> {
        Ok(self.state.with(|state| state.lease_receipt(at, until)))
    }

    async fn record(
        &self,
        id: ReceiptId,
        tries: u32,
        change: ReceiptChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        Ok(self.state.with(|state| state.record_receipt(id, tries, &change, at)))
    }
}

#[async_trait]
impl ReceiptSettings for InMemoryPayments {
    async fn receipt_terms(&self, project: ProjectId) -> Result<Option<ReceiptTerms>, StoreError> {
        Ok(self.state.with(|state| state.projects.get(&project).copied().flatten()))
    }

    async fn set_receipt_terms(&self, project: ProjectId, terms: Option<ReceiptTerms>) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.projects.get_mut(&project).map(|known| *known = terms).is_some()))
    }
}
