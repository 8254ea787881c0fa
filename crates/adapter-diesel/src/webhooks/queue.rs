//! Due deliveries of outbox events, by endpoint: many deliveries of one endpoint do not delay the others. They are
//! leased, and their outcomes stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::result::QueryResult;
use diesel::sql_types::Bool;
use kontor_kernel::{Random, StoreError, WebhookId, Word};
use kontor_webhooks::model::{
    CircuitBreaker, DeliveryState, Message, Pending, PublicEvent, WaitingEndpoint, allocate_slots, free_slots,
};
use kontor_webhooks::ports::{AttemptRecord, Backlog, DeliveryQueue, FanOut, Lease, LeasedDelivery};
use uuid::Uuid;

use super::endpoints::stored_attempts;
use crate::database::{Abort, AnyConnection, Database, found, on_each};
use crate::decode;
use crate::lease::{LeaseRequest, Leased, Queue, is_here};
use crate::schema::{outbox_events, referred, webhook_deliveries, webhooks};
use crate::statement::{Statement, by_place};

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
    of_projects: true,
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
        .inner_join(referred!(webhooks, webhook_deliveries::webhook_id))
        .inner_join(referred!(outbox_events, webhook_deliveries::outbox_event_id))
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
        .filter(sql::<Bool>(&is_here("outbox_events")))
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
    let same_application = webhooks::application_id.eq(outbox_events::application_id);
    let pairs: Vec<(i64, i64, i64)> = outbox_events::table
        .inner_join(webhooks::table.on(same_application.and(webhooks::project_id.eq(outbox_events::project_id))))
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
                .filter(sql::<Bool>(&is_here("outbox_events")))
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
            let due = self.read(move |connection| look(connection, at, most)).await?;
            if due.is_empty() {
                break;
            }
            let mine = request.clone();
            let taken = self.write(move |connection| take(connection, &due, &mine)).await?;
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
            update_circuit(connection, attempt.webhook_id, attempt.circuit, attempt.circuit_after)?;
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
                .filter(sql::<Bool>(&is_here("outbox_events")))
                .filter(outbox_events::topic.eq_any(public_topics()))
                .order(outbox_events::id)
                .select(outbox_events::created_at)
                .first(connection)
                .optional()?;
            let due = oldest(connection, now.naive_utc())?;
            Ok::<_, Abort<StoreError>>(Backlog {
                oldest_event: event.map(decode::moment),
                oldest_due: due.map(decode::moment),
            })
        })
        .await
    }
}

/// Endpoints with waiting deliveries, found with one index step each.
const ENDPOINTS: &str = "WITH RECURSIVE waiting (webhook_id) AS (\
    SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.status = 'pending' AND d.parked_at IS NULL \
    ORDER BY d.webhook_id LIMIT 1) \
    UNION ALL SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.status = 'pending' AND d.parked_at IS NULL \
    AND d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1) FROM waiting w WHERE w.webhook_id IS NOT NULL) ";

by_place! {
    struct EndpointRow {
        id: i64,
        project: i64,
        hangs: i32,
        since: NaiveDateTime,
    }
}

/// Selects the active endpoints that are not paused and have a free delivery, with the time when the oldest became due.
fn endpoints(now: NaiveDateTime) -> Statement {
    Statement::new(ENDPOINTS)
        .sql(
            "SELECT id, project_id, hangs, since FROM (SELECT h.id, h.project_id, h.hangs, \
             (SELECT next_attempt_at FROM webhook_deliveries \
             WHERE webhook_id = h.id AND project_id = h.project_id AND ",
        )
        .then(DELIVERIES.free(now))
        .sql(
            " ORDER BY next_attempt_at LIMIT 1) AS since FROM waiting w JOIN webhooks h ON h.id = w.webhook_id \
             WHERE h.is_active AND (h.paused_until IS NULL OR h.paused_until <= ",
        )
        .value(now)
        .sql(")) AS e WHERE since IS NOT NULL")
}

by_place! {
    struct RunningRow {
        webhook: i64,
        project: i64,
        count: i64,
    }
}

/// Returns the number of deliveries in progress per endpoint, across all workers.
fn running(connection: &mut AnyConnection, now: NaiveDateTime) -> QueryResult<Vec<RunningRow>> {
    Statement::new(
        "SELECT webhook_id, project_id, count(*) FROM webhook_deliveries WHERE leased_until IS NOT NULL \
         AND leased_until > ",
    )
    .value(now)
    .sql(" AND status = 'pending' GROUP BY webhook_id, project_id")
    .rows(connection)
}

