//! Money that goes back through the acquirer.

use chrono::{DateTime, Utc};
use kontor_kernel::{ChargeId, Money, ProjectId, RefundId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{ChargePurpose, GatewayRefund, GatewayStatus, PaymentMismatch, ProviderId, Receipt, ReceiptProblem};

/// Where a refund stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RefundState {
    /// To be asked for; whether the acquirer knows of it is not known.
    Due,
    /// The acquirer has the refund, the money is on its way.
    Pending,
    /// The customer has their money.
    Succeeded,
    /// Refused so often that people must look at it. Its money counts as not refunded.
    Failed,
}

impl RefundState {
    /// The states whose outcome is still to come. What becomes known of a refund counts only in these.
    pub const OPEN: [Self; 2] = [Self::Due, Self::Pending];

    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// A refund of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a refund must be more than nothing")]
pub struct NothingToRefund;

/// What is to go back of a charge: always more than nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundIntent {
    key: Uuid,
    amount: Money,
    description: String,
    receipt: Option<Receipt>,
}

impl RefundIntent {
    /// Under a key that names the refund for good. The payer reads the description, at most 250 characters.
    pub fn new(key: Uuid, amount: Money, description: String) -> Result<Self, NothingToRefund> {
        if amount.is_zero() { Err(NothingToRefund) } else { Ok(Self { key, amount, description, receipt: None }) }
    }

    /// With the receipt of a part of a payment that had one. A refund of all that was paid needs none: the acquirer uses
    /// the payment's. Refused when it is about other money.
    pub fn with_receipt(self, receipt: Receipt) -> Result<Self, ReceiptProblem> {
        let (lines, amount) = (receipt.total(), self.amount);
        if lines == amount {
            Ok(Self { receipt: Some(receipt), ..self })
        } else {
            Err(ReceiptProblem::SumDiffers { lines, amount })
        }
    }

    /// What the register prints about it.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Names the refund for good, and is the idempotence key of the first try.
    pub fn key(&self) -> Uuid {
        self.key
    }

    /// How much.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// What the payer reads.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// A refund to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    /// The charge the money came with.
    pub charge_id: ChargeId,
    /// What goes back.
    pub order: RefundIntent,
    /// When a worker asks for it.
    pub next_check_at: DateTime<Utc>,
    /// Now.
    pub at: DateTime<Utc>,
}

/// The way back of money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its number.
    pub id: RefundId,
    /// The project of the customer.
    pub project_id: ProjectId,
    /// The charge the money came with.
    pub charge_id: ChargeId,
    /// What the charge was for.
    pub purpose: ChargePurpose,
    /// Where it stands.
    pub state: RefundState,
    /// What the acquirer is asked for, under the key of the present try.
    pub request: RefundRequest,
    /// When the key of the present try was made.
    pub key_made_at: DateTime<Utc>,
    /// When the acquirer was last asked for this try and did not answer; else when its key was made.
    pub asked_at: DateTime<Utc>,
    /// How many tries were refused before it.
    pub tries: u32,
    /// The acquirer's identifier of the refund, once known.
    pub provider_id: Option<ProviderId>,
    /// How often the outcome has been asked for since the last change of state.
    pub checks: u32,
    /// When the outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

/// What the acquirer is asked for when money goes back. Every repetition under one key is the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// The payment the money came with.
    pub payment: ProviderId,
    /// The idempotence key.
    pub key: Uuid,
    /// How much goes back.
    pub amount: Money,
    /// Whether that is all of the payment.
    pub whole: bool,
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// What the payer reads, at most 250 characters.
    pub description: String,
    /// The receipt of a partial refund; of all that was paid the acquirer uses the payment's.
    pub receipt: Option<Receipt>,
}

impl RefundRequest {
    /// Refuses a refund of another payment or another amount.
    pub fn ensure_matches(&self, refund: &GatewayRefund) -> Result<(), PaymentMismatch> {
        PaymentMismatch::among(
            &refund.id,
            [
                ("the refunded payment", refund.payment == self.payment),
                ("the amount", refund.amount == self.amount),
                ("the currency", refund.currency == self.currency),
            ],
        )
    }

