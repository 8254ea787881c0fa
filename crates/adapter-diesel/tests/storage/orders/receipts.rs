//! Receipts of payments, of refunds, and of prepaid goods that are handed over.

use chrono::TimeDelta;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock, Money, Quantity, ReceiptId};
use kontor_orders::model::{Order, OrderStatus};
use kontor_orders::{OrderRefused, PaymentProblem, PlacementError};
use kontor_payments::model::{
    Charge, GatewayStatus, PaymentMode, PaymentSubject, ReceiptItem, ReceiptKind, ReceiptState, ReceiptTask,
    ReceiptTerms, RefundIntent, Registration, TaxSystem, VatCode,
};
use kontor_payments::ports::{ChargeStore, ReceiptSettings, ReceiptStore, RefundStored};

use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::StaffFixture;

fn terms() -> ReceiptTerms {
    ReceiptTerms { tax_system: TaxSystem::new(2).ok(), default_vat: VatCode::new(4).unwrap() }
}

impl ShopFixture<'_> {
    async fn switch_receipts_on(&self) {
        let project = self.customer.app.project_id;
        assert!(self.stock_fixture.db.database.set_receipt_terms(project, Some(terms())).await.unwrap());
    }

    /// An order of two vases that is paid online, and its charge.
    async fn paid(&self, vase: i64) -> (Order, Charge) {
        let order = self.placed(&self.online(&[(vase, 2)])).await;
        let payment = self.acquirer.settle(GatewayStatus::Succeeded);
        self.payments.handle_notification(&payment, None).await.unwrap();
        let charge = self.stock_fixture.db.database.by_provider(&payment).await.unwrap().unwrap();
        (self.order(order.id).await, charge)
    }

    /// `kind state` of all receipts, by kind.
    async fn receipts(&self) -> Vec<String> {
        let mut reported = Vec::new();
        for kind in ["payment", "refund", "hand_over"] {
            for state in ["due", "pending", "succeeded", "canceled"] {
                let rows = self.count(&format!("receipts WHERE kind = '{kind}' AND state = '{state}'")).await;
                reported.extend((0..rows).map(|_| format!("{kind} {state}")));
            }
        }
        reported
    }

    async fn concerns(&self) -> Vec<(String, ReceiptKind, ReceiptState, ReceiptId)> {
        let project = Some(self.customer.app.project_id);
        let concerns = self.stock_fixture.db.database.receipt_concerns(project, 9).await.unwrap();
        let counted = self.stock_fixture.db.database.count_receipts_to_review().await.unwrap();
        assert_eq!(usize::try_from(counted).unwrap(), concerns.len());
        concerns.into_iter().map(|one| (one.purpose.to_string(), one.kind, one.state, one.id)).collect()
    }

    /// Refunds one of the two vases.
    async fn refund_one(&self, charge: &Charge, price: i64) {
        let amount = Money::from_minor(price).unwrap();
        let item = ReceiptItem {
            name: "Vase".to_owned(),
            quantity: Quantity::ONE,
            total: amount,
            vat: VatCode::new(4).unwrap(),
            subject: PaymentSubject::Commodity,
            mode: PaymentMode::FullPrepayment,
        };
        let part = charge.request.receipt.as_ref().unwrap().of_part(&[item], amount).unwrap();
        let intent = RefundIntent::new(self.random.uuid(), amount, "Vase".to_owned()).unwrap();
        assert!(intent.clone().with_receipt(charge.request.receipt.clone().unwrap()).is_err());
        let stored = self.refunds.request(charge.id, intent.with_receipt(part).unwrap()).await.unwrap();
        assert!(matches!(stored, RefundStored::New(refund) if refund.request.receipt.is_some()));
        self.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(self.refunds.reconcile("w", 9).await.unwrap().checked, 1);
    }
}

