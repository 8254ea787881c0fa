//! Move of one project to another database while it is in use.
//!
//! 1. Triggers in the source note every change of the project.
//! 2. All rows are copied from one snapshot, then the noted ones again until few are left.
//! 3. The source refuses changes of the project for a few seconds. The rest is copied.
//! 4. The source is closed for the project, then the target commits.
//!
//! Everything in the target is one transaction: before its commit no other session sees a row of the project, and a
//! move that fails or dies leaves nothing there. A freeze ends by itself, so the source goes on. If the process dies
//! between the two parts of step 4, both refuse the project until the command runs again.

mod copy;
mod notes;
mod tables;

use std::fmt;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use diesel::connection::SimpleConnection as _;
use kontor_kernel::{ProjectId, StoreError};

use self::copy::{CopyPlan, Round};
use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, by_place};

/// Seconds after which a freeze ends by itself. The wait for transactions in flight before it takes at most one more.
const FREEZE_SECONDS: u32 = 4;

/// Noted changes that one freeze copies easily.
const FEW: usize = 200;

/// Rounds until few changes are left, and freezes until one is long enough.
const MAX_ROUNDS: u32 = 1_000;
const MAX_FREEZES: u32 = 3;

/// Comparison of all rows is repeated within the freeze if it took no longer than this before.
const QUICK_COMPARISON: Duration = Duration::from_millis(500);

/// Settings of both connections: no limits of time, except for locks that others wait behind. If the host of the
/// command is lost, its transaction ends within a minute; until then no other run can begin.
const SETTINGS: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
     SET lock_timeout = '1s'; SET DateStyle = 'ISO'; SET default_transaction_isolation = 'read committed'; \
     SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

/// Errors of a move. The source goes on as before, except after [`ProjectMoveError::Unknown`].
#[derive(Debug, thiserror::Error)]
pub enum ProjectMoveError {
    /// The project cannot be moved; the text says why.
    #[error("{0}")]
    Refused(String),
    /// The source is closed, and it is unknown whether the target has the project.
    #[error("it is unknown whether the target has the project: {0}; run the same command again")]
    Unknown(String),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for ProjectMoveError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(StoreError::Failed(error.to_string()))
    }
}

/// Result of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectMoved {
    /// Rows of the first copy.
    pub rows: u64,
    /// Changes copied afterwards.
    pub changes: u64,
    /// Time in which the source refused changes before it was closed. Zero if an earlier run had closed it.
    pub frozen: Duration,
}

/// Progress of a move, reported as it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectMovePhase {
    /// An earlier run has moved the project.
    Present,
    /// The first copy begins.
    Copying,
    /// The first copy has this number of rows.
    Copied(u64),
    /// This number of changes has been copied so far.
    CatchingUp(u64),
    /// The source refuses changes from now on.
    Frozen,
    /// The source accepts changes again after this time, because the rest was too long.
    Thawed(Duration),
    /// The target has the project, after a freeze of this time.
    Switched(Duration),
}

impl fmt::Display for ProjectMovePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => write!(f, "the target has the project already"),
            Self::Copying => write!(f, "copying all rows"),
            Self::Copied(rows) => write!(f, "copied {rows} rows"),
            Self::CatchingUp(changes) => write!(f, "catching up: {changes} changes copied"),
            Self::Frozen => write!(f, "freeze begins: changes of the project are refused"),
            Self::Thawed(after) => write!(f, "freeze ends after {:.1} s without the switch", after.as_secs_f64()),
            Self::Switched(after) => write!(f, "freeze ends after {:.1} s: switched", after.as_secs_f64()),
        }
    }
}

by_place! {
    struct MoveRow {
        state: String,
        target: String,
    }
}

/// State of the source and the target.
enum Found {
    Nothing,
    /// An earlier run ended halfway.
    Unfinished,
    /// The project is in the target, and the source is closed.
    Moved,
}

/// Connections of a move.
struct Ends {
    source: AnyConnection,
    /// In a transaction.
    target: AnyConnection,
    /// Name of the target, without a password.
    label: String,
    project: i64,
    /// Condition that a row of the project in `project_moves` is of this move.
    of_move: String,
}

/// Nothing stays in the target unless it was committed.
impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.target.batch_execute("ROLLBACK");
    }
}

fn open_source(source: &Database) -> Result<AnyConnection, ProjectMoveError> {
    let mut source = source.connect()?;
    if source.is_postgres() {
        source.batch_execute(SETTINGS)?;
    }
    Ok(source)
}

/// Returns the move that an earlier run left in the source, if any.
fn earlier_move(source: &mut AnyConnection, project: i64) -> Result<Option<MoveRow>, ProjectMoveError> {
    let moves = Statement::new("SELECT state, target FROM project_moves WHERE project_id = ").value(project);
    Ok(moves.rows(source)?.into_iter().next())
}

