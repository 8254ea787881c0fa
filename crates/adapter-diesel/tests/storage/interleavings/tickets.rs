//! Tickets of an order that is changed, canceled and refunded while they are scanned.

use kontor_adapter_diesel::tests_with;
use kontor_kernel::{OrderId, Permission, Resource, Staff};
use kontor_orders::model::OrderStatus;
use kontor_orders::tickets::{ScanAnswer, ScanRefused};
use kontor_payments::model::GatewayStatus;

use super::{Act, Actor, Facts, acts, walk};
use crate::orders::tickets::{scan, service};

impl Actor<'_> {
    /// Scans tickets of the order with a scan id.
    async fn scans(&self, name: &str, pieces: i64) -> Result<ScanAnswer, ScanRefused> {
        let shop = self.shop();
        let tickets = service(shop, self.store().clone());
        let order = shop.order(self.id("order")).await;
        let token = tickets.token(self.customer(), &order).unwrap_or_else(|| "none".to_owned().into());
        let permissions = [Permission::edit(Resource::Reservations), Permission::view(Resource::Orders)].into();
        let staff = Staff { permissions, ..self.staff_fixture.staff.clone() };
        tickets.redeem_one(&staff, scan(name, &token, pieces)).await
    }
}

/// A paid order of three tickets.
async fn sold(actor: &Actor<'_>) -> Facts {
    let shop = actor.shop();
    let concert = shop.goods("Concert", 10, 100).await;
    shop.stock_fixture.run(format!("UPDATE nomenclatures SET type_id = 6 WHERE id = {concert}")).await;
    let order = shop.placed(&shop.online(&[(concert, 3)])).await;
    actor.handles_notification("order", GatewayStatus::Succeeded).await.unwrap();
    let order: OrderId = order.id;
    let line = shop.order(order).await.lines[0].id;
    [("order", order.get()), ("line", line.get())].into()
}

const DOOR: &[Act] = acts! {
    "two enter" => |actor| async { Ok::<_, ScanRefused>(outcome(actor.scans("a", 2).await?)) };
    "two others enter" => |actor| async { Ok::<_, ScanRefused>(outcome(actor.scans("b", 2).await?)) };
    "one enters" => |actor| async { Ok::<_, ScanRefused>(outcome(actor.scans("c", 1).await?)) };
};

const STAFF: &[Act] = acts! {
    "refund two" => |actor| actor.takes_back(2);
    "refund all" => |actor| actor.takes_back(0);
    "hand over" => |actor| actor.moves_to(OrderStatus::Issued);
};

fn outcome(answer: ScanAnswer) -> String {
    match answer {
        ScanAnswer::Judged(kept) => format!("{:?} {} of {}", kept.outcome, kept.redeemed, kept.total),
        other => format!("{other:?}"),
    }
}

async fn at_the_door() {
    walk("at the door", sold, &[DOOR, STAFF]).await;
}

tests_with!(postgres: at_the_door);
