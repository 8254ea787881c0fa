//! Blocking work.

use actix_web::web;

use super::ApiError;

/// Runs blocking work on the thread pool for it.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    web::block(work).await.map_err(|error| ApiError::internal(&error))
}
