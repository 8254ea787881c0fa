//! The states of a subscription, what happens to it, and what decides where it goes then.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The state of a subscription; the words are the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionStatus {
    /// A period is paid, and the next one will be charged.
    Active,
    /// A charge is open, for seconds or for days. New subscriptions begin here.
    Charging,
    /// The period that is due is not paid.
    PastDue,
    /// Nothing is charged any more. What is paid stays paid.
    Canceled,
}

/// What happens to a subscription: outcomes of a charge, commands, and time that passes.
///
/// An outcome is an event when it is news: a charge that ended in the same way before is not told of again. Where no
/// charge is open, an outcome is one that contradicts what is recorded, or comes after the customer left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SubscriptionEvent {
    /// A planned try is due, or staff charge now.
    ChargeStarted,
    /// The money of a charge has arrived.
    ChargeSucceeded,
    /// A charge was declined, and the method may be charged again.
    ChargeDeclinedSoft,
    /// A charge was declined, and the method must not be charged again.
    ChargeDeclinedHard,
    /// Whether the acquirer has the charge is not known.
    ChargeUnknown,
    /// The acquirer has the charge, and its outcome is still to come.
    ChargePending,
    /// The acquirer says of a charge that has ended that it ended otherwise.
    ChargeContradicted,
    /// The customer or staff cancel.
    Cancel,
    /// The customer takes a cancellation back, with a new consent.
    Resume,
    /// The customer asks for another try of a charge that failed.
    Retry,
    /// Another plan, price or length is agreed on, from the next period on.
    ChangePlan,
    /// Another saved method is agreed on, from the next charge on.
    ChangeMethod,
    /// The customer deletes the method that is charged next.
    DeleteMethod,
    /// The money of a period goes back.
    RefundPeriod,
    /// The customer leaves the project.
    CustomerLeaves,
    /// Staff withdraw the plan.
    PlanWithdrawn,
    /// The customer is to be told of the charge that comes next.
    ChargeAnnounced,
    /// Staff let the next period begin later. What is paid ends as it does.
    Pause,
    /// Staff leave the next period out.
    Skip,
    /// Staff move the billing day. The period before lasts up to the new one.
    MoveDay,
    /// Staff have looked at a parked subscription, and let it go on.
    Release,
    /// The next charge is due: the period that was current has ended.
    PeriodDue,
    /// Nothing is left to try (`dunning`).
    DunningExhausted,
}

/// The charge that is open, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum OpenCharge {
    /// None is.
    None,
    /// The acquirer is asked, or has it.
    Running,
    /// Whether the acquirer has it is not known.
    Unclear,
}

/// What a charge is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ChargeOrigin {
    /// The first period: nothing was paid before.
    First,
    /// The period after one that is paid.
    Renewal,
    /// A period that is past due.
    Recovery,
    /// A period that went by during a pause of the service and is collected afterwards.
    Missed,
}

/// How the saved method stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum MethodStanding {
    /// It may be charged.
    Valid,
    /// Its last decline asks the customer to do something first. They may ask for a try, the service makes none.
    NeedsCustomer,
    /// It was deleted, or must not be charged again; or there is none.
    Gone,
}

/// How the plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum PlanStanding {
    /// It can be bought.
    Available,
    /// It was withdrawn, and the project renews those who have it.
    Renews,
    /// It was withdrawn, and the project lets it end with the paid period.
    Ends,
}

/// What decides, beside the state, where an event leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct Facts {
    /// Whether a first charge has ever succeeded.
    pub activated: bool,
    /// The charge that is open. An outcome is judged as the charge stood before it.
    pub charge: OpenCharge,
    /// What the open charge is for, or the one that is to start; without either it does not matter.
    pub origin: ChargeOrigin,
    /// Whether the period of the open charge ends later than now: money for another comes too late for it.
    pub in_time: bool,
    /// Whether the paid period ends later than now.
    pub paid: bool,
    /// The method that is charged next; of [`SubscriptionEvent::ChangeMethod`] the new one. Of
    /// [`SubscriptionEvent::ChargeDeclinedHard`] it is gone, unless another was agreed on while the charge ran.
    pub method: MethodStanding,
    /// The plan that is charged next; of [`SubscriptionEvent::ChangePlan`] the new one.
    pub plan: PlanStanding,
    /// Whether it is parked: people must look before anything is charged.
    pub parked: bool,
    /// `true` if the day's payments of the subscription or of its customer are used up: nothing is charged before the next day.
    pub limit_reached: bool,
    /// Of [`SubscriptionEvent::RefundPeriod`]: whether the current paid period ends with it. All of its money goes back,
    /// and whoever refunds says so.
    pub refund_ends: bool,
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word;

    use super::*;

    #[test]
    fn the_words_of_stored_rows_and_of_the_contract_stay_as_they_are() {
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
}
