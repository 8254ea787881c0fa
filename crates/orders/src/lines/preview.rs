//! What a change would do, told before it is done.

use kontor_kernel::{InventoryId, Money, NomenclatureId, Quantity, ReservationId, WarehouseId};

use super::decide::Decided;
use crate::change::{PromoEffect, Rework, ReworkedLine, Totals};
use crate::model::{Named, Order, OrderLine, OrderStatus, PromoProblem, ReservationState, StockEffect, Transition};
use crate::refund::{DecidedRefund, ReturnEffect, ReturnedLine};

/// A line as it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// Its number; `None` for one that would be new.
    pub id: Option<ReservationId>,
    /// The item.
    pub item: Named<NomenclatureId>,
    /// Where it would come from; `None` for a service.
    pub warehouse: Option<WarehouseId>,
    /// How many pieces.
    pub quantity: Quantity,
    /// What one piece costs.
    pub unit_price: Money,
    /// What automatic discounts take off.
    pub product_discount: Money,
    /// What the promo code takes off.
    pub promo_discount: Money,
    /// What is left to pay for it.
    pub total: Money,
    /// Pieces taken back.
    pub refunded_quantity: u32,
    /// Money given back, or on its way.
    pub refunded_amount: Money,
}

/// What would change of one stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockEffectOn {
    /// The stock.
    pub inventory: InventoryId,
    /// The item.
    pub item: NomenclatureId,
    /// Where it lies.
    pub warehouse: Option<WarehouseId>,
    /// By how much what lies there changes.
    pub quantity: i64,
    /// By how much what is reserved of it changes.
    pub reserved: i64,
}

/// An order as it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPreview {
    /// Its lines.
    pub lines: Vec<PreviewLine>,
    /// What it costs.
    pub totals: Totals,
    /// By how much more the customer pays, in minor units; less when negative.
    pub difference: i64,
    /// What changes of the stock.
    pub stock: Vec<StockEffectOn>,
    /// What goes back.
    pub refund: Option<DecidedRefund>,
    /// What could still be refunded afterwards.
    pub left: Money,
    /// Why its promo code would no longer count.
    pub promo_problem: Option<PromoProblem>,
    /// Whether another payment is asked for, and the open one taken back before.
    pub new_payment: bool,
    /// Where it stands.
    pub status: OrderStatus,
}

impl OrderPreview {
    /// What a change of this order does.
    pub fn of(order: &Order, decided: &Decided) -> Self {
        let same = Self { new_payment: decided.payment.is_some(), ..Self::unchanged(order) };
        match (&decided.rework, &decided.refund) {
            (Some(rework), _) => same.reworked(rework),
            (None, Some(refund)) => same.giving_back(order, refund),
            (None, None) => same,
        }
    }

    /// What a refund of this order does.
    pub fn of_refund(order: &Order, refund: &DecidedRefund) -> Self {
        Self::unchanged(order).giving_back(order, refund)
    }

    /// What a move of this order does.
    pub fn of_move(order: &Order, step: Option<Transition>) -> Self {
        let same = Self::unchanged(order);
        let Some(step) = step else { return same };
        let of_line = |line: &OrderLine| {
            let pieces = i64::from(line.pieces_left());
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

    fn reworked(self, rework: &Rework) -> Self {
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

    fn giving_back(mut self, order: &Order, refund: &DecidedRefund) -> Self {
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

impl From<&ReworkedLine> for PreviewLine {
    fn from(line: &ReworkedLine) -> Self {
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
