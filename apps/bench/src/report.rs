//! The table at the end.

use std::fmt;
use std::time::Duration;

use crate::Failure;
use crate::load::{Pair, Sample};

/// Target of a figure.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// More is better.
    AtLeast(f64),
    /// Less is better.
    AtMost(f64),
    /// Shown for comparison.
    None,
}

/// One measured figure.
pub struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Goal,
    ours: Option<Side>,
    peer: Option<Side>,
}

/// One side of a ratio.
struct Side {
    per_second: f64,
    half: Duration,
    most: Duration,
}

impl From<&Sample> for Side {
    fn from(sample: &Sample) -> Self {
        Self { per_second: sample.per_second(), half: sample.percentile(50), most: sample.percentile(99) }
    }
}

impl Figure {
    /// Creates a figure that is a share of the peer's rate.
    pub fn ratio(name: impl Into<String>, value: f64, goal: Goal) -> Self {
        Self::plain(name, value, "", goal)
    }

    /// Creates a figure that is a multiple of the peer's time.
    pub fn times(name: impl Into<String>, value: f64, goal: Goal) -> Self {
        Self::plain(name, value, "x", goal)
    }

    /// Creates a figure without a peer.
    pub fn plain(name: impl Into<String>, value: f64, unit: &'static str, goal: Goal) -> Self {
        Self { name: name.into(), value, unit, goal, ours: None, peer: None }
    }

    /// Adds the rates and times of both sides.
    pub fn beside(mut self, pair: &Pair) -> Self {
        (self.ours, self.peer) = (Some((&pair.ours).into()), Some((&pair.peer).into()));
        self
    }

    /// Adds the rates and times of the service alone.
    pub fn alone(mut self, ours: &Sample) -> Self {
        self.ours = Some(ours.into());
        self
    }

    fn missed(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.value < least,
            Goal::AtMost(most) => self.value > most,
            Goal::None => false,
        }
    }

    fn cells(&self) -> [String; 8] {
        let digits = if self.unit.is_empty() { 3 } else { 1 };
        let number =
            |value: f64| format!("{value:.digits$}{}{}", if self.unit.len() > 1 { " " } else { "" }, self.unit);
        let (goal, verdict) = match self.goal {
            Goal::AtLeast(least) => (format!(">= {}", number(least)), if self.missed() { "MISSED" } else { "ok" }),
            Goal::AtMost(most) => (format!("<= {}", number(most)), if self.missed() { "MISSED" } else { "ok" }),
            Goal::None => (String::new(), ""),
        };
        let rate = |side: &Side| format!("{:.*}", usize::from(side.per_second < 100.0), side.per_second);
        let times = |side: &Side| format!("{}/{}", milliseconds(side.half), milliseconds(side.most));
        let cells = |side: &Option<Side>| side.as_ref().map(|side| (rate(side), times(side))).unwrap_or_default();
        let ((ours_rate, ours_times), (peer_rate, peer_times)) = (cells(&self.ours), cells(&self.peer));
        [self.name.clone(), number(self.value), goal, verdict.into(), ours_rate, ours_times, peer_rate, peer_times]
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1000.0)
}

/// Cost of a use case for the writer.
#[derive(Clone)]
pub struct Budget {
    /// Name of the use case.
    pub name: String,
    /// All statements, including reads, begin and commit.
    pub statements: u64,
    /// Maximum number of statements.
    pub most: Option<u64>,
    pub commits: u64,
    /// Pages written to the log.
    pub pages: u64,
    /// Time of the statements of writing transactions.
    pub in_statements: Duration,
    /// Time of the commits.
    pub in_commits: Duration,
}

impl Budget {
    /// Returns the median of each part; of statements the maximum.
    pub fn middle(mut costs: Vec<Self>) -> Option<Self> {
        fn middle<T: Copy + Ord>(costs: &mut [Budget], part: impl Fn(&Budget) -> T) -> Option<T> {
            costs.sort_by_key(&part);
            costs.get(costs.len() / 2).map(part)
        }
        Some(Self {
            statements: costs.iter().map(|cost| cost.statements).max()?,
            commits: middle(&mut costs, |cost| cost.commits)?,
            pages: middle(&mut costs, |cost| cost.pages)?,
            in_statements: middle(&mut costs, |cost| cost.in_statements)?,
            in_commits: middle(&mut costs, |cost| cost.in_commits)?,
            ..costs.first()?.clone()
        })
    }

