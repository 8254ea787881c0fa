//! Queues of imports and exports: one job of a project and queue runs at a time; the others wait in order of arrival.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_catalog::bulk::{JobLease, JobState};
use kontor_kernel::{JobId, ProjectId, StoreError, Word as _};

use crate::database::{Abort, AnyConnection, Database, on_duplicate};
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::statement::Statement;

/// Jobs that may be taken: those whose lease has expired, and the first queued ones of projects where none runs. They
/// are not sorted, because that would keep SQLite from using the partial indexes. These are two statements, because
/// SQLite does not plan the combined condition well.
fn due(queue: &Queue, only: Option<JobId>, now: NaiveDateTime) -> Statement {
    let table = queue.table;
    let only = |statement: Statement| match only {
        Some(id) => statement.sql(" AND j.id = ").value(id.get()),
        None => statement,
    };
    let left =
        format!("SELECT j.id FROM {table} j WHERE j.state = 'running' AND j.parked_at IS NULL AND j.leased_until <= ");
    let waiting = format!(
        " UNION ALL SELECT j.id FROM {table} j WHERE j.state = 'queued' AND j.parked_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM {table} o WHERE o.project_id = j.project_id AND o.state = 'running') AND NOT EXISTS \
         (SELECT 1 FROM {table} o WHERE o.project_id = j.project_id AND o.state = 'queued' AND o.parked_at IS NULL \
         AND o.id < j.id)"
    );
    only(only(Statement::new(left).value(now)).sql(waiting))
}

/// Maximum jobs to try when other workers are faster.
const MAX_LEASE_ROUNDS: usize = 4;

/// Reason why a job was not taken.
enum LeaseError {
    TakenByOthers,
    Store(StoreError),
}

impl From<StoreError> for LeaseError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Takes the next job: `only` this one, or the oldest.
pub(super) async fn take_next<R: Send + 'static, T: Send + 'static>(
    database: &Database,
    queue: &'static Queue,
    only: Option<JobId>,
    request: LeaseRequest,
    leased: Leased<i64, R, T>,
) -> Result<Option<T>, StoreError> {
    let now = request.now;
    // This read does not occupy the only writer.
    let mut due: Vec<i64> =
        database.read(move |connection| Ok::<_, Abort<StoreError>>(due(queue, only, now).scalars(connection)?)).await?;
    due.sort_unstable();
    for id in due.into_iter().take(MAX_LEASE_ROUNDS) {
        let mine = request.clone();
        let taken = database.write(move |connection| {
            let set = Statement::new(", state = 'running', started_at = COALESCE(started_at, ")
                .value(mine.now)
                .sql("), tries = tries + 1");
            // The unique key refuses a second running job of the project.
            queue.take(connection, &[id], &mine, set).map_err(on_duplicate(LeaseError::TakenByOthers))
        });
        let taken = match taken.await {
            Ok(taken) => taken,
            Err(LeaseError::TakenByOthers) => continue,
            Err(LeaseError::Store(error)) => return Err(error),
        };
        if let Some(job) = database.read_leased(queue, &request, taken, leased).await?.pop() {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// Returns the number of queued jobs of a project.
pub(super) fn waiting(connection: &mut AnyConnection, queue: &Queue, project: ProjectId) -> QueryResult<i64> {
    Statement::new(format!("SELECT count(*) FROM {} WHERE parked_at IS NULL AND project_id = ", queue.table))
        .value(project.get())
        .sql(" AND state = ")
        .value(JobState::Queued.word())
        .scalar(connection)
}

/// Cancels a job that is not finished. Returns `false` if it is finished already.
pub(super) fn cancel(connection: &mut AnyConnection, queue: &Queue, id: JobId, at: NaiveDateTime) -> QueryResult<bool> {
    let canceled = Statement::new(format!("UPDATE {} SET state = ", queue.table))
        .value(JobState::Canceled.word())
        .sql(", parked_at = NULL, parked_reason = NULL, lease_owner = NULL, leased_until = NULL, finished_at = ")
        .value(at)
        .sql(format!(" WHERE {} AND id = ", queue.open))
        .value(id.get())
        .run(connection)?;
    Ok(canceled > 0)
}

/// Ends the lease of a held job, so that it is taken again.
pub(super) async fn release(
    database: &Database,
    queue: &'static Queue,
    held: JobLease,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    database
        .write(move |connection| {
            Statement::new(format!("UPDATE {} SET tries = 0, leased_until = ", queue.table))
                .value(now.naive_utc())
                .sql(" WHERE id = ")
                .value(held.job.get())
                .sql(" AND state = 'running' AND lease_owner = ")
                .value(held.owner.as_str())
                .run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
}

/// Removes the location of the deleted file of a job.
pub(super) async fn forget_file(database: &Database, queue: &'static Queue, id: JobId) -> Result<(), StoreError> {
    database
        .write(move |connection| {
            let forget = format!("UPDATE {} SET file_place = NULL WHERE id = ", queue.table);
            Statement::new(forget).value(id.get()).run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
}
