//! A payment and the pure rules of its states: `pending` -> `waiting_for_capture` -> `succeeded` or `canceled`.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};

use super::api::Refusal;
use super::method::{Method, Step};
use super::receipt::{AttachedReceipt, Registration};
use super::view::Amount;

/// Time the payer has to confirm.
pub const CONFIRMATION_WINDOW: TimeDelta = TimeDelta::hours(1);
/// Time the shop has to capture.
pub const CAPTURE_WINDOW: TimeDelta = TimeDelta::days(7);

named! {
    /// Party that stopped a payment.
    Party {
        Merchant = "merchant",
        YooMoney = "yoo_money",
        PaymentNetwork = "payment_network",
    }
}

/// Party that stopped a payment, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canceled {
    pub party: Party,
    pub reason: &'static str,
}

impl Canceled {
    pub const BY_MERCHANT: Self = Self { party: Party::Merchant, reason: "canceled_by_merchant" };
    pub const NOT_CONFIRMED: Self = Self { party: Party::YooMoney, reason: "expired_on_confirmation" };
    pub const NOT_CAPTURED: Self = Self { party: Party::YooMoney, reason: "expired_on_capture" };

    /// A decline by the payer's bank.
    pub fn by_network(reason: &'static str) -> Self {
        Self { party: Party::PaymentNetwork, reason }
    }
}

/// Verdict of the payer's bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Approved { three_d_secure: bool },
    Declined(Canceled),
}

impl Verdict {
    /// Approval by the bank without a confirmation by the payer.
    pub const APPROVED: Self = Self::Approved { three_d_secure: false };
}

/// Status of a payment.
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

    /// Returns the event of this status. A pending payment has none.
    pub fn event(self) -> Option<&'static str> {
        match self {
            Self::Pending => None,
            Self::WaitingForCapture { .. } => Some("payment.waiting_for_capture"),
            Self::Succeeded { .. } => Some("payment.succeeded"),
            Self::Canceled(_) => Some("payment.canceled"),
        }
    }

    /// Returns `true` if the payer's money is held or taken.
    pub fn is_paid(self) -> bool {
        matches!(self, Self::WaitingForCapture { .. } | Self::Succeeded { .. })
    }

    /// Applies the confirmation by the payer and the verdict of the bank. `None` when the payment is not pending.
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

    /// Applies the end of the waiting time. `None` when the status is final.
    pub fn expired(self) -> Option<Self> {
        match self {
            Self::Pending => Some(Self::Canceled(Canceled::NOT_CONFIRMED)),
            Self::WaitingForCapture { .. } => Some(Self::Canceled(Canceled::NOT_CAPTURED)),
            Self::Succeeded { .. } | Self::Canceled(_) => None,
        }
    }
}

/// Way the payer confirms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    pub kind: &'static str,
    pub return_url: Option<String>,
    pub enforce: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct Payment {
    pub id: String,
    pub status: Status,
    pub amount: Amount,
    pub refunded: Amount,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    /// `true`: the money is taken when the payer confirms. `false`: it is held until captured.
    pub capture: bool,
    /// `true` if the shop requested to save the method.
    pub save: bool,
    pub method: Option<Method>,
    /// Script step that a charge of a saved method follows. `None` when the payer confirms.
    pub step: Option<Step>,
    pub confirmation: Option<Confirmation>,
    pub metadata: Map<String, Value>,
    pub merchant_customer_id: Option<String>,
    /// The receipt of the payment request. It is registered once the money is taken.
    pub receipt: Option<AttachedReceipt>,
}

impl Payment {
    /// Captures the held money, all of it or less. Returns the new status and the captured sum.
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

    /// Releases the held money. With `unpaid`, also cancels a payment that the payer has not paid yet.
    pub fn canceled(&self, unpaid: bool) -> Result<Status, Refusal> {
        match self.status {
            Status::Pending if unpaid => Ok(Status::Canceled(Canceled::BY_MERCHANT)),
            Status::WaitingForCapture { .. } => Ok(Status::Canceled(Canceled::BY_MERCHANT)),
            Status::Pending if self.capture => Err(Refusal::invalid("You can not cancel payment with autocapture")),
            _ => Err(Refusal::invalid("Payment can not be canceled in current status")),
        }
    }

    /// Refunds the sum. Returns the total refunded so far.
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

    /// Returns `true` if a refund of this sum must include a receipt. A full refund uses the receipt of the payment.
    pub fn needs_receipt_to_refund(&self, sum: Amount) -> bool {
        self.receipt.is_some() && sum != self.amount
    }

    /// Returns `true` if some of the money can still be refunded.
    pub fn is_refundable(&self) -> bool {
        matches!(self.status, Status::Succeeded { .. }) && self.refunded < self.amount
    }
}

named! {
    /// Status of a refund.
    RefundStatus {
        Pending = "pending",
        Succeeded = "succeeded",
        Canceled = "canceled",
    }
}

#[derive(Clone, Debug)]
pub struct Refund {
    pub id: String,
    pub payment_id: String,
    pub status: RefundStatus,
    pub amount: Amount,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    pub metadata: Map<String, Value>,
    /// State of the fiscal receipt, if there is one.
    pub receipt: Option<Registration>,
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
