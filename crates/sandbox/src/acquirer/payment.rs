//! A payment and the pure rules of its life: `pending` -> `waiting_for_capture` -> `succeeded` or `canceled`.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};

use super::amount::Amount;
use super::method::Method;
use super::receipt::Slip;
use super::refusal::Refusal;
use super::script::Step;
use crate::named::named;

/// How long the payer may take to confirm.
pub const CONFIRMATION_WINDOW: TimeDelta = TimeDelta::hours(1);
/// How long the shop may take to capture.
pub const CAPTURE_WINDOW: TimeDelta = TimeDelta::days(7);

named! {
    /// Who stopped a payment.
    Party {
        Merchant = "merchant",
        YooMoney = "yoo_money",
        PaymentNetwork = "payment_network",
    }
}

/// Who stopped a payment and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canceled {
    pub party: Party,
    pub reason: &'static str,
}

impl Canceled {
    pub const BY_MERCHANT: Self = Self { party: Party::Merchant, reason: "canceled_by_merchant" };
    pub const NOT_CONFIRMED: Self = Self { party: Party::YooMoney, reason: "expired_on_confirmation" };
    pub const NOT_CAPTURED: Self = Self { party: Party::YooMoney, reason: "expired_on_capture" };

    /// The payer's bank declines.
    pub fn by_network(reason: &'static str) -> Self {
        Self { party: Party::PaymentNetwork, reason }
    }
}

/// What the payer's bank says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Approved { three_d_secure: bool },
    Declined(Canceled),
}

impl Verdict {
    /// What the bank says without asking the payer.
    pub const APPROVED: Self = Self::Approved { three_d_secure: false };
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    WaitingForCapture { until: DateTime<Utc>, three_d_secure: bool },
    Succeeded { captured_at: DateTime<Utc>, three_d_secure: bool },
    Canceled(Canceled),
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::WaitingForCapture { .. } => "waiting_for_capture",
            Self::Succeeded { .. } => "succeeded",
            Self::Canceled(_) => "canceled",
        }
    }

    /// The notification that tells of this status. Nobody is told of a pending payment.
    pub fn event(self) -> Option<&'static str> {
        match self {
            Self::Pending => None,
            Self::WaitingForCapture { .. } => Some("payment.waiting_for_capture"),
            Self::Succeeded { .. } => Some("payment.succeeded"),
            Self::Canceled(_) => Some("payment.canceled"),
        }
    }

    /// Whether the payer's money is held or taken.
    pub fn is_paid(self) -> bool {
        matches!(self, Self::WaitingForCapture { .. } | Self::Succeeded { .. })
    }

    /// The payer confirms and the bank speaks. `None` when the payment is not pending.
    pub fn confirmed(self, verdict: Verdict, capture: bool, now: DateTime<Utc>) -> Option<Self> {
        match (self, verdict) {
            (Self::Pending, Verdict::Declined(canceled)) => Some(Self::Canceled(canceled)),
            (Self::Pending, Verdict::Approved { three_d_secure }) if capture => {
                Some(Self::Succeeded { captured_at: now, three_d_secure })
            }
            (Self::Pending, Verdict::Approved { three_d_secure }) => {
                Some(Self::WaitingForCapture { until: now + CAPTURE_WINDOW, three_d_secure })
            }
            _ => None,
        }
    }

    /// The time for the next step has run out. `None` when no step is awaited.
    pub fn expired(self) -> Option<Self> {
        match self {
            Self::Pending => Some(Self::Canceled(Canceled::NOT_CONFIRMED)),
            Self::WaitingForCapture { .. } => Some(Self::Canceled(Canceled::NOT_CAPTURED)),
            Self::Succeeded { .. } | Self::Canceled(_) => None,
        }
    }
}

/// How the payer is asked to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    pub kind: &'static str,
    pub return_url: Option<String>,
    pub enforce: Option<bool>,
}

/// A payment.
#[derive(Clone, Debug)]
pub struct Payment {
    pub id: String,
    pub status: Status,
    pub amount: Amount,
    pub refunded: Amount,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    /// Taken at once when the payer confirms, else held until captured.
    pub capture: bool,
    /// Whether the shop asked to save the method.
    pub save: bool,
    pub method: Option<Method>,
    /// The step of its script that a charge of a saved method follows; `None` when the payer confirms.
    pub step: Option<Step>,
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    pub merchant_customer_id: Option<String>,
    /// The receipt that came with it; the register gets it once the money is taken.
    pub receipt: Option<Slip>,
}

impl Payment {
    /// The shop takes the held money, all of it or less. Gives the new status and the sum taken.
    pub fn captured(&self, sum: Option<Amount>, now: DateTime<Utc>) -> Result<(Status, Amount), Refusal> {
        let Status::WaitingForCapture { three_d_secure, .. } = self.status else {
            return Err(Refusal::invalid("Payment can not be captured in current status."));
        };
        let sum = sum.unwrap_or(self.amount);
        if sum > self.amount {
            return Err(Refusal::invalid("Illegal amount for capture").at("amount.value"));
        }
        Ok((Status::Succeeded { captured_at: now, three_d_secure }, sum))
    }

    /// The shop lets the held money go; `unpaid` also a payment that the payer has not paid yet.
    pub fn canceled(&self, unpaid: bool) -> Result<Status, Refusal> {
        match self.status {
            Status::Pending if unpaid => Ok(Status::Canceled(Canceled::BY_MERCHANT)),
            Status::WaitingForCapture { .. } => Ok(Status::Canceled(Canceled::BY_MERCHANT)),
            Status::Pending if self.capture => Err(Refusal::invalid("You can not cancel payment with autocapture")),
            _ => Err(Refusal::invalid("Payment can not be canceled in current status")),
        }
    }

