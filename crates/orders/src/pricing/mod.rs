//! What a cart costs: a pure computation, exact to the minor unit.
//!
//! 1. Every line has its original price, unit price times quantity.
//! 2. The best single automatic discount of a line is its product discount.
//! 3. A promo code takes its amount off what is left of the lines it covers. A fixed one on a product or a category counts
//!    per piece, as it does without a code; any other amount is computed once and spread over the lines by largest
//!    remainder.
//!
//! The totals are the sums of the lines, and a line never costs less than nothing.

mod share;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, Money, NomenclatureId, Quantity, distribute};

use crate::model::{
    CartRefused, Discount, DiscountTarget, DiscountValue, LineProblem, LineRefused, Promo, PromoProblem,
};
use share::percent;

/// A line to be priced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceLine {
    /// The item.
    pub item: NomenclatureId,
    /// Its category and those above.
    pub categories: Vec<CategoryId>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs.
    pub unit_price: Money,
}

/// What a line costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePrice {
    /// Unit price times quantity.
    pub original: Money,
    /// What the best automatic discount takes off.
    pub product_discount: Money,
    /// The line's share of the promo code.
    pub promo_discount: Money,
}

impl LinePrice {
    /// What is left to pay for the line.
    pub fn total(&self) -> Money {
        self.original.saturating_sub(self.product_discount).saturating_sub(self.promo_discount)
    }
}

/// What a cart costs. Every total is the sum of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pricing {
    /// The lines, in the order of the cart.
    pub lines: Vec<LinePrice>,
    /// The promo code that took something off.
    pub applied: Option<Discount>,
    /// Why the given promo code took nothing off.
    pub promo_problem: Option<PromoProblem>,
}

impl Pricing {
    /// Before any discount.
    pub fn original_price(&self) -> Money {
        self.sum(|line| line.original)
    }

    /// What automatic discounts take off.
    pub fn product_discount(&self) -> Money {
        self.sum(|line| line.product_discount)
    }

    /// What the promo code takes off.
    pub fn promo_discount(&self) -> Money {
        self.sum(|line| line.promo_discount)
    }

    /// Both discounts.
    pub fn total_discount(&self) -> Money {
        self.sum(|line| line.original.saturating_sub(line.total()))
    }

    /// What is to be paid.
    pub fn final_price(&self) -> Money {
        self.sum(LinePrice::total)
    }

    fn sum(&self, part: impl Fn(&LinePrice) -> Money) -> Money {
        amount(self.lines.iter().map(|line| part(line).minor()).sum())
    }
}

/// Prices a cart at a moment: `automatic` are the discounts without a code, of which only those in force count.
pub fn price(
    lines: &[PriceLine],
    automatic: &[Discount],
    promo: Option<&Promo>,
    at: DateTime<Utc>,
) -> Result<Pricing, CartRefused> {
    let originals = originals(lines)?;
    let whole = amount(originals.iter().map(|original| original.minor()).sum());
    let current: Vec<_> =
        automatic.iter().filter(|discount| discount.is_current(at) && whole >= discount.minimum_sum).collect();
    let best = best_automatic(lines, &originals, &current);
    let priced = originals.iter().zip(best);
    let mut pricing = Pricing {
        lines: priced
            .map(|(original, product_discount)| LinePrice {
                original: *original,
                product_discount,
                promo_discount: Money::ZERO,
            })
            .collect(),
        applied: None,
        promo_problem: None,
    };
    if let Some(promo) = promo {
        match promo.usable(whole, at).and_then(|discount| apply_promo(&mut pricing.lines, lines, discount)) {
            Ok(discount) => pricing.applied = Some(discount.clone()),
            Err(problem) => pricing.promo_problem = Some(problem),
        }
    }
    Ok(pricing)
}

/// Neither a line nor the whole may be worth more than [`Money::MAX`], so that no later sum can overflow.
fn originals(lines: &[PriceLine]) -> Result<Vec<Money>, CartRefused> {
    let price = |line: &PriceLine| line.unit_price.checked_times(line.quantity.get()).filter(|sum| *sum <= Money::MAX);
    let prices: Vec<_> = lines.iter().map(price).collect();
    let refused: Vec<_> = prices
        .iter()
        .enumerate()
        .filter(|(_, price)| price.is_none())
        .map(|(line, _)| LineRefused { line, problem: LineProblem::TooExpensive })
        .collect();
    if !refused.is_empty() {
        return Err(CartRefused::Lines(refused));
    }
    let prices: Vec<_> = prices.into_iter().flatten().collect();
    let whole = prices.iter().try_fold(Money::ZERO, |sum, price| sum.checked_add(*price));
    whole.filter(|sum| *sum <= Money::MAX).map(|_| prices).ok_or(CartRefused::TooExpensive)
}

fn best_automatic(lines: &[PriceLine], originals: &[Money], discounts: &[&Discount]) -> Vec<Money> {
    let mut best = vec![Money::ZERO; lines.len()];
    let weights: Vec<_> = originals.iter().map(|original| original.minor()).collect();
    for discount in discounts {
        let offers: Vec<Money> = match (discount.target, discount.value) {
            (DiscountTarget::Cart, DiscountValue::Fixed(value)) => {
                let whole = weights.iter().sum();
                distribute(value.minor().min(whole), &weights).into_iter().map(amount).collect()
            }
            _ => lines.iter().zip(originals).map(|(line, original)| offer(line, *original, discount)).collect(),
        };
        for (best, offer) in best.iter_mut().zip(offers) {
            *best = (*best).max(offer);
        }
    }
    best
}

fn offer(line: &PriceLine, original: Money, discount: &Discount) -> Money {
    if !discount.covers(line.item, &line.categories) {
        return Money::ZERO;
    }
    match discount.value {
        DiscountValue::Percent(points) => amount(percent(original.minor(), points)),
        DiscountValue::Fixed(value) => per_piece(value, line.quantity, original),
    }
}

/// So much off every piece, but no more than the line costs.
fn per_piece(value: Money, pieces: Quantity, most: Money) -> Money {
    value.checked_times(pieces.get()).map_or(most, |whole| whole.min(most))
}

/// Takes a promo code off what is left of the lines it covers.
fn apply_promo<'a>(
    prices: &mut [LinePrice],
    lines: &[PriceLine],
    discount: &'a Discount,
) -> Result<&'a Discount, PromoProblem> {
    let left = |(price, line): (&LinePrice, &PriceLine)| {
        if discount.covers(line.item, &line.categories) { price.total().minor() } else { 0 }
    };
    let weights: Vec<i64> = prices.iter().zip(lines).map(left).collect();
    let base: i64 = weights.iter().sum();
    let shares = match (discount.target, discount.value) {
        (_, DiscountValue::Percent(points)) => distribute(percent(base, points), &weights),
        (DiscountTarget::Cart, DiscountValue::Fixed(value)) => distribute(value.minor().min(base), &weights),
        (DiscountTarget::Category(_) | DiscountTarget::Product(_), DiscountValue::Fixed(value)) => {
            let off = |(line, left): (&PriceLine, &i64)| per_piece(value, line.quantity, amount(*left)).minor();
            lines.iter().zip(&weights).map(off).collect()
        }
    };
    if shares.iter().all(|share| *share == 0) {
        return Err(PromoProblem::NotApplicable);
    }
    for (price, share) in prices.iter_mut().zip(shares) {
        price.promo_discount = amount(share);
    }
    Ok(discount)
}

/// Parts and sums of amounts are amounts: never negative.
fn amount(minor: i64) -> Money {
    Money::from_minor(minor.max(0)).unwrap_or_default()
}
