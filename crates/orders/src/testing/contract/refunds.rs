use futures_util::future::join_all;
use kontor_kernel::{CustomerScope, Line, OrderId, ProjectScoped, Quantity, Stamp};
use kontor_payments::model::{Charge, ChargeRequest, NewCharge};
use kontor_payments::ports::{ChargeStore, ChargeStored};

use super::{
    Fixture, Lines, available, charge, key, money, moved, noon, on_receipt, online, order, placed, placed_online,
    recorded, success, takes_cash,
};
use crate::change::{OrderUpdate, OrderedRefund};
use crate::error::{OrderError, OrderRefusal};
use crate::model::{Order, OrderRefundState, OrderStatus, PreparedPayment};
use crate::ports::{Decision, OrderStore as _, Placed};
use crate::refund::{self, RefundCommand, RefundLine, RefundRefused, RefundScope};

/// Places an order that is paid online, and pays it. Returns it with its charge.
async fn paid_online<F: Fixture>(fixture: &F, customer: CustomerScope, lines: Lines<'_>) -> (OrderId, Charge) {
    let (id, charge) = placed_online(fixture, customer, lines).await;
    assert_eq!(recorded(fixture, &charge, success).await, 1);
    (id, charge)
}

/// Decision of an employee who refunds a part of an order.
pub(super) fn refunds(customer: CustomerScope, scope: RefundScope, restock: bool) -> Decision {
    let (project, key, reason) = (customer.app.project_id, key(), Line::parse("broken").unwrap());
    let command = RefundCommand { scope, reason, restock, ends_period: false };
    Box::new(move |found: ProjectScoped<Order>| {
        let order = found.within(project).ok_or(OrderError::NotFound)?;
        let decided = refund::decide(&order, &command).map_err(OrderRefusal::from)?;
        let (transition, reason) = (decided.transition, command.reason.to_string());
        let refund = Some(OrderedRefund { key, decided, reason, restock, ends_period: false });
        Ok(OrderUpdate { transition, refund, ..OrderUpdate::of(Stamp::of_system(project, noon())) })
    })
}

/// One unit of a line, at its price.
fn one_of(order: &Order) -> RefundScope {
    RefundScope::Lines { lines: vec![RefundLine { line: order.lines[0].id, quantity: Quantity::ONE }], amount: None }
}

/// An order has one payment: no other charge for it is stored while the first is open, nor once it is paid.
pub async fn an_order_has_one_payment<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let new = online(fixture, anna, &[(vase, 2)]).await;
    let payment = PreparedPayment { key: key(), ..new.payment.clone().unwrap() };
    let Placed { order_id: id, charge: open } = placed(fixture, new).await;
    let open = open.unwrap();
    let another = || NewCharge {
        project_id: open.project_id,
        application_id: open.application_id,
        counterparty_id: open.counterparty_id,
        request: ChargeRequest { key: key(), ..open.request.clone() },
        next_check_at: noon(),
        at: noon(),
    };
    assert_eq!(ChargeStore::store(&*store, another()).await.unwrap(), ChargeStored::Existing(open.clone()));
    let (before, stamp) = (order(fixture, anna, id).await, Stamp::of_system(anna.app.project_id, noon()));
    let decide: Decision =
        Box::new(move |_| Ok(OrderUpdate { payment: Some(payment.clone()), ..OrderUpdate::of(stamp) }));
    assert!(store.change(id, decide).await.is_err(), "its payment is open");
    assert_eq!(order(fixture, anna, id).await, before);
    assert_eq!(recorded(fixture, &open, success).await, 1);
    let paid = charge(fixture, open.id).await;
    assert_eq!(ChargeStore::store(&*store, another()).await.unwrap(), ChargeStored::Existing(paid));
    assert_eq!(order(fixture, anna, id).await.captured, money(2_000));
}

