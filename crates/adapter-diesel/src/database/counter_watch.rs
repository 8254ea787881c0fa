//! Watches the counters that other processes raise, twice a second, on a thread with its own connection. So it is not
//! delayed when every connection is busy, and its statements do not count among those of requests.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use diesel::r2d2::ManageConnection;
use kontor_kernel::StoreError;

use super::connection::{Manager, Role};
use super::failure::store_error;
use super::invalidation::{CacheVersions, Topic};
use super::{AnyConnection, Database};
use crate::statement::{Statement, by_place};

const INTERVAL: Duration = Duration::from_millis(500);

/// Handle of the thread, which ends when this is dropped. From then on no cached data is used.
#[must_use = "watching ends when this is dropped"]
pub struct CounterWatch {
    _until: Sender<()>,
}

by_place! {
    struct CounterRow {
        topic: i32,
        stripe: i32,
        version: i64,
    }
}

fn counters() -> Statement {
    Statement::new("SELECT topic, stripe, CAST(sum(version) AS BIGINT) FROM change_marks GROUP BY topic, stripe")
}

fn seen(rows: &[CounterRow], (topic, stripe): (Topic, usize)) -> bool {
    rows.iter().any(|row| i64::from(row.topic) == topic.number() && usize::try_from(row.stripe) == Ok(stripe))
}

/// Value of each counter raised by other processes, as last known; `None` while uncertain.
#[derive(Default)]
struct OtherProcesses(HashMap<(Topic, usize), Option<u64>>);

impl OtherProcesses {
    /// Applies the result of a read. Invalidates a stripe if other processes wrote, or if the writer cannot be
    /// determined.
    fn take_in(
        &mut self,
        versions: &CacheVersions,
        before: &HashMap<(Topic, usize), Option<u64>>,
        rows: &[CounterRow],
    ) {
        for row in rows {
            let topic = Topic::ALL.into_iter().find(|topic| i64::from(row.topic) == topic.number());
            let (Some(topic), Ok(stripe)) = (topic, usize::try_from(row.stripe)) else { continue };
            let own = before.get(&(topic, stripe)).copied().flatten();
            let own = own.filter(|own| versions.own(topic, stripe) == Some(*own));
            let others = own.and_then(|own| u64::try_from(row.version).ok()?.checked_sub(own));
            let known = self.0.insert((topic, stripe), others).flatten();
            if others.is_none() || known != others {
                versions.step(topic, stripe);
            }
        }
    }

    fn read_counters(&mut self, connection: &mut AnyConnection, versions: &CacheVersions) -> Result<(), StoreError> {
        let began = versions.now();
        let own =
            |topic| (0..super::invalidation::STRIPES).map(move |stripe| ((topic, stripe), versions.own(topic, stripe)));
        let before: HashMap<_, _> = Topic::ALL.into_iter().flat_map(own).collect();
        let rows: Vec<CounterRow> = counters().rows(connection).map_err(|error| store_error(&error))?;
        self.take_in(versions, &before, &rows);
        // Increments of a missing counter would go unnoticed.
        if let Some((topic, stripe)) = before.keys().find(|counter| !seen(&rows, **counter)) {
            return Err(StoreError::corrupt(format!(
                "change_marks: there is no row of topic {}, stripe {stripe}",
                topic.number()
            )));
        }
        versions.counters_read_at(began);
        Ok(())
    }
}

struct CounterWatcher {
    manager: Manager,
    connection: Option<AnyConnection>,
    others: OtherProcesses,
}

impl CounterWatcher {
    fn read_counters(&mut self, versions: &CacheVersions) -> Result<(), StoreError> {
        let failed = |error: &dyn std::fmt::Display| StoreError::Unavailable(error.to_string());
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.manager.connect().map_err(|error| failed(&error))?,
        };
        self.others.read_counters(&mut connection, versions)?;
        // A connection that failed is not used again.
        self.connection = Some(connection);
        Ok(())
    }

    fn work(mut self, versions: &Weak<CacheVersions>, until: &Receiver<()>) {
        let mut lost = false;
        loop {
            let Some(versions) = versions.upgrade() else { return };
            // After a panic the connection is gone; the next read opens another.
            let looked = catch_unwind(AssertUnwindSafe(|| self.read_counters(&versions)));
            match looked.unwrap_or_else(|_| Err(StoreError::Failed("the check for changes panicked".to_owned()))) {
                Ok(()) => lost = false,
                Err(error) if lost => tracing::debug!(%error, "change marks cannot be read"),
                Err(error) => {
                    lost = true;
                    tracing::warn!(%error, "change marks cannot be read; the cache is disabled");
                }
            }
            drop(versions);
            if until.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }
}

impl Database {
    /// Starts watching the changes of other processes. The caches of this process are used only while a watch runs.
    pub fn watch(&self) -> Result<CounterWatch, StoreError> {
        let manager = Manager {
            role: Role::Reader,
            statements: Arc::default(),
            writes: Arc::default(),
            ..self.manager().clone()
        };
        let watcher = CounterWatcher { manager, connection: None, others: OtherProcesses::default() };
        let (sender, receiver) = channel();
        let versions = Arc::downgrade(self.cache_versions());
        std::thread::Builder::new()
            .name("change-watch".to_owned())
            .spawn(move || watcher.work(&versions, &receiver))
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(CounterWatch { _until: sender })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::ProjectId;

    fn row(stripe: i32, version: i64) -> CounterRow {
        CounterRow { topic: 0, stripe, version }
    }

    fn own(versions: &CacheVersions, stripe: usize) -> HashMap<(Topic, usize), Option<u64>> {
        HashMap::from([((Topic::Storefront, stripe), versions.own(Topic::Storefront, stripe))])
    }

    #[test]
    fn only_increments_of_other_processes_invalidate() {
        let (versions, mut others) = (CacheVersions::default(), OtherProcesses::default());
        let project = ProjectId::new(3).unwrap();
        let version = || versions.version(Topic::Storefront, project);
        others.take_in(&versions, &own(&versions, 3), &[row(3, 7)]);
        let known = version();
        others.take_in(&versions, &own(&versions, 3), &[row(3, 7), row(4, 1)]);
        assert_eq!(version(), known, "nothing was raised");
        others.take_in(&versions, &own(&versions, 3), &[row(3, 8)]);
        assert_ne!(version(), known, "somebody else raised it");
        let known = version();
        let before = HashMap::from([((Topic::Storefront, 3), None)]);
        others.take_in(&versions, &before, &[row(3, 8)]);
        assert_ne!(version(), known, "who raised it cannot be told");
        let known = version();
        others.take_in(&versions, &own(&versions, 3), &[row(3, 8)]);
        assert_ne!(version(), known, "nor whether somebody did meanwhile");
    }
}
