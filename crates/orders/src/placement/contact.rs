//! Bounds of orders from the contact form.
//!
//! The form needs no login, so any visitor can reserve stock with it. Until an employee confirms them, these
//! orders reserve limited stock for a limited time.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{HoldHours, InventoryId, Money, Quantity};

/// Terms of a project for unconfirmed orders from the contact form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactTerms {
    /// Maximum units of stock that the unconfirmed orders of one phone reserve together.
    pub max_pieces: u32,
    /// Maximum price of the unconfirmed orders of one phone together.
    pub max_value: Money,
    /// Hours until an unconfirmed order is canceled.
    pub hold_hours: HoldHours,
}

impl Default for ContactTerms {
    /// 100 units, 100,000.00 and 72 hours. The migration writes the same values.
    fn default() -> Self {
        Self {
            max_pieces: 100,
            max_value: Money::from_minor(10_000_000).unwrap_or(Money::ZERO),
            hold_hours: HoldHours::DEFAULT,
        }
    }
}

/// Stock and price of unconfirmed orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unconfirmed {
    /// Reserved units. Services reserve none.
    pub pieces: u64,
    /// Price of the orders.
    pub value: Money,
}

impl Unconfirmed {
    /// Computes stock and price of an order from its lines, each with its stock level.
    pub fn of(lines: impl Iterator<Item = (Option<InventoryId>, Quantity)>, price: Money) -> Self {
        let stocked = lines.filter(|(inventory, _)| inventory.is_some());
        Self { pieces: stocked.map(|(_, quantity)| u64::from(quantity.get())).sum(), value: price }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            pieces: self.pieces.saturating_add(other.pieces),
            value: self.value.checked_add(other.value).unwrap_or(Money::MAX),
        }
    }
}

/// Bound that an order from the contact form exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ContactProblem {
    /// Too many units.
    #[error("unconfirmed orders of one phone may reserve at most {max} pieces: order fewer, or sign in")]
    Pieces {
        /// The bound.
        max: u32,
    },
    /// Price too high.
    #[error("unconfirmed orders of one phone may cost at most {max}: order less, or sign in")]
    Value {
        /// The bound.
        max: Money,
    },
}

impl ContactTerms {
    /// Refuses if the unconfirmed orders of one phone together exceed a bound.
    pub fn admit(&self, orders: Unconfirmed) -> Result<(), ContactProblem> {
        if orders.pieces > u64::from(self.max_pieces) {
            return Err(ContactProblem::Pieces { max: self.max_pieces });
        }
        if orders.value > self.max_value {
            return Err(ContactProblem::Value { max: self.max_value });
        }
        Ok(())
    }

    /// Returns the time at which an unconfirmed order placed at `at` is canceled.
    pub fn reserved_until(&self, at: DateTime<Utc>) -> DateTime<Utc> {
        at + TimeDelta::hours(self.hold_hours.get().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(minor: i64) -> Money {
        Money::from_minor(minor).unwrap()
    }

    #[test]
    fn both_bounds_count_and_may_be_reached() {
        let terms = ContactTerms { max_pieces: 10, max_value: money(500), hold_hours: HoldHours::new(1).unwrap() };
        let admit = |pieces, value| terms.admit(Unconfirmed { pieces, value: money(value) });
        assert_eq!(admit(10, 500), Ok(()));
        assert_eq!(admit(11, 500), Err(ContactProblem::Pieces { max: 10 }));
        assert_eq!(admit(10, 501), Err(ContactProblem::Value { max: money(500) }));
        let both = Unconfirmed { pieces: 6, value: money(300) }.plus(Unconfirmed { pieces: 5, value: money(1) });
        assert_eq!(both, Unconfirmed { pieces: 11, value: money(301) });
        let nothing = ContactTerms { max_pieces: 0, ..terms };
        assert_eq!(nothing.admit(Unconfirmed { pieces: 0, value: money(500) }), Ok(()), "services reserve no pieces");
    }

    #[test]
    fn an_order_is_held_for_the_hours_of_its_project() {
        let terms = ContactTerms { hold_hours: HoldHours::new(8_760).unwrap(), ..ContactTerms::default() };
        assert_eq!(terms.reserved_until(DateTime::UNIX_EPOCH).to_string(), "1971-01-01 00:00:00 UTC");
    }

    #[test]
    fn the_terms_of_a_project_are_safe_unless_they_are_set() {
        let ContactTerms { max_pieces, max_value, hold_hours } = ContactTerms::default();
        assert_eq!((max_pieces, max_value.to_string().as_str(), hold_hours.get()), (100, "100000.00", 72));
    }
}
