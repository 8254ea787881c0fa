//! Heartbeats of the workers.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::StoreError;

use crate::database::{Abort, Database, on_each};
use crate::decode;
use crate::schema::workers;

impl Database {
    /// Returns the time of the last heartbeat of any worker.
    pub async fn worker_last_seen(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.read(|connection| {
            let seen: Option<NaiveDateTime> =
                workers::table.select(diesel::dsl::max(workers::seen_at)).first(connection)?;
            Ok::<_, Abort<StoreError>>(seen.map(decode::moment))
        })
        .await
    }

    /// Stores a heartbeat of a worker.
    pub async fn record_heartbeat(&self, name: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.write(move |connection| {
            let row = (workers::name.eq(&name), workers::seen_at.eq(at.naive_utc()));
            on_each!(connection, concrete => diesel::insert_into(workers::table)
                .values(row)
                .on_conflict(workers::name)
                .do_update()
                .set(workers::seen_at.eq(at.naive_utc()))
                .execute(concrete))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    /// Deletes a worker that ended regularly.
    pub async fn delete_worker(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.write(move |connection| {
            diesel::delete(workers::table.filter(workers::name.eq(&name))).execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
