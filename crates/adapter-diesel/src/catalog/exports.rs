//! Exports: queued, taken under a lease, completed with a file that expires.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::bulk::ports::ExportRepository;
use kontor_catalog::bulk::{
    CompletedFile, ExportAbort, ExportFile, ExportKind, ExportProgress, ExportScope, Job, JobError, JobLease,
    JobOptions, JobPhase, JobState, LeasedExport, NewExport, Tally,
};
use kontor_catalog::spreadsheet::ReadOptions;
use kontor_catalog::spreadsheet::ports::SheetFormat;
use kontor_kernel::{JobId, ProjectId, ProjectScoped, StoreError, TokenId, Word as _};

use super::job_order::{self, held_by, stored as count, take_next};
use super::jobs::{next_number, require_room};
use crate::database::{Abort, AnyConnection, Database};
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::schema::exports;
use crate::{decode, records, unreadable};

/// Exports that are not finished. A parked export has the state `queued`, so it does not block others of its project.
pub(crate) const EXPORTS: Queue = Queue {
    table: "exports",
    key: "id",
    due: None,
    open: "state IN ('queued', 'running')",
    on_park: ", state = 'queued'",
    of_projects: true,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = exports)]
struct ExportRow {
    id: i64,
    project_id: i64,
    kind: String,
    state: String,
    total_rows: Option<i64>,
    done_rows: i64,
    file_bytes: i64,
    file_expires_at: Option<NaiveDateTime>,
    failure: Option<String>,
    user_id: Option<i64>,
    created_at: NaiveDateTime,
    started_at: Option<NaiveDateTime>,
    finished_at: Option<NaiveDateTime>,
}

impl TryFrom<ExportRow> for Job {
    type Error = StoreError;

    fn try_from(row: ExportRow) -> Result<Self, StoreError> {
        let kind: ExportKind = decode::word("exports", row.id, "kind", &row.kind)?;
        Ok(Self {
            id: decode::id(row.id)?,
            kind: kind.into(),
            options: JobOptions::default(),
            state: decode::word("exports", row.id, "state", &row.state)?,
            phase: JobPhase::Writing,
            file_name: None,
            file_bytes: decode::count(row.file_bytes)?,
            file_expires_at: row.file_expires_at.map(decode::moment),
            total_rows: decode::optional_count(row.total_rows)?,
            done_rows: decode::count(row.done_rows)?,
            checkpoint: 0,
            tally: Tally::default(),
            ignored_columns: Vec::new(),
            reading: ReadOptions::default(),
            layout: None,
            failure: row.failure,
            user_id: decode::optional_id(row.user_id)?,
            created_at: decode::moment(row.created_at),
            started_at: row.started_at.map(decode::moment),
            finished_at: row.finished_at.map(decode::moment),
        })
    }
}

fn row(connection: &mut AnyConnection, id: JobId) -> QueryResult<Option<ExportRow>> {
    exports::table.find(id.get()).select(ExportRow::as_select()).first(connection).optional()
}

/// Loads an export of any project.
pub(super) fn find(connection: &mut AnyConnection, id: JobId) -> Result<Option<ProjectScoped<Job>>, Abort<StoreError>> {
    let row = row(connection, id)?;
    Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
}

/// Loads those of these jobs that are exports, in no particular order.
pub(super) fn load(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Job>, Abort<StoreError>> {
    let rows: Vec<ExportRow> =
        exports::table.filter(exports::id.eq_any(ids)).select(ExportRow::as_select()).load(connection)?;
    Ok(unreadable::rows("exports", rows, |row| row.id, Job::try_from)?)
}

/// Returns those of these file locations that an export refers to.
pub(super) fn named(connection: &mut AnyConnection, places: &[String]) -> QueryResult<Vec<Option<String>>> {
    exports::table.filter(exports::file_place.eq_any(places)).select(exports::file_place).load(connection)
}

/// Cancels an export that is not finished. Returns `None` if it is finished already.
pub(super) fn cancel(
    connection: &mut AnyConnection,
    id: JobId,
    at: NaiveDateTime,
) -> Result<Option<Job>, Abort<StoreError>> {
    let canceled = if job_order::cancel(connection, &EXPORTS, id, at)? { row(connection, id)? } else { None };
    Ok(canceled.map(Job::try_from).transpose()?)
}

type LeasedRow = (i64, i64, String, String, Option<NaiveDate>, Option<NaiveDate>, i32, Option<String>);

const LEASED: Leased<i64, LeasedRow, LeasedExport> = Leased { load: load_leased, read: leased };

fn load_leased(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, LeasedRow)>> {
    let rows: Vec<LeasedRow> = exports::table
        .filter(exports::id.eq_any(ids))
        .select((
            exports::id,
            exports::project_id,
            exports::kind,
            exports::format,
            exports::created_from,
            exports::created_to,
            exports::tries,
            exports::lease_owner,
        ))
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.0, row)).collect())
}

