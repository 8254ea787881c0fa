//! Working state of a change of lines. For a paid order, a reduction is a refund.

use std::collections::BTreeMap;

use kontor_kernel::{InventoryId, Money, NomenclatureId, Quantity, ReservationId, Violations, WarehouseId};
use kontor_payments::model::VatCode;

use super::{LineCommand, LineEdit, LinesRefused};
use crate::OrderRefusal;
use crate::change::StockClaim;
use crate::model::{Cart, CartLine, LineProblem, Order, OrderLine};
use crate::placement::{Allocated, Allocation, CartSnapshot, ItemKind, OfferedItem, WarehouseStock, vat};
use crate::refund::{self, DecidedRefund, ReturnedLine};

/// Line being changed.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub id: Option<ReservationId>,
    pub item: NomenclatureId,
    pub name: String,
    pub inventory: Option<InventoryId>,
    pub warehouse: Option<WarehouseId>,
    pub quantity: Quantity,
    pub unit_price: Money,
    pub vat: Option<VatCode>,
    pub is_ticket: bool,
}

impl From<&OrderLine> for Draft {
    fn from(line: &OrderLine) -> Self {
        Self {
            id: Some(line.id),
            item: line.item.id,
            name: line.item.name.clone(),
            inventory: line.inventory,
            warehouse: line.warehouse.as_ref().map(|warehouse| warehouse.id),
            quantity: line.quantity,
            unit_price: line.unit_price,
            vat: line.vat,
            is_ticket: line.is_ticket,
        }
    }
}

/// Units added to an order from one stock level.
struct AddedUnits {
    place: Option<WarehouseStock>,
    quantity: Quantity,
    /// Sales price per unit.
    price: Money,
}

/// Lines and stock changes under construction.
pub(super) struct Work<'a> {
    snapshot: &'a CartSnapshot,
    allocation: &'a dyn Allocation,
    pub drafts: Vec<Draft>,
    pub removed: Vec<ReservationId>,
    claims: BTreeMap<InventoryId, StockClaim>,
    pub services: Vec<(NomenclatureId, Money)>,
}

const TOO_MANY: &str = "exceeds the limit of an order";

impl<'a> Work<'a> {
    pub fn on(order: &Order, snapshot: &'a CartSnapshot, allocation: &'a dyn Allocation) -> Self {
        let drafts = order.lines.iter().map(Draft::from).collect();
        Self { snapshot, allocation, drafts, removed: Vec::new(), claims: BTreeMap::new(), services: Vec::new() }
    }

    /// Changes of reserved stock, by ascending stock level id.
    pub fn claims(&self) -> Vec<StockClaim> {
        self.claims.values().filter(|claim| claim.pieces != 0).copied().collect()
    }

    pub fn edit(&mut self, edit: LineEdit) -> Result<(), LinesRefused> {
        match edit {
            LineEdit::Add { item, quantity, price } => self.add(item, quantity, price),
            LineEdit::Set { line, quantity, price } => {
                let index = self.index(line)?;
                self.set(index, quantity, price)
            }
            LineEdit::Remove { line } => {
                let index = self.index(line)?;
                if self.drafts.len() == 1 {
                    return Err(LinesRefused::LastLine);
                }
                let draft = self.drafts.remove(index);
                self.removed.push(line);
                self.release_units(&draft, draft.quantity.get());
                Ok(())
            }
        }
    }

    fn index(&self, line: ReservationId) -> Result<usize, LinesRefused> {
        self.drafts.iter().position(|draft| draft.id == Some(line)).ok_or(LinesRefused::UnknownLine)
    }

    fn add(&mut self, item: NomenclatureId, quantity: Quantity, price: Option<Money>) -> Result<(), LinesRefused> {
        if self.drafts.iter().any(|draft| draft.item == item) {
            return Err(LinesRefused::invalid("nomenclature_id", "is already in the order: change its line"));
        }
        if self.drafts.len() >= Cart::MAX_LINES {
            return Err(LinesRefused::invalid("nomenclature_id", TOO_MANY));
        }
        let offered = self.offered(item, "nomenclature_id")?;
        let chosen = offered.allocate(0, CartLine { item, quantity }, self.allocation);
        let chosen = chosen.map_err(|problem| match problem {
            LineProblem::Unknown => LinesRefused::invalid("nomenclature_id", problem),
            problem => LinesRefused::invalid("quantity", problem),
        })?;
        for part in chosen {
            let place = part.inventory.and_then(|inventory| place_of(offered, inventory));
            let taken = AddedUnits { place, quantity: part.quantity, price: part.unit_price };
            self.claim(item, &taken);
            self.push(offered, &taken, price);
        }
        Ok(())
    }

