//! Finding out how a payment stands, without ever guessing.

use std::time::Duration;

use chrono::{DateTime, Utc};
use kontor_kernel::Clock;

use super::{CLOCK_SKEW, KEY_LIFETIME, SURELY_ABSENT};
use crate::model::{GatewayPayment, PaymentRequest, ProviderPaymentId};
use crate::ports::{CreateAnswer, PaymentGateway, ReadAnswer};

/// What is known about a payment that was asked for, or was about to be.
pub(crate) enum Finding {
    /// The acquirer has it.
    Known(GatewayPayment),
    /// The acquirer surely has none, and nothing will make one.
    Nothing { refused: bool, reason: String },
    /// Nobody can tell yet.
    Unclear { why: String, retry_after: Option<Duration> },
    /// The acquirer contradicts itself.
    Odd { why: String },
}

/// Reads the payment when its identifier is known, else repeats the request under its key while the key lives.
pub(crate) async fn inquire(
    gateway: &dyn PaymentGateway,
    clock: &dyn Clock,
    request: &PaymentRequest,
    known: Option<&ProviderPaymentId>,
    asked_at: DateTime<Utc>,
) -> Finding {
    if let Some(id) = known {
        return match gateway.read(id).await {
            ReadAnswer::Known(payment) => Finding::Known(payment),
            ReadAnswer::Absent => Finding::Odd { why: format!("the acquirer no longer knows payment {id}") },
            ReadAnswer::Unknown { why } => Finding::Unclear { why, retry_after: None },
        };
    }
    let (refused, reason) = if clock.now() - asked_at >= KEY_LIFETIME {
        (false, "the payment was never created".to_owned())
    } else {
        match gateway.create(request, request.attempt).await {
            CreateAnswer::Known(payment) => return Finding::Known(payment),
            CreateAnswer::Unknown { why, retry_after } => return Finding::Unclear { why, retry_after },
            // An earlier request may have gone through although this one is refused (another password, for example).
            CreateAnswer::Refused { code, description } => (true, format!("{code}: {description}")),
        }
    };
    // It is given up only when the acquirer surely has no payment for it.
    match gateway.find(request, asked_at - CLOCK_SKEW).await {
        ReadAnswer::Known(payment) => Finding::Known(payment),
        ReadAnswer::Absent if clock.now() - asked_at >= SURELY_ABSENT => Finding::Nothing { refused, reason },
        ReadAnswer::Absent => Finding::Unclear { why: reason, retry_after: None },
        ReadAnswer::Unknown { why } => Finding::Unclear { why, retry_after: None },
    }
}
