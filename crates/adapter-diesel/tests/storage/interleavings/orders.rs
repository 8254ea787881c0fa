//! Orders with their charges, refunds, tickets and stock: concurrent customers, staff and acquirer.

use kontor_adapter_diesel::tests_with;
use kontor_catalog::model::{Edit, StockChange, StockLevel};
use kontor_catalog::ports::{DiscountRepository, DiscountRewrite, InventoryRepository, WarehouseRepository};
use kontor_kernel::{
    Clock as _, DiscountId, DiscountStatus, InventoryId, Line, NomenclatureId, OrderId, Prose, Quantity, ReservationId,
    Stamp, StoreError, WarehouseId,
};
use kontor_orders::lines::{LineCommand, LineEdit};
use kontor_orders::model::OrderStatus;
use kontor_orders::{OrderChange, OrderCommand, OrderError};
use kontor_payments::model::GatewayStatus;

use super::{Act, Actor, Facts, acts, walk};
use crate::orders::shop::AcquirerMode;

impl Actor<'_> {
    fn stamp(&self) -> Stamp {
        Stamp::of_system(self.customer().app.project_id, self.shop().clock.now())
    }

    pub(super) async fn moves_to(&self, status: OrderStatus) -> Result<(), OrderError> {
        let change = OrderChange { status: Edit::Set(status), ..OrderChange::default() };
        self.staff_fixture.orders.update(&self.staff_fixture.staff, self.id("order"), change).await.map(|_| ())
    }

    async fn changes_lines(&self, edit: LineEdit) -> Result<(), OrderError> {
        let command = LineCommand { edit, restock: None, reason: Line::parse("changed").ok() };
        self.shop().placement.change_lines(&self.staff_fixture.staff, self.id("order"), &command).await.map(|_| ())
    }

    pub(super) async fn takes_back(&self, pieces: i64) -> Result<(), OrderError> {
        let lines: &[(ReservationId, i64)] = if pieces == 0 { &[] } else { &[(self.id("line"), pieces)] };
        self.staff_fixture.take_back(self.id("order"), lines).await.map(|_| ())
    }

    async fn orders(&self, promo: bool, pieces: i64) -> Result<(), kontor_orders::PlacementError> {
        let shop = self.shop();
        let lines = [(self.facts["vase"], pieces)];
        let payment_method = shop.online(&lines).payment_method;
        let command = if promo { shop.with_promo(&lines, "TEN") } else { shop.command(&lines) };
        shop.place(&OrderCommand { payment_method, ..command }).await.map(|_| ())
    }

    async fn refunded(&self, acquirer_mode: AcquirerMode) -> Result<(), StoreError> {
        self.shop().acquirer.set_mode(acquirer_mode);
        self.shop().refunds.reconcile("w", 10).await.map(|_| ())
    }
}

/// An order of two vases of five with a code, which waits for its payment.
async fn waiting(actor: &Actor<'_>) -> Facts {
    let shop = actor.shop();
    let (vase, cup) = (shop.goods("Vase", 5, 1_000).await, shop.goods("Cup", 2, 300).await);
    let promo = shop.promo("TEN", "2", "NULL").await;
    let lines = [(vase, 2)];
    let payment_method = shop.online(&lines).payment_method;
    let order = shop.placed(&OrderCommand { payment_method, ..shop.with_promo(&lines, "TEN") }).await;
    let stock = format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {vase}");
    let stock = shop.stock_fixture.number(stock).await;
    let line = order.lines[0].id.get();
    let near = shop.stock_fixture.near;
    [
        ("vase", vase),
        ("cup", cup),
        ("promo", promo),
        ("order", order.id.get()),
        ("line", line),
        ("stock", stock),
        ("near", near),
        ("version", 1),
    ]
    .into()
}

/// The same, paid.
async fn paid(actor: &Actor<'_>) -> Facts {
    let facts = waiting(actor).await;
    actor.handles_notification("order", GatewayStatus::Succeeded).await.unwrap();
    facts
}

/// The same with a refund of one vase that was not requested from the acquirer yet.
async fn returning(actor: &Actor<'_>) -> Facts {
    let facts = paid(actor).await;
    let (order, line) = (OrderId::new(facts["order"]).unwrap(), ReservationId::new(facts["line"]).unwrap());
    actor.staff_fixture.take_back(order, &[(line, 1)]).await.unwrap();
    facts
}

