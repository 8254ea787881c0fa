//! Orders, their money and their tickets.

use kontor_orders::model::OrderStatus;
use kontor_orders::{PlacedOutcome, PlacementError};
use kontor_payments::model::GatewayStatus;

use super::scenarios;
use crate::orders::shop::{AcquirerMode, ShopFixture};
use crate::orders::staff_fixture::StaffFixture;
use crate::orders::tickets::{Door, scan};

scenarios! {
    async fn placed(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.promo("TEN", "5", "NULL").await;
        run.begin(db);
        run.step("place", async || shop.place(&shop.with_promo(&[(vase, 2)], "TEN")).await).await;
    }

    async fn paid_online(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 500, 100).await;
        run.begin(db);
        run.steps_of(2, "place", async || shop.place(&shop.online(&[(vase, 1)])).await).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        run.step("paid", async || shop.payments.handle_notification(&id, None).await).await;
    }

    async fn not_paid(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.placed(&shop.online(&[(vase, 1)])).await;
        let id = shop.acquirer.settle(GatewayStatus::Canceled);
        run.begin(db);
        run.step("canceled", async || shop.payments.handle_notification(&id, None).await).await;
    }

    async fn canceled(db, run) {
        let shop = ShopFixture::open(db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.placed(&shop.command(&[(vase, 1)])).await;
        run.begin(db);
        run.step("cancel", async || staff_fixture.move_to(&order, OrderStatus::Canceled).await).await;
    }

    async fn handed_over(db, run) {
        let shop = ShopFixture::open(db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.paid_online(&shop.online(&[(vase, 3)])).await;
        run.begin(db);
        run.step("issue", async || staff_fixture.move_to(&order, OrderStatus::Issued).await).await;
    }

    async fn given_back(db, run) {
        let shop = ShopFixture::open(db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.paid_online(&shop.online(&[(vase, 3)])).await;
        let line = order.lines[0].id;
        run.begin(db);
        run.step("ask", async || staff_fixture.take_back(order.id, &[(line, 1)]).await).await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        run.steps_of(4, "pursue", async || shop.refunds.reconcile("w", 100).await).await;
    }

    async fn ticket_redeemed(db, run) {
        let shop = ShopFixture::open(db).await;
        let door = Door::open(&shop).await;
        let (_, token) = door.sold(3).await;
        run.begin(db);
        run.step("scan", async || door.tickets.redeem_one(&door.staff, scan("1", &token, 1)).await).await;
    }

    async fn eight_at_once(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 5_000, 100).await;
        run.begin(db);
        let command = shop.command(&[(vase, 1)]);
        let place = async |_| match shop.place(&command).await? {
            PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order) => Ok::<_, PlacementError>(order.id),
        };
        run.together(8, "place", place, |order| format!("SELECT 1 FROM orders WHERE id = {order}")).await;
    }
}
