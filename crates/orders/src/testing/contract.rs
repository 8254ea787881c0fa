//! Contract of the ports that place, pay and cancel orders, for every implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

mod limits;
mod reading;
mod refunds;
mod tickets;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::history::Author;
use kontor_kernel::{
    ChargeId, CustomerScope, DiscountId, Edit, Money, NomenclatureId, OrderId, PageRequest, ProjectId, ProjectScoped,
    Quantity, Stamp, UserId,
};
use kontor_payments::change::{Change, ChargeChange};
use kontor_payments::model::{Charge, ChargeFailure, ChargePurpose, ChargeState, PaymentMethod, ProviderId};
use kontor_payments::ports::ChargeStore;
use uuid::Uuid;

use crate::change::{Captured, ManualPayment, ManualPaymentMethod, OrderUpdate, Orderer, PlacedOrder, PromoUse};
use crate::error::{OrderError, OrderRefusal};
use crate::model::{
    Cart, CartLine, DeliveryRequest, Order, OrderRefundState, OrderStatus, PreparedPayment, PromoCode,
    ReservationState, TransitionRefused,
};
use crate::placement::{Buyer, FewestWarehouses, ItemKind, OrderCommand, OrderContext, place_purely};
use crate::ports::{CartQuery, CartReader, Decision, OrderReader, OrderStore, PlaceRefused, Placed};

pub use limits::*;
pub use reading::*;
pub use refunds::*;
pub use tickets::*;

/// Storage under test, with one application that sells.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: CartReader + OrderStore + OrderReader + ChargeStore + 'static;

    /// Returns the storage under test. At the beginning it has no orders and no discounts.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new customer, signed in to the application.
    async fn customer(&self) -> CustomerScope;

    /// Deletes a customer.
    async fn delete_customer(&self, customer: CustomerScope);

    /// Creates an employee of the project. A check calls it at most once.
    async fn employee(&self) -> UserId;

    /// Returns new goods of the application, with this stock in one warehouse.
    async fn goods(&self, units: u32, price: Money) -> NomenclatureId;

    /// Returns a new promo code of 10 percent of any cart, with these limits of all orders and of the orders of one
    /// customer.
    async fn promo(&self, usage_limit: Option<u64>, customer_limit: Option<u64>) -> PromoCode;

    /// Returns a free delivery that an order may choose.
    fn delivery(&self) -> DeliveryRequest;
}

