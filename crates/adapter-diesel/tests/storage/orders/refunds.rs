//! Refunds of money and goods never exceed the payment.

use std::sync::Arc;

use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, tests_with};
use kontor_kernel::{Clock, Money, OrderId};
use kontor_orders::model::{Order, OrderRefundState, OrderStatus, PaymentState, ReservationState, TransitionRefused};
use kontor_orders::refund::{RefundCommand, RefundRefused};
use kontor_orders::{OrderCommand, OrderError, OrderRefusal};
use kontor_payments::model::GatewayStatus;

use super::counter::{AcquirerMode, Counter};
use super::office::{Office, give_back, take_back};
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

impl Counter<'_> {
    /// An order that was paid online.
    pub async fn paid_online(&self, command: &OrderCommand) -> Order {
        let order = self.placed(command).await;
        let id = self.acquirer.settle(GatewayStatus::Succeeded);
        self.payments.handle_notification(&id, None).await.unwrap();
        self.order(order.id).await
    }

    /// Requests every due refund from the acquirer.
    pub(super) async fn pursue(&self) {
        while self.refunds.reconcile("w", 100).await.unwrap().checked > 0 {}
    }

    /// `(captured, refunded, pending)` of the order and its charge.
    pub(super) async fn money(&self, order: OrderId) -> (i64, i64, i64) {
        let order = self.order(order).await;
        let told = (order.captured.minor(), order.refunded.minor(), order.refunding.minor());
        let charge = |column| {
            self.house.number(format!(
                "SELECT {column} AS number FROM charges WHERE purpose_id = {} AND captured > 0",
                order.id
            ))
        };
        assert_eq!(told, (charge("captured").await, charge("refunded").await, charge("refunding").await));
        told
    }

    pub(super) async fn sound(&self) {
        let mut found = Vec::new();
        self.house.db.database.examine(None, |difference| found.push(difference)).await.unwrap();
        assert_eq!(found, []);
    }

    async fn reasons(&self, reason: &str) -> i64 {
        self.house.number(format!("SELECT count(*) AS number FROM stock_movements WHERE reason = '{reason}'")).await
    }
}

