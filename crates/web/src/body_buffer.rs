//! Reads the request body into memory before the handler runs, within limits of size, time and memory.

use std::time::Duration;

use actix_web::HttpMessage;
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::time::Instant;

use super::ApiError;
use super::body_budget::{BodyBudget, BodyShare};
use super::pace::{Pace, PacedBody, is_late};
use crate::Settings;

/// Maximum time of a body that counts as immediate. During a longer transfer the caller may lose their rights.
const IMMEDIATE_BODY_TIME: Duration = Duration::from_millis(20);
/// Time after which a client whose body was displaced may send it again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits of request bodies.
pub struct BodyReader {
    limit: usize,
    pace: Pace,
    budget: BodyBudget,
}

/// Body that was read.
pub struct ReadBody {
    /// `false` if the caller must authenticate again.
    pub came_at_once: bool,
    /// Share of the memory budget that the body occupies until this is dropped.
    pub share: BodyShare,
}

impl BodyReader {
    /// Creates the configured limits.
    pub fn new(config: &Settings) -> Self {
        let memory = usize::try_from(config.body_memory_mb).unwrap_or(usize::MAX).saturating_mul(1 << 20);
        let pace = Pace::in_memory(Duration::from_secs(config.body_seconds.into()));
        Self { limit: config.body_limit, pace, budget: BodyBudget::new(memory) }
    }

    /// Returns the bytes that bodies occupy now.
    pub fn bytes(&self) -> usize {
        self.budget.bytes()
    }

    /// Reads the body and makes it available to extractors. Returns `None` if the request has no body.
    pub async fn take(&self, request: &mut ServiceRequest) -> Result<Option<ReadBody>, ApiError> {
        let payload = request.take_payload();
        if matches!(payload, Payload::None) {
            return Ok(None);
        }
        let announced = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if announced.is_some_and(|bytes: usize| bytes > self.limit) {
            // Restored, because the connection is closed only if the response finds the body unread.
            request.set_payload(payload);
            return Err(too_large());
        }
        let began = Instant::now();
        let share = self.budget.begin();
        let body = self.read(PacedBody::new(payload, self.pace), announced.unwrap_or_default(), &share).await?;
        request.set_payload(Payload::from(body));
        Ok(Some(ReadBody { came_at_once: began.elapsed() < IMMEDIATE_BODY_TIME, share: share.complete() }))
    }

    async fn read(
        &self,
        mut payload: PacedBody<Payload>,
        announced: usize,
        share: &BodyShare,
    ) -> Result<Bytes, ApiError> {
        let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
        loop {
            let next = tokio::select! {
                biased;
                () = share.evicted() => return Err(ApiError::Overloaded(RETRY_AFTER)),
                next = payload.next() => next,
            };
            let Some(piece) = next else { break };
            let piece = piece.map_err(|error| unreadable(&error))?;
            if first.len() + whole.len() + piece.len() > self.limit {
                return Err(too_large());
            }
            if !share.reserve(piece.len()) {
                return Err(ApiError::Overloaded(RETRY_AFTER));
            }
            if first.is_empty() && whole.is_empty() {
                first = piece;
            } else {
                if whole.is_empty() {
                    // Reserves the announced size at once: each step of growth would leave an unused block behind.
                    whole.reserve(announced);
                }
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&piece);
            }
        }
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }
}

fn too_large() -> ApiError {
    ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.".to_owned())
}

/// Returns `408` for a body that is late.
pub fn too_late() -> ApiError {
    ApiError::Message(StatusCode::REQUEST_TIMEOUT, "The body was not received in time.".to_owned())
}

fn unreadable(error: &PayloadError) -> ApiError {
    if is_late(error) { too_late() } else { ApiError::bad_request("The body could not be read.") }
}
