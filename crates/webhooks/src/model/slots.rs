//! Slots of endpoints for deliveries that run at the same time, and the circuit breaker of an endpoint that fails.

use std::collections::BTreeMap;

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

/// Maximum attempts at the endpoints of one project at the same time.
pub const MAX_PER_PROJECT: usize = 16;

/// Endpoint with due deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingEndpoint {
    /// Number of its webhook.
    pub webhook: i64,
    /// Number of its project.
    pub project: i64,
    /// Time at which its oldest delivery became due.
    pub since: DateTime<Utc>,
    /// Circuit breaker of the endpoint.
    pub circuit: CircuitBreaker,
    /// Attempts at it that are in progress.
    pub running: usize,
}

/// Returns the number of attempts that may begin at an endpoint, with the attempts in progress at it and in its
/// project.
pub fn free_slots(circuit: CircuitBreaker, running: usize, of_project: usize, now: DateTime<Utc>) -> usize {
    circuit.free_slots(running, now).min(MAX_PER_PROJECT.saturating_sub(of_project))
}

/// Shares free slots among endpoints. Each slot goes to the project, and in it to the endpoint, with the fewest
/// attempts in progress. Among equals the one that has waited longest wins. Returns how many deliveries each
/// endpoint may take; there may be fewer. `running` counts the attempts in progress by project.
pub fn allocate_slots(
    waiting: &[WaitingEndpoint],
    mut running: BTreeMap<i64, usize>,
    free: usize,
) -> Vec<(i64, usize)> {
    let mut shares: Vec<(&WaitingEndpoint, usize)> = waiting.iter().map(|endpoint| (endpoint, 0)).collect();
    for _ in 0..free {
        let of_project = |endpoint: &WaitingEndpoint| running.get(&endpoint.project).copied().unwrap_or_default();
        let next = shares
            .iter_mut()
            .filter(|(endpoint, share)| {
                free_slots(endpoint.circuit, endpoint.running + share, of_project(endpoint), endpoint.since) > 0
            })
            .min_by_key(|(endpoint, share)| (of_project(endpoint), endpoint.running + *share, endpoint.since));
        let Some((endpoint, share)) = next else { break };
        *share += 1;
        *running.entry(endpoint.project).or_default() += 1;
    }
    shares.into_iter().filter(|(_, share)| *share > 0).map(|(endpoint, share)| (endpoint.webhook, share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MAX_PER_ENDPOINT, RETRY_AFTER_MINUTES};

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

    fn waiting(webhook: i64, project: i64) -> WaitingEndpoint {
        let since = DateTime::UNIX_EPOCH + TimeDelta::seconds(webhook);
        WaitingEndpoint { webhook, project, since, circuit: CircuitBreaker::default(), running: 0 }
    }

    #[test]
    fn a_busy_project_leaves_room_for_the_others() {
        let endpoints = [waiting(1, 10), waiting(2, 10), waiting(3, 20)];
        assert_eq!(allocate_slots(&endpoints, BTreeMap::new(), 4), [(1, 1), (2, 1), (3, 2)]);
        assert_eq!(allocate_slots(&endpoints, BTreeMap::from([(10, 2)]), 2), [(3, 2)]);
        assert_eq!(allocate_slots(&endpoints, BTreeMap::new(), 1), [(1, 1)]);
        assert!(
            allocate_slots(&[], BTreeMap::new(), 4).is_empty()
                && allocate_slots(&endpoints, BTreeMap::new(), 0).is_empty()
        );
    }

    #[test]
    fn neither_an_endpoint_nor_a_project_takes_all_slots() {
        assert_eq!(allocate_slots(&[waiting(1, 10)], BTreeMap::new(), 64), [(1, MAX_PER_ENDPOINT)]);
        let many: Vec<_> = (1..=9).map(|webhook| waiting(webhook, 10)).collect();
        let shares = allocate_slots(&many, BTreeMap::from([(10, 1)]), 64);
        assert_eq!(shares.iter().map(|(_, share)| share).sum::<usize>(), MAX_PER_PROJECT - 1);
    }

    #[test]
    fn the_smaller_of_both_rooms_counts() {
        let room =
            |running, of_project| free_slots(CircuitBreaker::default(), running, of_project, DateTime::UNIX_EPOCH);
        assert_eq!((room(0, 0), room(0, MAX_PER_PROJECT - 1), room(1, 9)), (MAX_PER_ENDPOINT, 1, 7));
        assert_eq!((room(MAX_PER_ENDPOINT, 0), room(0, MAX_PER_PROJECT + 1)), (0, 0));
    }

    #[test]
    fn an_endpoint_on_trial_gets_one_and_what_runs_counts() {
        let trial = WaitingEndpoint { circuit: CircuitBreaker::restore(2, None), ..waiting(1, 10) };
        let busy = WaitingEndpoint { running: MAX_PER_ENDPOINT - 1, ..waiting(2, 20) };
        assert_eq!(allocate_slots(&[trial, busy], BTreeMap::from([(20, 7)]), 64), [(1, 1), (2, 1)]);
        assert!(allocate_slots(&[WaitingEndpoint { running: 1, ..trial }], BTreeMap::new(), 64).is_empty());
    }
}
