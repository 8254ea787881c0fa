//! Staff who process orders.

use kontor_kernel::{
    Edit, Line, Money, OrderId, Permission, Quantity, ReservationId, Resource, Staff, TokenId, UserId,
};
use kontor_orders::change::{ManualPayment, ManualPaymentMethod};
use kontor_orders::model::{Order, OrderStatus};
use kontor_orders::refund::{RefundCommand, RefundLine, RefundScope};
use kontor_orders::{OrderChange, OrderError, OrderService};

use super::shop::ShopFixture;

/// A refund of these units of these lines; without any, of everything that is left.
pub fn take_back(lines: &[(ReservationId, i64)]) -> RefundCommand {
    let line =
        |(line, pieces): &(ReservationId, i64)| RefundLine { line: *line, quantity: Quantity::new(*pieces).unwrap() };
    let lines = (!lines.is_empty()).then(|| lines.iter().map(line).collect());
    let scope = RefundScope::of(lines.is_none(), false, lines, None).unwrap();
    RefundCommand { scope, reason: Line::parse("broken").unwrap(), restock: true, ends_period: false }
}

/// A refund of money without a return of goods.
pub fn give_back(amount: Money) -> RefundCommand {
    RefundCommand { scope: RefundScope::Amount(amount), ..take_back(&[]) }
}

/// Staff and their services.
pub struct StaffFixture {
    pub orders: OrderService,
    pub staff: Staff,
}

impl StaffFixture {
    pub async fn open(shop: &ShopFixture<'_>) -> Self {
        let p = shop.stock_fixture.project;
        let role = shop
            .stock_fixture
            .number(format!(
                "INSERT INTO roles (project_id, name, is_owner, created_at, updated_at) VALUES ({p}, 'R', TRUE, \
                 '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id AS number"
            ))
            .await;
        let user = shop
            .stock_fixture
            .number(format!(
                "INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, \
                 is_sick, active_seconds, created_at, updated_at) VALUES ({p}, {role}, 'u{p}', 'u@e.ru', '', 'Ivan', 'S', \
                 FALSE, FALSE, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id AS number"
            ))
            .await;
        let staff = Staff {
            project_id: p,
            user_id: UserId::new(user).unwrap(),
            token_id: TokenId::new(1).unwrap(),
            is_agent: false,
            permissions: [Permission::view(Resource::Orders), Permission::edit(Resource::Orders)].into(),
        };
        Self::serving(shop, staff)
    }

    /// The services of these staff.
    pub fn serving(shop: &ShopFixture<'_>, staff: Staff) -> Self {
        let store = std::sync::Arc::new(shop.stock_fixture.db.database.clone());
        let (clock, random) = (shop.clock.clone(), shop.random.clone());
        Self { orders: OrderService { orders: store.clone(), store, clock, random }, staff }
    }

    pub async fn move_to(&self, order: &Order, status: OrderStatus) -> Result<Order, OrderError> {
        let change = OrderChange { status: Edit::Set(status), ..OrderChange::default() };
        self.orders.update(&self.staff, order.id, change).await
    }

    /// Records a cash payment of an order.
    pub async fn takes_cash(&self, order: OrderId) -> Result<Order, OrderError> {
        let payment = ManualPayment { method: ManualPaymentMethod::Cash, receipt: None };
        self.orders.record_payment(&self.staff, order, payment).await
    }

    /// Refunds these units of these lines; without any, everything that is left.
    pub async fn take_back(&self, order: OrderId, lines: &[(ReservationId, i64)]) -> Result<Order, OrderError> {
        self.orders.refund(&self.staff, order, take_back(lines)).await
    }
}
