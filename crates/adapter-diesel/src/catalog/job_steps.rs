//! Progress of jobs, recorded in the transaction that does the work.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_catalog::bulk::{JobLease, PartError, Step, Tally};
use kontor_catalog::spreadsheet::{ImportError, ImportReport, RowProblems};
use kontor_kernel::StoreError;

use crate::database::{Abort, AnyConnection, Database};
use crate::schema::jobs;
use crate::statement::Statement;

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

/// Refuses a step of a job that is no longer held, or that was done already.
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
            jobs::leased_until.eq(Some(step.until.naive_utc())),
        ))
        .returning(jobs::problems_count)
        .get_result(connection)
        .optional()?;
    let known = known.ok_or(Abort::Refused(PartError::LeaseLost))?;
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
            [held.job.get().into(), problem.row.into(), problem.column.into(), problem.reason.as_str().into()]
        });
        let statement = Statement::new("INSERT INTO job_errors (job_id, row_number, column_name, reason) VALUES ");
        statement.tuples(rows).once().run(connection)?;
    }
    Ok(())
}

/// Converts the refusal of an import into the refusal of a part.
pub(super) fn of_part(abort: Abort<ImportError>) -> Abort<PartError> {
    abort.map(PartError::from)
}
