//! Strategies of `proptest`, for rules that hold for every subscription.
//!
//! ```
//! use kontor_subscriptions::testing::strategies::arb_facts;
//! use kontor_subscriptions::{OpenCharge, SubscriptionEvent, SubscriptionStatus};
//! use proptest::prelude::*;
//!
//! proptest!(|(facts in arb_facts())| {
//!     let moved = SubscriptionStatus::Active.after(SubscriptionEvent::PeriodDue, facts);
//!     let charges = moved.is_ok_and(|moved| moved.to == SubscriptionStatus::Charging);
//!     prop_assert!(!charges || (facts.charge == OpenCharge::None && !facts.parked));
//! });
//! ```

use proptest::prelude::*;
use proptest::sample;
use strum::VariantArray as _;

use crate::state::{ChargeOrigin, Facts, MethodStanding, OpenCharge, PlanStanding};

/// Every combination of facts about a subscription.
pub fn arb_facts() -> impl Strategy<Value = Facts> {
    let flags = any::<[bool; 6]>();
    let charges = (sample::select(OpenCharge::VARIANTS), sample::select(ChargeOrigin::VARIANTS));
    let standings = (sample::select(MethodStanding::VARIANTS), sample::select(PlanStanding::VARIANTS));
    (flags, charges, standings).prop_map(|(flags, (charge, origin), (method, plan))| {
        let [activated, in_time, paid, parked, limit_reached, refund_ends] = flags;
        Facts { activated, charge, origin, in_time, paid, method, plan, parked, limit_reached, refund_ends }
    })
}
