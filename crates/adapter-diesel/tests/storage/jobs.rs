//! Imports in the background.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_catalog::bulk::ports::{JobRepository, UploadStore};
use kontor_catalog::bulk::{
    BlockOn, Job, JobError, JobFilter, JobKind, JobOptions, JobPhase, JobRefusal, JobRunner, JobState, LeasedJob,
    NewJob, Progress, RunOutcome, Tally,
};
use kontor_catalog::spreadsheet::ports::{RowSink, SheetReader};
use kontor_catalog::spreadsheet::{Cell, ImportKind, ImportMode, ReadOptions, RowAction, SheetError, SheetRow};
use kontor_kernel::{Clock, FixedClock, JobId, PageRequest, StoreError, Word as _};
use tokio::runtime::Handle;

use crate::stock_fixture::StockFixture;

/// Files written in the test: one line per row, cells separated by `;`. The file location is the text itself. A line
/// `...` is work on the file before its next row.
struct Grid;

impl SheetReader for Grid {
    fn read(&self, file: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        let text = file.to_str().unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            if line == "BROKEN" {
                return Err(SheetError::Broken("its end is missing".to_owned()));
            }
            if line == "..." {
                sink(SheetRow::none_yet())?;
                continue;
            }
            // The text of a file is its location here, which is stored; `␀` replaces a character that cannot be stored.
            let cells = line.split(';').map(|text| Cell::Text(text.replace('␀', "\0"))).collect();
            sink(SheetRow::new(number, cells))?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Texts(Mutex<Vec<String>>);

#[async_trait]
impl UploadStore for Texts {
    async fn keep(&self, _: &Path) -> Result<(String, u64), StoreError> {
        Err(StoreError::Failed("nothing is sent here".to_owned()))
    }

    async fn keep_export(&self, _: File) -> Result<(String, u64), StoreError> {
        Err(StoreError::Failed("nothing is exported here".to_owned()))
    }

    async fn open(&self, place: &str) -> Result<PathBuf, StoreError> {
        Ok(place.into())
    }

    async fn list_stored_before(&self, at: DateTime<Utc>, most: usize) -> Result<Vec<String>, StoreError> {
        // Kept for an hour after the start.
        let old = at > self::at() + TimeDelta::hours(1);
        Ok(if old {
            ["left behind", "of a job", "x"].map(str::to_owned).into_iter().take(most).collect()
        } else {
            Vec::new()
        })
    }

    async fn remove_file(&self, place: &str) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(place.to_owned());
        Ok(())
    }
}

pub struct OnRuntime(pub Handle);

impl BlockOn for OnRuntime {
    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

/// A project and the process that works on its imports.
pub struct ImportFixture<'a> {
    pub stock_fixture: StockFixture<'a>,
    runner: Arc<JobRunner>,
    thrown: Arc<Texts>,
    clock: Arc<FixedClock>,
}

pub const DRY: JobOptions = JobOptions { dry_run: true, mode: ImportMode::AllOrNothing };
pub const STRICT: JobOptions = JobOptions { dry_run: false, mode: ImportMode::AllOrNothing };
const PARTIAL: JobOptions = JobOptions { dry_run: false, mode: ImportMode::Partial };

pub fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

pub fn new_job(kind: ImportKind, options: JobOptions, text: &str) -> NewJob {
    NewJob {
        kind,
        options,
        reading: ReadOptions::default(),
        place: text.to_owned(),
        file_name: Some("cards.csv".to_owned()),
        file_bytes: 7,
        user_id: None,
        token_id: None,
    }
}

impl<'a> ImportFixture<'a> {
    pub async fn open(db: &'a TestDatabase) -> Self {
        let stock_fixture = StockFixture::open(db).await;
        let (store, thrown, clock) =
            (Arc::new(db.database.clone()), Arc::new(Texts::default()), Arc::new(FixedClock::at(at())));
        let runner = JobRunner {
            reader: Arc::new(Grid),
            cards: store.clone(),
            stock: store.clone(),
            jobs: store,
            uploads: thrown.clone(),
            clock: clock.clone(),
        };
        Self { stock_fixture, runner: Arc::new(runner), thrown, clock }
    }

