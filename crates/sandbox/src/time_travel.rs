//! Moving the time of the sandbox together with the service that shares its clock.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::state::{World, lock};

/// Moves the time of everything that shares the clock of the sandbox.
#[async_trait]
pub trait TimeTravel: Send + Sync {
    /// Moves the clock to `to`, with everything that is due until then, and returns what happened. A dry run moves
    /// nothing and returns what would happen. An error is a message that explains why time cannot move.
    async fn travel(&self, to: DateTime<Utc>, dry_run: bool, outside: &dyn Outside) -> Result<Value, String>;
}

/// Events of the sandbox that depend on time.
#[async_trait]
pub trait Outside: Send + Sync {
    /// Returns the time of the next event: a payment ends, or a notification is sent again.
    fn next_moment(&self) -> Option<DateTime<Utc>>;

    /// Runs everything that is due now and waits until the shop is notified. Returns `true` if there was anything.
    async fn settle(&self) -> bool;
}

#[async_trait]
impl Outside for World {
    fn next_moment(&self) -> Option<DateTime<Utc>> {
        let deadline = self.with_ledger(|ledger, _| ledger.next_deadline());
        deadline.into_iter().chain(self.acquirer.notifier.next_redelivery()).min()
    }

    async fn settle(&self) -> bool {
        let now = self.with_ledger(|_, now| now);
        self.acquirer.notifier.settle(now).await
    }
}

/// Handler that moves time, with a lock for one journey at a time.
#[derive(Default)]
pub struct Traveller {
    travel: Mutex<Option<Arc<dyn TimeTravel>>>,
    turn: tokio::sync::Mutex<()>,
}

impl Traveller {
    pub fn set(&self, travel: Arc<dyn TimeTravel>) {
        *lock(&self.travel) = Some(travel);
    }

    pub fn get(&self) -> Option<Arc<dyn TimeTravel>> {
        lock(&self.travel).clone()
    }

    /// Waits until the journey before has ended.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}
