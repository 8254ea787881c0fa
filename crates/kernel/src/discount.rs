//! Discount values shared by discount management and cart pricing.

use std::fmt;

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{CategoryId, Money, NomenclatureId};

/// Amount or percentage of a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscountValue {
    /// Percentage in basis points, 1 to 10,000 (one hundredth of a percent each), rounded half up to the minor unit.
    Percent(u16),
    /// Amount: per unit for an automatic discount on a product or category, otherwise once per cart.
    Fixed(Money),
}

/// Error: the number is not a valid discount value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDiscountValue {
    /// The percentage is not from 0.01 to 100.00.
    #[error("must be from 0.01 to 100.00 percent")]
    Percent,
    /// The amount is zero.
    #[error("must be greater than 0")]
    Nothing,
}

impl DiscountValue {
    /// Creates a percentage from a decimal with two places: `12.50`.
    pub fn percent(share: Money) -> Result<Self, InvalidDiscountValue> {
        let points = u16::try_from(share.minor()).ok().filter(|points| (1..=10_000).contains(points));
        points.map(Self::Percent).ok_or(InvalidDiscountValue::Percent)
    }

    /// Creates an amount of at least one minor unit.
    pub fn fixed(amount: Money) -> Result<Self, InvalidDiscountValue> {
        if amount.is_zero() { Err(InvalidDiscountValue::Nothing) } else { Ok(Self::Fixed(amount)) }
    }
}

impl DiscountValue {
    /// Returns the type on the wire: `percent` or `fixed`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Percent(_) => "percent",
            Self::Fixed(_) => "fixed",
        }
    }
}

/// Formats the percentage or the amount with two decimals.
impl fmt::Display for DiscountValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(points) => write!(f, "{}.{:02}", points / 100, points % 100),
            Self::Fixed(amount) => amount.fmt(f),
        }
    }
}

/// Target of a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscountTarget {
    /// Every line.
    Cart,
    /// Lines of items in this category or below it.
    Category(CategoryId),
    /// Line of this item.
    Product(NomenclatureId),
}

/// Status of a discount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DiscountStatus {
    /// In force within its dates.
    Active,
    /// Paused; can become active again.
    Paused,
    /// Archived; never active again.
    Archived,
}

/// Error: the text cannot be a promo code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 64 Latin letters, digits and hyphens")]
pub struct InvalidPromoCode;

/// Promo code: 1 to 64 Latin letters, digits and hyphens, in capitals. Input is trimmed and case-insensitive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromoCode(String);

impl PromoCode {
    /// Maximum length, in characters.
    pub const MAX: usize = 64;

    /// Checks the form only. The discounts decide whether the code is valid.
    pub fn parse(text: &str) -> Result<Self, InvalidPromoCode> {
        let text = text.trim();
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if letters && (1..=Self::MAX).contains(&text.len()) {
            Ok(Self(text.to_ascii_uppercase()))
        } else {
            Err(InvalidPromoCode)
        }
    }
}

crate::wraps_text!(PromoCode);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promo_codes_are_latin() {
        for typed in ["Spring-10", "SPRING-10", " spring-10\t"] {
            assert_eq!(PromoCode::parse(typed).unwrap().as_str(), "SPRING-10", "{typed}");
        }
        for text in ["", "ВЕСНА", "a b", "a_b", &"x".repeat(65)] {
            assert_eq!(PromoCode::parse(text), Err(InvalidPromoCode), "{text}");
        }
    }

    #[test]
    fn a_value_takes_something_off_and_a_share_at_most_everything() {
        let money = |text: &str| text.parse::<Money>().unwrap();
        for text in ["0.01", "12.50", "100.00"] {
            assert_eq!(DiscountValue::percent(money(text)).unwrap().to_string(), text);
        }
        for text in ["0", "100.01", "655.37"] {
            assert_eq!(DiscountValue::percent(money(text)), Err(InvalidDiscountValue::Percent), "{text}");
        }
        assert_eq!(DiscountValue::fixed(Money::ZERO), Err(InvalidDiscountValue::Nothing));
        assert_eq!(DiscountValue::fixed(money("700")).unwrap().to_string(), "700.00");
    }

    #[test]
    fn a_promo_code_is_shown_in_capitals() {
        let longest = "x".repeat(PromoCode::MAX);
        for text in ["a", "Spring-10", &longest] {
            let (code, capitals) = (PromoCode::parse(text).unwrap(), text.to_uppercase());
            assert_eq!((code.as_str(), code.to_string()), (capitals.as_str(), capitals.clone()));
        }
    }

    #[test]
    fn the_contract_has_a_word_for_each_kind_of_value() {
        assert_eq!(DiscountValue::Percent(1).kind(), "percent");
        assert_eq!(DiscountValue::Fixed(Money::MAX).kind(), "fixed");
    }
}
