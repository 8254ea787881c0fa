//! Imports: queued, taken under a lease, completed. Also functions shared with exports.

use std::cmp::Reverse;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::bulk::ports::JobRepository;
use kontor_catalog::bulk::{
    Ending, Job, JobError, JobFilter, JobKind, JobLease, JobOptions, JobPhase, JobProblem, JobRefusal, JobState,
    LeasedJob, NewJob, PartError, PassResult, Step, Tally,
};
use kontor_catalog::spreadsheet::{ImportKind, ImportMode, ImportReport, RowPreview};
use kontor_kernel::{JobId, Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, Word as _};

use super::exports::{self, EXPORTS};
use super::import_columns;
use super::job_order::{self, held_by, stored as count, take_next};
use crate::database::{Abort, AnyConnection, Database, found};
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::locks::lock_project;
use crate::schema::{job_errors, jobs, keyed, projects};
use crate::statement::Statement;
use crate::{decode, records, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs)]
struct JobRow {
    id: i64,
    project_id: i64,
    kind: String,
    state: String,
    phase: String,
    dry_run: bool,
    partial: bool,
    file_name: Option<String>,
    file_bytes: i64,
    total_rows: Option<i64>,
    done_rows: i64,
    checkpoint: i64,
    created_count: i64,
    updated_count: i64,
    unchanged_count: i64,
    skipped_count: i64,
    problems_count: i64,
    ignored_columns: String,
    reading: Option<String>,
    layout: Option<String>,
    failure: Option<String>,
    user_id: Option<i64>,
    created_at: NaiveDateTime,
    started_at: Option<NaiveDateTime>,
    finished_at: Option<NaiveDateTime>,
}

#[derive(Insertable)]
#[diesel(table_name = jobs)]
struct NewJobRow<'a> {
    project_id: i64,
    kind: &'static str,
    state: &'static str,
    phase: &'static str,
    dry_run: bool,
    partial: bool,
    file_place: &'a str,
    file_name: Option<&'a str>,
    file_bytes: i64,
    done_rows: i64,
    checkpoint: i64,
    created_count: i64,
    updated_count: i64,
    unchanged_count: i64,
    skipped_count: i64,
    problems_count: i64,
    ignored_columns: &'a str,
    reading: Option<String>,
    user_id: Option<i64>,
    token_id: Option<i64>,
    tries: i32,
    created_at: NaiveDateTime,
}

impl NewJobRow<'_> {
    /// Returns a queued import without its file.
    fn queued(project: ProjectId, kind: ImportKind, at: NaiveDateTime) -> Self {
        Self {
            project_id: project.get(),
            kind: kind.word(),
            state: JobState::Queued.word(),
            phase: JobPhase::Checking.word(),
            dry_run: false,
            partial: false,
            file_place: "",
            file_name: None,
            file_bytes: 0,
            done_rows: 0,
            checkpoint: 0,
            created_count: 0,
            updated_count: 0,
            unchanged_count: 0,
            skipped_count: 0,
            problems_count: 0,
            ignored_columns: "[]",
            reading: None,
            user_id: None,
            token_id: None,
            tries: 0,
            created_at: at,
        }
    }
}

impl TryFrom<JobRow> for Job {
    type Error = StoreError;

    fn try_from(row: JobRow) -> Result<Self, StoreError> {
        let unknown = |column, word: &str| decode::unknown("jobs", row.id, column, word);
        let mode = if row.partial { ImportMode::Partial } else { ImportMode::AllOrNothing };
        let kind = import_kind(&row)?;
        let reading = import_columns::reading(kind, row.reading.as_deref())?;
        Ok(Self {
            id: decode::id(row.id)?,
            kind: kind.into(),
            options: JobOptions { dry_run: row.dry_run, mode },
            reading,
            state: JobState::from_word(&row.state).ok_or_else(|| unknown("state", &row.state))?,
            phase: JobPhase::from_word(&row.phase).ok_or_else(|| unknown("phase", &row.phase))?,
            file_name: row.file_name,
            file_bytes: decode::count(row.file_bytes)?,
            file_expires_at: None,
            total_rows: decode::optional_count(row.total_rows)?,
            done_rows: decode::count(row.done_rows)?,
            checkpoint: u32::try_from(row.checkpoint).map_err(StoreError::corrupt)?,
            tally: Tally {
                created: decode::count(row.created_count)?,
                updated: decode::count(row.updated_count)?,
                unchanged: decode::count(row.unchanged_count)?,
                skipped: decode::count(row.skipped_count)?,
                problems: decode::count(row.problems_count)?,
            },
            ignored_columns: serde_json::from_str(&row.ignored_columns).map_err(StoreError::corrupt)?,
            layout: row.layout.as_deref().map(import_columns::layout).transpose()?,
            failure: row.failure,
            user_id: decode::optional_id(row.user_id)?,
            created_at: decode::moment(row.created_at),
            started_at: row.started_at.map(decode::moment),
            finished_at: row.finished_at.map(decode::moment),
        })
    }
}

