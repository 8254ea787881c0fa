//! Lock between the worker and a component that moves time.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio_util::sync::CancellationToken;

/// Time-dependent steps of the worker share the lock; moving the time takes it exclusively.
#[derive(Clone, Default)]
pub struct TimeLock(Arc<RwLock<()>>);

impl TimeLock {
    /// Takes the shared lock for a step. Returns `None` if `stop` is cancelled before.
    pub(super) async fn step(&self, stop: &CancellationToken) -> Option<OwnedRwLockReadGuard<()>> {
        tokio::select! {
            turn = self.0.clone().read_owned() => Some(turn),
            () = stop.cancelled() => None,
        }
    }

    /// Takes the exclusive lock for moving the time: no step is running, and none begins.
    pub async fn alone(&self) -> OwnedRwLockWriteGuard<()> {
        self.0.clone().write_owned().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn steps_share_the_lock_and_time_travel_is_exclusive() {
        let (turns, stop) = (TimeLock::default(), CancellationToken::new());
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
