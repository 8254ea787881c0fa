use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{Clock, JobId, ProjectId, Stamp, StoreError};

use super::ports::{JobRepository, UploadStore};
use super::{Ending, JobLease, JobPhase, JobState, LeasedJob, PartError, PassResult, Progress, Step};
use crate::spreadsheet::ports::{ItemSheetRepository, SheetReader, StockSheetRepository};
use crate::spreadsheet::{
    CardSheet, ImportError, ImportKind, ImportMode, ImportReport, Layout, Part, ReadOptions, RowPreview, RowProblems,
    SheetError, StockSheet,
};

/// Waits for the futures of ports. Files are read on a thread that may block, and only the process knows how such a
/// thread waits for its runtime.
pub trait BlockOn {
    /// Blocks until the future is ready and returns its output.
    fn wait<F: Future>(&self, future: F) -> F::Output;
}

/// Outcome of working on a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// The job ended in this state.
    Ended(JobState),
    /// The job was canceled, or another process took it over.
    LeaseLost,
    /// `watch` stopped the work; another worker continues it.
    Stopped,
}

/// Reason why a pass ended before the end of the file.
enum PassAbort {
    LeaseLost,
    AuthorDenied,
    Stopped,
    Refused(RowProblems),
    Sheet(SheetError),
    Store(StoreError),
}

impl From<StoreError> for PassAbort {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Rows of a part, of either kind.
enum PartSheet {
    Cards(Arc<CardSheet>),
    Stock(Arc<StockSheet>),
}

/// Runs imports on a thread that may block.
pub struct JobRunner {
    /// Reads the files.
    pub reader: Arc<dyn SheetReader>,
    /// Storage of catalog items.
    pub cards: Arc<dyn ItemSheetRepository>,
    /// Storage of stock levels.
    pub stock: Arc<dyn StockSheetRepository>,
    /// Storage of jobs.
    pub jobs: Arc<dyn JobRepository>,
    /// Storage of the files.
    pub uploads: Arc<dyn UploadStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// State of a pass.
struct Pass<'a, W> {
    waits: &'a W,
    held: JobLease,
    author: Author,
    phase: JobPhase,
    mode: ImportMode,
    /// `true` if the first pass compares the rows with the existing records.
    compares: bool,
    checkpoint: u32,
    done_rows: u64,
    total_rows: Option<u64>,
    renewed: DateTime<Utc>,
    watch: &'a mut dyn FnMut(Progress) -> bool,
}

impl<W> Pass<'_, W> {
    /// Returns the text about the rows that were written so far.
    fn imported(&self) -> String {
        match self.phase {
            JobPhase::Checking => "nothing was imported".to_owned(),
            JobPhase::Writing => format!("{} rows were imported", self.done_rows),
        }
    }
}

/// Processing of a part of the file.
type Work<'a, W> = dyn FnMut(&JobRunner, &mut Pass<'_, W>, PartSheet, Step) -> Result<(), PassAbort> + 'a;

impl JobRunner {
    /// Rows per commit.
    pub const PART: usize = 1000;
    /// Maximum attempts without progress before a job fails.
    pub const MAX_ATTEMPTS: u32 = 5;
    /// Maximum attempts to write a part that conflicts with concurrent changes.
    const MAX_CONFLICTS: u32 = 5;
    /// Maximum number of files removed in one call.
    const CLEANUP_BATCH: u32 = 20;
    /// Maximum number of stored files checked for a job in one call.
    const ORPHAN_SCAN_LIMIT: usize = 10_000;

    /// Returns the lease of a job without renewal.
    fn lease_time() -> TimeDelta {
        TimeDelta::seconds(60)
    }

    /// Returns a period longer than it takes to queue a job once its file is stored.
    fn submission_grace_period() -> TimeDelta {
        TimeDelta::hours(1)
    }

    /// Leases a job: `only` this one, or the oldest that is available.
    pub async fn lease(&self, only: Option<JobId>, owner: &str) -> Result<Option<LeasedJob>, StoreError> {
        let now = self.clock.now();
        self.jobs.lease(only, owner, now, now + Self::lease_time()).await
    }

