//! Exports: creation of their files and outcomes.

use std::fs::File;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use kontor_catalog::bulk::ports::{MockExportRepository, MockExportSource, MockUploadStore};
use kontor_catalog::bulk::*;
use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{MockSheetWriters, SheetFailed, SheetFormat, SheetWriter};
use kontor_kernel::{JobId, ProjectId, StoreError};

use crate::clock;
use crate::jobs::AtOnce;

/// Accepts texts of at most this many characters.
struct Narrow(usize);

impl SheetWriter for Narrow {
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
        let long = |(place, cell): (usize, &Content<'_>)| match cell {
            Content::Text(text) if text.len() > self.0 => Some((place, text.len())),
            _ => None,
        };
        let cells: Vec<_> = cells.iter().enumerate().filter_map(long).collect();
        if cells.is_empty() { Ok(()) } else { Err(SheetFailed::LongTexts { cells, most: self.0 }) }
    }

    fn finish(self: Box<Self>) -> Result<File, SheetFailed> {
        Ok(File::open("/dev/null").unwrap())
    }
}

fn writers() -> MockSheetWriters {
    let mut writers = MockSheetWriters::new();
    writers.expect_open().returning(|_| Ok(Box::new(Narrow(20))));
    writers
}

fn leased(format: SheetFormat, tries: u32) -> LeasedExport {
    let (job, project) = (JobId::new(7).unwrap(), ProjectId::new(1).unwrap());
    let held = JobLease { job, project, owner: "me".to_owned() };
    LeasedExport { held, scope: ExportKind::Orders.into(), format, tries }
}

const HEADER: &[&str] = &["order_id", "name"];

/// Source of this many orders of one line, each with this name.
fn source(total: u64, name: &'static str) -> MockExportSource {
    let mut source = MockExportSource::new();
    source.expect_header().return_const(HEADER);
    source.expect_total().returning(move |_, _| Ok(total));
    source.expect_rows().returning(move |project, _, after, limit| {
        assert_eq!((project.get(), limit), (1, ExportRunner::PAGE));
        let row = |record: i64| ExportRow {
            at: ExportCursor { record, line: 1 },
            cells: vec![Content::Number(record.to_string()), Content::Text(name.into())],
        };
        let last = i64::try_from(total).unwrap();
        Ok((after.record + 1..=last).take(limit.try_into().unwrap()).map(row).collect())
    });
    source
}

fn run(
    exports: MockExportRepository,
    source: MockExportSource,
    files: MockUploadStore,
    leased: &LeasedExport,
    go_on: bool,
) -> Result<RunOutcome, StoreError> {
    let runner = ExportRunner {
        exports: Arc::new(exports),
        source: Arc::new(source),
        writers: Arc::new(writers()),
        files: Arc::new(files),
        clock: clock(),
    };
    runner.run(&AtOnce, leased, &mut |_| go_on)
}

/// The lease of the export is never lost.
fn held() -> MockExportRepository {
    let mut exports = MockExportRepository::new();
    exports.expect_progress().returning(|_, _, _| Ok(()));
    exports
}

fn fails(exports: &mut MockExportRepository, reason: &'static str) {
    exports
        .expect_end()
        .withf(move |_, outcome, _| outcome.as_ref().is_err_and(|text| text == reason))
        .times(1)
        .returning(|_, _, _| Ok(true));
}

#[test]
fn rows_are_asked_for_in_pages_and_the_file_is_kept_for_a_day() {
    let mut exports = MockExportRepository::new();
    let mut pages = [0, 500, 1_000, 1_001, 1_001].into_iter();
    exports.expect_progress().times(5).returning(move |_, progress, _| {
        assert_eq!((Some(progress.done_rows), progress.total_rows), (pages.next(), 1_001));
        Ok(())
    });
    exports
        .expect_end()
        .withf(|_, outcome, at| {
            let file = outcome.as_ref().unwrap();
            (file.place.as_str(), file.bytes, file.expires_at - *at) == ("place", 9, TimeDelta::hours(24))
        })
        .times(1)
        .returning(|_, _, _| Ok(true));
    let mut files = MockUploadStore::new();
    files.expect_keep_export().times(1).returning(|_| Ok(("place".to_owned(), 9)));
    let outcome = run(exports, source(1_001, "Mug"), files, &leased(SheetFormat::Csv, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Succeeded));
}

