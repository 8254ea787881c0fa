use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::CircuitBreaker;

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
    use crate::model::MAX_PER_ENDPOINT;

    fn waiting(webhook: i64, project: i64) -> WaitingEndpoint {
        let since = DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(webhook);
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