/// Numbers that never repeat in a process.
fn fresh() -> i64 {
    static NEXT: AtomicI64 = AtomicI64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn key() -> Uuid {
    Uuid::from_u64_pair(11, fresh().unsigned_abs())
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

/// Identifier that no record has.
fn nothing<Id: TryFrom<i64, Error: std::fmt::Debug>>() -> Id {
    Id::try_from(i64::from(u32::MAX)).unwrap()
}

/// Page that contains every order of a test.
fn whole() -> PageRequest {
    PageRequest::new(1, 100, 100).unwrap()
}

/// Returns the number of orders of a customer.
async fn orders_of<F: Fixture>(fixture: &F, customer: CustomerScope) -> u64 {
    fixture.store().of_customer(customer, whole()).await.unwrap().total
}

/// Items with their quantities.
type Lines<'a> = &'a [(NomenclatureId, i64)];

fn command<F: Fixture>(fixture: &F, lines: Lines<'_>) -> OrderCommand {
    let line = |(item, quantity): &(NomenclatureId, i64)| CartLine {
        item: *item,
        quantity: Quantity::new(*quantity).unwrap(),
    };
    OrderCommand {
        cart: Cart::new(lines.iter().map(line).collect()).unwrap(),
        promo_code: None,
        delivery: fixture.delivery(),
        payment_method: None,
    }
}

fn query(customer: CustomerScope, command: &OrderCommand) -> CartQuery {
    CartQuery {
        point: customer.app.into(),
        customer: Some(customer.counterparty_id),
        items: command.cart.items(),
        promo: command.promo_code.clone(),
        delivery: Some(command.delivery.clone()),
        by_staff: false,
    }
}

/// Order to store, decided from the current data as by the service.
async fn decided<F: Fixture>(fixture: &F, customer: CustomerScope, command: &OrderCommand) -> PlacedOrder {
    let snapshot = fixture.store().snapshot(query(customer, command)).await.unwrap();
    let buyer = Buyer {
        point: customer.app.into(),
        orderer: Orderer::Customer(customer.counterparty_id),
        author: Author::Customer(customer.counterparty_id),
        manager_id: None,
        comment: None,
    };
    let context = OrderContext {
        buyer: &buyer,
        key: key(),
        tickets: None,
        return_url: "https://shop.example",
        allocation: &FewestWarehouses,
        at: noon(),
    };
    place_purely(&snapshot, command, &context).unwrap()
}

async fn on_receipt<F: Fixture>(fixture: &F, customer: CustomerScope, lines: Lines<'_>) -> PlacedOrder {
    decided(fixture, customer, &command(fixture, lines)).await
}

async fn with_promo<F: Fixture>(
    fixture: &F,
    customer: CustomerScope,
    lines: Lines<'_>,
    code: &PromoCode,
) -> PlacedOrder {
    let command = OrderCommand { promo_code: Some(code.clone()), ..command(fixture, lines) };
    decided(fixture, customer, &command).await
}

async fn online<F: Fixture>(fixture: &F, customer: CustomerScope, lines: Lines<'_>) -> PlacedOrder {
    let command = OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..command(fixture, lines) };
    decided(fixture, customer, &command).await
}

async fn placed<F: Fixture>(fixture: &F, new: PlacedOrder) -> Placed {
    fixture.store().place(new).await.unwrap()
}

/// Places an order that is paid online. Returns it with its charge.
async fn placed_online<F: Fixture>(fixture: &F, customer: CustomerScope, lines: Lines<'_>) -> (OrderId, Charge) {
    let placed = placed(fixture, online(fixture, customer, lines).await).await;
    (placed.order_id, placed.charge.unwrap())
}

/// Places orders at the same time. Returns the number of stored orders and the refusals.
async fn race<F: Fixture>(fixture: &F, orders: Vec<PlacedOrder>) -> (usize, Vec<PlaceRefused>) {
    let store = fixture.store();
    let outcomes = join_all(orders.into_iter().map(|order| store.place(order))).await;
    let count = outcomes.len();
    let refused: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    (count - refused.len(), refused)
}

async fn order<F: Fixture>(fixture: &F, customer: CustomerScope, id: OrderId) -> Order {
    let found = OrderReader::find(&*fixture.store(), id).await.unwrap().unwrap();
    found.within(customer.app.project_id).unwrap()
}

async fn charge<F: Fixture>(fixture: &F, id: ChargeId) -> Charge {
    ChargeStore::find(&*fixture.store(), id).await.unwrap().unwrap()
}

/// Units of an item that are not reserved.
async fn available<F: Fixture>(fixture: &F, customer: CustomerScope, item: NomenclatureId) -> u32 {
    let query = query(customer, &command(fixture, &[(item, 1)]));
    let snapshot = fixture.store().snapshot(query).await.unwrap();
    match &snapshot.items[0].kind {
        ItemKind::Goods { places } => places.iter().map(|place| place.available).sum(),
        ItemKind::Service { .. } => panic!("a service has no stock"),
    }
}

/// Orders that use a promo code: of all customers, and of this one.
async fn uses<F: Fixture>(fixture: &F, customer: CustomerScope, item: NomenclatureId, code: &PromoCode) -> (u64, u64) {
    let command = OrderCommand { promo_code: Some(code.clone()), ..command(fixture, &[(item, 1)]) };
    let promo = fixture.store().snapshot(query(customer, &command)).await.unwrap().promo.unwrap();
    (promo.discount.unwrap().used_count, promo.used_by_customer)
}

/// Decision of an employee that moves an order.
fn moves(customer: CustomerScope, to: OrderStatus) -> Decision {
    let project = customer.app.project_id;
    Box::new(move |found: ProjectScoped<Order>| {
        let order = found.within(project).ok_or(OrderError::NotFound)?;
        let transition = order.transition_context().move_to(to).map_err(OrderRefusal::from)?;
        Ok(OrderUpdate { transition: Some(transition), ..OrderUpdate::of(Stamp::of_system(project, noon())) })
    })
}

/// Decision of an employee who takes the money of an order.
fn takes_cash(customer: CustomerScope) -> Decision {
    let project = customer.app.project_id;
    Box::new(move |found: ProjectScoped<Order>| {
        let order = found.within(project).ok_or(OrderError::NotFound)?;
        let transition = order.transition_context().move_when_paid_manually().map_err(OrderRefusal::Unpayable)?;
        let captured = Some(Captured { amount: order.amount_due(), event: None });
        let by_hand = Some(ManualPayment { method: ManualPaymentMethod::Cash, receipt: None });
        Ok(OrderUpdate { transition, captured, by_hand, ..OrderUpdate::of(Stamp::of_system(project, noon())) })
    })
}

async fn moved<F: Fixture>(
    fixture: &F,
    customer: CustomerScope,
    id: OrderId,
    to: OrderStatus,
) -> Result<Option<Charge>, OrderError> {
    fixture.store().change(id, moves(customer, to)).await
}

fn success() -> ChargeChange {
    let provider_id = ProviderId::parse(&format!("pay-{}", key())).unwrap();
    ChargeChange::Succeeded { provider_id, event_id: key(), refund: None, method: None, receipt: None }
}

fn failed(failure: ChargeFailure) -> ChargeChange {
    ChargeChange::Failed { provider_id: None, failure, reason: "no money".to_owned() }
}

/// Records eight updates of a charge at the same time. Returns the number of written ones.
async fn recorded<F: Fixture>(fixture: &F, charge: &Charge, make_change: impl Fn() -> ChargeChange) -> usize {
    let store = fixture.store();
    let outcomes = join_all((0..8).map(|_| store.record(charge.id, make_change(), noon()))).await;
    outcomes.into_iter().filter(|outcome| *outcome.as_ref().unwrap() == Change::Done).count()
}

fn is_final(outcome: &Result<Option<Charge>, OrderError>) -> bool {
    matches!(outcome, Err(OrderError::Refused(OrderRefusal::Transition(TransitionRefused::Final(_)))))
}

/// A stored order is found by its identifier and by its customer. It is closed to other projects.
pub async fn a_placed_order_is_found_again<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let placed = placed(fixture, on_receipt(fixture, anna, &[(vase, 2)]).await).await;
    assert_eq!(placed.charge, None, "it is paid on receipt");
    let first = order(fixture, anna, placed.order_id).await;
    assert_eq!((first.status, first.final_price, first.captured), (OrderStatus::Created, money(2_000), money(0)));
    assert_eq!((first.customer.id, first.paid_at, first.payment_open), (anna.counterparty_id, None, false));
    assert_eq!(first.lines.len(), 1);
    let line = &first.lines[0];
    assert_eq!((line.item.id, line.quantity.get(), line.unit_price, line.total), (vase, 2, money(1_000), money(2_000)));
    assert_eq!(line.state, ReservationState::Held);
    assert_eq!(available(fixture, anna, vase).await, 3);
    let second = store.place(on_receipt(fixture, anna, &[(vase, 1)]).await).await.unwrap();
    let all = store.of_customer(anna, whole()).await.unwrap().items;
    assert_eq!(all.iter().map(|order| order.id).collect::<Vec<_>>(), [second.order_id, first.id], "newest first");
    assert_eq!(all[1], first);
    let oldest = store.of_customer(anna, PageRequest::new(2, 1, 1).unwrap()).await.unwrap();
    assert_eq!((oldest.total, &oldest.items[..]), (2, &all[1..]));
    assert_eq!(orders_of(fixture, boris).await, 0);
    let elsewhere = ProjectId::new(anna.app.project_id.get() + 1).unwrap();
    assert_eq!(OrderReader::find(&*store, first.id).await.unwrap().unwrap().within(elsewhere), None);
    assert!(OrderReader::find(&*store, nothing()).await.unwrap().is_none());
}

