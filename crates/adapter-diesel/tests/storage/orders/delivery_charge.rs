//! Delivery price: paid with the order, charged once, and refunded at most once.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::{DeliverySubtypeId, DeliveryTypeId, Edit, Money, ProjectId};
use kontor_orders::model::{Address, DeliveryChoice, DeliveryRequest, Order, OrderStatus, PaymentState};
use kontor_orders::ports::{DeliveryOption, DeliverySettings as _};
use kontor_orders::refund::{RefundCommand, RefundRefused, RefundScope};
use kontor_orders::{OrderCommand, OrderError, OrderRefusal};
use tokio::sync::Barrier;

use super::contacts::with_courier;
use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::{StaffFixture, give_back, take_back};

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

/// A shop whose project charges delivery: 300.00 for delivery and 300.00 more for the courier.
async fn charging(db: &TestDatabase) -> ShopFixture<'_> {
    let shop = ShopFixture::open(db).await;
    with_courier(&shop).await;
    assert!(db.database.set_charges_delivery(shop.customer.app.project_id, true).await.unwrap());
    shop
}

/// The same order, delivered by a courier.
fn brought(command: OrderCommand) -> OrderCommand {
    let choice =
        DeliveryChoice { type_id: kontor_orders::model::BY_DELIVERY, subtype_id: DeliverySubtypeId::new(2).ok() };
    let address = Address::parse("Lenina 1").ok();
    OrderCommand { delivery: DeliveryRequest { address, ..DeliveryRequest::of_choice(choice) }, ..command }
}

fn delivery(lines: &RefundCommand) -> RefundCommand {
    let lines = match &lines.scope {
        RefundScope::Lines { lines, .. } => lines.clone(),
        _ => Vec::new(),
    };
    RefundCommand { scope: RefundScope::Delivery { lines }, ..take_back(&[]) }
}

fn parts(order: &Order) -> Vec<(i64, i64)> {
    order.refunds.iter().map(|refund| (refund.amount.minor(), refund.delivery.minor())).collect()
}

