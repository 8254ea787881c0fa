//! Runs the steps of a scenario: to record its file changes, or with a disk that fails at each of them.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::join_all;
use kontor_adapter_diesel::testing::{TestDatabase, migrated_file};
use kontor_faulty_disk::{Disk, Failure, Fault, Image};

use super::course::{Course, Step};
use super::state::{FILE, Found, State, open};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Records,
    Fails,
}

const FAILURES: [Failure; 3] = [Failure::Broken, Failure::Full, Failure::ReadOnly];

/// Points and kinds of failures: after every third change in one way each; on demand after every change in every way.
fn faults() -> impl Iterator<Item = (usize, Failure)> {
    let all = (0..10_000).flat_map(|after| FAILURES.map(|failure| (after, failure)));
    let every = super::variable("DISK_FAILURES").is_some();
    all.filter(move |(after, failure)| every || (after % 3 == 0 && FAILURES[after / 3 % FAILURES.len()] == *failure))
}

/// A running scenario.
pub struct Run {
    mode: Mode,
    disk: Arc<Disk>,
    steps: Vec<Step>,
    state: Option<State>,
    /// Steps that were refused because the disk failed.
    refused: usize,
    /// `true` if repeating the step repairs inconsistencies.
    repairs: bool,
}

/// A scenario, with a prepared database and its steps.
pub trait Scenario: AsyncFn(&TestDatabase, &mut Run) {}

impl<S: AsyncFn(&TestDatabase, &mut Run)> Scenario for S {}

impl Run {
    fn new(mode: Mode, image: Image) -> Self {
        Self { mode, disk: Disk::new(image), steps: Vec::new(), state: None, refused: 0, repairs: false }
    }

    /// Records the file changes of the scenario, including its end: the last connection writes everything to the
    /// database file and deletes the log. The settings are statements that are run before.
    pub async fn record(name: &'static str, settings: &str, scenario: &impl Scenario) -> Course {
        let mut run = Self::new(Mode::Records, Image::of(FILE, migrated_file().to_vec()));
        let db = open(&run.disk).unwrap();
        db.run_outside_transaction(settings).unwrap();
        scenario(&db, &mut run).await;
        drop(db);
        let recording = run.disk.recording();
        assert_eq!(run.disk.files().file("kontor.db-wal"), None, "the log is gone with the last connection");
        Course::new(name, recording, run.steps, run.repairs)
    }

    /// Makes the disk fail at every change of a file. Returns the number of refusals.
    pub async fn fail(scenario: &impl Scenario) -> usize {
        let mut run = Self::new(Mode::Fails, Image::of(FILE, migrated_file().to_vec()));
        let db = open(&run.disk).unwrap();
        scenario(&db, &mut run).await;
        run.refused
    }

