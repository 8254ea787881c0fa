//! Charges of saved methods, with outcomes taken from their scripts.

use chrono::{DateTime, Utc};

use super::ledger::{Ledger, Object};
use super::method::{Kind, Method};
use super::payment::Verdict;
use super::refusal::Refusal;
use super::script::{Ending, Script, Step};

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