    fn missed(&self) -> bool {
        self.most.is_some_and(|most| self.statements > most)
    }

    fn cells(&self) -> [String; 8] {
        let goal = self.most.map(|most| format!("<= {most}")).unwrap_or_default();
        let verdict = self.most.map(|_| if self.missed() { "MISSED" } else { "ok" }).unwrap_or_default();
        [
            self.name.clone(),
            self.statements.to_string(),
            goal,
            verdict.to_owned(),
            self.commits.to_string(),
            self.pages.to_string(),
            milliseconds(self.in_statements),
            milliseconds(self.in_commits),
        ]
    }
}

/// All measured figures.
#[derive(Default)]
pub struct Report {
    figures: Vec<Figure>,
    budgets: Vec<Budget>,
    /// Resident memory of this process at the end, in megabytes.
    pub resident: f64,
}

const HEADINGS: [&str; 8] = ["figure", "measured", "target", "", "kontor/s", "p50/p99 ms", "peer/s", "p50/p99 ms"];

const BUDGET_HEADINGS: [&str; 8] =
    ["what a write costs", "statements", "target", "", "commits", "pages", "ms in statements", "ms in commits"];

impl Report {
    /// Adds and prints the cost of a use case.
    pub fn cost(&mut self, budget: Budget) {
        eprintln!("{}: {} statements, {} pages", budget.name, budget.statements, budget.pages);
        self.budgets.push(budget);
    }

    /// Adds and prints a figure.
    pub fn add(&mut self, figure: Figure) {
        eprintln!("{}: {:.3} {}", figure.name, figure.value, figure.unit);
        self.figures.push(figure);
    }

    /// Returns `true` if any target is missed.
    pub fn misses(&self) -> bool {
        self.figures.iter().any(Figure::missed) || self.budgets.iter().any(Budget::missed)
    }
}

/// Writes rows below their headings; nothing without rows.
fn table(f: &mut fmt::Formatter<'_>, headings: [&str; 8], rows: impl Iterator<Item = [String; 8]>) -> fmt::Result {
    let rows: Vec<[String; 8]> = std::iter::once(headings.map(str::to_owned)).chain(rows).collect();
    if rows.len() == 1 {
        return Ok(());
    }
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in &rows {
        for (place, (cell, width)) in row.iter().zip(widths).enumerate() {
            match place {
                0 => write!(f, "{cell:<width$}")?,
                _ => write!(f, "  {cell:>width$}")?,
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table(f, HEADINGS, self.figures.iter().map(Figure::cells))?;
        table(f, BUDGET_HEADINGS, self.budgets.iter().map(Budget::cells))?;
        write!(f, "resident memory of the bench, servers and load generator included: {:.1} MB", self.resident)
    }
}

/// Returns the resident memory of a process, in megabytes.
pub fn resident(process: &str) -> Result<f64, Failure> {
    memory(process, "VmRSS:")
}

/// Returns the peak resident memory of a process, in megabytes.
pub fn most_resident(process: &str) -> Result<f64, Failure> {
    memory(process, "VmHWM:")
}

fn memory(process: &str, which: &str) -> Result<f64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(which)).ok_or("the memory cannot be read")?;
    let kilobytes: u32 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(f64::from(kilobytes) / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_reported_and_counted() {
        let mut report = Report::default();
        report.add(Figure::ratio("list", 0.2, Goal::AtLeast(0.1)));
        assert!(!report.misses());
        report.add(Figure::plain("start", 301.0, "ms", Goal::AtMost(300.0)));
        assert!(report.misses());
        let table = report.to_string();
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("list").contains("ok"), "{table}");
        report = Report::default();
        let budget = |statements| Budget {
            name: "order".to_owned(),
            statements,
            most: Some(12),
            commits: 1,
            pages: 9,
            in_statements: Duration::from_micros(250),
            in_commits: Duration::from_millis(1),
        };
        report.cost(Budget::middle(vec![budget(12), budget(11), budget(12)]).unwrap());
        assert!(!report.misses(), "{report}");
        report.cost(budget(13));
        assert!(report.misses(), "{report}");
        assert!(line("start").contains("301.0 ms") && line("start").contains("MISSED"), "{table}");
    }
}
