//! The state of one running sandbox, shared by all its services.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{AdjustableClock, Clock};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::acquirer::Acquirer;
use crate::acquirer::notifications::Job;
use crate::config::SandboxConfig;
use crate::faults::Faults;
use crate::ids::IdGenerator;
use crate::messages::Messages;
use crate::server::Traveller;
use crate::storage::Storage;
use crate::telephony::{Checks, Push, Pushes};
use crate::webhook_receiver::Hooks;

/// State that the services of one sandbox share.
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub adjustable_clock: Option<Arc<AdjustableClock>>,
    pub traveller: Traveller,
    pub chance: Arc<IdGenerator>,
    /// URL of the sandbox, without a trailing slash.
    pub url: String,
    pub faults: Faults,
    pub acquirer: Acquirer,
    pub telephony_api_id: String,
    pub suggest_api_key: String,
    pub checks: Checks,
    pub pushes: Pushes,
    pub messages: Messages,
    pub hooks: Hooks,
    pub storage: Storage,
    /// Cancelled when the sandbox stops.
    pub stopping: CancellationToken,
}

impl World {
    pub fn new(
        config: &SandboxConfig,
        url: String,
        (outbox, pushes): (UnboundedSender<Job>, UnboundedSender<Push>),
        stopping: CancellationToken,
    ) -> Self {
        let chance = Arc::new(IdGenerator::new(Arc::clone(&config.entropy)));
        Self {
            clock: Arc::clone(&config.clock),
            adjustable_clock: config.adjustable_clock.clone(),
            traveller: Traveller::default(),
            acquirer: Acquirer::new(config, &url, Arc::clone(&chance), outbox),
            chance,
            url,
            faults: Faults::default(),
            telephony_api_id: config.telephony_api_id.clone(),
            suggest_api_key: config.suggest_api_key.clone(),
            checks: Checks::new(config.capacity),
            pushes: Pushes::new(pushes),
            messages: Messages::new(config.capacity),
            hooks: Hooks::new(config.capacity),
            storage: Storage::new(config),
            stopping,
        }
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Waits in real time, or until the sandbox stops.
    pub async fn pause(&self, duration: Duration) {
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.stopping.cancelled() => {}
        }
    }
}

/// Locks a mutex. After a panic elsewhere the data is plain and stays usable.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Formats a time for the wire: ISO 8601, UTC, milliseconds.
pub fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
