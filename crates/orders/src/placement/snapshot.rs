//! What is known at one moment about the items of a cart, and the cart priced by it.

use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, InventoryId, Money, NomenclatureId, Phone, Quantity, WarehouseId};

use crate::model::{Cart, CartRefused, Discount, LineProblem, LineRefused, Promo, References};
use crate::pricing::{PriceLine, Pricing, price};

/// The stock of an item in one warehouse of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarehouseStock {
    /// The stock.
    pub inventory: InventoryId,
    /// The warehouse.
    pub warehouse: WarehouseId,
    /// What one piece costs there. What has no price is not sold, so it is no place of an item.
    pub price: Money,
    /// How many pieces nobody has reserved.
    pub available: u32,
}

/// How an item is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// Without a warehouse, at the price of its card.
    Service {
        /// The price of the card.
        price: Money,
    },
    /// From the stock of the application's warehouses.
    Goods {
        /// Where it lies.
        places: Vec<WarehouseStock>,
    },
}

/// How an item is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packaging {
    /// Whether it is sold wholesale.
    pub wholesale: bool,
    /// How many pieces are in a pack, at least 1.
    pub pieces_per_pack: u32,
}

impl Packaging {
    /// How many packs hold so many pieces.
    pub fn packs(self, quantity: Quantity) -> u32 {
        quantity.get().div_ceil(self.pieces_per_pack.max(1))
    }
}

/// An item that the application sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedItem {
    /// The item.
    pub id: NomenclatureId,
    /// Its name.
    pub name: String,
    /// Its category and those above.
    pub categories: Vec<CategoryId>,
    /// How it is sold.
    pub kind: ItemKind,
    /// How it is packed.
    pub packaging: Packaging,
}

/// What is known at one moment. Items that the application does not sell are missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CartSnapshot {
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// The items of the cart that are sold here.
    pub items: Vec<OfferedItem>,
    /// Discounts without a code.
    pub automatic: Vec<Discount>,
    /// What is known of the promo code, when one was asked for.
    pub promo: Option<Promo>,
    /// What the project has under the ids of the delivery, when one was asked for.
    pub references: References,
    /// The phone of the customer's profile.
    pub phone: Option<Phone>,
}

/// A line with the stock it is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenLine<'a> {
    pub item: &'a OfferedItem,
    pub inventory: Option<InventoryId>,
    pub quantity: Quantity,
    pub unit_price: Money,
}

impl CartSnapshot {
    /// Takes each line from the cheapest warehouse that has enough of it; at equal prices from the oldest warehouse.
    pub(super) fn choose(&self, cart: &Cart) -> Result<Vec<ChosenLine<'_>>, CartRefused> {
        let mut chosen = Vec::with_capacity(cart.lines().len());
        let mut refused = Vec::new();
        for (line, wanted) in cart.lines().iter().enumerate() {
            let item = self.items.iter().find(|item| item.id == wanted.item).ok_or(LineProblem::Unknown);
            match item.and_then(|item| Self::place(item, wanted.quantity)) {
                Ok(taken) => chosen.push(taken),
                Err(problem) => refused.push(LineRefused { line, problem }),
            }
        }
        if refused.is_empty() { Ok(chosen) } else { Err(CartRefused::Lines(refused)) }
    }

    fn place(item: &OfferedItem, quantity: Quantity) -> Result<ChosenLine<'_>, LineProblem> {
        match &item.kind {
            ItemKind::Service { price } => Ok(ChosenLine { item, inventory: None, quantity, unit_price: *price }),
            ItemKind::Goods { places } => {
                let enough = places.iter().filter(|place| place.available >= quantity.get());
                let best = enough.min_by_key(|place| (place.price, place.warehouse));
                let available = places.iter().map(|place| place.available).max();
                match (best, available) {
                    (Some(place), _) => {
                        Ok(ChosenLine { item, inventory: Some(place.inventory), quantity, unit_price: place.price })
                    }
                    (None, Some(available)) => Err(LineProblem::NotEnough { available }),
                    (None, None) => Err(LineProblem::Unknown),
                }
            }
        }
    }

    pub(super) fn price(&self, chosen: &[ChosenLine<'_>], at: DateTime<Utc>) -> Result<Pricing, CartRefused> {
        let line = |line: &ChosenLine<'_>| PriceLine {
            item: line.item.id,
            categories: line.item.categories.clone(),
            quantity: line.quantity,
            unit_price: line.unit_price,
        };
        let lines: Vec<_> = chosen.iter().map(line).collect();
        price(&lines, &self.automatic, self.promo.as_ref(), at)
    }

    /// What the cart costs at `at`.
    pub fn view(&self, cart: &Cart, at: DateTime<Utc>) -> Result<CartView, CartRefused> {
        let chosen = self.choose(cart)?;
        let pricing = self.price(&chosen, at)?;
        let line = |line: &ChosenLine<'_>| CartViewLine {
            item: line.item.id,
            unit_price: line.unit_price,
            quantity: line.quantity,
            packaging: line.item.packaging,
        };
        Ok(CartView { lines: chosen.iter().map(line).collect(), pricing })
    }
}

/// A priced line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartViewLine {
    /// The item.
    pub item: NomenclatureId,
    /// What one piece costs before discounts.
    pub unit_price: Money,
    /// How many pieces.
    pub quantity: Quantity,
    /// How it is packed.
    pub packaging: Packaging,
}

/// A priced cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartView {
    /// The lines, in the order of the cart.
    pub lines: Vec<CartViewLine>,
    /// What it costs.
    pub pricing: Pricing,
}

impl CartView {
    /// How many packs the whole cart makes up.
    pub fn packs(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.packaging.packs(line.quantity))).sum()
    }
}
