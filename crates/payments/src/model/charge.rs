//! Charges and their states.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, ChargeId, CounterpartyId, Money, ProjectId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{ChargePurpose, ChargeRequest, GatewayPayment, PaymentMismatch, ProviderId, RefundIntent};

/// State of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ChargeState {
    /// Stored; the acquirer may or may not have it.
    Prepared,
    /// The acquirer has the payment; its outcome is open.
    Pending,
    /// The money has arrived.
    Succeeded,
    /// The payment failed.
    Canceled,
    /// The payer did not pay in time.
    Expired,
    /// The acquirer refused to create the payment.
    Refused,
}

impl ChargeState {
    /// States with an open outcome. Updates of a charge count only in these.
    pub const OPEN: [Self; 2] = [Self::Prepared, Self::Pending];

    /// Returns `true` while the outcome is open.
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// Outcome of a charge without money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeFailure {
    /// The payment failed.
    Canceled,
    /// The payer did not pay in time.
    Expired,
    /// The acquirer refused to create the payment.
    Refused,
    /// The service canceled it before the payment, since another sum is due or its saved method was deleted.
    Withdrawn,
}

impl ChargeFailure {
    /// Converts the reason of a canceled payment.
    pub fn of_canceled(reason: Option<&str>) -> Self {
        match reason {
            Some("expired_on_confirmation") => Self::Expired,
            Some("canceled_by_merchant") => Self::Withdrawn,
            _ => Self::Canceled,
        }
    }

    /// Returns the state of such a charge.
    pub fn state(self) -> ChargeState {
        match self {
            Self::Canceled | Self::Withdrawn => ChargeState::Canceled,
            Self::Expired => ChargeState::Expired,
            Self::Refused => ChargeState::Refused,
        }
    }
}

/// Attempt to take money from a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Identifier of the charge.
    pub id: ChargeId,
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Application; `None` if the charge belongs to none.
    pub application_id: Option<ApplicationId>,
    /// Customer who pays.
    pub counterparty_id: CounterpartyId,
    /// State.
    pub state: ChargeState,
    /// Identifier at the acquirer, once known.
    pub provider_id: Option<ProviderId>,
    /// Request to the acquirer.
    pub request: ChargeRequest,
    /// URL of the payment page.
    pub confirmation_url: Option<String>,
    /// Amount received.
    pub captured: Money,
    /// Amount refunded.
    pub refunded: Money,
    /// Amount with a refund in progress.
    pub refunding: Money,
    /// Number of checks of the outcome.
    pub checks: u32,
    /// Time of the last unanswered request to take the money, or of storing the charge.
    pub asked_at: DateTime<Utc>,
    /// Time at which the outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl Charge {
    /// Purpose of the charge.
    pub fn purpose(&self) -> ChargePurpose {
        self.request.purpose
    }

    /// Refuses a payment with another amount, currency, purpose, key or identifier.
    pub fn ensure_matches(&self, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        self.request.ensure_matches(self.provider_id.as_ref(), payment)
    }

    /// Amount that can still be refunded.
    pub fn refundable(&self) -> Money {
        self.captured.saturating_sub(self.refunded).saturating_sub(self.refunding)
    }

    /// Returns the refund that is due as soon as the money arrives.
    pub fn automatic_refund(&self, key: Uuid) -> Option<RefundIntent> {
        if !self.purpose().is_refunded_at_once() {
            return None;
        }
        RefundIntent::new(key, self.request.amount, self.request.description.clone()).ok()
    }
}

/// Charge that staff must check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeProblem {
    /// Identifier of the charge.
    pub id: ChargeId,
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Purpose of the charge.
    pub purpose: ChargePurpose,
    /// Identifier of the payment at the acquirer.
    pub provider_id: Option<ProviderId>,
    /// Time at which the problem was found.
    pub since: DateTime<Utc>,
    /// Problem.
    pub why: String,
}

/// Charge to store, without its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCharge {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Application.
    pub application_id: Option<ApplicationId>,
    /// Customer who pays.
    pub counterparty_id: CounterpartyId,
    /// Request to the acquirer.
    pub request: ChargeRequest,
    /// Time at which a worker takes over if the call after the commit does not finish.
    pub next_check_at: DateTime<Utc>,
    /// Current time.
    pub at: DateTime<Utc>,
}

