//! What orders need from the outside.

use async_trait::async_trait;
use kontor_kernel::{
    AppScope, CounterpartyId, CustomerScope, Listing, NomenclatureId, OfProject, OrderId, Page, ProjectId, StoreError,
};
use kontor_payments::model::Charge;

use crate::change::{OrderUpdate, PlacedOrder};
use crate::model::{DeliveryRequest, Order, PromoCode, ReservationRecord};
use crate::placement::CartSnapshot;

/// What to read for pricing or placing a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartQuery {
    /// Where it is sold.
    pub app: AppScope,
    /// To whom, when somebody is signed in.
    pub customer: Option<CounterpartyId>,
    /// What.
    pub items: Vec<NomenclatureId>,
    /// With which promo code.
    pub promo: Option<PromoCode>,
    /// How it is delivered; `None` while only prices are asked.
    pub delivery: Option<DeliveryRequest>,
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
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a change of an order could not be committed. Nothing of it is stored.
#[derive(Debug, thiserror::Error)]
pub enum ChangeRefused {
    /// The order, or its payment, is no longer what the change was decided on.
    #[error("the order has changed meanwhile")]
    Stale,
    /// The manager is not an employee of the project.
    #[error("there is no such employee")]
    UnknownManager,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderStore: Send + Sync {
    /// Commits a whole order: stock, promo use, order, lines, charge, history; or nothing of it.
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused>;

    /// Commits a whole change by staff, unless the order is no longer the one it was decided on.
    async fn update(&self, update: OrderUpdate) -> Result<(), ChangeRefused>;
}

/// Reads orders.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OrderReader: Send + Sync {
    /// An order of whatever project.
    async fn find(&self, id: OrderId) -> Result<Option<OfProject<Order>>, StoreError>;

    /// The customer's orders in the application, newest first, by a constant number of statements.
    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError>;

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
