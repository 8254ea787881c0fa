//! States and events of a subscription, and the facts that decide its moves.

use chrono::{DateTime, Utc};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// State of a subscription, in the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionStatus {
    /// A period is paid, and the next one will be charged.
    Active,
    /// A charge is open, for seconds or for days. New subscriptions begin here.
    Charging,
    /// The due period is not paid.
    PastDue,
    /// Nothing is charged any more. The paid period stays paid.
    Canceled,
}

/// Event of a subscription: outcome of a charge, command, or passing of time.
///
/// An outcome is an event only when it is new: the same outcome of a charge is not reported again. Without an
/// open charge, an outcome contradicts the recorded one, or comes after the customer was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionEvent {
    /// A planned attempt is due, or staff charge now.
    ChargeStarted,
    /// The money of a charge has arrived.
    ChargeSucceeded,
    /// A charge was declined, and the method may be charged again.
    ChargeDeclinedSoft,
    /// A charge was declined, and the method must not be charged again.
    ChargeDeclinedHard,
    /// The acquirer may or may not have the charge.
    ChargeUnknown,
    /// The acquirer has the charge, and its outcome is open.
    ChargePending,
    /// The acquirer contradicts the recorded outcome of a charge.
    ChargeContradicted,
    /// The customer or staff cancel.
    Cancel,
    /// The customer resumes the subscription, with a new consent.
    Resume,
    /// The customer requests another attempt of a failed charge.
    Retry,
    /// Another plan, price or length is agreed, from the next period on.
    ChangePlan,
    /// Another saved method is agreed, from the next charge on.
    ChangeMethod,
    /// The customer deletes the method that is charged next.
    DeleteMethod,
    /// The money of a period is refunded.
    RefundPeriod,
    /// The customer is deleted.
    CustomerLeaves,
    /// Staff withdraw the plan.
    PlanWithdrawn,
    /// The announcement of the next charge is due.
    ChargeAnnounced,
    /// Staff postpone the next period. The end of the paid period stays.
    Pause,
    /// Staff skip the next period.
    Skip,
    /// Staff move the billing day. The period before lasts until the new day.
    MoveDay,
    /// Staff release a parked subscription.
    Release,
    /// The next charge is due: the current period has ended.
    PeriodDue,
    /// No attempts are left (`dunning`).
    DunningExhausted,
}

/// Open charge of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum OpenCharge {
    /// No charge is open.
    None,
    /// The request to the acquirer is in progress, or the acquirer has it.
    Running,
    /// The acquirer may or may not have it.
    OutcomeUnknown,
}

/// Kind of charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ChargeOrigin {
    /// The first period: nothing was paid before.
    First,
    /// The period after a paid one.
    Renewal,
    /// A past due period.
    Recovery,
    /// A period missed during downtime and collected afterwards.
    Missed,
}

/// State of the saved method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum MethodStanding {
    /// It may be charged.
    Valid,
    /// The last decline requires an action of the customer. Only they may request an attempt; the service makes
    /// none.
    NeedsCustomer,
    /// It was deleted, must not be charged again, or does not exist.
    Gone,
}

/// State of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum PlanStanding {
    /// It can be bought.
    Available,
    /// It was withdrawn, and the project renews existing subscriptions.
    Renews,
    /// It was withdrawn, and the project lets subscriptions end with the paid period.
    Ends,
}

impl PlanStanding {
    /// Returns the state of a plan. `renews` states that the project renews subscriptions of withdrawn plans.
    pub fn of(is_offered: bool, renews: bool) -> Self {
        match (is_offered, renews) {
            (true, _) => Self::Available,
            (false, true) => Self::Renews,
            (false, false) => Self::Ends,
        }
    }
}

