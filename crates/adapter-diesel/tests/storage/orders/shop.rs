//! A shop with customers and a scripted acquirer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::TimeDelta;
use futures_util::future::BoxFuture;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, IdempotentRequest};
use kontor_kernel::{
    Clock as _, CounterpartyId, CustomerScope, DeliveryTypeId, FixedClock, NomenclatureId, OrderId, PageRequest,
    Quantity, Random, ShopId, TokenId,
};
use kontor_orders::model::{Cart, CartLine, DeliveryRequest, Order, PaymentMethod, PromoCode};
use kontor_orders::ports::OrderReader;
use kontor_orders::{FewestWarehouses, OrderCommand, PaymentPage, PlacedOutcome, PlacementError, PlacementService};
use kontor_payments::testing::acquirer::Acquirer;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use tokio::sync::Barrier;

use crate::stock_fixture::{Item, StockFixture};

pub use kontor_payments::testing::acquirer::AcquirerMode;

/// Bytes that never repeat.
struct Serial(AtomicU64);

impl Random for Serial {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            let tail = &next[next.len() - chunk.len()..];
            chunk.copy_from_slice(tail);
        }
    }
}

/// An open shop.
pub struct ShopFixture<'a> {
    pub stock_fixture: StockFixture<'a>,
    pub clock: Arc<FixedClock>,
    pub random: Arc<dyn Random>,
    pub acquirer: Arc<Acquirer>,
    pub payments: Arc<ChargeService>,
    pub refunds: Arc<RefundService>,
    pub receipts: Arc<ReceiptService>,
    pub placement: Arc<PlacementService>,
    pub customer: CustomerScope,
    pub category: i64,
    shop_id: i64,
}

impl<'a> ShopFixture<'a> {
    pub async fn open(db: &'a TestDatabase) -> Self {
        let stock_fixture = StockFixture::open(db).await;
        let p = stock_fixture.project;
        stock_fixture
            .run(format!(
                "INSERT INTO delivery_types (project_id, id, name, price, is_active) VALUES ({p}, 1, 'Pickup', 0, TRUE), \
                 ({p}, 2, 'Delivery', 30000, TRUE)"
            ))
            .await;
        let shop_id = stock_fixture
            .number(format!(
                "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                 SELECT {p}, min(id), 'Shop', 'Square 1', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00' \
                 FROM branches WHERE project_id = {p} RETURNING id AS number"
            ))
            .await;
        let category = stock_fixture.category("All", None).await;
        let clock = Arc::new(FixedClock::at("2026-03-01T12:00:00Z".parse().unwrap()));
        let journey =
            || -> BoxFuture<'static, ()> { Box::pin(tokio::time::sleep(std::time::Duration::from_millis(5))) };
        let acquirer = Arc::new(Acquirer::with_delay(journey));
        let token_id = TokenId::new(1).unwrap();
        let customer =
            CustomerScope { app: stock_fixture.first, counterparty_id: CounterpartyId::new(1).unwrap(), token_id };
        let mut shop = Self::serving(stock_fixture, clock, 1, acquirer, customer, category, shop_id);
        shop.customer = shop.another_customer().await;
        shop
    }

    /// The services of a shop. Random bytes start with this number.
    fn serving(
        stock_fixture: StockFixture<'a>,
        clock: Arc<FixedClock>,
        seed: u64,
        acquirer: Arc<Acquirer>,
        customer: CustomerScope,
        category: i64,
        shop_id: i64,
    ) -> Self {
        let random: Arc<dyn Random> = Arc::new(Serial(AtomicU64::new(seed)));
        let store = Arc::new(stock_fixture.db.database.clone());
        let payments = Arc::new(ChargeService {
            charges: store.clone(),
            gateway: acquirer.clone(),
            clock: clock.clone(),
            random: random.clone(),
        });
        let refunds = Arc::new(RefundService {
            refunds: store.clone(),
            gateway: acquirer.clone(),
            clock: clock.clone(),
            random: random.clone(),
        });
        let receipts =
            Arc::new(ReceiptService { receipts: store.clone(), gateway: acquirer.clone(), clock: clock.clone() });
        let page = PaymentPage { return_url: "https://shop.example/{order_id}".to_owned() };
        let placement = Arc::new(PlacementService {
            carts: store.clone(),
            orders: store.clone(),
            store,
            charges: payments.clone(),
            clock: clock.clone(),
            random: random.clone(),
            page,
            allocation: Arc::new(FewestWarehouses),
        });
        Self {
            stock_fixture,
            clock,
            random,
            acquirer,
            payments,
            refunds,
            receipts,
            placement,
            customer,
            category,
            shop_id,
        }
    }

