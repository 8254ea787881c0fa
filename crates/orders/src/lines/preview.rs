//! Previews: the effect of a change before it is made.

use kontor_kernel::{InventoryId, Money, NomenclatureId, Quantity, ReservationId, WarehouseId};

use super::decide::Decided;
use crate::change::{ChangedLine, LineChangeSet, PromoEffect, Totals};
use crate::model::{Named, Order, OrderLine, OrderStatus, PromoProblem, ReservationState, StockEffect, Transition};
use crate::refund::{DecidedRefund, ReturnEffect, ReturnedLine};

/// Line after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// Identifier; `None` for a new line.
    pub id: Option<ReservationId>,
    /// Item.
    pub item: Named<NomenclatureId>,
    /// Warehouse the units would come from; `None` for a service.
    pub warehouse: Option<WarehouseId>,
    /// Number of units.
    pub quantity: Quantity,
    /// Price per unit.
    pub unit_price: Money,
    /// Automatic discounts.
    pub product_discount: Money,
    /// Promo code discount.
    pub promo_discount: Money,
    /// Amount to pay for the line.
    pub total: Money,
    /// Units taken back.
    pub refunded_quantity: u32,
    /// Money refunded, or with a refund in progress.
    pub refunded_amount: Money,
}

/// Change of one stock level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockEffectOn {
    /// Stock level.
    pub inventory: InventoryId,
    /// Item.
    pub item: NomenclatureId,
    /// Warehouse of the stock level.
    pub warehouse: Option<WarehouseId>,
    /// Change of the quantity in stock.
    pub quantity: i64,
    /// Change of the reserved quantity.
    pub reserved: i64,
}

/// Order after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPreview {
    /// Lines.
    pub lines: Vec<PreviewLine>,
    /// Totals.
    pub totals: Totals,
    /// Additional amount the customer pays, in minor units; negative if less.
    pub difference: i64,
    /// Changes of stock.
    pub stock: Vec<StockEffectOn>,
    /// Refund.
    pub refund: Option<DecidedRefund>,
    /// Amount that can still be refunded afterwards.
    pub left: Money,
    /// Reason why its promo code would no longer apply.
    pub promo_problem: Option<PromoProblem>,
    /// `true` if a new payment is requested. The open one is canceled before.
    pub new_payment: bool,
    /// Status.
    pub status: OrderStatus,
}

impl OrderPreview {
    /// Previews a change of lines.
    pub fn of(order: &Order, decided: &Decided) -> Self {
        let same = Self { new_payment: decided.payment.is_some(), ..Self::unchanged(order) };
        match (&decided.rework, &decided.refund) {
            (Some(rework), _) => same.with_changes(rework),
            (None, Some(refund)) => same.with_refund(order, refund),
            (None, None) => same,
        }
    }

    /// Previews a refund.
    pub fn of_refund(order: &Order, refund: &DecidedRefund) -> Self {
        Self::unchanged(order).with_refund(order, refund)
    }

    /// Previews a change of status.
    pub fn of_move(order: &Order, step: Option<Transition>) -> Self {
        let same = Self::unchanged(order);
        let Some(step) = step else { return same };
        let of_line = |line: &OrderLine| {
            let pieces = i64::from(line.units_left());
            let (quantity, reserved) = match step.stock {
                StockEffect::Keep => return None,
                StockEffect::Release => (0, -pieces),
                StockEffect::Sell => (-pieces, -pieces),
            };
            let held = line.state == ReservationState::Held && pieces > 0;
            let warehouse = line.warehouse.as_ref().map(|warehouse| warehouse.id);
            let inventory = line.inventory.filter(|_| held)?;
            Some(StockEffectOn { inventory, item: line.item.id, warehouse, quantity, reserved })
        };
        Self { status: step.to, stock: order.lines.iter().filter_map(of_line).collect(), ..same }
    }

    fn unchanged(order: &Order) -> Self {
        Self {
            lines: order.lines.iter().map(PreviewLine::from).collect(),
            totals: Totals::from(order),
            difference: 0,
            stock: Vec::new(),
            refund: None,
            left: order.left_to_refund(),
            promo_problem: None,
            new_payment: false,
            status: order.status,
        }
    }

    fn with_changes(self, rework: &LineChangeSet) -> Self {
        let stock = rework.claims.iter().map(|claim| StockEffectOn {
            inventory: claim.inventory,
            item: claim.item,
            warehouse: claim.warehouse,
            quantity: 0,
            reserved: claim.pieces,
        });
        Self {
            lines: rework.lines.iter().map(PreviewLine::from).collect(),
            totals: rework.totals,
            difference: rework.totals.final_price.minor() - self.totals.final_price.minor(),
            stock: stock.collect(),
            promo_problem: match rework.promo {
                PromoEffect::Return(problem) => Some(problem),
                PromoEffect::None | PromoEffect::Keep(_) => None,
            },
            ..self
        }
    }

    fn with_refund(mut self, order: &Order, refund: &DecidedRefund) -> Self {
        for back in &refund.lines {
            for line in self.lines.iter_mut().filter(|line| line.id == Some(back.line)) {
                line.refunded_quantity += back.quantity;
                line.refunded_amount = line.refunded_amount.checked_add(back.amount).unwrap_or(Money::MAX);
            }
        }
        let stock = |back: &ReturnedLine| {
            let line = order.lines.iter().find(|line| line.id == back.line)?;
            let pieces = i64::from(back.quantity);
            let (quantity, reserved) = match back.effect {
                ReturnEffect::None => return None,
                ReturnEffect::Release => (0, -pieces),
                ReturnEffect::WriteOff => (-pieces, -pieces),
                ReturnEffect::Restock => (pieces, 0),
            };
            let warehouse = line.warehouse.as_ref().map(|warehouse| warehouse.id);
            Some(StockEffectOn { inventory: line.inventory?, item: line.item.id, warehouse, quantity, reserved })
        };
        Self {
            difference: -refund.amount.minor(),
            stock: refund.lines.iter().filter_map(stock).collect(),
            left: self.left.saturating_sub(refund.amount),
            status: refund.transition.map_or(self.status, |step| step.to),
            refund: Some(refund.clone()),
            ..self
        }
    }
}

impl From<&OrderLine> for PreviewLine {
    fn from(line: &OrderLine) -> Self {
        Self {
            id: Some(line.id),
            item: line.item.clone(),
            warehouse: line.warehouse.as_ref().map(|warehouse| warehouse.id),
            quantity: line.quantity,
            unit_price: line.unit_price,
            product_discount: line.product_discount,
            promo_discount: line.promo_discount,
            total: line.total,
            refunded_quantity: line.refunded_quantity,
            refunded_amount: line.refunded_amount,
        }
    }
}

impl From<&ChangedLine> for PreviewLine {
    fn from(line: &ChangedLine) -> Self {
        Self {
            id: line.id,
            item: Named { id: line.item, name: line.name.clone() },
            warehouse: line.warehouse,
            quantity: line.quantity,
            unit_price: line.unit_price,
            product_discount: line.price.product_discount,
            promo_discount: line.price.promo_discount,
            total: line.price.total(),
            refunded_quantity: 0,
            refunded_amount: Money::ZERO,
        }
    }
}
