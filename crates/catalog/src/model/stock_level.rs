/// Error: the number cannot be stocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StockLevelError {
    /// The number is negative.
    #[error("must be a whole number of at least 0")]
    Negative,
    /// The number exceeds the maximum.
    #[error("must be at most 1000000000")]
    TooLarge,
}

/// Stock level in units: 0 to 1,000,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StockLevel(u32);

impl StockLevel {
    /// Empty stock.
    pub const EMPTY: Self = Self(0);

    /// Accepts 0 to 1,000,000,000.
    pub fn new(value: i64) -> Result<Self, StockLevelError> {
        if value < 0 {
            return Err(StockLevelError::Negative);
        }
        u32::try_from(value).ok().filter(|v| *v <= 1_000_000_000).map(Self).ok_or(StockLevelError::TooLarge)
    }

    /// Returns the count.
    pub fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_million_pieces_are_the_most() {
        assert_eq!(StockLevel::new(-1), Err(StockLevelError::Negative));
        assert_eq!(StockLevel::new(0), Ok(StockLevel::EMPTY));
        assert_eq!(StockLevel::new(1_000_000_000).map(StockLevel::get), Ok(1_000_000_000));
        assert_eq!(StockLevel::new(1_000_000_001), Err(StockLevelError::TooLarge));
    }
}
