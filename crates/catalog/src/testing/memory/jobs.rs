//! Jobs in memory: the queue of imports and of exports, their leases, steps and files.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{JobId, Page, PageRequest, ProjectId, ProjectScoped, StoreError, UserId};

use super::{Guard, InMemoryStock, State};
use crate::bulk::ports::{ExportRepository, JobRepository};
use crate::bulk::{
    CompletedFile, Ending, ExportAbort, ExportFile, ExportProgress, Job, JobError, JobFilter, JobKind, JobLease,
    JobPhase, JobProblem, JobRefusal, JobState, LeasedExport, LeasedJob, NewExport, NewJob, PartError, PassResult,
    Step, Tally,
};
use crate::spreadsheet::{ImportKind, ImportReport, RowPreview, RowProblems};
use crate::testing::samples::a_job;

/// Imports and exports of all projects.
pub(super) type Jobs = BTreeMap<JobId, JobRecord>;

/// Employees who may no longer start jobs.
pub(super) type Banned = BTreeSet<UserId>;

/// Job with its lease, its file and what its runner recorded.
#[derive(Clone)]
pub(super) struct JobRecord {
    project: ProjectId,
    job: Job,
    export: Option<NewExport>,
    place: Option<String>,
    lease: Option<(String, DateTime<Utc>)>,
    tries: u32,
    problems: Vec<JobProblem>,
    rows: Vec<RowPreview>,
}

impl JobRecord {
    fn new(project: ProjectId, job: Job) -> Self {
        let (problems, rows) = (Vec::new(), Vec::new());
        Self { project, job, export: None, place: None, lease: None, tries: 0, problems, rows }
    }

    fn add_problems(&mut self, problems: &RowProblems) {
        self.job.tally.problems += u64::try_from(problems.total()).unwrap_or(u64::MAX);
        for (number, problem) in (self.problems.len() + 1..).zip(problems.kept()) {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            let (column, reason) = (problem.column.to_owned(), problem.reason.clone());
            self.problems.push(JobProblem { number, row: problem.row, column, reason });
        }
    }

    fn end(&mut self, state: JobState, failure: Option<String>, at: DateTime<Utc>) {
        (self.job.state, self.job.failure, self.job.finished_at) = (state, failure, Some(at));
        self.lease = None;
    }

    fn is_export(&self) -> bool {
        matches!(self.job.kind, JobKind::Export(_))
    }

    fn leased_import(&self) -> Option<LeasedJob> {
        let JobKind::Import(kind) = self.job.kind else { return None };
        Some(LeasedJob {
            job: self.job.clone(),
            kind,
            project: self.project,
            place: self.place.clone()?,
            owner: self.lease.as_ref()?.0.clone(),
            tries: self.tries,
        })
    }

    fn leased_export(&self) -> Option<LeasedExport> {
        let NewExport { scope, format, .. } = self.export?;
        let held = JobLease { job: self.job.id, project: self.project, owner: self.lease.as_ref()?.0.clone() };
        Some(LeasedExport { held, scope, format, tries: self.tries })
    }

    /// Returns the location of the file if it has expired.
    fn expired_file(&self, now: DateTime<Utc>) -> Option<(JobId, String)> {
        self.job.file_expires_at.filter(|end| *end <= now)?;
        Some((self.job.id, self.place.clone()?))
    }
}

impl InMemoryStock {
    /// Withdraws the rights of an employee: the jobs that they started write nothing more.
    pub fn ban(&self, author: UserId) {
        self.state.with(|state| state.banned.insert(author));
    }
}

impl State {
    fn waiting(&self, project: ProjectId) -> u32 {
        let waits = |record: &&JobRecord| record.project == project && record.job.state == JobState::Queued;
        u32::try_from(self.jobs.values().filter(waits).count()).unwrap_or(u32::MAX)
    }

    fn enqueue(&mut self, most: u32, mut record: JobRecord) -> Result<Job, JobError> {
        if self.guards.has(Guard::Room) && self.waiting(record.project) >= most {
            return Err(JobRefusal::TooManyWaiting(most).into());
        }
        record.job.id = self.ids.id();
        let job = record.job.clone();
        self.jobs.insert(job.id, record);
        Ok(job)
    }

