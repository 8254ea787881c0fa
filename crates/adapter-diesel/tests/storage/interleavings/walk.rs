//! Every pair of the use cases of a scene, at every pause.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::testing::{Checkpoint, Kind, TestDatabase, pool_options};

use super::meeting::meet;
use super::rules::broken;
use super::{Act, Actor, Facts, REFUSED};

/// Pairs of a scene that are run without `INTERLEAVINGS=all`.
const FEW_PAIRS: usize = 6;

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Rows and responses of two use cases.
#[derive(Debug)]
struct End {
    outcomes: [String; 2],
    /// Requests to the acquirer.
    asked: Vec<String>,
    rows: Vec<String>,
}

impl End {
    fn lines(&self) -> Vec<String> {
        let outcomes = self.outcomes.iter().map(|outcome| format!("answered {outcome}"));
        let asked = self.asked.iter().map(|asked| format!("asked for {asked}"));
        outcomes.chain(asked).chain(self.rows.iter().cloned()).collect()
    }

    /// Returns `true` for the same rows and responses. The reasons of a refusal may differ.
    fn agrees(&self, other: &Self) -> bool {
        let mut answers = self.outcomes.iter().zip(&other.outcomes);
        let same = answers
            .all(|(one, other)| one == other || [one, other].iter().all(|reported| reported.starts_with(REFUSED)));
        same && self.asked == other.asked && self.rows == other.rows
    }

    /// Differences in both directions.
    fn compared(&self, other: &Self) -> Vec<String> {
        let mut counts: BTreeMap<String, i32> = BTreeMap::new();
        for line in self.lines() {
            *counts.entry(line).or_default() += 1;
        }
        for line in other.lines() {
            *counts.entry(line).or_default() -= 1;
        }
        let reported = counts.into_iter().filter(|(_, count)| *count != 0);
        reported.map(|(line, count)| format!("    {} {line}", if count > 0 { "has  " } else { "lacks" })).collect()
    }
}

/// Two processes with the database of a scene.
struct TwoProcesses<'a> {
    scene: &'static str,
    actor: &'a Actor<'a>,
    processes: [TestDatabase; 2],
    checkpoint: Checkpoint,
    /// Rules that the scene itself violates.
    known: Vec<String>,
    faults: Vec<String>,
    runs: usize,
    waits: usize,
}

impl<'a> TwoProcesses<'a> {
    async fn open(scene: &'static str, actor: &'a Actor<'a>) -> Self {
        let db = actor.shop().stock_fixture.db;
        let known = broken(db).await;
        let checkpoint = Checkpoint::take(db);
        let open = || TestDatabase::borrowed(Database::open(db.url(), pool_options()).unwrap(), Kind::Postgres);
        let processes = [open(), open()];
        Self { scene, actor, processes, checkpoint, known, faults: Vec::new(), runs: 0, waits: 0 }
    }

    fn actors(&self) -> [Actor<'_>; 2] {
        [self.actor.served(&self.processes[0], 1_000), self.actor.served(&self.processes[1], 2_000)]
    }

    /// Rows, and requests of both to the acquirer.
    fn end(&mut self, outcomes: [String; 2], asked: BTreeMap<String, String>) -> End {
        let changes = self.checkpoint.changes();
        let mut asked: Vec<String> = asked.into_values().map(|asked| changes.labels.replace(&asked)).collect();
        asked.sort_unstable();
        End { outcomes: outcomes.map(|outcome| changes.labels.replace(&outcome)), asked, rows: changes.rows }
    }

