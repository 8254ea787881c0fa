use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_auth::ports::SignInAddresses;
use kontor_kernel::StoreError;

use crate::database::{Abort, Database, found, on_each};
use crate::schema::sign_in_addresses;

#[async_trait]
impl SignInAddresses for Database {
    async fn contains(&self, fingerprint: &str) -> Result<bool, StoreError> {
        let fingerprint = fingerprint.to_owned();
        self.read(move |connection| {
            Ok::<_, Abort<StoreError>>(found!(connection, sign_in_addresses::table.find(&fingerprint))?)
        })
        .await
    }

    async fn remember(&self, fingerprint: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        let fingerprint = fingerprint.to_owned();
        self.write(move |connection| {
            let row = (sign_in_addresses::fingerprint.eq(&fingerprint), sign_in_addresses::seen_at.eq(at.naive_utc()));
            on_each!(connection, concrete => diesel::insert_into(sign_in_addresses::table)
                .values(row)
                .on_conflict(sign_in_addresses::fingerprint)
                .do_update()
                .set(sign_in_addresses::seen_at.eq(at.naive_utc()))
                .execute(concrete))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
