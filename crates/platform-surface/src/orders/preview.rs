//! Preview of a change of an order, shared by all its operations.

use kontor_kernel::{Money, ReservationId};
use kontor_orders::lines::{self as domain, PreviewLine, StockEffectOn};
use kontor_orders::refund::{DecidedRefund, ReturnEffect, ReturnedLine};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::order_record::DiscountError;
use kontor_web::wire::NamedRecord;

/// Refunded part of a line.
#[derive(Serialize, ToSchema)]
struct ReturnedLineRecord {
    /// Id of the order line.
    id: i64,
    /// Number of refunded units.
    quantity: u32,
    /// Refunded amount, decimal string.
    amount: String,
    /// Effect on the stock: `none`, `release`, `write_off` or `restock`.
    stock: &'static str,
}

impl From<ReturnedLine> for ReturnedLineRecord {
    fn from(line: ReturnedLine) -> Self {
        let stock = match line.effect {
            ReturnEffect::None => "none",
            ReturnEffect::Release => "release",
            ReturnEffect::WriteOff => "write_off",
            ReturnEffect::Restock => "restock",
        };
        Self { id: line.line.get(), quantity: line.quantity, amount: line.amount.to_string(), stock }
    }
}

/// Change of the stock of an item in a warehouse.
#[derive(Serialize, ToSchema)]
struct StockRecord {
    nomenclature_id: i64,
    warehouse_id: Option<i64>,
    /// Change of the quantity in the warehouse, in units.
    quantity: i64,
    /// Change of the reserved quantity, in units.
    reserved: i64,
}

impl From<StockEffectOn> for StockRecord {
    fn from(effect: StockEffectOn) -> Self {
        Self {
            nomenclature_id: effect.item.get(),
            warehouse_id: effect.warehouse.map(Into::into),
            quantity: effect.quantity,
            reserved: effect.reserved,
        }
    }
}

/// Preview of a refund of a paid order.
#[derive(Serialize, ToSchema)]
struct RefundPreview {
    /// Amount of the refund, decimal string.
    amount: String,
    /// Part of `amount` that refunds the delivery price, decimal string. The rest refunds `lines`.
    delivery_amount: String,
    /// Amount that can still be refunded afterwards, decimal string.
    left: String,
    lines: Vec<ReturnedLineRecord>,
}

impl RefundPreview {
    fn new(left: Money, decided: DecidedRefund) -> Self {
        Self {
            amount: decided.amount.to_string(),
            delivery_amount: decided.delivery.to_string(),
            left: left.to_string(),
            lines: decided.lines.into_iter().map(Into::into).collect(),
        }
    }
}

/// Order line after the change.
#[derive(Serialize, ToSchema)]
struct PreviewLineRecord {
    /// `null` for a line that would be new.
    id: Option<i64>,
    nomenclature: NamedRecord,
    /// `null` for a service.
    warehouse_id: Option<i64>,
    quantity: u32,
    /// Price of one unit before discounts, decimal string.
    price: String,
    product_discount_amount: String,
    promo_discount_amount: String,
    total: String,
    /// Number of refunded units.
    refunded_quantity: u32,
    /// Refunded amount of the line, decimal string.
    refunded_amount: String,
}

impl From<PreviewLine> for PreviewLineRecord {
    fn from(line: PreviewLine) -> Self {
        Self {
            id: line.id.map(ReservationId::get),
            nomenclature: line.item.into(),
            warehouse_id: line.warehouse.map(Into::into),
            quantity: line.quantity.get(),
            price: line.unit_price.to_string(),
            product_discount_amount: line.product_discount.to_string(),
            promo_discount_amount: line.promo_discount.to_string(),
            total: line.total.to_string(),
            refunded_quantity: line.refunded_quantity,
            refunded_amount: line.refunded_amount.to_string(),
        }
    }
}

/// Order after the change. Returned only with `dry_run`.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderPreview {
    lines: Vec<PreviewLineRecord>,
    /// Prices are decimal strings, as in the order.
    original_price: String,
    product_discount_amount: String,
    promo_discount_amount: String,
    final_price: String,
    delivery_price: String,
    amount_due: String,
    /// Increase of the amount to pay, decimal string. Negative if the amount decreases.
    difference: String,
    stock: Vec<StockRecord>,
    /// Refund of a paid order.
    refund: Option<RefundPreview>,
    /// Reason why the promo code would no longer apply.
    discount_error: Option<DiscountError>,
    /// `true` if a payment of the new amount would be requested. An open payment is canceled before.
    new_payment: bool,
    /// Status of the order after the change.
    status_id: i64,
}

fn signed(minor: i64) -> String {
    let amount = Money::from_minor(minor.abs()).unwrap_or_default();
    if minor < 0 { format!("-{amount}") } else { amount.to_string() }
}

impl From<domain::OrderPreview> for OrderPreview {
    fn from(preview: domain::OrderPreview) -> Self {
        Self {
            lines: preview.lines.into_iter().map(Into::into).collect(),
            original_price: preview.totals.original_price.to_string(),
            product_discount_amount: preview.totals.product_discount.to_string(),
            promo_discount_amount: preview.totals.promo_discount.to_string(),
            final_price: preview.totals.final_price.to_string(),
            delivery_price: preview.totals.delivery_price.to_string(),
            amount_due: preview.totals.amount_due().to_string(),
            difference: signed(preview.difference),
            stock: preview.stock.into_iter().map(Into::into).collect(),
            refund: preview.refund.map(|refund| RefundPreview::new(preview.left, refund)),
            discount_error: preview.promo_problem.map(Into::into),
            new_payment: preview.new_payment,
            status_id: preview.status.id(),
        }
    }
}
