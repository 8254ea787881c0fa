//! Notices to customers about their orders.

use std::sync::Arc;

use chrono::TimeDelta;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_customers::model::Notification;
use kontor_customers::ports::{CustomerRepository, NotificationReader};
use kontor_kernel::{AppScope, Clock as _, CustomerScope, Edit, Language, Page, PageRequest};
use kontor_orders::OrderChange;
use kontor_orders::model::{Notice, OrderRefundState, OrderStatus};
use kontor_organization::ports::ProjectRepository;
use kontor_payments::model::GatewayStatus;
use tokio::sync::Barrier;

use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::StaffFixture;

impl ShopFixture<'_> {
    async fn notified_on(&self, customer: CustomerScope, page: i64, size: i64) -> Page<Notification> {
        let page = PageRequest::new(page, size, 50).unwrap();
        NotificationReader::page(&self.stock_fixture.db.database, customer, page).await.unwrap()
    }

    /// Codes of a customer's notices, oldest first.
    async fn codes_of(&self, customer: CustomerScope) -> Vec<String> {
        let reported = self.notified_on(customer, 1, 50).await;
        reported.items.into_iter().rev().map(|notification| notification.code).collect()
    }

    async fn codes(&self) -> Vec<String> {
        self.codes_of(self.customer).await
    }

    /// The last notice to the customer.
    async fn last(&self) -> (String, Option<String>) {
        let reported = self.notified_on(self.customer, 1, 1).await;
        let last = reported.items.into_iter().next().unwrap();
        (last.title, last.body)
    }
}

