//! What the acquirer is asked for when money is taken.

use kontor_kernel::Money;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    ChargePurpose, GatewayPayment, MethodReference, PaymentMethod, PaymentMismatch, ProviderId, Receipt, Renewal,
};

/// What the acquirer is asked for. It is stored word for word before the first call, so that every repetition is the
/// same request under the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeRequest {
    /// What is to be paid.
    #[serde(flatten)]
    pub purpose: ChargePurpose,
    /// The idempotence key; the acquirer hands it back in the metadata of the payment.
    #[serde(rename = "attempt")]
    pub key: Uuid,
    /// How much.
    #[serde(with = "minor_units")]
    pub amount: Money,
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// How.
    pub method: PaymentMethod,
    /// What the payer reads, at most 128 characters.
    pub description: String,
    /// Where the payer comes back to. Nobody goes anywhere when a saved method is charged.
    pub return_url: String,
    /// Whether the method is to be saved once the money has arrived.
    #[serde(default, skip_serializing_if = "is_false")]
    pub save_method: bool,
    /// The saved method to be charged, without the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_method: Option<MethodReference>,
    /// Which attempt of a subscription it is; `None` where no period is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
    /// The fiscal receipt, about exactly the amount; `None` where none is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

mod minor_units {
    use kontor_kernel::Money;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(amount: &Money, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(amount.minor())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        Money::from_minor(i64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl ChargeRequest {
    /// Refuses a payment with another amount, currency, purpose or key, and one with another identifier than is known. A
    /// payment of the same attempt of a subscription may be for another order: one that a restored database has forgotten.
    pub fn ensure_matches(&self, known: Option<&ProviderId>, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        let same_attempt = self.renewal.is_some() && payment.renewal == self.renewal;
        let parts = [
            ("the amount", payment.amount == self.amount),
            ("the currency", payment.currency == self.currency),
            ("the purpose", payment.purpose == Some(self.purpose) || same_attempt),
            ("the key", payment.key == Some(self.key)),
            ("the identifier", known.is_none_or(|known| *known == payment.id)),
        ];
        PaymentMismatch::among(&payment.id, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::{OrderId, SavedMethodId, SubscriptionId, VerificationId};

    #[test]
    fn a_stored_request_reads_back_unchanged() {
        let request = ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Order(OrderId::new(7).unwrap()),
            key: Uuid::nil(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            description: "Order 7".to_owned(),
            return_url: "https://shop.example/7".to_owned(),
            save_method: false,
            saved_method: None,
            receipt: None,
        };
        let stored = serde_json::to_string(&request).unwrap();
        // Older rows hold exactly this.
        assert_eq!(
            stored,
            r#"{"order_id":7,"attempt":"00000000-0000-0000-0000-000000000000","amount":26550,"currency":"RUB","method":"sbp","description":"Order 7","return_url":"https://shop.example/7"}"#
        );
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), request);
        let renewal =
            Renewal { installation: Uuid::nil(), subscription: SubscriptionId::new(5).unwrap(), period: 3, number: 2 };
        let renewing = ChargeRequest { renewal: Some(renewal), ..request.clone() };
        let stored = serde_json::to_string(&renewing).unwrap();
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), renewing);
        let purpose = ChargePurpose::Verification(VerificationId::new(3).unwrap());
        let provider_id = ProviderId::parse("pm-1").unwrap();
        let saved_method = Some(MethodReference { id: SavedMethodId::new(4).unwrap(), provider_id });
        let other = ChargeRequest { purpose, save_method: true, saved_method, ..request };
        let stored = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), other);
    }
}
