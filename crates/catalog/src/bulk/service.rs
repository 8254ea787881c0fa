use std::path::PathBuf;
use std::sync::Arc;

use kontor_kernel::{Clock, JobId, Page, PageRequest, ProjectId, Staff, StoreError, TokenId, Word as _};

use super::ports::{ExportRepository, JobRepository, UploadStore};
use super::{
    ExportKind, ExportScope, Job, JobError, JobFilter, JobKind, JobOptions, JobProblem, JobRefusal, JobState,
    NewExport, NewJob,
};
use crate::spreadsheet::ports::SheetFormat;
use crate::spreadsheet::{ImportKind, ReadOptions, RowPreview};

/// File to import in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Kind of records.
    pub kind: ImportKind,
    /// Options.
    pub options: JobOptions,
    /// Options for reading the file.
    pub reading: ReadOptions,
    /// File on this machine; it may be removed afterwards.
    pub file: PathBuf,
    /// File name given by the sender.
    pub file_name: Option<String>,
}

/// File of an export, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportDownload {
    /// Kind of records.
    pub kind: ExportKind,
    /// Format.
    pub format: SheetFormat,
    /// Path on this machine.
    pub path: PathBuf,
}

/// Use cases of jobs: start, list, cancel, and download of exported files.
pub struct BulkService {
    /// Storage of jobs.
    pub jobs: Arc<dyn JobRepository>,
    /// Storage of export jobs.
    pub exports: Arc<dyn ExportRepository>,
    /// Storage of the files.
    pub uploads: Arc<dyn UploadStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl BulkService {
    /// Maximum waiting jobs of one project; their files take disk space.
    pub const MAX_WAITING: u32 = 20;
    /// Problems per page.
    pub const PAGE: u32 = 500;

    /// Returns an error if the employee's project has the maximum number of waiting jobs. Callers check it before they
    /// receive a large file.
    pub async fn require_queue_space(&self, staff: &Staff) -> Result<(), JobError> {
        self.require_queue_room(staff.project_id).await
    }

    async fn require_queue_room(&self, project: ProjectId) -> Result<(), JobError> {
        if self.jobs.waiting(project).await? < Self::MAX_WAITING {
            Ok(())
        } else {
            Err(JobRefusal::TooManyWaiting(Self::MAX_WAITING).into())
        }
    }

    /// Stores the file and queues its import.
    pub async fn submit(&self, staff: &Staff, submission: Submission) -> Result<Job, JobError> {
        require_all(staff, submission.kind.into())?;
        self.queue(staff.project_id, Some(staff), submission).await
    }

    /// Stores the file and queues its import for an operator, without a permission check.
    pub async fn submit_for(&self, project: ProjectId, submission: Submission) -> Result<Job, JobError> {
        self.queue(project, None, submission).await
    }

    async fn queue(&self, project: ProjectId, author: Option<&Staff>, submission: Submission) -> Result<Job, JobError> {
        self.require_queue_room(project).await?;
        let (place, file_bytes) = self.uploads.keep(&submission.file).await?;
        let Submission { kind, options, reading, file_name, .. } = submission;
        let (user_id, token_id) = (author.map(|staff| staff.user_id), author.and_then(agent_token));
        let job = NewJob { kind, options, reading, place: place.clone(), file_name, file_bytes, user_id, token_id };
        let queued = self.jobs.insert(project, job, Self::MAX_WAITING, self.clock.now()).await;
        match &queued {
            // A job may refer to the file. If none does, the file is swept later.
            Ok(_) | Err(JobError::Store(StoreError::OutcomeUnknown(_))) => {}
            Err(_) => self.uploads.remove_file(&place).await?,
        }
        queued
    }

    /// Queues an export.
    pub async fn export(&self, staff: &Staff, scope: ExportScope, format: SheetFormat) -> Result<Job, JobError> {
        require_all(staff, scope.kind.into())?;
        let export = NewExport { scope, format, user_id: Some(staff.user_id), token_id: agent_token(staff) };
        self.exports.queue(staff.project_id, export, Self::MAX_WAITING, self.clock.now()).await
    }

    /// Returns the file of an export. Imports, exports that ended without a file and expired files are not found.
    pub async fn file(&self, staff: &Staff, id: JobId) -> Result<ExportDownload, JobError> {
        let job = self.read(staff, id).await?;
        let JobKind::Export(kind) = job.kind else { return Err(JobError::NotFound) };
        if matches!(job.state, JobState::Queued | JobState::Running) {
            return Err(JobRefusal::Unfinished.into());
        }
        let file = self.exports.file(id, self.clock.now()).await?.ok_or(JobError::NotFound)?;
        Ok(ExportDownload { kind, format: file.format, path: self.uploads.open(&file.place).await? })
    }

    /// Returns `true` if the employee may read jobs of this kind.
    fn may_view(staff: &Staff, kind: JobKind) -> bool {
        let starts = kind.to_start().iter().all(|permission| staff.require(*permission).is_ok());
        starts || staff.require(kind.to_view()).is_ok()
    }

    /// Returns one page of the jobs of the project that the employee may read, newest first.
    pub async fn list(&self, staff: &Staff, filter: JobFilter, page: PageRequest) -> Result<Page<Job>, JobError> {
        let asked = if filter.kinds.is_empty() { JobKind::all().to_vec() } else { filter.kinds };
        let kinds: Vec<JobKind> = asked.into_iter().filter(|kind| Self::may_view(staff, *kind)).collect();
        if kinds.is_empty() {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        Ok(self.jobs.list(staff.project_id, JobFilter { kinds, ..filter }, page).await?)
    }

    /// Returns one job.
    pub async fn read(&self, staff: &Staff, id: JobId) -> Result<Job, JobError> {
        let job: Job = staff.require_own(self.jobs.find(id).await?)?;
        if !Self::may_view(staff, job.kind) {
            staff.require(job.kind.to_view())?;
        }
        Ok(job)
    }

    /// Returns one job of a project, for operators.
    pub async fn read_for(&self, project: ProjectId, id: JobId) -> Result<Job, JobError> {
        self.jobs.find(id).await?.and_then(|job| job.within(project)).ok_or(JobError::NotFound)
    }

    /// Returns the first rows of an import, as they were to be written when they were checked.
    pub async fn first_rows(&self, staff: &Staff, id: JobId) -> Result<Vec<RowPreview>, JobError> {
        let job = self.read(staff, id).await?;
        Ok(self.jobs.first_rows(job.id).await?)
    }

    /// Returns one page of the stored problems of an import, in the order of the file.
    pub async fn problem_page(
        &self,
        staff: &Staff,
        id: JobId,
        page: PageRequest,
    ) -> Result<Page<JobProblem>, JobError> {
        let job = self.read(staff, id).await?;
        Ok(self.jobs.problem_page(job.id, page).await?)
    }

    /// Cancels a job. Rows already written are kept.
    pub async fn cancel(&self, staff: &Staff, id: JobId) -> Result<Job, JobError> {
        let job = self.read(staff, id).await?;
        require_all(staff, job.kind)?;
        self.end(id).await
    }

    /// Cancels a job of a project, for operators.
    pub async fn cancel_for(&self, project: ProjectId, id: JobId) -> Result<Job, JobError> {
        self.read_for(project, id).await?;
        self.end(id).await
    }

    async fn end(&self, id: JobId) -> Result<Job, JobError> {
        Ok(self.jobs.cancel(id, self.clock.now()).await?.ok_or(JobRefusal::Ended)?)
    }

    /// Returns the next rows of the error sheet of a job. Fewer than [`BulkService::PAGE`] rows are the last.
    pub async fn problems(&self, job: &Job, after: i64) -> Result<Vec<JobProblem>, JobError> {
        Ok(self.jobs.problems(job.id, after, Self::PAGE).await?)
    }
}

/// Returns the token of an agent. An employee may log out while a job runs.
fn agent_token(staff: &Staff) -> Option<TokenId> {
    staff.is_agent.then_some(staff.token_id)
}

fn require_all(staff: &Staff, kind: JobKind) -> Result<(), JobError> {
    for permission in kind.to_start() {
        staff.require(*permission)?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "mocks")]
mod tests {
    use std::path::Path;

    use chrono::{DateTime, Utc};
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{FixedClock, Permission, ProjectScoped, Resource};

    use super::*;
    use crate::bulk::ports::{MockExportRepository, MockJobRepository, MockUploadStore};
    use crate::testing::samples::a_job;

    fn service(jobs: MockJobRepository, uploads: MockUploadStore) -> BulkService {
        let clock = Arc::new(FixedClock::at(DateTime::<Utc>::UNIX_EPOCH));
        let exports = Arc::new(MockExportRepository::new());
        BulkService { jobs: Arc::new(jobs), exports, uploads: Arc::new(uploads), clock }
    }

    fn cards() -> Submission {
        let (kind, options, file) = (ImportKind::Nomenclatures, JobOptions::default(), PathBuf::from("cards.csv"));
        Submission { kind, options, reading: ReadOptions::default(), file, file_name: None }
    }

    fn job() -> Job {
        a_job(ImportKind::Inventories)
    }

    #[tokio::test]
    async fn a_forbidden_import_stores_no_file() {
        let creator = staff_with([Permission::create(Resource::Nomenclatures)]);
        let refused = service(MockJobRepository::new(), MockUploadStore::new()).submit(&creator, cards()).await;
        assert!(matches!(refused, Err(JobError::Denied(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn the_file_of_a_job_that_is_not_queued_is_deleted() {
        let (mut jobs, mut uploads) = (MockJobRepository::new(), MockUploadStore::new());
        uploads
            .expect_keep()
            .withf(|file: &Path| file == Path::new("cards.csv"))
            .returning(|_| Ok(("place".into(), 9)));
        uploads.expect_remove_file().withf(|place| place == "place").once().returning(|_| Ok(()));
        jobs.expect_waiting().returning(|_| Ok(BulkService::MAX_WAITING - 1));
        jobs.expect_insert()
            .withf(|_, job, most, _| job.place == "place" && job.file_bytes == 9 && *most == BulkService::MAX_WAITING)
            .returning(|_, _, most, _| Err(JobRefusal::TooManyWaiting(most).into()));
        let editor = staff_with([Permission::edit(Resource::Nomenclatures)]);
        let refused = service(jobs, uploads).submit(&editor, cards()).await;
        assert!(matches!(refused, Err(JobError::Refused(JobRefusal::TooManyWaiting(20)))), "{refused:?}");
    }

    #[tokio::test]
    async fn the_file_of_a_job_that_may_be_queued_stays() {
        let (mut jobs, mut uploads) = (MockJobRepository::new(), MockUploadStore::new());
        uploads.expect_keep().returning(|_| Ok(("place".into(), 9)));
        uploads.expect_remove_file().never();
        jobs.expect_waiting().returning(|_| Ok(0));
        let lost = || JobError::Store(StoreError::OutcomeUnknown("lost".to_owned()));
        jobs.expect_insert().once().returning(move |_, _, _, _| Err(lost()));
        let editor = staff_with([Permission::edit(Resource::Nomenclatures)]);
        let outcome = service(jobs, uploads).submit(&editor, cards()).await;
        assert!(matches!(outcome, Err(JobError::Store(StoreError::OutcomeUnknown(_)))), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_full_queue_stores_no_file() {
        let mut jobs = MockJobRepository::new();
        jobs.expect_waiting().withf(|project| project.get() == 1).returning(|_| Ok(BulkService::MAX_WAITING));
        let (service, editor) =
            (service(jobs, MockUploadStore::new()), staff_with([Permission::edit(Resource::Nomenclatures)]));
        assert!(matches!(
            service.require_queue_space(&editor).await,
            Err(JobError::Refused(JobRefusal::TooManyWaiting(20)))
        ));
        let refused = service.submit_for(editor.project_id, cards()).await;
        assert!(matches!(refused, Err(JobError::Refused(JobRefusal::TooManyWaiting(20)))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_job_is_read_by_viewers_and_canceled_by_those_who_may_start_it() {
        for (project, permission, reads, cancels) in [
            (1, Permission::view(Resource::Inventories), true, false),
            (1, Permission::edit(Resource::Inventories), true, true),
            (1, Permission::view(Resource::Nomenclatures), false, false),
            (2, Permission::edit(Resource::Inventories), false, false),
        ] {
            let mut jobs = MockJobRepository::new();
            jobs.expect_find()
                .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), job()))));
            jobs.expect_cancel().returning(move |_, _| Ok(Some(job())));
            let (service, staff) = (service(jobs, MockUploadStore::new()), staff_with([permission]));
            assert_eq!(service.read(&staff, JobId::new(7).unwrap()).await.is_ok(), reads, "{permission}");
            assert_eq!(service.cancel(&staff, JobId::new(7).unwrap()).await.is_ok(), cancels, "{permission}");
        }
    }

    #[tokio::test]
    async fn an_ended_job_cannot_be_canceled() {
        let mut jobs = MockJobRepository::new();
        jobs.expect_find().returning(|_| Ok(Some(ProjectScoped::new(ProjectId::new(1).unwrap(), job()))));
        jobs.expect_cancel().returning(|_, _| Ok(None));
        let editor = staff_with([Permission::edit(Resource::Inventories)]);
        let ended = service(jobs, MockUploadStore::new()).cancel(&editor, JobId::new(7).unwrap()).await;
        assert!(matches!(ended, Err(JobError::Refused(JobRefusal::Ended))), "{ended:?}");
    }
}