database_tests! {
    async fn terms_are_kept_by_project(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let project = shop.customer.app.project_id;
        assert_eq!(db.database.receipt_terms(project).await.unwrap(), None);
        shop.switch_receipts_on().await;
        assert_eq!(db.database.receipt_terms(project).await.unwrap(), Some(terms()));
        let other = ReceiptTerms { tax_system: None, default_vat: VatCode::NONE };
        assert!(db.database.set_receipt_terms(project, Some(other)).await.unwrap());
        assert_eq!(db.database.receipt_terms(project).await.unwrap(), Some(other));
        assert!(db.database.set_receipt_terms(project, None).await.unwrap());
        assert_eq!(db.database.receipt_terms(project).await.unwrap(), None);
        let nobody = kontor_kernel::ProjectId::new(99_999).unwrap();
        assert!(!db.database.set_receipt_terms(nobody, Some(other)).await.unwrap());
    }

    async fn a_payment_goes_with_a_receipt_where_they_are_on(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (_, bare) = shop.paid(vase).await;
        assert_eq!((bare.request.receipt, shop.receipts().await), (None, vec![]));
        shop.switch_receipts_on().await;
        shop.stock_fixture.run(format!("UPDATE nomenclatures SET vat_id = 5 WHERE id = {vase}")).await;
        let (_, charge) = shop.paid(vase).await;
        let receipt = charge.request.receipt.clone().unwrap();
        assert_eq!((receipt.total(), receipt.tax_system()), (charge.request.amount, TaxSystem::new(2).ok()));
        assert_eq!(receipt.lines()[0].vat(), VatCode::new(11).unwrap(), "the VAT of the card");
        assert_eq!(shop.receipts().await, ["payment succeeded"]);
        assert_eq!(shop.count("reservations WHERE vat_code = 11").await, 1);
        // A retry is the same request, word for word.
        assert_eq!(ChargeStore::find(&db.database, charge.id).await.unwrap().unwrap().request, charge.request);
        shop.stock_fixture.run("UPDATE counterparties SET phone_1 = NULL".to_owned()).await;
        let refused = shop.place(&shop.online(&[(vase, 1)])).await.unwrap_err();
        let problem = match refused {
            PlacementError::Refused(OrderRefused { payment, .. }) => payment,
            other => panic!("{other:?}"),
        };
        assert_eq!(problem, Some(PaymentProblem::NoContact));
        shop.stock_fixture.run("UPDATE counterparties SET email = 'anna@example.com'".to_owned()).await;
        shop.placed(&shop.online(&[(vase, 1)])).await;
    }

    async fn a_pending_receipt_is_asked_about_until_it_is_known(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        shop.acquirer.registers(Registration::Pending);
        let (order, _) = shop.paid(vase).await;
        assert_eq!(shop.receipts().await, ["payment pending"]);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 1);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 0, "not before its time");
        shop.wait(3 * 24 * 3_600 - 1);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().suspicious, []);
        assert_eq!(shop.concerns().await, []);
        shop.wait(3_600);
        let reported = shop.receipts.reconcile("w", 9).await.unwrap().suspicious;
        assert_eq!((reported.len(), reported[0].0.to_string()), (1, format!("order {}", order.id)));
        let concerns = shop.concerns().await;
        assert_eq!((&concerns[0].0, concerns[0].1, concerns[0].2), (&reported[0].0.to_string(), ReceiptKind::Payment, ReceiptState::Pending));
        shop.wait(3_600);
        let round = shop.receipts.reconcile("w", 9).await.unwrap();
        assert_eq!((round.checked, round.suspicious.len()), (1, 0), "told once");
        shop.acquirer.registers(Registration::Succeeded);
        shop.wait(3_600);
        shop.receipts.reconcile("w", 9).await.unwrap();
        assert_eq!((shop.receipts().await, shop.concerns().await), (vec!["payment succeeded".to_owned()], vec![]));
    }

    async fn a_canceled_receipt_waits_for_an_employee(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        shop.acquirer.registers(Registration::Canceled);
        let (order, _) = shop.paid(vase).await;
        let reported = shop.receipts.reconcile("w", 9).await.unwrap().suspicious;
        assert_eq!(reported[0].0.to_string(), format!("order {}", order.id));
        let concern = shop.concerns().await.remove(0);
        assert_eq!((concern.1, concern.2), (ReceiptKind::Payment, ReceiptState::Canceled));
        let now = shop.clock.now();
        assert!(db.database.retry_receipt(concern.3, now).await.unwrap());
        assert!(!db.database.retry_receipt(concern.3, now).await.unwrap(), "it is no longer canceled");
        assert_eq!((shop.concerns().await.len(), shop.receipts().await), (0, vec!["payment pending".to_owned()]));
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().suspicious.len(), 1);
        assert!(db.database.close_receipt_review(concern.3, now).await.unwrap());
        assert!(!db.database.close_receipt_review(concern.3, now).await.unwrap());
        assert_eq!((shop.concerns().await.len(), shop.receipts().await), (0, vec!["payment succeeded".to_owned()]));
    }

    async fn a_handed_over_order_has_its_second_receipt_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (order, charge) = shop.paid(vase).await;
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 0, "the first is registered");
        let issue = || staff_fixture.move_to(&order, OrderStatus::Issued);
        let (one, two, three) = tokio::join!(issue(), issue(), issue());
        assert!(one.is_ok() || two.is_ok() || three.is_ok());
        assert_eq!(shop.receipts().await, ["payment succeeded", "hand_over due"]);
        // The response is lost, and one worker stops with its lease.
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        assert_eq!(shop.receipts.reconcile("one", 9).await.unwrap().checked, 1);
        shop.wait(60);
        let now = shop.clock.now();
        let leased = ReceiptStore::lease(&db.database, "two", now, now + TimeDelta::seconds(150)).await.unwrap().unwrap();
        let ReceiptTask::HandOver(request) = &leased.task else { panic!("{leased:?}") };
        assert_eq!((request.receipt.total(), Some(&request.payment)), (charge.request.amount, charge.provider_id.as_ref()));
        assert!(request.receipt.lines().iter().all(|line| line.mode() == PaymentMode::FullPayment));
        shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(shop.receipts.reconcile("three", 9).await.unwrap().checked, 0, "it is leased");
        shop.wait(151);
        assert_eq!(shop.receipts.reconcile("three", 9).await.unwrap().checked, 1);
        assert_eq!(shop.receipts().await, ["payment succeeded", "hand_over succeeded"]);
        assert_eq!(shop.acquirer.receipts.lock().unwrap().len(), 1, "one receipt");
        assert_eq!(shop.count("receipts WHERE body IS NOT NULL").await, 0, "who bought it is not kept");
    }

    async fn refunded_units_are_not_handed_over(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (order, charge) = shop.paid(vase).await;
        shop.refund_one(&charge, 333).await;
        assert_eq!(shop.receipts().await, ["payment succeeded", "refund succeeded"]);
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 1);
        let made = shop.acquirer.receipts.lock().unwrap().clone();
        assert_eq!((made.len(), made[0].1.prepaid.minor()), (1, 333));
        // The other order is refunded completely.
        let (order, charge) = shop.paid(vase).await;
        shop.refund_one(&charge, 333).await;
        shop.refund_one(&charge, 333).await;
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 0);
        assert_eq!(shop.acquirer.receipts.lock().unwrap().len(), 1);
    }

    async fn nothing_follows_where_nothing_was_prepaid(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (before, _) = shop.paid(vase).await;
        shop.switch_receipts_on().await;
        let at_the_desk = shop.placed(&shop.command(&[(vase, 1)])).await;
        for order in [before, at_the_desk] {
            staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        }
        assert_eq!(shop.count("receipts").await, 0);
    }

    async fn a_refused_hand_over_is_tried_under_another_key(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (order, _) = shop.paid(vase).await;
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        shop.wait(180);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().suspicious.len(), 1);
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.wait(3_600);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().suspicious, []);
        let key = shop.acquirer.receipts.lock().unwrap()[0].0.clone();
        assert!(key.starts_with("hand-over-") && key.ends_with("-1"), "{key}");
        assert_eq!(shop.receipts().await, ["payment succeeded", "hand_over succeeded"]);
    }

    async fn receipts_do_not_name_deleted_customers(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        let (issued, charge) = shop.paid(vase).await;
        shop.refund_one(&charge, 333).await;
        staff_fixture.move_to(&issued, OrderStatus::Issued).await.unwrap();
        let (waiting, _) = shop.paid(vase).await;
        let (project, anna) = (shop.customer.app.project_id, shop.customer.counterparty_id);
        let named = async || shop.count("charges WHERE request LIKE '%79001234567%'").await;
        assert_eq!((named().await, shop.count("refunds WHERE receipt IS NOT NULL").await), (2, 1));
        kontor_customers::ports::CustomerRepository::delete_account(&db.database, project, anna, shop.clock.now()).await.unwrap();
        // Goods that are still to be handed over need their receipt.
        assert_eq!((named().await, shop.count("refunds WHERE receipt IS NOT NULL").await), (1, 0));
        staff_fixture.move_to(&waiting, OrderStatus::Issued).await.unwrap();
        assert_eq!(named().await, 0);
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 2);
        assert_eq!(shop.acquirer.receipts.lock().unwrap().len(), 2);
        assert_eq!(shop.count("receipts WHERE body IS NOT NULL").await, 0);
        assert!(ChargeStore::find(&db.database, charge.id).await.unwrap().unwrap().request.receipt.is_none());
    }

    async fn a_receipt_that_cannot_be_read_holds_up_no_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        shop.switch_receipts_on().await;
        let vase = shop.goods("Vase", 9, 333).await;
        for _ in 0..2 {
            let (order, _) = shop.paid(vase).await;
            staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        }
        shop.stock_fixture.run("UPDATE receipts SET body = '{' WHERE id = (SELECT min(id) FROM receipts WHERE kind = 'hand_over')".to_owned()).await;
        assert_eq!(shop.receipts.reconcile("w", 9).await.unwrap().checked, 1);
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.iter().map(|row| row.table).collect::<Vec<_>>(), ["receipts"]);
    }
}
