//! Retry policy of operations.

use std::time::{Duration, Instant};

use diesel::result::Error as QueryError;

use super::failure::{is_conflict, is_retryable, is_unclassified};

/// Maximum attempts, except after conflicts.
const MAX_ATTEMPTS: u32 = 5;

/// Maximum attempts of an operation that keeps meeting conflicts. Of conflicting transactions, one succeeds.
const MAX_CONFLICT_ATTEMPTS: u32 = 25;

/// Conflicts after which an operation waits for the lock that serializes such operations.
const CONFLICTS_BEFORE_LOCK: u32 = 3;

/// Maximum time for retries after errors that may be permanent.
const RETRY_TIME_LIMIT: Duration = Duration::from_secs(10);

/// Maximum back-off, in milliseconds.
const MAX_BACKOFF: u64 = 80;

/// Attempts of one operation.
pub(super) struct Attempts {
    begun: Instant,
    count: u32,
    meetings: u32,
}

impl Attempts {
    pub fn begin() -> Self {
        Self { begun: Instant::now(), count: 1, meetings: 0 }
    }

    /// Returns the number of attempts.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// `true` if a read operation runs again after this error. Where the server makes transactions serializable by
    /// default, even reads may conflict.
    pub fn reading(&self, error: &QueryError, lost: bool) -> bool {
        (lost && self.count < MAX_ATTEMPTS) || (is_conflict(error) && self.count < MAX_CONFLICT_ATTEMPTS)
    }

    /// `true` if a write operation runs again after this error.
    pub fn writing(&self, error: &QueryError, lost: bool, is_server: bool) -> bool {
        if is_conflict(error) {
            return self.count < MAX_CONFLICT_ATTEMPTS;
        }
        let unclear = is_server && is_unclassified(error) && self.begun.elapsed() < RETRY_TIME_LIMIT;
        self.count < MAX_ATTEMPTS && (lost || is_retryable(error) || unclear)
    }

    /// `true` if the next attempt waits for the serializing lock. When hundreds of transactions want the same record,
    /// serializable transactions would abort each other until all give up.
    pub fn queues(&self) -> bool {
        self.meetings >= CONFLICTS_BEFORE_LOCK
    }

    /// Returns the back-off before the next attempt. It varies between operations after a conflict. Serialized
    /// operations do not wait.
    pub fn pause(&mut self, error: &QueryError, turn: u64) -> Duration {
        let count = u64::from(self.count);
        self.count += 1;
        self.meetings += u32::from(is_conflict(error));
        if self.queues() {
            return Duration::ZERO;
        }
        let longest = (5 * count * count).min(MAX_BACKOFF);
        Duration::from_millis(longest / 2 + turn.wrapping_mul(7) % (longest / 2 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::result::DatabaseErrorKind;

    fn reported(kind: DatabaseErrorKind) -> QueryError {
        QueryError::DatabaseError(kind, Box::new(String::new()))
    }

    #[test]
    fn only_conflicts_are_retried_more_than_five_times() {
        let (conflict, gone, other) = (
            reported(DatabaseErrorKind::SerializationFailure),
            reported(DatabaseErrorKind::ForeignKeyViolation),
            reported(DatabaseErrorKind::Unknown),
        );
        let mut attempts = Attempts::begin();
        for _ in 1..MAX_ATTEMPTS {
            assert!(attempts.writing(&conflict, false, true) && attempts.reading(&conflict, false));
            assert!(attempts.writing(&gone, false, true) && attempts.writing(&gone, true, true));
            assert!(attempts.writing(&other, false, true) && !attempts.writing(&other, false, false));
            assert!(!attempts.reading(&other, false));
            assert!(attempts.pause(&gone, 0) <= Duration::from_millis(MAX_BACKOFF));
        }
        assert!(attempts.writing(&conflict, false, true) && !attempts.queues());
        assert!(!attempts.writing(&gone, true, true) && !attempts.writing(&other, false, true));
        assert!(!attempts.writing(&reported(DatabaseErrorKind::UniqueViolation), false, true));
    }

    #[test]
    fn repeated_conflicts_wait_for_the_lock_and_then_fail() {
        let conflict = reported(DatabaseErrorKind::SerializationFailure);
        let mut attempts = Attempts::begin();
        let mut runs = 1;
        while attempts.writing(&conflict, false, true) {
            assert_eq!(attempts.queues(), runs > CONFLICTS_BEFORE_LOCK);
            attempts.pause(&conflict, 0);
            runs += 1;
        }
        assert_eq!(runs, MAX_CONFLICT_ATTEMPTS);
    }
}
