//! The decision about a refund, its receipt, and the effects on an order of refunds at the acquirer.

use std::collections::BTreeSet;

use kontor_kernel::{Money, Quantity, distribute};
use kontor_payments::model::{PaymentMode, PaymentSubject, Receipt, ReceiptItem, ReceiptProblem, RefundIntent};

use super::{
    DecidedRefund, RefundCommand, RefundLine, RefundProblem, RefundRefused, RefundScope, ReturnEffect, ReturnedLine,
};
use crate::audit::figure;
use crate::change::OrderedRefund;
use crate::charge_outcome::EffectEntry;
use crate::model::{Notice, Order, OrderEvent, OrderLine, OrderRefundState, OrderStatus, ReservationState};
use crate::placement::delivery_name;

/// Decides a refund of an order, or returns the reason for its refusal.
pub fn decide(order: &Order, command: &RefundCommand) -> Result<DecidedRefund, RefundRefused> {
    if order.captured.is_zero() {
        return unpaid(order, command);
    }
    let restock = command.restock;
    let left = order.delivery_left();
    let (lines, delivery) = match &command.scope {
        RefundScope::Everything => (all_of(order, restock), left),
        RefundScope::Amount(Money::ZERO) => return Err(RefundRefused::ZeroAmount),
        RefundScope::Amount(amount) => money_alone(order, *amount)?,
        RefundScope::Lines { lines, .. } if lines.is_empty() => return Err(RefundRefused::NoLines),
        RefundScope::Lines { lines, amount: None } => (pieces(order, lines, restock)?, Money::ZERO),
        RefundScope::Lines { lines, amount: Some(amount) } => {
            (pieces_for(pieces(order, lines, restock)?, *amount)?, Money::ZERO)
        }
        RefundScope::Delivery { .. } if left.is_zero() => return Err(RefundRefused::NoDelivery),
        RefundScope::Delivery { lines } => (pieces(order, lines, restock)?, left),
    };
    let decided = finish(order, lines, delivery)?;
    if command.ends_period && decided.amount != order.left_to_refund() {
        return Err(RefundRefused::PeriodKept);
    }
    Ok(decided)
}

/// Return of an order that was handed over and never paid: all of its goods, and no money.
fn unpaid(order: &Order, command: &RefundCommand) -> Result<DecidedRefund, RefundRefused> {
    if order.status != OrderStatus::Issued {
        return Err(RefundRefused::NotPaid);
    }
    if command.ends_period {
        return Err(RefundRefused::NoPeriod);
    }
    match &command.scope {
        RefundScope::Everything => {}
        RefundScope::Lines { lines, amount: None } => {
            let named = pieces(order, lines, command.restock)?;
            let back =
                |line: &OrderLine| named.iter().find(|back| back.line == line.id).map_or(0, |back| back.quantity);
            if order.lines.iter().any(|line| back(line) < line.units_left()) {
                return Err(RefundRefused::WholeOnly);
            }
        }
        RefundScope::Amount(_) | RefundScope::Lines { .. } | RefundScope::Delivery { .. } => {
            return Err(RefundRefused::NotPaid);
        }
    }
    let goods = |line: &OrderLine| returned(line, line.units_left(), Money::ZERO, command.restock);
    finish(order, order.lines.iter().map(goods).collect(), Money::ZERO)
}

/// Refund of all remaining money of an order, for money that was not requested. The goods are taken back too,
/// unless they cannot be. `None` if no money remains. Refuses if the lines do not account for the money.
pub fn remaining_refund(order: &Order) -> Result<Option<DecidedRefund>, RefundRefused> {
    let left = order.left_to_refund();
    if left.is_zero() {
        return Ok(None);
    }
    match finish(order, all_of(order, true), order.delivery_left()) {
        Ok(decided) if decided.amount == left => Ok(Some(decided)),
        _ => finish_money(order, left).map(Some),
    }
}

/// Refund that was made outside the service. The goods and the status stay.
pub(super) fn external_refund(order: &Order, amount: Money) -> Result<DecidedRefund, RefundRefused> {
    finish_money(order, amount).map(|decided| DecidedRefund { transition: None, ..decided })
}

fn finish_money(order: &Order, amount: Money) -> Result<DecidedRefund, RefundRefused> {
    let (lines, delivery) = money_alone(order, amount)?;
    finish(order, lines, delivery)
}