database_tests! {
    async fn pieces_go_back_before_they_were_handed_over(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let (vase, cup) = (counter.goods("Vase", 3, 1_000).await, counter.goods("Cup", 5, 333).await);
        counter.promo("TEN", "1", "NULL").await;
        let order = counter.paid_online(&OrderCommand { payment_method: counter.online(&[(vase, 1)]).payment_method,
            ..counter.with_promo(&[(vase, 3), (cup, 1)], "TEN") }).await;
        assert_eq!((order.payment_state(), counter.house.offers().await.len()), (PaymentState::Paid, 1));
        let line = order.lines[0].id;
        let after = office.take_back(order.id, &[(line, 2)]).await.unwrap();
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Paid, PaymentState::Paid));
        assert_eq!((after.lines[0].refunded_quantity, after.lines[0].refunded_amount), (2, money(1_800)));
        assert_eq!((counter.stock(vase).await, counter.house.offers().await.len()), ((3, 1), 2));
        assert_eq!(after.refunds[0].state, OrderRefundState::Pending);
        assert_eq!(counter.money(order.id).await, (3_000, 0, 1_800));
        counter.sound().await;
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.pursue().await;
        assert_eq!(counter.money(order.id).await, (3_000, 1_800, 0));
        assert_eq!(counter.order(order.id).await.refunds[0].state, OrderRefundState::Succeeded);

        // The remaining units are sold, and refunded afterwards.
        office.move_to(&order, OrderStatus::Issued).await.unwrap();
        assert_eq!((counter.stock(vase).await, counter.stock(cup).await), ((2, 0), (4, 0)));
        let last = office.take_back(order.id, &[]).await.unwrap();
        assert_eq!((last.status, last.payment_state()), (OrderStatus::Issued, PaymentState::PartiallyRefunded));
        assert_eq!((counter.stock(vase).await, counter.stock(cup).await), ((3, 0), (5, 0)));
        assert_eq!((counter.reasons("return").await, counter.reasons("release").await), (2, 1));
        assert_eq!(refused(office.take_back(order.id, &[]).await), RefundRefused::NothingLeft);
        counter.pursue().await;
        assert_eq!(counter.order(order.id).await.payment_state(), PaymentState::Refunded);
        assert_eq!(counter.money(order.id).await, (3_000, 3_000, 0));
        assert_eq!(counter.acquirer.refunds.lock().unwrap().len(), 2);
        counter.sound().await;
    }

    async fn everything_goes_back_and_the_order_is_canceled(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 3, 1_000).await;
        counter.promo("ONE", "1", "NULL").await;
        let online = counter.online(&[(vase, 1)]).payment_method;
        let command = OrderCommand { payment_method: online, ..counter.with_promo(&[(vase, 3)], "ONE") };
        let order = counter.paid_online(&command).await;
        let after = office.take_back(order.id, &[]).await.unwrap();
        assert_eq!((after.status, after.lines[0].state), (OrderStatus::Canceled, ReservationState::Released));
        assert_eq!((counter.stock(vase).await, counter.count("discount_usages").await), ((3, 0), 0));
        counter.sound().await;
        counter.placed(&counter.with_promo(&[(vase, 1)], "ONE")).await;
    }

    async fn what_is_not_restocked_is_lost(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 1_000).await;
        let order = counter.paid_online(&counter.online(&[(vase, 3)])).await;
        let command = RefundCommand { restock: false, ..take_back(&[(order.lines[0].id, 1)]) };
        office.orders.refund(&office.staff, order.id, command.clone()).await.unwrap();
        assert_eq!((counter.stock(vase).await, counter.reasons("write_off").await), ((4, 2), 1));
        office.move_to(&order, OrderStatus::Issued).await.unwrap();
        office.orders.refund(&office.staff, order.id, command).await.unwrap();
        assert_eq!(counter.stock(vase).await, (2, 0));
        counter.sound().await;
    }

    async fn a_deleted_warehouse_takes_nothing_back(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 1, 1_000).await;
        let order = counter.paid_online(&counter.online(&[(vase, 1)])).await;
        office.move_to(&order, OrderStatus::Issued).await.unwrap();
        counter.house.run("UPDATE inventories SET deleted_at = updated_at".to_owned()).await;
        let gone = refused(office.take_back(order.id, &[]).await);
        assert_eq!(gone, RefundRefused::WarehouseDeleted { line: order.lines[0].id });
        assert_eq!(counter.money(order.id).await, (1_000, 0, 0));
        let command = RefundCommand { restock: false, ..take_back(&[]) };
        office.orders.refund(&office.staff, order.id, command).await.unwrap();
        assert_eq!(counter.money(order.id).await, (1_000, 0, 1_000));
    }

    async fn money_that_does_not_go_back_can_be_asked_for_again(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 1_000).await;
        let order = counter.paid_online(&counter.online(&[(vase, 2)])).await;
        office.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        counter.acquirer.mood(AcquirerMode::Refuses);
        for _ in 0..30 {
            counter.pursue().await;
            counter.wait(3_700);
        }
        let failed = counter.order(order.id).await;
        assert_eq!((failed.refunds[0].state, failed.payment_state()), (OrderRefundState::Failed, PaymentState::Paid));
        assert_eq!((failed.lines[0].refunded_quantity, failed.lines[0].refunded_amount), (1, Money::ZERO));
        counter.sound().await;
        counter.acquirer.mood(AcquirerMode::Paid);
        let again = give_back(money(1_000));
        office.orders.refund(&office.staff, order.id, again).await.unwrap();
        counter.pursue().await;
        assert_eq!(counter.money(order.id).await, (2_000, 1_000, 0));
        counter.sound().await;
    }

    async fn what_was_paid_by_hand_is_given_back_by_hand(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 1_000).await;
        let order = counter.placed(&counter.command(&[(vase, 2)])).await;
        assert_eq!(refused(office.take_back(order.id, &[]).await), RefundRefused::NotPaid);
        office.move_to(&order, OrderStatus::Paid).await.unwrap();
        let after = office.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        assert_eq!((after.refunded, after.refunding, after.refunds[0].state), (money(1_000), Money::ZERO, OrderRefundState::Succeeded));
        assert_eq!((counter.count("refunds").await, counter.stock(vase).await), (0, (5, 1)));
        counter.sound().await;
    }

    async fn money_is_taken_at_hand_over_once_however_many_record_it(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Arc::new(Office::open(&counter).await);
        let vase = counter.goods("Vase", 40, 333).await;
        for status in [OrderStatus::Issued, OrderStatus::ReadyForPickup] {
            let order = counter.placed(&counter.command(&[(vase, 3)])).await;
            office.move_to(&order, status).await.unwrap();
            let racers = (0..8).map(|_| {
                let (office, id) = (office.clone(), order.id);
                tokio::spawn(async move { office.takes_cash(id).await })
            });
            let mut taken = 0;
            for racer in racers.collect::<Vec<_>>() {
                match racer.await.unwrap() {
                    Ok(_) => taken += 1,
                    Err(refused) => assert!(matches!(refused,
                        OrderError::Refused(OrderRefusal::Unpayable(TransitionRefused::AlreadyPaid))), "{refused:?}"),
                }
            }
            let paid = counter.order(order.id).await;
            assert_eq!((taken, paid.captured, paid.payment_state()), (1, money(999), PaymentState::Paid));
            let stands = if status == OrderStatus::Issued { OrderStatus::Issued } else { OrderStatus::Paid };
            assert_eq!(paid.status, stands);
            let back = office.take_back(order.id, &[]).await.unwrap();
            assert_eq!((back.refunded, back.payment_state()), (money(999), PaymentState::Refunded));
        }
        assert_eq!((counter.events("paid").await, counter.count("outbox_events").await), (2, 2));
        counter.sound().await;
    }

    async fn what_is_issued_and_never_paid_is_taken_back_or_paid_for_and_not_both(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 40, 1_000).await;
        for _ in 0..8 {
            let order = counter.placed(&counter.command(&[(vase, 2)])).await;
            office.move_to(&order, OrderStatus::Issued).await.unwrap();
            assert_eq!(refused(office.take_back(order.id, &[(order.lines[0].id, 1)]).await), RefundRefused::WholeOnly);
            let (paid, back, again) = tokio::join!(
                office.takes_cash(order.id),
                office.take_back(order.id, &[]),
                office.take_back(order.id, &[]),
            );
            assert_eq!(usize::from(back.is_ok()) + usize::from(again.is_ok()), 1, "{back:?} {again:?}");
            let after = counter.order(order.id).await;
            // Money that was captured first is refunded with the goods.
            let expected = if paid.is_ok() { (OrderStatus::Issued, 2_000) } else { (OrderStatus::Canceled, 0) };
            assert_eq!((after.status, after.refunded.minor()), expected);
            assert_eq!((after.captured, after.lines[0].refunded_quantity), (after.refunded, 2));
            assert_eq!(counter.stock(vase).await, (40, 0));
        }
        counter.sound().await;
    }

    async fn fifty_refunds_at_once_give_back_exactly_what_was_paid(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Arc::new(Office::open(&counter).await);
        let vase = counter.goods("Vase", 40, 333).await;
        let order = counter.paid_online(&counter.online(&[(vase, 30)])).await;
        let (id, line) = (order.id, order.lines[0].id);
        let racers: Vec<_> = (0..50)
            .map(|_| {
                let office = office.clone();
                tokio::spawn(async move { office.take_back(id, &[(line, 1)]).await })
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
        assert_eq!((given, counter.money(id).await, counter.stock(vase).await), (30, (9_990, 0, 9_990), (40, 0)));
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.pursue().await;
        let back: i64 = counter.acquirer.refunds.lock().unwrap().iter().map(|(_, refund)| refund.amount.minor()).sum();
        assert_eq!((back, counter.money(id).await), (9_990, (9_990, 9_990, 0)));
        assert_eq!(counter.order(id).await.status, OrderStatus::Canceled);
        counter.sound().await;
    }

    async fn a_refund_made_in_the_console_is_counted_once_whoever_tells_of_it(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 40, 1_000).await;
        let order = counter.paid_online(&counter.online(&[(vase, 3)])).await;
        let payment = counter.acquirer.settle(GatewayStatus::Succeeded);
        let by_hand = counter.acquirer.add_external_refund(&payment, money(700));
        let (first, second, compared) = tokio::join!(
            counter.refunds.handle_notification(&by_hand),
            counter.refunds.handle_notification(&by_hand),
            counter.refunds.compare_when_due(),
        );
        first.unwrap();
        second.unwrap();
        assert_eq!(compared.unwrap().unwrap().listed, 1);
        let after = counter.order(order.id).await;
        assert_eq!(counter.money(order.id).await, (3_000, 700, 0));
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Paid, PaymentState::PartiallyRefunded));
        let told: Vec<_> = after.refunds.iter().map(|refund| (refund.amount, refund.state, refund.reason.as_str())).collect();
        assert_eq!(told, [(money(700), OrderRefundState::Succeeded, "Refunded at the acquirer.")]);
        assert_eq!((counter.events("refunded").await, counter.stock(vase).await), (1, (40, 3)));
        counter.sound().await;
        // Only the remaining amount can be requested.
        let more = office.orders.refund(&office.staff, order.id, give_back(money(2_301))).await;
        assert_eq!(refused(more), RefundRefused::ExceedsPaid { left: money(2_300) });
        // The comparison runs once an hour, and known refunds are not counted again.
        assert_eq!(counter.refunds.compare_when_due().await.unwrap(), None);
        counter.wait(3_600);
        let again = counter.refunds.compare_when_due().await.unwrap().unwrap();
        assert_eq!((again.listed, again.recorded, again.suspicious.len()), (1, 0, 0));
        counter.acquirer.add_external_refund(&payment, money(2_300));
        counter.wait(3_600);
        assert_eq!(counter.refunds.compare_when_due().await.unwrap().unwrap().recorded, 1);
        let gone = counter.order(order.id).await;
        assert_eq!((gone.status, gone.payment_state()), (OrderStatus::Paid, PaymentState::Refunded));
        office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!((counter.stock(vase).await, counter.money(order.id).await), ((40, 0), (3_000, 3_000, 0)));
        counter.sound().await;
    }

    async fn a_refund_made_in_the_console_and_one_of_ours_never_exceed_what_was_paid(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 40, 1_000).await;
        for _ in 0..6 {
            counter.acquirer.mood(AcquirerMode::Pending);
            let order = counter.paid_online(&counter.online(&[(vase, 1)])).await;
            let payment = counter.acquirer.settle(GatewayStatus::Succeeded);
            let by_hand = counter.acquirer.add_external_refund(&payment, money(1_000));
            let (asked, told) = tokio::join!(office.take_back(order.id, &[]), counter.refunds.handle_notification(&by_hand));
            told.unwrap();
            let (_, back, on_its_way) = counter.money(order.id).await;
            assert_eq!(back + on_its_way, 1_000, "{asked:?}");
            counter.sound().await;
            // The whole payment was refunded outside the service: our refund is that one.
            counter.acquirer.mood(AcquirerMode::Refuses);
            counter.pursue().await;
            assert_eq!(counter.money(order.id).await, (1_000, 1_000, 0));
            counter.sound().await;
        }
        // More than is left: operators are notified once, and nothing is counted.
        counter.acquirer.mood(AcquirerMode::Pending);
        let order = counter.paid_online(&counter.online(&[(vase, 1)])).await;
        let payment = counter.acquirer.settle(GatewayStatus::Succeeded);
        office.orders.refund(&office.staff, order.id, give_back(money(400))).await.unwrap();
        let by_hand = counter.acquirer.add_external_refund(&payment, money(700));
        counter.refunds.handle_notification(&by_hand).await.unwrap();
        counter.refunds.handle_notification(&by_hand).await.unwrap();
        assert_eq!(counter.money(order.id).await, (1_000, 0, 400));
        let found = db.database.payments_to_review(None, 10).await.unwrap();
        assert!(found.iter().any(|concern| concern.why.contains("of 7.00 was made at the acquirer")), "{found:?}");
        assert_eq!(counter.house.number(format!("SELECT count(*) AS number FROM order_events WHERE event = \
            'payment_suspicious' AND order_id = {}", order.id)).await, 1);
    }

    async fn money_of_a_canceled_order_that_cannot_go_back_is_left_to_people(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 40, 1_000).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        // Lines that do not add up to the money, as after a manual repair.
        counter.house.run("UPDATE reservations SET unit_price = 900, total = 900".to_owned()).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.payments.handle_notification(&id, None).await.unwrap();
        counter.payments.handle_notification(&id, None).await.unwrap();
        assert_eq!(counter.money(order.id).await, (1_000, 0, 0));
        let found = db.database.payments_to_review(None, 10).await.unwrap();
        assert_eq!((found.len(), db.database.count_payments_to_review().await.unwrap()), (1, 1));
        assert!(found[0].why.contains("exceeds 9.00, the price of the pieces"), "{:?}", found[0]);
        assert_eq!((found[0].provider_id.as_ref(), counter.events("payment_suspicious").await), (Some(&id), 1));
        assert!(db.database.close_payment_review(found[0].id, counter.clock.now()).await.unwrap());
        assert!(!db.database.close_payment_review(found[0].id, counter.clock.now()).await.unwrap());
        assert_eq!(db.database.payments_to_review(None, 10).await.unwrap(), []);
    }

    async fn money_for_a_canceled_order_goes_back_by_itself_and_once(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 40, 1_000).await;
        for _ in 0..12 {
            let order = counter.placed(&counter.online(&[(vase, 1)])).await;
            let id = counter.acquirer.settle(GatewayStatus::Succeeded);
            let (canceled, paid, again) = tokio::join!(
                office.move_to(&order, OrderStatus::Canceled),
                counter.payments.handle_notification(&id, None),
                counter.payments.handle_notification(&id, None),
            );
            paid.unwrap();
            again.unwrap();
            let after = counter.order(order.id).await;
            let (kept, back) = if canceled.is_ok() { (0, 1_000) } else { (1_000, 0) };
            assert_eq!(after.left_to_refund(), money(kept), "{after:?}");
            assert_eq!(counter.money(order.id).await, (1_000, 0, back));
            assert_eq!(after.refunds.len(), usize::from(back > 0));
        }
        // Once more, independent of the outcome of the races.
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        let canceled = office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!((canceled.payment_link, canceled.payment_open), (None, true));
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.payments.handle_notification(&id, None).await.unwrap();
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.pursue().await;
        assert_eq!(counter.money(order.id).await, (1_000, 1_000, 0));
        let events = "SELECT count(*) AS number FROM outbox_events".to_owned();
        let paid = "SELECT count(*) AS number FROM orders WHERE status_id = 22".to_owned();
        assert_eq!(counter.house.number(events).await, counter.house.number(paid).await, "what goes back is not announced");
        counter.sound().await;
    }

    async fn the_end_of_a_payment_changes_its_canceled_order(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 1, 1_000).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        let canceled = office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!(canceled.payment_state(), PaymentState::Pending);
        counter.wait(600);
        let id = counter.acquirer.settle(GatewayStatus::Canceled);
        counter.payments.handle_notification(&id, None).await.unwrap();
        let after = counter.order(order.id).await;
        assert_eq!((after.status, after.payment_state()), (OrderStatus::Canceled, PaymentState::Unpaid));
        // Copies of the list and conditional requests depend on both.
        assert!(after.updated_at > canceled.updated_at && after.version > canceled.version, "{after:?}");
        counter.sound().await;
    }
}

/// Staff who wait for the order while its payment arrives find it paid: the money is refunded the same way.
async fn money_that_arrives_while_it_is_asked_back_goes_through_the_acquirer() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let counter = Counter::open(&db).await;
    let office = Office::open(&counter).await;
    let vase = counter.goods("Vase", 3, 1_000).await;
    let id = counter.placed(&counter.online(&[(vase, 1)])).await.id;
    let holder = Holder::hold(&db.database, format!("SELECT id FROM orders WHERE id = {id} FOR UPDATE")).await;
    let (payments, provider) = (Arc::clone(&counter.payments), counter.acquirer.settle(GatewayStatus::Succeeded));
    let told = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
    until_waiting(&db, 1).await;
    let asked = tokio::spawn(async move { office.take_back(id, &[]).await });
    until_waiting(&db, 2).await;
    holder.release().await;
    told.await.unwrap().unwrap();
    asked.await.unwrap().unwrap();
    assert_eq!(counter.money(id).await, (1_000, 0, 1_000));
    counter.sound().await;
}

tests_with!(postgres: money_that_arrives_while_it_is_asked_back_goes_through_the_acquirer);