/// Under concurrent calls, orders never reserve more than the stock. Each was decided from the same data.
pub async fn racing_orders_never_oversell<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let vase = fixture.goods(20, money(1_000)).await;
    let new = on_receipt(fixture, anna, &[(vase, 3)]).await;
    let (stored, refused) = race(fixture, vec![new; 20]).await;
    assert_eq!(stored, 6, "20 units are enough for six orders of three");
    assert!(refused.iter().all(|refused| matches!(refused, PlaceRefused::OutOfStock { line: 0 })), "{refused:?}");
    assert_eq!(available(fixture, anna, vase).await, 2);
    assert_eq!(orders_of(fixture, anna).await, 6);
}

/// A refused order is not stored in part: neither its other lines, nor its promo use, nor its charge.
pub async fn a_refused_order_leaves_nothing<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let (vase, cup) = (fixture.goods(5, money(1_000)).await, fixture.goods(1, money(500)).await);
    let code = fixture.promo(Some(9), None).await;
    let command = OrderCommand {
        promo_code: Some(code.clone()),
        payment_method: Some(PaymentMethod::Sbp),
        ..command(fixture, &[(vase, 2), (cup, 1)])
    };
    let late = decided(fixture, anna, &command).await;
    placed(fixture, on_receipt(fixture, anna, &[(cup, 1)]).await).await;
    let refused = store.place(late.clone()).await;
    assert!(matches!(refused, Err(PlaceRefused::OutOfStock { line: 1 })), "{refused:?}");
    assert_eq!(available(fixture, anna, vase).await, 5);
    assert_eq!(uses(fixture, anna, vase, &code).await, (0, 0));
    assert_eq!(store.by_key(late.payment.unwrap().key).await.unwrap(), None);
    assert_eq!(orders_of(fixture, anna).await, 1);
}

