//! Contract of the ports of webhooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_kernel::AppScope;
use kontor_webhooks::testing::contract::{self, Fixture};

use crate::catalog::records;
use crate::fixtures::{self, EmptyDatabase};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn app(&self) -> AppScope {
        let project_id = fixtures::project(self.0).await;
        let branch = records::branch(self.0, project_id).await;
        let application_id = records::application(self.0, project_id, branch, "Shop").await;
        AppScope { project_id, application_id, wholesale: false }
    }

    async fn events(&self, app: AppScope, count: u32) {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        for _ in 0..count {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let statement = format!(
                "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) VALUES \
                 ('00000000-0000-4000-8000-{number:012}', {}, {}, 'order.paid', '{{}}', '2026-01-01 00:00:00')",
                app.project_id, app.application_id
            );
            records::execute(self.0, statement).await;
        }
    }
}

promises! {
    EmptyDatabase:
    an_event_is_fanned_out_once
    a_delivery_has_one_lease
    an_expired_lease_passes_on
    a_stopped_worker_releases_its_leases
    an_inactive_webhook_gets_nothing
    an_endpoint_without_answer_is_paused
    attempts_that_time_out_together_count_once
    a_delivery_is_resent_once
    an_application_has_limited_webhooks
    a_webhook_stays_in_its_application
    a_new_secret_signs_the_next_attempt
    a_test_reaches_an_active_webhook
    the_backlog_is_the_oldest_work
}
