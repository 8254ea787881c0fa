//! Numbers of requests. They contain the time of the request, so that keys and responses are appended to their tables
//! and expire in this order.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

/// Lifetime of a key and of its response.
const KEY_LIFE: TimeDelta = TimeDelta::hours(48);

/// Low bits of a number, which distinguish requests of the same millisecond. The higher bits are milliseconds since the
/// epoch and suffice until the year 2109.
const BITS: u32 = 21;

/// Generator of the request numbers of a process.
#[derive(Debug)]
pub struct RequestNumbers {
    offset: i64,
    last: AtomicI64,
}

impl RequestNumbers {
    /// Creates a generator. The random bits keep processes apart. If two processes draw the same number, one request is
    /// stored under the next one.
    pub fn new(random: u32) -> Self {
        Self { offset: i64::from(random & ((1 << BITS) - 1)), last: AtomicI64::default() }
    }

    /// Returns the number for a request of this time.
    pub fn next(&self, at: DateTime<Utc>) -> i64 {
        let number = first_of(at) + self.offset;
        let after = |last: i64| Some(number.max(last + 1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        number.max(last.unwrap_or_default() + 1)
    }
}

fn first_of(moment: DateTime<Utc>) -> i64 {
    moment.timestamp_millis() << BITS
}

fn time_of(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(number >> BITS).unwrap_or_default()
}

/// Returns the time at which the key of a request becomes free.
pub(super) fn expiry_of(number: i64) -> DateTime<Utc> {
    time_of(number) + KEY_LIFE
}

/// Returns `true` if a key has expired at the time of a later request.
pub(super) fn has_expired(number: i64, later: i64) -> bool {
    number <= last_expired_number(time_of(later))
}

/// Returns the greatest number whose key has expired.
pub(crate) fn last_expired_number(now: DateTime<Utc>) -> i64 {
    first_of(now - KEY_LIFE) + (1 << BITS) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_ascend_and_expire_with_their_keys() {
        let at = moment("2026-06-30T12:00:00.500Z");
        let numbers = RequestNumbers::new(u32::MAX - 1);
        let (first, second) = (numbers.next(at), numbers.next(at));
        assert_eq!((second, expiry_of(second)), (first + 1, at + KEY_LIFE));
        assert!(numbers.next(at + TimeDelta::seconds(1)) > second);
        assert!(RequestNumbers::new(1).next(at) != RequestNumbers::new(2).next(at));
        let end = at + KEY_LIFE;
        assert!(last_expired_number(end - TimeDelta::milliseconds(1)) < first && second <= last_expired_number(end));
        let later = RequestNumbers::new(0).next(end);
        assert!(has_expired(first, later) && !has_expired(second, second));
    }

    #[test]
    fn there_are_numbers_for_a_long_time() {
        assert!(RequestNumbers::new(u32::MAX).next(moment("2109-01-01T00:00:00Z")) > 0);
    }
}
