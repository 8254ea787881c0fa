//! Payments of an older version, which stored those of orders and those of verifications separately.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{CustomerScope, OrderId, VerificationId};
use kontor_orders::model::OrderStatus;
use kontor_payments::NotificationResult;
use kontor_payments::model::{Charge, ChargePurpose, ChargeState, ProviderId, RefundState};
use kontor_payments::ports::{ChargeStore, RefundStore, VerificationStore};
use uuid::Uuid;

use crate::orders::counter::{AcquirerMode, Counter};

/// Migration that merged them.
const TOGETHER: &str = "0032";

fn key(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// As the older version wrote it.
fn request(purpose: &str, number: i64, key: Uuid, minor: i64) -> String {
    format!(
        r#"{{"{purpose}":{number},"attempt":"{key}","amount":{minor},"currency":"RUB","method":"sbp","description":"Old {number}","return_url":"https://shop.example/{number}"}}"#
    )
}

const AT: &str = "'2026-03-01 11:59:00'";

impl Counter<'_> {
    /// An order that waits for its payment, with an attempt of the older version.
    async fn old_attempt(&self, order: OrderId, number: u128, state: &str, payment: &str, next: &str) {
        let (key, minor) = (key(number), 26_550);
        let text = request("order_id", order.get(), key, minor);
        self.house
            .run(format!("UPDATE orders SET status_id = 2, payment_method_type = 'sbp' WHERE id = {order}"))
            .await;
        self.house
            .run(format!(
                "INSERT INTO payment_attempts (project_id, order_id, idempotence_key, state, provider_payment_id, amount, \
                 request, checks, next_check_at, created_at, updated_at) SELECT project_id, id, '{key}', '{state}', \
                 {payment}, {minor}, '{text}', 1, {next}, {AT}, {AT} FROM orders WHERE id = {order}"
            ))
            .await;
    }

    /// A verification of the older version; `refund` is its state and its key.
    async fn old_verification(&self, id: i64, customer: CustomerScope, state: &str, refund: Option<&str>) {
        let key = key(100 + u128::from(id.unsigned_abs()));
        let text = request("verification_id", id, key, 100);
        let payment = if state == "prepared" { "NULL".to_owned() } else { format!("'old-{id}'") };
        let (refund_state, refund_key) = refund.map_or(("NULL".to_owned(), "NULL".to_owned()), |state| {
            (format!("'{state}'"), format!("'{}'", self::key(200 + u128::from(id.unsigned_abs()))))
        });
        let settled = if matches!(state, "prepared" | "pending") { "NULL" } else { AT };
        let back = if refund == Some("done") { format!("'back-{id}'") } else { "NULL".to_owned() };
        let next = if settled == "NULL" || refund == Some("due") { AT } else { "NULL" };
        self.house
            .run(format!(
                "INSERT INTO verification_payments (id, project_id, counterparty_id, idempotence_key, state, \
                 provider_payment_id, request, refund_state, refund_key, refund_key_at, refund_tries, provider_refund_id, \
                 checks, next_check_at, expires_at, settled_at, created_at, updated_at) VALUES ({id}, {}, {}, '{key}', \
                 '{state}', {payment}, '{text}', {refund_state}, {refund_key}, {AT}, 3, {back}, 2, {next}, {AT}, {settled}, \
                 {AT}, {AT})",
                customer.app.project_id, customer.counterparty_id
            ))
            .await;
    }

    async fn by_key(&self, number: u128) -> Charge {
        self.house.db.database.by_key(key(number)).await.unwrap().unwrap()
    }
}

fn number(id: i64) -> VerificationId {
    VerificationId::new(id).unwrap()
}