/// Under concurrent calls, the money of an order is refunded once, and reserved on its charge. Its goods are released
/// once.
pub async fn refunds_never_exceed_the_money_of_an_order<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, stored) = paid_online(fixture, anna, &[(vase, 3)]).await;
    let racing = (0..8).map(|_| store.change(id, refunds(anna, RefundScope::Everything, true)));
    let outcomes = join_all(racing).await;
    let is_nothing = |outcome: &Result<Option<Charge>, OrderError>| {
        matches!(outcome, Err(OrderError::Refused(OrderRefusal::Refund(RefundRefused::NothingLeft))))
    };
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| is_nothing(outcome)).count(), 7, "{outcomes:?}");
    let after = order(fixture, anna, id).await;
    assert_eq!((after.status, after.refunding, after.refunded), (OrderStatus::Canceled, money(3_000), money(0)));
    let refunds: Vec<_> = after.refunds.iter().map(|refund| (refund.amount, refund.state)).collect();
    assert_eq!(refunds, [(money(3_000), OrderRefundState::Pending)]);
    assert_eq!((after.lines[0].refunded_quantity, after.lines[0].refunded_amount), (3, money(3_000)));
    assert_eq!(charge(fixture, stored.id).await.refunding, money(3_000));
    assert_eq!(available(fixture, anna, vase).await, 5);
}

/// Under concurrent calls, each unit of an order is taken back once. With the last one the order is canceled.
pub async fn each_unit_is_taken_back_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, _) = paid_online(fixture, anna, &[(vase, 3)]).await;
    let one = one_of(&order(fixture, anna, id).await);
    let outcomes = join_all((0..8).map(|_| store.change(id, refunds(anna, one.clone(), true)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 3, "{outcomes:?}");
    let after = order(fixture, anna, id).await;
    assert_eq!((after.status, after.refunding, after.refunds.len()), (OrderStatus::Canceled, money(3_000), 3));
    assert_eq!(available(fixture, anna, vase).await, 5);
    // Units that are written off do not return.
    let (lost, _) = paid_online(fixture, anna, &[(vase, 2)]).await;
    store.change(lost, refunds(anna, RefundScope::Everything, false)).await.unwrap();
    assert_eq!(available(fixture, anna, vase).await, 3);
}

/// A canceled order releases the units that were not taken back before.
pub async fn a_canceled_order_releases_what_is_left<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, _) = paid_online(fixture, anna, &[(vase, 3)]).await;
    let one = one_of(&order(fixture, anna, id).await);
    store.change(id, refunds(anna, one, true)).await.unwrap();
    assert_eq!(available(fixture, anna, vase).await, 3);
    store.change(id, refunds(anna, RefundScope::Amount(money(2_000)), true)).await.unwrap();
    assert_eq!(available(fixture, anna, vase).await, 3, "the customer keeps the goods");
    moved(fixture, anna, id, OrderStatus::Canceled).await.unwrap();
    assert_eq!(available(fixture, anna, vase).await, 5);
}

/// Money that an employee took is refunded at once.
pub async fn money_without_a_charge_is_refunded_at_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let id = placed(fixture, on_receipt(fixture, anna, &[(vase, 2)]).await).await.order_id;
    let refused = store.change(id, refunds(anna, RefundScope::Everything, true)).await;
    let is_unpaid = matches!(refused, Err(OrderError::Refused(OrderRefusal::Refund(RefundRefused::NotPaid))));
    assert!(is_unpaid, "{refused:?}");
    store.change(id, takes_cash(anna)).await.unwrap();
    store.change(id, refunds(anna, RefundScope::Everything, true)).await.unwrap();
    let after = order(fixture, anna, id).await;
    assert_eq!((after.captured, after.refunded, after.refunding), (money(2_000), money(2_000), money(0)));
    assert_eq!((after.status, after.refunds[0].state), (OrderStatus::Canceled, OrderRefundState::Succeeded));
    assert_eq!(available(fixture, anna, vase).await, 5);
}
