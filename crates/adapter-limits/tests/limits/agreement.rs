//! The same hits have the same results in memory and in Redis.

use std::time::Duration;

use kontor_kernel::RateRule;

use crate::bench::{Bench, redis_tests};

/// Windows and steps of time are multiples of this, so that the few seconds Redis is ahead do not matter.
const STEP: Duration = Duration::from_secs(20);

const RULES: [RateRule; 4] = [
    RateRule { name: "one", limit: 1, window: Duration::from_mins(10) },
    RateRule { name: "few", limit: 3, window: Duration::from_mins(1) },
    RateRule { name: "many", limit: 30, window: Duration::from_mins(1) },
    RateRule { name: "hours", limit: 5, window: Duration::from_hours(1) },
];

/// Pseudo-random numbers, the same in every run.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

async fn the_two_adapters_agree() {
    let (memory, redis) = (Bench::memory(), Bench::redis().await);
    for seed in 0..8 {
        let mut rng = TestRng(seed);
        let mut refused = 0;
        for step in 0..250 {
            if rng.below(12) == 0 {
                let by = STEP * u32::try_from(1 + rng.below(6)).unwrap();
                memory.advance(by).await;
                redis.advance(by).await;
            }
            let rule = *RULES.get(rng.below(RULES.len())).unwrap();
            let subject = format!("{seed}/subject {}", rng.below(4));
            let (left, right) = (memory.limiter.hit(rule, &subject).await, redis.limiter.hit(rule, &subject).await);
            let reported = |quota: kontor_kernel::Quota| (quota.allowed, quota.limit, quota.remaining);
            assert_eq!(reported(left), reported(right), "seed {seed}, step {step}, {rule:?}, {subject}");
            assert!(left.resets_in.abs_diff(right.resets_in) < STEP, "seed {seed}, step {step}: {left:?} {right:?}");
            refused += u32::from(!left.allowed);
        }
        assert!((20..230).contains(&refused), "the hits of seed {seed} try too little: {refused} refused");
    }
}

redis_tests!(the_two_adapters_agree);
