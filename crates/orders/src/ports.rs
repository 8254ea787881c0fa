//! Ports of orders: the interfaces that the outside implements.

use async_trait::async_trait;
use kontor_kernel::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, DeliverySubtypeId, DeliveryTypeId, Listing, Money,
    NomenclatureId, OrderId, Page, PageRequest, ProjectId, ProjectScoped, StoreError, UserId,
};
use kontor_payments::model::Charge;

use crate::OrderError;
use crate::change::{OrderUpdate, PlacedOrder};
use crate::model::{DeliveryChoice, DeliveryRequest, Order, OrderEntry, PromoCode, ReservationRecord};
use crate::placement::{CartSnapshot, ContactProblem, ContactTerms};
use crate::reports::{ItemQuery, ItemSales, Sales, Span};
use crate::tickets::{ScanAnswer, ScanBatch, StoredScan};

/// Point of sale: an application, or staff with all warehouses of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesPoint {
    /// Project.
    pub project_id: ProjectId,
    /// Application; `None` for staff.
    pub application_id: Option<ApplicationId>,
}

impl From<AppScope> for SalesPoint {
    fn from(app: AppScope) -> Self {
        Self { project_id: app.project_id, application_id: Some(app.application_id) }
    }
}

/// Query for the data that prices or places a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartQuery {
    /// Point of sale.
    pub point: SalesPoint,
    /// Customer, if known.
    pub customer: Option<CounterpartyId>,
    /// Items.
    pub items: Vec<NomenclatureId>,
    /// Promo code.
    pub promo: Option<PromoCode>,
    /// Delivery; `None` if only prices are requested.
    pub delivery: Option<DeliveryRequest>,
    /// `true` if application and customer are ids from a staff request, which may not exist.
    pub by_staff: bool,
}

/// Reads the data that carts are priced from.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CartReader: Send + Sync {
    /// Reads items, stock, discounts and references as of one moment. The number of statements does not grow with
    /// the cart.
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError>;
}

/// Result of a committed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Identifier of the new order.
    pub order_id: OrderId,
    /// Charge stored with it.
    pub charge: Option<Charge>,
}

/// Reasons why an order was not committed. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum PlaceRefused {
    /// The units of this line (counted from 0) were taken by another order.
    #[error("the stock of line {line} is not sufficient")]
    OutOfStock {
        /// Index in the cart.
        line: usize,
    },
    /// The last use of the promo code was taken by another order.
    #[error("the promo code has been used up")]
    PromoExhausted,
    /// A price, an automatic discount or the promo code changed since it was read.
    #[error("the data of the order has changed since it was read")]
    Stale,
    /// The customer was deleted.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// The manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// With this order the unconfirmed orders of its phone exceed a bound.
    #[error(transparent)]
    Contact(ContactProblem),
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decision about an order, called with its state under the lock. It may be called more than once.
pub type Decision = Box<dyn Fn(ProjectScoped<Order>) -> Result<OrderUpdate, OrderError> + Send + Sync>;

/// Writes orders.
///
/// Outcomes of charges reach orders by [`ChargeStore`](kontor_payments::ports::ChargeStore): its implementation must
/// call [`charge_outcome::decide`](crate::charge_outcome::decide).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderStore: Send + Sync {
    /// Commits a whole order or nothing: stock, promo use, order, lines, charge and history.
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused>;

    /// Locks an order, calls `decide` with its current state, and commits the result or nothing: status, stock,
    /// promo use, details, history, event and refund. Returns the charge that was stored with it.
    ///
    /// - Notices and history entry are those of the [`OrderUpdate`].
    /// - Any change confirms an order from the contact form: its hold time ends. An order whose stock is released
    ///   has no payment link any more.
    /// - The money of a refund is reserved on the order: refunded amounts, including those in progress and
    ///   requested, never exceed the received amount.
    /// - The refund is requested by [`OrderedRefund::request`](crate::change::OrderedRefund::request), and reserved on
    ///   the charge as by [`RefundStore::store`](kontor_payments::ports::RefundStore::store). A refund of a period that
    ///   a subscription paid ends it: see `kontor_subscriptions::charge_outcome::refunded`.
    /// - A missing order and a manager who is not an employee of the project are refused.
    /// - Changed lines are stored with their stock, totals and discounts, with the same guards as a new order:
    ///   [`LinesRefused::Stale`](crate::lines::LinesRefused::Stale) if their data has changed.
    async fn change(&self, id: OrderId, decide: Decision) -> Result<Option<Charge>, OrderError>;
}

