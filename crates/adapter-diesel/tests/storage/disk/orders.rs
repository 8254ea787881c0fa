//! Orders, their money and their tickets.

use kontor_orders::model::OrderStatus;
use kontor_orders::{PlacedOutcome, PlacementError};
use kontor_payments::model::GatewayStatus;

use super::scenarios;
use crate::orders::counter::{AcquirerMode, Counter};
use crate::orders::office::Office;
use crate::orders::tickets::{Door, scan};

scenarios! {
    async fn placed(db, run) {
        let counter = Counter::open(db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        counter.promo("TEN", "5", "NULL").await;
        run.begin(db);
        run.step("place", async || counter.place(&counter.with_promo(&[(vase, 2)], "TEN")).await).await;
    }

    async fn paid_online(db, run) {
        let counter = Counter::open(db).await;
        let vase = counter.goods("Vase", 500, 100).await;
        run.begin(db);
        run.steps_of(2, "place", async || counter.place(&counter.online(&[(vase, 1)])).await).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        run.step("paid", async || counter.payments.handle_notification(&id, None).await).await;
    }

    async fn not_paid(db, run) {
        let counter = Counter::open(db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        counter.placed(&counter.online(&[(vase, 1)])).await;
        let id = counter.acquirer.settle(GatewayStatus::Canceled);
        run.begin(db);
        run.step("canceled", async || counter.payments.handle_notification(&id, None).await).await;
    }

    async fn canceled(db, run) {
        let counter = Counter::open(db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.placed(&counter.command(&[(vase, 1)])).await;
        run.begin(db);
        run.step("cancel", async || office.move_to(&order, OrderStatus::Canceled).await).await;
    }

    async fn handed_over(db, run) {
        let counter = Counter::open(db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.paid_online(&counter.online(&[(vase, 3)])).await;
        run.begin(db);
        run.step("issue", async || office.move_to(&order, OrderStatus::Issued).await).await;
    }

    async fn given_back(db, run) {
        let counter = Counter::open(db).await;
        let office = Office::open(&counter).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.paid_online(&counter.online(&[(vase, 3)])).await;
        let line = order.lines[0].id;
        run.begin(db);
        run.step("ask", async || office.take_back(order.id, &[(line, 1)]).await).await;
        counter.acquirer.mood(AcquirerMode::Paid);
        run.steps_of(4, "pursue", async || counter.refunds.reconcile("w", 100).await).await;
    }

    async fn ticket_redeemed(db, run) {
        let counter = Counter::open(db).await;
        let door = Door::open(&counter).await;
        let (_, token) = door.sold(3).await;
        run.begin(db);
        run.step("scan", async || door.tickets.redeem_one(&door.staff, scan("1", &token, 1)).await).await;
    }

    async fn eight_at_once(db, run) {
        let counter = Counter::open(db).await;
        let vase = counter.goods("Vase", 5_000, 100).await;
        run.begin(db);
        let command = counter.command(&[(vase, 1)]);
        let place = async |_| match counter.place(&command).await? {
            PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order) => Ok::<_, PlacementError>(order.id),
        };
        run.together(8, "place", place, |order| format!("SELECT 1 FROM orders WHERE id = {order}")).await;
    }
}