#[test]
fn a_text_that_is_too_long_is_named() {
    let mut exports = held();
    fails(&mut exports, "the name of order 1 has 28 characters but a cell holds 20; use csv");
    let source = source(3, "A name that is far too long.");
    let outcome = run(exports, source, MockUploadStore::new(), &leased(SheetFormat::Xlsx, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn too_many_rows_for_a_workbook_are_refused() {
    let mut exports = MockExportRepository::new();
    fails(&mut exports, "there are more than 1048575 rows, the limit of a workbook; use csv");
    let mut source = MockExportSource::new();
    source.expect_total().returning(|_, _| Ok(1_048_576));
    let outcome = run(exports, source, MockUploadStore::new(), &leased(SheetFormat::Xlsx, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn a_lost_lease_ends_the_export() {
    let mut exports = MockExportRepository::new();
    exports.expect_progress().times(1).returning(|_, _, _| Err(ExportAbort::LeaseLost));
    let outcome = run(exports, source(3, "Mug"), MockUploadStore::new(), &leased(SheetFormat::Csv, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::LeaseLost);
}

#[test]
fn an_export_whose_author_lost_the_right_fails() {
    let mut exports = MockExportRepository::new();
    exports.expect_progress().times(1).returning(|_, _, _| Err(ExportAbort::AuthorDenied));
    fails(&mut exports, "the author of the export is no longer allowed to do this");
    let outcome = run(exports, source(3, "Mug"), MockUploadStore::new(), &leased(SheetFormat::Csv, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn the_file_of_an_export_that_was_canceled_at_its_end_is_deleted() {
    let mut exports = held();
    exports.expect_end().times(1).returning(|_, _, _| Ok(false));
    let mut files = MockUploadStore::new();
    files.expect_keep_export().returning(|_| Ok(("place".to_owned(), 9)));
    files.expect_remove_file().withf(|place| place == "place").times(1).returning(|_| Ok(()));
    let outcome = run(exports, source(3, "Mug"), files, &leased(SheetFormat::Csv, 1), true);
    assert_eq!(outcome.unwrap(), RunOutcome::LeaseLost);
}

#[test]
fn a_stopping_process_releases_its_export() {
    let mut exports = held();
    exports.expect_release_export().times(1).returning(|_, _| Ok(()));
    let outcome = run(exports, source(3, "Mug"), MockUploadStore::new(), &leased(SheetFormat::Csv, 1), false);
    assert_eq!(outcome.unwrap(), RunOutcome::Stopped);
}

#[test]
fn an_export_fails_after_the_maximum_attempts() {
    let mut exports = MockExportRepository::new();
    fails(&mut exports, "the service failed repeatedly; start a new export");
    let tired = leased(SheetFormat::Csv, ExportRunner::MAX_ATTEMPTS + 1);
    let outcome = run(exports, MockExportSource::new(), MockUploadStore::new(), &tired, true);
    assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
}

#[test]
fn a_storage_that_fails_ends_no_export() {
    let mut source = MockExportSource::new();
    source.expect_total().returning(|_, _| Err(StoreError::Unavailable("gone".to_owned())));
    let outcome = run(held(), source, MockUploadStore::new(), &leased(SheetFormat::Csv, 1), true);
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}

#[tokio::test]
async fn expired_files_are_deleted() {
    let (mut exports, mut files) = (MockExportRepository::new(), MockUploadStore::new());
    exports
        .expect_expired()
        .withf(|now, _| *now == DateTime::UNIX_EPOCH)
        .returning(|_, _| Ok(vec![(JobId::new(7).unwrap(), "place".to_owned())]));
    files.expect_remove_file().withf(|place| place == "place").times(1).returning(|_| Ok(()));
    exports.expect_forget_export().withf(|id| id.get() == 7).times(1).returning(|_| Ok(()));
    let runner = ExportRunner {
        exports: Arc::new(exports),
        source: Arc::new(MockExportSource::new()),
        writers: Arc::new(writers()),
        files: Arc::new(files),
        clock: clock(),
    };
    assert_eq!(runner.remove_finished_files().await.unwrap(), 1);
}