/// Stores the terms of a project for orders from the contact form.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ContactSettings: Send + Sync {
    /// Returns the terms of a project; `None` if there is no such project.
    async fn contact_terms(&self, project: ProjectId) -> Result<Option<ContactTerms>, StoreError>;

    /// Sets the terms for future orders. `false` if there is no such project.
    async fn set_contact_terms(&self, project: ProjectId, terms: ContactTerms) -> Result<bool, StoreError>;
}

/// Delivery type or subtype of a project with its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryOption {
    /// Delivery type.
    pub delivery_type: Priced<DeliveryTypeId>,
    /// Subtype; `None` for the type alone.
    pub subtype: Option<Priced<DeliverySubtypeId>>,
}

/// Part of a delivery, with its own price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced<Id> {
    /// Identifier.
    pub id: Id,
    /// Name.
    pub name: String,
    /// Price.
    pub price: Money,
}

impl DeliveryOption {
    /// Returns the sum of both prices.
    pub fn price(&self) -> Money {
        let of_subtype = self.subtype.as_ref().map_or(Money::ZERO, |subtype| subtype.price);
        self.delivery_type.price.checked_add(of_subtype).unwrap_or(Money::MAX)
    }
}

/// Delivery price settings of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTerms {
    /// `true` if the project charges delivery.
    pub charges_delivery: bool,
    /// Active delivery types and subtypes, by type and subtype.
    pub ways: Vec<DeliveryOption>,
}

/// Stores the delivery price settings of projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliverySettings: Send + Sync {
    /// Returns the settings of a project; `None` if there is no such project.
    async fn delivery_terms(&self, project: ProjectId) -> Result<Option<DeliveryTerms>, StoreError>;

    /// Sets whether future orders include the delivery price. `false` if there is no such project.
    async fn set_charges_delivery(&self, project: ProjectId, charges: bool) -> Result<bool, StoreError>;

    /// Sets the price of a delivery type, or of its given subtype, for future orders. `false` if there is none.
    async fn set_delivery_price(
        &self,
        project: ProjectId,
        choice: DeliveryChoice,
        price: Money,
    ) -> Result<bool, StoreError>;
}

/// Reads orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderReader: Send + Sync {
    /// Returns an order of any project.
    async fn find(&self, id: OrderId) -> Result<Option<ProjectScoped<Order>>, StoreError>;

    /// Returns one page of the customer's orders in the application, newest first, with a constant number of statements.
    async fn of_customer(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Order>, StoreError>;

    /// Returns `true` if the user is an employee of the project.
    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError>;

    /// Returns one page of the history of an order, latest first.
    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError>;

    /// Returns one page of a project's orders, newest first.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError>;
}

/// Reads the lines of all orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReservationReader: Send + Sync {
    /// Returns one page of a project's order lines.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<ReservationRecord>, StoreError>;
}

/// Sums up orders and refunds for reports. The number of statements does not grow with the period.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReportReader: Send + Sync {
    /// Returns the sums of each span, with its row. The spans follow each other without gaps. `None` if more than
    /// `most` orders were paid in all of them together.
    async fn sales(
        &self,
        project: ProjectId,
        spans: Vec<Span>,
        most: u32,
    ) -> Result<Option<Vec<(u32, Sales)>>, StoreError>;

    /// Returns the best-selling items; of equal ones, the oldest first. `None` if more than `most` orders were paid in
    /// the period.
    async fn best_sellers(&self, query: ItemQuery, most: u32) -> Result<Option<Vec<ItemSales>>, StoreError>;
}

/// Judges and stores scans of tickets.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TicketStore: Send + Sync {
    /// Judges scans one after the other with [`scan_outcome`](crate::tickets::scan_outcome) and stores each with its outcome.
    /// Admitted scans are counted on their orders, never above the number of tickets. One commit; one answer per
    /// scan.
    async fn redeem(&self, batch: ScanBatch) -> Result<Vec<ScanAnswer>, StoreError>;

    /// Returns the scans of an order, newest first.
    async fn of_order(&self, order: OrderId, page: PageRequest) -> Result<Page<StoredScan>, StoreError>;
}