    pub fn jobs(&self) -> &dyn JobRepository {
        &self.stock_fixture.db.database
    }

    async fn send(&self, kind: ImportKind, options: JobOptions, text: &str) -> JobId {
        self.jobs().insert(self.stock_fixture.project, new_job(kind, options, text), 20, at()).await.unwrap().id
    }

    pub async fn take(&self, owner: &str) -> Option<LeasedJob> {
        self.runner.lease(None, owner).await.unwrap()
    }

    /// Works on a job as the process does: on a thread that may block.
    pub async fn work(
        &self,
        leased: LeasedJob,
        mut watch: impl FnMut(Progress) -> bool + Send + 'static,
    ) -> Result<RunOutcome, StoreError> {
        let (runner, runtime) = (self.runner.clone(), OnRuntime(Handle::current()));
        tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch)).await.unwrap()
    }

    /// Sends a job, works on it to its end and reads it.
    async fn done(&self, kind: ImportKind, options: JobOptions, text: &str) -> Job {
        let id = self.send(kind, options, text).await;
        let leased = self.take("one").await.unwrap();
        assert_eq!(leased.job.id, id);
        let outcome = self.work(leased, |_| true).await.unwrap();
        let job = self.job(id).await;
        assert_eq!(outcome, RunOutcome::Ended(job.state));
        job
    }

    pub async fn job(&self, id: JobId) -> Job {
        JobRepository::find(&self.stock_fixture.db.database, id)
            .await
            .unwrap()
            .unwrap()
            .within(self.stock_fixture.project)
            .unwrap()
    }

    async fn count(&self, table: &str) -> i64 {
        self.stock_fixture.number(format!("SELECT count(*) AS number FROM {table}")).await
    }

    async fn errors(&self, id: JobId) -> Vec<(u32, String)> {
        let problems = self.jobs().problems(id, 0, 500).await.unwrap();
        problems.into_iter().map(|problem| (problem.row, problem.column)).collect()
    }
}

/// Items with articles from this number on.
fn cards(from: u32, count: u32) -> String {
    let rows: Vec<String> =
        (from..from + count).map(|n| format!("A-{n};Item {n};Root / Branch {};{n}", n % 7)).collect();
    format!("article;name;category;price\n{}\n", rows.join("\n"))
}

fn created(tally: Tally) -> [u64; 4] {
    [tally.created, tally.updated, tally.unchanged, tally.skipped]
}

