//! Data read together about the items of a cart, the cart priced from it, and the allocation of units to warehouses.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    CategoryId, DeliverySubtypeId, Email, InventoryId, Money, NomenclatureId, Phone, Quantity, Violations, WarehouseId,
};
use kontor_payments::model::{ReceiptTerms, VatCode};

use super::contact::ContactTerms;
use crate::model::{
    Cart, CartLine, CartRefused, DeliveryCharge, Discount, LineProblem, LineRefused, Promo, References,
};
use crate::pricing::{PriceLine, Pricing, price};

/// Stock of an item in one warehouse of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarehouseStock {
    /// Stock level.
    pub inventory: InventoryId,
    /// Warehouse.
    pub warehouse: WarehouseId,
    /// Price per unit. A stock level without a price is not offered, so it is left out.
    pub price: Money,
    /// Units that are not reserved.
    pub available: u32,
}

/// Way in which an item is sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// Service: without a warehouse, at the price of the item.
    Service {
        /// Price of the item.
        price: Money,
    },
    /// Goods: from the stock of the application's warehouses.
    Goods {
        /// Stock by warehouse.
        places: Vec<WarehouseStock>,
    },
}

/// Packaging of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packaging {
    /// `true` if it is sold wholesale.
    pub wholesale: bool,
    /// Units in a pack, at least 1.
    pub pieces_per_pack: u32,
}

impl Packaging {
    /// Returns the number of packs for a quantity, rounded up.
    pub fn packs(self, quantity: Quantity) -> u32 {
        quantity.get().div_ceil(self.pieces_per_pack.max(1))
    }
}

/// Item that the application sells. Goods without places are not sold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedItem {
    /// Item.
    pub id: NomenclatureId,
    /// Name.
    pub name: String,
    /// Category of the item, and those above it.
    pub categories: Vec<CategoryId>,
    /// Service or goods.
    pub kind: ItemKind,
    /// Packaging.
    pub packaging: Packaging,
    /// VAT; `None` if the item has none set.
    pub vat: Option<VatCode>,
    /// `true` if each unit is a ticket.
    pub is_ticket: bool,
}

/// Records named by staff that the project does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missing {
    /// `true` if the application is missing.
    pub application: bool,
    /// `true` if the customer is missing.
    pub customer: bool,
}

impl Missing {
    /// Returns the violations by request field.
    pub(super) fn violations(self) -> Violations {
        let mut all = Violations::default();
        if self.application {
            all.add("application_id", "there is no such application");
        }
        if self.customer {
            all.add("counterparty_id", "there is no such customer");
        }
        all
    }
}

/// Data read together that an order or a cart is decided from. Items that the application does not sell are
/// missing or have no places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CartSnapshot {
    /// Currency, three letters, such as `RUB`.
    pub currency: String,
    /// Items of the cart.
    pub items: Vec<OfferedItem>,
    /// Discounts without a code.
    pub automatic: Vec<Discount>,
    /// Data about the promo code, if the query has one.
    pub promo: Option<Promo>,
    /// Records under the ids of the delivery, if the query has one.
    pub references: References,
    /// `true` if the project charges delivery.
    pub charges_delivery: bool,
    /// Records named by staff that the project does not have.
    pub missing: Missing,
    /// Phone of the customer's profile.
    pub phone: Option<Phone>,
    /// E-mail address of the customer's profile.
    pub email: Option<Email>,
    /// Receipt settings of the project; `None` if it has no fiscal receipts.
    pub receipts: Option<ReceiptTerms>,
    /// Bounds of orders from the contact form.
    pub contact: ContactTerms,
}

/// Units of a cart line from one stock level. A cart line from several stock levels becomes several of these, in
/// sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenLine<'a> {
    /// Index of the line in the cart, counted from 0.
    pub position: usize,
    pub item: &'a OfferedItem,
    pub inventory: Option<InventoryId>,
    pub quantity: Quantity,
    pub unit_price: Money,
}

/// Prices and allocation of a cart. Previewed, ordered and changed carts are all priced from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote<'a> {
    pub lines: Vec<ChosenLine<'a>>,
    pub pricing: Pricing,
}