fn import_kind(row: &JobRow) -> Result<ImportKind, StoreError> {
    decode::word("jobs", row.id, "kind", &row.kind)
}

fn ignored_text(ignored: &[String]) -> Result<String, StoreError> {
    serde_json::to_string(ignored).map_err(StoreError::corrupt)
}

fn row(connection: &mut AnyConnection, id: JobId) -> QueryResult<Option<JobRow>> {
    jobs::table.find(id.get()).select(JobRow::as_select()).first(connection).optional()
}

/// Refuses if the project has the maximum number of queued jobs. Locks the project, so that its jobs are added one
/// after the other.
pub(super) fn require_room(
    connection: &mut AnyConnection,
    project: ProjectId,
    most: u32,
) -> Result<(), Abort<JobError>> {
    lock_project(connection, project)?;
    if waiting(connection, project)? < i64::from(most) {
        Ok(())
    } else {
        Err(Abort::refused(JobRefusal::TooManyWaiting(most)))
    }
}

fn waiting(connection: &mut AnyConnection, project: ProjectId) -> QueryResult<i64> {
    Ok(job_order::waiting(connection, &JOBS, project)? + job_order::waiting(connection, &EXPORTS, project)?)
}

/// Returns an id for an export. The table of imports issues the ids of both, so imports and exports never share one.
pub(super) fn next_number(connection: &mut AnyConnection, project: ProjectId, at: NaiveDateTime) -> QueryResult<i64> {
    let row = NewJobRow::queued(project, ImportKind::Nomenclatures, at);
    let id = diesel::insert_into(jobs::table).values(row).returning(jobs::id).get_result(connection)?;
    diesel::delete(keyed!(jobs, id, project)).execute(connection)?;
    Ok(id)
}

/// `SELECT id ...`: jobs of a project that match the filter, imports and exports.
fn listed(project: ProjectId, filter: &JobFilter) -> Statement {
    let kinds = if filter.kinds.is_empty() { JobKind::all() } else { &filter.kinds };
    let states = if filter.states.is_empty() { JobState::all() } else { &filter.states };
    let of = |table: &str| {
        Statement::new(format!("SELECT id FROM {table} WHERE project_id = "))
            .value(project.get())
            .sql(" AND kind IN ")
            .tuple(kinds.iter().map(|kind| kind.word().into()))
            .sql(" AND state IN ")
            .tuple(states.iter().map(|state| state.word().into()))
    };
    of("jobs").sql(" UNION ALL ").then(of("exports"))
}

/// Imports that are not finished. A parked import has the state `queued`, so it does not block others of its project.
pub(crate) const JOBS: Queue = Queue {
    table: "jobs",
    key: "id",
    due: None,
    open: "state IN ('queued', 'running')",
    on_park: ", state = 'queued'",
    of_projects: true,
};

/// A job with the location of its file, its attempts and its holder.
type LeasedRow = (JobRow, Option<String>, i32, Option<String>);

const LEASED: Leased<i64, LeasedRow, LeasedJob> = Leased { load, read: leased };

fn load(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, LeasedRow)>> {
    let rows: Vec<LeasedRow> = jobs::table
        .filter(jobs::id.eq_any(ids))
        .select((JobRow::as_select(), jobs::file_place, jobs::tries, jobs::lease_owner))
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.0.id, row)).collect())
}

fn leased((job, place, tries, owner): LeasedRow) -> Result<LeasedJob, StoreError> {
    let missing = |what: &str| StoreError::corrupt(format!("a leased job has no {what}"));
    Ok(LeasedJob {
        project: decode::id(job.project_id)?,
        kind: import_kind(&job)?,
        job: job.try_into()?,
        place: place.ok_or_else(|| missing("file"))?,
        owner: owner.ok_or_else(|| missing("owner"))?,
        tries: u32::try_from(tries).map_err(StoreError::corrupt)?,
    })
}

/// Number, row, column and reason of a problem.
type ProblemRow = (i64, i64, String, String);

fn problem((number, row, column, reason): ProblemRow) -> Result<JobProblem, StoreError> {
    Ok(JobProblem { number, row: u32::try_from(row).map_err(StoreError::corrupt)?, column, reason })
}

