//! What orders need from the outside.

use async_trait::async_trait;
use kontor_kernel::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, DeliverySubtypeId, DeliveryTypeId, Listing, Money,
    NomenclatureId, OfProject, OrderId, Page, PageRequest, ProjectId, StoreError, UserId,
};
use kontor_payments::model::Charge;

use crate::OrderError;
use crate::change::{OrderUpdate, PlacedOrder};
use crate::model::{DeliveryChoice, DeliveryRequest, Order, OrderEntry, PromoCode, ReservationRecord};
use crate::placement::{CartSnapshot, ContactProblem, ContactTerms};
use crate::tickets::{KeptScan, ScanAnswer, ScanBatch};

/// Where something is sold: in an application, or by staff from all warehouses of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesPoint {
    /// The project.
    pub project_id: ProjectId,
    /// The application, if it is one.
    pub application_id: Option<ApplicationId>,
}

impl From<AppScope> for SalesPoint {
    fn from(app: AppScope) -> Self {
        Self { project_id: app.project_id, application_id: Some(app.application_id) }
    }
}

/// What to read for pricing or placing a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartQuery {
    /// Where it is sold.
    pub point: SalesPoint,
    /// To whom, when somebody is signed in.
    pub customer: Option<CounterpartyId>,
    /// What.
    pub items: Vec<NomenclatureId>,
    /// With which promo code.
    pub promo: Option<PromoCode>,
    /// How it is delivered; `None` while only prices are asked.
    pub delivery: Option<DeliveryRequest>,
    /// Whether application and customer are numbers that staff sent, and may be wrong.
    pub by_staff: bool,
}

/// Everything that decides about a cart.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CartReader: Send + Sync {
    /// Cards, stock, discounts and references as they are at one moment, by a number of statements that does not grow
    /// with the cart.
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError>;
}

/// What a commit of an order gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The number of the new order.
    pub order_id: OrderId,
    /// The charge stored with it.
    pub charge: Option<Charge>,
}

/// Why an order could not be committed. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum PlaceRefused {
    /// Somebody else took the pieces of this line (counted from 0).
    #[error("the stock of line {line} is gone")]
    OutOfStock {
        /// Its place in the cart.
        line: usize,
    },
    /// Somebody else took the last use of the promo code.
    #[error("the promo code has been used up")]
    PromoExhausted,
    /// A price, an automatic discount or the promo code changed since it was read.
    #[error("what the order was decided on has changed")]
    Stale,
    /// The customer has left.
    #[error("the customer has left")]
    CustomerGone,
    /// The manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// With this order the unconfirmed orders of its phone exceed a bound.
    #[error(transparent)]
    Contact(ContactProblem),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides about an order as it stands, while nobody else changes it. It may be asked more than once.
pub type Decision = Box<dyn Fn(OfProject<Order>) -> Result<OrderUpdate, OrderError> + Send + Sync>;

/// Writes orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderStore: Send + Sync {
    /// Commits a whole order: stock, promo use, order, lines, charge, history; or nothing of it.
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused>;

    /// Locks an order, has `decide` look at it as it stands, and commits what it decides: status, stock, promo use, details,
    /// history, event, refund; or nothing of it. The money of a refund is set aside where it came from: what has gone back,
    /// is on its way and is asked for never exceeds what has arrived. Refuses an order that is not there and a manager who is
    /// no employee of the project. Other lines come with their stock, totals and discounts, guarded as those of a new order
    /// are: [`LinesRefused::Stale`](crate::lines::LinesRefused::Stale) when what they were decided on has changed. Gives the
    /// charge that was stored with it.
    async fn change(&self, id: OrderId, decide: Decision) -> Result<Option<Charge>, OrderError>;
}

/// Stores the terms of a project for orders from the contact form.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ContactSettings: Send + Sync {
    /// The terms of a project; `None` if there is no such project.
    async fn contact_terms(&self, project: ProjectId) -> Result<Option<ContactTerms>, StoreError>;

    /// Sets the terms for orders from now on. `false` if there is no such project.
    async fn set_contact_terms(&self, project: ProjectId, terms: ContactTerms) -> Result<bool, StoreError>;
}

/// A way of delivery of a project, as far as it is charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedWay {
    /// The delivery type.
    pub delivery_type: Priced<DeliveryTypeId>,
    /// The subtype; `None` for the type alone.
    pub subtype: Option<Priced<DeliverySubtypeId>>,
}

/// A part of a way of delivery, with its own price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Its price.
    pub price: Money,
}

impl PricedWay {
    /// Price of both together.
    pub fn price(&self) -> Money {
        let of_subtype = self.subtype.as_ref().map_or(Money::ZERO, |subtype| subtype.price);
        self.delivery_type.price.checked_add(of_subtype).unwrap_or(Money::MAX)
    }
}

/// Whether a project charges delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTerms {
    /// Whether it does.
    pub charges_delivery: bool,
    /// The active ways of delivery, by type and subtype.
    pub ways: Vec<PricedWay>,
}

/// Stores whether a project charges delivery, and what it costs.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DeliverySettings: Send + Sync {
    /// The terms of a project; `None` if there is no such project.
    async fn delivery_terms(&self, project: ProjectId) -> Result<Option<DeliveryTerms>, StoreError>;

    /// Sets whether orders from now on include delivery. `false` if there is no such project.
    async fn set_charges_delivery(&self, project: ProjectId, charges: bool) -> Result<bool, StoreError>;

    /// Sets the price of a delivery type, or of this subtype of it, for orders from now on. `false` if there is none.
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
    /// An order of whatever project.
    async fn find(&self, id: OrderId) -> Result<Option<OfProject<Order>>, StoreError>;

    /// The customer's orders in the application, newest first, by a constant number of statements.
    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError>;

    /// Whether this is an employee of the project.
    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError>;

    /// One page of what happened to an order, the latest first.
    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError>;

    /// One page of a project's orders, newest first.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError>;
}

/// Reads the lines of all orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ReservationReader: Send + Sync {
    /// One page of a project's order lines.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<ReservationRecord>, StoreError>;
}

/// Judges and keeps scans of tickets.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TicketStore: Send + Sync {
    /// Judges scans one after the other, by [`judge`](crate::tickets::judge), and keeps every one with its outcome; those that
    /// were admitted are counted on their orders, never more than there are tickets. One commit, an answer for each scan.
    async fn redeem(&self, batch: ScanBatch) -> Result<Vec<ScanAnswer>, StoreError>;

    /// The scans of an order, newest first.
    async fn of_order(&self, order: OrderId, page: PageRequest) -> Result<Page<KeptScan>, StoreError>;
}
