//! What a step of a duty is told, and how it pauses.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::service::supervision::sleep;

/// How long a duty with nothing to do waits before it looks again.
pub(super) const IDLE: Duration = Duration::from_millis(200);

/// Why a step failed. The log has it; the duty goes on.
pub(super) type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Whose step it is.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    /// Which of those that run at once, from 0.
    pub slot: u32,
    /// How many steps it has made, this one included.
    pub round: u64,
    /// Names this step in leases, unlike all others. They are renewed while it runs.
    pub owner: &'a str,
    /// Told when the worker is to end.
    pub stop: &'a CancellationToken,
}

/// How long free slots of deliveries wait before they look again.
pub(super) async fn pause(stop: &CancellationToken) {
    sleep(IDLE, stop).await;
}