/// Under concurrent calls, a promo code is used by at most as many orders as it allows.
pub async fn a_promo_code_is_not_overused<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let vase = fixture.goods(100, money(1_000)).await;
    let code = fixture.promo(Some(3), None).await;
    let new = with_promo(fixture, anna, &[(vase, 1)], &code).await;
    assert_eq!((new.promo_discount, new.final_price), (money(100), money(900)));
    let (stored, refused) = race(fixture, vec![new; 12]).await;
    assert_eq!(stored, 3);
    assert!(refused.iter().all(|refused| matches!(refused, PlaceRefused::PromoExhausted)), "{refused:?}");
    assert_eq!(uses(fixture, anna, vase, &code).await, (3, 3));
    assert_eq!(available(fixture, anna, vase).await, 97);
}

/// Under concurrent calls, a customer uses a promo code in at most as many orders as it allows them.
pub async fn a_customer_does_not_overuse_a_promo_code<F: Fixture>(fixture: &F) {
    let (anna, boris) = (fixture.customer().await, fixture.customer().await);
    let vase = fixture.goods(100, money(1_000)).await;
    let code = fixture.promo(None, Some(1)).await;
    let [annas, boriss] =
        [with_promo(fixture, anna, &[(vase, 1)], &code).await, with_promo(fixture, boris, &[(vase, 1)], &code).await];
    let orders = (0..12).map(|number| if number % 2 == 0 { annas.clone() } else { boriss.clone() }).collect();
    let (stored, refused) = race(fixture, orders).await;
    assert_eq!(stored, 2);
    assert!(refused.iter().all(|refused| matches!(refused, PlaceRefused::PromoExhausted)), "{refused:?}");
    assert_eq!(uses(fixture, anna, vase, &code).await, (2, 1));
    assert_eq!(uses(fixture, boris, vase, &code).await, (2, 1));
}

/// An order that was decided from other prices, discounts or another version of its promo code is stale.
pub async fn an_order_from_other_data_is_stale<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let code = fixture.promo(None, None).await;
    let new = with_promo(fixture, anna, &[(vase, 1)], &code).await;
    // The sums stay consistent: storage may refuse others in any way.
    let mut dearer = new.clone();
    dearer.lines[0].unit_price = money(1_001);
    dearer.lines[0].price.original = money(1_001);
    let mut unseen = new.clone();
    unseen.automatic.seen.insert(nothing::<DiscountId>(), 1);
    let mut newer = new.clone();
    newer.promo = newer.promo.map(|promo| PromoUse { version: promo.version + 1, ..promo });
    for (stale, what) in [(dearer, "price"), (unseen, "automatic discount"), (newer, "promo code")] {
        let refused = store.place(stale).await;
        assert!(matches!(refused, Err(PlaceRefused::Stale)), "another {what}: {refused:?}");
    }
    assert_eq!((available(fixture, anna, vase).await, uses(fixture, anna, vase, &code).await), (5, (0, 0)));
    placed(fixture, new).await;
}

/// A deleted customer and an employee of no project have no orders.
pub async fn unknown_people_have_no_orders<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let new = on_receipt(fixture, anna, &[(vase, 1)]).await;
    let managed = PlacedOrder { manager_id: Some(nothing::<UserId>()), ..new.clone() };
    let refused = store.place(managed).await;
    assert!(matches!(refused, Err(PlaceRefused::UnknownManager)), "{refused:?}");
    fixture.delete_customer(anna).await;
    let refused = store.place(new).await;
    assert!(matches!(refused, Err(PlaceRefused::CustomerDeleted)), "{refused:?}");
    assert!(!store.has_employee(anna.app.project_id, nothing()).await.unwrap());
    assert_eq!(available(fixture, boris, vase).await, 5);
}

