//! Leased deliveries of outbox events, and their outcomes.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::result::QueryResult;
use diesel::sql_types::Bool;
use kontor_kernel::{Random, StoreError, Word};
use kontor_webhooks::model::{CircuitBreaker, DeliveryState, Message, Pending, PublicEvent};
use kontor_webhooks::ports::{AttemptRecord, Backlog, DeliveryQueue, FanOut, Lease, LeasedDelivery};
use uuid::Uuid;

use super::due;
use super::log::stored_attempts;
use crate::database::{Abort, AnyConnection, Database, found, on_each};
use crate::decode;
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::schema::{outbox_events, webhook_deliveries, webhooks};

#[derive(Insertable)]
#[diesel(table_name = webhook_deliveries)]
pub(super) struct NewDeliveryRow {
    delivery_id: String,
    project_id: i64,
    webhook_id: i64,
    outbox_event_id: i64,
    status: &'static str,
    attempts: i32,
    next_attempt_at: NaiveDateTime,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl NewDeliveryRow {
    /// Creates the row of a delivery that is due at once.
    pub(super) fn due(
        delivery_id: Uuid,
        [project_id, webhook_id, outbox_event_id]: [i64; 3],
        at: NaiveDateTime,
    ) -> Result<Self, StoreError> {
        let first = Pending::due(at.and_utc());
        Ok(Self {
            delivery_id: delivery_id.to_string(),
            project_id,
            webhook_id,
            outbox_event_id,
            status: DeliveryState::Pending(first).status(),
            attempts: stored_attempts(first.attempts())?,
            next_attempt_at: first.next_attempt_at().naive_utc(),
            created_at: at,
            updated_at: at,
        })
    }
}

/// Rows per insert, well below the maximum number of bound values.
const ROWS_PER_INSERT: usize = 500;
/// Maximum reads of a lease call when other workers took everything it saw.
const MAX_LEASE_ROUNDS: u32 = 4;

/// Queue of deliveries that wait for an attempt.
pub(crate) const DELIVERIES: Queue = Queue {
    table: "webhook_deliveries",
    key: "id",
    due: Some("next_attempt_at"),
    open: "status = 'pending'",
    on_park: "",
};

/// Condition with a literal instead of a bound value: planners use the partial index of waiting deliveries only with a
/// literal.
fn is_pending() -> SqlLiteral<Bool> {
    sql("webhook_deliveries.status = 'pending'")
}

#[derive(Queryable)]
struct LeasedRow {
    id: i64,
    delivery_id: String,
    attempts: i32,
    next_attempt_at: Option<NaiveDateTime>,
    webhook_id: i64,
    url: String,
    sealed_secret: String,
    hangs: i32,
    paused_until: Option<NaiveDateTime>,
    event_id: String,
    topic: String,
    body: String,
}

/// Data to send.
const LEASED: Leased<i64, LeasedRow, LeasedDelivery> = Leased { load, read: leased };

fn load(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, LeasedRow)>> {
    let rows: Vec<LeasedRow> = webhook_deliveries::table
        .inner_join(webhooks::table.on(webhooks::id.eq(webhook_deliveries::webhook_id)))
        .inner_join(outbox_events::table.on(outbox_events::id.eq(webhook_deliveries::outbox_event_id)))
        .filter(webhook_deliveries::id.eq_any(ids))
        .order((webhook_deliveries::next_attempt_at, webhook_deliveries::id))
        .select((
            webhook_deliveries::id,
            webhook_deliveries::delivery_id,
            webhook_deliveries::attempts,
            webhook_deliveries::next_attempt_at,
            webhooks::id,
            webhooks::url,
            webhooks::sealed_secret,
            webhooks::hangs,
            webhooks::paused_until,
            outbox_events::event_id,
            outbox_events::topic,
            outbox_events::payload,
        ))
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

fn leased(row: LeasedRow) -> Result<LeasedDelivery, StoreError> {
    let attempts = u32::try_from(row.attempts).map_err(StoreError::corrupt)?;
    let next = row.next_attempt_at.map(decode::moment);
    let state = DeliveryState::restore("pending", attempts, next, None).map_err(StoreError::corrupt)?;
    let DeliveryState::Pending(pending) = state else {
        return Err(StoreError::corrupt("a leased delivery is not pending"));
    };
    let hangs = u32::try_from(row.hangs).map_err(StoreError::corrupt)?;
    Ok(LeasedDelivery {
        id: decode::id(row.id)?,
        pending,
        webhook_id: decode::id(row.webhook_id)?,
        circuit: CircuitBreaker::restore(hangs, row.paused_until.map(decode::moment)),
        url: row.url,
        sealed_secret: row.sealed_secret,
        message: Message {
            event: row.topic,
            event_id: decode::text(&row.event_id)?,
            delivery_id: decode::text(&row.delivery_id)?,
            body: row.body,
        },
    })
}

/// Topics of the events that webhooks receive.
fn public_topics() -> Vec<&'static str> {
    PublicEvent::all().iter().map(|event| event.word()).collect()
}

fn fan_out(
    connection: &mut AnyConnection,
    events: u32,
    random: &dyn Random,
    at: NaiveDateTime,
) -> Result<FanOut, Abort<StoreError>> {
    let waiting: Vec<i64> = outbox_events::table
        .filter(outbox_events::dispatched_at.is_null())
        .filter(outbox_events::topic.eq_any(public_topics()))
        .order(outbox_events::id)
        .limit(i64::from(events))
        .select(outbox_events::id)
        .load(connection)?;
    if waiting.is_empty() {
        return Ok(FanOut::default());
    }
    let untouched =
        outbox_events::table.filter(outbox_events::id.eq_any(waiting)).filter(outbox_events::dispatched_at.is_null());
    let mine: Vec<i64> = diesel::update(untouched)
        .set(outbox_events::dispatched_at.eq(Some(at)))
        .returning(outbox_events::id)
        .get_results(connection)?;
    let pairs: Vec<(i64, i64, i64)> = outbox_events::table
        .inner_join(webhooks::table.on(webhooks::application_id.eq(outbox_events::application_id)))
        .filter(outbox_events::id.eq_any(&mine))
        .filter(webhooks::is_active.eq(true))
        .order((outbox_events::id, webhooks::id))
        .select((outbox_events::id, webhooks::id, webhooks::project_id))
        .load(connection)?;
    let rows: Vec<NewDeliveryRow> = pairs
        .into_iter()
        .map(|(event, webhook, project)| NewDeliveryRow::due(random.uuid(), [project, webhook, event], at))
        .collect::<Result<_, StoreError>>()?;
    for batch in rows.chunks(ROWS_PER_INSERT) {
        on_each!(&mut *connection, concrete => {
            diesel::insert_into(webhook_deliveries::table).values(batch).execute(concrete)
        })?;
    }
    Ok(FanOut { events: mine.len(), deliveries: rows.len() })
}

#[async_trait]
impl DeliveryQueue for Database {
    async fn fan_out(&self, events: u32, random: Arc<dyn Random>, at: DateTime<Utc>) -> Result<FanOut, StoreError> {
        let waits = self.read(|connection| {
            let waiting = outbox_events::table
                .filter(outbox_events::dispatched_at.is_null())
                .filter(outbox_events::topic.eq_any(public_topics()));
            Ok::<_, Abort<StoreError>>(found!(connection, waiting)?)
        });
        if !waits.await? {
            return Ok(FanOut::default());
        }
        self.write(move |connection| fan_out(connection, events, &*random, at.naive_utc())).await
    }

