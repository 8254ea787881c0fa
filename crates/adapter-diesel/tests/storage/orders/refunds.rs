//! Refunds of money and goods never exceed the payment.

use std::sync::Arc;

use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, tests_with};
use kontor_kernel::{Clock, Money, OrderId};
use kontor_orders::model::{Order, OrderRefundState, OrderStatus, PaymentState, ReservationState, TransitionRefused};
use kontor_orders::refund::{RefundCommand, RefundRefused};
use kontor_orders::{OrderCommand, OrderError, OrderRefusal};
use kontor_payments::model::GatewayStatus;

use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::{StaffFixture, give_back, take_back};
use crate::holder::{Holder, until_waiting};

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn refused(outcome: Result<Order, OrderError>) -> RefundRefused {
    match outcome {
        Err(OrderError::Refused(OrderRefusal::Refund(refused))) => refused,
        outcome => panic!("{outcome:?}"),
    }
}

impl ShopFixture<'_> {
    /// An order that was paid online.
    pub async fn paid_online(&self, command: &OrderCommand) -> Order {
        let order = self.placed(command).await;
        let id = self.acquirer.settle(GatewayStatus::Succeeded);
        self.payments.handle_notification(&id, None).await.unwrap();
        self.order(order.id).await
    }

    /// Requests every due refund from the acquirer.
    pub(super) async fn reconcile_refunds(&self) {
        while self.refunds.reconcile("w", 100).await.unwrap().checked > 0 {}
    }

    /// `(captured, refunded, pending)` of the order and its charge.
    pub(super) async fn money(&self, order: OrderId) -> (i64, i64, i64) {
        let order = self.order(order).await;
        let reported = (order.captured.minor(), order.refunded.minor(), order.refunding.minor());
        let charge = |column| {
            self.stock_fixture.number(format!(
                "SELECT {column} AS number FROM charges WHERE purpose_id = {} AND captured > 0",
                order.id
            ))
        };
        assert_eq!(reported, (charge("captured").await, charge("refunded").await, charge("refunding").await));
        reported
    }

    pub(super) async fn sound(&self) {
        let mut found = Vec::new();
        self.stock_fixture.db.database.examine(None, |difference| found.push(difference)).await.unwrap();
        assert_eq!(found, []);
    }

    async fn reasons(&self, reason: &str) -> i64 {
        self.stock_fixture
            .number(format!("SELECT count(*) AS number FROM stock_movements WHERE reason = '{reason}'"))
            .await
    }
}