/// Ends a move without its target, unless the switch may have happened.
fn abort_at_source(source: &Database, project: i64) -> Result<bool, ProjectMoveError> {
    let mut source = open_source(source)?;
    match earlier_move(&mut source, project)? {
        Some(MoveRow { state, target }) if state == "moved" => Err(ProjectMoveError::Refused(format!(
            "project {project} may have been moved to {target}; only that database knows, so `--abort` needs it"
        ))),
        found => {
            // A run that is still alive may switch at any time.
            notes::forget(&mut source, project, "state = 'copying'")?;
            Ok(found.is_some())
        }
    }
}

impl Ends {
    fn open(source: &Database, target: &Database, project: i64) -> Result<Self, ProjectMoveError> {
        let label = target.url().to_string();
        let (source, mut target) = (open_source(source)?, target.connect()?);
        if !target.is_postgres() {
            return Err(ProjectMoveError::Refused("the target must be a PostgreSQL database".to_owned()));
        }
        target.batch_execute(SETTINGS)?;
        // References are checked when all rows are there.
        notes::patiently(&mut target, copy::DEFERRABLE)?;
        target.batch_execute("BEGIN; SET CONSTRAINTS ALL DEFERRED")?;
        let lock = "SELECT CAST(1 AS BIGINT) WHERE pg_try_advisory_xact_lock(hashtextextended('kontor project move', ";
        if !Statement::new(lock).value(project).sql("))").once().finds(&mut target)? {
            return Err(ProjectMoveError::Refused(format!("another move of project {project} to {label} is running")));
        }
        let of_move = format!("target = {}", tables::literal(&label));
        Ok(Self { source, target, label, project, of_move })
    }

    fn has_project(connection: &mut AnyConnection, project: i64) -> Result<bool, ProjectMoveError> {
        Ok(Statement::new("SELECT id FROM projects WHERE id = ").value(project).finds(connection)?)
    }

    fn find(&mut self) -> Result<Found, ProjectMoveError> {
        let Self { source, target, label, project, .. } = self;
        let there = Self::has_project(target, *project)?;
        match earlier_move(source, *project)? {
            Some(earlier) if earlier.target != *label => Err(ProjectMoveError::Refused(format!(
                "project {project} is in a move to {}; finish or abort that move first",
                earlier.target
            ))),
            Some(earlier) if there && earlier.state == "moved" => Ok(Found::Moved),
            _ if there => Err(ProjectMoveError::Refused(format!("the target has a project {project} already"))),
            Some(_) => Ok(Found::Unfinished),
            None => Ok(Found::Nothing),
        }
    }

    /// Refuses a source that is not ready.
    fn check_source(&mut self) -> Result<(), ProjectMoveError> {
        let Self { source, project, .. } = self;
        if !Self::has_project(source, *project)? {
            return Err(ProjectMoveError::Refused(format!("project {project} not found")));
        }
        if Statement::new("SELECT id FROM installation WHERE held_since IS NOT NULL").finds(source)? {
            let held = "subscription charges of the source are held; run `kontor reconcile` first";
            return Err(ProjectMoveError::Refused(held.to_owned()));
        }
        // Keys at the acquirer contain the name of the installation, so the target would charge these periods again.
        let taken_over = Statement::new(
            "SELECT s.id FROM known_renewals k JOIN subscriptions s ON s.id = k.subscription_id AND s.project_id = ",
        )
        .value(*project)
        .sql(
            " WHERE s.status <> 'canceled' AND NOT k.is_canceled \
             AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.provider_payment_id = k.provider_payment_id) \
             AND NOT EXISTS (SELECT 1 FROM subscription_payments p WHERE p.project_id = s.project_id \
             AND p.subscription_id = s.id AND p.period = k.period AND p.state = 'succeeded') ORDER BY s.id LIMIT 1",
        );
        if let Some(subscription) = taken_over.scalars::<i64>(source)?.first() {
            return Err(ProjectMoveError::Refused(format!(
                "the next charge of subscription {subscription} takes over a payment of before a restore; move after it"
            )));
        }
        Ok(())
    }