impl CartSnapshot {
    /// Allocates the lines of a cart and prices them at `at`.
    pub(super) fn quote(
        &self,
        cart: &Cart,
        allocation: &dyn Allocation,
        at: DateTime<Utc>,
    ) -> Result<Quote<'_>, CartRefused> {
        let lines = self.choose(cart, allocation)?;
        let priced = |chosen: &ChosenLine<'_>| PriceLine {
            item: chosen.item.id,
            categories: chosen.item.categories.clone(),
            quantity: chosen.quantity,
            unit_price: chosen.unit_price,
        };
        let pricing = price(&lines.iter().map(priced).collect::<Vec<_>>(), &self.automatic, self.promo.as_ref(), at)
            .map_err(|refused| of_cart(refused, &lines))?;
        Ok(Quote { lines, pricing })
    }

    fn choose(&self, cart: &Cart, allocation: &dyn Allocation) -> Result<Vec<ChosenLine<'_>>, CartRefused> {
        let mut chosen = Vec::with_capacity(cart.lines().len());
        let mut refused = Vec::new();
        for (line, wanted) in cart.lines().iter().enumerate() {
            let item = self.items.iter().find(|item| item.id == wanted.item).ok_or(LineProblem::Unknown);
            match item.and_then(|item| item.allocate(line, *wanted, allocation)) {
                Ok(taken) => chosen.extend(taken),
                Err(problem) => refused.push(LineRefused { line, problem }),
            }
        }
        if refused.is_empty() { Ok(chosen) } else { Err(CartRefused::Lines(refused)) }
    }

    /// Price of delivery by the type of the references with this subtype: the sum of both prices.
    pub(super) fn delivery_charge(&self, subtype: Option<DeliverySubtypeId>) -> DeliveryCharge {
        if !self.charges_delivery {
            return DeliveryCharge::default();
        }
        let of_type = self.references.delivery_type.as_ref().map_or(Money::ZERO, |known| known.price);
        let of_subtype = subtype.and(self.references.subtype).map_or(Money::ZERO, |known| known.price);
        DeliveryCharge {
            price: of_type.checked_add(of_subtype).unwrap_or(Money::MAX),
            vat: self.receipts.map(|terms| terms.default_vat),
        }
    }

    /// Prices the cart at `at`, without delivery.
    pub fn view(&self, cart: &Cart, allocation: &dyn Allocation, at: DateTime<Utc>) -> Result<CartView, CartRefused> {
        let Quote { lines, pricing } = self.quote(cart, allocation, at)?;
        let mut shown: Vec<CartViewLine> = Vec::with_capacity(cart.lines().len());
        for line in lines {
            let (item, unit_price, packaging) = (line.item.id, line.unit_price, line.item.packaging);
            let same = shown.iter_mut().find(|shown| shown.item == item && shown.unit_price == unit_price);
            match same.and_then(|shown| Some((shown.quantity.checked_add(line.quantity)?, shown))) {
                Some((quantity, shown)) => shown.quantity = quantity,
                None => shown.push(CartViewLine { item, unit_price, quantity: line.quantity, packaging }),
            }
        }
        Ok(CartView { lines: shown, pricing, delivery_price: Money::ZERO })
    }
}

/// Converts line indexes: pricing counts the chosen lines, customers count the lines of the cart.
fn of_cart(refused: CartRefused, chosen: &[ChosenLine<'_>]) -> CartRefused {
    let CartRefused::Lines(lines) = refused else { return refused };
    let mut lines: Vec<LineRefused> = lines
        .into_iter()
        .map(|refused| LineRefused {
            line: chosen.get(refused.line).map_or(refused.line, |chosen| chosen.position),
            ..refused
        })
        .collect();
    lines.dedup();
    CartRefused::Lines(lines)
}

impl OfferedItem {
    pub(crate) fn allocate(
        &self,
        position: usize,
        wanted: CartLine,
        allocation: &dyn Allocation,
    ) -> Result<Vec<ChosenLine<'_>>, LineProblem> {
        let chosen =
            |inventory, quantity, unit_price| ChosenLine { position, item: self, inventory, quantity, unit_price };
        match &self.kind {
            ItemKind::Service { price } => Ok(vec![chosen(None, wanted.quantity, *price)]),
            ItemKind::Goods { places } if places.is_empty() => Err(LineProblem::Unknown),
            ItemKind::Goods { places } => {
                let available = || places.iter().fold(0_u32, |sum, place| sum.saturating_add(place.available));
                let taken = allocation.allocate(places, wanted.quantity);
                let taken = taken.ok_or_else(|| LineProblem::NotEnough { available: available() })?;
                let of_place = |from: Allocated| chosen(Some(from.place.inventory), from.quantity, from.place.price);
                Ok(taken.into_iter().map(of_place).collect())
            }
        }
    }
}

/// A priced line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CartViewLine {
    /// Item.
    pub item: NomenclatureId,
    /// Price per unit before discounts.
    pub unit_price: Money,
    /// Number of units.
    pub quantity: Quantity,
    /// Packaging.
    pub packaging: Packaging,
}

/// A priced cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartView {
    /// Lines, in the order of the cart. A line with units at different prices from several warehouses appears
    /// once for each price.
    pub lines: Vec<CartViewLine>,
    /// Prices.
    pub pricing: Pricing,
    /// Delivery price.
    pub delivery_price: Money,
}

impl CartView {
    /// Amount the customer pays: the lines and the delivery.
    pub fn amount_due(&self) -> Money {
        self.pricing.final_price().checked_add(self.delivery_price).unwrap_or(Money::MAX)
    }

    /// Number of packs in the whole cart.
    pub fn packs(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.packaging.packs(line.quantity))).sum()
    }
}

/// Units of a line from one warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// Stock of the item in the warehouse.
    pub place: WarehouseStock,
    /// Number of units.
    pub quantity: Quantity,
}