    async fn lease(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<LeasedDelivery>, StoreError> {
        let most = usize::try_from(most).map_err(StoreError::corrupt)?;
        let request = LeaseRequest::new(&lease.owner, now, lease.until, most);
        for _ in 0..MAX_LEASE_ROUNDS {
            let at = now.naive_utc();
            let due = self.read(move |connection| due::look(connection, at, most)).await?;
            if due.is_empty() {
                break;
            }
            let mine = request.clone();
            let taken = self.write(move |connection| due::take(connection, &due, &mine)).await?;
            if taken.is_empty() {
                continue;
            }
            let read = self.read_leased(&DELIVERIES, &request, taken, LEASED).await?;
            if !read.is_empty() {
                return Ok(read);
            }
        }
        Ok(Vec::new())
    }

    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<bool, StoreError> {
        self.write(move |connection| {
            due::update_circuit(connection, attempt.webhook_id, attempt.circuit, attempt.circuit_after)?;
            let held = webhook_deliveries::table
                .filter(webhook_deliveries::id.eq(attempt.id.get()))
                .filter(webhook_deliveries::lease_owner.eq(Some(&attempt.owner)))
                .filter(webhook_deliveries::attempts.eq(stored_attempts(attempt.from.attempts())?))
                .filter(is_pending());
            let recorded = diesel::update(held)
                .set((
                    webhook_deliveries::status.eq(attempt.to.status()),
                    webhook_deliveries::attempts.eq(stored_attempts(attempt.to.attempts())?),
                    webhook_deliveries::next_attempt_at.eq(attempt.to.next_attempt_at().map(|at| at.naive_utc())),
                    webhook_deliveries::delivered_at.eq(attempt.to.delivered_at().map(|at| at.naive_utc())),
                    webhook_deliveries::response_status.eq(attempt.outcome.response_status().map(i32::from)),
                    webhook_deliveries::last_error.eq(attempt.outcome.error()),
                    webhook_deliveries::leased_until.eq(None::<NaiveDateTime>),
                    webhook_deliveries::lease_owner.eq(None::<String>),
                    webhook_deliveries::updated_at.eq(attempt.at.naive_utc()),
                ))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(recorded > 0)
        })
        .await
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            let released = DELIVERIES.release(connection, &owner)?;
            Ok::<_, Abort<StoreError>>(u64::try_from(released).map_err(StoreError::corrupt)?)
        })
        .await
    }

    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError> {
        self.read(move |connection| {
            let event: Option<NaiveDateTime> = outbox_events::table
                .filter(outbox_events::dispatched_at.is_null())
                .filter(outbox_events::topic.eq_any(public_topics()))
                .order(outbox_events::id)
                .select(outbox_events::created_at)
                .first(connection)
                .optional()?;
            let due = due::oldest(connection, now.naive_utc())?;
            Ok::<_, Abort<StoreError>>(Backlog {
                oldest_event: event.map(decode::moment),
                oldest_due: due.map(decode::moment),
            })
        })
        .await
    }
}
