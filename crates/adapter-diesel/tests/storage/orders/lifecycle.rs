//! Order changes by staff.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{AccessDenied, Edit, Line, Listing, PageRequest, ProjectId, Staff, UserId};
use kontor_orders::model::{Order, OrderStatus, ReservationState, TransitionRefused};
use kontor_orders::{OrderChange, OrderError, OrderRefusal};
use kontor_payments::model::GatewayStatus;

use super::shop::ShopFixture;
use super::staff_fixture::StaffFixture;

fn not_moved(outcome: Result<Order, OrderError>) -> TransitionRefused {
    match outcome {
        Err(OrderError::Refused(OrderRefusal::Transition(refused))) => refused,
        outcome => panic!("{outcome:?}"),
    }
}

database_tests! {
    async fn issuing_sells_and_canceling_releases(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 3, 100).await;
        shop.promo("ONE", "1", "NULL").await;
        let sold = shop.placed(&shop.command(&[(vase, 1)])).await;
        let canceled = shop.placed(&shop.with_promo(&[(vase, 2)], "ONE")).await;
        assert_eq!((shop.stock(vase).await, shop.stock_fixture.offers().await.len()), ((3, 3), 0));
        let sold = staff_fixture.move_to(&sold, OrderStatus::Issued).await.unwrap();
        assert_eq!((sold.lines[0].state, shop.stock(vase).await), (ReservationState::Sold, (2, 2)));
        assert_eq!(shop.stock_fixture.offers().await.len(), 0);
        let canceled = staff_fixture.move_to(&canceled, OrderStatus::Canceled).await.unwrap();
        assert_eq!((canceled.lines[0].state, shop.stock(vase).await), (ReservationState::Released, (2, 0)));
        assert_eq!(shop.stock_fixture.offers().await.len(), 1);
        shop.placed(&shop.with_promo(&[(vase, 1)], "ONE")).await;
        let again = staff_fixture.move_to(&sold, OrderStatus::Canceled).await;
        assert_eq!(not_moved(again), TransitionRefused::Final(OrderStatus::Issued));
    }

    async fn canceling_at_once_releases_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 100).await;
        shop.placed(&shop.command(&[(vase, 1)])).await;
        let order = shop.placed(&shop.command(&[(vase, 4)])).await;
        let attempts = (0..8).map(|_| staff_fixture.move_to(&order, OrderStatus::Canceled));
        let mut done = 0;
        for outcome in futures_join(attempts).await {
            done += u32::from(outcome.is_ok());
        }
        assert!(done >= 1);
        assert_eq!(shop.stock(vase).await, (9, 1));
    }

    async fn only_the_acquirer_says_that_an_online_order_is_paid(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 100).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let refused = staff_fixture.move_to(&order, OrderStatus::Paid).await;
        assert_eq!(not_moved(refused), TransitionRefused::OnlyAcquirerPays);
        let id = shop.acquirer.settle(GatewayStatus::Canceled);
        shop.payments.handle_notification(&id, None).await.unwrap();
        assert_eq!((shop.order(order.id).await.status, shop.stock(vase).await), (OrderStatus::Canceled, (9, 0)));
    }

    async fn money_taken_by_hand_is_announced_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 100).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        let paid = staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        assert_eq!((paid.status, paid.paid_at.is_some(), paid.version), (OrderStatus::Paid, true, 2));
        staff_fixture.move_to(&order, OrderStatus::InProcessing).await.unwrap();
        assert!(staff_fixture.move_to(&order, OrderStatus::Paid).await.is_err());
        assert!(staff_fixture.move_to(&order, OrderStatus::Canceled).await.is_err());
        assert_eq!((shop.count("outbox_events").await, shop.count("order_events").await), (1, 3));
    }

    async fn details_are_set_and_cleared(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 100).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        let change = OrderChange {
            manager: Edit::Set(Some(staff_fixture.staff.user_id)),
            comment: Edit::Set(kontor_kernel::Prose::parse("fragile").ok()),
            ..OrderChange::default()
        };
        let edited = staff_fixture.orders.update(&staff_fixture.staff, order.id, change).await.unwrap();
        assert_eq!(edited.manager.as_ref().map(|manager| manager.name.as_str()), Some("S Ivan"));
        assert_eq!((edited.comment.as_deref(), edited.address.as_deref()), (Some("fragile"), Some("Square 1")));
        let cleared = OrderChange { comment: Edit::Set(None), ..OrderChange::default() };
        let cleared = staff_fixture.orders.update(&staff_fixture.staff, order.id, cleared).await.unwrap();
        assert_eq!((cleared.comment, cleared.manager.is_some()), (None, true));
        let outsider = OrderChange { manager: Edit::Set(UserId::new(99_999).ok()), ..OrderChange::default() };
        let refused = staff_fixture.orders.update(&staff_fixture.staff, order.id, outsider).await;
        assert!(matches!(refused, Err(OrderError::Refused(OrderRefusal::UnknownManager))));
        let foreign = Staff { project_id: ProjectId::new(99_999).unwrap(), ..staff_fixture.staff.clone() };
        let refused = staff_fixture.orders.read(&foreign, order.id).await;
        assert!(matches!(refused, Err(OrderError::Denied(AccessDenied::ForeignProject))));
    }

    async fn lists_are_filtered_and_paged(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 99, 100).await;
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(shop.placed(&shop.command(&[(vase, 1)])).await.id);
        }
        staff_fixture.move_to(&shop.order(ids[0]).await, OrderStatus::Canceled).await.unwrap();
        let everything = |number| Listing::unfiltered(Sort::descending("id"), PageRequest::new(number, 2, 100).unwrap());
        let list = |listing| staff_fixture.orders.list(&staff_fixture.staff, listing);
        let page = list(everything(2)).await.unwrap();
        assert_eq!((page.total, page.items.iter().map(|order| order.id).collect::<Vec<_>>()), (5, vec![ids[2], ids[1]]));
        let all = everything(1);
        let made = |comparisons: Vec<Comparison>| {
            let conditions = comparisons.into_iter().map(|comparison| Condition { field: "created_at", comparison }).collect();
            Listing { conditions, ..everything(1) }
        };
        let start = |day: &str| FilterValue::Moment(format!("{day}T00:00:00Z").parse().unwrap());
        let searched = |text: &str| Listing { text: Some(Line::parse(text).unwrap()), ..everything(1) };
        let (customer, other) = (shop.customer.counterparty_id, shop.stock_fixture.second.application_id);
        for (listing, total) in [
            (all.clone().among("status_id", [OrderStatus::Canceled.id()]), 1),
            (all.clone().among("counterparty_id", [customer.get()]), 5),
            (all.clone().among("application_id", [other.get()]), 0),
            (all.clone().among("client_id", [other.get()]), 0),
            (made(vec![Comparison::AtLeast(start("2026-03-01")), Comparison::LessThan(start("2026-03-02"))]), 5),
            (made(vec![Comparison::LessThan(start("2026-03-01"))]), 0),
            (searched(&ids[3].to_string()), 1),
            (searched("+7 900 123-45-67"), 5),
            (searched("nothing"), 0),
        ] {
            assert_eq!(list(listing.clone()).await.unwrap().total, total, "{listing:?}");
        }
    }
}

async fn futures_join<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = all.map(Box::pin).collect();
    let mut outcomes = Vec::new();
    std::future::poll_fn(|context| {
        let mut open = Vec::new();
        for mut future in waiting.drain(..) {
            match future.as_mut().poll(context) {
                std::task::Poll::Ready(outcome) => outcomes.push(outcome),
                std::task::Poll::Pending => open.push(future),
            }
        }
        waiting = open;
        if waiting.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outcomes
}
