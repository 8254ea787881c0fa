//! Waiting time of a rejected client in whole seconds.

use std::time::Duration;

use kontor_kernel::Quota;

/// Rounds a waiting time up to whole seconds, at least one, so that a retry after it is not too early.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX).max(1)
}

/// Returns the time until the quota resets, in whole seconds.
pub fn seconds_to_wait(quota: &Quota) -> u64 {
    whole_seconds(quota.resets_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_second_is_waited_for_whole() {
        let wait = |millis| {
            let resets_in = Duration::from_millis(millis);
            seconds_to_wait(&Quota { allowed: false, limit: 5, remaining: 0, resets_in })
        };
        assert_eq!([0, 1, 999, 1_000, 1_001, 60_000].map(wait), [1, 1, 1, 1, 2, 60]);
    }
}
