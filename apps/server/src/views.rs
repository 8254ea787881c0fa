//! Views of products, stored every few seconds instead of with every request.

use std::sync::Arc;
use std::time::Duration;

use kontor_catalog::storefront::StorefrontService;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a view may wait to be stored.
const WAIT: Duration = Duration::from_secs(5);

/// Stores the views of this process in the background.
pub struct StoredViews {
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl StoredViews {
    /// Starts storing.
    pub fn start(storefront: Arc<StorefrontService>) -> Self {
        let stop = CancellationToken::new();
        let running = tokio::spawn(run(storefront, stop.clone()));
        Self { stop, running }
    }

    /// Stores what is left, ends.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.running.await {
            tracing::warn!(%error, "views were not stored to the end");
        }
    }
}

async fn run(storefront: Arc<StorefrontService>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            () = tokio::time::sleep(WAIT) => {}
            () = stop.cancelled() => {}
        }
        if let Err(error) = storefront.store_views().await {
            tracing::warn!(%error, "views could not be stored; they are kept");
        }
    }
}
