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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn steps_share_it_and_whoever_moves_time_has_it_alone() {
        let (turns, stop) = (Turns::default(), CancellationToken::new());
        let (one, other) = (turns.step(&stop).await, turns.step(&stop).await);
        assert!(one.is_some() && other.is_some());
        drop(one);
        let soon = Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, turns.alone()).await.is_err(), "a step is under way");
        drop(other);
        let alone = turns.alone().await;
        assert!(tokio::time::timeout(soon, turns.step(&stop)).await.is_err(), "no step begins");
        stop.cancel();
        assert!(turns.step(&stop).await.is_none(), "whoever is to end does not wait");
        drop(alone);
    }
}
