//! Contract of jobs: the queue, leases, steps, cancellation and files.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{JobId, PageRequest, ProjectId, UserId};

use super::sheets::cards;
use super::{counted, is_refused, names, noon, nothing, stamp};
use crate::bulk::ports::{ExportRepository, JobRepository};
use crate::bulk::{
    CompletedFile, Ending, ExportAbort, ExportKind, ExportProgress, ExportScope, Job, JobFilter, JobKind, JobLease,
    JobOptions, JobPhase, JobRefusal, JobState, NewExport, NewJob, PartError, PassResult, Step, Tally,
};
use crate::spreadsheet::ports::{ItemSheetRepository, SheetFormat};
use crate::spreadsheet::{
    HeaderColumn, ImportKind, ImportMode, ImportReport, Layout, ReadOptions, RowAction, RowPreview, RowProblems,
};

/// Storage under test that also keeps jobs.
#[async_trait]
pub trait Fixture: names::Fixture<Store: JobRepository + ExportRepository + ItemSheetRepository> {
    /// Returns a new employee of the project, who may start every job.
    async fn author(&self, project: ProjectId) -> UserId;

    /// Withdraws the rights of an employee.
    async fn ban(&self, author: UserId);
}

fn at(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

fn import(place: &str) -> NewJob {
    NewJob {
        kind: ImportKind::Nomenclatures,
        options: JobOptions::default(),
        reading: ReadOptions::default(),
        place: place.to_owned(),
        file_name: Some("items.csv".to_owned()),
        file_bytes: 7,
        user_id: None,
        token_id: None,
    }
}

fn export() -> NewExport {
    NewExport { scope: ExportKind::Stock.into(), format: SheetFormat::Csv, user_id: None, token_id: None }
}

async fn sent<F: Fixture>(fixture: &F, project: ProjectId) -> JobId {
    JobRepository::insert(&*fixture.store(), project, import("file"), 20, at(0)).await.unwrap().id
}

async fn ordered<F: Fixture>(fixture: &F, project: ProjectId) -> JobId {
    fixture.store().queue(project, export(), 20, at(0)).await.unwrap().id
}

/// Leases an import for a minute.
async fn leased<F: Fixture>(fixture: &F, owner: &str, second: i64) -> Option<JobLease> {
    let leased = fixture.store().lease(None, owner, at(second), at(second + 60)).await.unwrap();
    leased.map(|leased| leased.lease())
}

/// Leases an export for a minute.
async fn leased_export<F: Fixture>(fixture: &F, owner: &str, second: i64) -> Option<JobLease> {
    let leased = fixture.store().lease_export(owner, at(second), at(second + 60)).await.unwrap();
    leased.map(|leased| leased.held)
}

async fn read<F: Fixture>(fixture: &F, project: ProjectId, id: JobId) -> Job {
    JobRepository::find(&*fixture.store(), id).await.unwrap().unwrap().within(project).unwrap()
}

/// Step from one row to another one, which renews the lease until this second.
fn step(after: u32, through: u32, until: i64) -> Step {
    Step { after, through, rows: u64::from(through - after), until: at(until) }
}

fn problems(row: u32) -> RowProblems {
    let mut problems = RowProblems::default();
    problems.add(row, "price", "must be a decimal number");
    problems
}

fn preview() -> RowPreview {
    RowPreview {
        row: 2,
        action: RowAction::Create,
        article: None,
        id: None,
        warehouse: None,
        fields: vec![("name".into(), Some("Vase".to_owned()))],
        before: Vec::new(),
    }
}

fn report() -> ImportReport {
    let (problems, rows) = (problems(3), vec![preview()]);
    ImportReport { created: 1, skipped: 1, problems, rows, ..ImportReport::default() }
}

fn success(problems: RowProblems) -> Ending {
    Ending { state: JobState::Succeeded, failure: None, problems, at: at(50) }
}

/// Under concurrent calls, a limited number of jobs of a project waits, imports and exports together.
pub async fn only_so_many_jobs_wait<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let imports = join_all((0..4).map(|_| JobRepository::insert(&*store, ours, import("file"), 3, at(0))));
    let exports = join_all((0..4).map(|_| store.queue(ours, export(), 3, at(0))));
    let (mut outcomes, exports) = futures_util::join!(imports, exports);
    outcomes.extend(exports);
    assert_eq!(counted(&outcomes, &JobRefusal::TooManyWaiting(3)), (3, 5), "{outcomes:?}");
    assert_eq!(store.waiting(ours).await.unwrap(), 3);
    let waiting = outcomes.into_iter().find_map(Result::ok).unwrap();
    assert_eq!((waiting.state, waiting.created_at), (JobState::Queued, at(0)));
    assert_eq!(read(fixture, ours, waiting.id).await, waiting);
    assert_eq!(store.waiting(theirs).await.unwrap(), 0);
    sent(fixture, theirs).await;
    store.cancel(waiting.id, at(1)).await.unwrap().unwrap();
    store.queue(ours, export(), 3, at(0)).await.unwrap();
    let refused = store.queue(ours, export(), 3, at(0)).await;
    assert!(is_refused(&refused, &JobRefusal::TooManyWaiting(3)), "{refused:?}");
}