fn leased(row: LeasedRow) -> Result<LeasedExport, StoreError> {
    let (id, project, kind, format, created_from, created_to, tries, owner) = row;
    let owner = owner.ok_or_else(|| StoreError::corrupt("a leased export has no owner"))?;
    let kind = decode::word("exports", id, "kind", &kind)?;
    Ok(LeasedExport {
        held: JobLease { job: decode::id(id)?, project: decode::id(project)?, owner },
        scope: ExportScope { kind, created_from, created_to },
        format: format_of(id, &format)?,
        tries: u32::try_from(tries).map_err(StoreError::corrupt)?,
    })
}

fn format_of(id: i64, format: &str) -> Result<SheetFormat, StoreError> {
    decode::word("exports", id, "format", format)
}

#[async_trait]
impl ExportRepository for Database {
    async fn queue(
        &self,
        project: ProjectId,
        export: NewExport,
        most: u32,
        at: DateTime<Utc>,
    ) -> Result<Job, JobError> {
        self.write(move |connection| {
            require_room(connection, project, most)?;
            let id = next_number(connection, project, at.naive_utc())?;
            diesel::insert_into(exports::table)
                .values((
                    exports::id.eq(id),
                    exports::project_id.eq(project.get()),
                    exports::kind.eq(export.scope.kind.word()),
                    exports::format.eq(export.format.word()),
                    exports::created_from.eq(export.scope.created_from),
                    exports::created_to.eq(export.scope.created_to),
                    exports::state.eq(JobState::Queued.word()),
                    exports::done_rows.eq(0),
                    exports::file_bytes.eq(0),
                    exports::user_id.eq(export.user_id.map(i64::from)),
                    exports::token_id.eq(export.token_id.map(TokenId::get)),
                    exports::tries.eq(0),
                    exports::created_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            let row: ExportRow = exports::table.find(id).select(ExportRow::as_select()).first(connection)?;
            Ok(Job::try_from(row)?)
        })
        .await
    }

    async fn lease_export(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedExport>, StoreError> {
        take_next(self, &EXPORTS, None, LeaseRequest::new(owner, now, until, 1), LEASED).await
    }

    async fn progress(
        &self,
        held: JobLease,
        progress: ExportProgress,
        until: DateTime<Utc>,
    ) -> Result<(), ExportAbort> {
        self.write(move |connection| {
            let set = (
                exports::done_rows.eq(count(progress.done_rows)?),
                exports::total_rows.eq(Some(count(progress.total_rows)?)),
                exports::leased_until.eq(Some(until.naive_utc())),
            );
            if diesel::update(held_by!(exports, held)).set(set).execute(connection)? == 0 {
                return Err(Abort::Refused(ExportAbort::LeaseLost));
            }
            if job_order::may_continue(connection, "exports", held.job)? {
                Ok(())
            } else {
                Err(Abort::Refused(ExportAbort::AuthorDenied))
            }
        })
        .await
    }

    async fn end(
        &self,
        held: JobLease,
        outcome: Result<CompletedFile, String>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let (state, file, failure) = match outcome {
            Ok(file) => (JobState::Succeeded, Some(file), None),
            Err(reason) => (JobState::Failed, None, Some(reason)),
        };
        self.write(move |connection| {
            let bytes = file.as_ref().map_or(0, |file| file.bytes);
            let over = (
                exports::state.eq(state.word()),
                exports::file_place.eq(file.as_ref().map(|file| &file.place)),
                exports::file_bytes.eq(count(bytes)?),
                exports::file_expires_at.eq(file.as_ref().map(|file| file.expires_at.naive_utc())),
                exports::failure.eq(failure.as_deref()),
                exports::lease_owner.eq(None::<String>),
                exports::leased_until.eq(None::<NaiveDateTime>),
                exports::finished_at.eq(Some(at.naive_utc())),
            );
            Ok::<_, Abort<StoreError>>(diesel::update(held_by!(exports, held)).set(over).execute(connection)? > 0)
        })
        .await
    }

    async fn release_export(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError> {
        job_order::release(self, &EXPORTS, held, now).await
    }

    async fn file(&self, id: JobId, now: DateTime<Utc>) -> Result<Option<ExportFile>, StoreError> {
        self.read(move |connection| {
            let found: Option<(Option<String>, String)> = exports::table
                .find(id.get())
                .filter(exports::file_expires_at.gt(now.naive_utc()))
                .select((exports::file_place, exports::format))
                .first(connection)
                .optional()?;
            let Some((Some(place), format)) = found else { return Ok(None) };
            Ok::<_, Abort<StoreError>>(Some(ExportFile { place, format: format_of(id.get(), &format)? }))
        })
        .await
    }

    async fn expired(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<(JobId, String)>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<(i64, Option<String>)> = exports::table
                .filter(exports::file_place.is_not_null())
                .filter(exports::file_expires_at.le(now.naive_utc()))
                .order(exports::file_expires_at)
                .limit(limit.into())
                .select((exports::id, exports::file_place))
                .load(connection)?;
            let kept = |(id, place): (i64, Option<String>)| Ok((decode::id(id)?, place.unwrap_or_default()));
            rows.into_iter().map(kept).collect::<Result<_, Abort<StoreError>>>()
        })
        .await
    }

    async fn forget_export(&self, id: JobId) -> Result<(), StoreError> {
        job_order::clear_file(self, &EXPORTS, id).await
    }
}
