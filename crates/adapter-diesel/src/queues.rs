//! All queues, for those who run the service.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::StoreError;

use crate::database::{Abort, Database};
use crate::lease::{Parked, Queue, count_parked, list_parked, release_parked};
use crate::{auth, catalog, content, organization, payments, webhooks};

/// Every table whose rows are leased.
const QUEUES: [&Queue; 9] = [
    &webhooks::DELIVERIES,
    &payments::CHARGES,
    &payments::REFUNDS,
    &payments::RECEIPTS,
    &catalog::JOBS,
    &catalog::EXPORTS,
    &auth::PASSWORD_REQUESTS,
    &content::CONTENTS,
    &organization::TASK_MAILS,
];

/// How long a renewed lease runs.
const RENEWED: TimeDelta = TimeDelta::seconds(60);

/// Parked rows of one queue that are told of; there may be more.
pub const MOST_TOLD: u32 = 1_000;

impl Database {
    /// How many rows of each queue are parked, by table.
    pub async fn count_parked(&self) -> Result<Vec<(&'static str, u64)>, StoreError> {
        self.read(|connection| {
            let count = |queue: &&'static Queue| Ok((queue.table, count_parked(connection, queue)?));
            QUEUES.iter().map(count).collect::<Result<_, Abort<StoreError>>>()
        })
        .await
    }

    /// Lengthens every running lease of an owner to a minute from now, in whatever queue. Call it again well within a minute
    /// for as long as the owner works. Returns how many were lengthened.
    pub async fn renew_leases(&self, owner: &str, now: DateTime<Utc>) -> Result<usize, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            let (now, until) = (now.naive_utc(), (now + RENEWED).naive_utc());
            let mut renewed = 0;
            for queue in QUEUES {
                renewed += queue.renew(connection, &owner, now, until)?;
            }
            Ok::<_, Abort<StoreError>>(renewed)
        })
        .await
    }

    /// The parked rows of every queue, at most [`MOST_TOLD`] of each.
    pub async fn parked(&self) -> Result<Vec<Parked>, StoreError> {
        self.read(|connection| {
            let mut parked = Vec::new();
            for queue in QUEUES {
                parked.extend(list_parked(connection, queue, MOST_TOLD)?);
            }
            Ok::<_, Abort<StoreError>>(parked)
        })
        .await
    }

    /// Puts parked rows back into their queues; what still cannot be read is parked again when its turn comes. Returns how
    /// many there were.
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
