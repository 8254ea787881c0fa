//! Times of checks at the acquirer, and the meaning of its silence.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The acquirer keeps a key for 24 hours; the last retry stays well within.
pub(crate) const KEY_LIFETIME: TimeDelta = TimeDelta::hours(23);

/// Lease of a worker on a charge or a refund: two calls to the acquirer and a margin.
pub(crate) const LEASE: TimeDelta = TimeDelta::seconds(150);

/// Minimum time after an unanswered request before an absent payment counts as absent.
pub(crate) const ABSENCE_CONFIRMED_AFTER: TimeDelta = TimeDelta::minutes(2);

/// Maximum time before the charge that its payment may have by the acquirer's clock.
pub(crate) const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(5);

/// Time between checks of a payment that differs from the request.
pub(crate) const SUSPICIOUS_PAUSE: TimeDelta = TimeDelta::hours(1);

/// Maximum refused attempts of a refund or a receipt before staff must check it.
pub(crate) const MAX_ATTEMPTS: u32 = 12;

/// Reason of a charge that was not made because the customer deleted its method.
pub(crate) const METHOD_DELETED: &str = "payment_method_deleted";

/// Time before another attempt of a refund or a receipt.
pub(crate) const RETRY_DELAY: TimeDelta = TimeDelta::hours(1);

/// Time after which an unregistered receipt is reported as overdue.
pub const RECEIPT_OVERDUE: TimeDelta = TimeDelta::days(3);

/// Time for the call after the commit before a worker takes over; longer than the timeout of the acquirer's
/// client.
pub const TAKEOVER_DELAY: TimeDelta = TimeDelta::seconds(60);

/// Returns the time of the next check after `checks` checks: soon at first, then every five minutes.
pub(crate) fn next_check(checks: u32, at: DateTime<Utc>, asked_pause: Option<Duration>) -> DateTime<Utc> {
    let seconds = match checks {
        0 => 2,
        1 => 5,
        2 => 15,
        3 => 60,
        _ => 300,
    };
    after(seconds, at, asked_pause)
}

/// Returns the time of the next check of a receipt after `checks` checks: registers take seconds, or a whole
/// day.
pub(crate) fn next_registration_check(checks: u32, at: DateTime<Utc>, asked_pause: Option<Duration>) -> DateTime<Utc> {
    let seconds = match checks {
        0 => 5,
        1 => 15,
        2 => 60,
        3 => 300,
        4 => 900,
        _ => 3_600,
    };
    after(seconds, at, asked_pause)
}

fn after(seconds: i64, at: DateTime<Utc>, asked_pause: Option<Duration>) -> DateTime<Utc> {
    let asked = asked_pause.and_then(|pause| TimeDelta::from_std(pause).ok()).unwrap_or_default();
    at + TimeDelta::seconds(seconds).max(asked.min(TimeDelta::hours(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_become_rarer() {
        let pauses: Vec<_> = (0..6).map(|n| (next_check(n, DateTime::UNIX_EPOCH, None)).timestamp()).collect();
        assert_eq!(pauses, [2, 5, 15, 60, 300, 300]);
        let pauses = (0..7).map(|n| next_registration_check(n, DateTime::UNIX_EPOCH, None).timestamp());
        assert_eq!(pauses.collect::<Vec<_>>(), [5, 15, 60, 300, 900, 3_600, 3_600]);
        let asked = next_check(0, DateTime::UNIX_EPOCH, Some(Duration::from_secs(40)));
        assert_eq!(asked.timestamp(), 40);
    }

    #[test]
    fn the_acquirer_may_ask_for_a_longer_pause_of_at_most_an_hour() {
        let asked = |seconds| Some(Duration::from_secs(seconds));
        for (seconds, pause) in [(1, 5), (40, 40), (3_600, 3_600), (3_601, 3_600)] {
            assert_eq!(next_registration_check(0, DateTime::UNIX_EPOCH, asked(seconds)).timestamp(), pause);
        }
        assert_eq!(next_check(9, DateTime::UNIX_EPOCH, asked(40)).timestamp(), 300);
        assert_eq!(next_check(0, DateTime::UNIX_EPOCH, asked(u64::MAX)).timestamp(), 2, "no pause at all");
    }

    #[test]
    fn a_key_is_given_up_before_the_acquirer_forgets_it() {
        // The acquirer keeps a key for 24 hours; a request is in transit for less than two minutes.
        assert!(KEY_LIFETIME < TimeDelta::hours(24) && KEY_LIFETIME > TimeDelta::hours(20));
        assert!(ABSENCE_CONFIRMED_AFTER < LEASE && TAKEOVER_DELAY < ABSENCE_CONFIRMED_AFTER);
    }
}
