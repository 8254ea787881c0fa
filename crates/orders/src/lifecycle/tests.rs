use std::sync::Mutex;

use chrono::DateTime;
use kontor_kernel::listing::Sort;
use kontor_kernel::testing::{CountingRandom, staff_with};
use kontor_kernel::{
    AccessDenied, AppScope, ApplicationId, CounterpartyId, DeliverySubtypeId, DeliveryTypeId, FixedClock, Line, Money,
    PageRequest, ProjectId, ProjectScoped, Prose, TokenId,
};

use super::*;
use crate::model::testing::{a_line, an_order as order};
use crate::model::{DeliveryOptionRef, MOVES, MoveCause, PaymentMethod, TransitionRefused};
use crate::ports::{Decision, MockOrderReader, MockOrderStore};
use crate::refund::RefundScope;

fn id() -> OrderId {
    OrderId::new(7).unwrap()
}

/// Always finds this order of this project.
fn knowing(project: i64, order: Order) -> MockOrderReader {
    let mut orders = MockOrderReader::new();
    orders
        .expect_find()
        .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), order.clone()))));
    orders
}

fn service(orders: MockOrderReader, store: MockOrderStore) -> OrderService {
    OrderService {
        orders: Arc::new(orders),
        store: Arc::new(store),
        clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
        random: Arc::new(CountingRandom::new()),
    }
}

fn editor() -> Staff {
    staff_with([Permission::edit(Resource::Orders)])
}

fn to(status: OrderStatus) -> OrderChange {
    OrderChange { status: Edit::Set(status), ..OrderChange::default() }
}

/// Runs the decision on this order of this project, and keeps what would be committed.
fn deciding(project: i64, order: Order, seen: Arc<Mutex<Vec<OrderUpdate>>>) -> MockOrderStore {
    let mut store = MockOrderStore::new();
    let commit = move |_: OrderId, decide: Decision| {
        let update = decide(ProjectScoped::new(ProjectId::new(project).unwrap(), order.clone()))?;
        seen.lock().unwrap().push(update);
        Ok(None)
    };
    store.expect_change().returning(commit);
    store
}

/// Returns the update that a change commits, or its refusal.
async fn committed(order: Order, change: OrderChange) -> Result<OrderUpdate, OrderRefusal> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let store = deciding(1, order.clone(), seen.clone());
    let outcome = service(knowing(1, order), store).update(&editor(), id(), change).await;
    only(outcome, &seen)
}

