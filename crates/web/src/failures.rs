//! Log of structured refusals. A limited number of each kind is logged, so that a flood of them cannot fill the log.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::Clock;

use super::NamedError;

const WINDOW: TimeDelta = TimeDelta::minutes(1);
const MAX_PER_KIND: usize = 5;
const MAX_LOGGED: usize = 60;

struct Logged {
    at: DateTime<Utc>,
    stage: String,
    code: &'static str,
}

/// Refusals logged within the last minute.
pub struct RefusalLog {
    clock: Arc<dyn Clock>,
    logged: Mutex<VecDeque<Logged>>,
}

impl RefusalLog {
    /// Creates an empty log.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, logged: Mutex::new(VecDeque::with_capacity(MAX_LOGGED)) }
    }

    /// Logs a refusal of a route, unless the limit of its kind or of all kinds is reached within the last minute.
    pub fn record(&self, stage: &str, refusal: &NamedError, request_id: &str) {
        if self.admits(stage, refusal.code) {
            let (code, status) = (refusal.code, refusal.status.as_u16());
            tracing::warn!(stage, code, status, request_id, "refused");
        }
    }

    /// Returns `true` if one more may be logged, and counts it as logged.
    fn admits(&self, stage: &str, code: &'static str) -> bool {
        let now = self.clock.now();
        // A panic elsewhere leaves a valid list of times behind.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back must not silence the log until it has caught up.
        logged.retain(|entry| entry.at <= now && now - entry.at < WINDOW);
        let of_kind = logged.iter().filter(|entry| entry.stage == stage && entry.code == code).count();
        let admitted = logged.len() < MAX_LOGGED && of_kind < MAX_PER_KIND;
        if admitted {
            logged.push_back(Logged { at: now, stage: stage.to_owned(), code });
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::FixedClock;

    fn log() -> (Arc<FixedClock>, RefusalLog) {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        (clock.clone(), RefusalLog::new(clock))
    }

    fn admitted(log: &RefusalLog, times: usize, stage: &str, code: &'static str) -> usize {
        (0..times).filter(|_| log.admits(stage, code)).count()
    }

    #[test]
    fn five_of_a_kind_pass_within_any_minute() {
        let (clock, log) = log();
        assert_eq!(admitted(&log, 3, "/a", "x"), 3);
        clock.advance(TimeDelta::seconds(59));
        assert_eq!(admitted(&log, 9, "/a", "x"), 2);
        assert_eq!((admitted(&log, 9, "/a", "y"), admitted(&log, 9, "/b", "x")), (5, 5));
        clock.advance(TimeDelta::seconds(1));
        assert_eq!(admitted(&log, 9, "/a", "x"), 3, "the first three are a minute old");
        clock.advance(TimeDelta::seconds(60));
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
    }

    #[test]
    fn sixty_pass_in_all() {
        let (clock, log) = log();
        let all = (0..20).map(|stage| admitted(&log, 9, &format!("/{stage}"), "x")).sum::<usize>();
        assert_eq!((all, log.logged.lock().unwrap().len()), (60, 60));
        clock.advance(TimeDelta::minutes(1));
        assert_eq!(admitted(&log, 1, "/19", "x"), 1);
        assert_eq!(log.logged.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_clock_set_back_and_a_panic_silence_nothing() {
        let (clock, log) = log();
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
        clock.advance(TimeDelta::hours(-1));
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
        let log = Arc::new(log);
        let poisoner = log.clone();
        let _ = std::thread::spawn(move || {
            let _held = poisoner.logged.lock().unwrap();
            panic!("while the log is held");
        })
        .join();
        assert_eq!(admitted(&log, 9, "/b", "x"), 5);
    }
}
