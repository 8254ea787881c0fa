//! Configuration of a sandbox, and its state, shared by all its services.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{AdjustableClock, Clock};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::acquirer::Acquirer;
use crate::acquirer::notifications::Job;
use crate::faults::Faults;
use crate::ids::{Entropy, IdGenerator, system_entropy};
use crate::messages::Messages;
use crate::server::Traveller;
use crate::storage::Storage;
use crate::telephony::{Checks, Push, Pushes};
use crate::webhook_receiver::Hooks;

/// Configuration of a sandbox. [`SandboxConfig::new`] returns working values for development and tests.
#[derive(Clone)]
pub struct SandboxConfig {
    /// HTTP address; port 0 takes a free port.
    pub bind: SocketAddr,
    /// Address of the mailbox; port 0 takes a free port.
    pub smtp_bind: SocketAddr,
    /// The URL under which browsers and services reach the sandbox, without a trailing slash. By default the bound
    /// address.
    pub public_url: Option<String>,
    /// Clock of every emulated provider.
    pub clock: Arc<dyn Clock>,
    /// Clock that `POST /control/clock` moves. Without it that call answers 409.
    pub adjustable_clock: Option<Arc<AdjustableClock>>,
    /// User name of the acquirer's Basic authentication.
    pub shop_id: String,
    /// Password of the acquirer's Basic authentication.
    pub secret_key: String,
    /// `true` if the shop may save payment methods for later charges.
    pub saving_allowed: bool,
    /// URLs of the acquirer's notifications.
    pub notification_urls: Vec<String>,
    /// Multiplier of the pauses between redeliveries of a notification. The pauses are measured by [`Self::clock`].
    pub redelivery_scale: f64,
    /// Key of the telephony provider.
    pub telephony_api_id: String,
    /// Key of the provider of suggestions.
    pub suggest_api_key: String,
    /// Name of the bucket under `/s3`.
    pub bucket: String,
    /// Region the bucket's requests are signed for.
    pub bucket_region: String,
    /// Access key of the bucket.
    pub bucket_access_key: String,
    /// Secret key the bucket's requests are signed with.
    pub bucket_secret_key: String,
    /// Maximum number of payments, refunds, messages and deliveries kept, each.
    pub capacity: usize,
    /// Number of threads that serve HTTP.
    pub workers: usize,
    /// Source of identifiers and codes.
    pub entropy: Entropy,
}

impl SandboxConfig {
    /// A sandbox on free loopback ports, whose clock cannot be moved over HTTP.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            bind: free,
            smtp_bind: free,
            public_url: None,
            clock,
            adjustable_clock: None,
            shop_id: "100500".to_owned(),
            secret_key: "test_sandbox_secret_key".to_owned(),
            saving_allowed: true,
            notification_urls: Vec::new(),
            redelivery_scale: 1.0,
            telephony_api_id: "sandbox-api-id".to_owned(),
            suggest_api_key: "sandbox-suggest-key".to_owned(),
            bucket: "kontor".to_owned(),
            bucket_region: "us-east-1".to_owned(),
            bucket_access_key: "sandbox-access-key".to_owned(),
            bucket_secret_key: "sandbox-secret-key".to_owned(),
            capacity: 10_000,
            workers: 2,
            entropy: system_entropy(),
        }
    }

    /// A sandbox on free loopback ports, whose clock `POST /control/clock` moves.
    pub fn with_adjustable_clock(clock: Arc<AdjustableClock>) -> Self {
        Self { adjustable_clock: Some(Arc::clone(&clock)), ..Self::new(clock) }
    }
}

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