pub(crate) fn finish(order: &Order, lines: Vec<ReturnedLine>, delivery: Money) -> Result<DecidedRefund, RefundRefused> {
    let lines: Vec<_> = lines.into_iter().filter(|line| line.quantity > 0 || !line.amount.is_zero()).collect();
    if lines.is_empty() && delivery.is_zero() {
        return Err(RefundRefused::NothingLeft);
    }
    let tickets = |back: &&ReturnedLine| order.lines.iter().any(|line| line.id == back.line && line.is_ticket);
    let tickets: u32 = lines.iter().filter(tickets).map(|back| back.quantity).sum();
    if tickets > 0 && tickets > order.tickets.left() {
        return Err(RefundRefused::TicketsRedeemed { left: order.tickets.left() });
    }
    let (amount, left) = (sum(lines.iter().map(|line| line.amount).chain([delivery])), order.left_to_refund());
    if amount > left {
        return Err(RefundRefused::ExceedsPaid { left });
    }
    let taken_back = |line: &OrderLine| lines.iter().find(|back| back.line == line.id).map_or(0, |back| back.quantity);
    let whole = order.lines.iter().all(|line| taken_back(line) == line.units_left());
    let context = crate::model::TransitionContext { returned: amount == left, ..order.transition_context() };
    let transition = if whole { context.move_when_returned() } else { None };
    Ok(DecidedRefund { amount, delivery, lines, transition })
}

fn all_of(order: &Order, restock: bool) -> Vec<ReturnedLine> {
    order.lines.iter().map(|line| returned(line, line.units_left(), line.money_left(), restock)).collect()
}

/// Splits money without units over every line and the delivery, in proportion to what remains of each.
fn money_alone(order: &Order, amount: Money) -> Result<(Vec<ReturnedLine>, Money), RefundRefused> {
    let left = order.left_to_refund();
    if left.is_zero() {
        return Err(RefundRefused::NothingLeft);
    }
    if amount > left {
        return Err(RefundRefused::ExceedsPaid { left });
    }
    let weights: Vec<Money> = order.lines.iter().map(OrderLine::money_left).chain([order.delivery_left()]).collect();
    let most = sum(weights.iter().copied());
    if amount > most {
        return Err(RefundRefused::ExceedsLines { most });
    }
    let mut shares = shares(amount, &weights);
    let delivery = shares.pop().unwrap_or_default();
    Ok((order.lines.iter().zip(shares).map(|(line, share)| returned(line, 0, share, false)).collect(), delivery))
}

fn pieces(order: &Order, wanted: &[RefundLine], restock: bool) -> Result<Vec<ReturnedLine>, RefundRefused> {
    let (mut seen, mut refused, mut lines) = (BTreeSet::new(), Vec::new(), Vec::new());
    for (position, asked) in wanted.iter().enumerate() {
        let quantity = asked.quantity.get();
        match order.lines.iter().find(|line| line.id == asked.line) {
            None => refused.push((position, RefundProblem::UnknownLine)),
            Some(_) if !seen.insert(asked.line) => refused.push((position, RefundProblem::Repeated)),
            Some(line) if quantity > line.units_left() => {
                refused.push((position, RefundProblem::TooMany { left: line.units_left() }));
            }
            Some(line) => lines.push(returned(line, quantity, money_of(line, quantity), restock)),
        }
    }
    if refused.is_empty() { Ok(lines) } else { Err(RefundRefused::Lines(refused)) }
}

/// Refunds units for less than their price.
fn pieces_for(lines: Vec<ReturnedLine>, amount: Money) -> Result<Vec<ReturnedLine>, RefundRefused> {
    let weights: Vec<Money> = lines.iter().map(|line| line.amount).collect();
    let most = sum(weights.iter().copied());
    if amount > most {
        return Err(RefundRefused::ExceedsLines { most });
    }
    let shares = shares(amount, &weights);
    Ok(lines.into_iter().zip(shares).map(|(line, amount)| ReturnedLine { amount, ..line }).collect())
}

/// Price of `quantity` units of a line. The money of a line is allotted to its units in whole minor units; the
/// first units get one minor unit more if it does not divide. The last unit gets the rest, in any order of
/// refunds.
pub(crate) fn money_of(line: &OrderLine, quantity: u32) -> Money {
    let pieces = line.units_left();
    if pieces == 0 {
        return Money::ZERO;
    }
    let (money, pieces, quantity) = (line.money_left().minor(), i64::from(pieces), i64::from(quantity));
    let minor = money / pieces * quantity + (money % pieces).min(quantity);
    Money::from_minor(minor).unwrap_or_default()
}

pub(crate) fn returned(line: &OrderLine, quantity: u32, amount: Money, restock: bool) -> ReturnedLine {
    let effect = match (line.state, restock) {
        _ if quantity == 0 || line.warehouse.is_none() => ReturnEffect::None,
        (ReservationState::Held, true) => ReturnEffect::Release,
        (ReservationState::Held, false) => ReturnEffect::WriteOff,
        (ReservationState::Sold, true) => ReturnEffect::Restock,
        (ReservationState::Sold, false) | (ReservationState::Released, _) => ReturnEffect::None,
    };
    ReturnedLine { line: line.id, quantity, amount, effect }
}

fn shares(amount: Money, weights: &[Money]) -> Vec<Money> {
    let weights: Vec<i64> = weights.iter().map(|weight| weight.minor()).collect();
    distribute(amount.minor(), &weights).into_iter().map(|share| Money::from_minor(share).unwrap_or_default()).collect()
}

