//! Refunds that were made at the acquirer, past the service: in its own console, or by its support.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::StoreError;

use super::service::{RefundService, concern};
use crate::change::Change;
use crate::model::{ChargePurpose, GatewayRefund, GatewayStatus, ProviderId, Refund};
use crate::ports::{OutsideRecorded, Reading};

/// A refund may take so long to succeed: the list is looked through from so long before the last comparison.
const LOOK_BACK: TimeDelta = TimeDelta::days(3);
/// How far the first comparison looks back.
const FIRST_LOOK: TimeDelta = TimeDelta::days(30);
/// Pages of one comparison.
const MOST_PAGES: usize = 1_000;

/// What came of hearing of a refund. It is handled unless it is [`RefundNotified::Unreadable`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundNotified {
    /// The refund is recorded now.
    Recorded(ChargePurpose),
    /// It was recorded before, has not succeeded, or is of a payment that is none of ours.
    Ignored,
    /// People must look at it.
    Suspicious {
        /// What the charge is for.
        purpose: ChargePurpose,
        /// What is wrong.
        why: String,
    },
    /// The acquirer could not be asked; the notification must come again.
    Unreadable {
        /// What happened.
        why: String,
    },
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComparedRefunds {
    /// Refunds that the acquirer listed.
    pub listed: u64,
    /// Of these, the ones that were not known, or not known to have succeeded.
    pub recorded: u64,
    /// What people must look at.
    pub suspicious: Vec<(ChargePurpose, String)>,
    /// Why the list could not be read to its end.
    pub broken_off: Option<String>,
}

impl RefundService {
    /// Handles the word of somebody who may be the acquirer: the refund is read again, and only what is read counts.
    pub async fn acquirer_notified(&self, id: &ProviderId) -> Result<RefundNotified, StoreError> {
        match self.gateway.read_refund(id).await {
            Reading::Known(refund) => self.notice(refund).await,
            Reading::Absent => Ok(RefundNotified::Ignored),
            Reading::Unknown { why } => Ok(RefundNotified::Unreadable { why }),
        }
    }

    /// Compares with the refunds that the acquirer lists, when that is due: notifications may be lost. `None` when it is not.
    pub async fn compare_when_due(&self) -> Result<Option<ComparedRefunds>, StoreError> {
        let at = self.clock.now();
        let Some(before) = self.refunds.claim_comparison(at).await? else { return Ok(None) };
        let compared = self.compare((before - LOOK_BACK).max(at - FIRST_LOOK)).await?;
        if compared.broken_off.is_none() {
            self.refunds.compared(at).await?;
        }
        Ok(Some(compared))
    }

    /// Compares with the refunds that the acquirer has created since a moment.
    pub async fn compare(&self, since: DateTime<Utc>) -> Result<ComparedRefunds, StoreError> {
        let (mut compared, mut page) = (ComparedRefunds::default(), None);
        for _ in 0..MOST_PAGES {
            let listed = match self.gateway.list_refunds(since, page).await {
                Reading::Known(listed) => listed,
                Reading::Absent => return Ok(compared),
                Reading::Unknown { why } => return Ok(ComparedRefunds { broken_off: Some(why), ..compared }),
            };
            for refund in listed.items {
                compared.listed += 1;
                match self.notice(refund).await? {
                    RefundNotified::Recorded(_) => compared.recorded += 1,
                    RefundNotified::Suspicious { purpose, why } => compared.suspicious.push((purpose, why)),
                    RefundNotified::Ignored | RefundNotified::Unreadable { .. } => {}
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(compared);
            }
        }
        Ok(ComparedRefunds { broken_off: Some("too many refunds to look through".to_owned()), ..compared })
    }

    /// Records a refund that has succeeded: on the refund that it answers, or as one that was made past the service.
    async fn notice(&self, refund: GatewayRefund) -> Result<RefundNotified, StoreError> {
        if refund.status != GatewayStatus::Succeeded {
            return Ok(RefundNotified::Ignored);
        }
        let Some(known) = self.refunds.of_payment(&refund.payment).await? else { return Ok(RefundNotified::Ignored) };
        let same = |own: &&Refund| own.provider_id.as_ref() == Some(&refund.id);
        let answered =
            |own: &&Refund| own.state.is_open() && own.provider_id.is_none() && own.request.is_met_by(&refund);
        let at = self.clock.now();
        if let Some(own) = known.iter().find(same).or_else(|| known.iter().find(answered)) {
            if !own.state.is_open() {
                return Ok(RefundNotified::Ignored);
            }
            let change = self.weigh(own, refund);
            let concern = concern(&change);
            let recorded = self.refunds.record(own.id, own.request.key, change, at).await?;
            return Ok(match concern {
                _ if recorded == Change::Stale => RefundNotified::Ignored,
                Some(why) => RefundNotified::Suspicious { purpose: own.purpose, why },
                None => RefundNotified::Recorded(own.purpose),
            });
        }
        Ok(match self.refunds.record_outside(self.random.uuid(), refund, at).await? {
            OutsideRecorded::Recorded(purpose) => RefundNotified::Recorded(purpose),
            OutsideRecorded::Doubtful { purpose, why } => RefundNotified::Suspicious { purpose, why },
            OutsideRecorded::Known(_) | OutsideRecorded::NoCharge => RefundNotified::Ignored,
        })
    }
}
