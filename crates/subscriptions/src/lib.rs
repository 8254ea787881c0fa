//! Recurring charges.

mod access;
mod bounds;
mod condition;
mod decline;
mod downtime;
mod dunning;
mod effect;
mod moves;
mod period;
mod policy;
mod refusal;
mod retry;
mod schedule;
mod state;
mod terms;

pub use access::grants_access;
pub use bounds::{Bounds, Intended, Park, Told, contradiction};
pub use condition::Condition;
pub use decline::{Decline, DeclineClass};
pub use downtime::{Due, MissedPeriods, ToCollect, after_downtime};
pub use dunning::{Exhausted, NextTry, Try, allows_unplanned_try, next_try};
pub use effect::{Effect, SubscriptionNotice};
pub use moves::{MOVES, Move};
pub use period::{Anchor, InvalidAnchor, Period};
pub use policy::{DunningPolicy, InvalidDunningPolicy};
pub use refusal::{MoveRefused, RefusalKind, RefusalReason};
pub use retry::{PaymentStanding, RetryFacts, RetryReason, can_retry_payment};
pub use schedule::{Schedule, ScheduleRefused};
pub use state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding, SubscriptionEvent, SubscriptionStatus};
pub use terms::{ConsentedTerms, Consents, Terms, TermsDifference, TooEarly, needs_consent};
