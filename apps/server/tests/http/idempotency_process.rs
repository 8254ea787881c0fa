//! Idempotency keys when the process is killed: each request is carried out once, whenever the process died.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::json;

use crate::crash::rng::TestRng;
use crate::keyed::{is_replayed, keyed};
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::Answer;

const BRANDS: u32 = 12;

/// Sends a new brand with its key until there is a response. Waits while the request is in progress.
async fn retry_until_answered(owner_client: &OwnerClient, number: u32) -> Answer {
    let until = Instant::now() + PATIENCE;
    loop {
        let request =
            owner_client.request(Method::POST, "/api/brands").json(&json!({ "name": format!("Brand {number}") }));
        let sent = keyed(request, &format!("key-{number}")).send().await;
        if let Ok(response) = sent {
            let (status, headers) = (response.status(), response.headers().clone());
            if let Ok(text) = response.text().await
                && status != 409
            {
                return Answer { status, headers, text };
            }
        }
        retry_until!(until, every Duration::from_millis(200), "no answer for brand {number}");
    }
}

database_tests! {
    async fn a_killed_process_does_nothing_twice(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let mut process = environment.serve().await;
        let owner_client = OwnerClient::sign_in(&environment, environment.create_project("owner")).await;
        let mut answered = Vec::new();
        for round in 0..3 {
            let numbers = round * BRANDS / 3..(round + 1) * BRANDS / 3;
            let asking = numbers.clone().map(|number| {
                let owner_client = owner_client.clone();
                tokio::spawn(async move { (number, retry_until_answered(&owner_client, number).await) })
            });
            let asking: Vec<_> = asking.collect();
            // Before, during or after processing, and before or about when responses are stored.
            TestRng::new(0).rest(u64::from(3 + 12 * round), 0).await;
            process.kill();
            process = environment.serve().await;
            for asked in asking {
                answered.push(asked.await.unwrap());
            }
        }
        let mut ids = BTreeSet::new();
        for (number, first) in answered {
            let body = first.expect(201);
            ids.insert(body["brand"]["id"].as_i64().unwrap());
            let again = retry_until_answered(&owner_client, number).await;
            assert_eq!((again.expect(201), is_replayed(&again)), (body, true));
        }
        assert_eq!(ids.len(), usize::try_from(BRANDS).unwrap());
        assert_eq!(environment.number("SELECT count(*) AS id FROM brands").await, i64::from(BRANDS));
        drop(process);
    }
}
