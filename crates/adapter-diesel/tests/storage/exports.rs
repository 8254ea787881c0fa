//! Exports in the background: queued beside imports, leased, completed with a file that expires.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::testing::stock_fixture::{Item, StockFixture};
use kontor_auth::model::RoleChoice;
use kontor_auth::ports::StaffRepository;
use kontor_catalog::bulk::ports::{ExportRepository, JobRepository, UploadStore};
use kontor_catalog::bulk::{
    ExportKind, ExportRunner, Job, JobError, JobFilter, JobKind, JobOptions, JobRefusal, JobState, LeasedExport,
    NewExport, NewJob, Progress, RunOutcome,
};
use kontor_catalog::spreadsheet::ports::{SheetFailed, SheetFormat, SheetWriter, SheetWriters};
use kontor_catalog::spreadsheet::{Content, ImportKind, ReadOptions};
use kontor_kernel::{Clock as _, FixedClock, JobId, PageRequest, StoreError, Word as _};
use tokio::runtime::Handle;

use crate::jobs::OnRuntime;
use crate::staff::employee;

/// Rows of the file that was written last. A restarted file is empty.
#[derive(Default)]
struct Sheets(Arc<Mutex<Vec<Vec<Content<'static>>>>>);

struct Writer(Arc<Mutex<Vec<Vec<Content<'static>>>>>);

impl SheetWriters for Sheets {
    fn open(&self, _: SheetFormat) -> Result<Box<dyn SheetWriter>, SheetFailed> {
        self.0.lock().unwrap().clear();
        Ok(Box::new(Writer(self.0.clone())))
    }

    fn piece(&self, _: &[Vec<Content<'_>>], _: bool) -> Result<Vec<u8>, SheetFailed> {
        Err(SheetFailed::Broken("no pieces here".to_owned()))
    }
}

impl SheetWriter for Writer {
    fn row(&mut self, cells: &[Content<'_>]) -> Result<(), SheetFailed> {
        let owned = |cell: &Content<'_>| match cell {
            Content::Empty => Content::Empty,
            Content::Text(text) => Content::Text(text.to_string().into()),
            Content::Number(number) => Content::Number(number.clone()),
        };
        self.0.lock().unwrap().push(cells.iter().map(owned).collect());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<File, SheetFailed> {
        Ok(File::open("/dev/null").unwrap())
    }
}

/// Stored and deleted files.
#[derive(Default)]
struct StoredFiles(Mutex<(u32, Vec<String>)>);

#[async_trait]
impl UploadStore for StoredFiles {
    async fn keep(&self, _: &Path) -> Result<(String, u64), StoreError> {
        Err(StoreError::Failed("nothing is sent here".to_owned()))
    }

    async fn keep_export(&self, _: File) -> Result<(String, u64), StoreError> {
        let mut kept = self.0.lock().unwrap();
        kept.0 += 1;
        Ok((format!("place {}", kept.0), 9))
    }

    async fn open(&self, place: &str) -> Result<PathBuf, StoreError> {
        Ok(place.into())
    }

    async fn list_stored_before(&self, _: DateTime<Utc>, _: usize) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    async fn remove_file(&self, place: &str) -> Result<(), StoreError> {
        self.0.lock().unwrap().1.push(place.to_owned());
        Ok(())
    }
}

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

/// A project and the process that works on its exports.
struct ExportFixture<'a> {
    stock_fixture: StockFixture<'a>,
    runner: Arc<ExportRunner>,
    sheets: Arc<Mutex<Vec<Vec<Content<'static>>>>>,
    shelf: Arc<StoredFiles>,
    clock: Arc<FixedClock>,
}

impl<'a> ExportFixture<'a> {
    async fn open(db: &'a TestDatabase) -> Self {
        let (store, clock) = (Arc::new(db.database.clone()), Arc::new(FixedClock::at(at())));
        let (writers, shelf) = (Arc::new(Sheets::default()), Arc::new(StoredFiles::default()));
        let sheets = writers.0.clone();
        let runner =
            ExportRunner { exports: store.clone(), source: store, writers, files: shelf.clone(), clock: clock.clone() };
        Self { stock_fixture: StockFixture::open(db).await, runner: Arc::new(runner), sheets, shelf, clock }
    }

    /// A project with this many stock levels.
    async fn with_stock(db: &'a TestDatabase, count: u32) -> Self {
        let fixture = Self::open(db).await;
        let item =
            fixture.stock_fixture.item(Item::goods("Mug", fixture.stock_fixture.category("All", None).await)).await;
        let (p, near) = (fixture.stock_fixture.project, fixture.stock_fixture.near);
        fixture
            .stock_fixture
            .run(format!(
                "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, price, is_subscription, wholesale, \
                 pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
                 WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) \
                 SELECT {p}, 'Cup', 'cup', 2, 0, FALSE, FALSE, 1, 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00' \
                 FROM counted"
            ))
            .await;
        fixture
            .stock_fixture
            .run(format!(
                "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, \
                 updated_at) SELECT {p}, {near}, id, 5, 0, 100, created_at, created_at FROM nomenclatures \
                 WHERE project_id = {p} AND id > {item}"
            ))
            .await;
        fixture
    }

    fn exports(&self) -> &dyn ExportRepository {
        &self.stock_fixture.db.database
    }

    fn jobs(&self) -> &dyn JobRepository {
        &self.stock_fixture.db.database
    }

    async fn queue(&self, kind: ExportKind) -> JobId {
        self.try_to_queue(kind, 20).await.unwrap().id
    }

    async fn try_to_queue(&self, kind: ExportKind, most: u32) -> Result<Job, JobError> {
        let export = NewExport { scope: kind.into(), format: SheetFormat::Csv, user_id: None, token_id: None };
        self.exports().queue(self.stock_fixture.project, export, most, at()).await
    }

    async fn send(&self) -> JobId {
        let (options, place) = (JobOptions::default(), "x".to_owned());
        let (kind, reading) = (ImportKind::Inventories, ReadOptions::default());
        let (file_name, file_bytes, user_id, token_id) = (None, 1, None, None);
        let job = NewJob { kind, options, reading, place, file_name, file_bytes, user_id, token_id };
        self.jobs().insert(self.stock_fixture.project, job, 20, at()).await.unwrap().id
    }

    async fn take(&self, owner: &str) -> Option<LeasedExport> {
        self.runner.lease(owner).await.unwrap()
    }

    async fn work(
        &self,
        leased: LeasedExport,
        mut watch: impl FnMut(Progress) -> bool + Send + 'static,
    ) -> Result<RunOutcome, tokio::task::JoinError> {
        let (runner, runtime) = (self.runner.clone(), OnRuntime(Handle::current()));
        tokio::task::spawn_blocking(move || runner.run(&runtime, &leased, &mut watch).unwrap()).await
    }

    async fn job(&self, id: JobId) -> Job {
        self.jobs().find(id).await.unwrap().unwrap().within(self.stock_fixture.project).unwrap()
    }

    fn rows(&self) -> usize {
        self.sheets.lock().unwrap().len()
    }
}

database_tests! {
    async fn an_export_ends_with_a_file_that_expires(db: TestDatabase) {
        let fixture = ExportFixture::with_stock(&db, 1_203).await;
        let id = fixture.queue(ExportKind::Stock).await;
        let early = fixture.exports().file(id, at()).await.unwrap();
        assert!(early.is_none(), "it is not made yet");
        let leased = fixture.take("me").await.unwrap();
        let counted = Arc::new(Mutex::new(Vec::new()));
        let shown = counted.clone();
        let outcome = fixture.work(leased, move |progress| {
            shown.lock().unwrap().push(progress.done_rows);
            true
        });
        assert_eq!(outcome.await.unwrap(), RunOutcome::Ended(JobState::Succeeded));
        assert_eq!(*counted.lock().unwrap(), [0, 500, 1_000, 1_203, 1_203]);
        assert_eq!(fixture.rows(), 1_204);
        let job = fixture.job(id).await;
        assert_eq!((job.state, job.kind), (JobState::Succeeded, JobKind::Export(ExportKind::Stock)));
        assert_eq!((job.done_rows, job.total_rows, job.file_bytes), (1_203, Some(1_203), 9));
        let until = at() + TimeDelta::hours(24);
        assert_eq!(job.file_expires_at, Some(until));

        let file = fixture.exports().file(id, until - TimeDelta::seconds(1)).await.unwrap().unwrap();
        assert_eq!((file.place.as_str(), file.format), ("place 1", SheetFormat::Csv));
        assert_eq!(fixture.jobs().named(vec!["place 1".to_owned(), "x".to_owned()]).await.unwrap(), ["place 1"]);
        assert!(fixture.jobs().list_ended_with_files(20).await.unwrap().is_empty(), "it is kept until it expires");
        fixture.clock.advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
        assert_eq!(fixture.runner.remove_finished_files().await.unwrap(), 0);
        fixture.clock.advance(TimeDelta::seconds(1));
        assert!(fixture.exports().file(id, fixture.clock.now()).await.unwrap().is_none());
        assert_eq!((fixture.runner.remove_finished_files().await.unwrap(), fixture.runner.remove_finished_files().await.unwrap()), (1, 0));
        assert_eq!(fixture.shelf.0.lock().unwrap().1, ["place 1"]);
        let swept = kontor_adapter_diesel::upkeep::SWEPT_TABLES.iter().find(|swept| swept.table == "exports").unwrap();
        let sweep = |days| db.database.sweep(swept, at() + TimeDelta::days(days), TimeDelta::days(30));
        assert_eq!((sweep(29).await.unwrap(), sweep(31).await.unwrap()), (0, 1));
    }

    async fn an_export_fails_when_its_author_is_banned(db: TestDatabase) {
        let fixture = ExportFixture::with_stock(&db, 600).await;
        let project = fixture.stock_fixture.project;
        let admin = db.database.insert_employee(employee(project, "boss", RoleChoice::Owner)).await.unwrap();
        let (scope, format) = (ExportKind::Stock.into(), SheetFormat::Csv);
        let export = NewExport { scope, format, user_id: Some(admin), token_id: None };
        let id = fixture.exports().queue(project, export, 20, at()).await.unwrap().id;
        fixture.stock_fixture.run(format!("UPDATE users SET is_banned = TRUE, version = version + 1 WHERE id = {admin}")).await;
        let leased = fixture.take("me").await.unwrap();
        assert_eq!(fixture.work(leased, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Failed));
        let failure = fixture.job(id).await.failure;
        assert_eq!(failure.as_deref(), Some("the author of the export is no longer allowed to do this"));
        assert_eq!(fixture.rows(), 0);
    }

    async fn another_process_restarts_the_export_of_a_dead_one(db: TestDatabase) {
        let fixture = ExportFixture::with_stock(&db, 1_001).await;
        let id = fixture.queue(ExportKind::Stock).await;
        let leased = fixture.take("first").await.unwrap();
        let held = leased.held.clone();
        let died = fixture.work(leased, |progress| if progress.done_rows == 500 { panic!("killed") } else { true });
        assert!(died.await.unwrap_err().is_panic());
        assert!(fixture.take("too early").await.is_none(), "the lease goes on");
        assert!(fixture.exports().file(id, at()).await.unwrap().is_none());
        fixture.clock.advance(TimeDelta::seconds(61));
        let taken = fixture.take("second").await.unwrap();
        assert_eq!((taken.held.job, taken.tries), (id, 2));
        assert!(!fixture.exports().end(held, Err("late".to_owned()), at()).await.unwrap(), "who lost it ends nothing");
        assert_eq!(fixture.work(taken, |_| true).await.unwrap(), RunOutcome::Ended(JobState::Succeeded));
        assert_eq!((fixture.rows(), fixture.job(id).await.done_rows), (1_002, 1_001));
    }

    async fn a_canceled_export_keeps_no_file(db: TestDatabase) {
        let fixture = ExportFixture::with_stock(&db, 600).await;
        let waits = fixture.queue(ExportKind::Stock).await;
        assert_eq!(fixture.jobs().cancel(waits, at()).await.unwrap().unwrap().state, JobState::Canceled);
        assert!(fixture.jobs().cancel(waits, at()).await.unwrap().is_none(), "it is over");
        assert!(fixture.take("me").await.is_none());

        let id = fixture.queue(ExportKind::Stock).await;
        let (database, runtime) = (db.database.clone(), Handle::current());
        let leased = fixture.take("me").await.unwrap();
        let outcome = fixture.work(leased, move |progress| {
            if progress.done_rows == 500 {
                runtime.block_on(JobRepository::cancel(&database, id, at())).unwrap().unwrap();
            }
            true
        });
        assert_eq!(outcome.await.unwrap(), RunOutcome::LeaseLost);
        let job = fixture.job(id).await;
        assert_eq!((job.state, job.file_expires_at, job.finished_at), (JobState::Canceled, None, Some(at())));
        assert_eq!(fixture.shelf.0.lock().unwrap().0, 0);
    }

    async fn imports_and_exports_share_their_numbers_their_limit_and_their_list(db: TestDatabase) {
        let (fixture, other) = (ExportFixture::open(&db).await, ExportFixture::open(&db).await);
        let (first, import) = (fixture.queue(ExportKind::Orders).await, fixture.send().await);
        let second = fixture.queue(ExportKind::Customers).await;
        let elsewhere = other.queue(ExportKind::Stock).await;
        assert!(first < import && import < second && second < elsewhere, "{first} {import} {second} {elsewhere}");
        assert_eq!(fixture.jobs().waiting(fixture.stock_fixture.project).await.unwrap(), 3);
        let refused = fixture.try_to_queue(ExportKind::Stock, 3).await;
        assert!(matches!(refused, Err(JobError::Refused(JobRefusal::TooManyWaiting(3)))), "{refused:?}");

        let list = async |kinds: &[JobKind], states: Vec<JobState>, per_page| {
            let filter = JobFilter { kinds: kinds.to_vec(), states };
            let page = PageRequest::new(1, per_page, 100).unwrap();
            let page = fixture.jobs().list(fixture.stock_fixture.project, filter, page).await.unwrap();
            (page.total, page.items.iter().map(|job| job.id).collect::<Vec<_>>())
        };
        assert_eq!(list(JobKind::all(), vec![], 100).await, (3, vec![second, import, first]));
        assert_eq!(list(JobKind::all(), vec![], 2).await, (3, vec![second, import]));
        assert_eq!(list(&[ExportKind::Orders.into()], vec![], 100).await, (1, vec![first]));

        // One export of a project runs at a time, beside its imports.
        assert_eq!(fixture.take("one").await.unwrap().held.job, first);
        assert_eq!(fixture.take("two").await.unwrap().held.job, elsewhere);
        assert!(fixture.take("three").await.is_none());
        assert_eq!(list(JobKind::all(), vec![JobState::Running], 100).await, (1, vec![first]));
        fixture.jobs().cancel(first, at()).await.unwrap();
        assert_eq!(fixture.take("three").await.unwrap().held.job, second);
    }

    async fn an_export_that_cannot_be_read_is_parked(db: TestDatabase) {
        let fixture = ExportFixture::open(&db).await;
        let (broken, next) = (fixture.queue(ExportKind::Orders).await, fixture.queue(ExportKind::Stock).await);
        crate::fixtures::run(&db, format!("UPDATE exports SET tries = -7 WHERE id = {broken}")).await;
        assert!(fixture.take("me").await.is_none(), "the one that waits longest is looked at first");
        assert_eq!(fixture.take("me").await.unwrap().held.job, next);
        let parked = db.database.parked().await.unwrap();
        assert_eq!((parked[0].table, parked[0].id.clone()), ("exports", broken.to_string()));
    }
}
