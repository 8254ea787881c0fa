//! Jobs: their steps and outcomes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use kontor_catalog::bulk::ports::{MockJobRepository, MockUploadStore};
use kontor_catalog::bulk::*;
use kontor_catalog::spreadsheet::ports::{MockItemSheetRepository, MockStockSheetRepository};
use kontor_catalog::spreadsheet::{
    Decision, ImportError, ImportKind, ImportMode, ImportReport, ReferenceLookup, RowProblems, SheetError,
};
use kontor_catalog::testing::samples::a_job;
use kontor_kernel::{ProjectId, StoreError};

use crate::clock;
use crate::decision::Grid;

/// No future has to wait here: every mock answers at once.
pub struct AtOnce;

impl BlockOn for AtOnce {
    fn wait<F: Future>(&self, future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }
}

fn leased(mode: ImportMode, dry_run: bool, tries: u32) -> LeasedJob {
    let job =
        Job { options: JobOptions { dry_run, mode }, state: JobState::Running, ..a_job(ImportKind::Nomenclatures) };
    LeasedJob {
        job,
        kind: ImportKind::Nomenclatures,
        project: ProjectId::new(1).unwrap(),
        place: "place".to_owned(),
        owner: "me".to_owned(),
        tries,
    }
}

const FILE: &str = "article;name\nA;One\nB;Two\n";

/// Runs a job with a file of two rows, of which the first pass finds `wrong` invalid.
fn work(
    jobs: MockJobRepository,
    mut cards: MockItemSheetRepository,
    wrong: usize,
    leased: &LeasedJob,
    go_on: bool,
) -> RunOutcome {
    cards.expect_check().returning(move |_, _| {
        let mut problems = RowProblems::default();
        (0..wrong).for_each(|_| problems.add(2, "name", "is wrong"));
        Ok(ImportReport { problems, ..ImportReport::default() })
    });
    run(FILE, jobs, cards, leased, go_on).unwrap()
}

fn run(
    file: &'static str,
    jobs: MockJobRepository,
    cards: MockItemSheetRepository,
    leased: &LeasedJob,
    go_on: bool,
) -> Result<RunOutcome, StoreError> {
    let mut uploads = MockUploadStore::new();
    uploads.expect_open().returning(|_| Ok(PathBuf::new()));
    let runner = JobRunner {
        reader: Arc::new(Grid(file)),
        cards: Arc::new(cards),
        stock: Arc::new(MockStockSheetRepository::new()),
        jobs: Arc::new(jobs),
        uploads: Arc::new(uploads),
        clock: clock(),
    };
    runner.run(&AtOnce, leased, &mut |_| go_on)
}

fn ends(jobs: &mut MockJobRepository, state: JobState) {
    jobs.expect_finish().withf(move |_, ending| ending.state == state).times(1).returning(|_, _| Ok(true));
}

fn checked(go_on: bool) -> MockJobRepository {
    let mut jobs = MockJobRepository::new();
    jobs.expect_advance()
        .withf(|_, step, _| (step.after, step.through, step.rows) == (0, 3, 2))
        .returning(|_, _, _| Ok(()));
    jobs.expect_checked()
        .withf(move |_, done| (done.total_rows, done.go_on) == (2, go_on))
        .times(1)
        .returning(|_, _| Ok(true));
    jobs
}

#[test]
fn a_good_file_is_checked_and_then_written() {
    let (mut jobs, mut cards) = (checked(true), MockItemSheetRepository::new());
    ends(&mut jobs, JobState::Succeeded);
    cards.expect_import_part().times(1).returning(|_, _, _, _, _| Ok(ImportReport::default()));
    let outcome = work(jobs, cards, 0, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::Ended(JobState::Succeeded));
}

#[test]
fn all_or_nothing_refuses_a_file_with_one_invalid_row() {
    let mut jobs = checked(false);
    ends(&mut jobs, JobState::Failed);
    let outcome = work(jobs, MockItemSheetRepository::new(), 1, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::Ended(JobState::Failed));
}

