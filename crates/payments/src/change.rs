//! Changes: values that contain everything one commit writes.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::model::{
    Charge, ChargeFailure, ChargeState, GatewayMethod, ProviderId, ReceiptState, RefundIntent, RefundState,
    Registration,
};

/// Result of writing a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The change was written.
    Done,
    /// The state it was decided on has changed; nothing was written.
    Stale,
}

/// Update of an open charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeChange {
    /// The acquirer has the payment; its outcome is open.
    Pending {
        /// Identifier at the acquirer.
        provider_id: ProviderId,
        /// URL of the payment page.
        confirmation_url: Option<String>,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// The money has arrived. The effect on the purpose is committed with it.
    Succeeded {
        /// Identifier at the acquirer.
        provider_id: ProviderId,
        /// Identifier of the event that may follow.
        event_id: Uuid,
        /// Refund that is due at once.
        refund: Option<RefundIntent>,
        /// Payment method to save.
        method: Option<GatewayMethod>,
        /// State of the receipt of the payment; `None` if it was requested without one.
        receipt: Option<Registration>,
    },
    /// No money will arrive. The effect on the purpose is committed with it.
    Failed {
        /// Identifier at the acquirer, if there is a payment.
        provider_id: Option<ProviderId>,
        /// Kind of failure.
        failure: ChargeFailure,
        /// Reason given by the acquirer.
        reason: String,
    },
    /// The outcome is still unknown.
    Postponed {
        /// Cause, for the log.
        why: String,
        /// `true` if the acquirer was requested to take the money and did not answer.
        unanswered: bool,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// The payment at the acquirer differs from the requested one; staff must check it.
    Suspicious {
        /// Difference.
        why: String,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
}

impl ChargeChange {
    /// State after the change; `None` if the state stays.
    pub fn state(&self) -> Option<ChargeState> {
        match self {
            Self::Pending { .. } => Some(ChargeState::Pending),
            Self::Succeeded { .. } => Some(ChargeState::Succeeded),
            Self::Failed { failure, .. } => Some(failure.state()),
            Self::Postponed { .. } | Self::Suspicious { .. } => None,
        }
    }

    /// Time of the next check; `None` once the outcome is known.
    pub fn next_check_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending { next_check_at, .. }
            | Self::Postponed { next_check_at, .. }
            | Self::Suspicious { next_check_at, .. } => Some(*next_check_at),
            Self::Succeeded { .. } | Self::Failed { .. } => None,
        }
    }
}

/// Update of a charge as its commit writes it. The domain of the purpose decides its effect on the purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange<'a> {
    /// Charge after the update.
    pub charge: Charge,
    /// Update.
    pub change: &'a ChargeChange,
    /// `true` if the charge already had the reason of the update.
    pub repeated: bool,
}

