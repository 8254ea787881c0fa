use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{DeliveryId, Page, PageRequest, StoreError, WebhookId};
use kontor_webhooks::model::{Delivery, DeliveryState, Pending};
use kontor_webhooks::ports::DeliveryLog;

use crate::database::{Abort, Database};
use crate::decode;
use crate::schema::{outbox_events, webhook_deliveries, webhooks};
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_deliveries)]
struct DeliveryRow {
    id: i64,
    delivery_id: String,
    webhook_id: i64,
    status: String,
    attempts: i32,
    next_attempt_at: Option<NaiveDateTime>,
    response_status: Option<i32>,
    last_error: Option<String>,
    delivered_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
}

/// A delivery with the id and the topic of its event.
type LoggedRow = (DeliveryRow, String, String);

fn delivery((row, event_id, topic): LoggedRow) -> Result<Delivery, StoreError> {
    let attempts = u32::try_from(row.attempts).map_err(StoreError::corrupt)?;
    let (next, delivered) = (row.next_attempt_at.map(decode::moment), row.delivered_at.map(decode::moment));
    let state = DeliveryState::restore(&row.status, attempts, next, delivered)
        .map_err(|error| StoreError::corrupt(format!("webhook_deliveries {}: {error}", row.id)))?;
    Ok(Delivery {
        id: decode::id(row.id)?,
        webhook_id: decode::id(row.webhook_id)?,
        event_id: decode::text(&event_id)?,
        delivery_id: decode::text(&row.delivery_id)?,
        event: topic,
        state,
        response_status: row.response_status.map(u16::try_from).transpose().map_err(StoreError::corrupt)?,
        last_error: row.last_error,
        created_at: decode::moment(row.created_at),
    })
}

#[async_trait]
impl DeliveryLog for Database {
    async fn page(&self, webhook: WebhookId, page: PageRequest) -> Result<Page<Delivery>, StoreError> {
        self.read_snapshot(move |connection| {
            let mine = webhook_deliveries::webhook_id.eq(webhook.get());
            let total: i64 = webhook_deliveries::table.filter(mine).count().get_result(connection)?;
            let rows: Vec<LoggedRow> = webhook_deliveries::table
                .inner_join(outbox_events::table.on(outbox_events::id.eq(webhook_deliveries::outbox_event_id)))
                .filter(mine)
                .order(webhook_deliveries::id.desc())
                .offset(page.offset())
                .limit(page.limit())
                .select((DeliveryRow::as_select(), outbox_events::event_id, outbox_events::topic))
                .load(connection)?;
            Ok(decode::page(unreadable::rows("webhook_deliveries", rows, |row| row.0.id, delivery)?, total, page)?)
        })
        .await
    }

    async fn find(&self, webhook: WebhookId, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        self.read(move |connection| {
            let row: Option<LoggedRow> = webhook_deliveries::table
                .inner_join(outbox_events::table.on(outbox_events::id.eq(webhook_deliveries::outbox_event_id)))
                .filter(webhook_deliveries::id.eq(id.get()))
                .filter(webhook_deliveries::webhook_id.eq(webhook.get()))
                .select((DeliveryRow::as_select(), outbox_events::event_id, outbox_events::topic))
                .first(connection)
                .optional()?;
            Ok(row.map(delivery).transpose()?)
        })
        .await
    }

    async fn requeue(
        &self,
        id: DeliveryId,
        from: DeliveryState,
        to: Pending,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let unchanged = webhook_deliveries::table
                .filter(webhook_deliveries::id.eq(id.get()))
                .filter(webhook_deliveries::status.eq(from.status()))
                .filter(webhook_deliveries::attempts.eq(stored_attempts(from.attempts())?));
            let revived = diesel::update(unchanged)
                .set((
                    webhook_deliveries::status.eq(DeliveryState::Pending(to).status()),
                    webhook_deliveries::attempts.eq(stored_attempts(to.attempts())?),
                    webhook_deliveries::next_attempt_at.eq(Some(to.next_attempt_at().naive_utc())),
                    webhook_deliveries::delivered_at.eq(None::<NaiveDateTime>),
                    webhook_deliveries::leased_until.eq(None::<NaiveDateTime>),
                    webhook_deliveries::lease_owner.eq(None::<String>),
                    webhook_deliveries::parked_at.eq(None::<NaiveDateTime>),
                    webhook_deliveries::parked_reason.eq(None::<String>),
                    webhook_deliveries::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if revived > 0 {
                // A retry by an employee does not wait for the end of a pause.
                let endpoint = webhook_deliveries::table.find(id.get()).select(webhook_deliveries::webhook_id);
                let endpoint: i64 = endpoint.first(connection)?;
                diesel::update(webhooks::table.find(endpoint))
                    .set(webhooks::paused_until.eq(None::<NaiveDateTime>))
                    .execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(revived > 0)
        })
        .await
    }
}

pub(super) fn stored_attempts(attempts: u32) -> Result<i32, StoreError> {
    i32::try_from(attempts).map_err(StoreError::corrupt)
}
