//! The acquirer: the YooKassa API v3 of one shop, its payment page and its notifications.

pub mod api;
mod idempotence;
mod ledger;
mod method;
pub mod notifications;
mod order;
pub mod page;
mod payment;
mod receipt;
mod view;

pub use idempotence::note_unserved;
pub use ledger::{Ledger, Object, Shop};
pub use method::{CardNumber, DECLINE_REASONS, Ending, Kind, SavedMethod, Script, Step, decline_reason};
pub use order::is_web_url;
pub use page::{Act, ActError, Means};
pub use payment::{Canceled, Party, RefundStatus, Verdict};
pub use receipt::Registration;

use std::sync::{Arc, Mutex};

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};
use tokio::sync::mpsc::UnboundedSender;

use crate::state::{IdGenerator, SandboxConfig, SandboxState, lock};
use api::Refusal;
use idempotence::ChargeLog;
use notifications::{Job, Notifier, PendingNotifications};

/// The acquirer's state.
pub struct Acquirer {
    pub shop: Arc<Shop>,
    ledger: Mutex<Ledger>,
    pub notifier: Notifier,
    pub charges: ChargeLog,
}

impl Acquirer {
    pub fn new(config: &SandboxConfig, url: &str, chance: Arc<IdGenerator>, outbox: UnboundedSender<Job>) -> Self {
        let shop = Arc::new(Shop {
            id: config.shop_id.clone(),
            gateway_id: "100700",
            secret_key: config.secret_key.clone(),
            test: config.secret_key.starts_with("test_"),
            saving_allowed: config.saving_allowed,
            url: url.to_owned(),
        });
        Self {
            ledger: Mutex::new(Ledger::new(Arc::clone(&shop), chance, config.capacity)),
            shop,
            notifier: Notifier::new(config, outbox),
            charges: ChargeLog::new(config.capacity),
        }
    }
}

impl SandboxState {
    /// Runs `work` on the acquirer's state at the current time, then sends the notifications it caused.
    pub fn with_ledger<R>(&self, work: impl FnOnce(&mut Ledger, DateTime<Utc>) -> R) -> R {
        self.with_ledger_and_notifications(work).0
    }

    /// Also returns the notifications to send before the response.
    fn with_ledger_and_notifications<R>(
        &self,
        work: impl FnOnce(&mut Ledger, DateTime<Utc>) -> R,
    ) -> (R, PendingNotifications) {
        let now = self.now();
        let (before, result, events) = {
            let mut ledger = lock(&self.acquirer.ledger);
            ledger.expire_due(now);
            let before = ledger.take_events();
            let result = work(&mut ledger, now);
            // The work may have created an object that is due at once.
            ledger.expire_due(now);
            (before, result, ledger.take_events())
        };
        self.acquirer.notifier.announce(before, &self.faults);
        (result, self.acquirer.notifier.announce(events, &self.faults))
    }
}

/// Returns the response to a call hit by an `http_500` fault.
pub fn internal_error(sandbox_state: &SandboxState) -> HttpResponse {
    Refusal::internal().answer(&sandbox_state.chance)
}

/// Returns the response to a call hit by a `refuse` fault.
pub fn forbidden(sandbox_state: &SandboxState) -> HttpResponse {
    Refusal::forbidden("The shop is not allowed to perform this operation").answer(&sandbox_state.chance)
}
