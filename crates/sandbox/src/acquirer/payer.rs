//! Actions of the payer on payments and bindings.

use chrono::{DateTime, Utc};

use super::cards::CardNumber;
use super::ledger::{Ledger, Object};
use super::method::{Kind, Method, SavedMethod, Standing};
use super::payment::{Canceled, Status, Verdict};
use super::script::Script;
use super::view;

/// The payer's choice of method on the page.
pub struct Means {
    pub kind: Kind,
    pub card: CardNumber,
    /// `true` if the payer agrees to save the method.
    pub save: bool,
}

impl Means {
    fn verdict(&self) -> Verdict {
        if self.kind == Kind::BANK_CARD { self.card.verdict() } else { Verdict::APPROVED }
    }
}

/// Action of the payer on the page, or of the bank on a pending charge.
pub enum Act {
    Pay(Means),
    Decline(Canceled),
    Expire,
}

/// Reason why an action is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActError {
    Unknown,
    /// The object has this status and is not pending.
    NotPending(&'static str),
}

impl Ledger {
    /// Acts on a pending payment. A charge of a saved method is paid by that method, regardless of the means.
    pub fn act_on_payment(&mut self, id: &str, act: &Act, now: DateTime<Utc>) -> Result<(), ActError> {
        let payment = self.payments.get(id).ok_or(ActError::Unknown)?;
        let refused = ActError::NotPending(payment.status.name());
        if payment.status != Status::Pending {
            return Err(refused);
        }
        let means = match act {
            Act::Pay(means) if payment.step.is_none() => Some(means),
            _ => None,
        };
        let confirmed = |verdict| payment.status.confirmed(verdict, payment.capture, now);
        let decided = match act {
            Act::Pay(_) => confirmed(means.map_or(Verdict::APPROVED, Means::verdict)),
            Act::Decline(canceled) => confirmed(Verdict::Declined(*canceled)),
            Act::Expire => payment.status.expired(),
        };
        let status = decided.ok_or(refused)?;
        let method = means.map(|means| self.used(id, means, status.is_paid() && payment.save && means.save, now));
        if let Some(method) = method.as_ref().filter(|method| method.saved) {
            let saved = SavedMethod {
                method: Method { sbp_operation_id: None, ..method.clone() },
                confirmation: None,
                metadata: serde_json::Map::new(),
                script: Script::default(),
            };
            self.methods.put(id, saved);
        }
        self.change_payment(id, |payment| {
            payment.status = status;
            payment.method = method.or_else(|| payment.method.take());
        });
        Ok(())
    }

    /// Returns the method the payer has just used.
    fn used(&self, id: &str, means: &Means, saved: bool, now: DateTime<Utc>) -> Method {
        Method {
            id: id.to_owned(),
            kind: means.kind,
            saved,
            standing: if saved { Standing::Active } else { Standing::Inactive },
            card: (means.kind == Kind::BANK_CARD).then(|| means.card.card(now)),
            sbp_operation_id: (means.kind == Kind::SBP).then(|| self.chance.digits(18)),
        }
    }

    /// Acts on a pending binding.
    pub fn act_on_binding(&mut self, id: &str, act: &Act, now: DateTime<Utc>) -> Result<(), ActError> {
        let saved = self.methods.get(id).ok_or(ActError::Unknown)?;
        if saved.method.standing != Standing::Pending {
            return Err(ActError::NotPending(saved.method.standing.name()));
        }
        let before = view::saved_method(saved, &self.shop);
        let method = match act {
            Act::Pay(means) if matches!(means.verdict(), Verdict::Approved { .. }) => {
                Method { sbp_operation_id: None, ..self.used(id, means, true, now) }
            }
            Act::Pay(_) | Act::Decline(_) | Act::Expire => {
                Method { standing: Standing::Inactive, ..saved.method.clone() }
            }
        };
        let active = method.saved;
        if let Some(saved) = self.methods.get_mut(id) {
            saved.method = method;
        }
        if active {
            self.tell("payment_method.active", &Object::Method(id.to_owned()), ("payment_method.active", before));
        }
        Ok(())
    }
}
