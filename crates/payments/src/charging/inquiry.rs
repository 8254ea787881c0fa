//! Finding out how a payment stands, without ever guessing.

use std::time::Duration;

use kontor_kernel::Clock;

use crate::model::{Charge, ChargeFailure, GatewayPayment};
use crate::ports::{Answer, PaymentGateway, Reading};
use crate::timing::{CLOCK_SKEW, KEY_LIFETIME, METHOD_DELETED, SURELY_ABSENT};

/// What is known about a payment that was asked for, or was about to be.
pub(super) enum Finding {
    /// The acquirer has it.
    Known(Box<GatewayPayment>),
    /// The acquirer surely has none, and nothing will make one.
    Nothing { failure: ChargeFailure, reason: String },
    /// Nobody can tell yet. `unanswered` when the acquirer was asked to take the money and did not answer.
    Unclear { why: String, unanswered: bool, retry_after: Option<Duration> },
    /// The acquirer contradicts itself.
    Suspicious { why: String },
}

/// Reads the payment when its identifier is known, else repeats the request under its key while the key lives and the request
/// may leave.
pub(super) async fn inquire(
    gateway: &dyn PaymentGateway,
    clock: &dyn Clock,
    charge: &Charge,
    may_repeat: bool,
) -> Finding {
    let unclear = |why| Finding::Unclear { why, unanswered: false, retry_after: None };
    if let Some(id) = &charge.provider_id {
        return match gateway.read(id).await {
            Reading::Known(payment) => Finding::Known(Box::new(payment)),
            Reading::Absent => Finding::Suspicious { why: format!("the acquirer no longer knows payment {id}") },
            Reading::Unknown { why } => unclear(why),
        };
    }
    let (failure, reason) = if clock.now() - charge.created_at >= KEY_LIFETIME {
        (ChargeFailure::Canceled, "the payment was never created".to_owned())
    } else if !may_repeat {
        (ChargeFailure::Withdrawn, METHOD_DELETED.to_owned())
    } else {
        match gateway.create(&charge.request).await {
            Answer::Known(payment) => return Finding::Known(Box::new(payment)),
            Answer::Unknown { why, retry_after } => return Finding::Unclear { why, unanswered: true, retry_after },
            // An earlier request may have gone through although this one is refused (another password, for example).
            Answer::Refused { code, description } => (ChargeFailure::Refused, format!("{code}: {description}")),
        }
    };
    // It is given up only when the acquirer surely has no payment for it.
    match gateway.find(&charge.request, charge.created_at - CLOCK_SKEW).await {
        Reading::Known(payment) => Finding::Known(Box::new(payment)),
        Reading::Absent if clock.now() - charge.asked_at >= SURELY_ABSENT => Finding::Nothing { failure, reason },
        Reading::Absent => unclear(reason),
        Reading::Unknown { why } => unclear(why),
    }
}
