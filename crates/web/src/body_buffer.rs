//! Reads the request body into memory before the handler runs, within limits of size, time, rate and memory. A late
//! body ends with an error. If the body is unread when the response is sent, the connection is closed.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep_until};

use super::ApiError;
use super::body_budget::{BodyBudget, BodyShare};
use crate::Settings;

/// Maximum time of a body that counts as immediate. During a longer transfer the caller may lose their rights.
const IMMEDIATE_BODY_TIME: Duration = Duration::from_millis(20);
/// Time after which a client whose body was displaced may send it again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits of request bodies.
pub struct BodyReader {
    limit: usize,
    time_limits: BodyTimeLimits,
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
        let time_limits = BodyTimeLimits::in_memory(Duration::from_secs(config.body_seconds.into()));
        Self { limit: config.body_limit, time_limits, budget: BodyBudget::new(memory) }
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
        let body =
            self.read(TimeLimitedBody::new(payload, self.time_limits), announced.unwrap_or_default(), &share).await?;
        request.set_payload(Payload::from(body));
        Ok(Some(ReadBody { came_at_once: began.elapsed() < IMMEDIATE_BODY_TIME, share: share.complete() }))
    }

    async fn read(
        &self,
        mut payload: TimeLimitedBody<Payload>,
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

/// Minimum rate after a grace period, and time limit for the whole body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyTimeLimits {
    /// Time before the minimum rate applies.
    pub grace: Duration,
    /// Minimum rate after the grace period, in bytes per second.
    pub bytes_per_second: u32,
    /// Maximum time for the whole body.
    pub whole: Duration,
}

impl BodyTimeLimits {
    /// Limits of files, which are written to disk as they arrive.
    pub const FILES: Self =
        Self { grace: Duration::from_secs(30), bytes_per_second: 4 * 1024, whole: Duration::from_hours(2) };

    /// Returns the limits of a body that is read into memory.
    pub const fn in_memory(whole: Duration) -> Self {
        let grace = Duration::from_secs(10);
        Self { grace: if whole.as_secs() < grace.as_secs() { whole } else { grace }, bytes_per_second: 1024, whole }
    }

    /// Returns the time since the start by which the next bytes must arrive after `received` bytes.
    fn allows(self, received: u64) -> Duration {
        let earned = Duration::from_secs(received / u64::from(self.bytes_per_second.max(1)));
        self.grace.saturating_add(earned).min(self.whole)
    }
}

/// Body that ends with an error of kind `TimedOut` when it is late.
pub struct TimeLimitedBody<S> {
    body: S,
    time_limits: BodyTimeLimits,
    began: Instant,
    received: u64,
    /// Set when the reader has to wait for the first time: most bodies never need it.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S> TimeLimitedBody<S> {
    /// Starts the clock of the body.
    pub fn new(body: S, time_limits: BodyTimeLimits) -> Self {
        Self { body, time_limits, began: Instant::now(), received: 0, alarm: None }
    }
}

impl<S: Stream<Item = Result<Bytes, PayloadError>> + Unpin> Stream for TimeLimitedBody<S> {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let next = this.body.poll_next_unpin(context);
        let due = this.began + this.time_limits.allows(this.received);
        match next {
            // A body can be late even if its reader never waits.
            Poll::Ready(Some(Ok(bytes))) if this.alarm.is_none() || Instant::now() < due => {
                this.received = this.received.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                return Poll::Ready(Some(Ok(bytes)));
            }
            Poll::Ready(Some(Ok(_))) => return Poll::Ready(Some(Err(late()))),
            Poll::Ready(other) => return Poll::Ready(other),
            Poll::Pending => {}
        }
        let alarm = this.alarm.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if alarm.deadline() != due {
            alarm.as_mut().reset(due);
        }
        alarm.as_mut().poll(context).map(|()| Some(Err(late())))
    }
}

fn late() -> PayloadError {
    PayloadError::Io(io::ErrorKind::TimedOut.into())
}

/// Returns `true` if the error means that a body was late.
pub fn is_late(error: &PayloadError) -> bool {
    matches!(error, PayloadError::Io(error) if error.kind() == io::ErrorKind::TimedOut)
}

/// Request body that lives as long as its response.
#[derive(Clone)]
pub struct HeldBody(Rc<RefCell<Payload>>);