    /// Returns `true` if the job may be leased: it waits and it is its turn, or its lease has expired.
    fn is_available(&self, record: &JobRecord, now: DateTime<Utc>) -> bool {
        let comes_first = |other: &JobRecord| {
            let waits_longer = other.job.state == JobState::Queued && other.job.id < record.job.id;
            let alike = other.project == record.project && other.is_export() == record.is_export();
            alike && (other.job.state == JobState::Running || waits_longer)
        };
        match record.job.state {
            JobState::Running => record.lease.as_ref().is_none_or(|(_, end)| *end <= now),
            JobState::Queued => !self.guards.has(Guard::Turn) || !self.jobs.values().any(comes_first),
            JobState::Succeeded | JobState::Failed | JobState::Canceled => false,
        }
    }

    /// Leases the oldest import or export that is available.
    fn take(
        &mut self,
        is_export: bool,
        only: Option<JobId>,
        owner: &str,
        (now, until): (DateTime<Utc>, DateTime<Utc>),
    ) -> Option<&JobRecord> {
        let wanted = |record: &&JobRecord| {
            let named = only.is_none_or(|id| id == record.job.id);
            named && record.is_export() == is_export && self.is_available(record, now)
        };
        let id = self.jobs.values().find(wanted)?.job.id;
        let record = self.jobs.get_mut(&id)?;
        record.lease = Some((owner.to_owned(), until));
        record.tries += 1;
        record.job.state = JobState::Running;
        record.job.started_at.get_or_insert(now);
        Some(record)
    }

    /// Returns the job if this worker holds its lease.
    fn held(&mut self, lease: &JobLease) -> Option<&mut JobRecord> {
        let is_open = !self.guards.has(Guard::Lease);
        let holds = |record: &JobRecord| record.lease.as_ref().is_some_and(|(owner, _)| *owner == lease.owner);
        self.jobs.get_mut(&lease.job).filter(|record| is_open || holds(record))
    }

    /// Returns `true` if the author of the job may no longer start it.
    fn is_denied(&self, id: JobId) -> bool {
        let author = self.jobs.get(&id).and_then(|record| record.job.user_id);
        self.guards.has(Guard::Author) && author.is_some_and(|author| self.banned.contains(&author))
    }

    /// Records a step, with the rows and problems of its report.
    pub(super) fn step(&mut self, held: &JobLease, step: Step, report: &ImportReport) -> Result<(), PartError> {
        let (is_repeatable, is_denied) = (!self.guards.has(Guard::Step), self.is_denied(held.job));
        let record = self.held(held).filter(|record| is_repeatable || record.job.checkpoint == step.after);
        let record = record.ok_or(PartError::LeaseLost)?;
        if is_denied {
            return Err(PartError::AuthorDenied);
        }
        let (job, counts) = (&mut record.job, Tally::from(report));
        (job.checkpoint, job.done_rows) = (step.through, job.done_rows + step.rows);
        job.tally.created += counts.created;
        job.tally.updated += counts.updated;
        job.tally.unchanged += counts.unchanged;
        job.tally.skipped += counts.skipped;
        record.add_problems(&report.problems);
        record.tries = 0;
        record.lease = Some((held.owner.clone(), step.until));
        Ok(())
    }

    fn end_pass(&mut self, held: &JobLease, done: PassResult) -> bool {
        let Some(record) = self.held(held) else { return false };
        record.lease = Some((held.owner.clone(), done.until));
        let job = &mut record.job;
        job.total_rows = Some(done.total_rows);
        job.ignored_columns = done.layout.ignored();
        job.layout = Some(done.layout);
        if !done.is_answer {
            job.tally = Tally { created: 0, updated: 0, unchanged: 0, ..job.tally };
        }
        if done.go_on {
            (job.phase, job.checkpoint, job.done_rows) = (JobPhase::Writing, 0, 0);
        }
        true
    }