/// Under concurrent calls, an order is canceled once: its stock and its promo use are released once.
pub async fn a_canceled_order_releases_its_stock_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let code = fixture.promo(Some(1), Some(1)).await;
    placed(fixture, on_receipt(fixture, anna, &[(vase, 1)]).await).await;
    let id = placed(fixture, with_promo(fixture, anna, &[(vase, 3)], &code).await).await.order_id;
    assert_eq!((available(fixture, anna, vase).await, uses(fixture, anna, vase, &code).await), (1, (1, 1)));
    let outcomes = join_all((0..8).map(|_| store.change(id, moves(anna, OrderStatus::Canceled)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| is_final(outcome)).count(), 7, "{outcomes:?}");
    assert_eq!((available(fixture, anna, vase).await, uses(fixture, anna, vase, &code).await), (4, (0, 0)));
    let canceled = order(fixture, anna, id).await;
    assert_eq!((canceled.status, canceled.lines[0].state), (OrderStatus::Canceled, ReservationState::Released));
    placed(fixture, with_promo(fixture, anna, &[(vase, 4)], &code).await).await;
}

/// Concurrent changes of an order are decided one after the other, each with the state that the one before left.
pub async fn changes_are_decided_in_turn<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let id = placed(fixture, on_receipt(fixture, anna, &[(vase, 2)]).await).await.order_id;
    let before = order(fixture, anna, id).await;
    let wishes = (0..8).map(|number| if number % 2 == 0 { OrderStatus::Issued } else { OrderStatus::Canceled });
    let outcomes = join_all(wishes.map(|to| store.change(id, moves(anna, to)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|outcome| is_final(outcome)).count(), 7, "{outcomes:?}");
    let after = order(fixture, anna, id).await;
    assert!(after.version > before.version, "the version grows");
    let left = match after.status {
        OrderStatus::Issued => (3, ReservationState::Sold),
        OrderStatus::Canceled => (5, ReservationState::Released),
        other => panic!("{other}"),
    };
    assert_eq!((available(fixture, anna, vase).await, after.lines[0].state), left);
}

/// A refused change writes nothing. A missing order and an employee of no project are refused.
pub async fn a_refused_change_writes_nothing<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let id = placed(fixture, on_receipt(fixture, anna, &[(vase, 2)]).await).await.order_id;
    let before = order(fixture, anna, id).await;
    let refused = moved(fixture, anna, nothing(), OrderStatus::Canceled).await;
    assert!(matches!(refused, Err(OrderError::NotFound)), "{refused:?}");
    let refused = moved(fixture, anna, id, OrderStatus::WaitingForPayment).await;
    assert!(matches!(refused, Err(OrderError::Refused(OrderRefusal::Transition(_)))), "{refused:?}");
    let stamp = Stamp::of_system(anna.app.project_id, noon());
    let manager = Edit::Set(Some(nothing::<UserId>()));
    let decide: Decision = Box::new(move |_| Ok(OrderUpdate { manager, ..OrderUpdate::of(stamp) }));
    let refused = store.change(id, decide).await;
    assert!(matches!(refused, Err(OrderError::Refused(OrderRefusal::UnknownManager))), "{refused:?}");
    assert_eq!(order(fixture, anna, id).await, before);
}

