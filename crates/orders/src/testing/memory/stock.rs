//! Stock and promo codes of orders in memory.

use std::collections::BTreeMap;

use kontor_kernel::{CounterpartyId, DiscountId, DiscountStatus, InventoryId, NomenclatureId, OrderId};

use super::{Guard, State};
use crate::change::{AppliedDiscounts, PlacedLine, PromoUse};
use crate::model::ReservationState;
use crate::placement::{ItemKind, WarehouseStock};
use crate::ports::PlaceRefused;

impl State {
    /// Stock level with this identifier.
    pub(super) fn level(&mut self, inventory: InventoryId) -> Option<&mut WarehouseStock> {
        self.items.values_mut().find_map(|item| match &mut item.kind {
            ItemKind::Goods { places } => places.iter_mut().find(|place| place.inventory == inventory),
            ItemKind::Service { .. } => None,
        })
    }

    /// Reserves the units of a line, at the price of the line.
    pub(super) fn reserve(&mut self, line: &PlacedLine) -> Result<(), PlaceRefused> {
        let (prices, stock) = (self.guards.has(Guard::Price), self.guards.has(Guard::Stock));
        let Some(inventory) = line.inventory else {
            let kind = self.items.get(&line.item).map(|item| &item.kind);
            let is_same = matches!(kind, Some(ItemKind::Service { price }) if *price == line.unit_price || !prices);
            return if is_same { Ok(()) } else { Err(PlaceRefused::Stale) };
        };
        let level = self.level(inventory).ok_or(PlaceRefused::Stale)?;
        if prices && level.price != line.unit_price {
            return Err(PlaceRefused::Stale);
        }
        let left = level.available.checked_sub(line.quantity.get());
        level.available = match left {
            None if stock => return Err(PlaceRefused::OutOfStock { line: line.position }),
            left => left.unwrap_or_default(),
        };
        Ok(())
    }

    /// Returns units to a stock level.
    pub(super) fn restock(&mut self, inventory: Option<InventoryId>, units: u32) {
        if !self.guards.has(Guard::Release) {
            return;
        }
        if let Some(level) = inventory.and_then(|id| self.level(id)) {
            level.available = level.available.saturating_add(units);
        }
    }

    /// Checks that exactly these automatic discounts may apply.
    pub(super) fn check_automatic(
        &self,
        items: &[NomenclatureId],
        priced_by: &AppliedDiscounts,
    ) -> Result<(), PlaceRefused> {
        let current: BTreeMap<DiscountId, u64> =
            self.automatic(items).map(|discount| (discount.id, discount.version)).collect();
        if current == priced_by.seen || !self.guards.has(Guard::Price) { Ok(()) } else { Err(PlaceRefused::Stale) }
    }

    /// Takes one use of a promo code.
    pub(super) fn take_promo_use(&mut self, promo: &PromoUse, by: CounterpartyId) -> Result<(), PlaceRefused> {
        let (prices, limits) = (self.guards.has(Guard::Price), self.guards.has(Guard::PromoLimit));
        let used = self.used_by(promo.discount_id, by);
        let discount = self.discounts.get_mut(&promo.discount_id).ok_or(PlaceRefused::Stale)?;
        let reached = |limit: Option<u64>, used: u64| limits && limit.is_some_and(|limit| used >= limit);
        if reached(discount.usage_limit, discount.used_count) || reached(discount.customer_limit, used) {
            return Err(PlaceRefused::PromoExhausted);
        }
        if prices && (discount.version != promo.version || discount.status != DiscountStatus::Active) {
            return Err(PlaceRefused::Stale);
        }
        discount.used_count += 1;
        Ok(())
    }

    /// Releases the reserved units of an order and its use of a promo code.
    pub(super) fn release(&mut self, order: OrderId) {
        for (inventory, units) in self.leave(order, ReservationState::Released) {
            self.restock(inventory, units);
        }
        if !self.guards.has(Guard::PromoReturn) {
            return;
        }
        let used = self.uses.remove(&order);
        if let Some(discount) = used.and_then(|(discount, _)| self.discounts.get_mut(&discount)) {
            discount.used_count = discount.used_count.saturating_sub(1);
        }
    }

    /// Moves the held lines of an order to another state. Returns their stock levels and units.
    pub(super) fn leave(&mut self, order: OrderId, state: ReservationState) -> Vec<(Option<InventoryId>, u32)> {
        let all = !self.guards.has(Guard::UnitsLeft);
        let lines = self.orders.get_mut(&order).map(|order| order.lines.as_mut_slice()).unwrap_or_default();
        let held = lines.iter_mut().filter(|line| line.state == ReservationState::Held);
        held.map(|line| {
            line.state = state;
            (line.inventory, if all { line.quantity.get() } else { line.units_left() })
        })
        .collect()
    }
}