#[async_trait]
impl JobRepository for Database {
    async fn insert(&self, project: ProjectId, job: NewJob, most: u32, at: DateTime<Utc>) -> Result<Job, JobError> {
        self.write(move |connection| {
            require_room(connection, project, most)?;
            let reading = import_columns::reading_text(&job.reading)?;
            let ignored = ignored_text(&[])?;
            let row = NewJobRow {
                dry_run: job.options.dry_run,
                partial: job.options.mode == ImportMode::Partial,
                file_place: &job.place,
                file_name: job.file_name.as_deref(),
                file_bytes: count(job.file_bytes)?,
                ignored_columns: &ignored,
                reading,
                user_id: job.user_id.map(i64::from),
                token_id: job.token_id.map(TokenId::get),
                ..NewJobRow::queued(project, job.kind, at.naive_utc())
            };
            let id: i64 = diesel::insert_into(jobs::table).values(row).returning(jobs::id).get_result(connection)?;
            let row: JobRow = jobs::table.find(id).select(JobRow::as_select()).first(connection)?;
            Ok(Job::try_from(row)?)
        })
        .await
    }

    async fn waiting(&self, project: ProjectId) -> Result<u32, StoreError> {
        self.read(move |connection| {
            let waiting = waiting(connection, project)?;
            Ok::<_, Abort<StoreError>>(u32::try_from(waiting).map_err(StoreError::corrupt)?)
        })
        .await
    }

    async fn find(&self, id: JobId) -> Result<Option<ProjectScoped<Job>>, StoreError> {
        self.read(move |connection| {
            let Some(row) = row(connection, id)? else { return exports::find(connection, id) };
            Ok(Some(records::of_project(row.project_id, row.try_into())?))
        })
        .await
    }

    async fn list(&self, project: ProjectId, filter: JobFilter, page: PageRequest) -> Result<Page<Job>, StoreError> {
        self.snapshot(move |connection| {
            let total: i64 = Statement::new("SELECT count(*) FROM (")
                .then(listed(project, &filter))
                .sql(") AS listed")
                .scalar(connection)?;
            let ids: Vec<i64> = listed(project, &filter).sql(" ORDER BY id DESC").page(page).scalars(connection)?;
            let rows: Vec<JobRow> =
                jobs::table.filter(jobs::id.eq_any(&ids)).select(JobRow::as_select()).load(connection)?;
            let mut found = unreadable::rows("jobs", rows, |row| row.id, Job::try_from)?;
            found.extend(exports::load(connection, &ids)?);
            found.sort_unstable_by_key(|job| Reverse(job.id));
            Ok(decode::page(found, total, page)?)
        })
        .await
    }

