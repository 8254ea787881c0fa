//! Retry policy of operations.

use std::time::{Duration, Instant};

use diesel::result::Error as QueryError;

use super::failure::{is_conflict, is_unclassified, passes};

/// Maximum attempts, except after conflicts.
const MOST: u32 = 5;

/// Maximum attempts of an operation that keeps meeting conflicts. Of conflicting transactions, one succeeds.
const MOST_MEETINGS: u32 = 25;

/// Conflicts after which an operation waits for the lock that serializes such operations.
const BEFORE_QUEUE: u32 = 3;

/// Maximum time for retries after errors that may be permanent.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum back-off, in milliseconds.
const LONGEST_PAUSE: u64 = 80;

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
        (lost && self.count < MOST) || (is_conflict(error) && self.count < MOST_MEETINGS)
    }

    /// `true` if a write operation runs again after this error.
    pub fn writing(&self, error: &QueryError, lost: bool, is_server: bool) -> bool {
        if is_conflict(error) {
            return self.count < MOST_MEETINGS;
        }
        let unclear = is_server && is_unclassified(error) && self.begun.elapsed() < PATIENCE;
        self.count < MOST && (lost || passes(error) || unclear)
    }

    /// `true` if the next attempt waits for the serializing lock. When hundreds of transactions want the same record,
    /// serializable transactions would abort each other until all give up.
    pub fn queues(&self) -> bool {
        self.meetings >= BEFORE_QUEUE
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
        let longest = (5 * count * count).min(LONGEST_PAUSE);
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
    fn only_who_meets_others_runs_more_than_five_times() {
        let (conflict, gone, other) = (
            reported(DatabaseErrorKind::SerializationFailure),
            reported(DatabaseErrorKind::ForeignKeyViolation),
            reported(DatabaseErrorKind::Unknown),
        );
        let mut attempts = Attempts::begin();
        for _ in 1..MOST {
            assert!(attempts.writing(&conflict, false, true) && attempts.reading(&conflict, false));
            assert!(attempts.writing(&gone, false, true) && attempts.writing(&gone, true, true));
            assert!(attempts.writing(&other, false, true) && !attempts.writing(&other, false, false));
            assert!(!attempts.reading(&other, false));
            assert!(attempts.pause(&gone, 0) <= Duration::from_millis(LONGEST_PAUSE));
        }
        assert!(attempts.writing(&conflict, false, true) && !attempts.queues());
        assert!(!attempts.writing(&gone, true, true) && !attempts.writing(&other, false, true));
        assert!(!attempts.writing(&reported(DatabaseErrorKind::UniqueViolation), false, true));
    }

    #[test]
    fn who_keeps_meeting_others_queues_and_gives_up_in_the_end() {
        let conflict = reported(DatabaseErrorKind::SerializationFailure);
        let mut attempts = Attempts::begin();
        let mut runs = 1;
        while attempts.writing(&conflict, false, true) {
            assert_eq!(attempts.queues(), runs > BEFORE_QUEUE);
            attempts.pause(&conflict, 0);
            runs += 1;
        }
        assert_eq!(runs, MOST_MEETINGS);
    }
}
