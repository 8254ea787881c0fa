use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::TokenId;

/// The use of a token is recorded at most this often.
pub(crate) const RECORDED_EVERY: TimeDelta = TimeDelta::minutes(1);
/// Time between two uses counts as active up to this gap.
const ACTIVE_GAP: TimeDelta = TimeDelta::minutes(5);

/// The uses of one token that are not stored yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUse {
    /// The token.
    pub token: TokenId,
    /// The first of them.
    pub first: DateTime<Utc>,
    /// The last of them.
    pub last: DateTime<Utc>,
}

impl TokenUse {
    /// The time that counts as active, given the use that was stored before; `None` when another process stored one
    /// within the last minute, and this one adds nothing.
    pub fn active_after(&self, stored: Option<DateTime<Utc>>) -> Option<TimeDelta> {
        let Some(stored) = stored else { return Some(self.last - self.first) };
        let gap = self.first - stored;
        (gap >= RECORDED_EVERY).then(|| if gap <= ACTIVE_GAP { self.last - stored } else { self.last - self.first })
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
