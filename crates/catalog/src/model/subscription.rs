/// Error: the number is not a billing period in months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", BillingPeriod::MAX_MONTHS)]
pub struct InvalidBillingPeriod;

/// Billing period of a subscription plan: 1 to 36 months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillingPeriod(u8);

impl BillingPeriod {
    /// Longest period, in months.
    pub const MAX_MONTHS: u8 = 36;

    /// Accepts 1 to 36 months.
    pub fn months(count: i64) -> Result<Self, InvalidBillingPeriod> {
        match u8::try_from(count) {
            Ok(count @ 1..=Self::MAX_MONTHS) => Ok(Self(count)),
            _ => Err(InvalidBillingPeriod),
        }
    }

    /// Returns the months.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Checks the billing period of an item: a plan has one, and no other item has one.
    pub fn of_card(is_subscription: bool, months: Option<Self>) -> Result<Option<Self>, BillingRefusal> {
        match (is_subscription, months) {
            (true, None) => Err(BillingRefusal::PeriodRequired),
            (false, Some(_)) => Err(BillingRefusal::PeriodForbidden),
            (_, months) => Ok(months),
        }
    }
}

/// Reason why a billing period does not fit the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BillingRefusal {
    /// A subscription plan needs a billing period.
    #[error("is required for a subscription plan")]
    PeriodRequired,
    /// Only a subscription plan has a billing period.
    #[error("is allowed for a subscription plan only")]
    PeriodForbidden,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_one_month_to_three_years() {
        for (count, fits) in [(i64::MIN, false), (0, false), (1, true), (36, true), (37, false), (257, false)] {
            assert_eq!(BillingPeriod::months(count).is_ok(), fits, "{count}");
        }
    }
}
