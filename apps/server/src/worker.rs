//! The worker: everything that happens without a request.

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::Database;
use kontor_kernel::StoreError;

/// When any worker last showed that it lives.
pub async fn last_seen(database: &Database) -> Result<Option<DateTime<Utc>>, StoreError> {
    database.worker_last_seen().await
}
