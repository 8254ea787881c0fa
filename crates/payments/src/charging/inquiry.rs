//! Resolves the outcome of a payment, without guessing.

use std::time::Duration;

use kontor_kernel::Clock;

use crate::model::{Charge, ChargeFailure, GatewayPayment};
use crate::ports::{Answer, PaymentGateway, Reading};
use crate::timing::{ABSENCE_CONFIRMED_AFTER, CLOCK_SKEW, KEY_LIFETIME, METHOD_DELETED};

/// Result of resolving a payment.
pub(super) enum Resolution {
    /// The acquirer has the payment.
    Known(Box<GatewayPayment>),
    /// The acquirer certainly has no payment, and none will be created.
    NoPayment { failure: ChargeFailure, reason: String },
    /// The outcome is still unknown. `unanswered` if the payment was requested and the acquirer did not answer.
    OutcomeUnknown { why: String, unanswered: bool, retry_after: Option<Duration> },
    /// The acquirer contradicts itself.
    Suspicious { why: String },
}

/// Reads the payment if its identifier is known. Otherwise repeats the request under its key, as long as the key
/// is valid and `may_repeat` allows it.
pub(super) async fn resolve(
    gateway: &dyn PaymentGateway,
    clock: &dyn Clock,
    charge: &Charge,
    may_repeat: bool,
) -> Resolution {
    let unclear = |why| Resolution::OutcomeUnknown { why, unanswered: false, retry_after: None };
    if let Some(id) = &charge.provider_id {
        return match gateway.read(id).await {
            Reading::Known(payment) => Resolution::Known(Box::new(payment)),
            Reading::Absent => Resolution::Suspicious { why: format!("the acquirer no longer knows payment {id}") },
            Reading::Unknown { why } => unclear(why),
        };
    }
    let (failure, reason) = if clock.now() - charge.created_at >= KEY_LIFETIME {
        (ChargeFailure::Canceled, "the payment was never created".to_owned())
    } else if !may_repeat {
        (ChargeFailure::Withdrawn, METHOD_DELETED.to_owned())
    } else {
        match gateway.create(&charge.request).await {
            Answer::Known(payment) => return Resolution::Known(Box::new(payment)),
            Answer::Unknown { why, retry_after } => {
                return Resolution::OutcomeUnknown { why, unanswered: true, retry_after };
            }
            // An earlier request may have succeeded although this one is refused (another password, for
            // example).
            Answer::Refused { code, description } => (ChargeFailure::Refused, format!("{code}: {description}")),
        }
    };
    // The charge fails only if the acquirer certainly has no payment for it.
    match gateway.find(&charge.request, charge.created_at - CLOCK_SKEW).await {
        Reading::Known(payment) => Resolution::Known(Box::new(payment)),
        Reading::Absent if clock.now() - charge.asked_at >= ABSENCE_CONFIRMED_AFTER => {
            Resolution::NoPayment { failure, reason }
        }
        Reading::Absent => unclear(reason),
        Reading::Unknown { why } => unclear(why),
    }
}