    async fn problems(&self, id: JobId, after: i64, limit: u32) -> Result<Vec<JobProblem>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ProblemRow> = job_errors::table
                .filter(job_errors::job_id.eq(id.get()))
                .filter(job_errors::id.gt(after))
                .order(job_errors::id)
                .limit(limit.into())
                .select((job_errors::id, job_errors::row_number, job_errors::column_name, job_errors::reason))
                .load(connection)?;
            Ok::<_, Abort<StoreError>>(unreadable::rows("job_errors", rows, |row| row.0, problem)?)
        })
        .await
    }

    async fn problem_page(&self, id: JobId, page: PageRequest) -> Result<Page<JobProblem>, StoreError> {
        self.snapshot(move |connection| {
            let of_job = || job_errors::table.filter(job_errors::job_id.eq(id.get()));
            let total: i64 = of_job().count().get_result(connection)?;
            let rows: Vec<ProblemRow> = of_job()
                .order(job_errors::id)
                .limit(page.limit())
                .offset(page.offset())
                .select((job_errors::id, job_errors::row_number, job_errors::column_name, job_errors::reason))
                .load(connection)?;
            let problems = unreadable::rows("job_errors", rows, |row| row.0, problem)?;
            Ok::<_, Abort<StoreError>>(decode::page(problems, total, page)?)
        })
        .await
    }

    async fn first_rows(&self, id: JobId) -> Result<Vec<RowPreview>, StoreError> {
        self.read(move |connection| {
            let stored: Option<Option<String>> =
                jobs::table.find(id.get()).select(jobs::preview).first(connection).optional()?;
            let rows = stored.flatten().map(|text| import_columns::rows(id.get(), &text)).transpose()?;
            Ok::<_, Abort<StoreError>>(rows.unwrap_or_default())
        })
        .await
    }

    async fn cancel(&self, id: JobId, at: DateTime<Utc>) -> Result<Option<Job>, StoreError> {
        self.write(move |connection| {
            if !job_order::cancel(connection, &JOBS, id, at.naive_utc())? {
                return exports::cancel(connection, id, at.naive_utc());
            }
            Ok::<_, Abort<StoreError>>(row(connection, id)?.map(Job::try_from).transpose()?)
        })
        .await
    }

    async fn lease(
        &self,
        only: Option<JobId>,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedJob>, StoreError> {
        take_next(self, &JOBS, only, LeaseRequest::new(owner, now, until, 1), LEASED).await
    }

    async fn advance(&self, held: JobLease, step: Step, report: ImportReport) -> Result<(), PartError> {
        self.write_long(move |connection| {
            job_order::commit_step(connection, &held, step, &report)?;
            if step.after == 0 && !report.rows.is_empty() {
                let preview = import_columns::rows_text(&report.rows)?;
                diesel::update(held_by!(jobs, held)).set(jobs::preview.eq(Some(preview))).execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn renew(&self, held: JobLease, until: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let renewed = diesel::update(held_by!(jobs, held)).set(jobs::leased_until.eq(Some(until.naive_utc())));
            Ok::<_, Abort<StoreError>>(renewed.execute(connection)? > 0)
        })
        .await
    }

    async fn checked(&self, held: JobLease, done: PassResult) -> Result<bool, StoreError> {
        let layout = import_columns::layout_text(&done.layout)?;
        self.write(move |connection| {
            let known = (
                jobs::total_rows.eq(Some(count(done.total_rows)?)),
                jobs::ignored_columns.eq(ignored_text(&done.layout.ignored())?),
                jobs::layout.eq(Some(&layout)),
                jobs::leased_until.eq(Some(done.until.naive_utc())),
            );
            let still = diesel::update(held_by!(jobs, held)).set(known).execute(connection)? > 0;
            if still && !done.is_answer {
                let nothing = (jobs::created_count.eq(0), jobs::updated_count.eq(0), jobs::unchanged_count.eq(0));
                diesel::update(held_by!(jobs, held)).set(nothing).execute(connection)?;
            }
            if still && done.go_on {
                let top = (jobs::phase.eq(JobPhase::Writing.word()), jobs::checkpoint.eq(0), jobs::done_rows.eq(0));
                diesel::update(held_by!(jobs, held)).set(top).execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(still)
        })
        .await
    }

    async fn finish(&self, held: JobLease, ending: Ending) -> Result<bool, StoreError> {
        let finished = self.write(move |connection| {
            let problems = u64::try_from(ending.problems.total()).unwrap_or(u64::MAX);
            let counted: Option<(i64, i64)> = diesel::update(held_by!(jobs, held))
                .set((
                    jobs::state.eq(ending.state.word()),
                    jobs::failure.eq(ending.failure.as_deref()),
                    jobs::problems_count.eq(jobs::problems_count + count(problems)?),
                    jobs::lease_owner.eq(None::<String>),
                    jobs::leased_until.eq(None::<NaiveDateTime>),
                    jobs::finished_at.eq(Some(ending.at.naive_utc())),
                ))
                .returning((jobs::problems_count, jobs::created_count + jobs::updated_count))
                .get_result(connection)
                .optional()?;
            let Some((counted, written)) = counted else { return Ok(None) };
            job_order::store_problems(connection, &held, &ending.problems, counted)?;
            Ok::<_, Abort<StoreError>>(Some(written))
        });
        let written = finished.await?;
        if let Some(written) = written {
            job_order::analyze_after(self, usize::try_from(written).unwrap_or_default()).await;
        }
        Ok(written.is_some())
    }

    async fn release(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError> {
        job_order::release(self, &JOBS, held, now).await
    }

    async fn list_ended_with_files(&self, limit: u32) -> Result<Vec<(JobId, String)>, StoreError> {
        self.read(move |connection| {
            let over = JobState::all().iter().filter(|state| state.is_over()).map(|state| state.word());
            let rows: Vec<(i64, Option<String>)> = jobs::table
                .filter(jobs::file_place.is_not_null())
                .filter(jobs::state.eq_any(over.collect::<Vec<_>>()))
                .order(jobs::id)
                .limit(limit.into())
                .select((jobs::id, jobs::file_place))
                .load(connection)?;
            let kept = |(id, place): (i64, Option<String>)| Ok((decode::id(id)?, place.unwrap_or_default()));
            rows.into_iter().map(kept).collect::<Result<_, Abort<StoreError>>>()
        })
        .await
    }

    async fn named(&self, places: Vec<String>) -> Result<Vec<String>, StoreError> {
        self.read(move |connection| {
            let named = jobs::table.filter(jobs::file_place.eq_any(&places));
            let mut named: Vec<Option<String>> = named.select(jobs::file_place).load(connection)?;
            named.extend(exports::named(connection, &places)?);
            Ok::<_, Abort<StoreError>>(named.into_iter().flatten().collect())
        })
        .await
    }

    async fn forget_file(&self, id: JobId) -> Result<(), StoreError> {
        job_order::clear_file(self, &JOBS, id).await
    }
}

/// Functions for the operator.
impl Database {
    /// Returns `true` if the project exists.
    pub async fn project_exists(&self, project: ProjectId) -> Result<bool, StoreError> {
        self.read(move |connection| {
            let mine = projects::table.find(project.get());
            Ok::<_, Abort<StoreError>>(found!(connection, mine)?)
        })
        .await
    }
}