    /// The shop gives money back. Gives the sum refunded so far.
    pub fn refunded(&self, sum: Amount) -> Result<Amount, Refusal> {
        match self.status {
            Status::Pending => return Err(Refusal::invalid("Payment is in progress").at("payment_id")),
            Status::Canceled(_) => return Err(Refusal::invalid("Payment is cancelled").at("payment_id")),
            Status::WaitingForCapture { .. } => {
                return Err(Refusal::invalid("Payment can not be refunded in current status.").at("payment_id"));
            }
            Status::Succeeded { .. } => {}
        }
        if !self.is_refundable() {
            return Err(Refusal::invalid("Payment is already completely refunded").at("payment_id"));
        }
        let total = self.refunded.plus(sum);
        if total > self.amount {
            return Err(Refusal::invalid("Refund sum exceeded").at("amount.value"));
        }
        Ok(total)
    }

    /// Whether a refund of this sum must come with a receipt: of all that was paid, the payment's is used.
    pub fn needs_receipt_to_refund(&self, sum: Amount) -> bool {
        self.receipt.is_some() && sum != self.amount
    }

    /// Whether anything is left to give back.
    pub fn is_refundable(&self) -> bool {
        matches!(self.status, Status::Succeeded { .. }) && self.refunded < self.amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const SUCCEEDED: Status = Status::Succeeded { captured_at: NOW, three_d_secure: false };

    fn held() -> Status {
        Status::Pending.confirmed(Verdict::APPROVED, false, NOW).unwrap()
    }

    fn payment(status: Status, capture: bool) -> Payment {
        Payment {
            id: "1".to_owned(),
            status,
            amount: Amount::roubles(100),
            refunded: Amount::default(),
            created_at: NOW,
            description: None,
            capture,
            save: false,
            method: None,
            step: None,
            confirmation: None,
            metadata: Map::new(),
            merchant_customer_id: None,
            receipt: None,
        }
    }

    #[test]
    fn a_confirmed_payment_is_taken_at_once_or_held() {
        assert_eq!(Status::Pending.confirmed(Verdict::APPROVED, true, NOW), Some(SUCCEEDED));
        assert_eq!(held().name(), "waiting_for_capture");
        let declined = Verdict::Declined(Canceled::by_network("insufficient_funds"));
        assert_eq!(Status::Pending.confirmed(declined, true, NOW).map(Status::name), Some("canceled"));
    }

    #[test]
    fn final_statuses_never_change() {
        for last in [SUCCEEDED, Status::Canceled(Canceled::BY_MERCHANT)] {
            assert_eq!(last.confirmed(Verdict::APPROVED, true, NOW), None);
            assert_eq!(last.expired(), None);
            assert!(payment(last, false).captured(None, NOW).is_err());
            assert!(payment(last, false).canceled(false).is_err());
        }
    }

    #[test]
    fn only_held_money_is_captured_and_never_more_than_was_held() {
        assert!(payment(Status::Pending, false).captured(None, NOW).is_err());
        let held = payment(held(), false);
        assert_eq!(held.captured(None, NOW), Ok((SUCCEEDED, Amount::roubles(100))));
        assert_eq!(held.captured(Some(Amount::roubles(60)), NOW), Ok((SUCCEEDED, Amount::roubles(60))));
        let refusal = held.captured(Some(Amount::roubles(101)), NOW).unwrap_err();
        assert_eq!(refusal.description, "Illegal amount for capture");
    }

    #[test]
    fn only_held_money_is_let_go() {
        assert_eq!(payment(held(), false).canceled(false), Ok(Status::Canceled(Canceled::BY_MERCHANT)));
        let text = |status, capture| payment(status, capture).canceled(false).unwrap_err().description;
        assert_eq!(text(Status::Pending, true), "You can not cancel payment with autocapture");
        assert_eq!(text(Status::Pending, false), "Payment can not be canceled in current status");
        assert_eq!(text(SUCCEEDED, true), "Payment can not be canceled in current status");
    }

    #[test]
    fn refunds_add_up_to_no_more_than_was_paid() {
        let mut paid = payment(SUCCEEDED, true);
        paid.refunded = paid.refunded(Amount::roubles(60)).unwrap();
        assert_eq!(paid.refunded(Amount::roubles(41)).unwrap_err().description, "Refund sum exceeded");
        paid.refunded = paid.refunded(Amount::roubles(40)).unwrap();
        assert!(!paid.is_refundable());
        let refusal = paid.refunded(Amount::roubles(1)).unwrap_err();
        assert_eq!(refusal.description, "Payment is already completely refunded");
        let text = |status| payment(status, true).refunded(Amount::roubles(1)).unwrap_err().description;
        assert_eq!(text(Status::Pending), "Payment is in progress");
        assert_eq!(text(Status::Canceled(Canceled::BY_MERCHANT)), "Payment is cancelled");
    }

    #[test]
    fn time_runs_out_for_the_payer_and_for_the_shop() {
        assert_eq!(Status::Pending.expired(), Some(Status::Canceled(Canceled::NOT_CONFIRMED)));
        assert_eq!(held().expired(), Some(Status::Canceled(Canceled::NOT_CAPTURED)));
    }
}
