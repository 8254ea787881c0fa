//! One attempt to take money, and its states.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, ChargeId, CounterpartyId, Money, ProjectId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{ChargePurpose, ChargeRequest, GatewayPayment, PaymentMismatch, ProviderId, RefundIntent};

/// Where a charge stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ChargeState {
    /// Stored; whether the acquirer knows of it is not known.
    Prepared,
    /// The acquirer has the payment, its outcome is still to come.
    Pending,
    /// The money has arrived.
    Succeeded,
    /// The payment failed.
    Canceled,
    /// The payer let the time to pay run out.
    Expired,
    /// The acquirer refused to create the payment.
    Refused,
}

impl ChargeState {
    /// The states whose outcome is still to come. What becomes known of a charge counts only in these.
    pub const OPEN: [Self; 2] = [Self::Prepared, Self::Pending];

    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// How a charge ended without money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeFailure {
    /// The payment failed.
    Canceled,
    /// The payer let the time to pay run out.
    Expired,
    /// The acquirer refused to create the payment.
    Refused,
    /// We took it back before the payer paid, since something else is to be paid.
    Withdrawn,
}

impl ChargeFailure {
    /// What a payment that was canceled for this reason means.
    pub fn of_canceled(reason: Option<&str>) -> Self {
        match reason {
            Some("expired_on_confirmation") => Self::Expired,
            Some("canceled_by_merchant") => Self::Withdrawn,
            _ => Self::Canceled,
        }
    }

    /// The state of such a charge.
    pub fn state(self) -> ChargeState {
        match self {
            Self::Canceled | Self::Withdrawn => ChargeState::Canceled,
            Self::Expired => ChargeState::Expired,
            Self::Refused => ChargeState::Refused,
        }
    }
}

/// One attempt to take money from a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The number of the charge.
    pub id: ChargeId,
    /// The project of the customer.
    pub project_id: ProjectId,
    /// Where it was made; `None` when it was made nowhere in particular.
    pub application_id: Option<ApplicationId>,
    /// Who pays.
    pub counterparty_id: CounterpartyId,
    /// Where it stands.
    pub state: ChargeState,
    /// The acquirer's identifier, once known.
    pub provider_id: Option<ProviderId>,
    /// What the acquirer was asked for.
    pub request: ChargeRequest,
    /// Where the customer pays.
    pub confirmation_url: Option<String>,
    /// What has arrived.
    pub captured: Money,
    /// What of it has gone back.
    pub refunded: Money,
    /// What of it is on its way back.
    pub refunding: Money,
    /// How often the outcome has been asked for.
    pub checks: u32,
    /// When the acquirer was last asked to take the money and did not answer; else when the charge was stored.
    pub asked_at: DateTime<Utc>,
    /// When the outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

impl Charge {
    /// What it is for.
    pub fn purpose(&self) -> ChargePurpose {
        self.request.purpose
    }

    /// Refuses a payment with another amount, currency, purpose, key or identifier.
    pub fn ensure_matches(&self, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        self.request.ensure_matches(self.provider_id.as_ref(), payment)
    }

    /// What can still be refunded.
    pub fn refundable(&self) -> Money {
        self.captured.saturating_sub(self.refunded).saturating_sub(self.refunding)
    }

    /// The refund that is due as soon as the money has arrived.
    pub fn automatic_refund(&self, key: Uuid) -> Option<RefundIntent> {
        if !self.purpose().is_refunded_at_once() {
            return None;
        }
        RefundIntent::new(key, self.request.amount, self.request.description.clone()).ok()
    }
}

/// A charge that people must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeConcern {
    /// The number of the charge.
    pub id: ChargeId,
    /// The project of the customer.
    pub project_id: ProjectId,
    /// What the charge is for.
    pub purpose: ChargePurpose,
    /// The acquirer's identifier of the payment.
    pub provider_id: Option<ProviderId>,
    /// When it was noticed.
    pub since: DateTime<Utc>,
    /// What is wrong.
    pub why: String,
}

