//! Time for which unconfirmed orders reserve stock.

use std::fmt;

/// Error: the number of hours is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", HoldHours::MAX)]
pub struct InvalidHoldHours;

/// Hours, from 1 to 8,760 (a year).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldHours(u16);

impl HoldHours {
    /// Maximum number of hours.
    pub const MAX: u16 = 8_760;

    /// Three days.
    pub const DEFAULT: Self = Self(72);

    /// Checks a number of hours.
    pub fn new(hours: i64) -> Result<Self, InvalidHoldHours> {
        u16::try_from(hours).ok().filter(|hours| (1..=Self::MAX).contains(hours)).map(Self).ok_or(InvalidHoldHours)
    }

    /// Returns the number of hours.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for HoldHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_have_a_range() {
        assert_eq!([1, 72, 8_760].map(|hours| HoldHours::new(hours).unwrap().get()), [1, 72, 8_760]);
        for wrong in [0, -1, 8_761, 70_000] {
            let refused = HoldHours::new(wrong).unwrap_err().to_string();
            assert_eq!(refused, "must be a whole number from 1 to 8760", "{wrong}");
        }
    }
}
