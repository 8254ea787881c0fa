//! How long whoever was refused has to wait, in whole seconds.

use std::time::Duration;

use kontor_kernel::Quota;

/// The whole seconds of a time to wait, at least one: who waits this long is let in.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX).max(1)
}

/// How long a refused client has to wait, in whole seconds.
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
