//! Purposes of charges.

use std::fmt;

use kontor_kernel::{InvalidId, MethodBindingId, OrderId, SubscriptionId, VerificationId};
use serde::{Deserialize, Serialize};

/// Purpose of a charge. The acquirer returns it in the metadata of the payment. The effect of the outcome on it
/// is committed with the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChargePurpose {
    /// Payment of an order.
    #[serde(rename = "order_id")]
    Order(OrderId),
    /// Verification of a customer.
    #[serde(rename = "verification_id")]
    Verification(VerificationId),
    /// Payment of a subscription period.
    #[serde(rename = "subscription_id")]
    Subscription(SubscriptionId),
    /// Binding of a payment method without a purchase.
    #[serde(rename = "method_binding_id")]
    MethodBinding(MethodBindingId),
}

impl ChargePurpose {
    /// Names of all purposes.
    pub const KINDS: [&str; 4] = ["order", "verification", "subscription", "method_binding"];

    /// Name of the purpose.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Verification(_) => "verification",
            Self::Subscription(_) => "subscription",
            Self::MethodBinding(_) => "method_binding",
        }
    }

    /// Number of the record that is paid for.
    pub fn number(self) -> i64 {
        match self {
            Self::Order(id) => id.get(),
            Self::Verification(id) => id.get(),
            Self::Subscription(id) => id.get(),
            Self::MethodBinding(id) => id.get(),
        }
    }

    /// Returns the purpose with this name and number; `None` for an unknown name.
    pub fn from_parts(kind: &str, number: i64) -> Result<Option<Self>, InvalidId> {
        Ok(Some(match kind {
            "order" => Self::Order(OrderId::new(number)?),
            "verification" => Self::Verification(VerificationId::new(number)?),
            "subscription" => Self::Subscription(SubscriptionId::new(number)?),
            "method_binding" => Self::MethodBinding(MethodBindingId::new(number)?),
            _ => return Ok(None),
        }))
    }

    /// Returns `true` if the money is refunded as soon as it arrives, since only the payment itself was needed.
    pub fn is_refunded_at_once(self) -> bool {
        matches!(self, Self::Verification(_) | Self::MethodBinding(_))
    }

    /// Returns `true` if money may be taken for it more than once, one charge after the other.
    pub fn is_recurring(self) -> bool {
        matches!(self, Self::Subscription(_))
    }
}

impl fmt::Display for ChargePurpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind().replace('_', " "), self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_its_name_and_its_number() {
        for kind in ChargePurpose::KINDS {
            let purpose = ChargePurpose::from_parts(kind, 7).unwrap().unwrap();
            assert_eq!((purpose.kind(), purpose.number()), (kind, 7));
            assert!(ChargePurpose::from_parts(kind, 0).is_err());
        }
        assert_eq!(ChargePurpose::from_parts("gift", 7), Ok(None));
    }

    #[test]
    fn what_proves_something_goes_back_at_once_and_subscriptions_recur() {
        let told = ChargePurpose::KINDS.map(|kind| {
            let purpose = ChargePurpose::from_parts(kind, 7).unwrap().unwrap();
            (purpose.to_string(), purpose.is_refunded_at_once(), purpose.is_recurring())
        });
        assert_eq!(
            told,
            [
                ("order 7".to_owned(), false, false),
                ("verification 7".to_owned(), true, false),
                ("subscription 7".to_owned(), false, true),
                ("method binding 7".to_owned(), true, false),
            ]
        );
    }
}