    /// Marks the end of the preparation. The log starts again with the first step.
    pub fn begin(&mut self, db: &TestDatabase) {
        db.run_outside_transaction("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
        self.state = Some(self.look());
        self.disk.record();
    }

    /// Like [`Self::begin`], for a step that repairs inconsistencies: repeating it leads to the same result.
    pub fn begin_mending(&mut self, db: &TestDatabase) {
        self.repairs = true;
        self.begin(db);
    }

    fn look(&self) -> State {
        State::of(&self.disk).unwrap()
    }

    fn state(&self) -> State {
        self.state.clone().unwrap()
    }

    /// Runs a step of one commit.
    pub async fn step<T, E: Debug>(&mut self, name: &str, act: impl AsyncFn() -> Result<T, E>) -> T {
        self.steps_of(1, name, act).await
    }

    /// Runs a step of at most this many commits. Each leaves a consistent state, and is stored completely or not at
    /// all.
    pub async fn steps_of<T, E: Debug>(
        &mut self,
        commits: usize,
        name: &str,
        act: impl AsyncFn() -> Result<T, E>,
    ) -> T {
        let before = self.state();
        if self.mode == Mode::Fails {
            return self.failing(commits, name, act).await;
        }
        let began = self.disk.recorded();
        let answer = act().await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let answered = self.disk.recorded();
        let after = self.look();
        assert_ne!(after, before, "{name} changes nothing");
        self.state = Some(after.clone());
        let name = name.to_owned();
        self.steps.push(Step { name, began, answered, before, after, commits, parts: Vec::new() });
        answer
    }

    async fn failing<T, E: Debug>(&mut self, commits: usize, name: &str, act: impl AsyncFn() -> Result<T, E>) -> T {
        // The results of several commits accumulate, so not after every change.
        for (after, failure) in faults().step_by(if commits > 1 { 3 } else { 1 }) {
            let before = self.state();
            self.disk.fail(Fault { after, failure, lasts: true });
            let outcome = act().await;
            let refused = self.disk.heal();
            self.state = Some(self.look());
            match outcome {
                Ok(answer) if refused == 0 => return answer,
                Ok(_) if commits > 1 => {}
                // Work after the commit, such as writing the log to the database file, is done later.
                Ok(answer) => {
                    assert_ne!(self.state(), before, "{name}: answered, but not done, at change {after}, {failure:?}");
                    return answer;
                }
                Err(error) => {
                    self.refused += 1;
                    assert!(is_unavailable(&error), "{name} at change {after}, {failure:?}: {error:?}");
                    if commits == 1 {
                        let state = self.state();
                        assert!(
                            before == state,
                            "{name} at change {after}, {failure:?} left a part:\n{}",
                            before.difference(&state)
                        );
                        self.may_be_revived(&before, &error).await;
                    }
                }
            }
            if commits > 1 && self.state() != before {
                self.is_sound().await;
            }
        }
        panic!("{name} never comes to an end")
    }

    /// Runs this many calls at once. `there` is a query that finds a confirmed write.
    pub async fn together<T, E: Debug>(
        &mut self,
        count: usize,
        name: &str,
        act: impl AsyncFn(usize) -> Result<T, E>,
        there: impl Fn(&T) -> String,
    ) -> Vec<T> {
        if self.mode == Mode::Fails {
            return self.failing_together(count, name, act, there).await;
        }
        let before = self.state();
        let began = self.disk.recorded();
        let (disk, act) = (&self.disk, &act);
        let one = |number| async move { (act(number).await, disk.recorded()) };
        let answers = join_all((0..count).map(one)).await;
        let answered = self.disk.recorded();
        let (mut done, mut parts) = (Vec::new(), Vec::new());
        for (answer, at) in answers {
            let answer = answer.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            parts.push((at, there(&answer)));
            done.push(answer);
        }
        let after = self.look();
        self.state = Some(after.clone());
        self.steps.push(Step { name: name.to_owned(), began, answered, before, after, commits: count, parts });
        done
    }

    async fn failing_together<T, E: Debug>(
        &mut self,
        count: usize,
        name: &str,
        act: impl AsyncFn(usize) -> Result<T, E>,
        there: impl Fn(&T) -> String,
    ) -> Vec<T> {
        // Confirmed writes accumulate, so not after every change.
        for (after, failure) in faults().step_by(17) {
            let before = self.state();
            self.disk.fail(Fault { after, failure, lasts: true });
            let outcomes = join_all((0..count).map(async |number| act(number).await)).await;
            let refused = self.disk.heal();
            self.state = Some(self.look());
            let mut found = Found::of(self.disk.files()).unwrap();
            let mut answers = Vec::new();
            for outcome in outcomes {
                match outcome {
                    Ok(answer) => {
                        assert!(found.has(&there(&answer)).unwrap(), "{name} at change {after}, {failure:?}: gone");
                        answers.push(answer);
                    }
                    Err(error) => {
                        self.refused += 1;
                        assert!(is_unavailable(&error), "{name} at change {after}, {failure:?}: {error:?}");
                    }
                }
            }
            if answers.is_empty() {
                assert!(before == self.state(), "{name} at change {after}, {failure:?}: nothing answered, but done");
            }
            found.is_sound(self.repairs).await.unwrap();
            if refused == 0 {
                return answers;
            }
        }
        panic!("{name} never comes to an end")
    }

    async fn is_sound(&self) {
        Found::of(self.disk.files()).unwrap().is_sound(self.repairs).await.unwrap();
    }

    /// Checks a kill after a refusal: writes that could not be synced may be stored, completely, if the outcome was
    /// unknown.
    async fn may_be_revived(&self, before: &State, error: &impl Debug) {
        let mut found = Found::of(self.disk.files()).unwrap();
        if found.state != *before {
            assert!(format!("{error:?}").contains("OutcomeUnknown("), "refused, but there afterwards: {error:?}");
            found.is_sound(self.repairs).await.unwrap();
        }
    }
}

/// Returns `true` for a storage error. Every error of a use case or a port contains one. Migrations are a command of
/// their own.
fn is_unavailable(error: &impl Debug) -> bool {
    let reported = format!("{error:?}");
    ["Unavailable(", "OutcomeUnknown(", "Failed(\"migration: "].iter().any(|kind| reported.contains(kind))
}
