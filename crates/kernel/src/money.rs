//! Exact money, and ordered quantities.

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

/// Amount of the project's currency in whole minor units (kopecks, cents): never negative, never rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// Reason why a number is not an amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The text is not a decimal number.
    #[error("must be a decimal number")]
    NotANumber,
    /// The number is negative.
    #[error("must not be negative")]
    Negative,
    /// The number has more than two decimals.
    #[error("must have at most two decimals")]
    TooPrecise,
    /// The amount exceeds [`Money::MAX`].
    #[error("must be at most 10000000000.00")]
    TooLarge,
}

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Largest single amount: ten thousand million major units, so that no sum of a cart can overflow.
    pub const MAX: Self = Self(1_000_000_000_000);

    /// Creates an amount from minor units. Sums may exceed [`Money::MAX`], entered amounts may not.
    pub fn from_minor(minor: i64) -> Result<Self, MoneyError> {
        if minor < 0 { Err(MoneyError::Negative) } else { Ok(Self(minor)) }
    }

    /// Creates an amount from an entered decimal such as `265.00`: not negative, at most two decimals, at most
    /// [`Money::MAX`].
    pub fn from_decimal(value: Decimal) -> Result<Self, MoneyError> {
        if value.is_sign_negative() && !value.is_zero() {
            return Err(MoneyError::Negative);
        }
        let minor = value.checked_mul(Decimal::ONE_HUNDRED).ok_or(MoneyError::TooLarge)?.normalize();
        if minor.scale() > 0 {
            return Err(MoneyError::TooPrecise);
        }
        let amount = Self(minor.to_i64().ok_or(MoneyError::TooLarge)?);
        if amount > Self::MAX { Err(MoneyError::TooLarge) } else { Ok(amount) }
    }

    /// Returns the amount in minor units.
    pub fn minor(self) -> i64 {
        self.0
    }

    /// Returns the amount in major units with two decimals.
    pub fn to_decimal(self) -> Decimal {
        Decimal::new(self.0, 2)
    }

    /// Returns `true` if the amount is zero.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the product, or `None` on overflow.
    pub fn checked_times(self, count: u32) -> Option<Self> {
        self.0.checked_mul(i64::from(count)).map(Self)
    }

    /// Returns the difference, or zero if `other` is larger.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).max(0))
    }
}

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || digits == "." || !numeric(whole) || !numeric(fraction) {
            return Err(MoneyError::NotANumber);
        }
        if whole.trim_start_matches('0').len() > 15 {
            return Err(MoneyError::TooLarge);
        }
        if fraction.trim_end_matches('0').len() > 2 {
            return Err(MoneyError::TooPrecise);
        }
        let value = Decimal::from_str(text).map_err(|_| MoneyError::NotANumber)?;
        Self::from_decimal(value)
    }
}

/// Formats the wire form: a decimal string with two decimals, `"265.00"`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Splits `amount` in proportion to `weights` by largest remainder. Equal remainders go to the earlier part. No part
/// exceeds its weight as long as the amount does not exceed their sum.
pub fn distribute(amount: i64, weights: &[i64]) -> Vec<i64> {
    let whole: i128 = weights.iter().copied().map(i128::from).sum();
    if whole <= 0 {
        return vec![0; weights.len()];
    }
    let products: Vec<i128> = weights.iter().map(|weight| i128::from(amount) * i128::from(*weight)).collect();
    let mut parts: Vec<i64> =
        products.iter().map(|product| i64::try_from(product / whole).unwrap_or_default()).collect();
    let given: i64 = parts.iter().sum();
    let mut by_remainder: Vec<usize> = (0..products.len()).collect();
    by_remainder.sort_by_key(|index| products.get(*index).map_or(0, |product| -(product % whole)));
    let missing = usize::try_from(amount - given).unwrap_or_default();
    for index in by_remainder.into_iter().take(missing) {
        if let Some(part) = parts.get_mut(index) {
            *part += 1;
        }
    }
    parts
}

/// Error: the number cannot be ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The number is less than 1.
    #[error("must be a whole number of at least 1")]
    BelowOne,
    /// The number exceeds the maximum.
    #[error("must be at most 1000000000")]
    TooLarge,
}

const MAX_VALUE: u32 = 1_000_000_000;

/// Ordered quantity in units: 1 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(u32);

impl Quantity {
    /// One unit.
    pub const ONE: Self = Self(1);