    fn release(&mut self, held: &JobLease, now: DateTime<Utc>) {
        if let Some(record) = self.held(held) {
            record.tries = 0;
            record.lease = Some((held.owner.clone(), now));
        }
    }

    fn remove_place(&mut self, id: JobId) {
        if let Some(record) = self.jobs.get_mut(&id) {
            record.place = None;
        }
    }
}

/// Number of records of a page.
fn most(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[async_trait]
impl JobRepository for InMemoryStock {
    async fn insert(&self, project: ProjectId, job: NewJob, most: u32, at: DateTime<Utc>) -> Result<Job, JobError> {
        let NewJob { kind, options, reading, place, file_name, file_bytes, user_id, .. } = job;
        let job = Job { options, reading, file_name, file_bytes, user_id, created_at: at, ..a_job(kind) };
        let record = JobRecord { place: Some(place), ..JobRecord::new(project, job) };
        self.state.commit(|state| state.enqueue(most, record))
    }

    async fn waiting(&self, project: ProjectId) -> Result<u32, StoreError> {
        Ok(self.state.with(|state| state.waiting(project)))
    }

    async fn find(&self, id: JobId) -> Result<Option<ProjectScoped<Job>>, StoreError> {
        let scoped = |record: &JobRecord| ProjectScoped::new(record.project, record.job.clone());
        Ok(self.state.with(|state| state.jobs.get(&id).map(scoped)))
    }

    async fn list(&self, project: ProjectId, filter: JobFilter, page: PageRequest) -> Result<Page<Job>, StoreError> {
        let JobFilter { kinds, states } = filter;
        let listed = |record: &&JobRecord| {
            let is_kind = kinds.is_empty() || kinds.contains(&record.job.kind);
            let is_state = states.is_empty() || states.contains(&record.job.state);
            record.project == project && is_kind && is_state
        };
        let jobs = self.state.with(|state| {
            let newest_first = state.jobs.values().rev().filter(listed);
            newest_first.map(|record| record.job.clone()).collect()
        });
        Ok(Page::of(jobs, page))
    }

    async fn problems(&self, id: JobId, after: i64, limit: u32) -> Result<Vec<JobProblem>, StoreError> {
        let stored = self.state.with(|state| state.jobs.get(&id).map(|record| record.problems.clone()));
        let next = stored.unwrap_or_default().into_iter().filter(|problem| problem.number > after);
        Ok(next.take(most(limit)).collect())
    }

    async fn problem_page(&self, id: JobId, page: PageRequest) -> Result<Page<JobProblem>, StoreError> {
        let stored = self.state.with(|state| state.jobs.get(&id).map(|record| record.problems.clone()));
        Ok(Page::of(stored.unwrap_or_default(), page))
    }

    async fn first_rows(&self, id: JobId) -> Result<Vec<RowPreview>, StoreError> {
        let stored = self.state.with(|state| state.jobs.get(&id).map(|record| record.rows.clone()));
        Ok(stored.unwrap_or_default())
    }

    async fn cancel(&self, id: JobId, at: DateTime<Utc>) -> Result<Option<Job>, StoreError> {
        Ok(self.state.with(|state| {
            let record = state.jobs.get_mut(&id).filter(|record| !record.job.state.is_over())?;
            record.end(JobState::Canceled, None, at);
            Some(record.job.clone())
        }))
    }

    async fn lease(
        &self,
        only: Option<JobId>,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedJob>, StoreError> {
        Ok(self.state.with(|state| state.take(false, only, owner, (now, until))?.leased_import()))
    }

    async fn advance(&self, held: JobLease, step: Step, report: ImportReport) -> Result<(), PartError> {
        self.state.commit(|state| {
            state.step(&held, step, &report)?;
            if let Some(record) = state.jobs.get_mut(&held.job)
                && step.after == 0
                && !report.rows.is_empty()
            {
                record.rows = report.rows;
            }
            Ok(())
        })
    }

    async fn renew(&self, held: JobLease, until: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let record = state.held(&held);
            record.is_some_and(|record| record.lease.replace((held.owner.clone(), until)).is_some())
        }))
    }

    async fn checked(&self, held: JobLease, done: PassResult) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.end_pass(&held, done)))
    }

    async fn finish(&self, held: JobLease, ending: Ending) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let Some(record) = state.held(&held) else { return false };
            record.add_problems(&ending.problems);
            record.end(ending.state, ending.failure, ending.at);
            true
        }))
    }

    async fn release(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.release(&held, now));
        Ok(())
    }

    async fn list_ended_with_files(&self, limit: u32) -> Result<Vec<(JobId, String)>, StoreError> {
        Ok(self.state.with(|state| {
            let ended = state.jobs.values().filter(|record| !record.is_export() && record.job.state.is_over());
            let kept = ended.filter_map(|record| Some((record.job.id, record.place.clone()?)));
            kept.take(most(limit)).collect()
        }))
    }

    async fn named(&self, places: Vec<String>) -> Result<Vec<String>, StoreError> {
        Ok(self.state.with(|state| {
            let stored = state.jobs.values().filter_map(|record| record.place.clone());
            stored.filter(|place| places.contains(place)).collect()
        }))
    }

    async fn forget_file(&self, id: JobId) -> Result<(), StoreError> {
        self.state.with(|state| state.remove_place(id));
        Ok(())
    }
}

