//! When to ask the acquirer, and when its silence means something.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// The acquirer keeps a key for 24 hours; the last repetition stays well within.
pub(crate) const KEY_LIFETIME: TimeDelta = TimeDelta::hours(23);

/// How long a worker has a charge or a refund for itself: two calls to the acquirer and some.
pub(crate) const LEASE: TimeDelta = TimeDelta::seconds(150);

/// How long ago an unanswered request must have been before the acquirer's not having it counts.
pub(crate) const SURELY_ABSENT: TimeDelta = TimeDelta::minutes(2);

/// How long before the charge its payment may have been created by the acquirer's clock.
pub(crate) const CLOCK_SKEW: TimeDelta = TimeDelta::minutes(5);

/// What is not the one asked for is looked at again after this.
pub(crate) const SUSPICIOUS_PAUSE: TimeDelta = TimeDelta::hours(1);

/// How many tries of a refund or a receipt may be refused before people must look.
pub(crate) const MOST_TRIES: u32 = 12;

/// The reason of a charge that was not made since the customer deleted its method.
pub(crate) const METHOD_DELETED: &str = "payment_method_deleted";

/// How long to wait before another try of these.
pub(crate) const NEXT_TRY: TimeDelta = TimeDelta::hours(1);

/// A receipt that is not registered after this is told to people.
pub const RECEIPT_OVERDUE: TimeDelta = TimeDelta::days(3);

/// How long the call that follows the commit may take before a worker takes over; longer than the acquirer's client
/// waits.
pub const TAKEOVER: TimeDelta = TimeDelta::seconds(60);

/// When to ask again after `checks` questions: soon at first, then every five minutes.
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

/// When to ask again how a receipt stands after `checks` questions: registers take seconds, or a whole day.
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
        // The acquirer keeps a key for 24 hours; a request is on its way for less than two minutes.
        assert!(KEY_LIFETIME < TimeDelta::hours(24) && KEY_LIFETIME > TimeDelta::hours(20));
        assert!(SURELY_ABSENT < LEASE && TAKEOVER < SURELY_ABSENT);
    }
}