fn sum(amounts: impl Iterator<Item = Money>) -> Money {
    amounts.fold(Money::ZERO, |sum, amount| sum.checked_add(amount).unwrap_or(Money::MAX))
}

/// Receipt of a refund of an order whose payment had the receipt `paid`. `None` if the whole payment is refunded
/// at once: the acquirer then uses the receipt of the payment.
pub fn receipt_of(order: &Order, refund: &DecidedRefund, paid: &Receipt) -> Result<Option<Receipt>, ReceiptProblem> {
    if refund.amount == order.captured {
        return Ok(None);
    }
    let handed_over = order.lines.iter().any(|line| line.state == ReservationState::Sold);
    let lines = refund.lines.iter().map(|back| item(order, back));
    let delivery = (!refund.delivery.is_zero()).then(|| delivery(order, refund.delivery, mode(handed_over)));
    let items: Option<Vec<ReceiptItem>> = lines.chain(delivery).collect();
    match items {
        Some(items) => paid.of_part(&items, refund.amount).map(Some),
        None => paid.of_amount(refund.amount, mode(handed_over)).map(Some),
    }
}

fn mode(handed_over: bool) -> PaymentMode {
    if handed_over { PaymentMode::FullPayment } else { PaymentMode::FullPrepayment }
}

/// `None` if the VAT of the delivery is unknown.
fn delivery(order: &Order, amount: Money, mode: PaymentMode) -> Option<ReceiptItem> {
    Some(ReceiptItem {
        name: delivery_name(&order.delivery_type.name),
        quantity: Quantity::ONE,
        total: amount,
        vat: order.delivery_charge.vat?,
        subject: PaymentSubject::Service,
        mode,
    })
}

/// `None` for a line whose VAT is unknown.
fn item(order: &Order, back: &ReturnedLine) -> Option<ReceiptItem> {
    let line: &OrderLine = order.lines.iter().find(|line| line.id == back.line)?;
    Some(ReceiptItem {
        name: line.item.name.clone(),
        quantity: Quantity::new(back.quantity.into()).unwrap_or(Quantity::ONE),
        total: back.amount,
        vat: line.vat?,
        subject: if line.warehouse.is_some() { PaymentSubject::Commodity } else { PaymentSubject::Service },
        mode: mode(line.state == ReservationState::Sold),
    })
}

/// Refund that was made at the acquirer, outside the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideRefund {
    /// Refund to store as succeeded.
    pub refund: OrderedRefund,
    /// History entry.
    pub entry: EffectEntry,
}

/// Decides the effect of a refund that was made outside the service on its locked order. The goods and the status stay.
/// The refusal is the reason for a review by staff; then the money does not count as refunded.
pub fn outside_refund(order: &Order, made: &RefundIntent) -> Result<OutsideRefund, RefundRefused> {
    let (amount, reason) = (made.amount(), made.description().to_owned());
    let decided = external_refund(order, amount)?;
    let after = order.refunded.checked_add(amount).unwrap_or(Money::MAX);
    let entry = EffectEntry {
        event: OrderEvent::Refunded,
        status: order.status,
        detail: Some(format!("{amount}, made at the acquirer")),
        changes: figure("refunded_amount", order.refunded, after).into_iter().collect(),
    };
    let refund = OrderedRefund { key: made.key(), decided, reason, restock: false, ends_period: false };
    Ok(OutsideRefund { refund, entry })
}

/// Requested refund of an order whose outcome became known. The amounts are those of the order afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledRefund {
    /// Amount of the refund.
    pub amount: Money,
    /// [`OrderRefundState::Succeeded`] or [`OrderRefundState::Failed`].
    pub state: OrderRefundState,
    /// Status of the order.
    pub status: OrderStatus,
    /// Amount of the order with a refund in progress.
    pub refunding: Money,
    /// Refunded amount of the order.
    pub refunded: Money,
}

impl SettledRefund {
    /// Notice to the customer, about the amount. A failed refund is the matter of staff.
    pub fn notice(&self) -> Option<Notice> {
        (self.state == OrderRefundState::Succeeded).then_some(Notice::OrderRefunded)
    }

    /// History entry.
    pub fn entry(&self) -> EffectEntry {
        let succeeded = self.state == OrderRefundState::Succeeded;
        let before = self.refunding.checked_add(self.amount).unwrap_or(Money::MAX);
        let pending = figure("refunding_amount", before, self.refunding);
        let refunded = figure("refunded_amount", self.refunded.saturating_sub(self.amount), self.refunded);
        EffectEntry {
            event: if succeeded { OrderEvent::Refunded } else { OrderEvent::RefundFailed },
            status: self.status,
            detail: Some(self.amount.to_string()),
            changes: pending.into_iter().chain(refunded.filter(|_| succeeded)).collect(),
        }
    }
}
