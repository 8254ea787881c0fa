//! Work that blocks.

use actix_web::web;

use super::ApiError;

/// Runs work that blocks where blocking is allowed.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    web::block(work).await.map_err(|error| ApiError::internal(&error))
}
