use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{StoreError, TokenId};

use crate::ports::TokenRepository;

/// Minimum interval between two recorded uses of a token.
const RECORD_INTERVAL: TimeDelta = TimeDelta::minutes(1);
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

/// Maximum number of tokens held. Uses of further tokens are not recorded until these are stored.
const MAX_TOKENS: usize = 10_000;

/// Recorded uses of tokens that are not stored yet. Authenticating a token writes nothing.
#[derive(Default)]
pub(crate) struct PendingUses(Mutex<BTreeMap<TokenId, TokenUse>>);

impl PendingUses {
    /// Records a use, unless the stored use is less than a minute old.
    pub fn record(&self, token: TokenId, stored: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        if stored.is_some_and(|used| used > now - RECORD_INTERVAL) {
            return;
        }
        let mut pending = self.pending();
        if let Some(known) = pending.get_mut(&token) {
            known.last = known.last.max(now);
        } else if pending.len() < MAX_TOKENS {
            pending.insert(token, TokenUse { token, first: now, last: now });
        }
    }

    /// Stores the uses recorded since the last time. They stay recorded if the storage fails. Returns the number of
    /// used tokens. Must not be called concurrently.
    pub async fn store(&self, tokens: &dyn TokenRepository) -> Result<usize, StoreError> {
        let uses: Vec<TokenUse> = self.pending().values().copied().collect();
        if !uses.is_empty() {
            tokens.record_uses(uses.clone()).await?;
            // Uses recorded during the write are dropped too: the time since the stored use counts with the next use of
            // the token.
            let mut pending = self.pending();
            for stored in &uses {
                pending.remove(&stored.token);
            }
        }
        Ok(uses.len())
    }

    /// A poisoned lock is ignored: every operation leaves the map consistent.
    fn pending(&self) -> MutexGuard<'_, BTreeMap<TokenId, TokenUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockTokenRepository;

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

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn token(id: i64) -> TokenId {
        TokenId::new(id).unwrap()
    }

    fn used(id: i64, first: i64, last: i64) -> TokenUse {
        let at = |seconds| NOW + TimeDelta::seconds(seconds);
        TokenUse { token: token(id), first: at(first), last: at(last) }
    }

    #[tokio::test]
    async fn many_uses_are_stored_at_once_and_survive_a_failing_storage() {
        let pending = PendingUses::default();
        for (id, seconds) in [(5, 0), (6, 1), (5, 2), (5, 1)] {
            pending.record(token(id), None, NOW + TimeDelta::seconds(seconds));
        }
        let mut tokens = MockTokenRepository::new();
        tokens.expect_record_uses().once().returning(|_| Err(StoreError::Failed("full".to_owned())));
        tokens.expect_record_uses().once().withf(|uses| uses == &[used(5, 0, 2), used(6, 1, 1)]).returning(|_| Ok(()));
        assert!(pending.store(&tokens).await.is_err());
        assert_eq!(pending.store(&tokens).await.unwrap(), 2);
        assert_eq!(pending.store(&tokens).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_use_within_a_minute_of_the_stored_one_is_not_noted() {
        let (pending, now) = (PendingUses::default(), NOW + TimeDelta::seconds(60));
        pending.record(token(5), Some(NOW + TimeDelta::microseconds(1)), now);
        assert_eq!(pending.store(&MockTokenRepository::new()).await.unwrap(), 0);
        pending.record(token(5), Some(NOW), now);
        let mut tokens = MockTokenRepository::new();
        tokens.expect_record_uses().withf(|uses| uses == &[used(5, 60, 60)]).returning(|_| Ok(()));
        assert_eq!(pending.store(&tokens).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let pending = PendingUses::default();
        for id in 1..=11_000 {
            pending.record(token(id), None, NOW);
        }
        let mut tokens = MockTokenRepository::new();
        tokens.expect_record_uses().withf(|uses| uses.len() == MAX_TOKENS).returning(|_| Ok(()));
        assert_eq!(pending.store(&tokens).await.unwrap(), MAX_TOKENS);
    }
}