fn only(outcome: Result<Order, OrderError>, seen: &Mutex<Vec<OrderUpdate>>) -> Result<OrderUpdate, OrderRefusal> {
    let mut seen = seen.lock().unwrap().clone();
    match outcome {
        Ok(_) => {
            assert_eq!(seen.len(), 1);
            Ok(seen.remove(0))
        }
        Err(OrderError::Refused(refusal)) => {
            assert_eq!(seen, []);
            Err(refusal)
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn each_allowed_move_is_committed_with_what_it_does_to_the_goods_and_no_other_is() {
    let allowed = |from, to| MOVES.iter().find(|step| (step.from, step.to, step.by) == (from, to, MoveCause::Staff));
    for from in OrderStatus::ALL.iter().copied() {
        for target in OrderStatus::ALL.iter().copied().filter(|target| *target != from) {
            // Money that has arrived is refunded before the order is canceled.
            let held = from == OrderStatus::Paid && target == OrderStatus::Canceled;
            let expected = allowed(from, target).filter(|_| !held);
            let outcome = committed(order(from), to(target)).await;
            let Some(step) = expected else {
                assert!(matches!(outcome, Err(OrderRefusal::Transition(_))), "{from} -> {target}: {outcome:?}");
                continue;
            };
            let update = outcome.unwrap();
            assert_eq!(update.transition, Some(*step));
            assert_eq!(update.captured.is_some(), step.pays, "{from} -> {target}");
            assert_eq!(update.stamp, Stamp::of(&editor(), DateTime::UNIX_EPOCH));
        }
    }
}

#[tokio::test]
async fn money_taken_by_hand_is_announced_with_what_was_paid() {
    let captured = committed(order(OrderStatus::InProcessing), to(OrderStatus::Paid)).await.unwrap().captured.unwrap();
    let event = captured.event.unwrap();
    assert_eq!((event.order_id, event.project_id.get(), event.application_id.get()), (id(), 1, 3));
    assert_eq!((event.amount.minor(), event.currency.as_str(), event.paid_at), (450, "RUB", DateTime::UNIX_EPOCH));
    // An order without application has no webhooks to notify.
    let order = Order { application: None, ..order(OrderStatus::InProcessing) };
    let captured = committed(order, to(OrderStatus::Paid)).await.unwrap().captured;
    assert_eq!(captured, Some(Captured { amount: Money::from_minor(450).unwrap(), event: None }));
}

#[tokio::test]
async fn only_the_acquirer_says_that_an_online_order_is_paid() {
    for status in [OrderStatus::WaitingForPayment, OrderStatus::InProcessing] {
        let online = Order { payment_method: Some(PaymentMethod::Sbp), ..order(status) };
        let outcome = committed(online, to(OrderStatus::Paid)).await;
        assert_eq!(outcome.unwrap_err(), OrderRefusal::Transition(TransitionRefused::OnlyAcquirerPays), "{status}");
    }
}

#[tokio::test]
async fn an_order_for_a_courier_keeps_an_address() {
    let way = |type_id: i64, subtype: Option<i64>| {
        let known = order(OrderStatus::Created);
        let way = |id| DeliveryOptionRef { id, name: String::new(), price: Money::ZERO, is_active: true };
        Order {
            delivery_type: DeliveryOptionRef { id: DeliveryTypeId::new(type_id).unwrap(), ..known.delivery_type },
            delivery_subtype: subtype.map(|id| way(DeliverySubtypeId::new(id).unwrap())),
            address: Some("Lenina 1".to_owned()),
            ..known
        }
    };
    let emptied = || OrderChange { address: Edit::Set(None), ..OrderChange::default() };
    let courier = committed(way(2, Some(2)), emptied()).await;
    assert_eq!(courier.unwrap_err(), OrderRefusal::AddressRequired);
    let seen = service(knowing(1, way(2, Some(2))), MockOrderStore::new());
    let previewed = seen.preview_update(&editor(), id(), &emptied()).await;
    assert!(matches!(previewed, Err(OrderError::Refused(OrderRefusal::AddressRequired))));
    for (type_id, subtype) in [(1, None), (2, Some(1)), (7, Some(2)), (7, None)] {
        let update = committed(way(type_id, subtype), emptied()).await.unwrap();
        assert_eq!(update.address, Edit::Set(None), "{type_id} {subtype:?}");
    }
    let moved = OrderChange { address: Edit::Set(Address::parse("Mira 2").ok()), ..OrderChange::default() };
    assert!(committed(way(2, Some(2)), moved).await.is_ok());
}

#[tokio::test]
async fn a_refund_is_decided_on_the_current_order() {
    let command = RefundCommand {
        scope: RefundScope::Everything,
        reason: Line::parse("late").unwrap(),
        restock: true,
        ends_period: false,
    };
    let seen = Arc::new(Mutex::new(Vec::new()));
    let paid = Order { lines: vec![a_line(450)], ..order(OrderStatus::Paid) };
    let service = service(knowing(1, paid.clone()), deciding(1, paid, seen.clone()));
    let outcome = service.refund(&editor(), id(), command.clone()).await;
    let update = only(outcome, &seen).unwrap();
    let refund = update.refund.unwrap();
    assert_eq!((refund.decided.amount.minor(), refund.reason.as_str(), refund.restock), (450, "late", true));
    assert_eq!(update.transition.map(|step| step.to), Some(OrderStatus::Canceled));
    assert_eq!(refund.intent(id()).unwrap().key(), refund.key);
    let (_, preview) = service.preview_refund(&editor(), id(), &command).await.unwrap();
    assert_eq!((preview.refund, seen.lock().unwrap().len()), (Some(refund.decided), 1));
}

#[tokio::test]
async fn details_change_without_a_move() {
    let comment = Edit::Set(Some(Prose::parse("fragile").unwrap()));
    let change = OrderChange { comment: comment.clone(), manager: Edit::Set(None), ..to(OrderStatus::Issued) };
    let update = committed(order(OrderStatus::Issued), change).await.unwrap();
    assert_eq!((update.transition, update.captured), (None, None));
    assert_eq!((update.comment, update.manager, update.address), (comment, Edit::Set(None), Edit::Keep));
}

#[tokio::test]
async fn another_projects_order_is_neither_shown_nor_changed() {
    let store = deciding(2, order(OrderStatus::Created), Arc::default());
    let service = service(knowing(2, order(OrderStatus::Created)), store);
    let staff = staff_with(Permission::all());
    let foreign = |error| matches!(error, OrderError::Denied(AccessDenied::ForeignProject));
    assert!(foreign(service.read(&staff, id()).await.unwrap_err()));
    assert!(foreign(service.update(&staff, id(), to(OrderStatus::Issued)).await.unwrap_err()));
}

#[tokio::test]
async fn storage_is_not_read_without_the_permission() {
    let service = service(MockOrderReader::new(), MockOrderStore::new());
    let denied = |error| matches!(error, OrderError::Denied(AccessDenied::MissingPermission(_)));
    let listing = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 15, 100).unwrap());
    assert!(denied(service.list(&editor(), listing).await.unwrap_err()));
    assert!(denied(service.read(&editor(), id()).await.unwrap_err()));
    let viewer = staff_with([Permission::view(Resource::Orders), Permission::create(Resource::Orders)]);
    assert!(denied(service.update(&viewer, id(), to(OrderStatus::Issued)).await.unwrap_err()));
}

#[tokio::test]
async fn customers_see_what_they_ordered_in_this_application_and_nothing_else() {
    let customer = |project, application, customer| CustomerScope {
        app: AppScope {
            project_id: ProjectId::new(project).unwrap(),
            application_id: ApplicationId::new(application).unwrap(),
            wholesale: false,
        },
        counterparty_id: CounterpartyId::new(customer).unwrap(),
        token_id: TokenId::new(1).unwrap(),
    };
    let service = service(knowing(1, order(OrderStatus::Created)), MockOrderStore::new());
    assert_eq!(service.one_of_customer(customer(1, 3, 4), id()).await.unwrap(), order(OrderStatus::Created));
    for other in [customer(2, 3, 4), customer(1, 2, 4), customer(1, 3, 5)] {
        let hidden = service.one_of_customer(other, id()).await;
        assert!(matches!(hidden, Err(OrderError::NotFound)), "{other:?}");
    }
}

#[tokio::test]
async fn a_preview_of_a_move_shows_its_effects_and_commits_nothing() {
    let held = Order { lines: vec![a_line(450)], ..order(OrderStatus::Created) };
    // The store expects no calls: any change fails the test.
    let service = service(knowing(1, held.clone()), MockOrderStore::new());
    let (seen, preview) = service.preview_update(&editor(), id(), &to(OrderStatus::Canceled)).await.unwrap();
    assert_eq!((&seen, preview.status), (&held, OrderStatus::Canceled));
    let stock: Vec<_> = preview.stock.iter().map(|effect| (effect.quantity, effect.reserved)).collect();
    assert_eq!(stock, [(0, -1)]);
    let (_, issued) = service.preview_update(&editor(), id(), &to(OrderStatus::Issued)).await.unwrap();
    let stock: Vec<_> = issued.stock.iter().map(|effect| (effect.quantity, effect.reserved)).collect();
    assert_eq!(stock, [(-1, -1)]);
    let (_, kept) = service.preview_update(&editor(), id(), &to(OrderStatus::InProcessing)).await.unwrap();
    assert_eq!((kept.stock, kept.status), (vec![], OrderStatus::InProcessing));
    let (_, same) = service.preview_update(&editor(), id(), &OrderChange::default()).await.unwrap();
    assert_eq!((same.stock, same.status, same.difference), (vec![], OrderStatus::Created, 0));
    let viewer = staff_with([Permission::view(Resource::Orders)]);
    assert!(service.preview_update(&viewer, id(), &to(OrderStatus::Canceled)).await.is_err());
}

#[tokio::test]
async fn released_units_move_no_stock_again() {
    let released = crate::model::OrderLine { state: crate::model::ReservationState::Released, ..a_line(450) };
    let service_line = crate::model::OrderLine { inventory: None, warehouse: None, ..a_line(450) };
    let given_back = crate::model::OrderLine { refunded_quantity: 1, ..a_line(450) };
    let held = Order { lines: vec![released, service_line, given_back], ..order(OrderStatus::Created) };
    let service = service(knowing(1, held), MockOrderStore::new());
    let (_, preview) = service.preview_update(&editor(), id(), &to(OrderStatus::Canceled)).await.unwrap();
    assert_eq!(preview.stock, []);
}

#[tokio::test]
async fn a_manager_is_an_employee_of_the_project() {
    let manager = UserId::new(3).unwrap();
    let change = OrderChange { manager: Edit::Set(Some(manager)), ..OrderChange::default() };
    for known in [true, false] {
        let mut orders = knowing(1, order(OrderStatus::Created));
        orders
            .expect_has_employee()
            .withf(move |project, user| (project.get(), *user) == (1, manager))
            .times(1)
            .returning(move |_, _| Ok(known));
        let previewed = service(orders, MockOrderStore::new()).preview_update(&editor(), id(), &change).await;
        match previewed {
            Ok(_) => assert!(known),
            Err(OrderError::Refused(OrderRefusal::UnknownManager)) => assert!(!known),
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_preview_of_a_refund_is_decided_as_the_refund() {
    let paid = Order { lines: vec![a_line(450)], ..order(OrderStatus::Paid) };
    let command = RefundCommand {
        scope: RefundScope::Everything,
        reason: Line::parse("late").unwrap(),
        restock: true,
        ends_period: false,
    };
    let service = service(knowing(1, paid), MockOrderStore::new());
    let (_, preview) = service.preview_refund(&editor(), id(), &command).await.unwrap();
    assert_eq!((preview.difference, preview.left, preview.status), (-450, Money::ZERO, OrderStatus::Canceled));
    assert_eq!(preview.refund.map(|refund| refund.amount.minor()), Some(450));
    let viewer = staff_with([Permission::view(Resource::Orders)]);
    assert!(matches!(service.preview_refund(&viewer, id(), &command).await, Err(OrderError::Denied(_))));
}

#[tokio::test]
async fn canceling_is_a_move_and_lists_and_histories_are_of_the_project() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let store = deciding(1, order(OrderStatus::Created), seen.clone());
    let outcome = service(knowing(1, order(OrderStatus::Created)), store).cancel(&editor(), id()).await;
    let update = only(outcome, &seen).unwrap();
    assert_eq!(update.transition.map(|step| step.to), Some(OrderStatus::Canceled));

    let request = PageRequest::new(1, 10, 10).unwrap();
    let mut orders = knowing(1, order(OrderStatus::Created));
    orders
        .expect_list()
        .withf(|project, _| project.get() == 1)
        .returning(|_, listing| Ok(Page { items: vec![order(OrderStatus::Created)], total: 1, request: listing.page }));
    orders
        .expect_history()
        .withf(move |asked, page| (*asked, *page) == (id(), request))
        .returning(|_, request| Ok(Page { items: vec![], total: 3, request }));
    let service = service(orders, MockOrderStore::new());
    let viewer = staff_with([Permission::view(Resource::Orders)]);
    let listing = Listing::unfiltered(Sort::ascending("id"), request);
    assert_eq!(service.list(&viewer, listing).await.unwrap().items, [order(OrderStatus::Created)]);
    assert_eq!(service.history(&viewer, id(), request).await.unwrap().total, 3);
    assert!(service.history(&staff_with([]), id(), request).await.is_err());
}
