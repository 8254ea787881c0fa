use std::sync::Mutex;

use chrono::DateTime;
use kontor_kernel::listing::Sort;
use kontor_kernel::testing::{CountingRandom, staff_with};
use kontor_kernel::{
    AccessDenied, AppScope, ApplicationId, CounterpartyId, DeliveryTypeId, FixedClock, Money, OfProject, PageRequest,
    ProjectId, Prose, TokenId,
};

use super::*;
use crate::model::{Customer, DeliveryWay, Named, PaymentMethod, StockEffect, Transition};
use crate::ports::{MockOrderReader, MockOrderStore};

fn id() -> OrderId {
    OrderId::new(7).unwrap()
}

fn order(status: OrderStatus) -> Order {
    let money = |minor| Money::from_minor(minor).unwrap();
    Order {
        id: id(),
        application: Named { id: ApplicationId::new(3).unwrap(), name: "Shop".to_owned() },
        customer: Customer { id: CounterpartyId::new(4).unwrap(), name: String::new(), phone: None },
        manager: None,
        status,
        status_name: String::new(),
        currency: "RUB".to_owned(),
        original_price: money(500),
        product_discount: money(0),
        promo_discount: money(50),
        final_price: money(450),
        promo_code: Some("SPRING".to_owned()),
        delivery_type: DeliveryWay {
            id: DeliveryTypeId::new(1).unwrap(),
            name: String::new(),
            price: money(0),
            is_active: true,
        },
        delivery_subtype: None,
        delivery_subtype_param: None,
        shop: None,
        address: None,
        payment_type: None,
        payment_method: None,
        payment_link: None,
        comment: None,
        lines: Vec::new(),
        payment_open: false,
        paid_at: (status == OrderStatus::Paid).then_some(DateTime::UNIX_EPOCH),
        version: 5,
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    }
}

/// Finds this order of this project, however often it is looked for.
fn knowing(project: i64, order: Order) -> MockOrderReader {
    let mut orders = MockOrderReader::new();
    orders.expect_find().returning(move |_| Ok(Some(OfProject::new(ProjectId::new(project).unwrap(), order.clone()))));
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

/// What is committed when an order is changed: one update, or the refusal and nothing.
async fn committed(order: Order, change: &OrderChange) -> Result<OrderUpdate, OrderRefusal> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut store = MockOrderStore::new();
    let updates = seen.clone();
    store.expect_update().returning(move |update| {
        updates.lock().unwrap().push(update);
        Ok(())
    });
    let outcome = service(knowing(1, order), store).update(&editor(), id(), change).await;
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
    for (from, allowed) in
        [(1, "3 4 5 6 22"), (2, "6"), (22, "3 4 5"), (3, "4 5 6 22"), (4, "5 6 22"), (5, ""), (6, "")]
    {
        let from = OrderStatus::from_id(from).unwrap();
        for target in OrderStatus::ALL.iter().copied().filter(|target| *target != from) {
            let outcome = committed(order(from), &to(target)).await;
            if !allowed.split(' ').any(|id| id == target.id().to_string()) {
                assert!(matches!(outcome, Err(OrderRefusal::Transition(_))), "{from} -> {target}: {outcome:?}");
                continue;
            }
            let update = outcome.unwrap();
            // Giving up the reservation frees the use of a promo code, too.
            let stock = match target {
                OrderStatus::Canceled => StockEffect::Release,
                OrderStatus::Issued => StockEffect::Sell,
                _ => StockEffect::Keep,
            };
            let pays = target == OrderStatus::Paid;
            assert_eq!(update.transition, Some(Transition { from, to: target, stock, pays }));
            assert_eq!(update.paid.is_some(), pays, "{from} -> {target}");
            assert_eq!((update.order_id, update.version), (id(), 5));
            assert_eq!(update.stamp, Stamp::of(&editor(), DateTime::UNIX_EPOCH));
        }
    }
}

#[tokio::test]
async fn money_taken_by_hand_is_announced_with_what_was_paid() {
    let paid = committed(order(OrderStatus::InProcessing), &to(OrderStatus::Paid)).await.unwrap().paid.unwrap();
    assert_eq!((paid.order_id, paid.project_id.get(), paid.application_id.get()), (id(), 1, 3));
    assert_eq!((paid.amount.minor(), paid.currency.as_str(), paid.paid_at), (450, "RUB", DateTime::UNIX_EPOCH));
}