#[async_trait]
impl ExportRepository for InMemoryStock {
    async fn queue(
        &self,
        project: ProjectId,
        export: NewExport,
        most: u32,
        at: DateTime<Utc>,
    ) -> Result<Job, JobError> {
        let job = Job {
            kind: export.scope.kind.into(),
            phase: JobPhase::Writing,
            file_bytes: 0,
            user_id: export.user_id,
            created_at: at,
            ..a_job(ImportKind::Inventories)
        };
        let record = JobRecord { export: Some(export), ..JobRecord::new(project, job) };
        self.state.commit(|state| state.enqueue(most, record))
    }

    async fn lease_export(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedExport>, StoreError> {
        Ok(self.state.with(|state| state.take(true, None, owner, (now, until))?.leased_export()))
    }

    async fn progress(
        &self,
        held: JobLease,
        progress: ExportProgress,
        until: DateTime<Utc>,
    ) -> Result<(), ExportAbort> {
        self.state.commit(|state| {
            let is_denied = state.is_denied(held.job);
            let record = state.held(&held).ok_or(ExportAbort::LeaseLost)?;
            if is_denied {
                return Err(ExportAbort::AuthorDenied);
            }
            (record.job.done_rows, record.job.total_rows) = (progress.done_rows, Some(progress.total_rows));
            record.lease = Some((held.owner.clone(), until));
            Ok(())
        })
    }

    async fn end(
        &self,
        held: JobLease,
        outcome: Result<CompletedFile, String>,
        at: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let Some(record) = state.held(&held) else { return false };
            match outcome {
                Ok(CompletedFile { place, bytes, expires_at }) => {
                    record.end(JobState::Succeeded, None, at);
                    (record.place, record.job.file_bytes) = (Some(place), bytes);
                    record.job.file_expires_at = Some(expires_at);
                }
                Err(reason) => record.end(JobState::Failed, Some(reason), at),
            }
            true
        }))
    }

    async fn release_export(&self, held: JobLease, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.release(&held, now));
        Ok(())
    }

    async fn file(&self, id: JobId, now: DateTime<Utc>) -> Result<Option<ExportFile>, StoreError> {
        Ok(self.state.with(|state| {
            let record = state.jobs.get(&id)?;
            record.job.file_expires_at.filter(|end| *end > now)?;
            Some(ExportFile { place: record.place.clone()?, format: record.export?.format })
        }))
    }

    async fn expired(&self, now: DateTime<Utc>, limit: u32) -> Result<Vec<(JobId, String)>, StoreError> {
        Ok(self.state.with(|state| {
            state.jobs.values().filter_map(|record| record.expired_file(now)).take(most(limit)).collect()
        }))
    }

    async fn forget_export(&self, id: JobId) -> Result<(), StoreError> {
        self.state.with(|state| state.remove_place(id));
        Ok(())
    }
}
