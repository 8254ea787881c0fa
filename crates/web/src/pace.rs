//! Minimum pace of a request body. A late body ends with an error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::error::PayloadError;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep_until};

/// Minimum rate after a grace period, and a time limit for the whole body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time before the minimum rate applies.
    pub grace: Duration,
    /// Minimum rate after the grace period, in bytes per second.
    pub bytes_per_second: u32,
    /// Maximum time for the whole body.
    pub whole: Duration,
}

impl Pace {
    /// Pace of files, which are written to disk as they arrive.
    pub const FILES: Self =
        Self { grace: Duration::from_secs(30), bytes_per_second: 4 * 1024, whole: Duration::from_hours(2) };

    /// Returns the pace of a body that is read into memory.
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
pub struct PacedBody<S> {
    body: S,
    pace: Pace,
    began: Instant,
    received: u64,
    /// Set when the reader has to wait for the first time: most bodies never need it.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S> PacedBody<S> {
    /// Starts the clock of the body.
    pub fn new(body: S, pace: Pace) -> Self {
        Self { body, pace, began: Instant::now(), received: 0, alarm: None }
    }
}

impl<S: Stream<Item = Result<Bytes, PayloadError>> + Unpin> Stream for PacedBody<S> {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let next = this.body.poll_next_unpin(context);
        let due = this.began + this.pace.allows(this.received);
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    fn pace(grace: u64, whole: u64) -> Pace {
        Pace { grace: Duration::from_millis(grace), bytes_per_second: 1_000, whole: Duration::from_millis(whole) }
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
        pace: Pace,
        body: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    ) -> (usize, Duration) {
        let (began, mut body, mut pieces) = (Instant::now(), PacedBody::new(body, pace), 0);
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
    fn what_has_come_earns_time_up_to_the_limit_of_the_whole() {
        let pace = Pace::in_memory(Duration::from_mins(1));
        assert_eq!([0, 1_023, 10 * 1024, 1 << 20].map(|bytes| pace.allows(bytes).as_secs()), [10, 10, 20, 60]);
        assert_eq!(Pace::in_memory(Duration::from_secs(2)).allows(1 << 20).as_secs(), 2);
        assert_eq!(Pace::FILES.allows(1 << 20).as_secs(), 30 + 256);
        assert_eq!(Pace::FILES.allows(1 << 30), Pace::FILES.whole);
    }

    #[tokio::test]
    async fn a_body_that_stops_is_late_after_its_grace() {
        let (pieces, after) = until_late(pace(100, 10_000), trickle(1, 10, 0)).await;
        assert_eq!(pieces, 1);
        assert!(after >= Duration::from_millis(100) && after < Duration::from_secs(5), "{after:?}");
    }

    #[tokio::test]
    async fn a_body_that_drips_is_late_after_the_limit_of_the_whole() {
        let (pieces, after) = until_late(pace(100, 300), trickle(1_000, 1_000, 10)).await;
        assert!(pieces > 0, "each piece earns a second");
        assert!(after >= Duration::from_millis(300) && after < Duration::from_secs(5), "{after:?}");
    }

    #[tokio::test]
    async fn a_body_in_time_comes_whole() {
        let body = stream::iter([Ok(Bytes::from_static(b"a")), Ok(Bytes::from_static(b"b"))]);
        let read: Vec<_> = PacedBody::new(body, pace(1_000, 1_000)).collect().await;
        assert_eq!(read.into_iter().map(Result::unwrap).collect::<Vec<_>>().concat(), b"ab");
    }
}
