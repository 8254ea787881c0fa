//! Idempotency keys when the process is killed: each request is carried out once, whenever the process died.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, look_again};
use reqwest::Method;
use serde_json::json;

use crate::crash::dice::Dice;
use crate::desk::Desk;
use crate::keyed::{is_replayed, keyed};
use crate::process::{PATIENCE, Site};
use crate::support::Answer;

const BRANDS: u32 = 12;

/// Sends a new brand with its key until there is a response. Waits while the request is in progress.
async fn insist(desk: &Desk, number: u32) -> Answer {
    let until = Instant::now() + PATIENCE;
    loop {
        let request = desk.request(Method::POST, "/api/brands").json(&json!({ "name": format!("Brand {number}") }));
        let sent = keyed(request, &format!("key-{number}")).send().await;
        if let Ok(response) = sent {
            let (status, headers) = (response.status(), response.headers().clone());
            if let Ok(text) = response.text().await
                && status != 409
            {
                return Answer { status, headers, text };
            }
        }
        look_again!(until, every Duration::from_millis(200), "no answer for brand {number}");
    }
}

database_tests! {
    async fn a_killed_process_does_nothing_twice(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let mut process = site.serve().await;
        let desk = Desk::sign_in(&site, site.create_project("owner")).await;
        let mut answered = Vec::new();
        for round in 0..3 {
            let numbers = round * BRANDS / 3..(round + 1) * BRANDS / 3;
            let asking = numbers.clone().map(|number| {
                let desk = desk.clone();
                tokio::spawn(async move { (number, insist(&desk, number).await) })
            });
            let asking: Vec<_> = asking.collect();
            // Before, during or after processing, and before or about when responses are stored.
            Dice::new(0).rest(u64::from(3 + 12 * round), 0).await;
            process.kill();
            process = site.serve().await;
            for asked in asking {
                answered.push(asked.await.unwrap());
            }
        }
        let mut ids = BTreeSet::new();
        for (number, first) in answered {
            let body = first.expect(201);
            ids.insert(body["brand"]["id"].as_i64().unwrap());
            let again = insist(&desk, number).await;
            assert_eq!((again.expect(201), is_replayed(&again)), (body, true));
        }
        assert_eq!(ids.len(), usize::try_from(BRANDS).unwrap());
        assert_eq!(site.number("SELECT count(*) AS id FROM brands").await, i64::from(BRANDS));
        drop(process);
    }
}