    /// Accepts 1 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, QuantityError> {
        if value < 1 {
            return Err(QuantityError::BelowOne);
        }
        u32::try_from(value).ok().filter(|v| *v <= MAX_VALUE).map(Self).ok_or(QuantityError::TooLarge)
    }

    /// Returns the count.
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the sum; `None` beyond the maximum.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).filter(|sum| *sum <= MAX_VALUE).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_what_is_not_an_amount() {
        for (text, error) in [
            ("", MoneyError::NotANumber),
            ("12,50", MoneyError::NotANumber),
            ("-0.01", MoneyError::Negative),
            ("0.001", MoneyError::TooPrecise),
            ("10000000000.01", MoneyError::TooLarge),
            ("99999999999999999999999999999999999999", MoneyError::TooLarge),
        ] {
            assert_eq!(text.parse::<Money>(), Err(error), "{text:?}");
        }
        assert_eq!("-0".parse::<Money>(), Ok(Money::ZERO));
        assert_eq!("1.500".parse::<Money>().unwrap().minor(), 150);
    }

    proptest! {
        #[test]
        fn text_round_trips(minor in 0..=Money::MAX.minor()) {
            let amount = Money::from_minor(minor).unwrap();
            prop_assert_eq!(amount.to_string().parse::<Money>(), Ok(amount));
            prop_assert_eq!(Money::from_decimal(amount.to_decimal()), Ok(amount));
        }
    }

    #[test]
    fn an_amount_is_never_negative_and_nothing_is_zero() {
        assert_eq!(Money::from_minor(-1), Err(MoneyError::Negative));
        assert_eq!(Money::from_minor(0), Ok(Money::ZERO));
        assert!(Money::ZERO.is_zero());
        assert!(!Money(1).is_zero());
        assert_eq!(Money::from_decimal(Decimal::new(-1, 2)), Err(MoneyError::Negative));
        assert_eq!(Money(3).saturating_sub(Money(2)), Money(1));
        assert_eq!(Money(2).saturating_sub(Money(3)), Money::ZERO);
    }

    #[test]
    fn sums_and_products_are_exact_or_none() {
        assert_eq!(Money(2).checked_add(Money(3)), Some(Money(5)));
        assert_eq!(Money(i64::MAX).checked_add(Money(1)), None);
        assert_eq!(Money(250).checked_times(3), Some(Money(750)));
        assert_eq!(Money(i64::MAX).checked_times(2), None);
    }

    #[test]
    fn an_amount_may_have_zeros_at_both_ends_and_no_third_decimal() {
        assert_eq!("10000000000.00".parse(), Ok(Money::MAX));
        assert_eq!("0000000000000000000001.5".parse(), Ok(Money(150)));
        assert_eq!("+.5".parse(), Ok(Money(50)));
        assert_eq!("5.".parse(), Ok(Money(500)));
        let fifteen = "9".repeat(15);
        for (text, error) in [
            (".", MoneyError::NotANumber),
            ("-", MoneyError::NotANumber),
            ("+-1", MoneyError::NotANumber),
            ("1.a", MoneyError::NotANumber),
            ("a.1", MoneyError::NotANumber),
            ("1.2.3", MoneyError::NotANumber),
            ("1.0010", MoneyError::TooPrecise),
            (&fifteen, MoneyError::TooLarge),
            (&format!("1{fifteen}.001"), MoneyError::TooLarge),
            (&format!("{fifteen}.001"), MoneyError::TooPrecise),
        ] {
            assert_eq!(text.parse::<Money>(), Err(error), "{text}");
        }
        assert_eq!(Money::from_decimal(Decimal::new(1, 3)), Err(MoneyError::TooPrecise));
        assert_eq!(Money::from_decimal(Decimal::MAX), Err(MoneyError::TooLarge));
    }

    #[test]
    fn a_penny_goes_to_the_largest_remainder() {
        assert_eq!(distribute(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(distribute(10, &[5, 0, 5]), [5, 0, 5]);
        assert_eq!(distribute(7, &[0, 0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_never_exceed_their_weight(
            weights in prop::collection::vec(0..1_000_000_000_000i64, 1..40),
            fraction in 0.0..=1.0f64,
        ) {
            let whole: i64 = weights.iter().sum();
            #[expect(clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a random amount")]
            let amount = ((whole as f64 * fraction) as i64).min(whole);
            let parts = distribute(amount, &weights);
            prop_assert_eq!(parts.iter().sum::<i64>(), amount);
            prop_assert!(parts.iter().zip(&weights).all(|(part, weight)| (0..=*weight).contains(part)));
        }
    }

    #[test]
    fn bounds_hold() {
        assert_eq!(Quantity::new(0), Err(QuantityError::BelowOne));
        assert_eq!(Quantity::new(i64::MAX), Err(QuantityError::TooLarge));
    }

    #[test]
    fn a_thousand_million_pieces_are_the_most() {
        assert_eq!(Quantity::new(1_000_000_000).map(Quantity::get), Ok(1_000_000_000));
        assert_eq!(Quantity::new(1_000_000_001), Err(QuantityError::TooLarge));
        assert_eq!(Quantity::new(1), Ok(Quantity::ONE));
        let nearly = Quantity::new(999_999_999).unwrap();
        assert_eq!(nearly.checked_add(Quantity::ONE), Quantity::new(1_000_000_000).ok());
        assert_eq!(nearly.checked_add(nearly), None);
    }
}
