//! The wire form of discounts and of what goes with them.

use std::borrow::Cow;

use kontor_catalog::model as catalog;
use kontor_kernel as kernel;
use utoipa::openapi::ObjectBuilder;

use super::types::{string_schema, text};
use super::{In, Scalar, WireValue};

impl WireValue for kernel::PromoCode {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        Self::parse(&text(scalar)?).map_err(|error| error.to_string())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be a text")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PromoCode")
    }

    fn schema() -> ObjectBuilder {
        string_schema().pattern(Some("^[A-Za-z0-9-]{1,64}$"))
    }
}

/// A promo code.
pub type PromoCode = In<kernel::PromoCode>;

macro_rules! wire_words {
    ($($(#[$doc:meta])+ $name:ident = $type:ty { $($word:literal => $value:expr,)+ })+) => {$(
        impl WireValue for $type {
            fn from_scalar(scalar: Scalar) -> Result<Self, String> {
                match text(scalar)?.as_str() {
                    $($word => Ok($value),)+
                    _ => Err(Self::expected().into_owned()),
                }
            }

            fn expected() -> Cow<'static, str> {
                Cow::Owned(format!("must be one of {}", [$($word,)+].join(", ")))
            }

            fn schema_name() -> Cow<'static, str> {
                Cow::Borrowed(stringify!($name))
            }

            fn schema() -> ObjectBuilder {
                string_schema().enum_values(Some([$($word,)+]))
            }
        }

        $(#[$doc])+
        pub type $name = In<$type>;
    )+};
}

/// Whether a new discount is in force at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstStatus(pub kernel::DiscountStatus);

wire_words! {
    /// How the number of a discount is meant.
    DiscountType = catalog::DiscountKind {
        "percent" => catalog::DiscountKind::Percent,
        "fixed" => catalog::DiscountKind::Fixed,
    }
    /// What kind of thing a discount is for.
    DiscountTargetKind = catalog::TargetKind {
        "cart" => catalog::TargetKind::Cart,
        "category" => catalog::TargetKind::Category,
        "product" => catalog::TargetKind::Product,
    }
    /// What a discount is now.
    DiscountState = catalog::DiscountState {
        "active" => catalog::DiscountState::Active,
        "scheduled" => catalog::DiscountState::Scheduled,
        "expired" => catalog::DiscountState::Expired,
        "paused" => catalog::DiscountState::Paused,
        "archived" => catalog::DiscountState::Archived,
    }
    /// The status of a new discount.
    NewDiscountStatus = FirstStatus {
        "active" => Self(kernel::DiscountStatus::Active),
        "paused" => Self(kernel::DiscountStatus::Paused),
    }
}