database_tests! {
    async fn a_project_charges_delivery_once_it_says_so(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        with_courier(&shop).await;
        let (project, store) = (shop.customer.app.project_id, &shop.stock_fixture.db.database);
        let reported = |ways: Vec<DeliveryOption>| -> Vec<(i64, Option<i64>, i64)> {
            let reported = |way: &DeliveryOption| {
                (way.delivery_type.id.get(), way.subtype.as_ref().map(|subtype| subtype.id.get()), way.price().minor())
            };
            ways.iter().map(reported).collect()
        };
        let terms = store.delivery_terms(project).await.unwrap().unwrap();
        assert!(!terms.charges_delivery);
        assert_eq!((&*terms.ways[1].delivery_type.name, terms.ways[1].delivery_type.price), ("Delivery", money(30_000)));
        assert_eq!(reported(terms.ways), [(1, None, 0), (2, Some(2), 60_000)]);
        let vase = shop.goods("Vase", 5, 1_000).await;
        let before = shop.paid_online(&brought(shop.online(&[(vase, 1)]))).await;
        assert_eq!((before.delivery_charge.price, before.captured), (Money::ZERO, money(1_000)));

        assert!(store.set_charges_delivery(project, true).await.unwrap());
        let order = shop.paid_online(&brought(shop.online(&[(vase, 1)]))).await;
        assert_eq!((order.final_price, order.amount_due(), order.captured), (money(1_000), money(61_000), money(61_000)));
        assert_eq!((order.payment_state(), order.delivery_left()), (PaymentState::Paid, money(60_000)));
        // Another price applies to later orders.
        let by = |type_id: i64, subtype_id: Option<i64>| DeliveryChoice {
            type_id: DeliveryTypeId::new(type_id).unwrap(),
            subtype_id: subtype_id.map(|id| DeliverySubtypeId::new(id).unwrap()),
        };
        assert!(store.set_delivery_price(project, by(2, None), money(100)).await.unwrap());
        assert!(store.set_delivery_price(project, by(2, Some(2)), money(20)).await.unwrap());
        for nothing in [by(9, None), by(2, Some(9)), by(1, Some(2))] {
            assert!(!store.set_delivery_price(project, nothing, money(1)).await.unwrap());
        }
        assert_eq!(reported(store.delivery_terms(project).await.unwrap().unwrap().ways), [(1, None, 0), (2, Some(2), 120)]);
        assert_eq!(shop.order(order.id).await.amount_due(), money(61_000));
        let picked_up = shop.paid_online(&shop.online(&[(vase, 1)])).await;
        assert_eq!((picked_up.delivery_charge.price, picked_up.captured), (Money::ZERO, money(1_000)));
        shop.sound().await;

        let nowhere = ProjectId::new(999).unwrap();
        assert_eq!(store.delivery_terms(nowhere).await.unwrap(), None);
        assert!(!store.set_charges_delivery(nowhere, true).await.unwrap());
    }

    async fn every_part_of_it_goes_back_once(db: TestDatabase) {
        let shop = charging(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.paid_online(&brought(shop.online(&[(vase, 2)]))).await;
        let line = order.lines[0].id;
        let after = staff_fixture.take_back(order.id, &[(line, 1)]).await.unwrap();
        assert_eq!((parts(&after), after.delivery_left()), (vec![(1_000, 0)], money(60_000)));
        let after = staff_fixture.orders.refund(&staff_fixture.staff, order.id, give_back(money(6_100))).await.unwrap();
        assert_eq!((parts(&after)[1], after.delivery_left()), ((6_100, 6_000), money(54_000)));
        let after = staff_fixture.orders.refund(&staff_fixture.staff, order.id, delivery(&take_back(&[]))).await.unwrap();
        assert_eq!((parts(&after)[2], after.delivery_left()), ((54_000, 54_000), Money::ZERO));
        assert_eq!((after.status, after.left_to_refund()), (OrderStatus::Paid, money(900)));
        let again = staff_fixture.orders.refund(&staff_fixture.staff, order.id, delivery(&take_back(&[]))).await;
        assert!(matches!(again, Err(OrderError::Refused(OrderRefusal::Refund(RefundRefused::NoDelivery)))), "{again:?}");
        shop.sound().await;
        let last = staff_fixture.take_back(order.id, &[]).await.unwrap();
        assert_eq!((last.status, parts(&last)[3]), (OrderStatus::Canceled, (900, 0)));
        shop.reconcile_refunds().await;
        assert_eq!(shop.money(order.id).await, (62_000, 62_000, 0));
        assert_eq!((shop.stock(vase).await, shop.order(order.id).await.payment_state()), ((9, 0), PaymentState::Refunded));
        shop.sound().await;
    }

    async fn a_failed_refund_restores_the_rest_of_the_delivery(db: TestDatabase) {
        let shop = charging(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.paid_online(&brought(shop.online(&[(vase, 2)]))).await;
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, delivery(&take_back(&[(order.lines[0].id, 1)]))).await.unwrap();
        assert_eq!(shop.order(order.id).await.delivery_left(), Money::ZERO);
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        for _ in 0..30 {
            shop.reconcile_refunds().await;
            shop.wait(3_700);
        }
        let kept = shop.order(order.id).await;
        assert_eq!((kept.delivery_left(), kept.left_to_refund()), (money(60_000), money(62_000)));
        shop.sound().await;
    }

    async fn money_taken_by_hand_is_of_the_lines_and_the_delivery(db: TestDatabase) {
        let shop = charging(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&brought(shop.command(&[(vase, 1)]))).await;
        let paid = staff_fixture.takes_cash(order.id).await.unwrap();
        assert_eq!((paid.captured, paid.payment_state()), (money(61_000), PaymentState::Paid));
        let reported = "SELECT amount AS number FROM notifications WHERE code = 'order_paid'";
        assert_eq!(shop.stock_fixture.number(reported.to_owned()).await, 61_000);
        let back = staff_fixture.take_back(order.id, &[]).await.unwrap();
        assert_eq!((back.status, parts(&back)), (OrderStatus::Canceled, vec![(61_000, 60_000)]));
        shop.sound().await;
    }

    async fn of_all_who_refund_the_delivery_at_once_one_does(db: TestDatabase) {
        let shop = charging(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.paid_online(&brought(shop.online(&[(vase, 2)]))).await;
        let start = Arc::new(Barrier::new(8));
        let racers: Vec<_> = (0..8)
            .map(|_| {
                let (staff_fixture, start, id) = (staff_fixture.clone(), start.clone(), order.id);
                tokio::spawn(async move {
                    start.wait().await;
                    staff_fixture.orders.refund(&staff_fixture.staff, id, delivery(&take_back(&[]))).await
                })
            })
            .collect();
        let mut refunded = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => refunded += 1,
                Err(OrderError::Refused(OrderRefusal::Refund(RefundRefused::NoDelivery))) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let after = shop.order(order.id).await;
        assert_eq!((refunded, after.refunding, after.left_to_refund()), (1, money(60_000), money(2_000)));
        shop.sound().await;
    }

    async fn a_setting_that_changes_meanwhile_counts_wholly_or_not_at_all(db: TestDatabase) {
        let shop = charging(&db).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        let (store, project) = (shop.stock_fixture.db.database.clone(), shop.customer.app.project_id);
        let flips = tokio::spawn(async move {
            for turn in 0..20 {
                store.set_charges_delivery(project, turn % 2 == 1).await.unwrap();
            }
        });
        let mut orders = Vec::new();
        for _ in 0..20 {
            orders.push(shop.placed(&brought(shop.online(&[(vase, 1)]))).await);
        }
        flips.await.unwrap();
        for order in orders {
            let asked = format!("SELECT amount AS number FROM charges WHERE purpose = 'order' AND purpose_id = {}", order.id);
            assert_eq!(shop.stock_fixture.number(asked).await, order.amount_due().minor());
            assert!([0, 60_000].contains(&order.delivery_charge.price.minor()));
        }
        shop.sound().await;
    }

    async fn another_address_leaves_the_price(db: TestDatabase) {
        let shop = charging(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&brought(shop.command(&[(vase, 1)]))).await;
        let address = Edit::Set(Address::parse("Mira 2").ok());
        let change = kontor_orders::OrderChange { address, ..kontor_orders::OrderChange::default() };
        let moved = staff_fixture.orders.update(&staff_fixture.staff, order.id, change).await.unwrap();
        assert_eq!(moved.amount_due(), money(61_000));
    }
}