#[test]
fn a_dry_run_writes_nothing_and_succeeds() {
    for wrong in [0, 1] {
        let mut jobs = checked(false);
        ends(&mut jobs, JobState::Succeeded);
        let outcome =
            work(jobs, MockItemSheetRepository::new(), wrong, &leased(ImportMode::AllOrNothing, true, 1), true);
        assert_eq!(outcome, RunOutcome::Ended(JobState::Succeeded));
    }
}

#[test]
fn in_partial_mode_the_first_pass_finds_rows_to_show_and_no_problems() {
    let (mut jobs, mut cards) = (MockJobRepository::new(), MockItemSheetRepository::new());
    cards.expect_check().times(1).returning(|_, sheet| {
        let words = ReferenceLookup::default();
        let mut report = Decision::of(&sheet, &words, &HashMap::new()).preview_report(&words);
        report.problems.add(2, "name", "is wrong");
        Ok(report)
    });
    jobs.expect_advance()
        .withf(|_, step, report| {
            (step.after, report.rows.len(), report.created, report.problems.total()) == (0, 2, 0, 0)
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    jobs.expect_checked().withf(|_, done| done.go_on).times(1).returning(|_, _| Ok(true));
    cards.expect_import_part().times(1).returning(|_, _, _, _, _| Ok(ImportReport::default()));
    ends(&mut jobs, JobState::Succeeded);
    let outcome = run(FILE, jobs, cards, &leased(ImportMode::Partial, false, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Succeeded));
}

#[test]
fn a_conflicting_part_is_retried() {
    let (mut jobs, mut cards) = (checked(true), MockItemSheetRepository::new());
    ends(&mut jobs, JobState::Succeeded);
    let mut clashes = 3;
    cards.expect_import_part().times(4).returning(move |_, _, _, _, _| {
        clashes -= 1;
        if clashes >= 0 { Err(PartError::Import(ImportError::Stale)) } else { Ok(ImportReport::default()) }
    });
    let outcome = work(jobs, cards, 0, &leased(ImportMode::Partial, false, 1), true);
    assert_eq!(outcome, RunOutcome::Ended(JobState::Succeeded));
}

#[test]
fn a_worker_without_the_lease_writes_nothing() {
    let (jobs, mut cards) = (checked(true), MockItemSheetRepository::new());
    cards.expect_import_part().times(1).returning(|_, _, _, _, _| Err(PartError::LeaseLost));
    let outcome = work(jobs, cards, 0, &leased(ImportMode::Partial, false, 1), true);
    assert_eq!(outcome, RunOutcome::LeaseLost);
}

#[test]
fn a_job_whose_author_lost_the_right_fails_and_tells_what_was_imported() {
    for (is_checking, imported) in [(true, "nothing was imported"), (false, "0 rows were imported")] {
        let (mut jobs, mut cards) = if is_checking {
            let mut jobs = MockJobRepository::new();
            jobs.expect_advance().times(1).returning(|_, _, _| Err(PartError::AuthorDenied));
            (jobs, MockItemSheetRepository::new())
        } else {
            (checked(true), MockItemSheetRepository::new())
        };
        let parts = usize::from(!is_checking);
        cards.expect_import_part().times(parts).returning(|_, _, _, _, _| Err(PartError::AuthorDenied));
        let failure = format!("the author of the job is no longer allowed to do this; {imported}");
        jobs.expect_finish()
            .withf(move |_, ending| (ending.state, ending.failure.as_ref()) == (JobState::Failed, Some(&failure)))
            .times(1)
            .returning(|_, _| Ok(true));
        let outcome = work(jobs, cards, 0, &leased(ImportMode::AllOrNothing, false, 1), true);
        assert_eq!(outcome, RunOutcome::Ended(JobState::Failed));
    }
}

#[test]
fn a_stopped_worker_releases_the_job() {
    let mut jobs = MockJobRepository::new();
    jobs.expect_advance().returning(|_, _, _| Ok(()));
    jobs.expect_release().times(1).returning(|_, _| Ok(()));
    let outcome = work(jobs, MockItemSheetRepository::new(), 0, &leased(ImportMode::AllOrNothing, false, 1), false);
    assert_eq!(outcome, RunOutcome::Stopped);
}

#[test]
fn a_job_without_progress_fails() {
    let mut jobs = MockJobRepository::new();
    ends(&mut jobs, JobState::Failed);
    let tired = leased(ImportMode::AllOrNothing, false, JobRunner::MAX_ATTEMPTS + 1);
    assert_eq!(work(jobs, MockItemSheetRepository::new(), 0, &tired, true), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn a_lost_lease_ends_the_first_pass() {
    let mut jobs = MockJobRepository::new();
    jobs.expect_advance().times(1).returning(|_, _, _| Err(PartError::LeaseLost));
    let outcome = work(jobs, MockItemSheetRepository::new(), 0, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::LeaseLost);

    let mut jobs = MockJobRepository::new();
    jobs.expect_advance().returning(|_, _, _| Ok(()));
    jobs.expect_checked().times(1).returning(|_, _| Ok(false));
    let outcome = work(jobs, MockItemSheetRepository::new(), 0, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::LeaseLost, "nothing is written by who does not hold it at the end of the pass");
}

#[test]
fn a_canceled_job_is_not_reported_as_succeeded() {
    let (mut jobs, mut cards) = (checked(true), MockItemSheetRepository::new());
    cards.expect_import_part().times(1).returning(|_, _, _, _, _| Ok(ImportReport::default()));
    jobs.expect_finish().times(1).returning(|_, _| Ok(false));
    let outcome = work(jobs, cards, 0, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::LeaseLost);
}

#[test]
fn a_job_resumes_after_the_processed_rows() {
    let mut half = leased(ImportMode::AllOrNothing, false, 2);
    half.job = Job { phase: JobPhase::Writing, checkpoint: 2, done_rows: 1, total_rows: Some(2), ..half.job };
    let (mut jobs, mut cards) = (MockJobRepository::new(), MockItemSheetRepository::new());
    cards
        .expect_import_part()
        .withf(|held, step, sheet, _, _| {
            let rows: Vec<u32> = sheet.rows.iter().map(|row| row.row).collect();
            (held.owner.as_str(), step.after, step.through, step.rows, rows) == ("me", 2, 3, 1, vec![3])
        })
        .times(1)
        .returning(|_, _, _, _, _| Ok(ImportReport::default()));
    ends(&mut jobs, JobState::Succeeded);
    assert_eq!(run(FILE, jobs, cards, &half, true).unwrap(), RunOutcome::Ended(JobState::Succeeded));
}

#[test]
fn a_file_that_cannot_be_read_fails_the_job_with_the_reason() {
    let mut jobs = MockJobRepository::new();
    jobs.expect_finish()
        .withf(|_, ending| ending.failure.as_deref() == Some(&format!("the file {}", SheetError::Empty)))
        .times(1)
        .returning(|_, ending| Ok(ending.state == JobState::Failed));
    let outcome = run("", jobs, MockItemSheetRepository::new(), &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn rows_that_become_invalid_fail_the_job() {
    let (mut jobs, mut cards) = (checked(true), MockItemSheetRepository::new());
    cards.expect_import_part().times(1).returning(|_, _, _, _, _| {
        let mut problems = RowProblems::default();
        problems.add(3, "id", "is gone");
        Err(PartError::Import(ImportError::Rows(problems)))
    });
    jobs.expect_finish()
        .withf(|_, ending| {
            let reported = ending.failure.as_deref().is_some_and(|text| text.ends_with("0 rows were imported"));
            (ending.state, ending.problems.total(), reported) == (JobState::Failed, 1, true)
        })
        .times(1)
        .returning(|_, _| Ok(true));
    let outcome = work(jobs, cards, 0, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert_eq!(outcome, RunOutcome::Ended(JobState::Failed));
}

#[test]
fn a_storage_that_fails_ends_no_job() {
    let mut cards = MockItemSheetRepository::new();
    cards.expect_check().times(1).returning(|_, _| Err(StoreError::Unavailable("gone".to_owned()).into()));
    let outcome = run(FILE, MockJobRepository::new(), cards, &leased(ImportMode::AllOrNothing, false, 1), true);
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}