database_tests! {
    async fn a_job_that_cannot_be_read_is_parked_and_its_project_goes_on(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let broken = fixture.send(ImportKind::Nomenclatures, STRICT, "article;name").await;
        let next = fixture.send(ImportKind::Nomenclatures, STRICT, "article;name").await;
        crate::fixtures::run(&db, format!("UPDATE jobs SET ignored_columns = 'no list' WHERE id = {broken}")).await;
        assert!(fixture.take("me").await.is_none(), "the one that waits longest is looked at first");
        assert_eq!(fixture.take("me").await.unwrap().job.id, next);
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.len(), 1);
        assert_eq!((parked[0].table, parked[0].id.clone()), ("jobs", broken.to_string()));
        assert_eq!(fixture.jobs().waiting(fixture.stock_fixture.project).await.unwrap(), 0);

        // A job that had started no longer blocks its project, either.
        crate::fixtures::run(&db, format!("UPDATE jobs SET ignored_columns = 'no list' WHERE id = {next}")).await;
        let third = fixture.send(ImportKind::Nomenclatures, STRICT, "article;name").await;
        fixture.clock.advance(TimeDelta::hours(1));
        assert!(fixture.take("other").await.is_none(), "the one that runs is looked at first");
        assert_eq!(fixture.take("other").await.unwrap().job.id, third);
        crate::fixtures::run(&db, "UPDATE jobs SET ignored_columns = '[]'".to_owned()).await;
        assert_eq!(db.database.release_parked().await.unwrap(), 2);
        assert_eq!(fixture.jobs().waiting(fixture.stock_fixture.project).await.unwrap(), 2);
    }

    async fn the_first_rows_and_all_problems_can_be_read_afterwards(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let page = |number, size| PageRequest::new(number, size, 100).unwrap();
        for (options, created) in [(DRY, 0), (PARTIAL, 1_100), (STRICT, 1_100)] {
            let text = format!("{};Mug;;x\nB-1;Mug;;y\n", cards(0, 1_100));
            let job = fixture.done(ImportKind::Nomenclatures, options, &text).await;
            assert_eq!(fixture.count("nomenclatures").await, created, "{options:?}");
            let rows = fixture.jobs().first_rows(job.id).await.unwrap();
            let shown: Vec<_> = rows.iter().map(|row| (row.row, row.action)).collect();
            let expected = if options == STRICT { RowAction::Unchanged } else { RowAction::Create };
            assert_eq!(shown, (2..22).map(|row| (row, expected)).collect::<Vec<_>>(), "{options:?}");
            let found = fixture.jobs().problem_page(job.id, page(1, 1)).await.unwrap();
            assert_eq!(found.total, job.tally.problems, "{options:?}");
            let second = fixture.jobs().problem_page(job.id, page(2, 1)).await.unwrap();
            let all = fixture.jobs().problems(job.id, 0, 500).await.unwrap();
            assert_eq!([found.items, second.items].concat(), all[..2], "{options:?}");
        }
        let waiting = fixture.send(ImportKind::Nomenclatures, STRICT, "article;name").await;
        assert_eq!(fixture.jobs().first_rows(waiting).await.unwrap(), []);
        assert_eq!(fixture.jobs().first_rows(JobId::new(999_999).unwrap()).await.unwrap(), []);
        assert_eq!(fixture.jobs().problem_page(waiting, page(1, 100)).await.unwrap().total, 0);
    }

    async fn a_job_checks_first_and_then_writes(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let text = cards(0, 2_500).replace("article;name;category;price", "article;name;category;price;colour");
        let job = fixture.done(ImportKind::Nomenclatures, STRICT, &text).await;
        assert_eq!((job.state, job.phase, job.total_rows, job.done_rows), (JobState::Succeeded, JobPhase::Writing, Some(2_500), 2_500));
        assert_eq!((created(job.tally), job.ignored_columns), ([2_500, 0, 0, 0], vec!["colour".to_owned()]));
        assert_eq!((fixture.count("nomenclatures").await, fixture.count("categories").await), (2_500, 8));
        if db.kind == Kind::Postgres {
            let known = "SELECT CAST(reltuples AS BIGINT) AS number FROM pg_class WHERE relname = 'nomenclatures'";
            assert!(fixture.stock_fixture.number(known.to_owned()).await > 0, "plans are made for tables as large as they are");
        }
        let again = fixture.done(ImportKind::Nomenclatures, STRICT, &cards(1_000, 2_000)).await;
        assert_eq!(created(again.tally), [500, 0, 1_500, 0]);
        let changed = fixture.done(ImportKind::Nomenclatures, STRICT, "article;price\nA-1;77\nA-2;2\n").await;
        assert_eq!(created(changed.tally), [0, 1, 1, 0]);
        let lines = "SELECT count(*) AS number FROM histories WHERE resource = 'nomenclatures' AND deed = ";
        assert_eq!(fixture.stock_fixture.number(format!("{lines}'created'")).await, 3_000);
        assert_eq!(fixture.stock_fixture.number(format!("{lines}'changed'")).await, 1);
        let lines = "SELECT count(*) AS number FROM histories WHERE resource = 'categories' AND deed = 'created'";
        assert_eq!(fixture.stock_fixture.number(lines.to_owned()).await, 8, "what the sheet made besides the cards");

        // Stock, with an item whose row changes nothing.
        let stock = fixture.done(ImportKind::Inventories, STRICT, "article;warehouse;quantity;price\nA-1;W1;5;10\nA-2;W1;6;10\n").await;
        assert_eq!((stock.state, created(stock.tally)), (JobState::Succeeded, [2, 0, 0, 0]));
        let more = fixture.done(ImportKind::Inventories, STRICT, "article;warehouse;quantity\nA-1;W1;5\nA-2;W1;7\n").await;
        assert_eq!(created(more.tally), [0, 1, 1, 0]);
        for (job, movements) in [(stock.id, 2), (more.id, 1)] {
            let source = format!("FROM stock_movements WHERE source = 'job' AND source_id = {job}");
            assert_eq!(fixture.stock_fixture.number(format!("SELECT count(*) AS number {source}")).await, movements);
        }
    }

    async fn a_process_that_dies_loses_no_row_and_repeats_none(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let id = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 4_500)).await;
        // The first two steps of checking; then two of writing; then the rest. None of the owners releases the lease.
        let mut owners = ["a", "b", "c"].into_iter();
        for (phase, steps) in [(JobPhase::Checking, 2), (JobPhase::Writing, 2)] {
            let leased = fixture.take(owners.next().unwrap()).await.unwrap();
            let held = leased.lease();
            let mut seen = 0;
            let watch = move |progress: Progress| {
                // A killed process does not take its next step.
                seen += u32::from(progress.phase == phase && progress.done_rows > 0);
                assert!(seen <= steps);
                if seen == steps { panic!("killed") } else { true }
            };
            let (runner, runtime) = (fixture.runner.clone(), OnRuntime(Handle::current()));
            let mut watch = watch;
            let died = tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch)).await;
            assert!(died.unwrap_err().is_panic());
            assert!(fixture.take("too early").await.is_none(), "the lease goes on");
            fixture.clock.advance(TimeDelta::seconds(61));
            let job = fixture.job(id).await;
            assert_eq!((job.state, job.phase, job.done_rows), (JobState::Running, phase, 2_000));
            let rows = if phase == JobPhase::Writing { 2_000 } else { 0 };
            assert_eq!(fixture.count("nomenclatures").await, rows);
            let taken = fixture.take("next").await.unwrap();
            assert_eq!(taken.tries, 1);
            // A process that lost the lease changes nothing any more.
            assert!(!fixture.jobs().renew(held, at() + TimeDelta::days(1)).await.unwrap());
            fixture.jobs().release(taken.lease(), fixture.clock.now()).await.unwrap();
        }
        let leased = fixture.take(owners.next().unwrap()).await.unwrap();
        assert_eq!(fixture.work(leased, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Succeeded));
        let job = fixture.job(id).await;
        assert_eq!((created(job.tally), job.done_rows, job.total_rows), ([4_500, 0, 0, 0], 4_500, Some(4_500)));
        assert_eq!(fixture.count("nomenclatures").await, 4_500);
        assert_eq!(fixture.stock_fixture.number("SELECT max(version) AS number FROM nomenclatures".to_owned()).await, 1);
    }

    async fn a_step_is_done_once_however_many_try(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let id = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3_000)).await;
        let leased = fixture.take("one").await.unwrap();
        let twin = leased.clone();
        // Two threads of one process assume they hold the job.
        let (first, second) = tokio::join!(fixture.work(leased, |_| true), fixture.work(twin, |_| true));
        let outcomes = [first.unwrap(), second.unwrap()];
        assert!(outcomes.contains(&RunOutcome::Ended(JobState::Succeeded)) && outcomes.contains(&RunOutcome::LeaseLost), "{outcomes:?}");
        let job = fixture.job(id).await;
        assert_eq!(created(job.tally), [3_000, 0, 0, 0]);
        assert_eq!(fixture.count("nomenclatures").await, 3_000);
    }

    async fn one_job_of_a_project_runs_and_the_others_wait(db: TestDatabase) {
        let (fixture, other) = (ImportFixture::open(&db).await, ImportFixture::open(&db).await);
        let first = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3)).await;
        let second = fixture.send(ImportKind::Inventories, STRICT, "article;warehouse;quantity\nA-1;W1;1\n").await;
        let elsewhere = other.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3)).await;
        assert!(fixture.runner.lease(Some(second), "hasty").await.unwrap().is_none(), "not before its turn");
        let taken = fixture.take("one").await.unwrap();
        assert_eq!(taken.job.id, first);
        assert_eq!(fixture.take("two").await.unwrap().job.id, elsewhere);
        assert!(fixture.take("three").await.is_none());
        fixture.work(taken, |_| true).await.unwrap();
        let taken = fixture.take("three").await.unwrap();
        assert_eq!(taken.job.id, second);
        assert_eq!(fixture.work(taken, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Succeeded));

        // Of several concurrent workers, one gets the job.
        let race = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3)).await;
        let runners: Vec<_> = (0..8)
            .map(|n| {
                let runner = fixture.runner.clone();
                tokio::spawn(async move { runner.lease(None, &format!("racer {n}")).await.unwrap() })
            })
            .collect();
        let mut winners = Vec::new();
        for runner in runners {
            winners.extend(runner.await.unwrap());
        }
        assert_eq!(winners.iter().map(|leased| leased.job.id).collect::<Vec<_>>(), [race]);
    }

    async fn only_so_many_wait(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        for _ in 0..2 {
            fixture.jobs().insert(fixture.stock_fixture.project, new_job(ImportKind::Nomenclatures, STRICT, "x"), 2, at()).await.unwrap();
        }
        let third = fixture.jobs().insert(fixture.stock_fixture.project, new_job(ImportKind::Nomenclatures, STRICT, "x"), 2, at()).await;
        assert!(matches!(third, Err(JobError::Refused(JobRefusal::TooManyWaiting(2)))), "{third:?}");
        assert_eq!(fixture.count("jobs").await, 2);
    }

    async fn a_file_without_a_job_is_deleted(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let waits = fixture.send(ImportKind::Nomenclatures, STRICT, "of a job").await;
        let over = fixture.send(ImportKind::Nomenclatures, STRICT, "x").await;
        JobRepository::cancel(&db.database, over, at()).await.unwrap().unwrap();
        assert_eq!(fixture.runner.sweep().await.unwrap(), 0, "they are young");
        fixture.clock.advance(TimeDelta::hours(2) + TimeDelta::seconds(1));
        assert_eq!(fixture.runner.sweep().await.unwrap(), 1);
        assert_eq!(*fixture.thrown.0.lock().unwrap(), ["left behind"]);
        assert_eq!(fixture.job(waits).await.state, JobState::Queued);
        assert_eq!(fixture.jobs().waiting(fixture.stock_fixture.project).await.unwrap(), 1);
    }

    async fn a_canceled_job_writes_no_more(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let id = fixture.send(ImportKind::Nomenclatures, PARTIAL, &cards(0, 5_000)).await;
        let leased = fixture.take("one").await.unwrap();
        let (database, runtime) = (db.database.clone(), Handle::current());
        let outcome = fixture
            .work(leased, move |progress| {
                if progress.phase == JobPhase::Writing && progress.done_rows == 2_000 {
                    runtime.block_on(JobRepository::cancel(&database, id, at())).unwrap().unwrap();
                }
                true
            })
            .await;
        assert_eq!(outcome.unwrap(), RunOutcome::LeaseLost);
        let job = fixture.job(id).await;
        assert_eq!((job.state, job.done_rows, job.finished_at), (JobState::Canceled, 2_000, Some(at())));
        assert_eq!(fixture.count("nomenclatures").await, 2_000, "what was written stays");
        assert!(JobRepository::cancel(&db.database, id, at()).await.unwrap().is_none(), "it is over");
        // The file is deleted, the job stays until it is swept.
        assert_eq!((fixture.runner.remove_finished_files().await.unwrap(), fixture.runner.remove_finished_files().await.unwrap()), (1, 0));
        assert_eq!(fixture.thrown.0.lock().unwrap().len(), 1);
        let swept = kontor_adapter_diesel::upkeep::SWEPT_TABLES.iter().find(|swept| swept.table == "jobs").unwrap();
        let sweep = |days| db.database.sweep(swept, at() + TimeDelta::days(days), TimeDelta::days(30));
        assert_eq!((sweep(29).await.unwrap(), sweep(31).await.unwrap()), (0, 1));
    }

    async fn wrong_rows_keep_everything_out_unless_the_good_ones_are_wanted(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let text = format!("{}A-7;Again;;\nB-1;;;1\nB-2;Two;;x\n;Nameless;;1\n", cards(0, 1_500));
        let wrong = [(1_502, "article"), (1_503, "name"), (1_504, "price"), (1_505, "article")];
        let wrong: Vec<(u32, String)> = wrong.map(|(row, column)| (row, column.to_owned())).into();
        let dry = fixture.done(ImportKind::Nomenclatures, DRY, &text).await;
        assert_eq!((dry.state, created(dry.tally), dry.tally.problems), (JobState::Succeeded, [1_500, 0, 0, 4], 4));
        assert_eq!((fixture.errors(dry.id).await, fixture.count("nomenclatures").await), (wrong.clone(), 0));
        let strict = fixture.done(ImportKind::Nomenclatures, STRICT, &text).await;
        assert_eq!((strict.state, strict.phase), (JobState::Failed, JobPhase::Checking));
        assert_eq!(strict.failure.as_deref(), Some("rows are wrong; nothing was imported"));
        assert_eq!(created(strict.tally), [0, 0, 0, 4], "nothing was imported, and nothing else is told");
        assert_eq!((fixture.errors(strict.id).await, fixture.count("nomenclatures").await), (wrong.clone(), 0));
        for table in ["categories", "brands", "histories"] {
            assert_eq!(fixture.count(table).await, 0, "{table}");
        }
        let partial = fixture.done(ImportKind::Nomenclatures, PARTIAL, &text).await;
        assert_eq!((partial.state, created(partial.tally)), (JobState::Succeeded, [1_500, 0, 0, 4]));
        assert_eq!((fixture.errors(partial.id).await, fixture.count("nomenclatures").await), (wrong, 1_500));
    }

    async fn a_file_that_is_broken_in_its_middle_writes_nothing(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        for options in [STRICT, PARTIAL] {
            let job = fixture.done(ImportKind::Nomenclatures, options, &format!("{}BROKEN\n", cards(0, 2_000))).await;
            assert_eq!((job.state, fixture.count("nomenclatures").await), (JobState::Failed, 0));
            assert_eq!(job.failure.as_deref(), Some("the file cannot be read: its end is missing"));
        }
        let job = fixture.done(ImportKind::Inventories, STRICT, "name\nMug\n").await;
        assert_eq!(job.failure.as_deref(), Some("the file must have a column `article`"));
    }

    async fn records_that_change_between_the_passes_end_the_job(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        fixture.done(ImportKind::Nomenclatures, STRICT, &cards(0, 2_000)).await;
        let rows: Vec<String> = (0..2_000).map(|n| format!("A-{n};W1;5;1")).collect();
        let id = fixture.send(ImportKind::Inventories, STRICT, &format!("article;warehouse;quantity;price\n{}\n", rows.join("\n"))).await;
        let leased = fixture.take("one").await.unwrap();
        let (runtime, database) = (Handle::current(), db.database.clone());
        let outcome = fixture.work(leased, move |progress| {
            if progress.phase == JobPhase::Checking && progress.done_rows == 2_000 {
                runtime.block_on(database.write_and_invalidate_all(|connection| {
                    use diesel::RunQueryDsl;
                    diesel::sql_query("UPDATE nomenclatures SET kind_id = 1 WHERE article = 'A-1500'").execute(connection)?;
                    Ok::<_, kontor_adapter_diesel::Abort<StoreError>>(())
                })).unwrap();
            }
            true
        }).await;
        assert_eq!(outcome.unwrap(), RunOutcome::Ended(JobState::Failed));
        let job = fixture.job(id).await;
        assert_eq!((job.done_rows, job.phase, fixture.count("inventories").await), (1_000, JobPhase::Writing, 1_000));
        assert!(job.failure.unwrap().contains("1000 rows were imported"));
        assert_eq!(fixture.errors(id).await, [(1_502, "article".to_owned())]);
    }

    async fn a_job_that_never_goes_forward_is_given_up(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let id = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3)).await;
        for tries in 1..=JobRunner::MAX_ATTEMPTS {
            assert_eq!(fixture.take("one").await.unwrap().tries, tries);
            fixture.clock.advance(TimeDelta::seconds(61));
        }
        let leased = fixture.take("one").await.unwrap();
        assert_eq!(fixture.work(leased, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Failed));
        assert!(fixture.job(id).await.failure.unwrap().contains("repeatedly"));
    }

    async fn a_stopped_worker_releases_its_rows_at_once(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let id = fixture.send(ImportKind::Nomenclatures, STRICT, &cards(0, 3_000)).await;
        let leased = fixture.take("one").await.unwrap();
        let outcome = fixture.work(leased, |progress| progress.phase == JobPhase::Checking || progress.done_rows < 1_000).await;
        assert_eq!(outcome.unwrap(), RunOutcome::Stopped);
        assert_eq!(fixture.job(id).await.done_rows, 1_000);
        let leased = fixture.take("two").await.unwrap();
        assert_eq!(fixture.work(leased, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Succeeded));
        assert_eq!(created(fixture.job(id).await.tally), [3_000, 0, 0, 0]);
    }

    async fn a_file_that_takes_long_to_prepare_stays_with_who_prepares_it(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let long = format!("{}{}", "...\n".repeat(10), cards(0, 1_500));
        let id = fixture.send(ImportKind::Nomenclatures, STRICT, &long).await;
        let leased = fixture.take("one").await.unwrap();
        let (clock, runner, runtime) = (fixture.clock.clone(), fixture.runner.clone(), Handle::current());
        let taken = Arc::new(Mutex::new(0));
        let others = taken.clone();
        // Each piece of the work takes 20 seconds of the 60 after which the lease expires.
        let outcome = fixture.work(leased, move |_| {
            clock.advance(TimeDelta::seconds(20));
            *others.lock().unwrap() += i32::from(runtime.block_on(runner.lease(None, "other")).unwrap().is_some());
            true
        }).await;
        assert_eq!((outcome.unwrap(), *taken.lock().unwrap()), (RunOutcome::Ended(JobState::Succeeded), 0));
        assert_eq!(created(fixture.job(id).await.tally), [1_500, 0, 0, 0]);

        // A stopped worker, or one whose job was canceled, stops the preparation.
        for cancels in [false, true] {
            let id = fixture.send(ImportKind::Nomenclatures, STRICT, &"...\n".repeat(50)).await;
            let leased = fixture.take("one").await.unwrap();
            let (asked, clock) = (Arc::new(Mutex::new(0)), fixture.clock.clone());
            let (times, database, runtime) = (asked.clone(), db.database.clone(), Handle::current());
            let outcome = fixture.work(leased, move |_| {
                let mut times = times.lock().unwrap();
                *times += 1;
                clock.advance(TimeDelta::seconds(20));
                if *times == 3 && cancels {
                    runtime.block_on(JobRepository::cancel(&database, id, at())).unwrap().unwrap();
                }
                *times < 3 || cancels
            }).await;
            assert_eq!(outcome.unwrap(), if cancels { RunOutcome::LeaseLost } else { RunOutcome::Stopped });
            assert!(*asked.lock().unwrap() <= 4);
            let job = fixture.job(id).await;
            assert_eq!(job.state, if cancels { JobState::Canceled } else { JobState::Running });
            if !cancels {
                JobRepository::cancel(&db.database, id, at()).await.unwrap().unwrap();
            }
        }
    }

    async fn control_characters_of_a_file_fail_no_statement(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let text = "article;name;photos;co␀lour\nA-1;Mug;ftp://a␀b;\nA-2;Cup;;\n";
        let job = fixture.done(ImportKind::Nomenclatures, PARTIAL, text).await;
        assert_eq!((job.state, created(job.tally)), (JobState::Succeeded, [1, 0, 0, 1]));
        assert_eq!(fixture.errors(job.id).await, [(2, "photos".to_owned())]);
        assert_eq!(job.ignored_columns, ["co\u{fffd}lour"]);
    }

    async fn the_error_sheet_is_bounded(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let rows: Vec<String> = (0..12_000).map(|n| format!("A-{n};;1")).collect();
        let job = fixture.done(ImportKind::Nomenclatures, PARTIAL, &format!("article;name;price\n{}\n", rows.join("\n"))).await;
        assert_eq!((job.tally.problems, job.tally.skipped), (12_000, 12_000));
        assert_eq!(fixture.count("job_errors").await, 10_000);
        let first = fixture.jobs().problems(job.id, 0, 500).await.unwrap();
        let next = fixture.jobs().problems(job.id, first.last().unwrap().number, 500).await.unwrap();
        assert_eq!((first[0].row, first.len(), next[0].row), (2, 500, 502));
    }

    async fn a_part_takes_few_statements_however_large_the_file_is(db: TestDatabase) {
        let fixture = ImportFixture::open(&db).await;
        let mut spent = Vec::new();
        for (from, count) in [(0, 2_000), (10_000, 6_000)] {
            let before = db.statements();
            let job = fixture.done(ImportKind::Nomenclatures, STRICT, &cards(from, count)).await;
            assert_eq!(job.tally.created, u64::from(count));
            spent.push(db.statements() - before);
        }
        let per_part = (spent[1] - spent[0]) / 4;
        assert!(per_part <= 50, "{per_part} statements of a part");
    }

    async fn the_list_has_the_jobs_of_the_project_newest_first(db: TestDatabase) {
        let (fixture, other) = (ImportFixture::open(&db).await, ImportFixture::open(&db).await);
        for _ in 0..3 {
            fixture.send(ImportKind::Nomenclatures, STRICT, "x").await;
        }
        let stock = fixture.send(ImportKind::Inventories, STRICT, "x").await;
        other.send(ImportKind::Nomenclatures, STRICT, "x").await;
        JobRepository::cancel(&db.database, stock, at()).await.unwrap();
        let list = async |kinds: &[JobKind], states: &[JobState], per_page| {
            let filter = JobFilter { kinds: kinds.to_vec(), states: states.to_vec() };
            let page = PageRequest::new(1, per_page, 100).unwrap();
            let before = db.statements();
            let page = fixture.jobs().list(fixture.stock_fixture.project, filter, page).await.unwrap();
            (page.total, page.items.iter().map(|job| job.id.get()).collect::<Vec<_>>(), db.statements() - before)
        };
        let (total, ids, few) = list(JobKind::all(), &[], 2).await;
        assert_eq!((total, ids[0], ids.len()), (4, stock.get(), 2));
        assert!(ids[0] > ids[1]);
        let (total, _, more) = list(JobKind::all(), &[], 100).await;
        assert_eq!((total, more), (4, few), "as many statements for more rows");
        assert_eq!(list(&[ImportKind::Nomenclatures.into()], &[], 10).await.0, 3);
        assert_eq!(list(JobKind::all(), &[JobState::Canceled, JobState::Failed], 10).await.0, 1);
    }
}
