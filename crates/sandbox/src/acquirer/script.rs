//! The script of a saved method: the outcomes of its next charges, in order.

use std::collections::VecDeque;

use chrono::{DateTime, TimeDelta, Utc};

use super::ledger::{Ledger, Object};
use super::method::{Kind, Method};
use super::payment::Verdict;
use super::refusal::Refusal;
use crate::faults::{Fault, FaultKind};

/// Outcome of a charge and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The response to the request contains the outcome.
    AtOnce(Verdict),
    /// The payment is pending for this duration.
    After(TimeDelta, Verdict),
    /// The payment is pending until the control interface ends it.
    WhenTold,
}

/// Outcome of one charge, or of several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub ending: Ending,
    /// Fault of the request.
    pub fault: Option<Fault>,
    /// Fault of the payment's notifications.
    pub notifications: Option<FaultKind>,
    /// `true` if the shop is notified before the response to the request.
    pub notifies_first: bool,
    /// Number of charges; `None` for all that follow.
    pub times: Option<u32>,
}

impl Step {
    /// A step for one charge with this ending and no faults.
    pub const fn new(ending: Ending) -> Self {
        Self { ending, fault: None, notifications: None, notifies_first: false, times: Some(1) }
    }

    /// Returns `true` if the payment is never created.
    pub fn prevents_work(&self) -> bool {
        self.fault.is_some_and(|fault| fault.kind.prevents_work())
    }
}

/// The remaining steps. Charges succeed once all are used up.
#[derive(Clone, Debug, Default)]
pub struct Script(VecDeque<Step>);

impl Script {
    /// Returns the remaining steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }

    /// Returns the step for the next charge and uses it up.
    pub fn take(&mut self) -> Step {
        let Some(step) = self.0.front_mut() else {
            return Step::new(Ending::AtOnce(Verdict::APPROVED));
        };
        let taken = *step;
        step.times = taken.times.map(|times| times.saturating_sub(1));
        if step.times == Some(0) {
            self.0.pop_front();
        }
        taken
    }
}

impl From<Step> for Script {
    fn from(step: Step) -> Self {
        Self(VecDeque::from([step]))
    }
}

impl FromIterator<Step> for Script {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

impl Ledger {
    /// Returns the method that pays the charge, and the script step the charge follows.
    pub(super) fn charge(&mut self, method_id: &str) -> Result<(Method, Step), Refusal> {
        let refuse = |description: &str| Refusal::invalid(description).at("payment_method_id");
        let Some(saved) = self.methods.get_mut(method_id) else {
            let known = self.payments.get(method_id).is_some_and(|payment| payment.method.is_some());
            return Err(refuse(if known { "Payment method is not saved" } else { "Payment method is not found" }));
        };
        if !saved.is_chargeable() {
            return Err(refuse("Payment method is not saved"));
        }
        let method = Method {
            sbp_operation_id: (saved.method.kind == Kind::SBP).then(|| self.chance.digits(18)),
            ..saved.method.clone()
        };
        Ok((method, saved.script.take()))
    }

    /// Replaces the script of a saved method. `None` when there is no such method.
    pub fn direct(&mut self, method_id: &str, script: Script) -> Option<Object> {
        self.methods.get_mut(method_id)?.script = script;
        Some(Object::Method(method_id.to_owned()))
    }

    /// Returns the scripted verdict of the bank on a charge whose scripted delay is over.
    pub(super) fn scripted_verdict(&self, payment: &Object) -> Option<Verdict> {
        let Object::Payment(id) = payment else { return None };
        match self.payments.get(id)?.step?.ending {
            Ending::After(_, verdict) => Some(verdict),
            Ending::AtOnce(_) | Ending::WhenTold => None,
        }
    }

    /// Applies the verdict of the bank to a pending payment.
    pub(super) fn conclude(&mut self, payment: &Object, verdict: Verdict, now: DateTime<Utc>) {
        if let Object::Payment(id) = payment
            && let Some(pending) = self.payments.get(id)
            && let Some(status) = pending.status.confirmed(verdict, pending.capture, now)
        {
            self.change_payment(id, |payment| payment.status = status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquirer::payment::Canceled;

    const APPROVED: Ending = Ending::AtOnce(Verdict::APPROVED);

    fn declined(reason: &'static str) -> Ending {
        Ending::AtOnce(Verdict::Declined(Canceled::by_network(reason)))
    }

    #[test]
    fn steps_are_used_up_in_order_and_then_charges_succeed() {
        let twice = Step { times: Some(2), ..Step::new(declined("insufficient_funds")) };
        let mut script = Script::from_iter([twice, Step::new(Ending::WhenTold)]);
        let endings = [(); 4].map(|()| script.take().ending);
        let poor = declined("insufficient_funds");
        assert_eq!(endings, [poor, poor, Ending::WhenTold, APPROVED]);
        assert_eq!(script.steps().count(), 0);
    }

    #[test]
    fn a_step_without_an_end_covers_all_that_follow() {
        let mut script = Script::from(Step { times: None, ..Step::new(declined("card_expired")) });
        assert_eq!([(); 3].map(|()| script.take().ending), [declined("card_expired"); 3]);
    }
}
