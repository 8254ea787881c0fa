//! Recorded course of a scenario, and the allowed states after a kill or a power loss.

use std::collections::HashMap;

use kontor_faulty_disk::{Image, Recording};

use super::state::{Found, State};

/// A request and the time of its response.
pub struct Step {
    pub name: String,
    /// Number of file changes before it started.
    pub began: usize,
    /// Number of file changes when the response was complete.
    pub answered: usize,
    pub before: State,
    pub after: State,
    /// Maximum commits.
    pub commits: usize,
    /// Parts with a response of their own: the number of file changes at that time, and a query that finds a row from
    /// then on.
    pub parts: Vec<(usize, String)>,
}

/// A scenario from its first change of a file to the last.
pub struct Course {
    pub scenario: &'static str,
    pub recording: Recording,
    pub steps: Vec<Step>,
    repairs: bool,
    /// States that were checked already.
    sound: HashMap<State, Result<(), String>>,
}

impl Course {
    pub fn new(scenario: &'static str, recording: Recording, steps: Vec<Step>, repairs: bool) -> Self {
        Self { scenario, recording, steps, repairs, sound: HashMap::new() }
    }

    /// Kills the process after every change of a file.
    pub async fn outlasts_kills(&mut self) -> Result<(), String> {
        for changes in 0..=self.recording.len() {
            let files = self.recording.killed_after(changes);
            let left = self.leaves(changes, files.clone()).await;
            left.map_err(|why| self.report(&format!("killed after change {changes}"), "", &files, &why))?;
        }
        self.has_few_states_between()
    }

    /// Loses power at the point derived from the seed.
    pub async fn outlasts_loss_of_power(&mut self, seed: u64) -> Result<(), String> {
        let (changes, files) = self.powerless(seed);
        let left = self.leaves(changes, files.clone()).await;
        let seed = format!("POWER_SEED={seed} ");
        left.map_err(|why| self.report(&format!("power lost after change {changes}"), &seed, &files, &why))
    }

    /// Returns `true` if the seed finds a loss.
    pub async fn loses(&mut self, seed: u64) -> bool {
        let (changes, files) = self.powerless(seed);
        self.leaves(changes, files).await.is_err()
    }

    fn powerless(&self, seed: u64) -> (usize, Image) {
        let points = u64::try_from(self.recording.len()).unwrap() + 1;
        let changes = usize::try_from(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) % points).unwrap();
        (changes, self.recording.power_lost_after(changes, seed))
    }

    /// Checks these files: responses before the point are stored, work in progress is stored completely or not at all.
    async fn leaves(&mut self, changes: usize, files: Image) -> Result<(), String> {
        let mut found = Found::of(files)?;
        let Some(step) = self.steps.iter().find(|step| changes < step.answered) else {
            let last = &self.steps.last().ok_or("a scenario without a step")?.after;
            return if found.state == *last {
                Ok(())
            } else {
                Err(format!("lost:\n{}", last.difference(&found.state)))
            };
        };
        for (answered, query) in &step.parts {
            if *answered <= changes && !found.has(query)? {
                return Err(format!("answered, but gone: {query}"));
            }
        }
        let begun = changes >= step.began;
        let whole = found.state == step.before || (begun && found.state == step.after);
        if !whole && (step.commits == 1 || !begun) {
            let difference = step.before.difference(&found.state);
            return Err(format!(
                "neither before nor after \"{}\"; beside what was there before:\n{difference}",
                step.name
            ));
        }
        if let Some(known) = self.sound.get(&found.state) {
            return known.clone();
        }
        let sound = found.is_sound(self.repairs).await;
        self.sound.insert(found.state, sound.clone());
        sound
    }

    /// Checks that every commit adds one state; more states would be partial commits.
    fn has_few_states_between(&self) -> Result<(), String> {
        let expected: usize = 1 + self.steps.iter().map(|step| step.commits).sum::<usize>();
        if self.sound.len() > expected {
            return Err(format!("{}: {} states of {expected} commits", self.scenario, self.sound.len()));
        }
        Ok(())
    }

    fn report(&self, what: &str, seed: &str, files: &Image, why: &str) -> String {
        let folder = std::env::temp_dir().join("kontor-disk").join(self.scenario);
        let kept = files.store(&folder).map_or_else(|error| error.to_string(), |()| folder.display().to_string());
        format!(
            "{}: {what} of {}: {why}\nthe files: {kept}\nalone: {seed}cargo test --workspace --test storage -- disk::{}",
            self.scenario,
            self.recording.len(),
            self.scenario
        )
    }
}
