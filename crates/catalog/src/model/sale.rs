//! Prices of items: one rule for all writers of items and stock levels.
//!
//! Items without a price are not sold. A price of 0 is valid only if it was entered explicitly.

use kontor_kernel::Money;

use super::NomenclatureKind;

/// Error: services and subscription plans are sold at their own price, so they need one. The price of goods is that of
/// the warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is required for a service and for a subscription plan")]
pub struct MissingPrice;

impl MissingPrice {
    /// Returns `true` if such an item needs its own price.
    pub fn of(kind: NomenclatureKind, is_subscription: bool) -> bool {
        is_subscription || kind == NomenclatureKind::Service
    }
}

/// Returns the price of a new stock level: the given one, otherwise that of the item. An item price of 0 is not used: a
/// price of 0 for goods must be entered at the stock level.
pub fn price_of_new_stock(written: Option<Money>, card: Option<Money>) -> Option<Money> {
    written.or(card.filter(|price| *price > Money::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_stock_costs_nothing_only_where_that_is_written() {
        let (nothing, one) = (Some(Money::ZERO), Some(Money::from_minor(100).unwrap()));
        for (written, card, price) in [
            (nothing, one, nothing),
            (nothing, None, nothing),
            (one, nothing, one),
            (None, one, one),
            (None, nothing, None),
            (None, None, None),
        ] {
            assert_eq!(price_of_new_stock(written, card), price, "{written:?} {card:?}");
        }
    }
}
