use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::TokenId;

/// Minimum interval between two recorded uses of a token.
pub(crate) const RECORD_INTERVAL: TimeDelta = TimeDelta::minutes(1);
/// Maximum gap between two uses that counts as active time.
const ACTIVE_GAP: TimeDelta = TimeDelta::minutes(5);

/// Uses of one token that are not stored yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUse {
    /// Token.
    pub token: TokenId,
    /// Time of the first use.
    pub first: DateTime<Utc>,
    /// Time of the last use.
    pub last: DateTime<Utc>,
}

impl TokenUse {
    /// Returns the time that counts as active, given the previously stored use. Returns `None` if the stored use is
    /// less than a minute older, because another process stored it; this one then adds nothing.
    pub fn active_after(&self, stored: Option<DateTime<Utc>>) -> Option<TimeDelta> {
        let Some(stored) = stored else { return Some(self.last - self.first) };
        let gap = self.first - stored;
        (gap >= RECORD_INTERVAL).then(|| if gap <= ACTIVE_GAP { self.last - stored } else { self.last - self.first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn short_gaps_count_as_active() {
        let at = |seconds| START + TimeDelta::seconds(seconds);
        let used = TokenUse { token: TokenId::new(1).unwrap(), first: at(1000), last: at(1004) };
        for (stored, active) in [
            (None, Some(4)),
            (Some(999), None),
            (Some(941), None),
            (Some(940), Some(64)),
            (Some(700), Some(304)),
            (Some(699), Some(4)),
        ] {
            assert_eq!(used.active_after(stored.map(at)), active.map(TimeDelta::seconds), "{stored:?}");
        }
    }
}