database_tests! {
    async fn pieces_go_back_before_they_were_handed_over(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 3, 1_000).await, shop.goods("Cup", 5, 333).await);
        shop.promo("TEN", "1", "NULL").await;
        let order = shop.paid_online(&OrderCommand { payment_method: shop.online(&[(vase, 1)]).payment_method,
            ..shop.with_promo(&[(vase, 3), (cup, 1)], "TEN") }).await;
        assert_eq!((order.payment_state(), shop.stock_fixture.offers().await.len()), (PaymentState::Paid, 1));
        let line = order.lines[0].id;
        let after = staff_fixture.take_back(order.id, &[(line, 2)]).await.unwrap();
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Paid, PaymentState::Paid));
        assert_eq!((after.lines[0].refunded_quantity, after.lines[0].refunded_amount), (2, money(1_800)));
        assert_eq!((shop.stock(vase).await, shop.stock_fixture.offers().await.len()), ((3, 1), 2));
        assert_eq!(after.refunds[0].state, OrderRefundState::Pending);
        assert_eq!(shop.money(order.id).await, (3_000, 0, 1_800));
        shop.sound().await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        assert_eq!(shop.money(order.id).await, (3_000, 1_800, 0));
        assert_eq!(shop.order(order.id).await.refunds[0].state, OrderRefundState::Succeeded);

        // The remaining units are sold, and refunded afterwards.
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        assert_eq!((shop.stock(vase).await, shop.stock(cup).await), ((2, 0), (4, 0)));
        let last = staff_fixture.take_back(order.id, &[]).await.unwrap();
        assert_eq!((last.status, last.payment_state()), (OrderStatus::Issued, PaymentState::PartiallyRefunded));
        assert_eq!((shop.stock(vase).await, shop.stock(cup).await), ((3, 0), (5, 0)));
        assert_eq!((shop.reasons("return").await, shop.reasons("release").await), (2, 1));
        assert_eq!(refused(staff_fixture.take_back(order.id, &[]).await), RefundRefused::NothingLeft);
        shop.reconcile_refunds().await;
        assert_eq!(shop.order(order.id).await.payment_state(), PaymentState::Refunded);
        assert_eq!(shop.money(order.id).await, (3_000, 3_000, 0));
        assert_eq!(shop.acquirer.refunds.lock().unwrap().len(), 2);
        shop.sound().await;
    }

    async fn everything_goes_back_and_the_order_is_canceled(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 3, 1_000).await;
        shop.promo("ONE", "1", "NULL").await;
        let online = shop.online(&[(vase, 1)]).payment_method;
        let command = OrderCommand { payment_method: online, ..shop.with_promo(&[(vase, 3)], "ONE") };
        let order = shop.paid_online(&command).await;
        let after = staff_fixture.take_back(order.id, &[]).await.unwrap();
        assert_eq!((after.status, after.lines[0].state), (OrderStatus::Canceled, ReservationState::Released));
        assert_eq!((shop.stock(vase).await, shop.count("discount_usages").await), ((3, 0), 0));
        shop.sound().await;
        shop.placed(&shop.with_promo(&[(vase, 1)], "ONE")).await;
    }

    async fn units_without_restock_are_written_off(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 1_000).await;
        let order = shop.paid_online(&shop.online(&[(vase, 3)])).await;
        let command = RefundCommand { restock: false, ..take_back(&[(order.lines[0].id, 1)]) };
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, command.clone()).await.unwrap();
        assert_eq!((shop.stock(vase).await, shop.reasons("write_off").await), ((4, 2), 1));
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, command).await.unwrap();
        assert_eq!(shop.stock(vase).await, (2, 0));
        shop.sound().await;
    }

    async fn a_deleted_warehouse_takes_nothing_back(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 1, 1_000).await;
        let order = shop.paid_online(&shop.online(&[(vase, 1)])).await;
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        shop.stock_fixture.run("UPDATE inventories SET deleted_at = updated_at".to_owned()).await;
        let gone = refused(staff_fixture.take_back(order.id, &[]).await);
        assert_eq!(gone, RefundRefused::WarehouseDeleted { line: order.lines[0].id });
        assert_eq!(shop.money(order.id).await, (1_000, 0, 0));
        let command = RefundCommand { restock: false, ..take_back(&[]) };
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, command).await.unwrap();
        assert_eq!(shop.money(order.id).await, (1_000, 0, 1_000));
    }

    async fn money_that_does_not_go_back_can_be_asked_for_again(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 1_000).await;
        let order = shop.paid_online(&shop.online(&[(vase, 2)])).await;
        staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        for _ in 0..30 {
            shop.reconcile_refunds().await;
            shop.wait(3_700);
        }
        let failed = shop.order(order.id).await;
        assert_eq!((failed.refunds[0].state, failed.payment_state()), (OrderRefundState::Failed, PaymentState::Paid));
        assert_eq!((failed.lines[0].refunded_quantity, failed.lines[0].refunded_amount), (1, Money::ZERO));
        shop.sound().await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        let again = give_back(money(1_000));
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, again).await.unwrap();
        shop.reconcile_refunds().await;
        assert_eq!(shop.money(order.id).await, (2_000, 1_000, 0));
        shop.sound().await;
    }

    async fn manual_payments_are_refunded_manually(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 1_000).await;
        let order = shop.placed(&shop.command(&[(vase, 2)])).await;
        assert_eq!(refused(staff_fixture.take_back(order.id, &[]).await), RefundRefused::NotPaid);
        staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        let after = staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        assert_eq!((after.refunded, after.refunding, after.refunds[0].state), (money(1_000), Money::ZERO, OrderRefundState::Succeeded));
        assert_eq!((shop.count("refunds").await, shop.stock(vase).await), (0, (5, 1)));
        shop.sound().await;
    }

    async fn money_is_taken_at_hand_over_once_however_many_record_it(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        let vase = shop.goods("Vase", 40, 333).await;
        for status in [OrderStatus::Issued, OrderStatus::ReadyForPickup] {
            let order = shop.placed(&shop.command(&[(vase, 3)])).await;
            staff_fixture.move_to(&order, status).await.unwrap();
            let racers = (0..8).map(|_| {
                let (staff_fixture, id) = (staff_fixture.clone(), order.id);
                tokio::spawn(async move { staff_fixture.takes_cash(id).await })
            });
            let mut taken = 0;
            for racer in racers.collect::<Vec<_>>() {
                match racer.await.unwrap() {
                    Ok(_) => taken += 1,
                    Err(refused) => assert!(matches!(refused,
                        OrderError::Refused(OrderRefusal::Unpayable(TransitionRefused::AlreadyPaid))), "{refused:?}"),
                }
            }
            let paid = shop.order(order.id).await;
            assert_eq!((taken, paid.captured, paid.payment_state()), (1, money(999), PaymentState::Paid));
            let stands = if status == OrderStatus::Issued { OrderStatus::Issued } else { OrderStatus::Paid };
            assert_eq!(paid.status, stands);
            let back = staff_fixture.take_back(order.id, &[]).await.unwrap();
            assert_eq!((back.refunded, back.payment_state()), (money(999), PaymentState::Refunded));
        }
        assert_eq!((shop.events("paid").await, shop.count("outbox_events").await), (2, 2));
        shop.sound().await;
    }

    async fn an_issued_unpaid_order_is_returned_or_paid_and_not_both(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        for _ in 0..8 {
            let order = shop.placed(&shop.command(&[(vase, 2)])).await;
            staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
            assert_eq!(refused(staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await), RefundRefused::WholeOnly);
            let (paid, back, again) = tokio::join!(
                staff_fixture.takes_cash(order.id),
                staff_fixture.take_back(order.id, &[]),
                staff_fixture.take_back(order.id, &[]),
            );
            assert_eq!(usize::from(back.is_ok()) + usize::from(again.is_ok()), 1, "{back:?} {again:?}");
            let after = shop.order(order.id).await;
            // Money that was captured first is refunded with the goods.
            let expected = if paid.is_ok() { (OrderStatus::Issued, 2_000) } else { (OrderStatus::Canceled, 0) };
            assert_eq!((after.status, after.refunded.minor()), expected);
            assert_eq!((after.captured, after.lines[0].refunded_quantity), (after.refunded, 2));
            assert_eq!(shop.stock(vase).await, (40, 0));
        }
        shop.sound().await;
    }

    async fn fifty_refunds_at_once_give_back_exactly_what_was_paid(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        let vase = shop.goods("Vase", 40, 333).await;
        let order = shop.paid_online(&shop.online(&[(vase, 30)])).await;
        let (id, line) = (order.id, order.lines[0].id);
        let racers: Vec<_> = (0..50)
            .map(|_| {
                let staff_fixture = staff_fixture.clone();
                tokio::spawn(async move { staff_fixture.take_back(id, &[(line, 1)]).await })
            })
            .collect();
        let mut given = 0;
        for racer in racers {
            match racer.await.unwrap() {
                Ok(_) => given += 1,
                Err(OrderError::Refused(OrderRefusal::Refund(_))) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!((given, shop.money(id).await, shop.stock(vase).await), (30, (9_990, 0, 9_990), (40, 0)));
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        let back: i64 = shop.acquirer.refunds.lock().unwrap().iter().map(|(_, refund)| refund.amount.minor()).sum();
        assert_eq!((back, shop.money(id).await), (9_990, (9_990, 9_990, 0)));
        assert_eq!(shop.order(id).await.status, OrderStatus::Canceled);
        shop.sound().await;
    }

    async fn a_refund_made_in_the_console_is_counted_once_from_any_source(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        let order = shop.paid_online(&shop.online(&[(vase, 3)])).await;
        let payment = shop.acquirer.settle(GatewayStatus::Succeeded);
        let by_hand = shop.acquirer.add_external_refund(&payment, money(700));
        let (first, second, compared) = tokio::join!(
            shop.refunds.handle_notification(&by_hand),
            shop.refunds.handle_notification(&by_hand),
            shop.refunds.compare_when_due(),
        );
        first.unwrap();
        second.unwrap();
        assert_eq!(compared.unwrap().unwrap().listed, 1);
        let after = shop.order(order.id).await;
        assert_eq!(shop.money(order.id).await, (3_000, 700, 0));
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Paid, PaymentState::PartiallyRefunded));
        let reported: Vec<_> = after.refunds.iter().map(|refund| (refund.amount, refund.state, refund.reason.as_str())).collect();
        assert_eq!(reported, [(money(700), OrderRefundState::Succeeded, "Refunded at the acquirer.")]);
        assert_eq!((shop.events("refunded").await, shop.stock(vase).await), (1, (40, 3)));
        shop.sound().await;
        // Only the remaining amount can be requested.
        let more = staff_fixture.orders.refund(&staff_fixture.staff, order.id, give_back(money(2_301))).await;
        assert_eq!(refused(more), RefundRefused::ExceedsPaid { left: money(2_300) });
        // The comparison runs once an hour, and known refunds are not counted again.
        assert_eq!(shop.refunds.compare_when_due().await.unwrap(), None);
        shop.wait(3_600);
        let again = shop.refunds.compare_when_due().await.unwrap().unwrap();
        assert_eq!((again.listed, again.recorded, again.suspicious.len()), (1, 0, 0));
        shop.acquirer.add_external_refund(&payment, money(2_300));
        shop.wait(3_600);
        assert_eq!(shop.refunds.compare_when_due().await.unwrap().unwrap().recorded, 1);
        let gone = shop.order(order.id).await;
        assert_eq!((gone.status, gone.payment_state()), (OrderStatus::Paid, PaymentState::Refunded));
        staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!((shop.stock(vase).await, shop.money(order.id).await), ((40, 0), (3_000, 3_000, 0)));
        shop.sound().await;
    }

    async fn a_refund_made_in_the_console_and_one_of_ours_never_exceed_what_was_paid(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        for _ in 0..6 {
            shop.acquirer.set_mode(AcquirerMode::Pending);
            let order = shop.paid_online(&shop.online(&[(vase, 1)])).await;
            let payment = shop.acquirer.settle(GatewayStatus::Succeeded);
            let by_hand = shop.acquirer.add_external_refund(&payment, money(1_000));
            let (asked, reported) = tokio::join!(staff_fixture.take_back(order.id, &[]), shop.refunds.handle_notification(&by_hand));
            reported.unwrap();
            let (_, back, on_its_way) = shop.money(order.id).await;
            assert_eq!(back + on_its_way, 1_000, "{asked:?}");
            shop.sound().await;
            // The whole payment was refunded outside the service: our refund is that one.
            shop.acquirer.set_mode(AcquirerMode::Refuses);
            shop.reconcile_refunds().await;
            assert_eq!(shop.money(order.id).await, (1_000, 1_000, 0));
            shop.sound().await;
        }
        // More than is left: operators are notified once, and nothing is counted.
        shop.acquirer.set_mode(AcquirerMode::Pending);
        let order = shop.paid_online(&shop.online(&[(vase, 1)])).await;
        let payment = shop.acquirer.settle(GatewayStatus::Succeeded);
        staff_fixture.orders.refund(&staff_fixture.staff, order.id, give_back(money(400))).await.unwrap();
        let by_hand = shop.acquirer.add_external_refund(&payment, money(700));
        shop.refunds.handle_notification(&by_hand).await.unwrap();
        shop.refunds.handle_notification(&by_hand).await.unwrap();
        assert_eq!(shop.money(order.id).await, (1_000, 0, 400));
        let found = db.database.payments_to_review(None, 10).await.unwrap();
        assert!(found.iter().any(|concern| concern.why.contains("of 7.00 was made at the acquirer")), "{found:?}");
        assert_eq!(shop.stock_fixture.number(format!("SELECT count(*) AS number FROM order_events WHERE event = \
            'payment_suspicious' AND order_id = {}", order.id)).await, 1);
    }

    async fn unrefundable_money_of_a_canceled_order_is_left_to_employees(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        // Lines that do not add up to the money, as after a manual repair.
        shop.stock_fixture.run("UPDATE reservations SET unit_price = 900, total = 900".to_owned()).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        shop.payments.handle_notification(&id, None).await.unwrap();
        assert_eq!(shop.money(order.id).await, (1_000, 0, 0));
        let found = db.database.payments_to_review(None, 10).await.unwrap();
        assert_eq!((found.len(), db.database.count_payments_to_review().await.unwrap()), (1, 1));
        assert!(found[0].why.contains("exceeds 9.00, the price of the pieces"), "{:?}", found[0]);
        assert_eq!((found[0].provider_id.as_ref(), shop.events("payment_suspicious").await), (Some(&id), 1));
        assert!(db.database.close_payment_review(found[0].id, shop.clock.now()).await.unwrap());
        assert!(!db.database.close_payment_review(found[0].id, shop.clock.now()).await.unwrap());
        assert_eq!(db.database.payments_to_review(None, 10).await.unwrap(), []);
    }

    async fn money_for_a_canceled_order_goes_back_by_itself_and_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 40, 1_000).await;
        for _ in 0..12 {
            let order = shop.placed(&shop.online(&[(vase, 1)])).await;
            let id = shop.acquirer.settle(GatewayStatus::Succeeded);
            let (canceled, paid, again) = tokio::join!(
                staff_fixture.move_to(&order, OrderStatus::Canceled),
                shop.payments.handle_notification(&id, None),
                shop.payments.handle_notification(&id, None),
            );
            paid.unwrap();
            again.unwrap();
            let after = shop.order(order.id).await;
            let (kept, back) = if canceled.is_ok() { (0, 1_000) } else { (1_000, 0) };
            assert_eq!(after.left_to_refund(), money(kept), "{after:?}");
            assert_eq!(shop.money(order.id).await, (1_000, 0, back));
            assert_eq!(after.refunds.len(), usize::from(back > 0));
        }
        // Once more, independent of the outcome of the races.
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let canceled = staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!((canceled.payment_link, canceled.payment_open), (None, true));
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        assert_eq!(shop.money(order.id).await, (1_000, 1_000, 0));
        let events = "SELECT count(*) AS number FROM outbox_events".to_owned();
        let paid = "SELECT count(*) AS number FROM orders WHERE status_id = 22".to_owned();
        assert_eq!(shop.stock_fixture.number(events).await, shop.stock_fixture.number(paid).await, "what goes back is not announced");
        shop.sound().await;
    }

    async fn the_end_of_a_payment_changes_its_canceled_order(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 1, 1_000).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let canceled = staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!(canceled.payment_state(), PaymentState::Pending);
        shop.wait(600);
        let id = shop.acquirer.settle(GatewayStatus::Canceled);
        shop.payments.handle_notification(&id, None).await.unwrap();
        let after = shop.order(order.id).await;
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Canceled, PaymentState::Unpaid));
        // Copies of the list and conditional requests depend on both.
        assert!(after.updated_at > canceled.updated_at && after.version > canceled.version, "{after:?}");
        shop.sound().await;
    }
}

/// Staff who wait for the order while its payment arrives find it paid: the money is refunded the same way.
async fn money_that_arrives_while_it_is_asked_back_goes_through_the_acquirer() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let shop = ShopFixture::open(&db).await;
    let staff_fixture = StaffFixture::open(&shop).await;
    let vase = shop.goods("Vase", 3, 1_000).await;
    let id = shop.placed(&shop.online(&[(vase, 1)])).await.id;
    let holder = Holder::hold(&db.database, format!("SELECT id FROM orders WHERE id = {id} FOR UPDATE")).await;
    let (payments, provider) = (Arc::clone(&shop.payments), shop.acquirer.settle(GatewayStatus::Succeeded));
    let reported = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
    until_waiting(&db, 1).await;
    let asked = tokio::spawn(async move { staff_fixture.take_back(id, &[]).await });
    until_waiting(&db, 2).await;
    holder.release().await;
    reported.await.unwrap().unwrap();
    asked.await.unwrap().unwrap();
    assert_eq!(shop.money(id).await, (1_000, 0, 1_000));
    shop.sound().await;
}

tests_with!(postgres: money_that_arrives_while_it_is_asked_back_goes_through_the_acquirer);
