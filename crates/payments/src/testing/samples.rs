//! Sample charges for tests of rules.
//!
//! Set further fields with struct update syntax:
//! ```
//! use kontor_kernel::{Money, OrderId};
//! use kontor_payments::model::{Charge, ChargePurpose};
//! use kontor_payments::testing::samples::paid_charge;
//!
//! let purpose = ChargePurpose::Order(OrderId::new(7)?);
//! let partly = Charge { refunding: "65.00".parse()?, ..paid_charge(purpose, "265.00".parse()?) };
//! assert_eq!(partly.refundable().to_string(), "200.00");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "constant identifiers")]

use chrono::DateTime;
use kontor_kernel::{ApplicationId, ChargeId, CounterpartyId, Money, ProjectId};
use uuid::Uuid;

use crate::model::{Charge, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMethod};

/// Returns a request of this amount in roubles by bank card, under key 5, without a receipt.
pub fn charge_request(purpose: ChargePurpose, amount: Money) -> ChargeRequest {
    ChargeRequest {
        renewal: None,
        purpose,
        key: Uuid::from_u128(5),
        amount,
        currency: "RUB".to_owned(),
        method: PaymentMethod::BankCard,
        description: format!("Payment of {purpose}"),
        return_url: "https://shop.example".to_owned(),
        save_method: false,
        saved_method: None,
        receipt: None,
    }
}

/// Returns a charge to store, of customer 4 in application 3 of project 1, due at once at the start of 1970.
pub fn new_charge(purpose: ChargePurpose, amount: Money) -> NewCharge {
    NewCharge {
        project_id: ProjectId::new(1).unwrap(),
        application_id: ApplicationId::new(3).ok(),
        counterparty_id: CounterpartyId::new(4).unwrap(),
        request: charge_request(purpose, amount),
        next_check_at: DateTime::UNIX_EPOCH,
        at: DateTime::UNIX_EPOCH,
    }
}

/// Returns the stored charge of [`new_charge`] with number 2. The acquirer has not answered yet.
pub fn charge(purpose: ChargePurpose, amount: Money) -> Charge {
    new_charge(purpose, amount).stored_as(ChargeId::new(2).unwrap())
}

/// Returns the same charge with its money arrived.
pub fn paid_charge(purpose: ChargePurpose, amount: Money) -> Charge {
    let settled_at = Some(DateTime::UNIX_EPOCH);
    Charge { state: ChargeState::Succeeded, captured: amount, settled_at, ..charge(purpose, amount) }
}
