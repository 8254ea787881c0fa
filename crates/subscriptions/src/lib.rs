//! Rules of recurring charges.
//!
//! **Owns** the periods of a subscription, its states and its table of moves, the meaning of declines, the
//! dunning plan, consents, the bounds on charges, and the access rule. Decisions are values and pure functions
//! ([`SubscriptionCase`] combines them); use cases run over [`ports`]. `docs/guides/subscriptions.md` shows the tables.
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
//! A declined renewal and its next attempt:
//! ```
//! use kontor_kernel::Zone;
//! use kontor_subscriptions::{
//!     Anchor, ChargeOrigin, Decline, DunningPolicy, Effect, Facts, MethodStanding, NextAttempt, OpenCharge, PlanStanding,
//!     SubscriptionEvent, SubscriptionStatus, PastAttempt, grants_access, next_try,
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

mod access;
mod bounds;
mod case;
pub mod change;
mod checkout;
mod condition;
mod decline;
mod downtime;
mod dunning;
mod effect;
mod error;
mod forecast;
mod method_change;
pub mod model;
mod moves;
mod notice_text;
mod pace;
mod period;
mod policy;
pub mod ports;
mod refusal;
mod retry;
mod schedule;
mod scheduler;
mod service;
mod staff;
mod state;
mod terms;

pub use access::grants_access;
pub use bounds::{Bounds, Park};
pub use case::{EventContext, NewSchedule, ScheduleCommand, SubscriptionCase};
pub use checkout::{Checkout, CheckoutResult, MOST_PLANS, Purchase};
pub use condition::Condition;
pub use decline::{Decline, DeclineClass};
pub use downtime::{Due, MissedPeriodDue, MissedPeriods, after_downtime};
pub use dunning::{Exhausted, NextAttempt, PastAttempt, allows_unplanned_try, next_try};
pub use effect::{Effect, SubscriptionNotice};
pub use error::{SubscriptionError, SubscriptionRefusal};
pub use forecast::{Forecast, forecast};
pub use method_change::{MethodChange, MethodChangeBegun, MethodChangeService, MethodChangeStatus, NewMethodChange};
pub use moves::{MOVES, Move};
pub use notice_text::SubscriptionSubject;
pub use pace::Pace;
pub use period::{Anchor, InvalidAnchor, Period};
pub use policy::{DunningPolicy, DunningTerms, InvalidDunningPolicy};
pub use refusal::{MoveRefused, RefusalKind, RefusalReason};
pub use retry::{PaymentStanding, RetryFacts, RetryReason, can_retry_payment};
pub use schedule::{Schedule, ScheduleRefused};
pub use scheduler::{SchedulerRun, SubscriptionScheduler};
pub use service::{Agreement, SubscriptionService, TermsEdit};
pub use staff::{StaffCommand, StaffSubscriptions};
pub use state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus};
pub use terms::{ConsentedTerms, Consents, Terms, TermsDifference, TooEarly, needs_consent};

/// Compiles and runs the example of the reuse guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-subscriptions.md")]
struct ReuseGuide;
