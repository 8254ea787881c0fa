//! Queues of imports and exports: one job of a project and queue runs at a time; the others wait in order of arrival.
//! The progress of a job is recorded in the transaction that does the work. The rights of its author are checked again
//! while it runs.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::{Error as QueryError, QueryResult};
use kontor_catalog::bulk::{JobKind, JobLease, JobState, PartError, Step, Tally};
use kontor_catalog::spreadsheet::{ImportError, ImportReport, RowProblems};
use kontor_kernel::{JobId, Permission, ProjectId, StoreError, Word as _};

use crate::customer_data::guard;
use crate::database::{Abort, AnyConnection, Database, on_duplicate};
use crate::decode;
use crate::lease::{LeaseRequest, Leased, Queue, is_here};
use crate::schema::jobs;
use crate::statement::{Statement, by_place};

/// Jobs that may be taken: those whose lease has expired, and the first queued ones of projects where none runs. They
/// are not sorted, because that would keep SQLite from using the partial indexes. These are two statements, because
/// SQLite does not plan the combined condition well.
fn due(queue: &Queue, only: Option<JobId>, now: NaiveDateTime) -> Statement {
    let table = queue.table;
    let only = |statement: Statement| match only {
        Some(id) => statement.sql(" AND j.id = ").value(id.get()),
        None => statement,
    };
    let here = is_here("j");
    let left = format!(
        "SELECT j.id FROM {table} j WHERE j.state = 'running' AND j.parked_at IS NULL AND {here} AND j.leased_until <= "
    );
    let waiting = format!(
        " UNION ALL SELECT j.id FROM {table} j WHERE j.state = 'queued' AND j.parked_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM {table} o WHERE o.project_id = j.project_id AND o.state = 'running') AND NOT EXISTS \
         (SELECT 1 FROM {table} o WHERE o.project_id = j.project_id AND o.state = 'queued' AND o.parked_at IS NULL \
         AND o.id < j.id) AND {here}"
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

/// Ends the lease of a held job, so that it is taken again. This is no lapse.
pub(super) async fn release(
    database: &Database,
    queue: &'static Queue,
    held: JobLease,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    database
        .write(move |connection| {
            Statement::new(format!("UPDATE {} SET tries = 0, lapses = 0, leased_until = ", queue.table))
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
pub(super) async fn clear_file(database: &Database, queue: &'static Queue, id: JobId) -> Result<(), StoreError> {
    database
        .write(move |connection| {
            let clear = format!("UPDATE {} SET file_place = NULL WHERE id = ", queue.table);
            Statement::new(clear).value(id.get()).run(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
}

/// Maximum problems stored per job.
const MAX_STORED_PROBLEMS: u64 = 10_000;

/// Rows per insert, well below the maximum number of bound values.
const ROWS: usize = 500;

/// Job held by this process; only the holder may change it.
macro_rules! held_by {
    ($jobs:ident, $held:expr) => {
        $jobs::table
            .filter($jobs::id.eq($held.job.get()))
            .filter($jobs::state.eq("running"))
            .filter($jobs::lease_owner.eq(Some(&$held.owner)))
    };
}
pub(super) use held_by;

pub(super) fn stored(count: u64) -> Result<i64, StoreError> {
    i64::try_from(count).map_err(StoreError::corrupt)
}

/// Makes the database analyze its tables during a job, each time the number of processed rows has doubled.
pub(super) async fn analyze_periodically(database: &Database, step: Step) {
    if step.through.checked_ilog2() > step.after.checked_ilog2() {
        database.analyze_tables().await;
    }
}

/// Number of written rows from which an import is followed by `ANALYZE`.
const ANALYZED: usize = 1_000;

/// Makes the database analyze its tables after an import of many rows. Errors are logged only.
pub(super) async fn analyze_after(database: &Database, written: usize) {
    if written >= ANALYZED {
        database.analyze_tables().await;
        database.enter_new_rows().await;
    }
}

/// Refuses a step of a job that is no longer held, that was done already, or whose author may no longer do it.
pub(super) fn commit_step(
    connection: &mut AnyConnection,
    held: &JobLease,
    step: Step,
    report: &ImportReport,
) -> Result<(), Abort<PartError>> {
    let tally = Tally::from(report);
    let known: Option<i64> = diesel::update(held_by!(jobs, held).filter(jobs::checkpoint.eq(i64::from(step.after))))
        .set((
            jobs::checkpoint.eq(i64::from(step.through)),
            jobs::done_rows.eq(jobs::done_rows + stored(step.rows)?),
            jobs::created_count.eq(jobs::created_count + stored(tally.created)?),
            jobs::updated_count.eq(jobs::updated_count + stored(tally.updated)?),
            jobs::unchanged_count.eq(jobs::unchanged_count + stored(tally.unchanged)?),
            jobs::skipped_count.eq(jobs::skipped_count + stored(tally.skipped)?),
            jobs::problems_count.eq(jobs::problems_count + stored(tally.problems)?),
            jobs::tries.eq(0),
            jobs::lapses.eq(0),
            jobs::leased_until.eq(Some(step.until.naive_utc())),
        ))
        .returning(jobs::problems_count)
        .get_result(connection)
        .optional()?;
    let known = known.ok_or(Abort::Refused(PartError::LeaseLost))?;
    if !may_continue(connection, "jobs", held.job)? {
        return Err(Abort::Refused(PartError::AuthorDenied));
    }
    store_problems(connection, held, &report.problems, known)?;
    Ok(())
}

/// Stores problems, after they are counted, up to the limit of the error sheet.
pub(super) fn store_problems(
    connection: &mut AnyConnection,
    held: &JobLease,
    problems: &RowProblems,
    counted: i64,
) -> Result<(), QueryError> {
    let total = u64::try_from(problems.total()).unwrap_or(u64::MAX);
    let before = u64::try_from(counted).unwrap_or_default().saturating_sub(total);
    let room = usize::try_from(MAX_STORED_PROBLEMS.saturating_sub(before)).unwrap_or_default();
    for chunk in problems.kept().get(..room.min(problems.kept().len())).unwrap_or_default().chunks(ROWS) {
        let rows = chunk.iter().map(|problem| {
            [
                held.project.get().into(),
                held.job.get().into(),
                problem.row.into(),
                problem.column.into(),
                problem.reason.as_str().into(),
            ]
        });
        let statement =
            Statement::new("INSERT INTO job_errors (project_id, job_id, row_number, column_name, reason) VALUES ");
        statement.tuples(rows).once().run(connection)?;
    }
    Ok(())
}

/// Converts the refusal of an import into the refusal of a part.
pub(super) fn of_part(abort: Abort<ImportError>) -> Abort<PartError> {
    abort.map(PartError::from)
}

by_place! {
    struct JobRow {
        project: i64,
        kind: String,
        user: Option<i64>,
        token: Option<i64>,
    }
}

by_place! {
    struct RoleRow {
        id: i64,
        is_owner: bool,
    }
}

/// Returns `true` if these names include every needed permission.
fn cover(names: &[String], needed: &[Permission]) -> bool {
    let granted: BTreeSet<Permission> =
        Permission::all().filter(|permission| names.contains(&permission.to_string())).collect();
    needed.iter().all(|permission| permission.is_covered_by(&granted))
}

/// Returns `true` if the author of a job of this table may still start it. A job from the command line has no author.
/// An agent needs the token that started the job and, for imports, a policy that lets agents write.
pub(super) fn may_continue<R>(
    connection: &mut AnyConnection,
    table: &'static str,
    id: JobId,
) -> Result<bool, Abort<R>> {
    let job: JobRow = Statement::new(format!("SELECT project_id, kind, user_id, token_id FROM {table} WHERE id = "))
        .value(id.get())
        .row(connection)?;
    let Some(user) = job.user else { return Ok(true) };
    let kind: JobKind = decode::word(table, id, "kind", &job.kind)?;
    let needed = kind.to_start();
    let role: Option<RoleRow> = Statement::new(
        "SELECT r.id, r.is_owner FROM users u JOIN roles r ON r.id = u.role_id AND r.project_id = u.project_id \
         WHERE u.is_banned = FALSE AND u.id = ",
    )
    .value(user)
    .sql(" AND u.project_id = ")
    .value(job.project)
    .row(connection)
    .optional()?;
    let Some(role) = role else { return Ok(false) };
    if !role.is_owner {
        let names: Vec<String> = Statement::new(
            "SELECT p.name FROM role_permissions g JOIN permissions p ON p.id = g.permission_id WHERE g.role_id = ",
        )
        .value(role.id)
        .scalars(connection)?;
        if !cover(&names, needed) {
            return Ok(false);
        }
    }
    let Some(token) = job.token else { return Ok(true) };
    let abilities: Option<Option<String>> = Statement::new("SELECT abilities FROM access_tokens WHERE guard = ")
        .value(guard::USER)
        .sql(" AND id = ")
        .value(token)
        .sql(" AND subject_id = ")
        .value(user)
        .scalar(connection)
        .optional()?;
    let Some(abilities) = abilities else { return Ok(false) };
    let names: Option<Vec<String>> =
        abilities.map(|text| serde_json::from_str(&text).map_err(StoreError::corrupt)).transpose()?;
    if names.is_some_and(|names| !cover(&names, needed)) {
        return Ok(false);
    }
    let refuses_writes: Option<bool> = Statement::new("SELECT refuses_writes FROM agent_policies WHERE project_id = ")
        .value(job.project)
        .scalar(connection)
        .optional()?;
    Ok(!(matches!(kind, JobKind::Import(_)) && refuses_writes.unwrap_or_default()))
}
