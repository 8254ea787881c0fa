//! Moving time where the sandbox is a part of something larger.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::world::{World, lock};

/// Moves the time of everything that shares the clock of the sandbox.
#[async_trait]
pub trait TimeTravel: Send + Sync {
    /// Lets everything happen that happens until a moment, and tells it; the clock stands there then. In a dry run nothing
    /// moves, and what would happen is told. An error says why not, for people.
    async fn travel(&self, to: DateTime<Utc>, dry_run: bool, outside: &dyn Outside) -> Result<Value, String>;
}

/// What happens in the sandbox as time goes by.
#[async_trait]
pub trait Outside: Send + Sync {
    /// The next moment at which something happens by itself: a payment ends, or a notification is sent again.
    fn next_moment(&self) -> Option<DateTime<Utc>>;

    /// Lets everything happen that is due now, and waits until the shop was told. Answers whether there was anything.
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

/// Who moves time, and whether somebody does now.
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

    /// Whoever asks for another time waits until the one before has come.
    pub async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}
