//! Background writes of data that requests only buffer: views of products and content pages, searches, uses of tokens.
//! They are stored in batches every few seconds, replayable responses sooner. The same task sorts measured times into
//! their histogram buckets.
//!
//! Freed memory is returned to the operating system: memory needed only at the start, and memory left by a flood of
//! large requests. The allocator does it only when it is busy again later. Building the routes and the API description
//! takes several times the memory that stays in use. An idle service would keep all of it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use kontor_auth::{CustomerGuard, StaffGuard};
use kontor_catalog::storefront::{SearchHistory, StorefrontService};
use kontor_content::PageViewer;
use kontor_web::idempotency::IdempotencyStore;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::supervision::{Supervised, Supervisor, sleep};

/// Maximum delay of a write.
const WAIT: Duration = Duration::from_secs(5);
/// Maximum delay of a response. If the process dies before, only the effect of the request is stored.
const ANSWERS_WAIT: Duration = Duration::from_millis(250);

/// Buffers that requests write to.
pub struct BufferedWrites {
    /// Views of products.
    pub storefront: Arc<StorefrontService>,
    /// Views of content pages.
    pub pages: Arc<PageViewer>,
    /// Searches of customers.
    pub searches: Arc<SearchHistory>,
    /// Uses of employees' tokens.
    pub staff: Arc<StaffGuard>,
    /// Uses of customers' tokens.
    pub customers: Arc<CustomerGuard>,
    /// Responses to requests with idempotency keys.
    pub answers: Arc<IdempotencyStore>,
}

/// Task that stores the buffers.
pub struct BackgroundWriter {
    stop: CancellationToken,
    running: [JoinHandle<()>; 2],
}

impl BackgroundWriter {
    /// Starts the background writes.
    pub fn start(left: BufferedWrites, metrics: PrometheusHandle, supervisor: &Supervisor) -> Self {
        let stop = CancellationToken::new();
        let answers = keep_answers(Arc::clone(&left.answers), supervisor.task("answers"), stop.clone());
        let others = run(left, metrics, supervisor.task("buffered_writes"), stop.clone());
        let (answers, others) = (tokio::spawn(answers), tokio::spawn(others));
        Self { stop, running: [answers, others] }
    }

    /// Stores the remaining data and stops.
    pub async fn stop(self) {
        self.stop.cancel();
        for running in self.running {
            if let Err(error) = running.await {
                tracing::warn!(%error, "not all buffered writes were stored");
            }
        }
    }
}

async fn keep_answers(answers: Arc<IdempotencyStore>, mut supervised: Supervised, stop: CancellationToken) {
    let mut pause = ANSWERS_WAIT;
    loop {
        sleep(pause, &stop).await;
        // The last round begins after the stop signal, so it stores everything buffered before.
        let is_last = stop.is_cancelled();
        let round = async {
            if let Err(error) = answers.store().await {
                tracing::warn!(%error, "responses could not be stored; they stay buffered");
            }
        };
        pause = supervised.round(round).await.err().unwrap_or(ANSWERS_WAIT);
        if is_last {
            return;
        }
    }
}

async fn run(left: BufferedWrites, metrics: PrometheusHandle, mut supervised: Supervised, stop: CancellationToken) {
    let mut pause = WAIT;
    loop {
        sleep(pause, &stop).await;
        let is_last = stop.is_cancelled();
        pause = supervised.round(store(&left, &metrics)).await.err().unwrap_or(WAIT);
        if is_last {
            return;
        }
    }
}

async fn store(left: &BufferedWrites, metrics: &PrometheusHandle) {
    // Measured times stay in memory until they are sorted into buckets here or read.
    metrics.run_upkeep();
    release_freed_memory();
    let stored = [
        ("views", left.storefront.store_views().await),
        ("views of pages", left.pages.store_views().await),
        ("searches", left.searches.store().await),
        ("uses of staff tokens", left.staff.store_uses().await),
        ("uses of customer tokens", left.customers.store_uses().await),
    ];
    for (what, outcome) in stored {
        if let Err(error) = outcome {
            tracing::warn!(%error, what, "could not be stored; it stays buffered");
        }
    }
}

/// Longer than the allocator waits before it releases an unused block.
const LATER: Duration = Duration::from_secs(1);
/// Size of a block that is not part of a pool. Nothing is written to it, so it occupies no memory.
const BLOCK: usize = 64 << 20;

/// Makes the allocator release unused memory once.
fn release_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK)));
}

/// Releases unused memory after the start.
pub async fn release_startup_memory() {
    tokio::time::sleep(LATER).await;
    release_freed_memory();
}