    /// The same shop as another process serves it. Its acquirer has the same payments, and others from now on.
    pub fn served<'b>(&self, db: &'b TestDatabase, seed: u64) -> ShopFixture<'b> {
        let StockFixture { project, first, second, near, far, .. } = self.stock_fixture;
        let acquirer = Acquirer::default();
        acquirer.set_mode(*self.acquirer.mode.lock().unwrap());
        acquirer.payments.lock().unwrap().clone_from(&self.acquirer.payments.lock().unwrap());
        acquirer.refunds.lock().unwrap().clone_from(&self.acquirer.refunds.lock().unwrap());
        acquirer.receipts.lock().unwrap().clone_from(&self.acquirer.receipts.lock().unwrap());
        let clock = Arc::new(FixedClock::at(self.clock.now()));
        let stock_fixture = StockFixture { db, project, first, second, near, far };
        ShopFixture::serving(stock_fixture, clock, seed, Arc::new(acquirer), self.customer, self.category, self.shop_id)
    }

    pub async fn another_customer(&self) -> CustomerScope {
        let id = self
            .stock_fixture
            .number(format!(
                "INSERT INTO counterparties (project_id, is_company, first_name, last_name, phone_1, created_at, updated_at) \
                 VALUES ({}, FALSE, 'Anna', 'K', '79001234567', '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
                 RETURNING id AS number",
                self.stock_fixture.project
            ))
            .await;
        CustomerScope { counterparty_id: CounterpartyId::new(id).unwrap(), ..self.customer }
    }

    /// Goods in the near warehouse.
    pub async fn goods(&self, name: &'static str, quantity: i64, price: i64) -> i64 {
        let item = self.stock_fixture.item(Item::goods(name, self.category)).await;
        self.stock_fixture.stock(self.stock_fixture.near, item, quantity, price).await;
        self.stock_fixture.db.database.rebuild_offers().await.unwrap();
        item
    }

    pub async fn promo(&self, code: &str, usage_limit: &str, customer_limit: &str) -> i64 {
        self.stock_fixture
            .number(format!(
                "INSERT INTO discounts (project_id, name, code, kind, value, target, minimum_sum, usage_limit, \
                 customer_limit, used_count, status, created_at, updated_at) VALUES ({}, 'Promo', '{code}', 'percent', \
                 1000, 'cart', 0, {usage_limit}, {customer_limit}, 0, 'active', '2026-01-01 00:00:00', \
                 '2026-01-01 00:00:00') RETURNING id AS number",
                self.stock_fixture.project
            ))
            .await
    }

    pub fn command(&self, lines: &[(i64, i64)]) -> OrderCommand {
        let line = |(item, quantity): &(i64, i64)| CartLine {
            item: NomenclatureId::new(*item).unwrap(),
            quantity: Quantity::new(*quantity).unwrap(),
        };
        OrderCommand {
            cart: Cart::new(lines.iter().map(line).collect()).unwrap(),
            promo_code: None,
            delivery: DeliveryRequest {
                type_id: DeliveryTypeId::new(1).unwrap(),
                subtype_id: None,
                subtype_param_id: None,
                shop_id: ShopId::new(self.shop_id).ok(),
                address: None,
                payment_type_id: None,
            },
            payment_method: None,
        }
    }

    pub fn with_promo(&self, lines: &[(i64, i64)], code: &str) -> OrderCommand {
        OrderCommand { promo_code: PromoCode::parse(code).ok(), ..self.command(lines) }
    }

    pub fn online(&self, lines: &[(i64, i64)]) -> OrderCommand {
        OrderCommand { payment_method: Some(PaymentMethod::BankCard), ..self.command(lines) }
    }

    /// The same services, which write for a request.
    pub fn placement_for(&self, request: &Arc<IdempotentRequest>) -> PlacementService {
        placement_for(&self.placement, &self.stock_fixture.db.database, request)
    }

    pub async fn place(&self, command: &OrderCommand) -> Result<PlacedOutcome, PlacementError> {
        self.placement.place(self.customer, command).await
    }

    /// Places three orders of a customer while other work runs. Returns the outcome of the work. Every order either is
    /// stored, or finds the customer deleted.
    pub async fn order_during<T: Send + 'static>(
        &self,
        customer: CustomerScope,
        command: &OrderCommand,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let start = Arc::new(Barrier::new(4));
        let orders: Vec<_> = (0..3)
            .map(|_| {
                let (placement, start, command) = (Arc::clone(&self.placement), Arc::clone(&start), command.clone());
                tokio::spawn(async move {
                    start.wait().await;
                    placement.place(customer, &command).await
                })
            })
            .collect();
        let work = tokio::spawn(async move {
            start.wait().await;
            work.await
        });
        let mut placed = 0;
        for order in orders {
            match order.await.unwrap() {
                Ok(_) => placed += 1,
                Err(PlacementError::CustomerDeleted) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let id = customer.counterparty_id;
        let of_customer = format!("SELECT count(*) AS number FROM orders WHERE counterparty_id = {id}");
        assert_eq!(self.stock_fixture.number(of_customer).await, placed);
        work.await.unwrap()
    }

    /// Returns the number of charges of a customer whose outcome is open.
    pub async fn open_charges(&self, id: CounterpartyId) -> i64 {
        let open = format!(
            "SELECT count(*) AS number FROM charges p \
             WHERE p.counterparty_id = {id} AND p.state IN ('prepared', 'pending')"
        );
        self.stock_fixture.number(open).await
    }

    /// Places an order that must succeed.
    pub async fn placed(&self, command: &OrderCommand) -> Order {
        match self.place(command).await.unwrap() {
            PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order) => order,
        }
    }

    pub async fn order(&self, id: OrderId) -> Order {
        let found = OrderReader::find(&self.stock_fixture.db.database, id).await.unwrap().unwrap();
        found.within(self.customer.app.project_id).unwrap()
    }

    pub async fn only_order(&self) -> Order {
        let page = PageRequest::new(1, 2, 2).unwrap();
        let mut orders = self.stock_fixture.db.database.of_customer(self.customer, page).await.unwrap();
        assert_eq!((orders.items.len(), orders.total), (1, 1));
        orders.items.remove(0)
    }

    /// `(quantity, reserved)` of an item in the near warehouse.
    pub async fn stock(&self, item: i64) -> (i64, i64) {
        let part = |column| {
            let near = self.stock_fixture.near;
            self.stock_fixture.number(format!(
                "SELECT {column} AS number FROM inventories WHERE nomenclature_id = {item} AND warehouse_id = {near}"
            ))
        };
        (part("quantity").await, part("reserved").await)
    }

    pub async fn count(&self, table: &str) -> i64 {
        self.stock_fixture.number(format!("SELECT count(*) AS number FROM {table}")).await
    }

    pub fn wait(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }
}

/// Returns the services with orders that are written for a request.
pub fn placement_for(
    placement: &PlacementService,
    database: &Database,
    request: &Arc<IdempotentRequest>,
) -> PlacementService {
    PlacementService { store: Arc::new(database.for_request(Arc::clone(request))), ..placement.clone() }
}