/// Under concurrent calls, an employee takes the money of an order once.
pub async fn money_taken_by_staff_counts_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let id = placed(fixture, on_receipt(fixture, anna, &[(vase, 2)]).await).await.order_id;
    let outcomes = join_all((0..8).map(|_| store.change(id, takes_cash(anna)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let paid = order(fixture, anna, id).await;
    assert_eq!((paid.status, paid.captured, paid.paid_at), (OrderStatus::Paid, money(2_000), Some(noon())));
    assert_eq!(available(fixture, anna, vase).await, 3, "it keeps its goods");
    let refused = moved(fixture, anna, id, OrderStatus::Canceled).await;
    let expected =
        matches!(refused, Err(OrderError::Refused(OrderRefusal::Transition(TransitionRefused::AlreadyPaid))));
    assert!(expected, "its money must be refunded first: {refused:?}");
}

/// The charge of an order is stored in the commit of the order, under a key of its own.
pub async fn a_charge_is_stored_with_its_order<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let new = online(fixture, anna, &[(vase, 2)]).await;
    let PreparedPayment { key, amount, .. } = new.payment.clone().unwrap();
    let Placed { order_id, charge } = placed(fixture, new.clone()).await;
    let stored = charge.unwrap();
    assert_eq!((stored.state, stored.purpose()), (ChargeState::Prepared, ChargePurpose::Order(order_id)));
    assert_eq!((stored.request.key, stored.request.amount, amount), (key, money(2_000), money(2_000)));
    assert_eq!(store.open_for(ChargePurpose::Order(order_id)).await.unwrap(), Some(stored.clone()));
    let waiting = order(fixture, anna, order_id).await;
    assert_eq!((waiting.status, waiting.payment_open), (OrderStatus::WaitingForPayment, true));
    assert!(store.place(new).await.is_err(), "the key is used");
    assert_eq!((available(fixture, anna, vase).await, orders_of(fixture, anna).await), (3, 1));
    let link = Some("https://pay.example".to_owned());
    let pending = ChargeChange::Pending {
        provider_id: ProviderId::parse(&format!("pay-{key}")).unwrap(),
        confirmation_url: link.clone(),
        next_check_at: noon() + TimeDelta::hours(1),
    };
    assert_eq!(store.record(stored.id, pending, noon()).await.unwrap(), Change::Done);
    assert_eq!(order(fixture, anna, order_id).await.payment_link, link);
}

/// Under concurrent notifications, an order is paid once. Its goods stay reserved, and later outcomes change nothing.
pub async fn an_order_is_paid_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, stored) = placed_online(fixture, anna, &[(vase, 2)]).await;
    assert_eq!(recorded(fixture, &stored, success).await, 1);
    let paid = order(fixture, anna, id).await;
    assert_eq!((paid.status, paid.captured, paid.paid_at), (OrderStatus::Paid, money(2_000), Some(noon())));
    assert_eq!((paid.payment_open, paid.lines[0].state), (false, ReservationState::Held));
    assert_eq!(recorded(fixture, &stored, || failed(ChargeFailure::Canceled)).await, 0);
    assert_eq!(order(fixture, anna, id).await, paid);
    assert_eq!(available(fixture, anna, vase).await, 3);
    let settled = charge(fixture, stored.id).await;
    assert_eq!(
        (settled.state, settled.captured, settled.refundable()),
        (ChargeState::Succeeded, money(2_000), money(2_000))
    );
    assert_eq!(store.open_for(ChargePurpose::Order(id)).await.unwrap(), None);
}

/// A failed payment cancels its order once. A withdrawn payment leaves the order as it is.
pub async fn a_failed_payment_releases_the_stock_once<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let vase = fixture.goods(5, money(1_000)).await;
    let (kept, withdrawn) = placed_online(fixture, anna, &[(vase, 1)]).await;
    let (lost, refused) = placed_online(fixture, anna, &[(vase, 3)]).await;
    assert_eq!(available(fixture, anna, vase).await, 1);
    assert_eq!(recorded(fixture, &refused, || failed(ChargeFailure::Refused)).await, 1);
    assert_eq!(recorded(fixture, &withdrawn, || failed(ChargeFailure::Withdrawn)).await, 1);
    assert_eq!(order(fixture, anna, lost).await.status, OrderStatus::Canceled);
    assert_eq!(order(fixture, anna, kept).await.status, OrderStatus::WaitingForPayment);
    assert_eq!(available(fixture, anna, vase).await, 4);
}

/// Money that arrives for a canceled order is reserved for a refund, once. The released goods stay released.
pub async fn late_money_is_reserved_for_its_refund<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let vase = fixture.goods(5, money(1_000)).await;
    let (id, stored) = placed_online(fixture, anna, &[(vase, 2)]).await;
    moved(fixture, anna, id, OrderStatus::Canceled).await.unwrap();
    assert_eq!(available(fixture, anna, vase).await, 5);
    assert_eq!(recorded(fixture, &stored, success).await, 1);
    let canceled = order(fixture, anna, id).await;
    assert_eq!((canceled.status, canceled.captured), (OrderStatus::Canceled, money(2_000)));
    assert_eq!((canceled.refunding, canceled.left_to_refund()), (money(2_000), money(0)));
    let refunds: Vec<_> = canceled.refunds.iter().map(|refund| (refund.amount, refund.state)).collect();
    assert_eq!(refunds, [(money(2_000), OrderRefundState::Pending)]);
    assert_eq!(charge(fixture, stored.id).await.refunding, money(2_000));
    assert_eq!(available(fixture, anna, vase).await, 5);
}
