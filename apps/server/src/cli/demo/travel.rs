//! Moving the time of the demo in steps: everything due at one time happens before the next.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, SecondsFormat, Utc};
use kontor_adapter_diesel::Database;
use kontor_kernel::{AdjustableClock, Clock as _, StoreError};
use kontor_payments::{ChargeService, RefundService};
use kontor_sandbox::{Outside, TimeTravel};
use kontor_subscriptions::ports::SubscriptionForecastReader;
use kontor_subscriptions::{Forecast, SubscriptionScheduler, forecast};
use serde_json::{Value, json};

use crate::config::Development;
use crate::service::wiring::Adapters;
use crate::service::worker::TimeLock;

/// Maximum number of charges in the result; there may be more.
const MAX_LISTED: u32 = 1_000;
/// Maximum number of steps in one request, so that tasks that are due again and again cannot block the caller.
const MAX_TIME_STEPS: u32 = 20_000;
/// Maximum number of checks for remaining work at one time.
const MAX_ROUNDS: u32 = 100;
/// Number of subscriptions processed in a round, or read at once.
const AT_ONCE: u32 = 200;

/// Moves the time of the demo.
pub struct DemoClock {
    clock: Arc<AdjustableClock>,
    turns: TimeLock,
    subscriptions: SubscriptionScheduler,
    forecasts: Arc<dyn SubscriptionForecastReader>,
    charges: Arc<ChargeService>,
    refunds: RefundService,
    /// Name of the traveller in leases.
    name: String,
}

/// Reason why time was moved only partly. The clock stays at the time it reached.
#[derive(Debug, thiserror::Error)]
enum TimeTravelError {
    #[error("more than {MAX_TIME_STEPS} events were due; the clock stopped at {0}; repeat the request to continue")]
    Moments(DateTime<Utc>),
    #[error("the same work stays due at {0}, so the clock cannot advance; see the log")]
    Rounds(DateTime<Utc>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DemoClock {
    /// Creates a traveller. The proof ensures that nothing runs in production.
    pub fn new(
        _proof: Development,
        clock: Arc<AdjustableClock>,
        turns: TimeLock,
        database: &Database,
        around: &Adapters,
    ) -> Self {
        Self {
            clock,
            turns,
            subscriptions: around.subscription_scheduler(database),
            forecasts: Adapters::subscription_forecasts(database),
            charges: Arc::new(around.charges(database)),
            refunds: around.refunds(database),
            name: format!("traveller-{}", around.random.uuid()),
        }
    }

    /// Processes everything due at the current time of the clock.
    async fn settle(&self, outside: &dyn Outside) -> Result<(), TimeTravelError> {
        for _ in 0..MAX_ROUNDS {
            let ran = self.subscriptions.run(AT_ONCE).await?;
            for (id, why) in &ran.failed {
                tracing::error!(subscription = %id, %why, "a subscription could not be processed; it will be retried");
            }
            let charges = self.charges.reconcile(&self.name, AT_ONCE).await?;
            let refunds = self.refunds.reconcile(&self.name, AT_ONCE).await?;
            let reported = outside.settle().await;
            if ran.found + charges.checked + refunds.checked == 0 && !reported {
                return Ok(());
            }
        }
        Err(TimeTravelError::Rounds(self.clock.now()))
    }

    async fn next_moment(&self, outside: &dyn Outside) -> Result<Option<DateTime<Utc>>, StoreError> {
        Ok(self.forecasts.next_moment().await?.into_iter().chain(outside.next_moment()).min())
    }

    /// Moves the clock step by step. Returns the number of steps.
    async fn advance_to(&self, to: DateTime<Utc>, outside: &dyn Outside) -> Result<u32, TimeTravelError> {
        self.settle(outside).await?;
        let mut moments = 0;
        while let Some(next) = self.next_moment(outside).await?.filter(|next| *next <= to) {
            if moments == MAX_TIME_STEPS {
                return Err(TimeTravelError::Moments(self.clock.now()));
            }
            moments += 1;
            self.clock.advance_to(next);
            self.settle(outside).await?;
        }
        self.clock.advance_to(to);
        self.settle(outside).await?;
        Ok(moments)
    }

    async fn summary(&self, since: DateTime<Utc>, moments: u32) -> Result<Value, StoreError> {
        let (attempts, total) = self.forecasts.attempts_since(since, MAX_LISTED).await?;
        let charge =
            |(subscription, attempt): &(kontor_kernel::SubscriptionId, kontor_subscriptions::model::Attempt)| {
                json!({
                    "at": shown(attempt.started_at),
                    "subscription_id": subscription.get(),
                    "payment_id": attempt.id.get(),
                    "period": attempt.period,
                    "origin": attempt.origin.to_string(),
                    "state": attempt.state.to_string(),
                    "amount": attempt.amount.to_string(),
                    "currency": attempt.currency,
                })
            };
        Ok(json!({
            "now": shown(self.clock.now()),
            "offset_seconds": self.clock.offset_seconds(),
            "moments": moments,
            "charges": attempts.iter().map(charge).collect::<Vec<_>>(),
            "total": total,
        }))
    }

    async fn forecast(&self, until: DateTime<Utc>) -> Result<Value, StoreError> {
        let now = self.clock.now();
        let (mut charges, mut after) = (Vec::new(), None);
        loop {
            let page = self.forecasts.list_due(now, until, after, AT_ONCE).await?;
            let Some(last) = page.last() else { break };
            after = last.subscription.wake_at.map(|wake| (wake, last.subscription.id));
            charges.extend(page.iter().flat_map(|case| forecast(case, now, until)));
        }
        charges.sort_by_key(|charge| (charge.at, charge.subscription));
        let total = charges.len();
        let charge = |charge: &Forecast| {
            json!({
                "at": shown(charge.at),
                "subscription_id": charge.subscription.get(),
                "period": charge.period,
                "amount": charge.amount.to_string(),
                "currency": charge.currency,
            })
        };
        let reported: Vec<_> =
            charges.iter().take(usize::try_from(MAX_LISTED).unwrap_or(usize::MAX)).map(charge).collect();
        Ok(json!({
            "now": shown(now),
            "offset_seconds": self.clock.offset_seconds(),
            "would_charge": reported,
            "total": total,
        }))
    }
}

#[async_trait]
impl TimeTravel for DemoClock {
    async fn travel(&self, to: DateTime<Utc>, dry_run: bool, outside: &dyn Outside) -> Result<Value, String> {
        let _alone = self.turns.alone().await;
        if dry_run {
            return self.forecast(to).await.map_err(|error| error.to_string());
        }
        let _held = self.clock.hold();
        let begin = self.clock.now();
        let moments = self.advance_to(to, outside).await.map_err(|stranded| stranded.to_string())?;
        self.summary(begin, moments).await.map_err(|error| error.to_string())
    }
}

fn shown(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