/// Under concurrent calls, one import of a project runs. Others wait in the order of their creation.
pub async fn an_import_has_one_runner<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (first, second) = (sent(fixture, ours).await, sent(fixture, ours).await);
    let elsewhere = sent(fixture, theirs).await;
    assert!(store.lease(Some(second), "hasty", at(0), at(60)).await.unwrap().is_none(), "it is not its turn");
    let owners: Vec<String> = (0..8).map(|number| format!("worker {number}")).collect();
    let outcomes = join_all(owners.iter().map(|owner| leased(fixture, owner, 0))).await;
    let mut held: Vec<JobLease> = outcomes.into_iter().flatten().collect();
    held.sort_unstable_by_key(|held| held.job);
    let taken: Vec<_> = held.iter().map(|held| (held.job, held.project)).collect();
    assert_eq!(taken, [(first, ours), (elsewhere, theirs)]);
    let running = read(fixture, ours, first).await;
    assert_eq!((running.state, running.started_at), (JobState::Running, Some(at(0))));
    let lease = held.swap_remove(0);
    assert!(store.finish(lease.clone(), success(RowProblems::default())).await.unwrap());
    assert!(!store.finish(lease, success(RowProblems::default())).await.unwrap(), "it has ended");
    assert_eq!(read(fixture, ours, first).await.finished_at, Some(at(50)));
    assert_eq!(leased(fixture, "next", 51).await.map(|held| held.job), Some(second));
}

/// A job is taken over when its lease has expired. The former holder writes nothing more.
pub async fn an_expired_lease_is_taken_over<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let id = sent(fixture, project).await;
    let lost = leased(fixture, "first", 0).await.unwrap();
    assert!(leased(fixture, "second", 59).await.is_none(), "the lease has not expired");
    let taken = store.lease(Some(id), "second", at(60), at(120)).await.unwrap().unwrap();
    assert_eq!((taken.job.id, taken.project, taken.tries), (id, project, 2));
    assert_eq!((taken.kind, taken.place.as_str()), (ImportKind::Nomenclatures, "file"));
    let done = PassResult { total_rows: 1, layout: Layout::default(), go_on: true, is_answer: false, until: at(300) };
    assert!(!store.renew(lost.clone(), at(300)).await.unwrap());
    assert!(!store.checked(lost.clone(), done).await.unwrap());
    assert!(!store.finish(lost.clone(), success(problems(2))).await.unwrap());
    let refused = store.advance(lost.clone(), step(0, 2, 300), report()).await;
    assert!(matches!(refused, Err(PartError::LeaseLost)), "{refused:?}");
    let (sheet, mode) = (cards("article;name\nA;Vase\n"), ImportMode::AllOrNothing);
    let refused = store.import_part(lost.clone(), step(0, 2, 300), sheet, mode, stamp(project)).await;
    assert!(matches!(refused, Err(PartError::LeaseLost)), "{refused:?}");
    store.release(lost, at(60)).await.unwrap();
    assert!(leased(fixture, "third", 61).await.is_none(), "the second worker holds it");
    assert!(store.problems(id, 0, 10).await.unwrap().is_empty());
    assert!(store.lines(project, None, 10).await.unwrap().is_empty());
    assert_eq!(read(fixture, project, id).await, taken.job);
    assert!(store.renew(taken.lease(), at(300)).await.unwrap());
    assert!(leased(fixture, "third", 299).await.is_none(), "the lease is renewed");
}

/// A released job is available at once, however often it is released.
pub async fn a_released_job_is_available_at_once<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let (job, file) = (sent(fixture, project).await, ordered(fixture, project).await);
    for round in 0..8 {
        let owner = format!("worker {round}");
        let taken = store.lease(None, &owner, at(0), at(60)).await.unwrap().unwrap();
        assert_eq!((taken.job.id, taken.tries), (job, 1), "a release is no failure");
        store.release(taken.lease(), at(0)).await.unwrap();
        let taken = store.lease_export(&owner, at(0), at(60)).await.unwrap().unwrap();
        assert_eq!((taken.held.job, taken.tries), (file, 1), "a release is no failure");
        store.release_export(taken.held, at(0)).await.unwrap();
    }
}

