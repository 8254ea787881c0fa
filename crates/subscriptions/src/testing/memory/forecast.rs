use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{StoreError, SubscriptionId};

use super::{Guard, InMemorySubscriptions};
use crate::case::SubscriptionCase;
use crate::model::Attempt;
use crate::ports::{SubscriptionForecastReader, WakePlace};

#[async_trait]
impl SubscriptionForecastReader for InMemorySubscriptions {
    /// Considers subscriptions alone: the book of charges does not show its times.
    async fn next_moment(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        Ok(self.state.with(|state| state.entries.iter().filter_map(|entry| entry.case.subscription.wake_at).min()))
    }

    async fn list_due(
        &self,
        _: DateTime<Utc>,
        until: DateTime<Utc>,
        after: Option<WakePlace>,
        most: u32,
    ) -> Result<Vec<SubscriptionCase>, StoreError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.state.with(|state| {
            let after = after.filter(|_| state.guards.has(Guard::Position));
            let cases = state.entries.iter().map(|entry| state.load(entry));
            let due = cases.filter_map(|case| {
                let place = (case.subscription.wake_at?, case.subscription.id);
                (place.0 <= until && after.is_none_or(|after| place > after)).then_some((place, case))
            });
            let mut due: Vec<(WakePlace, SubscriptionCase)> = due.collect();
            due.sort_by_key(|(place, _)| *place);
            due.into_iter().take(most).map(|(_, case)| case).collect()
        }))
    }

    async fn attempts_since(
        &self,
        since: DateTime<Utc>,
        most: u32,
    ) -> Result<(Vec<(SubscriptionId, Attempt)>, u64), StoreError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.state.with(|state| {
            let mut found = Vec::new();
            for entry in &state.entries {
                let id = entry.case.subscription.id;
                let is_recent = |at: DateTime<Utc>| at >= since;
                let recent = entry
                    .attempts
                    .iter()
                    .filter(|attempt| is_recent(attempt.started_at) || attempt.ended_at.is_some_and(is_recent));
                found.extend(recent.map(|attempt| (id, attempt.clone())));
            }
            found.sort_by_key(|(_, attempt)| (attempt.started_at, attempt.id));
            let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
            found.truncate(most);
            (found, total)
        }))
    }
}
