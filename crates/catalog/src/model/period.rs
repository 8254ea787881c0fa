use chrono::{DateTime, SubsecRound, Utc};

/// A period that ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be later than the beginning")]
pub struct EndsBeforeStart;

/// Where a moment lies to a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before it.
    Ahead,
    /// In it.
    Running,
    /// After it.
    Over,
}

/// From a moment, inclusive, to another, exclusive; either may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    starts_at: Option<DateTime<Utc>>,
    ends_at: Option<DateTime<Utc>>,
}

impl Period {
    /// Refuses a period that is over before it begins. Moments count to the microsecond, as they are stored.
    pub fn new(starts_at: Option<DateTime<Utc>>, ends_at: Option<DateTime<Utc>>) -> Result<Self, EndsBeforeStart> {
        let [starts_at, ends_at] = [starts_at, ends_at].map(|end| end.map(|moment| moment.trunc_subsecs(6)));
        let ends_first = starts_at.zip(ends_at).is_some_and(|(start, end)| end <= start);
        if ends_first { Err(EndsBeforeStart) } else { Ok(Self { starts_at, ends_at }) }
    }

    /// Its first moment.
    pub fn starts_at(self) -> Option<DateTime<Utc>> {
        self.starts_at
    }

    /// The first moment after it.
    pub fn ends_at(self) -> Option<DateTime<Utc>> {
        self.ends_at
    }

    /// Where a moment lies to it.
    pub fn phase(self, at: DateTime<Utc>) -> Phase {
        if self.starts_at.is_some_and(|start| at < start) {
            Phase::Ahead
        } else if self.ends_at.is_some_and(|end| at >= end) {
            Phase::Over
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
        assert_eq!(phases, [Phase::Ahead, Phase::Running, Phase::Running, Phase::Over]);
        assert_eq!(Period::new(Some(start), Some(start)), Err(EndsBeforeStart));
        assert_eq!(Period::default().phase(end), Phase::Running);
    }
}