/// A charge to be stored, which lacks only its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCharge {
    /// The project of the customer.
    pub project_id: ProjectId,
    /// Where it is made.
    pub application_id: Option<ApplicationId>,
    /// Who pays.
    pub counterparty_id: CounterpartyId,
    /// What the acquirer will be asked for.
    pub request: ChargeRequest,
    /// When a worker takes over if the call that follows the commit is never finished.
    pub next_check_at: DateTime<Utc>,
    /// Now.
    pub at: DateTime<Utc>,
}

impl NewCharge {
    /// The charge as it stands once it is stored under this number.
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

    use super::super::{GatewayStatus, PaymentMethod, Renewal};

    fn money(minor: i64) -> Money {
        Money::from_minor(minor).unwrap()
    }

    fn charge() -> Charge {
        let new = NewCharge {
            project_id: ProjectId::new(1).unwrap(),
            application_id: ApplicationId::new(2).ok(),
            counterparty_id: CounterpartyId::new(3).unwrap(),
            request: ChargeRequest {
                renewal: None,
                purpose: ChargePurpose::Order(OrderId::new(7).unwrap()),
                key: Uuid::from_u128(5),
                amount: money(1_000),
                currency: "RUB".to_owned(),
                method: PaymentMethod::Sbp,
                description: "Order 7".to_owned(),
                return_url: "https://shop.example".to_owned(),
                save_method: false,
                saved_method: None,
                receipt: None,
            },
            next_check_at: DateTime::UNIX_EPOCH,
            at: DateTime::UNIX_EPOCH,
        };
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
    fn what_has_gone_back_and_what_is_on_its_way_goes_back_no_more() {
        let paid = Charge { captured: money(1_000), ..charge() };
        assert_eq!(paid.refundable(), money(1_000));
        let partly = Charge { refunded: money(300), refunding: money(200), ..paid.clone() };
        assert_eq!(partly.refundable(), money(500));
        assert_eq!(Charge { refunded: money(900), refunding: money(200), ..paid }.refundable(), Money::ZERO);
    }

    #[test]
    fn what_is_prepared_or_pending_is_open() {
        let open: Vec<_> = ChargeState::VARIANTS.iter().filter(|state| state.is_open()).collect();
        assert_eq!(open, [&ChargeState::Prepared, &ChargeState::Pending]);
    }

    #[test]
    fn the_acquirer_tells_why_it_was_canceled() {
        let of = ChargeFailure::of_canceled;
        assert_eq!(of(Some("expired_on_confirmation")), ChargeFailure::Expired);
        assert_eq!(of(Some("canceled_by_merchant")), ChargeFailure::Withdrawn);
        assert_eq!((of(Some("insufficient_funds")), of(None)), (ChargeFailure::Canceled, ChargeFailure::Canceled));
    }

    #[test]
    fn a_payment_under_another_identifier_is_not_that_of_the_charge() {
        let charge = charge();
        let id = ProviderId::parse("pay-1").unwrap();
        let payment = GatewayPayment {
            renewal: None,
            id: id.clone(),
            status: GatewayStatus::Succeeded,
            amount: money(1_000),
            currency: "RUB".to_owned(),
            confirmation_url: None,
            reason: None,
            purpose: Some(charge.purpose()),
            key: Some(charge.request.key),
            saved_method: None,
            receipt: None,
        };
        assert_eq!(charge.ensure_matches(&payment), Ok(()));
        // A restored database has forgotten the order, and knows the attempt.
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
    fn only_what_proves_something_is_given_back_by_itself() {
        let charge = charge();
        assert_eq!(charge.automatic_refund(Uuid::nil()), None);
        let purpose = ChargePurpose::Verification(kontor_kernel::VerificationId::new(3).unwrap());
        let proof = Charge { request: ChargeRequest { purpose, ..charge.request.clone() }, ..charge };
        let expected = RefundIntent::new(Uuid::nil(), money(1_000), "Order 7".to_owned()).unwrap();
        assert_eq!(proof.automatic_refund(Uuid::nil()), Some(expected));
    }
}
