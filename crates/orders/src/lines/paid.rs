//! Changes of lines of a paid order: a reduction is a refund.

use kontor_kernel::{Money, Quantity, Violations};

use super::{LineCommand, LineEdit, LinesRefused};
use crate::OrderRefusal;
use crate::model::{Order, OrderLine};
use crate::refund::{self, DecidedRefund, ReturnedLine};

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
