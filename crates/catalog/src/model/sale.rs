//! What is sold, and at which price: one rule for whoever writes cards and stock.
//!
//! What has no price is not sold. A price of 0 counts only when somebody wrote it.

use kontor_kernel::Money;

use super::NomenclatureKind;

/// Services and subscription plans are sold at the price of their card, so they need one. Goods take theirs from the
/// warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is required for a service and for a subscription plan")]
pub struct PriceRequired;

impl PriceRequired {
    /// Whether an item like that needs a price of its own.
    pub fn of(kind: NomenclatureKind, is_subscription: bool) -> bool {
        is_subscription || kind == NomenclatureKind::Service
    }
}

/// The price of new stock: the one that is written for it, else that of the card. A card price of 0 is not taken over:
/// that goods cost nothing must be written where they are sold.
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
