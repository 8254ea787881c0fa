//! What money is taken for.

use std::fmt;

use kontor_kernel::{InvalidId, MethodBindingId, OrderId, SubscriptionId, VerificationId};
use serde::{Deserialize, Serialize};

/// What a charge is for. The acquirer hands it back in the metadata of the payment; what follows from the outcome is
/// committed with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChargePurpose {
    /// An order is paid.
    #[serde(rename = "order_id")]
    Order(OrderId),
    /// A customer proves who they are.
    #[serde(rename = "verification_id")]
    Verification(VerificationId),
    /// A period of a subscription is paid.
    #[serde(rename = "subscription_id")]
    Subscription(SubscriptionId),
    /// A payment method is bound without a purchase.
    #[serde(rename = "method_binding_id")]
    MethodBinding(MethodBindingId),
}

impl ChargePurpose {
    /// The names of all purposes.
    pub const KINDS: [&str; 4] = ["order", "verification", "subscription", "method_binding"];

    /// The name of the purpose.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Verification(_) => "verification",
            Self::Subscription(_) => "subscription",
            Self::MethodBinding(_) => "method_binding",
        }
    }

    /// The number of the record that is paid for.
    pub fn number(self) -> i64 {
        match self {
            Self::Order(id) => id.get(),
            Self::Verification(id) => id.get(),
            Self::Subscription(id) => id.get(),
            Self::MethodBinding(id) => id.get(),
        }
    }

    /// The purpose with this name and number; `None` for a name that is none.
    pub fn from_parts(kind: &str, number: i64) -> Result<Option<Self>, InvalidId> {
        Ok(Some(match kind {
            "order" => Self::Order(OrderId::new(number)?),
            "verification" => Self::Verification(VerificationId::new(number)?),
            "subscription" => Self::Subscription(SubscriptionId::new(number)?),
            "method_binding" => Self::MethodBinding(MethodBindingId::new(number)?),
            _ => return Ok(None),
        }))
    }

    /// Whether the money goes back as soon as it has arrived: the payment itself was all that was wanted.
    pub fn is_refunded_at_once(self) -> bool {
        matches!(self, Self::Verification(_) | Self::MethodBinding(_))
    }

    /// Whether money may be taken for it more than once, one time after the other.
    pub fn recurs(self) -> bool {
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
            (purpose.to_string(), purpose.is_refunded_at_once(), purpose.recurs())
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