impl HeldBody {
    /// Keeps the body of the request, if it is chunked.
    pub fn of(request: &mut ServiceRequest) -> Option<Self> {
        if !request.headers().contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let kept = Self(Rc::new(RefCell::new(request.take_payload())));
        request.set_payload(Payload::Stream { payload: Box::pin(kept.clone()) });
        Some(kept)
    }
}

impl Stream for HeldBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_next_unpin(context)
    }
}

/// Response body that holds the request body until it is sent.
pub struct BodyWithRequest {
    answer: BoxBody,
    _kept: HeldBody,
}

impl MessageBody for BodyWithRequest {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        self.answer.as_pin_mut().poll_next(context)
    }
}

/// Combines a response with the kept request body, if any.
pub fn holding<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
    kept: Option<HeldBody>,
) -> ServiceResponse<EitherBody<B, BodyWithRequest>> {
    match kept {
        None => response.map_into_left_body(),
        Some(kept) => response.map_body(|_, answer| EitherBody::Right {
            body: BodyWithRequest { answer: BoxBody::new(answer), _kept: kept },
        }),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn time_limits(grace: u64, whole: u64) -> BodyTimeLimits {
        BodyTimeLimits {
            grace: Duration::from_millis(grace),
            bytes_per_second: 1_000,
            whole: Duration::from_millis(whole),
        }
    }

    /// Returns chunks of this size, one every `every` milliseconds; the stream stays open after the last.
    fn trickle(pieces: usize, size: usize, every: u64) -> impl Stream<Item = Result<Bytes, PayloadError>> + Unpin {
        let body = stream::iter(0..pieces).then(move |_| async move {
            tokio::time::sleep(Duration::from_millis(every)).await;
            Ok(Bytes::from(vec![b'x'; size]))
        });
        Box::pin(body.chain(stream::pending()))
    }

    /// Returns the number of chunks before the body was late, and the time of the error.
    async fn until_late(
        time_limits: BodyTimeLimits,
        body: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    ) -> (usize, Duration) {
        let (began, mut body, mut pieces) = (Instant::now(), TimeLimitedBody::new(body, time_limits), 0);
        loop {
            match body.next().await.unwrap() {
                Ok(_) => pieces += 1,
                Err(error) => {
                    assert!(is_late(&error), "{error}");
                    return (pieces, began.elapsed());
                }
            }
        }
    }

    #[test]
    fn received_bytes_extend_the_deadline_up_to_the_limit_of_the_whole() {
        let time_limits = BodyTimeLimits::in_memory(Duration::from_mins(1));
        assert_eq!([0, 1_023, 10 * 1024, 1 << 20].map(|bytes| time_limits.allows(bytes).as_secs()), [10, 10, 20, 60]);
        assert_eq!(BodyTimeLimits::in_memory(Duration::from_secs(2)).allows(1 << 20).as_secs(), 2);
        assert_eq!(BodyTimeLimits::FILES.allows(1 << 20).as_secs(), 30 + 256);
        assert_eq!(BodyTimeLimits::FILES.allows(1 << 30), BodyTimeLimits::FILES.whole);
    }

    #[tokio::test]
    async fn a_body_that_stops_is_late_after_its_grace() {
        let (pieces, after) = until_late(time_limits(100, 10_000), trickle(1, 10, 0)).await;
        assert_eq!(pieces, 1);
        assert!(after >= Duration::from_millis(100) && after < Duration::from_secs(5), "{after:?}");
    }

    #[tokio::test]
    async fn a_body_that_drips_is_late_after_the_limit_of_the_whole() {
        let (pieces, after) = until_late(time_limits(100, 300), trickle(1_000, 1_000, 10)).await;
        assert!(pieces > 0, "each piece earns a second");
        assert!(after >= Duration::from_millis(300) && after < Duration::from_secs(5), "{after:?}");
    }

    #[tokio::test]
    async fn a_body_in_time_comes_whole() {
        let body = stream::iter([Ok(Bytes::from_static(b"a")), Ok(Bytes::from_static(b"b"))]);
        let read: Vec<_> = TimeLimitedBody::new(body, time_limits(1_000, 1_000)).collect().await;
        assert_eq!(read.into_iter().map(Result::unwrap).collect::<Vec<_>>().concat(), b"ab");
    }
}
