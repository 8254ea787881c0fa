//! Refunds made at the acquirer, outside the service: in its own console, or by its support.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::StoreError;

use super::service::{RefundService, problem_to_report};
use crate::change::Change;
use crate::model::{ChargePurpose, GatewayRefund, GatewayStatus, ProviderId, Refund};
use crate::ports::{ExternalRefundStored, Reading};

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
