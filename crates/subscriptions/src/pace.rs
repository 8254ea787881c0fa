//! Rate limit for charges that fall due together.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

/// Token bucket: charges per second, with a burst of the unused charges of the last two seconds.
pub struct Pace {
    per_second: u32,
    bucket: Mutex<Option<Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Thousandths of a charge.
    left: i64,
    at: DateTime<Utc>,
}

const THOUSAND: i64 = 1_000;
/// Time for which unused charges are kept.
const BURST_PERIOD: TimeDelta = TimeDelta::seconds(2);

impl Pace {
    /// Creates a bucket with this many charges per second, at least one.
    pub fn per_second(charges: u32) -> Self {
        Self { per_second: charges.max(1), bucket: Mutex::new(None) }
    }

    /// Takes up to `most` charges. Returns how many are allowed now.
    pub fn take(&self, most: u32, now: DateTime<Utc>) -> u32 {
        let rate = i64::from(self.per_second);
        let full = rate * BURST_PERIOD.num_milliseconds();
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let left = bucket.map_or(full, |Bucket { left, at }| {
            // A clock that was set back adds nothing.
            let passed = (now - at).num_milliseconds().clamp(0, BURST_PERIOD.num_milliseconds());
            (left + passed * rate).min(full)
        });
        let taken = (left / THOUSAND).min(most.into());
        *bucket = Some(Bucket { left: left - taken * THOUSAND, at: now });
        u32::try_from(taken).unwrap_or(most)
    }

    /// Returns unused charges.
    pub fn give_back(&self, charges: u32) {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = bucket.as_mut() {
            let full = i64::from(self.per_second) * BURST_PERIOD.num_milliseconds();
            bucket.left = (bucket.left + i64::from(charges) * THOUSAND).min(full);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_any_time_no_more_is_taken_than_the_rate_and_what_was_kept() {
        let pace = Pace::per_second(20);
        let begin = DateTime::UNIX_EPOCH;
        let mut taken = 0;
        for step in 0..600 {
            taken += pace.take(50, begin + TimeDelta::milliseconds(100) * step);
        }
        assert_eq!(taken, 40 + 20 * 60 - 2);
        assert_eq!(pace.take(u32::MAX, begin + TimeDelta::days(1)), 40, "a day of rest is two seconds");
        assert_eq!(pace.take(1, begin), 0, "a clock that is set back gives nothing");
    }

    #[test]
    fn what_was_not_needed_comes_back() {
        let pace = Pace::per_second(1);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 2);
        pace.give_back(5);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 2);
        assert_eq!(pace.take(10, DateTime::UNIX_EPOCH), 0);
    }

    #[test]
    fn no_more_is_taken_than_was_asked_for_and_time_gives_it_back() {
        let pace = Pace::per_second(10);
        let at = |millis| DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis);
        assert_eq!([pace.take(3, at(0)), pace.take(50, at(0)), pace.take(50, at(0))], [3, 17, 0]);
        assert_eq!([pace.take(50, at(99)), pace.take(50, at(100)), pace.take(50, at(1_100))], [0, 1, 10]);
        pace.give_back(4);
        assert_eq!(pace.take(50, at(1_100)), 4);
        // At least one charge a second, or nothing would ever be charged.
        assert_eq!(Pace::per_second(0).take(50, at(0)), 2);
        let unused = Pace::per_second(10);
        unused.give_back(5);
        assert_eq!(unused.take(50, at(0)), 20);
    }
}