/// A job that goes forward is available when its lease has expired, however often that happens.
pub async fn a_job_that_goes_forward_is_taken_over_at_once<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    sent(fixture, project).await;
    for round in 0..9 {
        let second = i64::from(round) * 100;
        let held = leased(fixture, "worker", second).await.unwrap();
        store.advance(held, step(round, round + 1, second + 60), ImportReport::default()).await.unwrap();
    }
}

/// Under concurrent calls, a step is recorded once, with its counts, problems and first rows. The second pass starts at
/// the top.
pub async fn a_step_is_recorded_once<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let id = sent(fixture, project).await;
    assert!(store.first_rows(id).await.unwrap().is_empty());
    let held = leased(fixture, "worker", 0).await.unwrap();
    let outcomes = join_all((0..4).map(|_| store.advance(held.clone(), step(0, 3, 90), report()))).await;
    let lost = outcomes.iter().filter(|outcome| matches!(outcome, Err(PartError::LeaseLost))).count();
    assert_eq!((outcomes.iter().filter(|outcome| outcome.is_ok()).count(), lost), (1, 3), "{outcomes:?}");
    assert!(leased(fixture, "other", 89).await.is_none(), "a step renews the lease");
    let job = read(fixture, project, id).await;
    let counts = Tally { created: 1, skipped: 1, problems: 1, ..Tally::default() };
    assert_eq!((job.checkpoint, job.done_rows, job.tally), (3, 3, counts));
    store.advance(held.clone(), step(3, 5, 90), ImportReport { rows: Vec::new(), ..report() }).await.unwrap();
    assert_eq!(store.first_rows(id).await.unwrap(), [preview()]);

    let columns = [("article", Some("article")), ("colour", None)];
    let column = |(header, column): (&str, Option<&str>)| HeaderColumn {
        header: header.to_owned(),
        column: column.map(str::to_owned),
    };
    let layout = Layout { sheet: None, header_row: 1, columns: columns.map(column).to_vec() };
    let done = PassResult { total_rows: 5, layout: layout.clone(), go_on: true, is_answer: false, until: at(90) };
    assert!(store.checked(held.clone(), done).await.unwrap());
    let job = read(fixture, project, id).await;
    assert_eq!((job.phase, job.checkpoint, job.done_rows, job.total_rows), (JobPhase::Writing, 0, 0, Some(5)));
    assert_eq!((job.layout, job.ignored_columns), (Some(layout), vec!["colour".to_owned()]));
    assert_eq!(job.tally, Tally { created: 0, skipped: 2, problems: 2, ..counts }, "nothing is written yet");

    assert!(store.finish(held, success(problems(4))).await.unwrap());
    let found = store.problems(id, 0, 10).await.unwrap();
    assert_eq!(found.iter().map(|problem| problem.row).collect::<Vec<_>>(), [3, 3, 4], "in the order of the steps");
    let first = found.first().unwrap();
    assert_eq!((first.column.as_str(), first.reason.as_str()), ("price", "must be a decimal number"));
    assert_eq!(Some(store.problems(id, first.number, 1).await.unwrap().as_slice()), found.get(1..2));
    let page = store.problem_page(id, PageRequest::new(2, 2, 100).unwrap()).await.unwrap();
    assert_eq!((page.total, Some(page.items.as_slice())), (3, found.get(2..)));
    let job = read(fixture, project, id).await;
    assert_eq!((job.state, job.tally.problems, job.failure), (JobState::Succeeded, 3, None));
}