#[tokio::test]
async fn money_of_the_acquirer_holds_an_order_where_it_is() {
    let online = |status| Order { payment_method: Some(PaymentMethod::Sbp), ..order(status) };
    let open = Order { payment_open: true, ..online(OrderStatus::WaitingForPayment) };
    // Nothing gives money back by a move: what has arrived is refunded before the order is canceled.
    let arrived = Order { paid_at: Some(DateTime::UNIX_EPOCH), ..online(OrderStatus::InProcessing) };
    for (order, target, refused) in [
        (open.clone(), OrderStatus::Canceled, TransitionRefused::PaymentOpen),
        (open, OrderStatus::Paid, TransitionRefused::OnlyAcquirerPays),
        (online(OrderStatus::InProcessing), OrderStatus::Paid, TransitionRefused::OnlyAcquirerPays),
        (arrived.clone(), OrderStatus::Canceled, TransitionRefused::AlreadyPaid),
        (arrived, OrderStatus::Paid, TransitionRefused::AlreadyPaid),
    ] {
        let outcome = committed(order, &to(target)).await;
        assert_eq!(outcome.unwrap_err(), OrderRefusal::Transition(refused), "{target}");
    }
}

#[tokio::test]
async fn details_change_without_a_move() {
    let comment = Edit::Set(Some(Prose::parse("fragile").unwrap()));
    let change = OrderChange { comment: comment.clone(), manager: Edit::Set(None), ..to(OrderStatus::Issued) };
    let update = committed(order(OrderStatus::Issued), &change).await.unwrap();
    assert_eq!((update.transition, update.paid), (None, None));
    assert_eq!((update.comment, update.manager, update.address), (comment, Edit::Set(None), Edit::Keep));
}

#[tokio::test]
async fn what_was_decided_on_an_old_version_is_decided_anew() {
    let mut orders = MockOrderReader::new();
    let mut versions = [5, 6, 7].into_iter();
    orders.expect_find().times(3).returning(move |_| {
        let order = Order { version: versions.next().unwrap(), ..order(OrderStatus::Created) };
        Ok(Some(OfProject::new(ProjectId::new(1).unwrap(), order)))
    });
    let mut store = MockOrderStore::new();
    store.expect_update().withf(|update| update.version == 5).once().returning(|_| Err(ChangeRefused::Stale));
    store.expect_update().withf(|update| update.version == 6).once().returning(|_| Ok(()));
    let updated = service(orders, store).update(&editor(), id(), &to(OrderStatus::Issued)).await.unwrap();
    assert_eq!(updated.version, 7);
}

#[tokio::test]
async fn an_order_that_never_settles_is_busy_and_a_refused_manager_ends_it_at_once() {
    let mut store = MockOrderStore::new();
    store.expect_update().times(5).returning(|_| Err(ChangeRefused::Stale));
    let service_of = |store| service(knowing(1, order(OrderStatus::Created)), store);
    let busy = service_of(store).update(&editor(), id(), &to(OrderStatus::Issued)).await;
    assert!(matches!(busy, Err(OrderError::Refused(OrderRefusal::Busy))), "{busy:?}");
    let mut store = MockOrderStore::new();
    store.expect_update().once().returning(|_| Err(ChangeRefused::UnknownManager));
    let unknown = service_of(store).update(&editor(), id(), &OrderChange::default()).await;
    assert!(matches!(unknown, Err(OrderError::Refused(OrderRefusal::UnknownManager))), "{unknown:?}");
}

#[tokio::test]
async fn another_projects_order_is_neither_shown_nor_changed() {
    let service = service(knowing(2, order(OrderStatus::Created)), MockOrderStore::new());
    let staff = staff_with(Permission::all());
    let foreign = |error| matches!(error, OrderError::Denied(AccessDenied::ForeignProject));
    assert!(foreign(service.read(&staff, id()).await.unwrap_err()));
    assert!(foreign(service.update(&staff, id(), &to(OrderStatus::Issued)).await.unwrap_err()));
}

#[tokio::test]
async fn without_the_permission_nothing_is_asked() {
    let service = service(MockOrderReader::new(), MockOrderStore::new());
    let denied = |error| matches!(error, OrderError::Denied(AccessDenied::MissingPermission(_)));
    let listing = Listing::everything(Sort::ascending("id"), PageRequest::new(1, 15, 100).unwrap());
    assert!(denied(service.list(&editor(), listing).await.unwrap_err()));
    assert!(denied(service.read(&editor(), id()).await.unwrap_err()));
    let viewer = staff_with([Permission::view(Resource::Orders), Permission::create(Resource::Orders)]);
    assert!(denied(service.update(&viewer, id(), &to(OrderStatus::Issued)).await.unwrap_err()));
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
