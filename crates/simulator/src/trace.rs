//! Steps of a run: the hash of all of them, and the last lines for the report.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::{Hash as _, Hasher as _};

use chrono::{DateTime, Utc};

/// Number of lines kept for the report.
const KEPT: usize = 25;

/// The steps of a simulation.
#[derive(Default)]
pub struct Trace {
    hasher: DefaultHasher,
    last: VecDeque<String>,
    steps: u64,
    done: BTreeMap<&'static str, (u64, u64)>,
}

impl Trace {
    /// Adds a step and its outcome.
    pub fn add(&mut self, at: DateTime<Utc>, merchant: usize, what: &'static str, outcome: &str) {
        let line = format!("{} merchant {merchant} {what}: {outcome}", at.format("%Y-%m-%d %H:%M:%S%.3f"));
        line.hash(&mut self.hasher);
        self.steps += 1;
        let counted = self.done.entry(what).or_default();
        counted.0 += 1;
        counted.1 += u64::from(!outcome.starts_with("done"));
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// Returns the hash of all steps so far.
    pub fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns, by use case, how often it was done and how often it was not.
    pub fn done(&self) -> &BTreeMap<&'static str, (u64, u64)> {
        &self.done
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.last.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}
