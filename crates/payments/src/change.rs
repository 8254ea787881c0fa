//! Changes: values that name everything one commit writes.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::model::{
    ChargeFailure, ChargeState, GatewayMethod, ProviderId, ReceiptState, RefundIntent, RefundState, Registration,
};

/// Whether a change was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was.
    Done,
    /// What it was decided on is no longer so; nothing was written.
    Stale,
}

/// What became known of an open charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeChange {
    /// The acquirer has the payment, its outcome is still to come.
    Pending {
        /// The acquirer's identifier.
        provider_id: ProviderId,
        /// Where the customer pays.
        confirmation_url: Option<String>,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The money has arrived. What that means for the purpose is committed with it.
    Succeeded {
        /// The acquirer's identifier.
        provider_id: ProviderId,
        /// The identifier of the event that may follow.
        event_id: Uuid,
        /// The refund that is due at once.
        refund: Option<RefundIntent>,
        /// The method to be saved.
        method: Option<GatewayMethod>,
        /// How the receipt of the payment stands; `None` when it was asked for without one.
        receipt: Option<Registration>,
    },
    /// There will be no money. What that means for the purpose is committed with it.
    Failed {
        /// The acquirer's identifier, when there is a payment.
        provider_id: Option<ProviderId>,
        /// How it ended.
        failure: ChargeFailure,
        /// The acquirer's reason.
        reason: String,
    },
    /// Still unknown.
    Postponed {
        /// What happened.
        why: String,
        /// Whether the acquirer was asked to take the money and did not answer.
        unanswered: bool,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer shows a payment that is not the one asked for: people must look at it.
    Suspicious {
        /// What differs.
        why: String,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
}

impl ChargeChange {
    /// The state it leads to; `None` when the charge stays where it is.
    pub fn state(&self) -> Option<ChargeState> {
        match self {
            Self::Pending { .. } => Some(ChargeState::Pending),
            Self::Succeeded { .. } => Some(ChargeState::Succeeded),
            Self::Failed { failure, .. } => Some(failure.state()),
            Self::Postponed { .. } | Self::Suspicious { .. } => None,
        }
    }

    /// When to ask again; `None` once the outcome is known.
    pub fn next_check_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending { next_check_at, .. }
            | Self::Postponed { next_check_at, .. }
            | Self::Suspicious { next_check_at, .. } => Some(*next_check_at),
            Self::Succeeded { .. } | Self::Failed { .. } => None,
        }
    }
}

/// What became known of an open refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundChange {
    /// The acquirer has it, the money is on its way.
    Pending {
        /// The acquirer's identifier of the refund.
        provider_id: ProviderId,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The customer has their money.
    Succeeded {
        /// The acquirer's identifier of the refund.
        provider_id: ProviderId,
        /// How its receipt stands; `None` when there is none.
        receipt: Option<Registration>,
    },
    /// The outcome is still unknown.
    Postponed {
        /// What happened.
        why: String,
        /// Whether the acquirer was asked for the refund and did not answer.
        unanswered: bool,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer shows a refund that is not the one asked for, or contradicts itself.
    Suspicious {
        /// What differs.
        why: String,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// This try surely brought nothing back; another one is due under another key.
    Retry {
        /// The new key.
        key: Uuid,
        /// Why the last try brought nothing.
        why: String,
        /// When to try.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer will not give the money back.
    Failed {
        /// Its reason.
        why: String,
    },
}

impl RefundChange {
    /// The state it leads to; `None` when the refund stays where it is.
    pub fn state(&self) -> Option<RefundState> {
        match self {
            Self::Pending { .. } => Some(RefundState::Pending),
            Self::Succeeded { .. } => Some(RefundState::Succeeded),
            Self::Retry { .. } => Some(RefundState::Due),
            Self::Failed { .. } => Some(RefundState::Failed),
            Self::Postponed { .. } | Self::Suspicious { .. } => None,
        }
    }

    /// When to ask again; `None` once the outcome is known.
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

/// What became known of an open receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptChange {
    /// The register is at work.
    Pending {
        /// The acquirer's identifier of a receipt that was asked for by itself.
        provider_id: Option<ProviderId>,
        /// Whether it takes too long, which people are told once.
        overdue: bool,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// It is registered.
    Succeeded {
        /// The acquirer's identifier of a receipt that was asked for by itself.
        provider_id: Option<ProviderId>,
    },
    /// There is no receipt, and there will be none by itself.
    Canceled {
        /// Why.
        why: String,
    },
    /// Still unknown.
    Postponed {
        /// What happened.
        why: String,
        /// Whether the acquirer was asked for the receipt and did not answer.
        unanswered: bool,
        /// Whether it takes too long, which people are told once.
        overdue: bool,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// This try surely made no receipt; another one is due under another key.
    Retry {
        /// The new key.
        key: String,
        /// Why the last try made none.
        why: String,
        /// When to try.
        next_check_at: DateTime<Utc>,
    },
}

impl ReceiptChange {
    /// The state it leads to; `None` when the receipt stays where it is.
    pub fn state(&self) -> Option<ReceiptState> {
        match self {
            Self::Pending { .. } => Some(ReceiptState::Pending),
            Self::Succeeded { .. } => Some(ReceiptState::Succeeded),
            Self::Canceled { .. } => Some(ReceiptState::Canceled),
            Self::Retry { .. } => Some(ReceiptState::Due),
            Self::Postponed { .. } => None,
        }
    }

    /// When to ask again; `None` once the outcome is known.
    pub fn next_check_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pending { next_check_at, .. }
            | Self::Postponed { next_check_at, .. }
            | Self::Retry { next_check_at, .. } => Some(*next_check_at),
            Self::Succeeded { .. } | Self::Canceled { .. } => None,
        }
    }

    /// Whether people are to be told that it takes too long.
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

    /// The moment of every next question here.
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