const NEWS: &[Act] = acts! {
    "told paid" => |actor| actor.handles_notification("order", GatewayStatus::Succeeded);
    "told pending" => |actor| actor.handles_notification("order", GatewayStatus::Pending);
};

const DECLINED: &[Act] = acts! {
    "told declined" => |actor| actor.handles_notification("order", GatewayStatus::Canceled);
};

const WORKERS: &[Act] = acts! {
    "reconciler" => |actor| actor.shop().payments.reconcile("w", 10);
    "give up" => |actor| actor.store().cancel_unpaid_orders(actor.shop().clock.now() + chrono::TimeDelta::hours(1));
};

const STAFF: &[Act] = acts! {
    "cancel" => |actor| actor.moves_to(OrderStatus::Canceled);
    "another comment" => |actor| async {
        let change = OrderChange {
            comment: Edit::Set(Prose::parse("fragile").ok()),
            ..OrderChange::default()
        };
        actor.staff_fixture.orders.update(&actor.staff_fixture.staff, actor.id("order"), change).await
    };
    "one more" => |actor| actor.changes_lines(LineEdit::Set {
        line: actor.id("line"),
        quantity: Quantity::new(3).ok(),
        price: None,
    });
    "a cup" => |actor| actor.changes_lines(LineEdit::Add {
        item: actor.id::<NomenclatureId>("cup"),
        quantity: Quantity::new(1).unwrap(),
        price: None,
    });
    "refund one" => |actor| actor.takes_back(1);
    "refund all" => |actor| actor.takes_back(0);
};

const HAND_OVER: &[Act] = acts! {
    "hand over" => |actor| actor.moves_to(OrderStatus::Issued);
    "process" => |actor| actor.moves_to(OrderStatus::InProcessing);
};

const REFUNDS: &[Act] = acts! {
    "refunded" => |actor| actor.refunded(AcquirerMode::Paid);
    "refund pending" => |actor| actor.refunded(AcquirerMode::Pending);
};

const NOT_REFUNDED: &[Act] = acts! {
    "refund refused" => |actor| actor.refunded(AcquirerMode::Refuses);
};

const BUYERS: &[Act] = acts! {
    "order three" => |actor| actor.orders(false, 3);
    "order two with the code" => |actor| actor.orders(true, 2);
};

const CATALOG: &[Act] = acts! {
    "count four" => |actor| {
        let change = StockChange { quantity: Edit::Set(StockLevel::new(4).unwrap()), price: Edit::Keep, comment: None };
        actor.store().set_stock(actor.stamp(), actor.id::<InventoryId>("stock"), change)
    };
    "another price" => |actor| {
        let change = StockChange { quantity: Edit::Keep, price: Edit::Set("11.00".parse().unwrap()), comment: None };
        actor.store().set_stock(actor.stamp(), actor.id::<InventoryId>("stock"), change)
    };
    "close the warehouse" => |actor| {
        WarehouseRepository::delete(actor.store(), actor.stamp(), actor.id::<WarehouseId>("near"))
    };
    "stop the code" => |actor| async {
        let id: DiscountId = actor.id("promo");
        let discount = DiscountRepository::find(actor.store(), id).await.unwrap().unwrap();
        let discount = discount.within(actor.customer().app.project_id).unwrap();
        // The version that staff read.
        let version = u64::try_from(actor.facts["version"]).unwrap();
        let rewrite = DiscountRewrite { id, version, terms: discount.terms, status: DiscountStatus::Paused };
        DiscountRepository::replace(actor.store(), actor.stamp(), rewrite).await
    };
};

async fn order_that_is_paid() {
    walk("order that is paid", waiting, &[NEWS, WORKERS, STAFF]).await;
}

async fn order_that_is_declined() {
    walk("order that is declined", waiting, &[DECLINED, WORKERS, STAFF]).await;
}

async fn order_that_was_paid() {
    walk("order that was paid", paid, &[HAND_OVER, STAFF, REFUNDS]).await;
}

async fn order_that_is_refunded() {
    walk("order that is refunded", returning, &[REFUNDS, HAND_OVER, STAFF]).await;
}

async fn order_that_is_not_refunded() {
    walk("order that is not refunded", returning, &[NOT_REFUNDED, STAFF]).await;
}

async fn stock_and_codes() {
    walk("stock and codes", waiting, &[BUYERS, CATALOG, DECLINED]).await;
}

tests_with!(postgres:
    order_that_is_paid,
    order_that_is_declined,
    order_that_was_paid,
    order_that_is_refunded,
    order_that_is_not_refunded,
    stock_and_codes,
);
