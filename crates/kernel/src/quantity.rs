//! Ordered quantities.

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
    use super::*;

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
