//! The cart.

use std::collections::BTreeSet;

use kontor_kernel::{NomenclatureId, Quantity, Violations};

/// One line of a cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartLine {
    /// Item.
    pub item: NomenclatureId,
    /// Number of units.
    pub quantity: Quantity,
}

/// Cart: 1 to [`Cart::MAX_LINES`] lines of different items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cart(Vec<CartLine>);

impl Cart {
    /// Maximum lines of a cart.
    pub const MAX_LINES: usize = 500;

    /// Creates a cart. Refuses an empty cart, too many lines, and repeated items.
    pub fn new(lines: Vec<CartLine>) -> Result<Self, CartRefused> {
        if lines.is_empty() {
            return Err(CartRefused::Empty);
        }
        if lines.len() > Self::MAX_LINES {
            return Err(CartRefused::TooManyLines);
        }
        let mut seen = BTreeSet::new();
        let repeated = lines.iter().enumerate().filter(|(_, line)| !seen.insert(line.item));
        let repeated: Vec<_> = repeated.map(|(line, _)| LineRefused { line, problem: LineProblem::Repeated }).collect();
        if repeated.is_empty() { Ok(Self(lines)) } else { Err(CartRefused::Lines(repeated)) }
    }

    /// Lines in the customer's order.
    pub fn lines(&self) -> &[CartLine] {
        &self.0
    }

    /// Items of the lines.
    pub fn items(&self) -> Vec<NomenclatureId> {
        self.0.iter().map(|line| line.item).collect()
    }
}

/// Reasons why a cart cannot be sold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CartRefused {
    /// The cart is empty.
    #[error("the cart is empty")]
    Empty,
    /// The cart has more than [`Cart::MAX_LINES`] lines.
    #[error("a cart has at most {} lines", Cart::MAX_LINES)]
    TooManyLines,
    /// The total exceeds the maximum amount.
    #[error("the total of the cart is too large")]
    TooExpensive,
    /// These lines cannot be sold as requested.
    #[error("{} lines of the cart cannot be sold", .0.len())]
    Lines(Vec<LineRefused>),
}

/// A line that cannot be sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRefused {
    /// Index in the cart, counted from 0.
    pub line: usize,
    /// Reason.
    pub problem: LineProblem,
}

/// Reasons why a line cannot be sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The item is unknown or not sold in this application.
    #[error("there is no such product")]
    Unknown,
    /// The item is in an earlier line.
    #[error("the product is in the cart twice")]
    Repeated,
    /// The warehouses of the application have fewer units.
    #[error("only {available} pieces are available")]
    NotEnough {
        /// Units available in all of them.
        available: u32,
    },
    /// Price times quantity exceeds the maximum amount.
    #[error("the total of the line is too large")]
    TooExpensive,
}

impl LineProblem {
    fn field(self) -> &'static str {
        match self {
            Self::Unknown | Self::Repeated => "id",
            Self::NotEnough { .. } | Self::TooExpensive => "quantity",
        }
    }
}

impl CartRefused {
    /// Violations by request field, such as `products.0.quantity`.
    pub fn violations(&self) -> Violations {
        let mut all = Violations::default();
        match self {
            Self::Empty | Self::TooManyLines | Self::TooExpensive => all.add("products", self),
            Self::Lines(lines) => {
                for LineRefused { line, problem } in lines {
                    all.add(format!("products.{line}.{}", problem.field()), problem);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(item: i64) -> CartLine {
        CartLine { item: NomenclatureId::new(item).unwrap(), quantity: Quantity::new(1).unwrap() }
    }

    #[test]
    fn carts_are_bounded_and_name_repeated_lines() {
        assert_eq!(Cart::new(vec![]), Err(CartRefused::Empty));
        assert_eq!(Cart::new((1..=501).map(line).collect()), Err(CartRefused::TooManyLines));
        let refused = Cart::new(vec![line(4), line(5), line(4)]).unwrap_err();
        assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.2.id"]);
    }

    #[test]
    fn every_problem_of_a_cart_names_its_field() {
        let largest = Cart::new((1..=500).map(line).collect()).unwrap();
        assert_eq!((largest.lines().len(), largest.items().len(), largest.items()[499].get()), (500, 500, 500));
        let problems = [
            LineProblem::Unknown,
            LineProblem::Repeated,
            LineProblem::NotEnough { available: 3 },
            LineProblem::TooExpensive,
        ];
        let refused = problems.into_iter().enumerate().map(|(line, problem)| LineRefused { line, problem });
        let reported = CartRefused::Lines(refused.collect()).violations();
        let fields: Vec<_> = reported.fields().keys().cloned().collect();
        assert_eq!(fields, ["products.0.id", "products.1.id", "products.2.quantity", "products.3.quantity"]);
        for whole in [CartRefused::Empty, CartRefused::TooManyLines, CartRefused::TooExpensive] {
            assert_eq!(whole.violations().fields()["products"], [whole.to_string()]);
        }
    }
}
