//! Limits that several servers count in Redis.

use kontor::adapters::SystemRandom;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_limits::testing::{OwnRedis, shared_redis};
use kontor_kernel::Random;
use reqwest::Method;
use serde_json::json;

use super::{counted_in, header, quota, staff_log_in, until};
use crate::support::{TestServer, send};

database_tests! {
    async fn two_servers_with_one_redis_share_a_limit(db: TestDatabase) {
        let url = shared_redis();
        let second = TestDatabase::fresh(db.kind);
        let random: &dyn Random = &SystemRandom::new();
        let key = format!("service-key-{}", random.uuid());
        let start = async |db, key: &str| {
            let server = TestServer::start_with(db, |config| {
                config.redis_url = url.clone().into();
                config.redis_timeout_ms = 10_000;
                config.secret_key = key.into();
            })
            .await;
            until(async || counted_in(&server).await == "redis").await;
            server
        };
        let (first, second) = (start(db, &key).await, start(second, &key).await);
        for remaining in ["4", "3", "2", "1", "0"] {
            let server = if remaining == "3" || remaining == "0" { &second } else { &first };
            let answer = staff_log_in(server, "boss").await;
            answer.expect(401);
            assert_eq!(quota(&answer), (Some("5"), Some(remaining)));
        }
        for server in [&first, &second] {
            let refused = staff_log_in(server, "boss").await;
            assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
            assert_eq!(quota(&refused), (Some("5"), Some("0")));
            assert!((1..=60).contains(&header(&refused, "retry-after").unwrap().parse::<u32>().unwrap()));
            assert!(header(&refused, "x-ratelimit-reset").is_some());
        }
        // The windows follow the time of Redis, not of a process.
        first.clock.advance(3_600);
        staff_log_in(&first, "boss").await.expect(429);
    }

    async fn a_lost_redis_is_reported_and_memory_counts(db: TestDatabase) {
        let mut redis = OwnRedis::start();
        let server = TestServer::start_with(db, |config| {
            config.redis_url = redis.url().into();
            config.redis_timeout_ms = 10_000;
        })
        .await;
        until(async || counted_in(&server).await == "redis").await;
        staff_log_in(&server, "boss").await.expect(401);
        redis.stop();
        for _ in 0..5 {
            staff_log_in(&server, "boss").await.expect(401);
        }
        staff_log_in(&server, "boss").await.expect(429);
        assert_eq!(counted_in(&server).await, "fallback");
        assert_eq!(send(server.request(Method::GET, "/readyz")).await.expect(200)["status"], "degraded");
        // Other servers of this process write to the same gauge.
        until(async || {
            let metrics = send(server.request(Method::GET, "/metrics")).await.text;
            metrics.contains("kontor_rate_limits_fallback 1")
        })
        .await;
        assert!(redis.start_again());
        until(async || counted_in(&server).await == "redis").await;
        staff_log_in(&server, "boss").await.expect(401);
    }
}