/// Strategy that chooses the warehouses of a line.
pub trait Allocation: Send + Sync {
    /// Distributes `quantity` units over the stock of an item. Each place occurs at most once and gives at most
    /// its available units; together they give exactly `quantity`. `None` if all places together have too few.
    fn allocate(&self, places: &[WarehouseStock], quantity: Quantity) -> Option<Vec<Allocated>>;
}

/// Strategy with as few warehouses as possible.
///
/// Of the warehouses with enough units, the cheapest is chosen; at equal prices the oldest. If none has enough,
/// the warehouse with the most units is emptied first (then the cheaper, then the older one). This repeats until
/// one warehouse has enough for the rest.
#[derive(Debug, Clone, Copy, Default)]
pub struct FewestWarehouses;

impl Allocation for FewestWarehouses {
    fn allocate(&self, places: &[WarehouseStock], quantity: Quantity) -> Option<Vec<Allocated>> {
        let mut left: Vec<WarehouseStock> = places.iter().filter(|place| place.available > 0).copied().collect();
        left.sort_by_key(|place| (Reverse(place.available), place.price, place.warehouse));
        let mut wanted = quantity.get();
        let mut taken = Vec::new();
        while let Some(fullest) = left.first().copied() {
            let enough = left.iter().filter(|place| place.available >= wanted);
            if let Some(&place) = enough.min_by_key(|place| (place.price, place.warehouse)) {
                taken.push(Allocated { place, quantity: Quantity::new(wanted.into()).ok()? });
                return Some(taken);
            }
            taken.push(Allocated { place: fullest, quantity: Quantity::new(fullest.available.into()).ok()? });
            wanted -= fullest.available;
            left.remove(0);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(number: i64, price: i64, available: u32) -> WarehouseStock {
        WarehouseStock {
            inventory: InventoryId::new(number).unwrap(),
            warehouse: WarehouseId::new(number).unwrap(),
            price: Money::from_minor(price).unwrap(),
            available,
        }
    }

    fn taken(places: &[WarehouseStock], pieces: i64) -> Option<Vec<(i64, u32)>> {
        let taken = FewestWarehouses.allocate(places, Quantity::new(pieces).unwrap())?;
        Some(taken.iter().map(|from| (from.place.warehouse.get(), from.quantity.get())).collect())
    }

    #[test]
    fn one_warehouse_is_enough_where_one_has_enough() {
        let places = [place(1, 900, 3), place(3, 1_000, 9), place(2, 1_000, 9), place(4, 1_100, 99)];
        assert_eq!(taken(&places, 3), Some(vec![(1, 3)]));
        assert_eq!(taken(&places, 4), Some(vec![(2, 4)]));
        assert_eq!(taken(&places, 10), Some(vec![(4, 10)]));
    }

    #[test]
    fn several_give_what_none_has_alone() {
        assert_eq!(taken(&[place(1, 500, 5), place(2, 500, 2)], 7), Some(vec![(1, 5), (2, 2)]));
        assert_eq!(taken(&[place(1, 500, 5), place(2, 500, 2)], 8), None);
        // The rest comes from the cheapest warehouse, not from the fullest.
        assert_eq!(taken(&[place(1, 500, 5), place(2, 400, 4), place(3, 300, 2)], 7), Some(vec![(1, 5), (3, 2)]));
        assert_eq!(
            taken(&[place(2, 500, 5), place(1, 500, 5), place(3, 400, 5)], 12),
            Some(vec![(3, 5), (1, 5), (2, 2)])
        );
        assert_eq!(taken(&[], 1), None);
    }

    fn fewest_warehouses(places: &[WarehouseStock], pieces: u32) -> Option<usize> {
        let sets = 0..1_u32 << places.len();
        let holds = |set: &u32| {
            let chosen = places.iter().enumerate().filter(|(index, _)| set & (1 << index) != 0);
            chosen.map(|(_, place)| place.available).sum::<u32>() >= pieces
        };
        let size = |set: u32| usize::try_from(set.count_ones()).unwrap();
        sets.filter(holds).map(size).min()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn exactly_what_is_wanted_from_as_few_as_possible(
            stock in prop::collection::vec((1..4_i64, 0..8_u32), 0..7),
            pieces in 1..40_u32,
        ) {
            let places: Vec<_> =
                (1..).zip(&stock).map(|(number, (price, available))| place(number, *price, *available)).collect();
            let taken = FewestWarehouses.allocate(&places, Quantity::new(pieces.into()).unwrap());
            prop_assert_eq!(taken.as_ref().map(Vec::len), fewest_warehouses(&places, pieces));
            let Some(taken) = taken else { return Ok(()) };
            prop_assert_eq!(taken.iter().map(|from| from.quantity.get()).sum::<u32>(), pieces);
            let mut warehouses: Vec<_> = taken.iter().map(|from| from.place.warehouse).collect();
            warehouses.sort();
            warehouses.dedup();
            prop_assert_eq!(warehouses.len(), taken.len());
            prop_assert!(taken.iter().all(|from| from.quantity.get() <= from.place.available));
        }
    }
}