    /// Removes the files of ended jobs. Returns their number.
    pub async fn remove_finished_files(&self) -> Result<usize, StoreError> {
        let leftovers = self.jobs.list_ended_with_files(Self::CLEANUP_BATCH).await?;
        for (job, place) in &leftovers {
            self.uploads.remove_file(place).await?;
            self.jobs.forget_file(*job).await?;
        }
        Ok(leftovers.len())
    }

    /// Removes files that no job refers to: their submission failed before the job was queued. Returns their number.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let kept = self
            .uploads
            .list_stored_before(self.clock.now() - Self::submission_grace_period(), Self::ORPHAN_SCAN_LIMIT)
            .await?;
        let named = if kept.is_empty() { Vec::new() } else { self.jobs.named(kept.clone()).await? };
        let outsiders: Vec<String> = kept.into_iter().filter(|place| !named.contains(place)).collect();
        for place in &outsiders {
            self.uploads.remove_file(place).await?;
        }
        Ok(outsiders.len())
    }

    /// Returns the location of the table in a file of any size, and its first rows after the import. For operators:
    /// checks no permission. Reads the file on the calling thread.
    pub async fn preview(
        &self,
        project: ProjectId,
        kind: ImportKind,
        file: &Path,
        options: &ReadOptions,
    ) -> Result<(Layout, Vec<RowPreview>), ImportError> {
        let (layout, report) = match kind {
            ImportKind::Nomenclatures => {
                let sheet = CardSheet::read_top(&*self.reader, file, options)?;
                (sheet.layout.clone(), self.cards.check(project, Arc::new(sheet)).await?)
            }
            ImportKind::Inventories => {
                let sheet = StockSheet::read_top(&*self.reader, file, options)?;
                (sheet.layout.clone(), self.stock.check(project, Arc::new(sheet)).await?)
            }
        };
        Ok((layout, report.rows))
    }

    /// Continues a job until it ends. `watch` is called after every part, and repeatedly while the file is prepared. It
    /// receives the progress and returns `true` to continue. A storage error leaves the job unchanged: its lease
    /// expires and it is leased again.
    pub fn run<W: BlockOn>(
        &self,
        waits: &W,
        leased: &LeasedJob,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<RunOutcome, StoreError> {
        if leased.tries > Self::MAX_ATTEMPTS {
            return self.end(waits, &leased.lease(), Err("the service failed repeatedly at the same position".into()));
        }
        let file = waits.wait(self.uploads.open(&leased.place))?;
        let job = &leased.job;
        let mut pass = Pass {
            waits,
            held: leased.lease(),
            author: job.user_id.map_or(Author::System, Author::User),
            phase: job.phase,
            mode: job.options.mode,
            compares: job.options.dry_run || job.options.mode == ImportMode::AllOrNothing,
            checkpoint: job.checkpoint,
            done_rows: job.done_rows,
            total_rows: job.total_rows,
            renewed: self.clock.now(),
            watch,
        };
        match self.passes(&mut pass, leased, &file) {
            Ok(()) => self.end(waits, &pass.held, Ok(())),
            Err(PassAbort::LeaseLost) => Ok(RunOutcome::LeaseLost),
            Err(PassAbort::Stopped) => {
                waits.wait(self.jobs.release(pass.held, self.clock.now()))?;
                Ok(RunOutcome::Stopped)
            }
            Err(PassAbort::Sheet(refused)) => self.end(waits, &pass.held, Err(ImportError::Sheet(refused).to_string())),
            Err(PassAbort::Refused(problems)) => {
                let changed = match pass.phase {
                    JobPhase::Checking => "",
                    JobPhase::Writing => "the records changed while they were imported; ",
                };
                let failure = format!("rows are wrong; {changed}{}", pass.imported());
                self.end_with(waits, &pass.held, Some(failure), problems)
            }
            Err(PassAbort::AuthorDenied) => {
                self.end(waits, &pass.held, Err(format!("{}; {}", PartError::AuthorDenied, pass.imported())))
            }
            Err(PassAbort::Store(error)) => Err(error),
        }
    }

    fn passes<W: BlockOn>(&self, pass: &mut Pass<'_, W>, leased: &LeasedJob, file: &Path) -> Result<(), PassAbort> {
        let job = &leased.job;
        if pass.phase == JobPhase::Checking {
            let mut wrong = job.tally.problems > 0;
            let layout = self.read(pass, leased, file, &mut |runner, pass, sheet, step| {
                runner.check(pass, sheet, step, &mut wrong)
            })?;
            let refused = wrong && job.options.mode == ImportMode::AllOrNothing;
            let go_on = !job.options.dry_run && !refused;
            let until = self.clock.now() + Self::lease_time();
            let (total_rows, is_answer) = (pass.done_rows, job.options.dry_run);
            let done = PassResult { total_rows, layout, go_on, is_answer, until };
            require_lease(pass.waits.wait(self.jobs.checked(pass.held.clone(), done))?)?;
            if job.options.dry_run {
                return Ok(());
            }
            if refused {
                return Err(PassAbort::Refused(RowProblems::default()));
            }
            pass.total_rows = Some(pass.done_rows);
            (pass.phase, pass.checkpoint, pass.done_rows) = (JobPhase::Writing, 0, 0);
        }
        self.read(pass, leased, file, &mut |runner, pass, sheet, step| runner.write(pass, sheet, step)).map(|_| ())
    }

    /// Reads the file from the checkpoint on. Returns the location of the table.
    #[expect(clippy::type_complexity, reason = "one step of a pass, told once")]
    fn read<W: BlockOn>(
        &self,
        pass: &mut Pass<'_, W>,
        leased: &LeasedJob,
        file: &Path,
        work: &mut dyn FnMut(&Self, &mut Pass<'_, W>, PartSheet, Step) -> Result<(), PassAbort>,
    ) -> Result<Layout, PassAbort> {
        let (reader, rows) = (&*self.reader, (Self::PART, pass.checkpoint));
        let mut halted = None;
        let mut step = |sheet: Option<PartSheet>, through: u32, rows: u64| {
            self.step(pass, sheet, through, rows, work).map_err(|halt| {
                halted = Some(halt);
                SheetError::Interrupted
            })
        };
        let reading = &leased.job.reading;
        let outcome = match leased.kind {
            ImportKind::Nomenclatures => CardSheet::read_parts(reader, file, reading, rows, &mut |part: Part<_>| {
                step(part.sheet.map(|sheet| PartSheet::Cards(Arc::new(sheet))), part.through, part.rows)
            }),
            ImportKind::Inventories => StockSheet::read_parts(reader, file, reading, rows, &mut |part: Part<_>| {
                step(part.sheet.map(|sheet| PartSheet::Stock(Arc::new(sheet))), part.through, part.rows)
            }),
        };
        match (outcome, halted) {
            (_, Some(halt)) => Err(halt),
            (Ok(layout), None) => Ok(layout),
            (Err(refused), None) => Err(PassAbort::Sheet(refused)),
        }
    }

    fn step<W: BlockOn>(
        &self,
        pass: &mut Pass<'_, W>,
        sheet: Option<PartSheet>,
        through: u32,
        rows: u64,
        work: &mut Work<'_, W>,
    ) -> Result<(), PassAbort> {
        let now = self.clock.now();
        let until = now + Self::lease_time();
        match sheet {
            // The file is being prepared, or rows done before a crash are skipped: keep the lease.
            None if now - pass.renewed > Self::lease_time() / 4 => {
                require_lease(pass.waits.wait(self.jobs.renew(pass.held.clone(), until))?)?;
                pass.renewed = now;
            }
            None => {}
            Some(sheet) => {
                work(self, pass, sheet, Step { after: pass.checkpoint, through, rows, until })?;
                pass.checkpoint = through;
                pass.done_rows += rows;
                pass.renewed = now;
            }
        }
        let progress = Progress { phase: pass.phase, done_rows: pass.done_rows, total_rows: pass.total_rows };
        if (pass.watch)(progress) { Ok(()) } else { Err(PassAbort::Stopped) }
    }

    /// In partial mode the first pass only reads, except for the rows of the preview. The second pass finds the
    /// problems of rows.
    fn check<W: BlockOn>(
        &self,
        pass: &mut Pass<'_, W>,
        sheet: PartSheet,
        step: Step,
        wrong: &mut bool,
    ) -> Result<(), PassAbort> {
        let project = pass.held.project;
        let checked = match sheet {
            _ if !pass.compares && step.after > 0 => Ok(ImportReport::default()),
            PartSheet::Cards(sheet) => pass.waits.wait(self.cards.check(project, sheet)),
            PartSheet::Stock(sheet) => pass.waits.wait(self.stock.check(project, sheet)),
        };
        let mut report = checked.map_err(store)?;
        if !pass.compares {
            report = ImportReport { rows: report.rows, ..ImportReport::default() };
        }
        *wrong |= !report.problems.is_empty();
        pass.waits.wait(self.jobs.advance(pass.held.clone(), step, report)).map_err(part)
    }

    fn write<W: BlockOn>(&self, pass: &mut Pass<'_, W>, sheet: PartSheet, step: Step) -> Result<(), PassAbort> {
        let mut clashes = 0;
        loop {
            let (held, mode) = (pass.held.clone(), pass.mode);
            let stamp = Stamp { project_id: held.project, author: pass.author, at: self.clock.now() };
            let written = match &sheet {
                PartSheet::Cards(sheet) => {
                    pass.waits.wait(self.cards.import_part(held, step, Arc::clone(sheet), mode, stamp))
                }
                PartSheet::Stock(sheet) => {
                    pass.waits.wait(self.stock.upload_part(held, step, Arc::clone(sheet), mode, stamp))
                }
            };
            match written {
                Ok(_) => return Ok(()),
                Err(PartError::Import(ImportError::Stale)) if clashes < Self::MAX_CONFLICTS => clashes += 1,
                Err(error) => return Err(part(error)),
            }
        }
    }

    fn end<W: BlockOn>(
        &self,
        waits: &W,
        held: &JobLease,
        outcome: Result<(), String>,
    ) -> Result<RunOutcome, StoreError> {
        self.end_with(waits, held, outcome.err(), RowProblems::default())
    }

    fn end_with<W: BlockOn>(
        &self,
        waits: &W,
        held: &JobLease,
        failure: Option<String>,
        problems: RowProblems,
    ) -> Result<RunOutcome, StoreError> {
        let state = if failure.is_some() { JobState::Failed } else { JobState::Succeeded };
        let ending = Ending { state, failure, problems, at: self.clock.now() };
        let finished = waits.wait(self.jobs.finish(held.clone(), ending))?;
        Ok(if finished { RunOutcome::Ended(state) } else { RunOutcome::LeaseLost })
    }
}

fn require_lease(held: bool) -> Result<(), PassAbort> {
    if held { Ok(()) } else { Err(PassAbort::LeaseLost) }
}

fn part(error: PartError) -> PassAbort {
    match error {
        PartError::LeaseLost => PassAbort::LeaseLost,
        PartError::AuthorDenied => PassAbort::AuthorDenied,
        PartError::Import(error) => store(error),
    }
}

fn store(error: ImportError) -> PassAbort {
    match error {
        ImportError::Store(error) => PassAbort::Store(error),
        ImportError::Sheet(refused) => PassAbort::Sheet(refused),
        ImportError::Rows(problems) => PassAbort::Refused(problems),
        error @ (ImportError::Denied(_) | ImportError::Stale) => {
            PassAbort::Store(StoreError::Unavailable(error.to_string()))
        }
    }
}