/// Jobs whose author lost the right to start them write nothing more.
pub async fn an_author_without_rights_writes_nothing<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let author = fixture.author(project).await;
    let job = NewJob { user_id: Some(author), ..import("file") };
    let job = JobRepository::insert(&*store, project, job, 20, at(0)).await.unwrap();
    let file = NewExport { user_id: Some(author), ..export() };
    let file = store.queue(project, file, 20, at(0)).await.unwrap();
    assert_eq!((job.user_id, file.user_id), (Some(author), Some(author)));
    let held = leased(fixture, "worker", 0).await.unwrap();
    let held_export = leased_export(fixture, "worker", 0).await.unwrap();
    let progress = |done_rows| ExportProgress { done_rows, total_rows: 9 };
    store.advance(held.clone(), step(0, 2, 60), report()).await.unwrap();
    store.progress(held_export.clone(), progress(1), at(60)).await.unwrap();
    fixture.ban(author).await;
    let (before, begun) = (read(fixture, project, job.id).await, read(fixture, project, file.id).await);
    let denied = store.advance(held.clone(), step(2, 4, 60), report()).await;
    assert!(matches!(denied, Err(PartError::AuthorDenied)), "{denied:?}");
    let (sheet, mode) = (cards("article;name\nA;Vase\n"), ImportMode::AllOrNothing);
    let denied = store.import_part(held, step(2, 4, 60), sheet, mode, stamp(project)).await;
    assert!(matches!(denied, Err(PartError::AuthorDenied)), "{denied:?}");
    let denied = store.progress(held_export, progress(2), at(60)).await;
    assert!(matches!(denied, Err(ExportAbort::AuthorDenied)), "{denied:?}");
    assert_eq!((read(fixture, project, job.id).await, read(fixture, project, file.id).await), (before, begun));
    assert_eq!(store.problems(job.id, 0, 10).await.unwrap().len(), 1);
    assert!(store.lines(project, None, 10).await.unwrap().is_empty());
}

/// A canceled job is over: under concurrent calls either its cancellation or its end counts.
pub async fn a_canceled_job_writes_nothing<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let (first, second) = (sent(fixture, project).await, sent(fixture, project).await);
    let file = ordered(fixture, project).await;
    let held = leased(fixture, "worker", 0).await.unwrap();
    let held_export = leased_export(fixture, "worker", 0).await.unwrap();
    let outcomes = join_all((0..4).map(|_| store.cancel(first, at(5)))).await;
    let canceled: Vec<Job> = outcomes.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(canceled.iter().map(|job| job.state).collect::<Vec<_>>(), [JobState::Canceled]);
    assert_eq!(read(fixture, project, first).await.finished_at, Some(at(5)));
    assert!(!store.renew(held.clone(), at(90)).await.unwrap());
    let refused = store.advance(held.clone(), step(0, 2, 90), report()).await;
    assert!(matches!(refused, Err(PartError::LeaseLost)), "{refused:?}");
    assert!(!store.finish(held, success(RowProblems::default())).await.unwrap());
    assert_eq!(read(fixture, project, first).await.state, JobState::Canceled);
    assert!(store.cancel(nothing(), at(5)).await.unwrap().is_none());

    assert_eq!(store.cancel(file, at(5)).await.unwrap().map(|job| job.id), Some(file));
    assert!(!store.end(held_export, Err("late".to_owned()), at(6)).await.unwrap());
    assert_eq!(read(fixture, project, file).await.failure, None);

    let held = leased(fixture, "worker", 6).await.unwrap();
    assert_eq!(held.job, second, "the next one runs");
    let (ended, canceled) =
        futures_util::join!(store.finish(held, success(RowProblems::default())), store.cancel(second, at(50)));
    assert_ne!(ended.unwrap(), canceled.unwrap().is_some(), "one of both ends the job");
    let waiting = sent(fixture, project).await;
    assert!(store.cancel(waiting, at(51)).await.unwrap().is_some());
    assert!(leased(fixture, "worker", 52).await.is_none());
}

/// One export of a project runs, beside its imports. Only its worker records progress and the file.
pub async fn an_export_has_one_runner<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let (first, second) = (ordered(fixture, project).await, ordered(fixture, project).await);
    sent(fixture, project).await;
    leased(fixture, "importer", 0).await.unwrap();
    let owners: Vec<String> = (0..8).map(|number| format!("worker {number}")).collect();
    let outcomes = join_all(owners.iter().map(|owner| leased_export(fixture, owner, 0))).await;
    let mut held: Vec<JobLease> = outcomes.into_iter().flatten().collect();
    assert_eq!(held.iter().map(|held| held.job).collect::<Vec<_>>(), [first]);
    let lost = held.swap_remove(0);
    let progress = ExportProgress { done_rows: 3, total_rows: 9 };
    store.progress(lost.clone(), progress, at(120)).await.unwrap();
    assert!(leased_export(fixture, "other", 119).await.is_none(), "progress renews the lease");
    let job = read(fixture, project, first).await;
    assert_eq!((job.done_rows, job.total_rows), (3, Some(9)));
    let taken = store.lease_export("other", at(120), at(180)).await.unwrap().unwrap();
    assert_eq!((taken.held.job, taken.tries, taken.format), (first, 2, SheetFormat::Csv));
    assert_eq!(taken.scope, ExportScope::from(ExportKind::Stock));
    let refused = store.progress(lost.clone(), progress, at(300)).await;
    assert!(matches!(refused, Err(ExportAbort::LeaseLost)), "{refused:?}");
    assert!(!store.end(lost, Err("late".to_owned()), at(121)).await.unwrap());
    assert!(store.end(taken.held, Err("full".to_owned()), at(122)).await.unwrap());
    let job = read(fixture, project, first).await;
    assert_eq!((job.state, job.failure.as_deref()), (JobState::Failed, Some("full")));
    assert!(store.file(first, at(123)).await.unwrap().is_none());
    assert_eq!(leased_export(fixture, "other", 123).await.map(|held| held.job), Some(second));
}

