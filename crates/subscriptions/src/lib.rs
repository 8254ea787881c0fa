//! Rules of recurring charges.
//!
//! **Owns** the periods of a subscription, its states and its table of moves, the meaning of declines, the
//! dunning plan, consents, the bounds on charges, and the access rule. Decisions are values and pure functions
//! ([`SubscriptionCase`] combines them). `docs/reference/subscription-states.md` shows the tables.
//!
//! **Invariants**
//! - A period is computed from the start of the first one and its number: periods have no gaps, and the billing
//!   day returns after a shorter month.
//! - A subscription becomes active only with a paid period that ends later than now. A canceled one is not
//!   charged. Two charges are never open.
//! - Money that arrived pays a period, is refunded, or is reported to staff.
//! - No policy of a project exceeds 8 planned attempts of a period and 8 requested ones, 15 of a method in 30
//!   days, and one planned attempt a day. Requested attempts never end a subscription.
//! - A customer has at most one subscription that charges a plan now or later ([`model::Subscription::claims`]).
//! - After downtime of any length at most one charge is due at once.
//! - Terms never change without a consent.
//!
//! **Refusals**: [`SubscriptionError`], with [`SubscriptionRefusal`] for requests. [`MoveRefused`] is the refusal of an
//! event in the current state.
//!
//! **Ports**: [`ports::SubscriptionStore`], [`ports::SubscriptionReader`] for staff, [`ports::MethodChangeStore`],
//! [`ports::SubscriptionForecastReader`]; and [`kontor_payments::ports`] for charges. The storage keeps one open
//! attempt per subscription, and one attempt per subscription, period and number. The commit that stores an attempt
//! calls [`next_try`] again, with all attempts of the method locked.
//!
//! **For implementations of the ports**: the commit that records the outcome of a charge
//! ([`ChargeStore::record`](kontor_payments::ports::ChargeStore::record)) calls the functions of [`charge_outcome`] with
//! the locked subscriptions and writes the [`SubscriptionChange`]s. Implementations do not decide themselves about
//! periods, attempts and late money.
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`SubscriptionService`] | `SubscriptionStore`, `ChargeService` of `kontor-payments` |
//! | [`SubscriptionScheduler`] | `SubscriptionStore`, `ChargeService` of `kontor-payments` |
//! | [`StaffSubscriptions`] | `SubscriptionStore`, `SubscriptionReader`, `ChargeService` of `kontor-payments` |
//! | [`MethodChangeService`] | `MethodChangeStore`, `ChargeService` of `kontor-payments` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port except [`ports::SubscriptionForecastReader`].
//! - `testing` adds `testing::contract`, the promises of the storage, as functions that the tests of an adapter run;
//!   `testing::memory`, a storage in memory that fulfills them; `testing::samples`, subscriptions for tests of rules; and
//!   `testing::strategies` of `proptest`. It enables `testing` of `kontor-payments`.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-payments = { path = "../kontor/crates/payments" }
//! kontor-subscriptions = { path = "../kontor/crates/subscriptions" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-subscriptions = { path = "../kontor/crates/subscriptions", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Charges by usage, or periods shorter than a month: a period is a whole number of months at a fixed price.
//! - Prices that change within a period: new terms apply from the next period on, and no period is charged in part.
//!
//! A backend that only checks access needs [`grants_access`] alone; `apps/examples` has two such backends.
//! [`forecast()`] predicts charges from a [`SubscriptionCase`].
//!
//! A declined renewal and its next attempt:
//! ```
//! use kontor_kernel::Zone;
//! use kontor_subscriptions::{
//!     Anchor, ChargeOrigin, Decline, DunningPolicy, Effect, Facts, MethodStanding, NextAttempt, OpenCharge,
//!     PlanStanding, SubscriptionEvent, SubscriptionStatus, PastAttempt, grants_access, next_try,
//! };
//!
//! let (zone, first) = (Zone::default(), "2027-01-31T09:00:00Z".parse()?);
//! let due = Anchor::new(first, zone, 1)?.period(2).ok_or("no such period")?;
//! assert_eq!(due.start.to_string(), "2027-02-28 09:00:00 UTC");
//!
//! let facts = Facts {
//!     activated: true,
//!     charge: OpenCharge::Running,
//!     origin: ChargeOrigin::Renewal,
//!     in_time: due.end > due.start,
//!     paid: false,
//!     method: MethodStanding::Valid,
//!     plan: PlanStanding::Available,
//!     parked: false,
//!     limit_reached: false,
//!     refund_ends: false,
//! };
//! let declined = Decline::of(Some("insufficient_funds"));
//! let moved = SubscriptionStatus::Charging.after(SubscriptionEvent::ChargeDeclinedSoft, facts)?;
//! assert_eq!((moved.to, moved.effects), (SubscriptionStatus::PastDue, &[Effect::ScheduleTry][..]));
//! assert!(!grants_access(moved.to, Some(due.end), due.start));
//!
//! // The next day is the first of a month, when salaries come.
//! let tries = [PastAttempt { at: due.start, planned: true, decline: Some(declined) }];
//! let next = next_try(&DunningPolicy::default(), zone, &tries, &[due.start], due.start);
//! assert_eq!(next, NextAttempt::At("2027-03-01T09:00:00Z".parse()?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A renewal after downtime, without storage:
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use chrono::{DateTime, Utc};
//! use kontor_kernel::Zone;
//! use kontor_subscriptions::{
//!     Anchor, ChargeOrigin, Decline, DunningPolicy, Facts, MethodStanding, MissedPeriods, NextAttempt, OpenCharge,
//!     PlanStanding, Schedule, SubscriptionEvent, SubscriptionStatus, PastAttempt, after_downtime, grants_access,
//!     next_try,
//! };
//!
//! let at = |text: &str| text.parse::<DateTime<Utc>>();
//! let zone = Zone::parse("Europe/Moscow")?;
//!
//! // 1. The storage has the start of the first period and the last paid one. After three months of downtime one charge
//! //    is due, for the current period.
//! let schedule = Schedule::new(Anchor::new(at("2027-01-31T09:00:00Z")?, zone, 1)?);
//! let now = at("2027-05-01T12:00:00Z")?;
//! let due = after_downtime(&schedule, 1, now, MissedPeriods::Forgive);
//! let period = due.charge.ok_or("nothing is due")?;
//! assert_eq!((period.number, due.forgiven), (4, 2..4));
//! assert_eq!(period.start, at("2027-04-30T09:00:00Z")?);
//!
//! // 2. The table of moves decides about the start of the charge and its effects.
//! let facts = Facts {
//!     activated: true,
//!     charge: OpenCharge::None,
//!     origin: ChargeOrigin::Renewal,
//!     in_time: period.end > now,
//!     paid: false,
//!     method: MethodStanding::Valid,
//!     plan: PlanStanding::Available,
//!     parked: false,
//!     limit_reached: false,
//!     refund_ends: false,
//! };
//! let charging = SubscriptionStatus::Active.after(SubscriptionEvent::PeriodDue, facts)?;
//! assert_eq!(charging.to, SubscriptionStatus::Charging);
//! // A running charge excludes another one and grants no access.
//! let running = Facts { charge: OpenCharge::Running, ..facts };
//! assert!(charging.to.after(SubscriptionEvent::Retry, running).is_err());
//! assert!(!grants_access(charging.to, Some(period.end), now));
//!
//! // 3. The acquirer declines. The reason decides about another attempt and its time.
//! let declined = PastAttempt { at: now, planned: true, decline: Some(Decline::of(Some("issuer_unavailable"))) };
//! let next = next_try(&DunningPolicy::default(), zone, &[declined], &[now], now);
//! assert_eq!(next, NextAttempt::At(at("2027-05-02T12:00:00Z")?));
//! let expired = PastAttempt { decline: Some(Decline::of(Some("card_expired"))), ..declined };
//! assert_eq!(next_try(&DunningPolicy::default(), zone, &[expired], &[now], now), NextAttempt::MethodDead);
//! # Ok(())
//! # }
//! ```

