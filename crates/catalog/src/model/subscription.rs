/// Not a count of months a plan can be charged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", BillingPeriod::LONGEST)]
pub struct InvalidBillingPeriod;

/// Months between two charges of a subscription plan, 1 to 36.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillingPeriod(u8);

impl BillingPeriod {
    /// The longest period, in months.
    pub const LONGEST: u8 = 36;

    /// Accepts 1 to 36 months.
    pub fn months(count: i64) -> Result<Self, InvalidBillingPeriod> {
        match u8::try_from(count) {
            Ok(count @ 1..=Self::LONGEST) => Ok(Self(count)),
            _ => Err(InvalidBillingPeriod),
        }
    }

    /// The months.
    pub fn get(self) -> u8 {
        self.0
    }

    /// The terms of a card: a plan has a period, and nothing else has one.
    pub fn of_card(is_subscription: bool, months: Option<Self>) -> Result<Option<Self>, BillingRefusal> {
        match (is_subscription, months) {
            (true, None) => Err(BillingRefusal::PeriodRequired),
            (false, Some(_)) => Err(BillingRefusal::PeriodForbidden),
            (_, months) => Ok(months),
        }
    }
}

/// Why a billing period and the kind of card do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BillingRefusal {
    /// A plan is charged regularly.
    #[error("is required for a subscription plan")]
    PeriodRequired,
    /// Anything else is charged once.
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