    fn offered(&self, item: NomenclatureId, field: &str) -> Result<&'a OfferedItem, LinesRefused> {
        let found = self.snapshot.items.iter().find(|offered| offered.id == item);
        found.ok_or_else(|| LinesRefused::invalid(field, LineProblem::Unknown))
    }

    fn set(&mut self, index: usize, quantity: Option<Quantity>, price: Option<Money>) -> Result<(), LinesRefused> {
        let Some(draft) = self.drafts.get_mut(index) else { return Err(LinesRefused::UnknownLine) };
        if let Some(price) = price {
            draft.unit_price = price;
        }
        let draft = draft.clone();
        let (now, wanted) = (draft.quantity.get(), quantity.unwrap_or(draft.quantity));
        if wanted.get() < now {
            self.release_units(&draft, now - wanted.get());
            self.resize(index, wanted);
            return Ok(());
        }
        let Ok(more) = Quantity::new(i64::from(wanted.get() - now)) else { return Ok(()) };
        let offered = self.offered(draft.item, "quantity")?;
        for taken in self.allocate_more(offered, &draft, more)? {
            self.claim(draft.item, &taken);
            self.add_units(index, offered, &taken, price)?;
        }
        Ok(())
    }

    /// Chooses the stock for more units of a line: its own stock level if that has enough, otherwise the
    /// allocation strategy decides.
    fn allocate_more(
        &self,
        offered: &OfferedItem,
        draft: &Draft,
        more: Quantity,
    ) -> Result<Vec<AddedUnits>, LinesRefused> {
        let places = match &offered.kind {
            ItemKind::Service { price } => return Ok(vec![AddedUnits { place: None, quantity: more, price: *price }]),
            ItemKind::Goods { places } if places.is_empty() => {
                return Err(LinesRefused::invalid("quantity", "the product is no longer sold in this application"));
            }
            ItemKind::Goods { places } => places,
        };
        let own = places.iter().find(|place| Some(place.inventory) == draft.inventory);
        if let Some(place) = own.filter(|place| place.available >= more.get()) {
            return Ok(vec![AddedUnits { place: Some(*place), quantity: more, price: place.price }]);
        }
        let free = places.iter().fold(draft.quantity.get(), |sum, place| sum.saturating_add(place.available));
        let taken = self.allocation.allocate(places, more);
        let taken =
            taken.ok_or_else(|| LinesRefused::invalid("quantity", LineProblem::NotEnough { available: free }))?;
        let part = |Allocated { place, quantity }| AddedUnits { place: Some(place), quantity, price: place.price };
        Ok(taken.into_iter().map(part).collect())
    }

    /// Adds units to a line. Units of the same stock level at the same price form one line.
    fn add_units(
        &mut self,
        index: usize,
        offered: &OfferedItem,
        taken: &AddedUnits,
        price: Option<Money>,
    ) -> Result<(), LinesRefused> {
        let (inventory, unit_price) = (taken.place.map(|place| place.inventory), price.unwrap_or(taken.price));
        let same =
            |draft: &Draft| draft.item == offered.id && draft.inventory == inventory && draft.unit_price == unit_price;
        let found = self.drafts.get(index).is_some_and(same).then_some(index);
        match found.or_else(|| self.drafts.iter().position(same)) {
            Some(found) => {
                let sum = self.drafts.get(found).and_then(|draft| draft.quantity.checked_add(taken.quantity));
                self.resize(found, sum.ok_or_else(|| LinesRefused::invalid("quantity", TOO_MANY))?);
            }
            None => self.push(offered, taken, price),
        }
        Ok(())
    }

    fn resize(&mut self, index: usize, quantity: Quantity) {
        if let Some(draft) = self.drafts.get_mut(index) {
            draft.quantity = quantity;
        }
    }

    fn push(&mut self, offered: &OfferedItem, taken: &AddedUnits, price: Option<Money>) {
        self.drafts.push(Draft {
            id: None,
            item: offered.id,
            name: offered.name.clone(),
            inventory: taken.place.map(|place| place.inventory),
            warehouse: taken.place.map(|place| place.warehouse),
            quantity: taken.quantity,
            unit_price: price.unwrap_or(taken.price),
            vat: vat(self.snapshot, offered),
            is_ticket: offered.is_ticket,
        });
    }

    fn claim(&mut self, item: NomenclatureId, taken: &AddedUnits) {
        match taken.place {
            None => self.services.push((item, taken.price)),
            Some(place) => {
                let claim = self.claim_for_stock(item, place.inventory, Some(place.warehouse));
                claim.pieces += i64::from(taken.quantity.get());
                claim.price = Some(taken.price);
            }
        }
    }

    fn release_units(&mut self, draft: &Draft, pieces: u32) {
        if let Some(inventory) = draft.inventory {
            self.claim_for_stock(draft.item, inventory, draft.warehouse).pieces -= i64::from(pieces);
        }
    }

    fn claim_for_stock(
        &mut self,
        item: NomenclatureId,
        inventory: InventoryId,
        warehouse: Option<WarehouseId>,
    ) -> &mut StockClaim {
        let new = StockClaim { inventory, warehouse, item, pieces: 0, price: None };
        self.claims.entry(inventory).or_insert(new)
    }
}

