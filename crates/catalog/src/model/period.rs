use chrono::{DateTime, SubsecRound, Utc};

/// Error: the period ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be later than the start")]
pub struct EndsBeforeStart;

/// Relation of a time to a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the period.
    Upcoming,
    /// Within the period.
    Running,
    /// After the period.
    Ended,
}

/// Period from a start, inclusive, to an end, exclusive. Either may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    starts_at: Option<DateTime<Utc>>,
    ends_at: Option<DateTime<Utc>>,
}

impl Period {
    /// Refuses a period that ends before it begins. Times are truncated to microseconds, as they are stored.
    pub fn new(starts_at: Option<DateTime<Utc>>, ends_at: Option<DateTime<Utc>>) -> Result<Self, EndsBeforeStart> {
        let [starts_at, ends_at] = [starts_at, ends_at].map(|end| end.map(|moment| moment.trunc_subsecs(6)));
        let ends_first = starts_at.zip(ends_at).is_some_and(|(start, end)| end <= start);
        if ends_first { Err(EndsBeforeStart) } else { Ok(Self { starts_at, ends_at }) }
    }

    /// Returns the start.
    pub fn starts_at(self) -> Option<DateTime<Utc>> {
        self.starts_at
    }

    /// Returns the end, exclusive.
    pub fn ends_at(self) -> Option<DateTime<Utc>> {
        self.ends_at
    }

    /// Returns the relation of a time to the period.
    pub fn phase(self, at: DateTime<Utc>) -> Phase {
        if self.starts_at.is_some_and(|start| at < start) {
            Phase::Upcoming
        } else if self.ends_at.is_some_and(|end| at >= end) {
            Phase::Ended
        } else {
            Phase::Running
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn the_first_moment_belongs_to_it_and_the_last_does_not() {
        let [before, start, inside, end] = [0, 10, 15, 20].map(|s| DateTime::UNIX_EPOCH + TimeDelta::seconds(s));
        let period = Period::new(Some(start), Some(end)).unwrap();
        let phases = [before, start, inside, end].map(|at| period.phase(at));
        assert_eq!(phases, [Phase::Upcoming, Phase::Running, Phase::Running, Phase::Ended]);
        assert_eq!(Period::new(Some(start), Some(start)), Err(EndsBeforeStart));
        assert_eq!(Period::default().phase(end), Phase::Running);
    }
}
