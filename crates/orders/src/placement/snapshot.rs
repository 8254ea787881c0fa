//! What is known at one moment about the items of a cart, and the cart priced by it.

use chrono::{DateTime, Utc};
use kontor_kernel::{
    CategoryId, DeliverySubtypeId, Email, InventoryId, Money, NomenclatureId, Phone, Quantity, Violations, WarehouseId,
};
use kontor_payments::model::{ReceiptTerms, VatCode};

use super::allocation::{Allocated, Allocation};
use super::contact::ContactTerms;
use crate::model::{
    Cart, CartLine, CartRefused, DeliveryCharge, Discount, LineProblem, LineRefused, Promo, References,
};
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

/// An item that the application sells. Goods without places it does not sell.
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
    /// Its VAT; `None` when its card says nothing about it.
    pub vat: Option<VatCode>,
    /// Whether its pieces are tickets.
    pub is_ticket: bool,
}

/// What staff named and the project does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Missing {
    /// The application.
    pub application: bool,
    /// The customer.
    pub customer: bool,
}

impl Missing {
    /// By field of the request.
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

/// What is known at one moment. Items that the application does not sell are missing, or lie nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CartSnapshot {
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// The items of the cart.
    pub items: Vec<OfferedItem>,
    /// Discounts without a code.
    pub automatic: Vec<Discount>,
    /// What is known of the promo code, when one was asked for.
    pub promo: Option<Promo>,
    /// What the project has under the ids of the delivery, when one was asked for.
    pub references: References,
    /// Whether the project charges delivery.
    pub charges_delivery: bool,
    /// What staff named and the project does not have.
    pub missing: Missing,
    /// The phone of the customer's profile.
    pub phone: Option<Phone>,
    /// The e-mail address of the customer's profile.
    pub email: Option<Email>,
    /// How the project has receipts made; `None` when it has none.
    pub receipts: Option<ReceiptTerms>,
    /// Bounds of orders from the contact form.
    pub contact: ContactTerms,
}

/// Pieces of a line of the cart that come from one place. A line that comes from several is several of these, side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenLine<'a> {
    /// The place of the line in the cart, counted from 0.
    pub position: usize,
    pub item: &'a OfferedItem,
    pub inventory: Option<InventoryId>,
    pub quantity: Quantity,
    pub unit_price: Money,
}

/// What a cart costs and where it comes from. Carts that are looked at, ordered or changed are all priced by this.
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

    /// What delivery by the type of the references costs, with this subtype of it: the price of the type and that of the
    /// subtype.
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

    /// What the cart costs at `at`, without delivery.
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

/// Prices know only the chosen lines; customers know those of the cart.
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
    /// The lines, in the order of the cart. A line whose pieces cost differently, since they come from several
    /// warehouses, stands once for each price.
    pub lines: Vec<CartViewLine>,
    /// What it costs.
    pub pricing: Pricing,
    /// Delivery price.
    pub delivery_price: Money,
}

impl CartView {
    /// What the customer pays: the lines and the delivery.
    pub fn amount_due(&self) -> Money {
        self.pricing.final_price().checked_add(self.delivery_price).unwrap_or(Money::MAX)
    }

    /// How many packs the whole cart makes up.
    pub fn packs(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.packaging.packs(line.quantity))).sum()
    }
}
