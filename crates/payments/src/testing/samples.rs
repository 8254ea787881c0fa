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
use kontor_kernel::{ApplicationId, ChargeId, CounterpartyId, Money, ProjectId, ReceiptId, RefundId};
use uuid::Uuid;

use crate::model::{
    Charge, ChargePurpose, ChargeRequest, ChargeState, FiscalReceipt, GatewayPayment, GatewayRefund, GatewayStatus,
    NewCharge, PaymentMethod, ProviderId, ReceiptState, ReceiptTask, Refund, RefundRequest, RefundState,
};

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

/// Returns the payment `pay-1` of this charge, as the acquirer shows it.
pub fn payment_of(charge: &Charge, status: GatewayStatus) -> GatewayPayment {
    GatewayPayment {
        renewal: charge.request.renewal,
        id: ProviderId::parse("pay-1").unwrap(),
        status,
        amount: charge.request.amount,
        currency: charge.request.currency.clone(),
        confirmation_url: None,
        reason: None,
        purpose: Some(charge.purpose()),
        key: Some(charge.request.key),
        saved_method: None,
        receipt: None,
    }
}

/// Returns refund 2 of all money of this charge, to be requested under key 6 for payment `pay-1`.
pub fn refund_of(charge: &Charge) -> Refund {
    Refund {
        id: RefundId::new(2).unwrap(),
        project_id: charge.project_id,
        charge_id: charge.id,
        purpose: charge.purpose(),
        state: RefundState::Due,
        request: RefundRequest {
            payment: ProviderId::parse("pay-1").unwrap(),
            key: Uuid::from_u128(6),
            amount: charge.request.amount,
            whole: true,
            currency: charge.request.currency.clone(),
            description: charge.request.description.clone(),
            receipt: None,
        },
        key_made_at: DateTime::UNIX_EPOCH,
        asked_at: DateTime::UNIX_EPOCH,
        tries: 0,
        provider_id: None,
        checks: 0,
        settled_at: None,
        created_at: DateTime::UNIX_EPOCH,
    }
}

/// Returns the refund `ref-1` that this request makes, as the acquirer shows it.
pub fn gateway_refund(request: &RefundRequest, status: GatewayStatus) -> GatewayRefund {
    GatewayRefund {
        id: ProviderId::parse("ref-1").unwrap(),
        payment: request.payment.clone(),
        status,
        amount: request.amount,
        currency: request.currency.clone(),
        reason: None,
        key: Some(request.key),
        receipt: None,
    }
}

/// Returns receipt 3 about this charge, which the register processes.
pub fn receipt_of(charge: &Charge, task: ReceiptTask) -> FiscalReceipt {
    FiscalReceipt {
        id: ReceiptId::new(3).unwrap(),
        project_id: charge.project_id,
        purpose: charge.purpose(),
        state: ReceiptState::Pending,
        task,
        charge_key: charge.request.key,
        tries: 0,
        key_made_at: DateTime::UNIX_EPOCH,
        asked_at: DateTime::UNIX_EPOCH,
        provider_id: None,
        checks: 0,
        overdue_at: None,
        created_at: DateTime::UNIX_EPOCH,
    }
}
