//! Row locks that tests hold on PostgreSQL, so that others wait.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, AnyConnection, Database, retry_until};
use kontor_kernel::StoreError;
use tokio::task::JoinHandle;

/// A transaction that holds row locks until a signal.
pub struct Holder {
    release: std::sync::mpsc::Sender<()>,
    held: JoinHandle<()>,
}

impl Holder {
    /// Holds the locks that a statement takes.
    pub async fn hold(database: &Database, statement: String) -> Self {
        let (release, released) = std::sync::mpsc::channel();
        let (tell, reported) = std::sync::mpsc::channel();
        let (database, released) = (database.clone(), Mutex::new(released));
        let held = tokio::spawn(async move {
            let step = move |connection: &mut AnyConnection| {
                connection.batch_execute(&statement)?;
                // A step that runs again finds the channel closed, and waits no more.
                let _ = tell.send(());
                let _ = released.lock().unwrap().recv();
                Ok::<_, Abort<StoreError>>(())
            };
            database.write_and_invalidate_all(step).await.unwrap();
        });
        tokio::task::spawn_blocking(move || reported.recv().unwrap()).await.unwrap();
        Self { release, held }
    }

    pub async fn release(self) {
        self.release.send(()).unwrap();
        self.held.await.unwrap();
    }
}

/// Returns when this many transactions wait for a lock.
pub async fn until_waiting(db: &TestDatabase, number: i64) {
    let waiting = "SELECT count(*) AS number FROM pg_stat_activity WHERE datname = current_database() \
                   AND wait_event_type = 'Lock'";
    let until = Instant::now() + Duration::from_secs(30);
    while db.number(waiting.to_owned()).await < number {
        retry_until!(until, "{number} transactions should wait");
    }
}