/// Update of an open refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundChange {
    /// The acquirer has the refund; it is in progress.
    Pending {
        /// Identifier of the refund at the acquirer.
        provider_id: ProviderId,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// The customer has the money.
    Succeeded {
        /// Identifier of the refund at the acquirer.
        provider_id: ProviderId,
        /// State of its receipt; `None` if there is none.
        receipt: Option<Registration>,
    },
    /// The outcome is still unknown.
    Postponed {
        /// Cause, for the log.
        why: String,
        /// `true` if the refund was requested and the acquirer did not answer.
        unanswered: bool,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// The refund at the acquirer differs from the requested one, or the acquirer contradicts itself.
    Suspicious {
        /// Difference.
        why: String,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// This attempt certainly refunded nothing; another one is due under a new key.
    Retry {
        /// New idempotency key.
        key: Uuid,
        /// Reason of the last failure.
        why: String,
        /// Time of the next attempt.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer finally refuses the refund.
    Failed {
        /// Reason.
        why: String,
    },
}

impl RefundChange {
    /// State after the change; `None` if the state stays.
    pub fn state(&self) -> Option<RefundState> {
        match self {
            Self::Pending { .. } => Some(RefundState::Pending),
            Self::Succeeded { .. } => Some(RefundState::Succeeded),
            Self::Retry { .. } => Some(RefundState::Due),
            Self::Failed { .. } => Some(RefundState::Failed),
            Self::Postponed { .. } | Self::Suspicious { .. } => None,
        }
    }

    /// Time of the next check; `None` once the outcome is known.
    pub fn next_check_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending { next_check_at, .. }
            | Self::Postponed { next_check_at, .. }
            | Self::Suspicious { next_check_at, .. }
            | Self::Retry { next_check_at, .. } => Some(*next_check_at),
            Self::Succeeded { .. } | Self::Failed { .. } => None,
        }
    }
}

/// Update of an open receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptChange {
    /// The register is processing it.
    Pending {
        /// Identifier at the acquirer of a receipt that was requested separately.
        provider_id: Option<ProviderId>,
        /// `true` if it is overdue, which is reported once.
        overdue: bool,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// The receipt is registered.
    Succeeded {
        /// Identifier at the acquirer of a receipt that was requested separately.
        provider_id: Option<ProviderId>,
    },
    /// There is no receipt, and none will follow automatically.
    Canceled {
        /// Reason.
        why: String,
    },
    /// The outcome is still unknown.
    Postponed {
        /// Cause, for the log.
        why: String,
        /// `true` if the receipt was requested and the acquirer did not answer.
        unanswered: bool,
        /// `true` if it is overdue, which is reported once.
        overdue: bool,
        /// Time of the next check.
        next_check_at: DateTime<Utc>,
    },
    /// This attempt certainly created no receipt; another one is due under a new key.
    Retry {
        /// New idempotency key.
        key: String,
        /// Reason of the last failure.
        why: String,
        /// Time of the next attempt.
        next_check_at: DateTime<Utc>,
    },
}

impl ReceiptChange {
    /// State after the change; `None` if the state stays.
    pub fn state(&self) -> Option<ReceiptState> {
        match self {
            Self::Pending { .. } => Some(ReceiptState::Pending),
            Self::Succeeded { .. } => Some(ReceiptState::Succeeded),
            Self::Canceled { .. } => Some(ReceiptState::Canceled),
            Self::Retry { .. } => Some(ReceiptState::Due),
            Self::Postponed { .. } => None,
        }
    }

    /// Time of the next check; `None` once the outcome is known.
    pub fn next_check_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending { next_check_at, .. }
            | Self::Postponed { next_check_at, .. }
            | Self::Retry { next_check_at, .. } => Some(*next_check_at),
            Self::Succeeded { .. } | Self::Canceled { .. } => None,
        }
    }

    /// Returns `true` if the change reports the receipt as overdue.
    pub fn is_overdue(&self) -> bool {
        matches!(self, Self::Pending { overdue: true, .. } | Self::Postponed { overdue: true, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider() -> ProviderId {
        ProviderId::parse("id-1").unwrap()
    }

    fn why() -> String {
        "why".to_owned()
    }

    /// Time of every next check in these tests.
    fn later() -> DateTime<Utc> {
        DateTime::from_timestamp_secs(60).unwrap()
    }

    #[test]
    fn a_charge_is_asked_about_until_it_has_ended() {
        let next_check_at = later();
        let pending = ChargeChange::Pending { provider_id: provider(), confirmation_url: None, next_check_at };
        assert_eq!((pending.state(), pending.next_check_at()), (Some(ChargeState::Pending), Some(later())));
        let postponed = ChargeChange::Postponed { why: why(), unanswered: false, next_check_at };
        assert_eq!((postponed.state(), postponed.next_check_at()), (None, Some(later())));
        let suspicious = ChargeChange::Suspicious { why: why(), next_check_at };
        assert_eq!((suspicious.state(), suspicious.next_check_at()), (None, Some(later())));
        let (event_id, refund, method, receipt) = (Uuid::nil(), None, None, None);
        let succeeded = ChargeChange::Succeeded { provider_id: provider(), event_id, refund, method, receipt };
        assert_eq!((succeeded.state(), succeeded.next_check_at()), (Some(ChargeState::Succeeded), None));
        for (failure, state) in [
            (ChargeFailure::Canceled, ChargeState::Canceled),
            (ChargeFailure::Withdrawn, ChargeState::Canceled),
            (ChargeFailure::Expired, ChargeState::Expired),
            (ChargeFailure::Refused, ChargeState::Refused),
        ] {
            let failed = ChargeChange::Failed { provider_id: None, failure, reason: why() };
            assert_eq!((failed.state(), failed.next_check_at()), (Some(state), None));
        }
    }

    #[test]
    fn a_refund_is_asked_about_until_it_has_ended() {
        let next_check_at = later();
        for (change, state, next) in [
            (RefundChange::Pending { provider_id: provider(), next_check_at }, Some(RefundState::Pending), true),
            (RefundChange::Succeeded { provider_id: provider(), receipt: None }, Some(RefundState::Succeeded), false),
            (RefundChange::Postponed { why: why(), unanswered: true, next_check_at }, None, true),
            (RefundChange::Suspicious { why: why(), next_check_at }, None, true),
            (RefundChange::Retry { key: Uuid::nil(), why: why(), next_check_at }, Some(RefundState::Due), true),
            (RefundChange::Failed { why: why() }, Some(RefundState::Failed), false),
        ] {
            assert_eq!((change.state(), change.next_check_at()), (state, next.then(later)), "{change:?}");
        }
    }

    #[test]
    fn a_receipt_is_asked_about_until_it_has_ended() {
        let next_check_at = later();
        for overdue in [false, true] {
            let pending = ReceiptChange::Pending { provider_id: None, overdue, next_check_at };
            assert_eq!((pending.state(), pending.next_check_at()), (Some(ReceiptState::Pending), Some(later())));
            let postponed = ReceiptChange::Postponed { why: why(), unanswered: true, overdue, next_check_at };
            assert_eq!((postponed.state(), postponed.next_check_at()), (None, Some(later())));
            assert_eq!((pending.is_overdue(), postponed.is_overdue()), (overdue, overdue));
        }
        for (change, state, next) in [
            (ReceiptChange::Succeeded { provider_id: None }, ReceiptState::Succeeded, false),
            (ReceiptChange::Canceled { why: why() }, ReceiptState::Canceled, false),
            (ReceiptChange::Retry { key: "k".to_owned(), why: why(), next_check_at }, ReceiptState::Due, true),
        ] {
            assert_eq!((change.state(), change.next_check_at()), (Some(state), next.then(later)), "{change:?}");
            assert!(!change.is_overdue(), "{change:?}");
        }
    }
}