database_tests! {
    async fn open_and_settled_payments_go_on_under_their_keys(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 50, 26_550).await;
        let mut orders = Vec::new();
        for _ in 0..3 {
            orders.push(counter.placed(&counter.command(&[(vase, 1)])).await.id);
        }
        let mut reverted = 1;
        while db.database.revert(1).unwrap()[0] != TOGETHER {
            reverted += 1;
        }
        counter.old_attempt(orders[0], 1, "prepared", "NULL", AT).await;
        counter.old_attempt(orders[1], 2, "succeeded", "'old-pay'", "NULL").await;
        counter.old_attempt(orders[2], 3, "pending", "'old-odd'", AT).await;
        counter.house.run(format!("UPDATE orders SET status_id = 22, paid_at = {AT} WHERE id = {}", orders[1])).await;
        let states = [(7, "prepared", None), (8, "succeeded", Some("due")), (9, "succeeded", Some("done")),
            (10, "expired", None), (11, "succeeded", Some("failed")), (12, "pending", None)];
        for (id, state, refund) in states {
            let customer = counter.another_customer().await;
            counter.old_verification(id, customer, state, refund).await;
        }
        counter.house.run("UPDATE verification_payments SET request = '{' WHERE id = 12".to_owned()).await;
        assert_eq!(db.database.migrate().unwrap().len(), reverted);

        let open = counter.by_key(1).await;
        assert_eq!((open.purpose(), open.state), (ChargePurpose::Order(orders[0]), ChargeState::Prepared));
        assert_eq!(open.application_id, Some(counter.customer.app.application_id));
        assert_eq!(open.counterparty_id, counter.customer.counterparty_id);
        assert_eq!((open.request.description.as_str(), open.request.amount.minor()), (format!("Old {}", orders[0]).as_str(), 26_550));
        let paid = counter.by_key(2).await;
        assert_eq!((paid.state, paid.captured.minor(), paid.refundable().minor()), (ChargeState::Succeeded, 26_550, 26_550));
        let known = ProviderId::parse("old-pay").unwrap();
        let heard = counter.payments.acquirer_notified(&known, None).await.unwrap();
        assert_eq!(heard, NotificationResult::AlreadySettled(ChargePurpose::Order(orders[1])));

        let verification = async |id| VerificationStore::find(&db.database, number(id)).await.unwrap().unwrap();
        for (id, state) in [(7, ChargeState::Prepared), (8, ChargeState::Succeeded), (10, ChargeState::Expired)] {
            let verification = verification(id).await;
            assert_eq!((verification.charge.state, verification.charge.request.amount.minor()), (state, 100), "{id}");
        }
        for (id, state, back) in [(8, RefundState::Due, None), (9, RefundState::Succeeded, Some("back-9")), (11, RefundState::Failed, None)] {
            let verification = verification(id).await;
            let refund = db.database.of_charge(verification.charge.id).await.unwrap().remove(0);
            assert_eq!((refund.state, refund.tries, refund.request.whole), (state, 3, true), "{id}");
            assert_eq!(refund.request.key, key(200 + u128::try_from(id).unwrap()));
            assert_eq!(refund.provider_id.as_ref().map(ProviderId::as_str), back);
            let gone = if state == RefundState::Succeeded { 100 } else { 0 };
            let set_aside = if state == RefundState::Due { 100 } else { 0 };
            let charge = verification.charge;
            assert_eq!((charge.captured.minor(), charge.refunded.minor(), charge.refunding.minor()), (100, gone, set_aside));
        }

        // Open payments continue with the same keys, once.
        counter.acquirer.mood(AcquirerMode::Paid);
        let round = counter.payments.reconcile("w", 9).await.unwrap();
        assert_eq!((round.checked, round.settled), (3, 2), "one is unknown to the acquirer, one cannot be read");
        assert_eq!(counter.order(orders[0]).await.status, OrderStatus::Paid);
        let made: Vec<Uuid> = counter.acquirer.payments.lock().unwrap().iter().map(|(key, _)| *key).collect();
        assert!(made.len() == 2 && made.contains(&key(1)) && made.contains(&key(107)), "{made:?}");
        assert_eq!(db.database.parked().await.unwrap().len(), 1);
        assert_eq!(counter.refunds.reconcile("w", 9).await.unwrap().checked, 2);
        let back: Vec<Uuid> = counter.acquirer.refunds.lock().unwrap().iter().map(|(key, _)| *key).collect();
        assert!(back.len() == 2 && back.contains(&key(208)), "{back:?}");
        let next = "INSERT INTO verifications (project_id, counterparty_id, expires_at, created_at) SELECT project_id, \
            counterparty_id, expires_at, created_at FROM verifications WHERE id = 7 RETURNING id AS number";
        assert_eq!(counter.house.number(next.to_owned()).await, 13, "numbers go on");
    }

    async fn an_older_binary_goes_on_with_payments_that_were_made_together(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 50, 26_550).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        counter.placed(&counter.online(&[(vase, 1)])).await;
        counter.acquirer.settle(kontor_payments::model::GatewayStatus::Succeeded);
        let paid = counter.acquirer.payments.lock().unwrap()[1].1.id.clone();
        counter.payments.acquirer_notified(&paid, None).await.unwrap();
        let mut reverted = 1;
        while db.database.revert(1).unwrap()[0] != TOGETHER {
            reverted += 1;
        }
        let open = format!("payment_attempts WHERE order_id = {} AND state = 'pending' AND next_check_at IS NOT NULL", order.id);
        assert_eq!((counter.count("payment_attempts").await, counter.count(&open).await), (2, 1));
        assert_eq!(db.database.migrate().unwrap().len(), reverted);
        counter.acquirer.payments.lock().unwrap()[0].1.status = kontor_payments::model::GatewayStatus::Succeeded;
        counter.wait(60);
        assert_eq!(counter.payments.reconcile("w", 9).await.unwrap().settled, 1);
        assert_eq!(counter.order(order.id).await.status, OrderStatus::Paid);
        assert_eq!(counter.acquirer.count(), 2);
    }
}
