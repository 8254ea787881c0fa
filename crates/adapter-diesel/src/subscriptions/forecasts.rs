//! Port for upcoming subscription work.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_kernel::{StoreError, SubscriptionId};
use kontor_subscriptions::SubscriptionCase;
use kontor_subscriptions::model::Attempt;
use kontor_subscriptions::ports::{SubscriptionForecastReader, WakePlace};

use super::cases::{Selection, cases};
use super::rows::{PAYMENT_COLUMNS, PaymentRow};
use crate::database::{Abort, Database};
use crate::decode;
use crate::statement::Statement;

type Failed = Abort<StoreError>;

/// Condition for attempts that started or ended since a time.
fn since(moment: DateTime<Utc>) -> Statement {
    let moment = moment.naive_utc();
    Statement::new(" WHERE (a.started_at >= ").value(moment).sql(" OR a.ended_at >= ").value(moment).sql(")")
}

#[async_trait]
impl SubscriptionForecastReader for Database {
    async fn next_moment(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.read(|connection| {
            let wakes: Option<NaiveDateTime> =
                Statement::new("SELECT min(wake_at) FROM subscriptions WHERE wake_at IS NOT NULL")
                    .scalar(connection)?;
            // The acquirer itself notifies about payments it knows.
            let asks: Option<NaiveDateTime> = Statement::new(
                "SELECT min(c.next_check_at) FROM charges c JOIN subscription_payments a ON a.charge_id = c.id \
                 WHERE c.state IN ('prepared', 'pending') AND c.parked_at IS NULL AND c.provider_payment_id IS NULL \
                 AND a.state IN ('processing', 'needs_reconciliation')",
            )
            .scalar(connection)?;
            Ok::<_, Failed>(wakes.into_iter().chain(asks).min().map(decode::moment))
        })
        .await
    }

    async fn list_due(
        &self,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<WakePlace>,
        most: u32,
    ) -> Result<Vec<SubscriptionCase>, StoreError> {
        self.snapshot(move |connection| cases(connection, &Selection::Waking { until, after, most }, now)).await
    }

    async fn attempts_since(
        &self,
        moment: DateTime<Utc>,
        most: u32,
    ) -> Result<(Vec<(SubscriptionId, Attempt)>, u64), StoreError> {
        self.snapshot(move |connection| {
            let count: i64 = Statement::new("SELECT count(*) FROM subscription_payments a")
                .then(since(moment))
                .scalar(connection)?;
            let rows: Vec<PaymentRow> = Statement::new(PAYMENT_COLUMNS)
                .then(since(moment))
                .sql(" ORDER BY a.started_at, a.id LIMIT ")
                .value(most)
                .rows(connection)?;
            let attempts = rows.into_iter().map(|row| Ok((decode::id(row.subscription)?, row.try_into()?)));
            let attempts = attempts.collect::<Result<_, StoreError>>()?;
            Ok::<_, Failed>((attempts, count.unsigned_abs()))
        })
        .await
    }
}
