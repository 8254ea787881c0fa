//! Due deliveries, by endpoint: many deliveries of one endpoint do not delay the others.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::{StoreError, WebhookId};
use kontor_webhooks::model::{CircuitBreaker, WaitingEndpoint, allocate_slots, free_slots};

use super::queue::DELIVERIES;
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::lease::LeaseRequest;
use crate::statement::{Statement, by_place};

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
             (SELECT next_attempt_at FROM webhook_deliveries WHERE webhook_id = h.id AND ",
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
        async fn what_a_project_may_take_is_looked_at_again_when_it_is_taken(db: TestDatabase) {
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