impl NewCharge {
    /// Returns the charge as stored under this identifier.
    pub fn stored_as(&self, id: ChargeId) -> Charge {
        Charge {
            id,
            project_id: self.project_id,
            application_id: self.application_id,
            counterparty_id: self.counterparty_id,
            state: ChargeState::Prepared,
            provider_id: None,
            request: self.request.clone(),
            confirmation_url: None,
            captured: Money::ZERO,
            refunded: Money::ZERO,
            refunding: Money::ZERO,
            checks: 0,
            asked_at: self.at,
            settled_at: None,
            created_at: self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use kontor_kernel::OrderId;

    use super::super::{GatewayStatus, Renewal};
    use crate::testing::samples::{new_charge, payment_of};

    fn money(minor: i64) -> Money {
        Money::from_minor(minor).unwrap()
    }

    fn charge() -> Charge {
        let new = new_charge(ChargePurpose::Order(OrderId::new(7).unwrap()), money(1_000));
        new.stored_as(ChargeId::new(9).unwrap())
    }

    #[test]
    fn a_new_charge_is_prepared_and_has_taken_nothing() {
        let charge = charge();
        assert_eq!((charge.id.get(), charge.state, charge.checks), (9, ChargeState::Prepared, 0));
        assert_eq!([charge.captured, charge.refunded, charge.refunding, charge.refundable()], [Money::ZERO; 4]);
        assert_eq!((charge.asked_at, charge.settled_at), (charge.created_at, None));
    }

    #[test]
    fn refunded_and_pending_money_is_not_refunded_again() {
        let paid = Charge { captured: money(1_000), ..charge() };
        assert_eq!(paid.refundable(), money(1_000));
        let partly = Charge { refunded: money(300), refunding: money(200), ..paid.clone() };
        assert_eq!(partly.refundable(), money(500));
        assert_eq!(Charge { refunded: money(900), refunding: money(200), ..paid }.refundable(), Money::ZERO);
    }

    #[test]
    fn prepared_and_pending_charges_are_open() {
        let open: Vec<_> = ChargeState::VARIANTS.iter().filter(|state| state.is_open()).collect();
        assert_eq!(open, [&ChargeState::Prepared, &ChargeState::Pending]);
    }

    #[test]
    fn a_canceled_payment_has_the_acquirers_reason() {
        let of = ChargeFailure::of_canceled;
        assert_eq!(of(Some("expired_on_confirmation")), ChargeFailure::Expired);
        assert_eq!(of(Some("canceled_by_merchant")), ChargeFailure::Withdrawn);
        assert_eq!((of(Some("insufficient_funds")), of(None)), (ChargeFailure::Canceled, ChargeFailure::Canceled));
    }

    #[test]
    fn a_payment_under_another_identifier_is_not_that_of_the_charge() {
        let charge = charge();
        let id = ProviderId::parse("pay-1").unwrap();
        let payment = payment_of(&charge, GatewayStatus::Succeeded);
        assert_eq!(charge.ensure_matches(&payment), Ok(()));
        // A restored database lacks the order, but contains the attempt.
        let renewal = Some(Renewal {
            installation: Uuid::nil(),
            subscription: kontor_kernel::SubscriptionId::new(5).unwrap(),
            period: 3,
            number: 2,
        });
        let elsewhere = GatewayPayment { purpose: None, renewal, ..payment.clone() };
        assert_eq!(charge.ensure_matches(&elsewhere).unwrap_err().part, "the purpose");
        let request = ChargeRequest { renewal, ..charge.request.clone() };
        assert_eq!(Charge { request, ..charge.clone() }.ensure_matches(&elsewhere), Ok(()));
        let known = Charge { provider_id: Some(id), ..charge };
        assert_eq!(known.ensure_matches(&payment), Ok(()));
        let other = GatewayPayment { id: ProviderId::parse("pay-2").unwrap(), ..payment };
        assert_eq!(known.ensure_matches(&other).unwrap_err().part, "the identifier");
    }

    #[test]
    fn only_verification_payments_are_refunded_automatically() {
        let charge = charge();
        assert_eq!(charge.automatic_refund(Uuid::nil()), None);
        let purpose = ChargePurpose::Verification(kontor_kernel::VerificationId::new(3).unwrap());
        let proof = Charge { request: ChargeRequest { purpose, ..charge.request.clone() }, ..charge };
        let expected = RefundIntent::new(Uuid::nil(), money(1_000), proof.request.description.clone()).unwrap();
        assert_eq!(proof.automatic_refund(Uuid::nil()), Some(expected));
    }
}
