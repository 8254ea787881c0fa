//! Strategies of `proptest`, for rules that hold for every order.
//!
//! ```
//! use kontor_kernel::Money;
//! use kontor_orders::refund::remaining_refund;
//! use kontor_orders::testing::strategies::arb_order;
//! use proptest::prelude::*;
//!
//! proptest!(|(order in arb_order())| {
//!     let refund = remaining_refund(&order).unwrap();
//!     prop_assert_eq!(refund.map_or(Money::ZERO, |refund| refund.amount), order.left_to_refund());
//! });
//! ```

use chrono::DateTime;
use kontor_kernel::{Money, Quantity};
use proptest::prelude::*;
use proptest::{collection, sample};

use super::samples::{a_line, order_of};
use crate::model::{Order, OrderLine, OrderStatus, ReservationState};

/// Lines of one to nine units at up to 300.00 each, reserved in warehouse 1.
pub fn arb_line() -> impl Strategy<Value = OrderLine> {
    (0..=30_000_i64, 1..=9_i64).prop_map(|(unit, units)| {
        let quantity = Quantity::new(units).unwrap_or(Quantity::ONE);
        OrderLine { quantity, unit_price: a_line(unit).unit_price, ..a_line(unit * units) }
    })
}

/// Orders in every status, with one to five lines and without delivery price and discounts. Some are paid, and a part of
/// their money is refunded; of a canceled order, all of it.
pub fn arb_order() -> impl Strategy<Value = Order> {
    let parts = (sample::select(OrderStatus::ALL), collection::vec(arb_line(), 1..=5), any::<bool>(), 0..=100_i64);
    parts.prop_map(|(status, lines, maybe_paid, percent)| {
        let state = match status {
            OrderStatus::Canceled => ReservationState::Released,
            OrderStatus::Issued => ReservationState::Sold,
            _ => ReservationState::Held,
        };
        let order = order_of(status, lines.into_iter().map(|line| OrderLine { state, ..line }).collect());
        let is_paid = match status {
            OrderStatus::Created | OrderStatus::WaitingForPayment => false,
            OrderStatus::Paid => true,
            _ => maybe_paid,
        };
        let percent = if status == OrderStatus::Canceled { 100 } else { percent };
        if is_paid { paid(order, percent) } else { order }
    })
}

/// Order whose money has arrived, with this part of each line refunded.
fn paid(order: Order, percent: i64) -> Order {
    let part = |amount: Money| Money::from_minor(amount.minor() * percent / 100).unwrap_or(Money::ZERO);
    let lines = order.lines.into_iter().map(|line| OrderLine { refunded_amount: part(line.total), ..line });
    let lines: Vec<OrderLine> = lines.collect();
    let add = |sum: Money, line: &OrderLine| sum.checked_add(line.refunded_amount).unwrap_or(Money::MAX);
    let refunded = lines.iter().fold(Money::ZERO, add);
    Order { captured: order.final_price, paid_at: Some(DateTime::UNIX_EPOCH), refunded, lines, ..order }
}
