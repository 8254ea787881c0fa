//! Changed order lines: stock, totals, discounts and the payment follow, or nothing changes.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock as _, Money, NomenclatureId, OrderId, Quantity, ReservationId};
use kontor_orders::lines::{LineCommand, LineEdit, LinesChanged, LinesRefused, OrderPreview};
use kontor_orders::model::{Order, OrderStatus, PaymentState};
use kontor_orders::{OrderCommand, OrderError, OrderRefusal};
use kontor_payments::model::GatewayStatus;

use super::shop::{AcquirerMode, ShopFixture};
use super::staff_fixture::StaffFixture;

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn add(item: i64, quantity: i64) -> LineEdit {
    LineEdit::Add { item: NomenclatureId::new(item).unwrap(), quantity: Quantity::new(quantity).unwrap(), price: None }
}

fn set(line: ReservationId, quantity: i64) -> LineEdit {
    LineEdit::Set { line, quantity: Quantity::new(quantity).ok(), price: None }
}

fn command(edit: LineEdit) -> LineCommand {
    LineCommand { edit, restock: None, reason: None }
}

async fn change(
    shop: &ShopFixture<'_>,
    staff_fixture: &StaffFixture,
    id: OrderId,
    edit: LineEdit,
) -> Result<Order, OrderError> {
    match shop.placement.change_lines(&staff_fixture.staff, id, &command(edit)).await? {
        LinesChanged::Done(order) | LinesChanged::PaymentOutcomeUnknown(order) => Ok(order),
        LinesChanged::PaymentRefused { reason } => panic!("{reason}"),
    }
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, OrderError>) -> LinesRefused {
    match outcome {
        Err(OrderError::Refused(OrderRefusal::Lines(refused))) => refused,
        outcome => panic!("{outcome:?}"),
    }
}

/// Checks that the order equals its preview.
fn came_true(preview: &OrderPreview, before: &Order, after: &Order) {
    let printed: Vec<_> = preview
        .lines
        .iter()
        .map(|line| {
            let discounts = (line.product_discount, line.promo_discount, line.total);
            (
                line.item.id,
                line.warehouse,
                line.quantity,
                line.unit_price,
                discounts,
                line.refunded_quantity,
                line.refunded_amount,
            )
        })
        .collect();
    let done: Vec<_> = after
        .lines
        .iter()
        .map(|line| {
            let discounts = (line.product_discount, line.promo_discount, line.total);
            let warehouse = line.warehouse.as_ref().map(|warehouse| warehouse.id);
            (
                line.item.id,
                warehouse,
                line.quantity,
                line.unit_price,
                discounts,
                line.refunded_quantity,
                line.refunded_amount,
            )
        })
        .collect();
    assert_eq!(printed, done);
    assert_eq!((preview.totals, preview.status), (after.into(), after.status));
    let pays = |order: &Order| order.final_price.minor() - order.refunded.minor() - order.refunding.minor();
    assert_eq!(preview.difference, pays(after) - pays(before));
    if preview.refund.is_some() {
        assert_eq!(preview.left, after.left_to_refund());
    }
}

impl ShopFixture<'_> {
    pub(super) async fn events(&self, event: &str) -> i64 {
        self.stock_fixture.number(format!("SELECT count(*) AS number FROM order_events WHERE event = '{event}'")).await
    }

    async fn used_amount(&self) -> (i64, i64) {
        let of = |column: &str| format!("SELECT {column} AS number FROM discounts WHERE code IS NOT NULL");
        (self.stock_fixture.number(of("used_count")).await, self.stock_fixture.number(of("used_amount")).await)
    }
}