    fn run(
        &mut self,
        at: DateTime<Utc>,
        report: &mut dyn FnMut(ProjectMovePhase),
    ) -> Result<ProjectMoved, ProjectMoveError> {
        let Self { source, target, label, project, of_move } = self;
        let project = *project;
        let mut copy = CopyPlan::plan(source, target, project, of_move)?;
        Statement::new("INSERT INTO project_moves (project_id, state, target, started_at) VALUES ")
            .tuple([project.into(), "copying".into(), label.as_str().into(), at.naive_utc().into()])
            .run(source)?;
        for table in copy.tables() {
            notes::watch(source, table, project)?;
        }
        report(ProjectMovePhase::Copying);
        let rows = copy.all(source, target)?;
        report(ProjectMovePhase::Copied(count(rows)));
        let (mut changes, mut rounds, mut freezes) = (0, 0, 0);
        loop {
            // Complete rounds end with a comparison; the last one before a freeze is such a round.
            let began = Instant::now();
            let Round { done, is_complete } = copy.round(source, target, true)?;
            changes += done;
            rounds += 1;
            report(ProjectMovePhase::CatchingUp(count(changes)));
            if rounds > MAX_ROUNDS {
                return Err(ProjectMoveError::Refused("the project changes faster than it is copied".to_owned()));
            }
            if !is_complete || done > FEW {
                continue;
            }
            let is_quick = began.elapsed() < QUICK_COMPARISON;
            notes::freeze(source, project, of_move)?;
            report(ProjectMovePhase::Frozen);
            let began = Instant::now();
            let mut is_closed = false;
            loop {
                let Round { done, is_complete } = copy.round(source, target, is_quick)?;
                changes += done;
                if is_complete {
                    copy.claim_ids(source, target)?;
                    is_closed = notes::close(source, project, of_move)?;
                }
                if is_complete || began.elapsed().as_secs() >= u64::from(FREEZE_SECONDS) {
                    break;
                }
            }
            if is_closed {
                let frozen = began.elapsed();
                let unknown = |error: diesel::result::Error| ProjectMoveError::Unknown(error.to_string());
                target.batch_execute("COMMIT").map_err(unknown)?;
                report(ProjectMovePhase::Switched(frozen));
                return Ok(ProjectMoved { rows: count(rows), changes: count(changes), frozen });
            }
            freezes += 1;
            if freezes == MAX_FREEZES {
                let long =
                    format!("the rest could not be copied within {FREEZE_SECONDS} s; try again when less is written");
                return Err(ProjectMoveError::Refused(long));
            }
            notes::thaw(source, project, of_move)?;
            report(ProjectMovePhase::Thawed(began.elapsed()));
        }
    }
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

impl Database {
    /// Moves a project with all its rows to another database, and reports each phase. Both must have the same
    /// migrations. A move that died is finished, or begun again.
    pub async fn move_project(
        &self,
        target: &Self,
        project: ProjectId,
        at: DateTime<Utc>,
        mut report: impl FnMut(ProjectMovePhase) + Send + 'static,
    ) -> Result<ProjectMoved, ProjectMoveError> {
        let (source, to) = (self.clone(), target.clone());
        let moved = move || {
            let mut ends = Ends::open(&source, &to, project.get())?;
            match ends.find()? {
                Found::Moved => {
                    report(ProjectMovePhase::Present);
                    return Ok(ProjectMoved { rows: 0, changes: 0, frozen: Duration::ZERO });
                }
                // A run that died while it cleaned up leaves triggers alone.
                Found::Unfinished | Found::Nothing => notes::forget(&mut ends.source, project.get(), &ends.of_move)?,
            }
            ends.check_source()?;
            let moved = ends.run(at, &mut report);
            if let Err(error) = &moved
                && !matches!(error, ProjectMoveError::Unknown(_))
                && let Err(kept) = notes::forget(&mut ends.source, project.get(), &ends.of_move)
            {
                tracing::warn!(error = %kept, "triggers of the move are left; `--abort` removes them");
            }
            moved
        };
        let moved = blocking(moved).await?;
        // Cached answers of both databases, such as unknown tokens.
        for database in [self, target] {
            database.write_and_invalidate_all(|_| Ok::<_, Abort<StoreError>>(())).await?;
        }
        Ok(moved)
    }

    /// Ends a move that died: the source goes on without limits. Returns `false` if there was none. A move that has not
    /// come to its switch ends without the target too. Later only the target knows whether it has the project.
    pub async fn abort_project_move(
        &self,
        target: Option<&Self>,
        project: ProjectId,
    ) -> Result<bool, ProjectMoveError> {
        let (source, to) = (self.clone(), target.cloned());
        blocking(move || {
            let Some(to) = to else { return abort_at_source(&source, project.get()) };
            let mut ends = Ends::open(&source, &to, project.get())?;
            match ends.find()? {
                found @ (Found::Nothing | Found::Unfinished) => {
                    notes::forget(&mut ends.source, project.get(), &ends.of_move)?;
                    Ok(matches!(found, Found::Unfinished))
                }
                Found::Moved => {
                    Err(ProjectMoveError::Refused(format!("project {project} has been moved to {}", ends.label)))
                }
            }
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ProjectMoveError> + Send + 'static,
) -> Result<T, ProjectMoveError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string()).into()))
}
