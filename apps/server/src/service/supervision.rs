//! Background tasks that survive a panic: the round is aborted, counted and logged, and the next one follows after a
//! pause.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

/// Pause after the first panic. It doubles with each further panic in a row.
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_mins(1);

/// Background tasks of one instance that panicked and have not completed a round since.
#[derive(Clone, Default)]
pub struct Supervisor(Arc<Mutex<BTreeMap<&'static str, u32>>>);

impl Supervisor {
    /// Returns the names of the tasks that are down.
    pub fn down(&self) -> Vec<&'static str> {
        self.tasks().keys().copied().collect()
    }

    /// Supervises one loop of a task. Several loops may share a name.
    pub fn task(&self, name: &'static str) -> Supervised {
        // Without a first value, an alert on growth would miss the first panic.
        metrics::counter!("kontor_task_panics_total", "task" => name).increment(0);
        Supervised { name, supervisor: self.clone(), panics: 0 }
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<&'static str, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark_down(&self, name: &'static str) {
        *self.tasks().entry(name).or_default() += 1;
    }

    fn mark_up(&self, name: &'static str) {
        let mut tasks = self.tasks();
        match tasks.get_mut(name) {
            Some(loops) if *loops > 1 => *loops -= 1,
            _ => {
                tasks.remove(name);
            }
        }
    }
}

/// Loop of a background task.
pub struct Supervised {
    name: &'static str,
    supervisor: Supervisor,
    /// Number of consecutive panics.
    panics: u32,
}

impl Supervised {
    /// Runs one round. After a panic, `Err` holds the pause before the next round.
    pub async fn round<T>(&mut self, round: impl Future<Output = T>) -> Result<T, Duration> {
        match AssertUnwindSafe(round).catch_unwind().await {
            Ok(done) => {
                self.recover();
                Ok(done)
            }
            Err(panic) => Err(self.panicked(panic.as_ref())),
        }
    }

    fn panicked(&mut self, panic: &(dyn Any + Send)) -> Duration {
        if self.panics == 0 {
            self.supervisor.mark_down(self.name);
        }
        let pause = INITIAL_BACKOFF.saturating_mul(1 << self.panics.min(16)).min(MAX_BACKOFF);
        self.panics = self.panics.saturating_add(1);
        let (task, panics, why) = (self.name, self.panics, text_of(panic));
        metrics::counter!("kontor_task_panics_total", "task" => task).increment(1);
        tracing::error!(task, panics, why, pause_seconds = pause.as_secs(), "a background task panicked; it restarts");
        pause
    }

    fn recover(&mut self) {
        if self.panics > 0 {
            self.supervisor.mark_up(self.name);
            tracing::info!(task = self.name, "a background task recovered");
            self.panics = 0;
        }
    }
}

impl Drop for Supervised {
    /// Removes an ended loop from the tasks that are down.
    fn drop(&mut self) {
        if self.panics > 0 {
            self.supervisor.mark_up(self.name);
        }
    }
}

/// Sleeps, at most until `stop` is cancelled.
pub(super) async fn sleep(time: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        () = stop.cancelled() => {}
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fails(task: &mut Supervised) -> Duration {
        task.round(async { panic!("broken") }).await.map(|(): ()| ()).unwrap_err()
    }

    #[tokio::test]
    async fn a_task_is_down_from_its_panic_to_its_next_completed_round() {
        let supervisor = Supervisor::default();
        let (mut first, mut second) = (supervisor.task("charges"), supervisor.task("charges"));
        assert_eq!(first.round(async { 7 }).await, Ok(7));
        assert_eq!(supervisor.down(), [""; 0]);
        fails(&mut first).await;
        fails(&mut second).await;
        first.round(async {}).await.unwrap();
        assert_eq!(supervisor.down(), ["charges"], "the other loop is still down");
        second.round(async {}).await.unwrap();
        assert_eq!(supervisor.down(), [""; 0]);
    }

    #[tokio::test]
    async fn pauses_double_up_to_a_minute_and_reset_after_a_completed_round() {
        let supervisor = Supervisor::default();
        let mut task = supervisor.task("files");
        let mut pauses = Vec::new();
        for _ in 0..40 {
            pauses.push(fails(&mut task).await.as_secs());
        }
        assert_eq!(pauses[..8], [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses[39], 60);
        task.round(async {}).await.unwrap();
        assert_eq!(fails(&mut task).await, INITIAL_BACKOFF);
        drop(task);
        assert_eq!(supervisor.down(), [""; 0], "a loop that has ended is not down");
    }
}