/// Returns the number of deliveries in progress, by endpoint and by project.
fn sent(
    connection: &mut AnyConnection,
    now: NaiveDateTime,
) -> QueryResult<(BTreeMap<i64, usize>, BTreeMap<i64, usize>)> {
    let (mut by_endpoint, mut by_project) = (BTreeMap::new(), BTreeMap::new());
    for row in running(connection, now)? {
        by_endpoint.insert(row.webhook, count(row.count));
        *by_project.entry(row.project).or_default() += count(row.count);
    }
    Ok((by_endpoint, by_project))
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Due deliveries of an endpoint, longest due first, as many as may be sent.
pub(super) struct Due {
    webhook: i64,
    deliveries: Vec<i64>,
}

/// Returns the deliveries that may be sent now, with a share for every endpoint and project.
pub(super) fn look(
    connection: &mut AnyConnection,
    now: NaiveDateTime,
    most: usize,
) -> Result<Vec<Due>, Abort<StoreError>> {
    let endpoints: Vec<EndpointRow> = endpoints(now).rows(connection)?;
    if endpoints.is_empty() {
        return Ok(Vec::new());
    }
    let (by_endpoint, by_project) = sent(connection, now)?;
    let waiting = endpoints.into_iter().map(|row| {
        Ok(WaitingEndpoint {
            webhook: row.id,
            project: row.project,
            since: decode::moment(row.since),
            circuit: circuit(row.hangs, None)?,
            running: by_endpoint.get(&row.id).copied().unwrap_or_default(),
        })
    });
    let waiting: Vec<WaitingEndpoint> = waiting.collect::<Result<_, StoreError>>()?;
    let mut due = Vec::new();
    for (webhook, share) in allocate_slots(&waiting, by_project, most) {
        let next = Statement::new("SELECT id FROM webhook_deliveries WHERE webhook_id = ")
            .value(webhook)
            .sql(" AND ")
            .then(DELIVERIES.free(now))
            .sql(" ORDER BY next_attempt_at, id LIMIT ")
            .value(i64::try_from(share).unwrap_or(i64::MAX));
        due.push(Due { webhook, deliveries: next.scalars(connection)? });
    }
    Ok(due)
}

by_place! {
    struct CircuitRow {
        id: i64,
        project: i64,
        hangs: i32,
        paused_until: Option<NaiveDateTime>,
    }
}

/// Leases the deliveries that are still free. Limits of endpoint and project are checked again while all endpoints of
/// the project are locked, so that several workers together do not exceed them.
pub(super) fn take(
    connection: &mut AnyConnection,
    due: &[Due],
    request: &LeaseRequest,
) -> Result<Vec<i64>, Abort<StoreError>> {
    let webhooks: Vec<i64> = due.iter().map(|due| due.webhook).collect();
    let projects: Vec<i64> =
        Statement::new("SELECT DISTINCT project_id FROM webhooks WHERE id").among(&webhooks).scalars(connection)?;
    let held = Statement::new("SELECT id, project_id, hangs, paused_until FROM webhooks WHERE project_id");
    let held = held.among(&projects);
    let held: Vec<CircuitRow> = held.locked(connection, " ORDER BY id FOR NO KEY UPDATE").rows(connection)?;
    let (mut by_endpoint, mut by_project) = sent(connection, request.now)?;
    let mut deliveries = Vec::new();
    for endpoint in &held {
        let circuit = circuit(endpoint.hangs, endpoint.paused_until)?;
        let sent = by_endpoint.remove(&endpoint.id).unwrap_or_default();
        let of_project = by_project.entry(endpoint.project).or_insert(0);
        let room = free_slots(circuit, sent, *of_project, request.now.and_utc());
        let wanted = due.iter().filter(|due| due.webhook == endpoint.id).flat_map(|due| &due.deliveries);
        let before = deliveries.len();
        deliveries.extend(wanted.take(room).copied());
        *of_project += deliveries.len() - before;
    }
    deliveries.sort_unstable();
    Ok(DELIVERIES.take(connection, &deliveries, request, Statement::default())?)
}

fn circuit(hangs: i32, paused_until: Option<NaiveDateTime>) -> Result<CircuitBreaker, StoreError> {
    let hangs = u32::try_from(hangs).map_err(StoreError::corrupt)?;
    Ok(CircuitBreaker::restore(hangs, paused_until.map(decode::moment)))
}

/// Stores the state of the circuit breaker, unless a concurrent attempt has stored it already.
pub(super) fn update_circuit(
    connection: &mut AnyConnection,
    webhook: WebhookId,
    from: CircuitBreaker,
    to: CircuitBreaker,
) -> Result<(), Abort<StoreError>> {
    if from == to {
        return Ok(());
    }
    let hangs = |circuit: CircuitBreaker| i64::from(circuit.timeouts());
    let until = |moment: DateTime<Utc>| moment.naive_utc();
    let update = Statement::new("UPDATE webhooks SET hangs = ").value(hangs(to)).sql(", paused_until = ");
    let update = match to.paused_until() {
        Some(moment) => update.value(until(moment)),
        None => update.sql("NULL"),
    };
    update.sql(" WHERE id = ").value(webhook.get()).sql(" AND hangs = ").value(hangs(from)).run(connection)?;
    Ok(())
}

/// Returns the time when the longest waiting delivery became due; deliveries of paused endpoints do not count.
pub(super) fn oldest(connection: &mut AnyConnection, now: NaiveDateTime) -> QueryResult<Option<NaiveDateTime>> {
    let endpoints: Vec<EndpointRow> = endpoints(now).rows(connection)?;
    Ok(endpoints.into_iter().map(|row| row.since).min())
}

#[cfg(test)]
mod tests {
    use kontor_webhooks::model::MAX_PER_PROJECT;

    use super::*;
    use crate::database_tests;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn a_look_at_the_endpoints_reads_one_delivery_of_each() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let look = |connection: &mut AnyConnection| {
            endpoints(NaiveDateTime::default()).plan(connection).map_err(Abort::<StoreError>::Query)
        };
        let plan = db.database.read(look).await.unwrap();
        for step in
            ["webhook_deliveries_due (webhook_id>?)", "webhook_deliveries_due (webhook_id=? AND next_attempt_at<?)"]
        {
            assert!(plan.contains(step), "{plan}");
        }
        assert!(!plan.contains("SCAN webhook_deliveries") && !plan.contains("SCAN h"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }

    /// Creates a project with three endpoints that have 8, 8 and 5 deliveries; those of the third are due a minute
    /// later.
    fn project(connection: &mut AnyConnection) -> QueryResult<()> {
        let at = "'1970-01-01 00:00:00'";
        let run = |connection: &mut AnyConnection, sql: String| Statement::new(sql).run(connection);
        run(connection, format!("INSERT INTO projects (name, currency, created_at) VALUES ('P', 'RUB', {at})"))?;
        run(
            connection,
            format!("INSERT INTO branches (project_id, name, created_at, updated_at) VALUES (1, 'B', {at}, {at})"),
        )?;
        run(
            connection,
            format!(
                "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
                 updated_at) VALUES (1, 1, 'A', 't', TRUE, FALSE, {at}, {at})"
            ),
        )?;
        for event in 1..=8 {
            run(
                connection,
                format!(
                    "INSERT INTO outbox_events (event_id, project_id, application_id, topic, payload, created_at) VALUES \
                     ('{event}', 1, 1, 'order.paid', '{{}}', {at})"
                ),
            )?;
        }
        let endpoints = [(1, 8, at), (2, 8, at), (3, 5, "'1970-01-01 00:01:00'")];
        for (webhook, deliveries, due) in endpoints {
            run(
                connection,
                format!(
                    "INSERT INTO webhooks (project_id, application_id, url, sealed_secret, is_active, created_at, updated_at) \
                     VALUES (1, 1, 'https://shop.example', '', TRUE, {at}, {at})"
                ),
            )?;
            for event in 1..=deliveries {
                run(
                    connection,
                    format!(
                        "INSERT INTO webhook_deliveries (delivery_id, project_id, webhook_id, outbox_event_id, status, \
                         attempts, next_attempt_at, created_at, updated_at) VALUES ('{webhook}-{event}', 1, {webhook}, \
                         {event}, 'pending', 0, {due}, {at}, {at})"
                    ),
                )?;
            }
        }
        Ok(())
    }

    database_tests! {
        async fn the_share_of_a_project_is_checked_again_when_it_leases(db: TestDatabase) {
            let filled =
                db.database.write_and_invalidate_all(|connection| Ok::<_, Abort<StoreError>>(project(connection)?));
            filled.await.unwrap();
            let at = |seconds| (DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(seconds)).naive_utc();
            let look =
                async |seconds| db.database.read(move |connection| look(connection, at(seconds), 64)).await.unwrap();
            // Both read before either leases; the second sees one endpoint more.
            let (first, second) = (look(0).await, look(60).await);
            let take = async |due: Vec<Due>, owner: &'static str| {
                let request = LeaseRequest { owner: owner.to_owned(), now: at(60), until: at(120), most: 64 };
                db.database.write(move |connection| take(connection, &due, &request)).await.unwrap().len()
            };
            assert_eq!(second.len(), 3);
            assert_eq!(take(first, "first").await, MAX_PER_PROJECT);
            assert_eq!(take(second, "second").await, 0, "the project has its share");
        }
    }
}