database_tests! {
    async fn every_move_by_staff_is_notified_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 26_550).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        assert_eq!(shop.codes().await, [""; 0], "placing is told by its answer");
        let steps = [
            (OrderStatus::InProcessing, Notice::OrderInProcessing),
            (OrderStatus::Paid, Notice::OrderPaid),
            (OrderStatus::ReadyForPickup, Notice::OrderReady),
            (OrderStatus::Issued, Notice::OrderIssued),
        ];
        for (status, _) in steps {
            staff_fixture.move_to(&order, status).await.unwrap();
            // Moved to its current status.
            staff_fixture.move_to(&order, status).await.unwrap();
        }
        let expected = steps.map(|(_, notice)| <&str>::from(notice));
        assert_eq!(shop.codes().await, expected);
        staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap_err();
        let manager = OrderChange { manager: Edit::Set(Some(staff_fixture.staff.user_id)), ..OrderChange::default() };
        staff_fixture.orders.update(&staff_fixture.staff, order.id, manager).await.unwrap();
        assert_eq!(shop.codes().await, expected, "what is refused or no move is not told");
        let paid = &shop.notified_on(shop.customer, 1, 50).await.items[2];
        assert_eq!((paid.title.as_str(), paid.body.as_deref()), ("Заказ № 1 оплачен", Some("Мы получили 265,50 ₽.")));
        assert_eq!(paid.created_at, shop.clock.now());

        let other = shop.placed(&shop.command(&[(vase, 1)])).await;
        staff_fixture.move_to(&other, OrderStatus::Canceled).await.unwrap();
        assert_eq!(shop.last().await, (format!("Заказ № {} отменён", other.id), None));
        let amounts = "SELECT count(*) AS number FROM notifications WHERE amount = 26550 AND language = 'ru'".to_owned();
        assert_eq!(shop.stock_fixture.number(amounts).await, 5);
    }

    async fn a_repeated_payment_notification_is_notified_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        for (status, code) in [(GatewayStatus::Succeeded, "order_paid"), (GatewayStatus::Canceled, "order_payment_failed")] {
            let before = shop.codes().await.len();
            shop.placed(&shop.online(&[(vase, 1)])).await;
            let id = shop.acquirer.settle(status);
            let start = Arc::new(Barrier::new(4));
            let notified: Vec<_> = (0..4).map(|_| {
                let (payments, start, id) = (Arc::clone(&shop.payments), Arc::clone(&start), id.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    payments.handle_notification(&id, None).await
                })
            }).collect();
            for one in notified {
                one.await.unwrap().unwrap();
            }
            shop.payments.handle_notification(&id, None).await.unwrap();
            assert_eq!(shop.codes().await[before..], [code]);
        }
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        shop.place(&shop.online(&[(vase, 1)])).await.unwrap_err();
        assert_eq!(shop.codes().await, ["order_paid", "order_payment_failed", "order_payment_failed"]);
    }

    async fn a_refund_is_notified_when_requested_and_when_done(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.paid_online(&shop.online(&[(vase, 3)])).await;
        let line = order.lines[0].id;
        staff_fixture.take_back(order.id, &[(line, 1)]).await.unwrap();
        assert_eq!(shop.codes().await, ["order_paid", "order_refund_requested"]);
        assert_eq!(shop.last().await.1.as_deref(), Some("Мы возвращаем 10,00 ₽."));
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        shop.reconcile_refunds().await;
        assert_eq!(shop.codes().await[1..], ["order_refund_requested", "order_refunded"]);
        assert_eq!(shop.last().await.1.as_deref(), Some("Возвращено 10,00 ₽."));

        // Customers are not notified of refusals by the acquirer.
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        staff_fixture.take_back(order.id, &[(line, 1)]).await.unwrap();
        for _ in 0..30 {
            shop.reconcile_refunds().await;
            shop.wait(3_700);
        }
        assert_eq!(shop.order(order.id).await.refunds[1].state, OrderRefundState::Failed);
        assert_eq!(shop.codes().await[3..], ["order_refund_requested"]);

        // All remaining units, and the order with them.
        shop.acquirer.set_mode(AcquirerMode::Paid);
        staff_fixture.take_back(order.id, &[]).await.unwrap();
        shop.reconcile_refunds().await;
        assert_eq!(shop.codes().await[4..], ["order_refund_requested", "order_canceled", "order_refunded"]);
        assert_eq!(shop.last().await.1.as_deref(), Some("Возвращено 20,00 ₽."));
    }

    async fn a_manual_refund_is_final_at_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.command(&[(vase, 2)])).await;
        staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        assert_eq!(shop.codes().await, ["order_paid", "order_refunded"]);
    }

    async fn late_money_is_refunded_and_notified(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        for _ in 0..2 {
            shop.payments.handle_notification(&id, None).await.unwrap();
        }
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        assert_eq!(shop.codes().await, ["order_canceled", "order_refund_requested", "order_refunded"]);
    }

    async fn words_are_of_the_language_of_the_moment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        staff_fixture.move_to(&order, OrderStatus::InProcessing).await.unwrap();
        assert!(db.database.set_language(shop.stock_fixture.project, Language::En).await.unwrap());
        staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        let (id, reported) = (order.id, shop.notified_on(shop.customer, 1, 50).await.items);
        let words: Vec<_> = reported.iter().map(|reported| (reported.title.clone(), reported.body.as_deref())).collect();
        assert_eq!(words, [
            (format!("Order {id} is paid"), Some("We have received 10.00 RUB.")),
            (format!("Заказ № {id} в работе"), None),
        ]);
        let nobody = kontor_kernel::ProjectId::new(99_999).unwrap();
        assert!(!db.database.set_language(nobody, Language::En).await.unwrap());
    }

    async fn each_customer_reads_their_own_of_the_application_by_pages(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 99, 1_000).await;
        let boris = shop.another_customer().await;
        for _ in 0..5 {
            let order = shop.placed(&shop.command(&[(vase, 1)])).await;
            staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        }
        shop.placement.place(boris, &shop.command(&[(vase, 1)])).await.unwrap();
        let of_boris = format!("SELECT max(id) AS number FROM orders WHERE counterparty_id = {}", boris.counterparty_id);
        let id = kontor_kernel::OrderId::new(shop.stock_fixture.number(of_boris).await).unwrap();
        staff_fixture.move_to(&shop.order(id).await, OrderStatus::InProcessing).await.unwrap();
        assert_eq!(shop.codes_of(boris).await, ["order_in_processing"]);
        let elsewhere = CustomerScope { app: shop.stock_fixture.second, ..shop.customer };
        assert_eq!(shop.notified_on(elsewhere, 1, 10).await.total, 0);
        let foreign = kontor_kernel::ProjectId::new(99_999).unwrap();
        let foreign = CustomerScope { app: AppScope { project_id: foreign, ..shop.customer.app }, ..shop.customer };
        assert_eq!(shop.notified_on(foreign, 1, 10).await.total, 0);
        let numbers = |page: Page<Notification>| page.items.iter().map(|reported| reported.id.get()).collect::<Vec<_>>();
        let (first, second) = (shop.notified_on(shop.customer, 1, 3).await, shop.notified_on(shop.customer, 2, 3).await);
        assert_eq!((first.total, first.last_page(), first.from(), second.to()), (5, 2, Some(1), Some(5)));
        let all = [numbers(first), numbers(second)].concat();
        assert!(all.len() == 5 && all.is_sorted_by(|newer, older| newer > older), "{all:?}");
        assert_eq!(shop.notified_on(shop.customer, 3, 3).await.items, []);

        // An order without an application has no channel for notices.
        shop.stock_fixture.run(format!("UPDATE orders SET application_id = NULL WHERE id = {id}")).await;
        staff_fixture.move_to(&shop.order(id).await, OrderStatus::Canceled).await.unwrap();
        assert_eq!(shop.count("notifications").await, 6);
    }

    async fn deleting_a_customer_deletes_subscriptions_and_sends_no_notices(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 99, 1_000).await;
        for round in 0..8 {
            let customer = shop.another_customer().await;
            shop.placement.place(customer, &shop.command(&[(vase, 1)])).await.unwrap();
            let newest = shop.stock_fixture.number("SELECT max(id) AS number FROM orders".to_owned()).await;
            let order = shop.order(kontor_kernel::OrderId::new(newest).unwrap()).await;
            staff_fixture.move_to(&order, OrderStatus::InProcessing).await.unwrap();
            assert_eq!(shop.codes_of(customer).await, ["order_in_processing"]);
            let leaving = db.database.delete_account(shop.stock_fixture.project, customer.counterparty_id, shop.clock.now());
            let (left, moved) = tokio::join!(leaving, staff_fixture.move_to(&order, OrderStatus::ReadyForPickup));
            left.unwrap();
            moved.unwrap();
            assert_eq!(shop.count("notifications").await, 0, "round {round}");
            staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
            assert_eq!(shop.count("notifications").await, 0);
        }
    }

    async fn they_are_kept_for_half_a_year(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        staff_fixture.move_to(&order, OrderStatus::InProcessing).await.unwrap();
        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "notifications").unwrap();
        let (written, shortest) = (shop.clock.now(), TimeDelta::days(1));
        let almost = written + TimeDelta::days(180) - TimeDelta::seconds(1);
        assert_eq!(db.database.sweep(swept, almost, shortest).await.unwrap(), 0);
        assert_eq!(db.database.sweep(swept, written + TimeDelta::days(180), shortest).await.unwrap(), 1);
        assert_eq!(shop.codes().await, [""; 0]);
    }
}