/// Facts that decide, besides the state, about a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct Facts {
    /// `true` if a first charge has succeeded.
    pub activated: bool,
    /// Open charge. For an outcome: its state before the outcome.
    pub charge: OpenCharge,
    /// Kind of the open charge, or of the one to start; otherwise irrelevant.
    pub origin: ChargeOrigin,
    /// `true` if the period of the open charge ends later than now; otherwise its money comes too late for the
    /// period.
    pub in_time: bool,
    /// `true` if the paid period ends later than now.
    pub paid: bool,
    /// State of the method that is charged next; for [`SubscriptionEvent::ChangeMethod`] of the new one. For
    /// [`SubscriptionEvent::ChargeDeclinedHard`] it is gone, unless another one was agreed during the charge.
    pub method: MethodStanding,
    /// State of the plan that is charged next; for [`SubscriptionEvent::ChangePlan`] of the new one.
    pub plan: PlanStanding,
    /// `true` if it is parked: staff must check it before anything is charged.
    pub parked: bool,
    /// `true` if the day's payments of the subscription or of its customer are used up: nothing is charged
    /// before the next day.
    pub limit_reached: bool,
    /// For [`SubscriptionEvent::RefundPeriod`]: `true` if the current paid period ends with the refund. All of
    /// its money is refunded, and the refund request sets the flag.
    pub refund_ends: bool,
}

/// Returns `true` if a subscription grants access now: it is `active`, and its current period ends later than
/// now. This is the contract's whole rule: `charging`, `past_due` and `canceled` grant no access, even with a
/// paid period.
///
/// A backend reads the subscription before each protected action and applies the same rule to `status` and
/// `current_period_end`. It must not trust a value from the browser.
/// ```
/// use chrono::{DateTime, TimeDelta};
/// use kontor_subscriptions::{SubscriptionStatus, grants_access};
///
/// let now = DateTime::UNIX_EPOCH;
/// assert!(grants_access(SubscriptionStatus::Active, Some(now + TimeDelta::seconds(1)), now));
/// assert!(!grants_access(SubscriptionStatus::Active, Some(now), now));
/// assert!(!grants_access(SubscriptionStatus::Charging, Some(now + TimeDelta::days(1)), now));
/// ```
pub fn grants_access(
    status: SubscriptionStatus,
    current_period_end: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> bool {
    status == SubscriptionStatus::Active && current_period_end.is_some_and(|end| end > now)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::Word;

    use super::*;

    #[test]
    fn a_withdrawn_plan_renews_only_if_the_project_says_so() {
        let standings = [(true, true), (true, false), (false, true), (false, false)];
        let found = standings.map(|(is_offered, renews)| PlanStanding::of(is_offered, renews));
        let expected = [PlanStanding::Available, PlanStanding::Available, PlanStanding::Renews, PlanStanding::Ends];
        assert_eq!(found, expected);
    }

    #[test]
    fn stored_and_wire_words_do_not_change() {
        let words: Vec<_> = SubscriptionStatus::VARIANTS.iter().map(|status| status.word()).collect();
        assert_eq!(words, ["active", "charging", "past_due", "canceled"]);
        let words: Vec<_> = SubscriptionEvent::VARIANTS.iter().map(|event| event.word()).collect();
        let expected = [
            "charge_started",
            "charge_succeeded",
            "charge_declined_soft",
            "charge_declined_hard",
            "charge_unknown",
            "charge_pending",
            "charge_contradicted",
            "cancel",
            "resume",
            "retry",
            "change_plan",
            "change_method",
            "delete_method",
            "refund_period",
            "customer_leaves",
            "plan_withdrawn",
            "charge_announced",
            "pause",
            "skip",
            "move_day",
            "release",
            "period_due",
            "dunning_exhausted",
        ];
        assert_eq!(words, expected);
        assert_eq!(SubscriptionStatus::from_word("cancelled"), None);
    }

    #[test]
    fn only_an_active_subscription_in_its_paid_period_grants_access() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let ends = [None, Some(-1), Some(0), Some(1)].map(|end| end.map(|end| now + TimeDelta::nanoseconds(end)));
        for status in SubscriptionStatus::VARIANTS.iter().copied() {
            let granted = ends.map(|end| grants_access(status, end, now));
            let active = status == SubscriptionStatus::Active;
            assert_eq!(granted, [false, false, false, active], "{status}");
        }
    }
}