mod case;
pub mod charge_outcome;
mod checkout;
mod downtime;
mod dunning;
mod effect;
mod error;
mod forecast;
mod method_change;
pub mod model;
mod notice_text;
mod period;
mod policy;
pub mod ports;
mod retry;
mod schedule;
mod scheduler;
mod service;
mod staff;
mod state;
mod terms;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of rules and of adapters.

    pub mod contract;
    pub mod memory;
    pub mod samples;
    pub mod strategies;
}
mod transitions;

pub use case::{EventContext, NewSchedule, ScheduleCommand, SubscriptionCase};
pub use checkout::{Checkout, CheckoutResult, MAX_PLANS, Purchase};
pub use downtime::{Due, MissedPeriodDue, MissedPeriods, after_downtime};
pub use dunning::{Decline, DeclineClass, Exhausted, NextAttempt, PastAttempt, allows_unplanned_try, next_try};
pub use effect::{AttemptEnd, Condition, Effect, SubscriptionChange, SubscriptionNotice};
pub use error::{MoveRefused, RefusalKind, RefusalReason, SubscriptionError, SubscriptionRefusal};
pub use forecast::{Forecast, forecast};
pub use method_change::{MethodChange, MethodChangeBegun, MethodChangeService, MethodChangeStatus, NewMethodChange};
pub use notice_text::SubscriptionSubject;
pub use period::{Anchor, InvalidAnchor, Period};
pub use policy::{Bounds, ChargeLimiter, DunningPolicy, DunningTerms, InvalidDunningPolicy, Park};
pub use retry::{PaymentStanding, RetryFacts, RetryReason, can_retry_payment};
pub use schedule::{Schedule, ScheduleRefused};
pub use scheduler::{SchedulerRun, SubscriptionScheduler};
pub use service::{Agreement, SubscriptionService, TermsEdit};
pub use staff::{StaffCommand, StaffSubscriptions};
pub use state::{
    ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus, grants_access,
};
pub use terms::{ConsentedTerms, Terms, TermsDifference, needs_consent};
pub use transitions::{MOVES, Move};
