use chrono::{DateTime, TimeDelta, Utc};

use super::delivery::{SendFailure, SendOutcome};

/// Maximum attempts at one endpoint at the same time.
pub const MAX_PER_ENDPOINT: usize = 8;
/// Pause after the first timeout of an endpoint, in seconds; doubled with every further timeout. Longer than an
/// attempt takes, so that attempts that began together count once.
const INITIAL_BACKOFF_SECONDS: i64 = 15;
/// Maximum pause, in seconds.
const MAX_BACKOFF_SECONDS: i64 = 15 * 60;

/// Circuit breaker of an endpoint. An endpoint that times out is paused, each time longer. After the pause it
/// gets one delivery at a time until it answers with any status. The schedule of its deliveries counts from
/// their attempts, so waiting uses up no attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    timeouts: u32,
    paused_until: Option<DateTime<Utc>>,
}

impl CircuitBreaker {
    /// Restores the state from the stored columns.
    pub fn restore(timeouts: u32, paused_until: Option<DateTime<Utc>>) -> Self {
        Self { timeouts, paused_until }
    }

    /// Number of timeouts in a row.
    pub fn timeouts(self) -> u32 {
        self.timeouts
    }

    /// Time until which nothing is sent to the endpoint.
    pub fn paused_until(self) -> Option<DateTime<Utc>> {
        self.paused_until
    }

    /// Returns the number of attempts that may begin in addition to the `running` ones.
    pub fn free_slots(self, running: usize, now: DateTime<Utc>) -> usize {
        let most = match (self.timeouts, self.paused_until) {
            (_, Some(until)) if until > now => 0,
            (0, _) => MAX_PER_ENDPOINT,
            _ => 1,
        };
        most.saturating_sub(running)
    }

    /// Returns the state that follows an attempt that ended at `at`.
    #[must_use]
    pub fn after(self, outcome: &SendOutcome, at: DateTime<Utc>) -> Self {
        match outcome {
            SendOutcome::Failed(SendFailure::TimedOut) => {
                let doubled =
                    1_i64.checked_shl(self.timeouts).and_then(|times| times.checked_mul(INITIAL_BACKOFF_SECONDS));
                let pause = doubled.filter(|pause| (0..MAX_BACKOFF_SECONDS).contains(pause));
                let pause = TimeDelta::seconds(pause.unwrap_or(MAX_BACKOFF_SECONDS));
                Self { timeouts: self.timeouts.saturating_add(1).min(1_000), paused_until: Some(at + pause) }
            }
            SendOutcome::Answered(_) => Self::default(),
            // These failures contain no information about the response time.
            SendOutcome::Failed(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RETRY_AFTER_MINUTES;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const HUNG: SendOutcome = SendOutcome::Failed(SendFailure::TimedOut);

    #[test]
    fn an_endpoint_that_hangs_rests_ever_longer_up_to_a_quarter_of_an_hour() {
        let mut circuit = CircuitBreaker::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            circuit = circuit.after(&HUNG, NOW);
            pauses.push((circuit.paused_until().unwrap() - NOW).num_seconds());
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 900, 900, 900]);
        for timeouts in [62, 63, 64, 70, u32::MAX] {
            let circuit = CircuitBreaker::restore(timeouts, None).after(&HUNG, NOW);
            assert_eq!(circuit.paused_until(), Some(NOW + TimeDelta::minutes(15)), "{timeouts}");
        }
    }

    #[test]
    fn a_lone_delivery_never_waits_for_the_rest_of_its_endpoint() {
        let mut circuit = CircuitBreaker::default();
        for minutes in RETRY_AFTER_MINUTES {
            circuit = circuit.after(&HUNG, NOW);
            assert!(circuit.paused_until().unwrap() <= NOW + TimeDelta::minutes(minutes));
        }
    }

    #[test]
    fn after_its_rest_it_is_tried_by_one_and_any_answer_opens_it() {
        let hung = CircuitBreaker::default().after(&HUNG, NOW);
        let later = hung.paused_until().unwrap();
        assert_eq!((hung.free_slots(0, NOW), hung.free_slots(0, later), hung.free_slots(1, later)), (0, 1, 0));
        let again = hung.after(&SendOutcome::Answered(500), later);
        assert_eq!(
            (again, again.free_slots(0, later), again.free_slots(9, later)),
            (CircuitBreaker::default(), MAX_PER_ENDPOINT, 0)
        );
        assert_eq!(hung.after(&SendOutcome::Failed(SendFailure::NoConnection), later), hung);
    }
}
