//! Cart pricing, order placement and the order lifecycle.
//!
//! **Owns** cart prices, the stock an order reserves, the states of orders, the effect of a charge outcome on an
//! order, and the event `order.paid`. Charges themselves belong to `kontor-payments`.
//!
//! **Invariants**
//! - Totals are the sums of the lines, exact to the minor unit, and never negative.
//! - An order reserves stock in the commit that stores it. Reservations never exceed the stock; a promo code is
//!   never used more often than allowed.
//! - The charge of an order is stored in the order's own commit. An order becomes paid only in the commit that
//!   records the charge outcome, or by staff if it is not paid online.
//! - Orders from the contact form reserve no more than their project allows until they are confirmed. They are
//!   canceled when their time has passed.
//! - Tickets are redeemed at most as often as they were paid for and kept. Of two scans that race for the last
//!   ticket, one is admitted.
//!
//! **Refusals**: [`CartError`] for prices, [`PlacementError`] for placement, [`OrderError`] for changes of orders.
//! [`OrderRefused`] and [`OrderRefusal`] list the business refusals.
//!
//! **Services and their ports**
//!
//! | Service | Ports of this crate | Other ports |
//! |---|---|---|
//! | [`PlacementService`] | [`CartReader`](ports::CartReader), [`OrderStore`](ports::OrderStore), [`OrderReader`](ports::OrderReader) | [`ChargeService`](kontor_payments::ChargeService), for orders that are paid online |
//! | [`OrderService`] | [`OrderStore`](ports::OrderStore), [`OrderReader`](ports::OrderReader) | |
//! | [`ReservationService`] | [`ReservationReader`](ports::ReservationReader), [`OrderReader`](ports::OrderReader) | |
//! | [`TicketService`](tickets::TicketService) | [`TicketStore`](ports::TicketStore), [`OrderReader`](ports::OrderReader) | `SecretCipher` of the kernel |
//! | [`ReportService`](reports::ReportService) | [`ReportReader`](ports::ReportReader) | |
//!
//! Every service that writes takes a `Clock`, and most take a `Random`, both of the kernel. [`ports::ContactSettings`]
//! and [`ports::DeliverySettings`] are settings of a project; no service of this crate calls them.
//!
//! **For implementations of the ports**: the commit that records the outcome of a charge
//! ([`ChargeStore::record`](kontor_payments::ports::ChargeStore::record)) calls [`charge_outcome::decide`] with the
//! locked order and writes the [`OrderEffects`](charge_outcome::OrderEffects). A withdrawn payment cancels nothing, and
//! money for a canceled order is refunded: implementations do not decide this themselves.
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port, and enables `mocks` of `kontor-payments`.
//! - `testing` adds `testing::contract`, the promises of the ports that place, pay, refund and cancel orders and redeem
//!   tickets, as functions that the tests of an adapter run; `testing::memory`, a storage in memory that fulfills them;
//!   `testing::samples`, orders for tests of rules; and `testing::strategies` of `proptest`. It enables `testing` of
//!   `kontor-payments`.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-orders = { path = "../kontor/crates/orders" }
//! kontor-payments = { path = "../kontor/crates/payments" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-orders = { path = "../kontor/crates/orders", features = ["testing"] }
//! ```
//!
//! **When not to use it**
//! - Orders in several currencies, or lines with different currencies: an order has the currency of its project.
//! - Stock that may become negative, such as back-orders: an order reserves what it sells.
//! - Free moves between states: [`model::MOVES`] is a fixed table.
//! - Prices that depend on more than item, category, cart, quantity and one promo code: [`pricing::price`] is the only
//!   pricing.
//!
//! A customer places an order and pays it, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_kernel::testing::{CountingRandom, app_scope};
//! use kontor_kernel::{FixedClock, PageRequest, Quantity};
//! use kontor_orders::model::{Cart, CartLine, OrderStatus, PaymentMethod};
//! use kontor_orders::ports::OrderReader;
//! use kontor_orders::testing::memory::InMemoryOrders;
//! use kontor_orders::{FewestWarehouses, OrderCommand, PaymentPage, PlacedOutcome, PlacementService};
//! use kontor_payments::ChargeService;
//! use kontor_payments::model::GatewayStatus;
//! use kontor_payments::testing::acquirer::Acquirer;
//!
//! // 1. A shop with five vases and a customer, and an acquirer.
//! let shop = Arc::new(InMemoryOrders::new(app_scope(1, 1)));
//! let vase = shop.add_goods("Vase", 5, "265.00".parse()?);
//! let customer = shop.add_customer();
//! let acquirer = Arc::new(Acquirer::default());
//!
//! // 2. The services.
//! let (clock, random) = (Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)), Arc::new(CountingRandom::new()));
//! let charges = Arc::new(ChargeService {
//!     charges: shop.clone(),
//!     gateway: acquirer.clone(),
//!     clock: clock.clone(),
//!     random: random.clone(),
//! });
//! let placement = PlacementService {
//!     carts: shop.clone(),
//!     store: shop.clone(),
//!     orders: shop.clone(),
//!     charges: charges.clone(),
//!     clock,
//!     random,
//!     page: PaymentPage { return_url: "https://shop.example/thanks".to_owned() },
//!     allocation: Arc::new(FewestWarehouses),
//! };
//!
//! // 3. The order reserves two vases and waits for its payment.
//! let command = OrderCommand {
//!     cart: Cart::new(vec![CartLine { item: vase, quantity: Quantity::new(2)? }])?,
//!     promo_code: None,
//!     delivery: shop.pickup(),
//!     payment_method: Some(PaymentMethod::BankCard),
//! };
//! let placed = placement.place(customer, &command).await?;
//! let PlacedOutcome::Ready(order) = placed else { panic!("the acquirer answers") };
//! assert_eq!(order.status, OrderStatus::WaitingForPayment);
//! assert!(order.payment_link.is_some());
//!
//! // 4. The customer pays, and the acquirer sends a notification.
//! let payment = acquirer.settle(GatewayStatus::Succeeded);
//! charges.handle_notification(&payment, None).await?;
//! let paid = shop.of_customer(customer, PageRequest::new(1, 10, 100)?).await?.items.remove(0);
//! assert_eq!((paid.status, paid.captured.to_string().as_str()), (OrderStatus::Paid, "530.00"));
//! assert_eq!(shop.events()[0].order_id, order.id);
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
//!
//! Pricing is a pure function:
//! ```
//! use chrono::DateTime;
//! use kontor_kernel::{DiscountId, Money, NomenclatureId, Quantity};
//! use kontor_orders::model::{Discount, DiscountStatus, DiscountTarget, DiscountValue, Promo};
//! use kontor_orders::pricing::{PriceLine, price};
//!
//! let line = PriceLine {
//!     item: NomenclatureId::new(1)?,
//!     categories: vec![],
//!     quantity: Quantity::new(3)?,
//!     unit_price: "265.00".parse()?,
//! };
//! let spring = Discount {
//!     id: DiscountId::new(1)?,
//!     name: "Spring".to_owned(),
//!     code: Some("SPRING-10".to_owned()),
//!     value: DiscountValue::Percent(1_000),
//!     target: DiscountTarget::Cart,
//!     minimum_sum: Money::ZERO,
//!     starts_at: None,
//!     ends_at: None,
//!     usage_limit: Some(100),
//!     customer_limit: None,
//!     used_count: 0,
//!     status: DiscountStatus::Active,
//!     version: 1,
//! };
//! let promo = Promo { discount: Some(spring), used_by_customer: 0 };
//! let pricing = price(&[line], &[], Some(&promo), DateTime::UNIX_EPOCH)?;
//! assert_eq!(pricing.original_price().to_string(), "795.00");
//! assert_eq!(pricing.total_discount().to_string(), "79.50");
//! assert_eq!(pricing.final_price().to_string(), "715.50");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A use case with mocked ports: an unknown promo code does not change the price.
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_kernel::testing::CountingRandom;
//! use kontor_kernel::{AppScope, ApplicationId, FixedClock, NomenclatureId, ProjectId, Quantity};
//! use kontor_orders::model::{Cart, CartLine, Promo, PromoCode, PromoProblem};
//! use kontor_orders::ports::{MockCartReader, MockOrderReader, MockOrderStore};
//! use kontor_orders::{
//!     CartSnapshot, FewestWarehouses, ItemKind, OfferedItem, Packaging, PaymentPage, PlacementService,
//! };
//! use kontor_payments::ChargeService;
//! use kontor_payments::ports::{MockChargeStore, MockPaymentGateway};
//!
//! let (clock, random) = (Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)), Arc::new(CountingRandom::new()));
//! let mut carts = MockCartReader::new();
//! carts.expect_snapshot().returning(|query| {
//!     let consultation = OfferedItem {
//!         id: query.items[0],
//!         name: "Consultation".to_owned(),
//!         categories: vec![],
//!         kind: ItemKind::Service { price: "150.00".parse().unwrap() },
//!         packaging: Packaging { wholesale: false, pieces_per_pack: 1 },
//!         vat: None,
//!         is_ticket: false,
//!     };
//!     let promo = query.promo.map(|_| Promo { discount: None, used_by_customer: 0 });
//!     Ok(CartSnapshot { items: vec![consultation], promo, ..CartSnapshot::default() })
//! });
//! let charges = ChargeService {
//!     charges: Arc::new(MockChargeStore::new()),
//!     gateway: Arc::new(MockPaymentGateway::new()),
//!     clock: clock.clone(),
//!     random: random.clone(),
//! };
//! let placement = PlacementService {
//!     carts: Arc::new(carts),
//!     store: Arc::new(MockOrderStore::new()),
//!     orders: Arc::new(MockOrderReader::new()),
//!     charges: Arc::new(charges),
//!     clock,
//!     random,
//!     page: PaymentPage { return_url: "https://shop.example/thanks".to_owned() },
//!     allocation: Arc::new(FewestWarehouses),
//! };
//!
//! let app = AppScope { project_id: ProjectId::new(1)?, application_id: ApplicationId::new(1)?, wholesale: false };
//! let cart = Cart::new(vec![CartLine { item: NomenclatureId::new(5)?, quantity: Quantity::new(2)? }])?;
//! let view = placement.precalculate(app.into(), &cart, Some(PromoCode::parse("NOPE")?), None).await?;
//! assert_eq!(view.pricing.final_price().to_string(), "300.00");
//! assert_eq!(view.pricing.promo_problem, Some(PromoProblem::Unknown));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

pub mod audit;
pub mod change;
pub mod charge_outcome;
mod error;
mod lifecycle;
pub mod lines;
pub mod model;
mod placement;
pub mod ports;
pub mod pricing;
pub mod refund;
pub mod reports;
mod reservations;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of rules, of use cases and of adapters.

    pub mod contract;
    pub mod memory;
    pub mod samples;
    pub mod strategies;
}
pub mod tickets;

pub use error::{CartError, OrderError, OrderRefusal, PlacementError, ReportError, ReportRefusal};
pub use kontor_kernel::HoldHours;
pub use lifecycle::{OrderChange, OrderService};
pub use placement::{
    Allocated, Allocation, CartSnapshot, CartView, CartViewLine, ContactOrderCommand, ContactProblem, ContactTerms,
    FewestWarehouses, ItemKind, Missing, OfferedItem, OrderCommand, OrderRefused, Packaging, PaymentPage,
    PaymentProblem, PlacedOutcome, PlacementService, StaffOrderCommand, Unconfirmed, WarehouseStock,
};

pub use reservations::ReservationService;