database_tests! {
    async fn lines_are_added_changed_and_removed_in_one_commit_each(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 5, 1_000).await, shop.goods("Cup", 2, 300).await);
        let order = shop.placed(&shop.command(&[(vase, 2)])).await;
        let after = change(&shop, &staff_fixture, order.id, add(cup, 2)).await.unwrap();
        assert_eq!((after.final_price, after.lines.len()), (money(2_600), 2));
        assert!(after.version > order.version);
        assert_eq!((shop.stock(cup).await, shop.stock_fixture.offers().await.len()), ((2, 2), 1), "the cup is sold out");
        shop.sound().await;
        let (first, second) = (after.lines[0].id, after.lines[1].id);
        assert_eq!(first, order.lines[0].id, "kept lines keep their numbers");
        let after = change(&shop, &staff_fixture, order.id, set(first, 4)).await.unwrap();
        assert_eq!((after.final_price, shop.stock(vase).await), (money(4_600), (5, 4)));
        let after = change(&shop, &staff_fixture, order.id, set(first, 1)).await.unwrap();
        assert_eq!((after.final_price, shop.stock(vase).await), (money(1_600), (5, 1)));
        let after = change(&shop, &staff_fixture, order.id, LineEdit::Remove { line: second }).await.unwrap();
        assert_eq!((after.lines.len(), after.final_price, shop.stock(cup).await), (1, money(1_000), (2, 0)));
        assert_eq!((shop.stock_fixture.offers().await.len(), shop.events("lines_changed").await), (2, 4));
        let last = change(&shop, &staff_fixture, order.id, LineEdit::Remove { line: first }).await;
        assert_eq!(refused(last), LinesRefused::LastLine);
        for gone in [set(second, 1), LineEdit::Remove { line: second }] {
            assert_eq!(refused(change(&shop, &staff_fixture, order.id, gone).await), LinesRefused::UnknownLine);
        }
        let notices = shop.stock_fixture.number("SELECT count(*) AS number FROM notifications WHERE code = 'order_changed'".to_owned());
        assert_eq!(notices.await, 4);
        shop.sound().await;
    }

    async fn a_price_or_an_empty_change_moves_no_stock(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 1_000).await;
        let order = shop.placed(&shop.command(&[(vase, 2)])).await;
        let line = order.lines[0].id;
        let movements = shop.count("stock_movements").await;
        let same = change(&shop, &staff_fixture, order.id, set(line, 2)).await.unwrap();
        assert_eq!((same.version, shop.count("order_events").await), (1, 1), "nothing is written");
        let cheaper = LineEdit::Set { line, quantity: None, price: Some(money(900)) };
        let after = change(&shop, &staff_fixture, order.id, cheaper).await.unwrap();
        assert_eq!((after.final_price, after.lines[0].unit_price), (money(1_800), money(900)));
        assert_eq!((shop.count("stock_movements").await, shop.stock(vase).await), (movements, (5, 2)));
        // Units added later have their current price, and are a line of their own.
        let after = change(&shop, &staff_fixture, order.id, set(line, 3)).await.unwrap();
        let reported: Vec<_> = after.lines.iter().map(|line| (line.quantity.get(), line.unit_price.minor())).collect();
        assert_eq!((reported, after.final_price), (vec![(2, 900), (1, 1_000)], money(2_800)));
        shop.sound().await;
        staff_fixture.move_to(&after, OrderStatus::Issued).await.unwrap();
        assert_eq!(shop.stock(vase).await, (2, 0));
        shop.sound().await;
    }

    async fn pieces_come_from_other_warehouses_and_go_back_where_they_came_from(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 3, 1_000).await;
        shop.stock_fixture.stock(shop.stock_fixture.far, vase, 4, 1_100).await;
        db.database.rebuild_offers().await.unwrap();
        let order = shop.placed(&shop.command(&[(vase, 2)])).await;
        let after = change(&shop, &staff_fixture, order.id, set(order.lines[0].id, 5)).await.unwrap();
        let reported: Vec<_> = after.lines.iter().map(|line| (line.quantity.get(), line.unit_price.minor())).collect();
        assert_eq!((reported, shop.stock(vase).await), (vec![(2, 1_000), (3, 1_100)], (3, 2)));
        let far = format!("SELECT reserved AS number FROM inventories WHERE warehouse_id = {}", shop.stock_fixture.far);
        assert_eq!(shop.stock_fixture.number(far.clone()).await, 3);
        let after = change(&shop, &staff_fixture, order.id, set(after.lines[1].id, 1)).await.unwrap();
        assert_eq!((shop.stock_fixture.number(far).await, shop.stock(vase).await, after.final_price), (1, (3, 2), money(3_100)));
        let too_many = refused(change(&shop, &staff_fixture, order.id, set(after.lines[0].id, 7)).await);
        assert!(matches!(too_many, LinesRefused::Invalid(_)));
        shop.sound().await;
    }

    async fn discounts_are_those_of_the_moment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 9, 1_000).await, shop.goods("Cup", 9, 500).await);
        shop.promo("ONE", "1", "1").await;
        let order = shop.placed(&shop.with_promo(&[(vase, 2)], "ONE")).await;
        assert_eq!((order.promo_discount, shop.used_amount().await), (money(200), (1, 200)));
        let after = change(&shop, &staff_fixture, order.id, add(cup, 2)).await.unwrap();
        assert_eq!((after.promo_discount, after.final_price, shop.used_amount().await), (money(300), money(2_700), (1, 300)));
        shop.stock_fixture.run("UPDATE discounts SET minimum_sum = 250000".to_owned()).await;
        let edit = set(after.lines[0].id, 3);
        let (_, preview) = shop.placement.preview_lines(&staff_fixture.staff, order.id, &command(edit)).await.unwrap();
        assert!(preview.promo_problem.is_some());
        let after = change(&shop, &staff_fixture, order.id, edit).await.unwrap();
        assert_eq!((after.promo_code, after.promo_discount, shop.used_amount().await), (None, Money::ZERO, (0, 0)));
        assert_eq!((after.final_price, shop.count("discount_usages").await), (money(4_000), 0));
        shop.sound().await;
    }

    async fn an_open_payment_is_withdrawn_and_one_of_the_new_sum_requested(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.online(&[(vase, 3)])).await;
        let line = order.lines[0].id;
        for (acquirer_mode, expected) in [(AcquirerMode::Refuses, LinesRefused::PaymentOpen), (AcquirerMode::Silent, LinesRefused::PaymentOutcomeUnknown)] {
            shop.acquirer.set_mode(acquirer_mode);
            assert_eq!(refused(change(&shop, &staff_fixture, order.id, set(line, 2)).await), expected);
            let same = shop.order(order.id).await;
            assert_eq!((same.final_price, same.payment_open, same.version), (order.final_price, true, order.version));
            assert_eq!((shop.stock(vase).await, same.payment_link), ((9, 3), order.payment_link.clone()));
        }
        shop.acquirer.set_mode(AcquirerMode::Pending);
        let (_, preview) = shop.placement.preview_lines(&staff_fixture.staff, order.id, &command(set(line, 2))).await.unwrap();
        assert!(preview.new_payment && shop.acquirer.count() == 1);
        let after = change(&shop, &staff_fixture, order.id, set(line, 2)).await.unwrap();
        came_true(&preview, &order, &after);
        assert_eq!((after.status, after.payment_state()), (OrderStatus::WaitingForPayment, PaymentState::Pending));
        assert!(after.payment_link.is_some() && after.payment_link != order.payment_link);
        assert_eq!((shop.acquirer.count(), shop.count("charges").await), (2, 2));
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        let paid = shop.order(order.id).await;
        assert_eq!((paid.status, paid.captured, paid.final_price), (OrderStatus::Paid, money(2_000), money(2_000)));
        shop.sound().await;
    }

    async fn an_order_with_a_withdrawn_payment_is_canceled_after_a_while(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let (left, renewed) = (shop.placed(&shop.online(&[(vase, 3)])).await, shop.placed(&shop.online(&[(vase, 1)])).await);
        let open = shop.placed(&shop.online(&[(vase, 1)])).await;
        let ids: Vec<_> = {
            let mut payments = shop.acquirer.payments.lock().unwrap();
            payments.iter_mut().take(2).for_each(|(_, payment)| payment.reason = Some("canceled_by_merchant".to_owned()));
            payments.iter_mut().take(2).for_each(|(_, payment)| payment.status = GatewayStatus::Canceled);
            payments.iter().take(2).map(|(_, payment)| payment.id.clone()).collect()
        };
        for id in ids {
            shop.payments.handle_notification(&id, None).await.unwrap();
        }
        let give_up = || shop.stock_fixture.db.database.cancel_unpaid_orders(shop.clock.now());
        assert_eq!(give_up().await.unwrap(), 0, "staff may ask for another one");
        change(&shop, &staff_fixture, renewed.id, set(renewed.lines[0].id, 2)).await.unwrap();
        shop.wait(15 * 60);
        // Two workers read at the same time.
        let (first, second) = tokio::join!(give_up(), give_up());
        assert_eq!(first.unwrap() + second.unwrap(), 1);
        let order = shop.order(left.id).await;
        assert_eq!((order.status, order.captured), (OrderStatus::Canceled, money(0)));
        for waiting in [&renewed, &open] {
            assert_eq!(shop.order(waiting.id).await.status, OrderStatus::WaitingForPayment);
        }
        assert_eq!((shop.stock(vase).await, shop.events("payment_failed").await), ((9, 3), 1));
        assert_eq!(give_up().await.unwrap(), 0);
        shop.sound().await;
    }

    async fn a_withdrawn_payment_leaves_the_order_waiting_and_a_repeated_change_continues(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 1_000).await;
        let order = shop.placed(&shop.online(&[(vase, 3)])).await;
        // As after a crash between the two: the acquirer canceled the payment, and the order was not changed.
        let id = {
            let mut payments = shop.acquirer.payments.lock().unwrap();
            payments[0].1.reason = Some("canceled_by_merchant".to_owned());
            payments[0].1.id.clone()
        };
        shop.acquirer.settle(GatewayStatus::Canceled);
        shop.payments.handle_notification(&id, None).await.unwrap();
        let waiting = shop.order(order.id).await;
        assert_eq!((waiting.status, waiting.payment_open, waiting.payment_link), (OrderStatus::WaitingForPayment, false, None));
        assert_eq!((shop.stock(vase).await, shop.events("payment_withdrawn").await), ((9, 3), 1));
        let again = change(&shop, &staff_fixture, order.id, set(order.lines[0].id, 3)).await.unwrap();
        assert_eq!((again.payment_open, again.final_price, shop.events("payment_renewed").await), (true, money(3_000), 1));
        // A lost response is resolved by reading.
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        let after = change(&shop, &staff_fixture, order.id, set(order.lines[0].id, 1)).await.unwrap();
        assert_eq!((after.final_price, after.payment_open), (money(1_000), true));
        shop.acquirer.set_mode(AcquirerMode::Pending);
        shop.wait(3);
        shop.payments.reconcile("w", 10).await.unwrap();
        assert!(shop.order(order.id).await.payment_link.is_some());
        shop.sound().await;
    }

    async fn less_of_a_paid_order_goes_back_and_more_is_refused(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup) = (shop.goods("Vase", 9, 1_000).await, shop.goods("Cup", 9, 500).await);
        let order = shop.paid_online(&shop.online(&[(vase, 3), (cup, 1)])).await;
        let (first, second) = (order.lines[0].id, order.lines[1].id);
        for more in [set(first, 4), add(cup, 1)] {
            assert!(matches!(refused(change(&shop, &staff_fixture, order.id, more).await), LinesRefused::Invalid(_)));
        }
        let edit = set(first, 2);
        let (_, preview) = shop.placement.preview_lines(&staff_fixture.staff, order.id, &command(edit)).await.unwrap();
        assert_eq!((shop.stock(vase).await, shop.count("refunds").await), ((9, 3), 0));
        let after = change(&shop, &staff_fixture, order.id, edit).await.unwrap();
        came_true(&preview, &order, &after);
        assert_eq!((after.refunding, shop.stock(vase).await), (money(1_000), (9, 2)));
        // One change at a time.
        let meanwhile = change(&shop, &staff_fixture, order.id, LineEdit::Remove { line: second }).await;
        assert_eq!(refused(meanwhile), LinesRefused::RefundInProgress);
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.reconcile_refunds().await;
        let again = change(&shop, &staff_fixture, order.id, edit).await.unwrap();
        assert_eq!((again.refunds.len(), again.refunded), (1, money(1_000)), "asked for twice, given once");
        let cheaper = LineEdit::Set { line: first, quantity: None, price: Some(money(800)) };
        let after = change(&shop, &staff_fixture, order.id, cheaper).await.unwrap();
        assert_eq!((after.refunding, shop.stock(vase).await), (money(400), (9, 2)));
        shop.reconcile_refunds().await;
        let lost = LineCommand { restock: Some(false), ..command(LineEdit::Remove { line: second }) };
        shop.placement.change_lines(&staff_fixture.staff, order.id, &lost).await.unwrap();
        assert_eq!(shop.stock(cup).await, (8, 0));
        shop.reconcile_refunds().await;
        assert_eq!(shop.money(order.id).await, (3_500, 1_900, 0));
        shop.sound().await;
        staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        let late = change(&shop, &staff_fixture, order.id, set(first, 1)).await;
        assert_eq!(refused(late), LinesRefused::Final(OrderStatus::Issued));
        shop.sound().await;
    }

    async fn a_change_races_the_outcome_of_the_payment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 200, 1_000).await;
        for round in 0..16 {
            shop.acquirer.set_mode(AcquirerMode::Pending);
            let order = shop.placed(&shop.online(&[(vase, 3)])).await;
            let line = order.lines[0].id;
            let id = shop.acquirer.settle(GatewayStatus::Pending);
            let pays = async {
                if round % 2 == 0 {
                    tokio::task::yield_now().await;
                }
                // A payment succeeds, unless it was withdrawn before.
                let mut payments = shop.acquirer.payments.lock().unwrap().clone();
                payments.retain(|(_, payment)| payment.id == id);
                if payments[0].1.status == GatewayStatus::Pending {
                    let mut all = shop.acquirer.payments.lock().unwrap();
                    let payment = all.iter_mut().find(|(_, payment)| payment.id == id).unwrap();
                    if payment.1.status == GatewayStatus::Pending {
                        payment.1.status = GatewayStatus::Succeeded;
                    }
                }
                shop.payments.handle_notification(&id, None).await.unwrap();
            };
            let (changed, ()) = tokio::join!(change(&shop, &staff_fixture, order.id, set(line, 2)), pays);
            let after = shop.order(order.id).await;
            match changed {
                // A unit of an order that is paid when it is first read is refunded.
                Ok(_) if after.paid_at.is_some() => {
                    assert_eq!((after.final_price, after.captured, after.refunding), (money(3_000), money(3_000), money(1_000)));
                }
                Ok(_) => assert_eq!((after.final_price, after.captured), (money(2_000), Money::ZERO)),
                Err(error) => {
                    assert!(matches!(refused::<()>(Err(error)), LinesRefused::ChangedMeanwhile));
                    assert_eq!((after.final_price, after.captured), (money(3_000), money(3_000)));
                }
            }
            assert!(after.captured.is_zero() || after.captured == after.final_price, "{after:?}");
        }
        shop.sound().await;
    }

    async fn changes_and_orders_race_for_the_last_pieces(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        let vase = shop.goods("Vase", 10, 100).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        let (id, line) = (order.id, order.lines[0].id);
        let mut racers = Vec::new();
        for _ in 0..4 {
            let (placement, staff) = (shop.placement.clone(), staff_fixture.staff.clone());
            racers.push(tokio::spawn(async move {
                let outcome = placement.change_lines(&staff, id, &command(set(line, 6))).await;
                match outcome {
                    Ok(_) | Err(OrderError::Refused(OrderRefusal::Lines(LinesRefused::Invalid(_) | LinesRefused::Stale))) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }));
            let (placement, customer, wish) = (shop.placement.clone(), shop.customer, shop.command(&[(vase, 2)]));
            racers.push(tokio::spawn(async move {
                let _ = placement.place(customer, &wish).await;
            }));
        }
        for racer in racers {
            racer.await.unwrap();
        }
        let (quantity, reserved) = shop.stock(vase).await;
        let held = shop.stock_fixture.number("SELECT CAST(sum(quantity) AS BIGINT) AS number FROM reservations".to_owned()).await;
        assert!(reserved <= quantity && reserved == held, "{quantity} {reserved} {held}");
        shop.sound().await;
    }

    async fn two_changes_at_once_are_both_whole(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let (vase, cup, pot) =
            (shop.goods("Vase", 50, 100).await, shop.goods("Cup", 50, 70).await, shop.goods("Pot", 50, 30).await);
        for _ in 0..10 {
            let order = shop.placed(&shop.command(&[(vase, 3)])).await;
            let line = order.lines[0].id;
            let (one, two, three) = tokio::join!(
                change(&shop, &staff_fixture, order.id, add(cup, 1)),
                change(&shop, &staff_fixture, order.id, set(line, 1)),
                change(&shop, &staff_fixture, order.id, add(pot, 2)),
            );
            for outcome in [one, two, three] {
                outcome.unwrap();
            }
            let after = shop.order(order.id).await;
            assert_eq!((after.lines.len(), after.final_price), (3, money(100 + 70 + 60)));
            staff_fixture.move_to(&after, OrderStatus::Canceled).await.unwrap();
        }
        assert_eq!((shop.stock(vase).await, shop.stock(cup).await, shop.stock(pot).await), ((50, 0), (50, 0), (50, 0)));
        shop.sound().await;
    }

    async fn a_move_has_the_effects_of_its_preview(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let items = [shop.goods("Vase", 9, 333).await, shop.goods("Cup", 9, 1_001).await, shop.goods("Pot", 9, 77).await];
        shop.stock_fixture.stock(shop.stock_fixture.far, items[0], 9, 350).await;
        db.database.rebuild_offers().await.unwrap();
        shop.promo("ALL", "NULL", "NULL").await;
        let mut seed = 7_u64;
        let mut rng = |sides: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % sides
        };
        let mut done = 0;
        for round in 0..24 {
            let first = usize::try_from(rng(3)).unwrap();
            let lines = [(items[first], 1 + i64::try_from(rng(4)).unwrap()), (items[(first + 1) % 3], 2)];
            let wish = OrderCommand {
                payment_method: if round % 3 == 0 { shop.online(&lines).payment_method } else { None },
                ..shop.with_promo(&lines, "ALL")
            };
            let mut order = if round % 3 == 0 { shop.paid_online(&wish).await } else { shop.placed(&wish).await };
            for _ in 0..4 {
                let line = order.lines[usize::try_from(rng(u64::try_from(order.lines.len()).unwrap())).unwrap()].id;
                let edit = match rng(5) {
                    0 => add(items[usize::try_from(rng(3)).unwrap()], 1 + i64::try_from(rng(3)).unwrap()),
                    1 => LineEdit::Remove { line },
                    2 => LineEdit::Set { line, quantity: None, price: Some(money(i64::try_from(rng(900)).unwrap())) },
                    _ => set(line, 1 + i64::try_from(rng(6)).unwrap()),
                };
                let statements = (shop.count("stock_movements").await, shop.count("order_events").await);
                let looked = shop.placement.preview_lines(&staff_fixture.staff, order.id, &command(edit)).await;
                assert_eq!(statements, (shop.count("stock_movements").await, shop.count("order_events").await));
                assert_eq!(shop.order(order.id).await, order, "a preview writes nothing");
                match (looked, change(&shop, &staff_fixture, order.id, edit).await) {
                    (Ok((_, preview)), Ok(after)) => {
                        came_true(&preview, &order, &after);
                        done += 1;
                        order = after;
                    }
                    (Err(OrderError::Refused(looked)), Err(OrderError::Refused(changed))) => assert_eq!(looked, changed),
                    (looked, changed) => panic!("{looked:?} {changed:?}"),
                }
                if order.refunding > Money::ZERO {
                    shop.acquirer.set_mode(AcquirerMode::Paid);
                    shop.reconcile_refunds().await;
                    shop.acquirer.set_mode(AcquirerMode::Pending);
                    order = shop.order(order.id).await;
                }
                if order.status.is_final() {
                    break;
                }
            }
            if !order.status.is_final() && order.paid_at.is_none() {
                staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
            } else if !order.status.is_final() {
                staff_fixture.take_back(order.id, &[]).await.unwrap();
            }
        }
        assert!(done > 30, "{done}");
        shop.sound().await;
    }

    async fn a_change_takes_as_many_statements_however_long_the_order(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let mut costs = Vec::new();
        for lines in [2, 12] {
            let mut wish = Vec::new();
            for _ in 0..lines {
                wish.push((shop.goods("Vase", 9, 100).await, 1));
            }
            let order = shop.placed(&shop.command(&wish)).await;
            let before = db.statements();
            change(&shop, &staff_fixture, order.id, set(order.lines[0].id, 3)).await.unwrap();
            costs.push(db.statements() - before);
        }
        assert_eq!(costs[0], costs[1]);
        assert!(costs[0] <= 45, "{costs:?}");
    }
}
