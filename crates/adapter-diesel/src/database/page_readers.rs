//! Threads that read pages for visitors from SQLite, each with its own connection.
//!
//! A page from memory takes about ten microseconds. Compared with that, waking one of many idle threads and checking
//! out a connection are expensive. A few threads, about as many as processors, that take the next page without sleeping
//! serve more pages.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use diesel::r2d2::ManageConnection;
use kontor_kernel::StoreError;

use super::AnyConnection;
use super::connection::{Manager, ManagerError};
use super::operation::{Outcome, Step};

/// Work of a thread on its connection.
type Job = Box<dyn FnOnce(&mut AnyConnection) + Send>;

/// Maximum number of waiting pages. Further ones are rejected, because they would come too late.
const MAX_WAITING: usize = 4_096;

/// Handle of the threads, which end when it is dropped.
pub(super) struct PageReaders(Arc<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    more: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    idle: usize,
    closed: bool,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error(transparent)]
    Connect(#[from] ManagerError),
    #[error(transparent)]
    Spawn(#[from] std::io::Error),
}

impl PageReaders {
    /// Opens this many connections, each on its own thread.
    pub fn start(manager: &Manager, threads: usize) -> Result<Self, StartError> {
        let readers = Self(Arc::default());
        for _ in 0..threads {
            let queue = Arc::clone(&readers.0);
            let connection = manager.connect()?;
            std::thread::Builder::new().name("page-reader".to_owned()).spawn(move || queue.work(connection))?;
        }
        Ok(readers)
    }

    /// Runs a read on the next free thread.
    pub async fn run(&self, step: Step) -> Outcome {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let asked = self.submit(Box::new(move |connection| {
            // The request may have been dropped; then no result is needed.
            if !answer.is_closed() {
                let _ = answer.send(step(connection));
            }
        }));
        if !asked {
            return Err(StoreError::Unavailable("too many lists are being read".to_owned()).into());
        }
        answered.await.unwrap_or_else(|_| Err(StoreError::Failed("reading a page was aborted".to_owned()).into()))
    }

    /// Queues the job for the next free thread. Returns `false` if too many jobs wait already.
    fn submit(&self, job: Job) -> bool {
        let mut waiting = self.0.lock();
        if waiting.jobs.len() >= MAX_WAITING {
            return false;
        }
        waiting.jobs.push_back(job);
        let has_idle = waiting.idle > 0;
        drop(waiting);
        if has_idle {
            self.0.more.notify_one();
        }
        true
    }
}

impl Drop for PageReaders {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.more.notify_all();
    }
}

impl Queue {
    /// The queue is consistent after a panic, because every change to it is complete.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
            if waiting.closed {
                return None;
            }
            waiting.idle += 1;
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
        }
    }

    fn work(&self, mut connection: AnyConnection) {
        while let Some(job) = self.next() {
            // The caller gets an error because its channel closes; the thread continues with the next page.
            if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
                tracing::error!("reading a page panicked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::StoreError;

    use crate::database::{Abort, Extent};
    use crate::statement::Statement;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn many_ask_at_once_and_a_panic_breaks_one_answer() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let asked: Vec<_> = (0..200)
            .map(|number| {
                let database = db.database.clone();
                let work = move |_: &mut crate::AnyConnection| -> Result<i32, Abort<StoreError>> {
                    assert!(number != 100, "one page cannot be read");
                    Ok(number)
                };
                tokio::spawn(async move { database.expecting(Extent::Page).read(work).await })
            })
            .collect();
        let mut answers = Vec::new();
        for answer in asked {
            answers.push(answer.await.unwrap());
        }
        assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1);
        assert_eq!(answers.into_iter().flatten().max(), Some(199));
    }
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_panic_at_one_moment_leaves_no_reader_at_that_moment() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let keys = "SELECT count(*) FROM idempotency_keys";
        let count = move |connection: &mut crate::AnyConnection| -> Result<i64, Abort<StoreError>> {
            Ok(Statement::new(keys).scalar(connection)?)
        };
        let breaks = move |connection: &mut crate::AnyConnection| -> Result<i64, Abort<StoreError>> {
            panic!("{} keys, and the page cannot be read", count(connection).unwrap_or_default())
        };
        // More than there are threads, so that each of them meets a panic.
        for _ in 0..64 {
            assert!(db.database.expecting(Extent::Page).snapshot(breaks).await.is_err());
        }
        let key = "INSERT INTO idempotency_keys (number, id, fingerprint, lease_owner, leased_until) \
                   VALUES (1, '1', '', '', '2027-01-31 10:00:00')";
        let write = move |connection: &mut crate::AnyConnection| -> Result<usize, Abort<StoreError>> {
            Ok(Statement::new(key).run(connection)?)
        };
        db.database.write(write).await.unwrap();
        for _ in 0..64 {
            assert_eq!(db.database.expecting(Extent::Page).snapshot(count).await.unwrap(), 1);
        }
    }
}
