//! All queues, for operators, and heartbeats of the workers.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use diesel::prelude::*;
use kontor_kernel::StoreError;

use crate::database::{Abort, Database, on_each};
use crate::lease::{Parked, Queue, count_parked, list_parked, release_parked};
use crate::schema::workers;
use crate::{auth, catalog, content, decode, organization, payments, webhooks};

/// Every table whose rows are leased.
const QUEUES: [&Queue; 10] = [
    &webhooks::DELIVERIES,
    &payments::CHARGES,
    &payments::REFUNDS,
    &payments::RECEIPTS,
    &catalog::JOBS,
    &catalog::EXPORTS,
    &auth::PASSWORD_REQUESTS,
    &content::CONTENTS,
    &organization::TASK_MAILS,
    &auth::APPROVAL_MAILS,
];

/// Duration of a renewed lease.
const RENEWED_LEASE: TimeDelta = TimeDelta::seconds(60);

/// Maximum parked rows listed per queue; there may be more.
pub const MAX_LISTED: u32 = 1_000;

impl Database {
    /// Returns the number of parked rows of each queue, by table.
    pub async fn count_parked(&self) -> Result<Vec<(&'static str, u64)>, StoreError> {
        self.read(|connection| {
            let count = |queue: &&'static Queue| Ok((queue.table, count_parked(connection, queue)?));
            QUEUES.iter().map(count).collect::<Result<_, Abort<StoreError>>>()
        })
        .await
    }

    /// Extends every running lease of an owner, in all queues, to one minute from now. Call it well before the minute
    /// ends while the owner works. Returns the number of extended leases.
    pub async fn renew_leases(&self, owner: &str, now: DateTime<Utc>) -> Result<usize, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            let (now, until) = (now.naive_utc(), (now + RENEWED_LEASE).naive_utc());
            let mut renewed = 0;
            for queue in QUEUES {
                renewed += queue.renew(connection, &owner, now, until)?;
            }
            Ok::<_, Abort<StoreError>>(renewed)
        })
        .await
    }

    /// Returns the parked rows of every queue, at most [`MAX_LISTED`] of each.
    pub async fn parked(&self) -> Result<Vec<Parked>, StoreError> {
        self.read(|connection| {
            let mut parked = Vec::new();
            for queue in QUEUES {
                parked.extend(list_parked(connection, queue, MAX_LISTED)?);
            }
            Ok::<_, Abort<StoreError>>(parked)
        })
        .await
    }

    /// Returns parked rows to their queues; rows that still cannot be read are parked again when they are due. Returns
    /// their number.
    pub async fn release_parked(&self) -> Result<u64, StoreError> {
        self.write(|connection| {
            let mut released = 0;
            for queue in QUEUES {
                released += release_parked(connection, queue)?;
            }
            Ok::<_, Abort<StoreError>>(u64::try_from(released).map_err(StoreError::corrupt)?)
        })
        .await
    }
}

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
