//! Values of payments.

mod charge;
mod fiscal;
mod gateway;
mod receipt;
mod refund;
mod request;

pub use charge::{Charge, ChargeFailure, ChargeProblem, ChargeState, NewCharge};
pub use fiscal::{
    FiscalReceipt, GatewayReceipt, HandOverRequest, ReceiptKind, ReceiptProblemReport, ReceiptState, ReceiptTask,
    ReceiptTerms,
};
pub use gateway::{
    GatewayMethod, GatewayPage, GatewayPayment, GatewayRefund, GatewayStatus, InvalidProviderId, PaymentMismatch,
    ProviderId,
};
pub use receipt::{
    InvalidTaxSystem, InvalidVatCode, MAX_DESCRIPTION_LENGTH, MAX_LINES, PaymentMode, PaymentSubject, Receipt,
    ReceiptContact, ReceiptItem, ReceiptLine, ReceiptProblem, Registration, TaxSystem, VatCode,
};
pub use refund::{NewRefund, NothingToRefund, Refund, RefundIntent, RefundRequest, RefundState};
pub use request::{
    ChargePurpose, ChargeRequest, MethodReference, PaymentMethod, Renewal, SavedMethod, UnknownPaymentMethod,
};

#[cfg(test)]
pub(crate) mod testing {
    //! Sample receipts for tests of rules.

    use kontor_kernel::{Money, Phone, Quantity};

    use super::{PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, VatCode};

    /// A receipt of a prepayment of this amount for one item.
    pub fn a_receipt(total: Money) -> Receipt {
        let item = ReceiptItem {
            name: "Tea".to_owned(),
            quantity: Quantity::ONE,
            total,
            vat: VatCode::NONE,
            subject: PaymentSubject::Commodity,
            mode: PaymentMode::FullPrepayment,
        };
        let customer = ReceiptContact::Phone(Phone::parse("79001234567").unwrap());
        Receipt::new(customer, None, &[item], total).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Word;

    fn words<T: Word>() -> Vec<&'static str> {
        T::all().iter().map(|value| value.word()).collect()
    }

    #[test]
    fn stored_and_wire_words_do_not_change() {
        let states = ["prepared", "pending", "succeeded", "canceled", "expired", "refused"];
        assert_eq!(words::<ChargeState>(), states);
        assert_eq!(words::<RefundState>(), ["due", "pending", "succeeded", "failed"]);
        assert_eq!(words::<PaymentMethod>(), ["bank_card", "sbp", "sberbank", "tinkoff_bank", "yoo_money"]);
        assert_eq!(words::<ReceiptState>(), ["due", "pending", "succeeded", "canceled"]);
        assert_eq!(words::<ReceiptKind>(), ["payment", "refund", "hand_over"]);
        assert_eq!(words::<Registration>(), ["pending", "succeeded", "canceled"]);
        assert_eq!(words::<PaymentSubject>(), ["commodity", "service"]);
        assert_eq!(words::<PaymentMode>(), ["full_prepayment", "full_payment"]);
        assert_eq!(ChargeState::from_word("paid"), None);
    }
}
