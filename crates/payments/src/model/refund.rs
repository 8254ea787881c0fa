//! Refunds through the acquirer.

use chrono::{DateTime, Utc};
use kontor_kernel::{ChargeId, Money, ProjectId, RefundId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{
    Charge, ChargePurpose, GatewayRefund, GatewayStatus, PaymentMismatch, ProviderId, Receipt, ReceiptProblem,
};

/// State of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RefundState {
    /// To be requested; the acquirer may or may not have it.
    Due,
    /// The acquirer has the refund; it is in progress.
    Pending,
    /// The customer has the money.
    Succeeded,
    /// Refused too often; staff must check it. Its money counts as not refunded.
    Failed,
}

impl RefundState {
    /// States with an open outcome. Updates of a refund count only in these.
    pub const OPEN: [Self; 2] = [Self::Due, Self::Pending];

    /// Returns `true` while the outcome is open.
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// Error for a refund of zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a refund must be greater than 0")]
pub struct NothingToRefund;

/// Refund to request of a charge: always above zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundIntent {
    key: Uuid,
    amount: Money,
    description: String,
    receipt: Option<Receipt>,
}

impl RefundIntent {
    /// Creates a refund under a permanent key. The description is shown to the payer, at most 250 characters.
    pub fn new(key: Uuid, amount: Money, description: String) -> Result<Self, NothingToRefund> {
        if amount.is_zero() { Err(NothingToRefund) } else { Ok(Self { key, amount, description, receipt: None }) }
    }

    /// Converts a refund that was made at the acquirer, outside the service. `left` is the amount of the charge that is
    /// not refunded, read under its lock. `None` if the refund cannot be one of this charge: staff must check it.
    pub fn outside(key: Uuid, refund: &GatewayRefund, charge: &Charge, left: Money) -> Option<Self> {
        let fits = refund.currency == charge.request.currency && refund.amount <= left;
        Self::new(key, refund.amount, "Refunded at the acquirer.".to_owned()).ok().filter(|_| fits)
    }

    /// Adds the receipt of a partial refund. A refund of the whole payment needs none: the acquirer uses the
    /// receipt of the payment. Refuses a receipt for another amount.
    pub fn with_receipt(self, receipt: Receipt) -> Result<Self, ReceiptProblem> {
        let (lines, amount) = (receipt.total(), self.amount);
        if lines == amount {
            Ok(Self { receipt: Some(receipt), ..self })
        } else {
            Err(ReceiptProblem::SumDiffers { lines, amount })
        }
    }

    /// Receipt of the refund.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// Permanent key of the refund, and idempotency key of the first attempt.
    pub fn key(&self) -> Uuid {
        self.key
    }

    /// Amount.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// Description for the payer.
    pub fn description(&self) -> &str {
        &self.description
    }
}

/// Refund to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRefund {
    /// Charge to refund.
    pub charge_id: ChargeId,
    /// Content of the refund.
    pub order: RefundIntent,
    /// Time at which a worker requests it.
    pub next_check_at: DateTime<Utc>,
    /// Current time.
    pub at: DateTime<Utc>,
}

/// Refund of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Identifier.
    pub id: RefundId,
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Refunded charge.
    pub charge_id: ChargeId,
    /// Purpose of the charge.
    pub purpose: ChargePurpose,
    /// State.
    pub state: RefundState,
    /// Request to the acquirer, under the key of the current attempt.
    pub request: RefundRequest,
    /// Time at which the key of the current attempt was created.
    pub key_made_at: DateTime<Utc>,
    /// Time of the last unanswered request of this attempt, or of the creation of its key.
    pub asked_at: DateTime<Utc>,
    /// Number of refused attempts before the current one.
    pub tries: u32,
    /// Identifier of the refund at the acquirer, once known.
    pub provider_id: Option<ProviderId>,
    /// Number of checks of the outcome since the last change of state.
    pub checks: u32,
    /// Time at which the outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Refund request to the acquirer. Every retry under one key is the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// Payment to refund.
    pub payment: ProviderId,
    /// Idempotency key.
    pub key: Uuid,
    /// Amount.
    pub amount: Money,
    /// `true` if the amount is the whole payment.
    pub whole: bool,
    /// Currency, three letters, such as `RUB`.
    pub currency: String,
    /// Description for the payer, at most 250 characters.
    pub description: String,
    /// Receipt of a partial refund; for the whole payment the acquirer uses the receipt of the payment.
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

    /// Returns `true` if this refund fulfils the request. The key distinguishes several refunds of one payment.
    /// A refund of the whole payment can exist only once, so any key or origin matches.
    pub fn is_fulfilled_by(&self, refund: &GatewayRefund) -> bool {
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

    /// The refund as the acquirer returns it.
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
    fn several_refunds_are_matched_by_their_keys() {
        let request = request();
        let own = shown(Some(request.key));
        let others = GatewayRefund { key: Some(Uuid::from_u128(2)), ..own.clone() };
        let by_hand = GatewayRefund { key: None, ..own.clone() };
        let canceled = GatewayRefund { status: GatewayStatus::Canceled, ..own.clone() };
        let whole = RefundRequest { whole: true, ..request.clone() };
        let met = |request: &RefundRequest| {
            [&own, &others, &by_hand, &canceled].map(|refund| request.is_fulfilled_by(refund))
        };
        assert_eq!(met(&request), [true, false, false, false]);
        assert_eq!(met(&whole), [true, true, true, false]);
    }

    #[test]
    fn a_refund_made_outside_fits_its_charge_or_is_doubtful() {
        let money = |minor| Money::from_minor(minor).unwrap();
        let purpose = ChargePurpose::Order(kontor_kernel::OrderId::new(7).unwrap());
        let charge = crate::testing::samples::charge(purpose, money(1_000));
        let outside =
            |refund: &GatewayRefund, left| RefundIntent::outside(Uuid::from_u128(9), refund, &charge, money(left));
        let intent = outside(&shown(None), 100).unwrap();
        assert_eq!(
            (intent.key(), intent.amount(), intent.description()),
            (Uuid::from_u128(9), money(100), "Refunded at the acquirer.")
        );
        assert_eq!(outside(&shown(None), 99), None);
        assert_eq!(outside(&GatewayRefund { currency: "BYN".to_owned(), ..shown(None) }, 100), None);
        assert_eq!(outside(&GatewayRefund { amount: Money::ZERO, ..shown(None) }, 100), None);
    }

    #[test]
    fn due_and_pending_refunds_are_open() {
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
    fn a_refund_of_another_amount_does_not_match() {
        let (request, own) = (request(), shown(None));
        assert_eq!(request.ensure_matches(&own), Ok(()));
        let part = |refund| request.ensure_matches(&refund).unwrap_err().part;
        assert_eq!(part(GatewayRefund { payment: id("pay-2"), ..own.clone() }), "the refunded payment");
        assert_eq!(part(GatewayRefund { amount: Money::ZERO, ..own.clone() }), "the amount");
        assert_eq!(part(GatewayRefund { currency: "USD".to_owned(), ..own }), "the currency");
        // A refund of another payment does not match either.
        let elsewhere = RefundRequest { whole: true, payment: id("pay-2"), ..request };
        let succeeded = GatewayRefund { status: GatewayStatus::Succeeded, ..shown(Some(elsewhere.key)) };
        assert!(!elsewhere.is_fulfilled_by(&succeeded));
    }
}
