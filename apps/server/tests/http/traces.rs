//! Traces of requests, with the hooks of the sandbox as the collector.

use std::time::Instant;

use kontor_adapter_diesel::{database_tests, retry_until};
use serde_json::{Value, json};

use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::send;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

database_tests! {
    async fn a_request_is_a_span_of_the_trace_of_its_caller(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let hook = send(environment.http.post(format!("{}/control/hooks", environment.sandbox.url())).json(&json!({}))).await.expect(201);
        let url = hook["url"].as_str().unwrap().to_owned();
        let mut settings = vec![("KONTOR_TRACES_URL", url), ("KONTOR_TRACES_PERCENT", "0".to_owned())];
        let get = || environment.http.get(format!("{}/healthz", environment.url()));
        let traced = || get().header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));

        // A caller that is not trusted has a trace, and cannot demand its export. The end exports the spans that wait.
        let mut process = environment.spawn_with(&["serve"], &settings);
        environment.ready(&mut process).await;
        assert_eq!(traced().send().await.unwrap().status(), 200);
        process.terminate();
        assert!(process.ended().await.success());

        settings.push(("KONTOR_TRUSTED_PROXIES", "127.0.0.1".to_owned()));
        let mut process = environment.spawn_with(&["serve"], &settings);
        environment.ready(&mut process).await;
        assert_eq!(get().send().await.unwrap().status(), 200);
        let traced = traced().send().await.unwrap();
        let id = traced.headers()["x-request-id"].to_str().unwrap().replace('-', "");
        let until = Instant::now() + PATIENCE;
        let path = format!("/hooks/{}", hook["id"].as_str().unwrap());
        let exported = loop {
            let deliveries = environment.control(&path).await["deliveries"].clone();
            if let Some(delivery) = deliveries.as_array().unwrap().first() {
                break delivery["body"].as_str().unwrap().to_owned();
            }
            retry_until!(until, "no span was exported:\n{}", environment.log());
        };
        let exported: Value = serde_json::from_str(&exported).unwrap();
        let spans = exported["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        assert_eq!(spans.len(), 1, "{spans:?}");
        assert_eq!((&spans[0]["traceId"], &spans[0]["name"]), (&json!(TRACE), &json!("GET /healthz")));
        assert_eq!(spans[0]["parentSpanId"], "00f067aa0ba902b7");
        assert_eq!(spans[0]["spanId"], json!(id[..16]));
        let traced = format!("\"trace_id\":\"{TRACE}\"");
        assert!(environment.log().lines().any(|line| line.contains(&traced) && line.contains("\"route\":\"/healthz\"")));
        process.terminate();
        assert!(process.ended().await.success());
    }
}
