//! Tests for both adapters.

use std::sync::Arc;
use std::time::Duration;

use kontor_kernel::{Quota, RateRule};

use crate::bench::{Bench, limiter_tests};

const MINUTE: Duration = Duration::from_mins(1);
const RULE: RateRule = RateRule { name: "login", limit: 3, window: MINUTE };

/// Compares with a tolerance: the remaining time of a window in Redis decreases during the test.
fn about(quota: Quota, expected: Duration) -> bool {
    quota.resets_in <= expected && quota.resets_in + Duration::from_secs(15) > expected
}

limiter_tests! {
    async fn a_window_starts_at_the_first_hit_and_ends_after_its_length(bench: Bench) {
        let first = bench.limiter.hit(RULE, "a").await;
        assert_eq!((first.allowed, first.limit, first.remaining), (true, 3, 2));
        assert!(about(first, MINUTE), "{first:?}");
        bench.advance(Duration::from_secs(30)).await;
        for remaining in [1, 0] {
            let next = bench.limiter.hit(RULE, "a").await;
            assert_eq!((next.allowed, next.remaining), (true, remaining));
            assert!(about(next, Duration::from_secs(30)), "{next:?}");
        }
        let refused = bench.limiter.hit(RULE, "a").await;
        assert_eq!((refused.allowed, refused.limit, refused.remaining), (false, 3, 0));
        assert!(about(refused, Duration::from_secs(30)), "a refused hit does not lengthen the window: {refused:?}");
        bench.advance(Duration::from_secs(30)).await;
        let renewed = bench.limiter.hit(RULE, "a").await;
        assert_eq!((renewed.allowed, renewed.remaining), (true, 2));
        assert!(about(renewed, MINUTE), "{renewed:?}");
    }

    async fn subjects_and_rules_count_apart(bench: Bench) {
        for _ in 0..4 {
            bench.limiter.hit(RULE, "a").await;
        }
        assert!(!bench.limiter.hit(RULE, "a").await.allowed);
        for other in ["b", "", "a ", "A", "а", "a\0", "a:b", "*"] {
            assert_eq!(bench.limiter.hit(RULE, other).await.remaining, 2, "{other:?}");
        }
        assert!(bench.limiter.hit(RateRule { name: "other", ..RULE }, "a").await.allowed);
    }

    async fn a_rule_without_hits_lets_nobody_pass(bench: Bench) {
        for _ in 0..2 {
            let refused = bench.limiter.hit(RateRule { limit: 0, ..RULE }, "a").await;
            assert_eq!((refused.allowed, refused.limit, refused.remaining), (false, 0, 0));
            assert!(about(refused, MINUTE), "{refused:?}");
        }
    }

    async fn a_lowered_limit_counts_at_once(bench: Bench) {
        for _ in 0..3 {
            bench.limiter.hit(RULE, "a").await;
        }
        let refused = bench.limiter.hit(RateRule { limit: 2, ..RULE }, "a").await;
        assert_eq!((refused.allowed, refused.limit, refused.remaining), (false, 2, 0));
        assert_eq!(bench.limiter.hit(RateRule { limit: 5, ..RULE }, "a").await.remaining, 1);
    }

    async fn a_race_of_a_hundred_lets_exactly_the_limit_pass(bench: Bench) {
        let rule = RateRule { limit: 17, ..RULE };
        let hits: Vec<_> = (0..100)
            .map(|_| {
                let limiter = Arc::clone(&bench.limiter);
                tokio::spawn(async move { limiter.hit(rule, "a").await })
            })
            .collect();
        let mut answers = Vec::new();
        for hit in hits {
            let quota = hit.await.unwrap();
            answers.push((quota.allowed, quota.remaining));
        }
        answers.sort_unstable();
        let expected: Vec<_> = (0..83).map(|_| (false, 0)).chain((0..17).map(|left| (true, left))).collect();
        assert_eq!(answers, expected);
    }

    async fn a_race_of_many_subjects_counts_each_alone(bench: Bench) {
        let hits: Vec<_> = (0..400)
            .map(|number| {
                let limiter = Arc::clone(&bench.limiter);
                tokio::spawn(async move { limiter.hit(RULE, &(number % 50).to_string()).await.allowed })
            })
            .collect();
        let mut passed = 0;
        for hit in hits {
            passed += u32::from(hit.await.unwrap());
        }
        assert_eq!(passed, 150);
    }
}
