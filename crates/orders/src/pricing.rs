//! Cart pricing: a pure computation, exact to the minor unit.
//!
//! 1. The original price of a line is unit price times quantity.
//! 2. The product discount of a line is its best single automatic discount.
//! 3. A promo code reduces the remaining price of the lines it covers. A fixed code on a product or a category
//!    counts per unit, as a fixed discount without a code does. Any other amount is computed once and
//!    distributed over the lines by largest remainder.
//!
//! The totals are the sums of the lines, and no line has a negative price.

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, Money, NomenclatureId, Quantity, distribute};

use crate::model::{
    CartRefused, Discount, DiscountTarget, DiscountValue, LineProblem, LineRefused, Promo, PromoProblem,
};

/// Line to price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceLine {
    /// Item.
    pub item: NomenclatureId,
    /// Category of the item, and those above it.
    pub categories: Vec<CategoryId>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
}

/// Price of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePrice {
    /// Unit price times quantity.
    pub original: Money,
    /// Best automatic discount.
    pub product_discount: Money,
    /// Share of the promo code discount.
    pub promo_discount: Money,
}

impl LinePrice {
    /// Amount to pay for the line.
    pub fn total(&self) -> Money {
        self.original.saturating_sub(self.product_discount).saturating_sub(self.promo_discount)
    }
}

/// Prices of a cart. Every total is the sum of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pricing {
    /// Lines, in the order of the cart.
    pub lines: Vec<LinePrice>,
    /// Promo code that was applied.
    pub applied: Option<Discount>,
    /// Reason why the given promo code was not applied.
    pub promo_problem: Option<PromoProblem>,
}

impl Pricing {
    /// Price before any discount.
    pub fn original_price(&self) -> Money {
        self.sum(|line| line.original)
    }

    /// Automatic discounts.
    pub fn product_discount(&self) -> Money {
        self.sum(|line| line.product_discount)
    }

    /// Promo code discount.
    pub fn promo_discount(&self) -> Money {
        self.sum(|line| line.promo_discount)
    }

    /// Sum of both discounts.
    pub fn total_discount(&self) -> Money {
        self.sum(|line| line.original.saturating_sub(line.total()))
    }

    /// Amount to pay.
    pub fn final_price(&self) -> Money {
        self.sum(LinePrice::total)
    }

    fn sum(&self, part: impl Fn(&LinePrice) -> Money) -> Money {
        amount(self.lines.iter().map(|line| part(line).minor()).sum())
    }
}

/// Prices a cart at a point in time. `automatic` are the discounts without a code; only those valid at that time
/// apply.
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

/// Checks that no line and no total exceeds [`Money::MAX`], so that no later sum can overflow.
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

/// Fixed discount per unit, at most the price of the line.
fn per_piece(value: Money, pieces: Quantity, most: Money) -> Money {
    value.checked_times(pieces.get()).map_or(most, |whole| whole.min(most))
}

/// Applies a promo code to the remaining price of the lines it covers.
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

/// Converts a part or sum of amounts, which is never negative.
fn amount(minor: i64) -> Money {
    Money::from_minor(minor.max(0)).unwrap_or_default()
}

/// Percentage in basis points, rounded half up; at most the amount itself.
fn percent(amount: i64, points: u16) -> i64 {
    let points = i128::from(points.min(10_000));
    let rounded = (i128::from(amount) * points + 5_000) / 10_000;
    i64::try_from(rounded).unwrap_or(amount).min(amount)
}
