//! Runs one future while another one is paused before a statement.

use std::future::Future;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::testing::{Checkpoint, pause};

/// Maximum wait for a future that waits for something other than a lock, such as a request of the paused one.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time after which a meeting counts as hanging.
const LIMIT: Duration = Duration::from_mins(1);

/// Result of a meeting.
pub struct Met<A, B> {
    pub first: A,
    pub second: B,
    /// Statement before which the first future was paused; `None` when it ended before.
    pub paused_before: Option<String>,
    /// `true` if the second future had to wait for the first one.
    pub waited: bool,
}

/// Polls a future until it ends (`Some`) or there is a reason to stop.
async fn until<F: Future>(mut future: Pin<&mut F>, mut stop: impl FnMut() -> bool) -> Option<F::Output> {
    loop {
        tokio::select! {
            biased;
            output = &mut future => return Some(output),
            () = pause(Duration::from_millis(1)) => {}
        }
        if stop() {
            return None;
        }
    }
}

async fn rest<F: Future>(future: Pin<&mut F>, output: Option<F::Output>) -> F::Output {
    match output {
        Some(output) => output,
        None => future.await,
    }
}

/// Runs the first future up to the statement with this number of its database, and then the second one to its end. If
/// the second one has to wait, the first one first completes its transaction, and later the rest.
pub async fn meet<A, B>(
    checkpoint: &mut Checkpoint,
    database: &Database,
    at: usize,
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> Met<A, B> {
    let pauses = database.pauses();
    pauses.arm(Some(at));
    let (mut first, mut second) = (pin!(first), pin!(second));
    let early = until(first.as_mut(), || pauses.waiting().is_some()).await;
    let paused_before = pauses.waiting();
    let began = Instant::now();
    let late = until(second.as_mut(), || checkpoint.is_blocked() || began.elapsed() > PATIENCE).await;
    let waited = late.is_none();
    let (mut early, mut late) = (early, late);
    if waited {
        pauses.resume_until_begin();
        let began = Instant::now();
        while late.is_none() && began.elapsed() < PATIENCE {
            tokio::select! {
                biased;
                output = &mut second => late = Some(output),
                output = &mut first, if early.is_none() => early = Some(output),
                () = pause(Duration::from_millis(1)) => {}
            }
        }
    }
    pauses.resume();
    let both = async { tokio::join!(rest(first, early), rest(second, late)) };
    let ended = tokio::time::timeout(LIMIT, both).await;
    let (first, second) = ended.unwrap_or_else(|_| panic!("both wait for ever, one paused before {paused_before:?}"));
    Met { first, second, paused_before, waited }
}