/// Files are kept until they are forgotten: those of imports until their end, those of exports until they expire.
pub async fn files_are_kept_until_they_are_forgotten<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let upload = JobRepository::insert(&*store, project, import("upload"), 20, at(0)).await.unwrap().id;
    let download = ordered(fixture, project).await;
    let held = leased(fixture, "worker", 0).await.unwrap();
    let held_export = leased_export(fixture, "worker", 0).await.unwrap();
    assert!(store.list_ended_with_files(10).await.unwrap().is_empty(), "the import runs");
    assert!(store.file(download, at(1)).await.unwrap().is_none(), "the export runs");
    assert!(store.finish(held, success(RowProblems::default())).await.unwrap());
    let file = CompletedFile { place: "download".to_owned(), bytes: 9, expires_at: at(100) };
    assert!(store.end(held_export, Ok(file), at(50)).await.unwrap());
    let job = read(fixture, project, download).await;
    assert_eq!((job.state, job.file_bytes, job.file_expires_at), (JobState::Succeeded, 9, Some(at(100))));

    let named = async || {
        let mut named = store.named(["upload", "download", "x"].map(str::to_owned).to_vec()).await.unwrap();
        named.sort_unstable();
        named
    };
    assert_eq!(named().await, ["download", "upload"]);
    assert_eq!(store.list_ended_with_files(10).await.unwrap(), [(upload, "upload".to_owned())]);
    let file = store.file(download, at(99)).await.unwrap().unwrap();
    assert_eq!((file.place.as_str(), file.format), ("download", SheetFormat::Csv));
    assert!(store.file(upload, at(99)).await.unwrap().is_none(), "imports offer no file");
    assert!(store.expired(at(99), 10).await.unwrap().is_empty());
    assert!(store.file(download, at(100)).await.unwrap().is_none());
    assert_eq!(store.expired(at(100), 10).await.unwrap(), [(download, "download".to_owned())]);

    store.forget_file(upload).await.unwrap();
    store.forget_export(download).await.unwrap();
    assert!(store.list_ended_with_files(10).await.unwrap().is_empty());
    assert!(store.expired(at(100), 10).await.unwrap().is_empty());
    assert!(store.file(download, at(99)).await.unwrap().is_none());
    assert!(named().await.is_empty());
    for id in [upload, download] {
        assert_eq!(read(fixture, project, id).await.state, JobState::Succeeded, "the job stays");
    }
}

/// Jobs are listed newest first, imports and exports together, without those of other projects.
pub async fn jobs_are_listed_newest_first<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let (first, file) = (sent(fixture, ours).await, ordered(fixture, ours).await);
    let (last, foreign) = (sent(fixture, ours).await, sent(fixture, theirs).await);
    store.cancel(first, at(1)).await.unwrap();
    let listed = async |kinds: &[JobKind], states: &[JobState], number| {
        let filter = JobFilter { kinds: kinds.to_vec(), states: states.to_vec() };
        let page = PageRequest::new(number, 2, 100).unwrap();
        let page = JobRepository::list(&*store, ours, filter, page).await.unwrap();
        (page.total, page.items.iter().map(|job| job.id).collect::<Vec<_>>())
    };
    assert_eq!(listed(&[], &[], 1).await, (3, vec![last, file]));
    assert_eq!(listed(&[], &[], 2).await, (3, vec![first]));
    assert_eq!(listed(&[ExportKind::Stock.into()], &[], 1).await, (1, vec![file]));
    assert_eq!(listed(&[], &[JobState::Canceled], 1).await, (1, vec![first]));
    let imports: [JobKind; 2] = [ImportKind::Nomenclatures.into(), ImportKind::Inventories.into()];
    assert_eq!(listed(&imports, &[JobState::Queued], 1).await, (1, vec![last]));
    let found = JobRepository::find(&*store, foreign).await.unwrap().unwrap();
    assert_eq!(found.within(ours), None);
}