    /// Whether this refund shows that the money goes back. Of several refunds of one payment the key tells which is
    /// whose; when the whole payment goes back there can be only one, by whatever key or hand it was made.
    pub fn is_met_by(&self, refund: &GatewayRefund) -> bool {
        let own = self.whole || refund.key == Some(self.key);
        own && refund.payment == self.payment && refund.status != GatewayStatus::Canceled
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::a_receipt;
    use super::*;

    fn id(text: &str) -> ProviderId {
        ProviderId::parse(text).unwrap()
    }

    fn request() -> RefundRequest {
        RefundRequest {
            payment: id("pay-1"),
            key: Uuid::from_u128(1),
            amount: Money::from_minor(100).unwrap(),
            whole: false,
            currency: "RUB".to_owned(),
            description: String::new(),
            receipt: None,
        }
    }

    /// What the acquirer shows of it.
    fn shown(key: Option<Uuid>) -> GatewayRefund {
        GatewayRefund {
            id: id("ref-1"),
            payment: id("pay-1"),
            status: GatewayStatus::Pending,
            amount: request().amount,
            currency: "RUB".to_owned(),
            reason: None,
            key,
            receipt: None,
        }
    }

    #[test]
    fn of_several_refunds_the_key_tells_which_is_whose() {
        let request = request();
        let own = shown(Some(request.key));
        let others = GatewayRefund { key: Some(Uuid::from_u128(2)), ..own.clone() };
        let by_hand = GatewayRefund { key: None, ..own.clone() };
        let canceled = GatewayRefund { status: GatewayStatus::Canceled, ..own.clone() };
        let whole = RefundRequest { whole: true, ..request.clone() };
        let met =
            |request: &RefundRequest| [&own, &others, &by_hand, &canceled].map(|refund| request.is_met_by(refund));
        assert_eq!(met(&request), [true, false, false, false]);
        assert_eq!(met(&whole), [true, true, true, false]);
    }

    #[test]
    fn what_is_due_or_pending_is_open() {
        let open: Vec<_> = RefundState::VARIANTS.iter().filter(|state| state.is_open()).collect();
        assert_eq!(open, [&RefundState::Due, &RefundState::Pending]);
    }

    #[test]
    fn a_refund_is_of_something_and_its_receipt_of_the_same_money() {
        let money = |minor| Money::from_minor(minor).unwrap();
        let of = |minor| RefundIntent::new(Uuid::from_u128(1), money(minor), "Order 7".to_owned());
        assert_eq!(of(0), Err(NothingToRefund));
        let intent = of(100).unwrap();
        assert_eq!((intent.key(), intent.amount(), intent.description()), (Uuid::from_u128(1), money(100), "Order 7"));
        assert_eq!(intent.receipt(), None);
        let receipt = |minor| a_receipt(money(minor));
        assert_eq!(intent.clone().with_receipt(receipt(100)).unwrap().receipt(), Some(&receipt(100)));
        let differs = ReceiptProblem::SumDiffers { lines: money(99), amount: money(100) };
        assert_eq!(intent.with_receipt(receipt(99)), Err(differs));
    }

    #[test]
    fn a_refund_of_other_money_is_not_ours() {
        let (request, own) = (request(), shown(None));
        assert_eq!(request.ensure_matches(&own), Ok(()));
        let part = |refund| request.ensure_matches(&refund).unwrap_err().part;
        assert_eq!(part(GatewayRefund { payment: id("pay-2"), ..own.clone() }), "the refunded payment");
        assert_eq!(part(GatewayRefund { amount: Money::ZERO, ..own.clone() }), "the amount");
        assert_eq!(part(GatewayRefund { currency: "USD".to_owned(), ..own }), "the currency");
        // Nor is one of another payment found for it, whoever asked for it.
        let elsewhere = RefundRequest { whole: true, payment: id("pay-2"), ..request };
        let succeeded = GatewayRefund { status: GatewayStatus::Succeeded, ..shown(Some(elsewhere.key)) };
        assert!(!elsewhere.is_met_by(&succeeded));
    }
}
