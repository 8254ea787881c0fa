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

use super::counter::{AcquirerMode, Counter};
use super::office::Office;

impl Counter<'_> {
    async fn told_on(&self, customer: CustomerScope, page: i64, size: i64) -> Page<Notification> {
        let page = PageRequest::new(page, size, 50).unwrap();
        NotificationReader::page(&self.house.db.database, customer, page).await.unwrap()
    }

    /// Codes of a customer's notices, oldest first.
    async fn codes_of(&self, customer: CustomerScope) -> Vec<String> {
        let told = self.told_on(customer, 1, 50).await;
        told.items.into_iter().rev().map(|notification| notification.code).collect()
    }

    async fn codes(&self) -> Vec<String> {
        self.codes_of(self.customer).await
    }

    /// The last notice to the customer.
    async fn last(&self) -> (String, Option<String>) {
        let told = self.told_on(self.customer, 1, 1).await;
        let last = told.items.into_iter().next().unwrap();
        (last.title, last.body)
    }
}

database_tests! {
    async fn every_move_by_staff_is_told_once(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 26_550).await;
        let order = counter.placed(&counter.command(&[(vase, 1)])).await;
        assert_eq!(counter.codes().await, [""; 0], "placing is told by its answer");
        let steps = [
            (OrderStatus::InProcessing, Notice::OrderInProcessing),
            (OrderStatus::Paid, Notice::OrderPaid),
            (OrderStatus::ReadyForPickup, Notice::OrderReady),
            (OrderStatus::Issued, Notice::OrderIssued),
        ];
        for (status, _) in steps {
            office.move_to(&order, status).await.unwrap();
            // Moved to its current status.
            office.move_to(&order, status).await.unwrap();
        }
        let expected = steps.map(|(_, notice)| <&str>::from(notice));
        assert_eq!(counter.codes().await, expected);
        office.move_to(&order, OrderStatus::Canceled).await.unwrap_err();
        let manager = OrderChange { manager: Edit::Set(Some(office.staff.user_id)), ..OrderChange::default() };
        office.orders.update(&office.staff, order.id, manager).await.unwrap();
        assert_eq!(counter.codes().await, expected, "what is refused or no move is not told");
        let paid = &counter.told_on(counter.customer, 1, 50).await.items[2];
        assert_eq!((paid.title.as_str(), paid.body.as_deref()), ("Заказ № 1 оплачен", Some("Мы получили 265,50 ₽.")));
        assert_eq!(paid.created_at, counter.clock.now());

        let other = counter.placed(&counter.command(&[(vase, 1)])).await;
        office.move_to(&other, OrderStatus::Canceled).await.unwrap();
        assert_eq!(counter.last().await, (format!("Заказ № {} отменён", other.id), None));
        let amounts = "SELECT count(*) AS number FROM notifications WHERE amount = 26550 AND language = 'ru'".to_owned();
        assert_eq!(counter.house.number(amounts).await, 5);
    }

    async fn news_of_a_payment_are_told_once_however_often_they_come(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        for (status, code) in [(GatewayStatus::Succeeded, "order_paid"), (GatewayStatus::Canceled, "order_payment_failed")] {
            let before = counter.codes().await.len();
            counter.placed(&counter.online(&[(vase, 1)])).await;
            let id = counter.acquirer.settle(status);
            let start = Arc::new(Barrier::new(4));
            let notified: Vec<_> = (0..4).map(|_| {
                let (payments, start, id) = (Arc::clone(&counter.payments), Arc::clone(&start), id.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    payments.handle_notification(&id, None).await
                })
            }).collect();
            for one in notified {
                one.await.unwrap().unwrap();
            }
            counter.payments.handle_notification(&id, None).await.unwrap();
            assert_eq!(counter.codes().await[before..], [code]);
        }
        counter.acquirer.mood(AcquirerMode::Refuses);
        counter.place(&counter.online(&[(vase, 1)])).await.unwrap_err();
        assert_eq!(counter.codes().await, ["order_paid", "order_payment_failed", "order_payment_failed"]);
    }

    async fn money_that_goes_back_is_told_when_asked_for_and_when_gone(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        let order = counter.paid_online(&counter.online(&[(vase, 3)])).await;
        let line = order.lines[0].id;
        office.take_back(order.id, &[(line, 1)]).await.unwrap();
        assert_eq!(counter.codes().await, ["order_paid", "order_refund_requested"]);
        assert_eq!(counter.last().await.1.as_deref(), Some("Мы возвращаем 10,00 ₽."));
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.pursue().await;
        counter.pursue().await;
        assert_eq!(counter.codes().await[1..], ["order_refund_requested", "order_refunded"]);
        assert_eq!(counter.last().await.1.as_deref(), Some("Возвращено 10,00 ₽."));

        // Customers are not notified of refusals by the acquirer.
        counter.acquirer.mood(AcquirerMode::Refuses);
        office.take_back(order.id, &[(line, 1)]).await.unwrap();
        for _ in 0..30 {
            counter.pursue().await;
            counter.wait(3_700);
        }
        assert_eq!(counter.order(order.id).await.refunds[1].state, OrderRefundState::Failed);
        assert_eq!(counter.codes().await[3..], ["order_refund_requested"]);

        // All remaining units, and the order with them.
        counter.acquirer.mood(AcquirerMode::Paid);
        office.take_back(order.id, &[]).await.unwrap();
        counter.pursue().await;
        assert_eq!(counter.codes().await[4..], ["order_refund_requested", "order_canceled", "order_refunded"]);
        assert_eq!(counter.last().await.1.as_deref(), Some("Возвращено 20,00 ₽."));
    }

    async fn money_given_back_by_hand_is_gone_at_once(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        let order = counter.placed(&counter.command(&[(vase, 2)])).await;
        office.move_to(&order, OrderStatus::Paid).await.unwrap();
        office.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        assert_eq!(counter.codes().await, ["order_paid", "order_refunded"]);
    }

    async fn money_that_comes_too_late_goes_back_and_is_told(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        for _ in 0..2 {
            counter.payments.handle_notification(&id, None).await.unwrap();
        }
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.pursue().await;
        assert_eq!(counter.codes().await, ["order_canceled", "order_refund_requested", "order_refunded"]);
    }

    async fn words_are_of_the_language_of_the_moment(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        let order = counter.placed(&counter.command(&[(vase, 1)])).await;
        office.move_to(&order, OrderStatus::InProcessing).await.unwrap();
        assert!(db.database.set_language(counter.house.project, Language::En).await.unwrap());
        office.move_to(&order, OrderStatus::Paid).await.unwrap();
        let (id, told) = (order.id, counter.told_on(counter.customer, 1, 50).await.items);
        let words: Vec<_> = told.iter().map(|told| (told.title.clone(), told.body.as_deref())).collect();
        assert_eq!(words, [
            (format!("Order {id} is paid"), Some("We have received 10.00 RUB.")),
            (format!("Заказ № {id} в работе"), None),
        ]);
        let nobody = kontor_kernel::ProjectId::new(99_999).unwrap();
        assert!(!db.database.set_language(nobody, Language::En).await.unwrap());
    }

    async fn each_customer_reads_their_own_of_the_application_by_pages(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 99, 1_000).await;
        let boris = counter.another_customer().await;
        for _ in 0..5 {
            let order = counter.placed(&counter.command(&[(vase, 1)])).await;
            office.move_to(&order, OrderStatus::Canceled).await.unwrap();
        }
        counter.placement.place(boris, &counter.command(&[(vase, 1)])).await.unwrap();
        let of_boris = format!("SELECT max(id) AS number FROM orders WHERE counterparty_id = {}", boris.counterparty_id);
        let id = kontor_kernel::OrderId::new(counter.house.number(of_boris).await).unwrap();
        office.move_to(&counter.order(id).await, OrderStatus::InProcessing).await.unwrap();
        assert_eq!(counter.codes_of(boris).await, ["order_in_processing"]);
        let elsewhere = CustomerScope { app: counter.house.second, ..counter.customer };
        assert_eq!(counter.told_on(elsewhere, 1, 10).await.total, 0);
        let foreign = kontor_kernel::ProjectId::new(99_999).unwrap();
        let foreign = CustomerScope { app: AppScope { project_id: foreign, ..counter.customer.app }, ..counter.customer };
        assert_eq!(counter.told_on(foreign, 1, 10).await.total, 0);
        let numbers = |page: Page<Notification>| page.items.iter().map(|told| told.id.get()).collect::<Vec<_>>();
        let (first, second) = (counter.told_on(counter.customer, 1, 3).await, counter.told_on(counter.customer, 2, 3).await);
        assert_eq!((first.total, first.last_page(), first.from(), second.to()), (5, 2, Some(1), Some(5)));
        let all = [numbers(first), numbers(second)].concat();
        assert!(all.len() == 5 && all.is_sorted_by(|newer, older| newer > older), "{all:?}");
        assert_eq!(counter.told_on(counter.customer, 3, 3).await.items, []);

        // An order without an application has no channel for notices.
        counter.house.run(format!("UPDATE orders SET application_id = NULL WHERE id = {id}")).await;
        office.move_to(&counter.order(id).await, OrderStatus::Canceled).await.unwrap();
        assert_eq!(counter.count("notifications").await, 6);
    }

    async fn who_leaves_takes_them_along_and_is_told_nothing_any_more(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 99, 1_000).await;
        for round in 0..8 {
            let customer = counter.another_customer().await;
            counter.placement.place(customer, &counter.command(&[(vase, 1)])).await.unwrap();
            let newest = counter.house.number("SELECT max(id) AS number FROM orders".to_owned()).await;
            let order = counter.order(kontor_kernel::OrderId::new(newest).unwrap()).await;
            office.move_to(&order, OrderStatus::InProcessing).await.unwrap();
            assert_eq!(counter.codes_of(customer).await, ["order_in_processing"]);
            let leaving = db.database.delete_account(counter.house.project, customer.counterparty_id, counter.clock.now());
            let (left, moved) = tokio::join!(leaving, office.move_to(&order, OrderStatus::ReadyForPickup));
            left.unwrap();
            moved.unwrap();
            assert_eq!(counter.count("notifications").await, 0, "round {round}");
            office.move_to(&order, OrderStatus::Issued).await.unwrap();
            assert_eq!(counter.count("notifications").await, 0);
        }
    }

    async fn they_are_kept_for_half_a_year(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 9, 1_000).await;
        let order = counter.placed(&counter.command(&[(vase, 1)])).await;
        office.move_to(&order, OrderStatus::InProcessing).await.unwrap();
        let swept = SWEPT_TABLES.iter().find(|swept| swept.table == "notifications").unwrap();
        let (written, shortest) = (counter.clock.now(), TimeDelta::days(1));
        let almost = written + TimeDelta::days(180) - TimeDelta::seconds(1);
        assert_eq!(db.database.sweep(swept, almost, shortest).await.unwrap(), 0);
        assert_eq!(db.database.sweep(swept, written + TimeDelta::days(180), shortest).await.unwrap(), 1);
        assert_eq!(counter.codes().await, [""; 0]);
    }
}
