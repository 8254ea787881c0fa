//! How often a step runs again.

use std::time::{Duration, Instant};

use diesel::result::Error as QueryError;

use super::failure::{is_conflict, may_pass, passes};

/// How often a step runs at most, unless it keeps meeting others.
const MOST: u32 = 5;

/// How often a step runs that keeps meeting others. Of those who meet one gets on.
const MOST_MEETINGS: u32 = 25;

/// After so many runs a step that met others goes in single file with those to whom the same happened.
const BEFORE_QUEUE: u32 = 3;

/// For how long a step runs again of which nobody can tell whether that helps.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest pause before a step runs again.
const LONGEST_PAUSE: u64 = 80;

/// The runs of one step.
pub(super) struct Attempts {
    begun: Instant,
    count: u32,
    meetings: u32,
}

impl Attempts {
    pub fn begin() -> Self {
        Self { begun: Instant::now(), count: 1, meetings: 0 }
    }

    /// How often it has run.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a step that reads runs again after this error. On a server whose transactions are serializable unless told
    /// otherwise even reading may meet others.
    pub fn reading(&self, error: &QueryError, lost: bool) -> bool {
        (lost && self.count < MOST) || (is_conflict(error) && self.count < MOST_MEETINGS)
    }

    /// Whether a step that writes runs again after this error.
    pub fn writing(&self, error: &QueryError, lost: bool, is_server: bool) -> bool {
        if is_conflict(error) {
            return self.count < MOST_MEETINGS;
        }
        let unclear = is_server && may_pass(error) && self.begun.elapsed() < PATIENCE;
        self.count < MOST && (lost || passes(error) || unclear)
    }

    /// Whether the next run is to wait for others that keep meeting. Where hundreds want the same record at once,
    /// serializable transactions would undo each other until all give up.
    pub fn queues(&self) -> bool {
        self.meetings >= BEFORE_QUEUE
    }

    /// How long to wait before the next run. Those who met go on at different moments, in single file at once.
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
