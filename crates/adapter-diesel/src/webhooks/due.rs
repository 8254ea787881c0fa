//! Which deliveries are due, endpoint by endpoint: many of one endpoint cost the others nothing.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Integer, Timestamp};
use kontor_kernel::{StoreError, WebhookId};
use kontor_webhooks::model::{Circuit, WaitingEndpoint, allocate_slots};

use super::queue::DELIVERIES;
use crate::database::{Abort, AnyConnection};
use crate::lease::{Key as _, LeaseRequest};
use crate::statement::{Statement, by_place};
use crate::stored;

/// The endpoints that have waiting deliveries, each by one step through the index.
const ENDPOINTS: &str = "WITH RECURSIVE waiting (webhook_id) AS (\
    SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.status = 'pending' AND d.parked_at IS NULL \
    ORDER BY d.webhook_id LIMIT 1) \
    UNION ALL SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.status = 'pending' AND d.parked_at IS NULL \
    AND d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1) FROM waiting w WHERE w.webhook_id IS NOT NULL) ";

by_place! {
    struct EndpointRow {
        id: i64 as BigInt,
        project: i64 as BigInt,
        hangs: i32 as Integer,
        since: NaiveDateTime as Timestamp,
    }
}

/// The active endpoints that do not rest and have a delivery that is free, with the moment when the oldest became due.
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
        webhook: i64 as BigInt,
        project: i64 as BigInt,
        count: i64 as BigInt,
    }
}

/// How many deliveries of each endpoint are being sent, by whichever worker.
fn running(connection: &mut AnyConnection, now: NaiveDateTime) -> QueryResult<Vec<RunningRow>> {
    Statement::new(
        "SELECT webhook_id, project_id, count(*) FROM webhook_deliveries WHERE leased_until IS NOT NULL \
         AND leased_until > ",
    )
    .value(now)
    .sql(" AND status = 'pending' GROUP BY webhook_id, project_id")
    .rows(connection)
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The due deliveries of an endpoint, the longest due first, as many as may be sent.
pub(super) struct Due {
    webhook: i64,
    deliveries: Vec<i64>,
}

/// What may be sent now, with a share for every endpoint and project.
pub(super) fn look(
    connection: &mut AnyConnection,
    now: NaiveDateTime,
    most: usize,
) -> Result<Vec<Due>, Abort<StoreError>> {
    let endpoints: Vec<EndpointRow> = endpoints(now).rows(connection)?;
    if endpoints.is_empty() {
        return Ok(Vec::new());
    }
    let (mut by_endpoint, mut by_project) = (BTreeMap::new(), BTreeMap::new());
    for row in running(connection, now)? {
        by_endpoint.insert(row.webhook, count(row.count));
        *by_project.entry(row.project).or_default() += count(row.count);
    }
    let waiting = endpoints.into_iter().map(|row| {
        Ok(WaitingEndpoint {
            webhook: row.id,
            project: row.project,
            since: stored::moment(row.since),
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
        due.push(Due { webhook, deliveries: i64::rows(next, connection)? });
    }
    Ok(due)
}

by_place! {
    struct CircuitRow {
        id: i64 as BigInt,
        hangs: i32 as Integer,
        paused_until: Option<NaiveDateTime> as diesel::sql_types::Nullable<Timestamp>,
    }
}

/// Leases what is still free. What an endpoint may take is looked at again while its record is held, so that several
/// workers together do not send it more than its share.
pub(super) fn take(
    connection: &mut AnyConnection,
    due: &[Due],
    request: &LeaseRequest,
) -> Result<Vec<i64>, Abort<StoreError>> {
    let webhooks: Vec<i64> = due.iter().map(|due| due.webhook).collect();
    let held = Statement::new("SELECT id, hangs, paused_until FROM webhooks WHERE id").among(&webhooks);
    let held: Vec<CircuitRow> = held.locked(connection, " ORDER BY id FOR NO KEY UPDATE").rows(connection)?;
    let running = running(connection, request.now)?;
    let mut deliveries = Vec::new();
    for endpoint in &held {
        let circuit = circuit(endpoint.hangs, endpoint.paused_until)?;
        let sent = running.iter().find(|row| row.webhook == endpoint.id).map_or(0, |row| count(row.count));
        let room = circuit.free_slots(sent, request.now.and_utc());
        let wanted = due.iter().filter(|due| due.webhook == endpoint.id).flat_map(|due| &due.deliveries);
        deliveries.extend(wanted.take(room).copied());
    }
    deliveries.sort_unstable();
    Ok(DELIVERIES.take(connection, &deliveries, request, Statement::default())?)
}

fn circuit(hangs: i32, paused_until: Option<NaiveDateTime>) -> Result<Circuit, StoreError> {
    let hangs = u32::try_from(hangs).map_err(StoreError::corrupt)?;
    Ok(Circuit::restore(hangs, paused_until.map(stored::moment)))
}

/// Stores how an endpoint is doing, unless another attempt that ran at the same time has stored it already.
pub(super) fn update_circuit(
    connection: &mut AnyConnection,
    webhook: WebhookId,
    from: Circuit,
    to: Circuit,
) -> Result<(), Abort<StoreError>> {
    if from == to {
        return Ok(());
    }
    let hangs = |circuit: Circuit| i64::from(circuit.timeouts());
    let until = |moment: DateTime<Utc>| moment.naive_utc();
    let update = Statement::new("UPDATE webhooks SET hangs = ").value(hangs(to)).sql(", paused_until = ");
    let update = match to.paused_until() {
        Some(moment) => update.value(until(moment)),
        None => update.sql("NULL"),
    };
    update.sql(" WHERE id = ").value(webhook.get()).sql(" AND hangs = ").value(hangs(from)).run(connection)?;
    Ok(())
}

/// When the delivery that has waited longest became due; deliveries of endpoints that rest do not count.
pub(super) fn oldest(connection: &mut AnyConnection, now: NaiveDateTime) -> QueryResult<Option<NaiveDateTime>> {
    let endpoints: Vec<EndpointRow> = endpoints(now).rows(connection)?;
    Ok(endpoints.into_iter().map(|row| row.since).min())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn a_look_at_the_endpoints_reads_one_delivery_of_each() {
        let db = TestDatabase::fresh(Kind::Sqlite).unwrap();
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
}