fn place_of(offered: &OfferedItem, inventory: InventoryId) -> Option<WarehouseStock> {
    match &offered.kind {
        ItemKind::Service { .. } => None,
        ItemKind::Goods { places } => places.iter().find(|place| place.inventory == inventory).copied(),
    }
}

const PAID_ORDER_HINT: &str = "the order is paid: place another order for additional items";

/// Returns the refund; `None` if nothing changes.
pub(super) fn decide(order: &Order, command: &LineCommand) -> Result<Option<DecidedRefund>, OrderRefusal> {
    let (line, quantity, price) = match command.edit {
        LineEdit::Add { .. } => return Err(LinesRefused::invalid("nomenclature_id", PAID_ORDER_HINT).into()),
        LineEdit::Set { line, quantity, price } => (line, quantity.map(Quantity::get), price),
        LineEdit::Remove { line } => (line, Some(0), None),
    };
    let line = order.lines.iter().find(|known| known.id == line).ok_or(LinesRefused::UnknownLine)?;
    let left = line.units_left();
    let wanted = quantity.unwrap_or(left);
    let mut wrong = Violations::default();
    if wanted > left {
        wrong.add("quantity", PAID_ORDER_HINT);
    }
    if price.is_some_and(|price| price > line.unit_price) {
        wrong.add("price", PAID_ORDER_HINT);
    }
    wrong.into_result().map_err(LinesRefused::Invalid)?;
    let back = left.saturating_sub(wanted);
    let pieces = refund::money_of(line, back);
    let cheaper = price
        .map_or(Money::ZERO, |price| reduction_refund(line, wanted, line.money_left().saturating_sub(pieces), price));
    let amount = pieces.checked_add(cheaper).unwrap_or(Money::MAX);
    if back == 0 && amount.is_zero() {
        return Ok(None);
    }
    let effect = refund::returned(line, back, amount, command.restock.unwrap_or(true)).effect;
    let returned = ReturnedLine { line: line.id, quantity: back, amount, effect };
    Ok(Some(refund::finish(order, vec![returned], Money::ZERO)?))
}

/// Part of `left`, the money of a line, that is refunded when its `pieces` get a lower price. Its discounts stay
/// in proportion. The same price again refunds nothing more.
fn reduction_refund(line: &OrderLine, pieces: u32, left: Money, price: Money) -> Money {
    if price >= line.unit_price {
        return Money::ZERO;
    }
    let whole = i128::from(line.unit_price.minor()) * i128::from(line.quantity.get());
    let part = i128::from(line.total.minor()) * i128::from(price.minor()) * i128::from(pieces);
    let due = (part + whole / 2) / whole.max(1);
    let due = i64::try_from(due).ok().and_then(|minor| Money::from_minor(minor).ok()).unwrap_or(Money::MAX);
    left.saturating_sub(due)
}