    /// Payments and refunds of the acquirer that were added during the scene, by their keys.
    fn asked(&self, actors: &[Actor<'_>; 2]) -> BTreeMap<String, String> {
        let known = self.actor.shop();
        let (payments, refunds) = (known.acquirer.count(), known.acquirer.refunds.lock().unwrap().len());
        let mut asked = BTreeMap::new();
        for actor in actors {
            let acquirer = &actor.shop().acquirer;
            for (key, made) in acquirer.payments.lock().unwrap().iter().skip(payments) {
                asked.insert(key.to_string(), format!("{:?} {} {:?}", made.purpose, made.amount, made.status));
            }
            for (key, made) in acquirer.refunds.lock().unwrap().iter().skip(refunds) {
                asked.insert(key.to_string(), format!("refund of {} {:?}", made.amount, made.status));
            }
        }
        asked
    }

    /// Runs both one after the other. Returns the number of statements of the first one, and those that began
    /// transactions.
    async fn in_turn(&mut self, acts: [Act; 2], first: usize) -> (End, usize, Vec<usize>) {
        self.checkpoint.restore();
        let actors = self.actors();
        let pauses = self.processes[first].database.pauses();
        let mut outcomes = [String::new(), String::new()];
        pauses.arm(None);
        outcomes[first] = (acts[first].run)(&actors[first]).await;
        let (statements, begins) = (pauses.count(), pauses.begins());
        outcomes[1 - first] = (acts[1 - first].run)(&actors[1 - first]).await;
        let asked = self.asked(&actors);
        drop(actors);
        self.check(&format!("{} and then {}", acts[first].name, acts[1 - first].name)).await;
        (self.end(outcomes, asked), statements, begins)
    }

    /// Runs one of them alone, because the other one has found nothing to do.
    async fn alone(&mut self, acts: [Act; 2], which: usize) -> End {
        self.checkpoint.restore();
        let actors = self.actors();
        let mut outcomes = ["done".to_owned(), "done".to_owned()];
        outcomes[which] = (acts[which].run)(&actors[which]).await;
        let asked = self.asked(&actors);
        drop(actors);
        self.end(outcomes, asked)
    }

    async fn check(&mut self, what: &str) {
        let mut broken = broken(self.actor.shop().stock_fixture.db).await;
        broken.retain(|rule| !self.known.contains(rule));
        if !broken.is_empty() {
            self.faults.push(format!("{}: {what}:\n    {}", self.scene, broken.join("\n    ")));
        }
    }

    /// Pauses one before the statement with this number, and runs the other one. Returns `None` if it ends before.
    async fn meeting(&mut self, acts: [Act; 2], paused: usize, at: usize) -> Option<(End, String)> {
        self.checkpoint.restore();
        let actors = [self.actor.served(&self.processes[0], 1_000), self.actor.served(&self.processes[1], 2_000)];
        let (first, second) = ((acts[paused].run)(&actors[paused]), (acts[1 - paused].run)(&actors[1 - paused]));
        let database = &self.processes[paused].database;
        let met = meet(&mut self.checkpoint, database, at, first, second).await;
        let asked = self.asked(&actors);
        drop(actors);
        self.runs += 1;
        self.waits += usize::from(met.waited);
        let mut outcomes = [met.first, met.second];
        if paused == 1 {
            outcomes.reverse();
        }
        let end = self.end(outcomes, asked);
        let statement = met.paused_before?;
        let statement = statement.split(" -- binds:").next().unwrap_or_default();
        let waited = if met.waited { ", which had to wait" } else { "" };
        let what =
            format!("{} before statement {at} [{statement}]: {}{waited}", acts[paused].name, acts[1 - paused].name);
        self.check(&what).await;
        Some((end, what))
    }

    /// Walks a pair: all of its pauses, or one of each chosen by a seed. If a use case has several transactions, the
    /// other one may also run between two of them.
    async fn pair(&mut self, acts: [Act; 2], seed: Option<u64>) {
        let (forth, first, begins) = self.in_turn(acts, 0).await;
        let (back, second, other_begins) = self.in_turn(acts, 1).await;
        let mut allowed = vec![forth, back];
        for place in [0, 1] {
            if acts[place].skips {
                allowed.push(self.alone(acts, 1 - place).await);
            }
        }
        for (paused, begins) in [(0, begins), (1, other_begins)] {
            for at in begins.into_iter().skip(1) {
                allowed.extend(self.meeting(acts, paused, at).await.map(|(end, _)| end));
            }
        }
        for (paused, statements) in [(0, first), (1, second)] {
            if paused == 1 && acts[0].name == acts[1].name {
                break;
            }
            let chosen = seed.map(|seed| chosen(&(seed, acts[0].name, acts[1].name, paused)) % statements.max(1));
            for at in (0..statements).filter(|at| chosen.is_none_or(|chosen| chosen == *at)) {
                let Some((end, what)) = self.meeting(acts, paused, at).await else { continue };
                if !allowed.iter().any(|one| end.agrees(one)) {
                    let compared = allowed.iter().map(|one| end.compared(one)).min_by_key(Vec::len).unwrap_or_default();
                    let reported = compared.join("\n");
                    self.faults.push(format!(
                        "{}: {what}: no order of their transactions gives this:\n{reported}",
                        self.scene
                    ));
                }
            }
        }
    }
}

fn chosen(what: &impl Hash) -> usize {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    usize::try_from(hasher.finish() >> 1).unwrap()
}

/// Pairs every use case of a scene with every other one and itself.
pub async fn walk(scene: &'static str, set: impl AsyncFn(&Actor<'_>) -> Facts, acts: &[&[Act]]) {
    let seed = (environment("INTERLEAVINGS").as_deref() != Some("all"))
        .then(|| environment("INTERLEAVINGS_SEED").map_or(1, |seed| seed.parse().unwrap()));
    none(&faults(scene, set, acts, seed).await);
}

/// The same at every pause, regardless of the environment.
pub async fn walk_wholly(scene: &'static str, set: impl AsyncFn(&Actor<'_>) -> Facts, acts: &[&[Act]]) {
    none(&faults(scene, set, acts, None).await);
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Faults of a pair: at every pause, or at those chosen by a seed.
pub async fn faults(
    scene: &'static str,
    set: impl AsyncFn(&Actor<'_>) -> Facts,
    acts: &[&[Act]],
    seed: Option<u64>,
) -> Vec<String> {
    let db = TestDatabase::fresh(Kind::Postgres);
    let mut actor = Actor::open(&db).await;
    actor.facts = set(&actor).await;
    let acts: Vec<Act> = acts.concat();
    let mut pairs: Vec<[Act; 2]> = Vec::new();
    for (place, one) in acts.iter().enumerate() {
        pairs.extend(acts.iter().skip(place).map(|other| [*one, *other]));
    }
    if let Some(only) = environment("INTERLEAVINGS_OF") {
        pairs.retain(|pair| pair.iter().any(|act| act.name.contains(&only)));
    }
    if let Some(seed) = seed {
        pairs.sort_by_key(|[one, other]| chosen(&(seed, one.name, other.name)));
        pairs.truncate(FEW_PAIRS);
    }
    let began = Instant::now();
    let mut processes = TwoProcesses::open(scene, &actor).await;
    for acts in &pairs {
        processes.pair(*acts, seed).await;
    }
    let TwoProcesses { faults, runs, waits, .. } = processes;
    println!("{scene}: {} pairs, {runs} pauses, {waits} times one waited, {:?}", pairs.len(), began.elapsed());
    assert!(waits > 0 || seed.is_some(), "nobody ever waits: do they meet at all?");
    faults
}
