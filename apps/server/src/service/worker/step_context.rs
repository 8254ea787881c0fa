//! Context of a step, and its pauses.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::service::supervision::sleep;

/// Pause of a duty without work before it polls again.
pub(super) const IDLE: Duration = Duration::from_millis(200);

/// Error of a failed step. It is logged, and the duty continues.
pub(super) type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Context of a step.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    /// Index among the concurrent steps, from 0.
    pub slot: u32,
    /// Number of steps so far, including this one.
    pub round: u64,
    /// Unique name of this step in leases, which are renewed while it runs.
    pub owner: &'a str,
    /// Cancelled when the worker must end.
    pub stop: &'a CancellationToken,
}

/// Pauses a free delivery slot before it polls again.
pub(super) async fn pause(stop: &CancellationToken) {
    sleep(IDLE, stop).await;
}
