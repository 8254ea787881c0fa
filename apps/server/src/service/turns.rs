//! Whose turn it is: the worker's, or that of somebody who moves time.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio_util::sync::CancellationToken;

/// Steps of the worker that depend on the time share it; whoever moves the time has it alone.
#[derive(Clone, Default)]
pub struct Turns(Arc<RwLock<()>>);

impl Turns {
    /// For a step at the time that it is. `None` when told to stop before.
    pub(super) async fn step(&self, stop: &CancellationToken) -> Option<OwnedRwLockReadGuard<()>> {
        tokio::select! {
            turn = self.0.clone().read_owned() => Some(turn),
            () = stop.cancelled() => None,
        }
    }

    /// For moving the time: no step is under way, and none begins.
    pub async fn alone(&self) -> OwnedRwLockWriteGuard<()> {
        self.0.clone().write_owned().await
    }
}
