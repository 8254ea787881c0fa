use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use diesel::sql_types::Bool;
use kontor_kernel::{Random, StoreError};
use kontor_webhooks::model::{DeliveryState, Message, Pending, PublicEvent};
use kontor_webhooks::ports::{Backlog, ClaimedDelivery, DeliveryQueue, FanOut, Lease, SettledAttempt};

use super::log::stored_attempts;
use crate::database::{Abort, AnyConnection, Database, on_each};
use crate::schema::{outbox_events, webhook_deliveries, webhooks};
use crate::stored;

#[derive(Insertable)]
#[diesel(table_name = webhook_deliveries)]
struct NewDeliveryRow {
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

/// Rows of one insert, well below the number of variables a statement takes.
const ROWS_PER_INSERT: usize = 500;
/// How many due deliveries a claim looks at to share them fairly.
const WINDOW: i64 = 256;
/// How often a claim looks again when others were faster with everything it saw.
const LOOKS: u32 = 4;

/// Written out, not bound: a planner uses the partial index of waiting deliveries only when it sees the word.
fn is_pending() -> SqlLiteral<Bool> {
    sql("webhook_deliveries.status = 'pending'")
}

/// Due, and on no running lease.
macro_rules! free_at {
    ($now:expr) => {
        is_pending()
            .and(webhook_deliveries::next_attempt_at.le($now))
            .and(webhook_deliveries::leased_until.is_null().or(webhook_deliveries::leased_until.le($now)))
    };
}

/// One of each webhook first, then the second of each, and so on, so that no webhook keeps the others waiting.
fn fair_share(due: &[(i64, i64)], most: usize) -> Vec<i64> {
    let mut seen: HashMap<i64, usize> = HashMap::new();
    let mut ranked: Vec<(usize, i64)> = due
        .iter()
        .map(|(delivery, webhook)| {
            let rank = seen.entry(*webhook).or_default();
            *rank += 1;
            (*rank, *delivery)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(most).map(|(_, delivery)| delivery).collect()
}

/// Takes leases on free deliveries; empty when nothing is free, or when others were faster with all of these.
fn take_leases(
    connection: &mut AnyConnection,
    lease: &Lease,
    most: usize,
    now: NaiveDateTime,
) -> Result<Leases, QueryError> {
    let due: Vec<(i64, i64)> = webhook_deliveries::table
        .inner_join(webhooks::table.on(webhooks::id.eq(webhook_deliveries::webhook_id)))
        .filter(free_at!(Some(now)))
        .filter(webhooks::is_active.eq(true))
        .order((webhook_deliveries::next_attempt_at, webhook_deliveries::id))
        .limit(WINDOW)
        .select((webhook_deliveries::id, webhook_deliveries::webhook_id))
        .load(connection)?;
    if due.is_empty() {
        return Ok(Leases::NothingDue);
    }
    let still_free = webhook_deliveries::table
        .filter(webhook_deliveries::id.eq_any(fair_share(&due, most)))
        .filter(free_at!(Some(now)));
    let taken: Vec<i64> = diesel::update(still_free)
        .set((
            webhook_deliveries::lease_owner.eq(Some(&lease.owner)),
            webhook_deliveries::leased_until.eq(Some(lease.until.naive_utc())),
        ))
        .returning(webhook_deliveries::id)
        .get_results(connection)?;
    Ok(if taken.is_empty() { Leases::OthersWereFaster } else { Leases::Taken(taken) })
}

enum Leases {
    NothingDue,
    OthersWereFaster,
    Taken(Vec<i64>),
}

type ClaimedRow = (i64, String, i32, Option<NaiveDateTime>, String, String, String, String, String);

fn claimed(row: ClaimedRow) -> Result<ClaimedDelivery, StoreError> {
    let (id, delivery_id, attempts, next_attempt_at, url, sealed_secret, event_id, topic, body) = row;
    let attempts = u32::try_from(attempts).map_err(StoreError::corrupt)?;
    let next = next_attempt_at.map(stored::moment);
    let state = DeliveryState::restore("pending", attempts, next, None).map_err(StoreError::corrupt)?;
    let DeliveryState::Pending(pending) = state else {
        return Err(StoreError::corrupt("a claimed delivery is not pending"));
    };
    Ok(ClaimedDelivery {
        id: stored::id(id)?,
        pending,
        url,
        sealed_secret,
        message: Message {
            event: topic,
            event_id: stored::text(&event_id)?,
            delivery_id: stored::text(&delivery_id)?,
            body,
        },
    })
}

fn fan_out(
    connection: &mut AnyConnection,
    events: u32,
    random: &dyn Random,
    at: NaiveDateTime,
) -> Result<FanOut, Abort<StoreError>> {
    let public: Vec<&str> = PublicEvent::ALL.iter().map(|event| event.name()).collect();
    let waiting: Vec<i64> = outbox_events::table
        .filter(outbox_events::dispatched_at.is_null())
        .filter(outbox_events::topic.eq_any(public))
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
    let first = Pending::due(at.and_utc());
    let rows: Vec<NewDeliveryRow> = pairs
        .into_iter()
        .map(|(outbox_event_id, webhook_id, project_id)| {
            Ok(NewDeliveryRow {
                delivery_id: random.uuid().to_string(),
                project_id,
                webhook_id,
                outbox_event_id,
                status: DeliveryState::Pending(first).status(),
                attempts: stored_attempts(first.attempts())?,
                next_attempt_at: first.next_attempt_at().naive_utc(),
                created_at: at,
                updated_at: at,
            })
        })
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
        self.write(move |connection| fan_out(connection, events, &*random, at.naive_utc())).await
    }

    async fn claim(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<ClaimedDelivery>, StoreError> {
        let most = usize::try_from(most).map_err(StoreError::corrupt)?;
        self.write(move |connection| {
            let mut taken = Vec::new();
            for _ in 0..LOOKS {
                match take_leases(connection, &lease, most, now.naive_utc())? {
                    Leases::NothingDue => break,
                    Leases::OthersWereFaster => {}
                    Leases::Taken(ids) => {
                        taken = ids;
                        break;
                    }
                }
            }
            if taken.is_empty() {
                return Ok(Vec::new());
            }
            let rows: Vec<ClaimedRow> = webhook_deliveries::table
                .inner_join(webhooks::table.on(webhooks::id.eq(webhook_deliveries::webhook_id)))
                .inner_join(outbox_events::table.on(outbox_events::id.eq(webhook_deliveries::outbox_event_id)))
                .filter(webhook_deliveries::id.eq_any(taken))
                .order((webhook_deliveries::next_attempt_at, webhook_deliveries::id))
                .select((
                    webhook_deliveries::id,
                    webhook_deliveries::delivery_id,
                    webhook_deliveries::attempts,
                    webhook_deliveries::next_attempt_at,
                    webhooks::url,
                    webhooks::sealed_secret,
                    outbox_events::event_id,
                    outbox_events::topic,
                    outbox_events::payload,
                ))
                .load(connection)?;
            rows.into_iter().map(|row| claimed(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn settle(&self, attempt: SettledAttempt) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let held = webhook_deliveries::table
                .filter(webhook_deliveries::id.eq(attempt.id.get()))
                .filter(webhook_deliveries::lease_owner.eq(Some(&attempt.owner)))
                .filter(webhook_deliveries::attempts.eq(stored_attempts(attempt.from.attempts())?))
                .filter(is_pending());
            let settled = diesel::update(held)
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
            Ok::<_, Abort<StoreError>>(settled > 0)
        })
        .await
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        let owner = owner.to_owned();
        self.write(move |connection| {
            let held =
                webhook_deliveries::table.filter(is_pending()).filter(webhook_deliveries::lease_owner.eq(Some(&owner)));
            let released = diesel::update(held)
                .set((
                    webhook_deliveries::leased_until.eq(None::<NaiveDateTime>),
                    webhook_deliveries::lease_owner.eq(None::<String>),
                ))
                .execute(connection)?;
            Ok(u64::try_from(released).map_err(StoreError::corrupt)?)
        })
        .await
    }

    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError> {
        self.read(move |connection| {
            let public: Vec<&str> = PublicEvent::ALL.iter().map(|event| event.name()).collect();
            let event: Option<NaiveDateTime> = outbox_events::table
                .filter(outbox_events::dispatched_at.is_null())
                .filter(outbox_events::topic.eq_any(public))
                .order(outbox_events::id)
                .select(outbox_events::created_at)
                .first(connection)
                .optional()?;
            let due: Option<Option<NaiveDateTime>> = webhook_deliveries::table
                .inner_join(webhooks::table.on(webhooks::id.eq(webhook_deliveries::webhook_id)))
                .filter(is_pending())
                .filter(webhook_deliveries::next_attempt_at.le(Some(now.naive_utc())))
                .filter(webhooks::is_active.eq(true))
                .order(webhook_deliveries::next_attempt_at)
                .select(webhook_deliveries::next_attempt_at)
                .first(connection)
                .optional()?;
            Ok::<_, Abort<StoreError>>(Backlog {
                oldest_event: event.map(stored::moment),
                oldest_due: due.flatten().map(stored::moment),
            })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::fair_share;

    #[test]
    fn a_busy_webhook_leaves_room_for_the_others() {
        let due = [(1, 10), (2, 10), (3, 10), (4, 20), (5, 30), (6, 20)];
        assert_eq!(fair_share(&due, 4), [1, 4, 5, 2]);
        assert_eq!(fair_share(&due[..3], 2), [1, 2]);
        assert!(fair_share(&[], 4).is_empty());
    }
}
