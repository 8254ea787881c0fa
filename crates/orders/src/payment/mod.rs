//! Taking the money of an order, without ever guessing.
//!
//! An attempt and its idempotence key stand in the order's own commit before the acquirer is called. Whatever happens
//! to the call, the same request is repeated under the same key until the outcome is known; notifications only say
//! when to look. The outcome is committed once, guarded by the state of the attempt.

pub(crate) mod inquiry;
mod service;
#[cfg(test)]
mod tests;

pub use service::{Notified, Opened, PaymentService, Reconciled};

use chrono::{DateTime, TimeDelta, Utc};

/// The acquirer keeps a key for 24 hours; the last repetition stays well within.
pub(crate) const KEY_LIFETIME: TimeDelta = TimeDelta::hours(23);

/// How long a worker has an attempt for itself: two calls to the acquirer and some.
pub(crate) const LEASE: TimeDelta = TimeDelta::seconds(150);

/// How old an attempt must be before the acquirer's not having it counts.
pub(crate) const SURELY_ABSENT: TimeDelta = TimeDelta::minutes(2);

/// How long before the attempt its payment may have been created by the acquirer's clock.
pub(crate) const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(5);

/// A payment that is not the one asked for is looked at again after this.
pub(crate) const SUSPICIOUS_PAUSE: TimeDelta = TimeDelta::hours(1);

/// When to ask again after `checks` questions: soon at first, then every five minutes.
pub(crate) fn next_check(checks: u32, at: DateTime<Utc>, asked_pause: Option<std::time::Duration>) -> DateTime<Utc> {
    let seconds = match checks {
        0 => 2,
        1 => 5,
        2 => 15,
        3 => 60,
        _ => 300,
    };
    let asked = asked_pause.and_then(|pause| TimeDelta::from_std(pause).ok()).unwrap_or_default();
    at + TimeDelta::seconds(seconds).max(asked.min(TimeDelta::hours(1)))
}
