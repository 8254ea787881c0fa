//! The clock of a sandbox with a `TimeTravel`.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AdjustableClock, Clock as _};
use kontor_sandbox::{Outside as Happening, TimeTravel};
use serde_json::{Value, json};

use crate::support::{Outside, id, order, outside};

/// Advances from event to event of the sandbox.
struct Walker {
    clock: Arc<AdjustableClock>,
}

#[async_trait]
impl TimeTravel for Walker {
    async fn travel(&self, to: DateTime<Utc>, dry_run: bool, outside: &dyn Happening) -> Result<Value, String> {
        if dry_run {
            return Err("nobody knows".to_owned());
        }
        let _held = self.clock.hold();
        // A notification that is on its way now may be due again later.
        outside.settle().await;
        let (mut moments, mut busy) = (Vec::new(), Vec::new());
        while let Some(next) = outside.next_moment().filter(|next| *next <= to) {
            self.clock.advance_to(next);
            busy.push(outside.settle().await);
            moments.push(next.to_rfc3339());
        }
        self.clock.advance_to(to);
        Ok(json!({ "now": self.clock.now(), "moments": moments, "busy": busy }))
    }
}

async fn walking() -> (Outside, String) {
    let outside = outside().await;
    outside.handle.set_time_travel(Arc::new(Walker { clock: Arc::clone(&outside.clock) }));
    let (hook, url) = outside.hook(json!({ "status": 500, "times": 1 })).await;
    outside.handle.set_notification_url(url);
    (outside, hook)
}

#[tokio::test]
async fn the_answer_comes_when_everything_has_happened() {
    let (outside, hook) = walking().await;
    let paid = outside.paid("first", json!({ "save_payment_method": true })).await;
    let script = json!({ "steps": [{ "outcome": "pending", "after_seconds": 3_600, "then": "succeed" }] });
    outside.post(&format!("/control/payment_methods/{}/script", id(&paid)), script).await;
    // The shop did not accept the notification of the first payment. It is sent again after ten seconds.
    outside.deliveries(&hook, 1).await;
    let body = order(json!({ "payment_method_id": id(&paid), "confirmation": null }));
    let (_, pending) = outside.acquire("/payments", "second", Some(body)).await;
    assert_eq!(pending["status"], "pending");
    let (status, reported) = outside.post("/control/clock", json!({ "advance_seconds": 86_400 })).await;
    assert_eq!((status, &reported["now"]), (200, &json!("2031-05-07T07:08:09Z")), "{reported}");
    assert_eq!(reported["moments"], json!(["2031-05-06T07:08:19+00:00", "2031-05-06T08:08:09+00:00"]), "{reported}");
    assert_eq!(reported["busy"], json!([true, true]));
    let deliveries = outside.deliveries(&hook, 0).await;
    assert_eq!(deliveries.len(), 3, "nobody waits for it: {deliveries:?}");
    assert_eq!(outside.look(&format!("/payments/{}", id(&pending))).await.1["status"], "succeeded");
}

#[tokio::test]
async fn a_stopped_clock_reports_its_reason() {
    let (outside, _) = walking().await;
    let (status, answer) = outside.post("/control/clock", json!({ "advance_seconds": 1, "dry_run": true })).await;
    assert_eq!((status, answer["message"].as_str()), (409, Some("nobody knows")));
    let (status, _) = outside.post("/control/clock", json!({ "advance_to": "2031-05-06T07:08:08Z" })).await;
    assert_eq!(status, 422);
    assert_eq!(outside.get("/control/clock").await.1["offset_seconds"], 0);
}
