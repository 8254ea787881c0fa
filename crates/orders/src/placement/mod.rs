//! Placement: from a cart to an order.

mod contact;
mod decide;
mod snapshot;
#[cfg(test)]
mod tests;

pub use contact::{ContactProblem, ContactTerms, Unconfirmed};
#[cfg(any(test, feature = "testing"))]
pub(crate) use decide::decide as place_purely;
pub(crate) use decide::{Buyer, OrderContext};
pub use decide::{ContactOrderCommand, OrderCommand, OrderRefused, PaymentProblem, StaffOrderCommand};
pub(crate) use decide::{applied_discounts, delivery_item, delivery_name, receipt_for, vat};
pub use snapshot::{
    Allocated, Allocation, CartSnapshot, CartView, CartViewLine, FewestWarehouses, ItemKind, Missing, OfferedItem,
    Packaging, WarehouseStock,
};

use std::sync::Arc;

use kontor_kernel::history::Author;
use kontor_kernel::{
    AppScope, ApplicationId, Clock, CounterpartyId, CustomerScope, Money, OrderId, Permission, ProjectId, Random,
    Resource, Staff, Stamp, StoreError, Violations, Visitor,
};
use kontor_payments::{ChargeService, PaymentRequested};

use self::decide::decide;
use crate::change::{Comment, Orderer};
use crate::error::{CartError, PlacementError};
use crate::model::{
    Cart, CartRefused, DeliveryChoice, DeliveryRequest, LineProblem, LineRefused, Order, PromoCode, PromoProblem,
};
use crate::ports::{CartQuery, CartReader, OrderReader, OrderStore, PlaceRefused, Placed, SalesPoint};
use crate::tickets::TicketReference;

/// Payment page settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentPage {
    /// Return address of the payer, a page of the shop. `{order_id}` in it is replaced.
    pub return_url: String,
}

/// Outcome of a stored order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacedOutcome {
    /// The order is ready: it waits for staff or, with a link, for the payer.
    Ready(Order),
    /// The order is stored, but the outcome of the payment request is unknown; there is no link yet.
    PaymentOutcomeUnknown(Order),
}

/// Use cases of carts, of new orders and of the lines of orders.
#[derive(Clone)]
pub struct PlacementService {
    /// Reads the data that carts are priced from.
    pub carts: Arc<dyn CartReader>,
    /// Writes orders.
    pub store: Arc<dyn OrderStore>,
    /// Reads orders.
    pub orders: Arc<dyn OrderReader>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
    /// Payment page settings.
    pub page: PaymentPage,
    /// Strategy that chooses warehouses.
    pub allocation: Arc<dyn Allocation>,
}

/// Maximum attempts of a decision when its data changes concurrently.
pub(crate) const MAX_ATTEMPTS: u32 = 6;

impl PlacementService {
    /// Prices a cart in an application, with the given delivery if any. An unusable promo code is not an error.
    /// With a customer, their earlier uses of the code count.
    pub async fn precalculate(
        &self,
        visitor: Visitor,
        cart: &Cart,
        promo: Option<PromoCode>,
        choice: Option<DeliveryChoice>,
    ) -> Result<CartView, CartError> {
        let query = CartQuery {
            point: visitor.app.into(),
            customer: visitor.counterparty_id,
            items: cart.items(),
            promo,
            delivery: choice.map(DeliveryRequest::of_choice),
            by_staff: false,
        };
        self.view(query, cart, choice).await
    }

    /// Prices a cart for staff, for a customer if one is given.
    pub async fn calculate(
        &self,
        staff: &Staff,
        application_id: Option<ApplicationId>,
        customer: Option<CounterpartyId>,
        cart: &Cart,
        promo: Option<PromoCode>,
        choice: Option<DeliveryChoice>,
    ) -> Result<CartView, CartError> {
        staff.require(Permission::view(Resource::Orders))?;
        let point = SalesPoint { project_id: staff.project_id, application_id };
        let delivery = choice.map(DeliveryRequest::of_choice);
        let query = CartQuery { point, customer, items: cart.items(), promo, delivery, by_staff: true };
        self.view(query, cart, choice).await
    }

    async fn view(&self, query: CartQuery, cart: &Cart, choice: Option<DeliveryChoice>) -> Result<CartView, CartError> {
        let snapshot = self.carts.snapshot(query).await?;
        let mut missing = snapshot.missing.violations();
        let checked = choice.map(|choice| snapshot.references.check_choice(choice)).transpose();
        let choice = checked.unwrap_or_else(|wrong| {
            missing.merge(wrong);
            None
        });
        let view = snapshot.view(cart, &*self.allocation, self.clock.now());
        // An application that does not exist sells nothing.
        if let (false, false, Err(refused)) = (missing.is_empty(), snapshot.missing.application, &view) {
            missing.merge(refused.violations());
        }
        missing.into_result().map_err(CartError::Missing)?;
        let view = view?;
        let delivery_price = choice.map_or(Money::ZERO, |choice| snapshot.delivery_charge(choice.subtype_id).price);
        Ok(CartView { delivery_price, ..view })
    }

    /// Stores an order and, for an online payment, requests it at the acquirer. The order, its reservations and
    /// its charge are committed before the acquirer is called.
    pub async fn place(
        &self,
        customer: CustomerScope,
        command: &OrderCommand,
    ) -> Result<PlacedOutcome, PlacementError> {
        let buyer = Buyer {
            point: customer.app.into(),
            orderer: Orderer::Customer(customer.counterparty_id),
            author: Author::Customer(customer.counterparty_id),
            manager_id: None,
            comment: None,
        };
        self.place_for(&buyer, command).await
    }

    /// Places an order by an employee for a customer of their project.
    pub async fn place_by_staff(
        &self,
        staff: &Staff,
        command: &StaffOrderCommand,
    ) -> Result<PlacedOutcome, PlacementError> {
        staff.require(Permission::create(Resource::Orders))?;
        let buyer = Buyer {
            point: SalesPoint { project_id: staff.project_id, application_id: command.application_id },
            orderer: Orderer::Customer(command.counterparty_id),
            author: Stamp::of(staff, self.clock.now()).author,
            manager_id: command.manager_id,
            comment: command.comment.clone(),
        };
        self.place_for(&buyer, &command.order).await
    }

    /// Places an order from the contact form. The customer is found by the phone or created in the same commit;
    /// the response is the same either way. The name from the form is kept in the comment, since an existing
    /// customer may have another one.
    pub async fn place_by_contact(
        &self,
        app: AppScope,
        command: &ContactOrderCommand,
    ) -> Result<PlacedOutcome, PlacementError> {
        let buyer = Buyer {
            point: app.into(),
            orderer: Orderer::Contact(command.person.clone()),
            author: Author::System,
            manager_id: None,
            comment: Comment::parse(&command.person.full_name()).ok(),
        };
        self.place_for(&buyer, &command.order()).await
    }

    async fn place_for(&self, buyer: &Buyer, command: &OrderCommand) -> Result<PlacedOutcome, PlacementError> {
        let placed = self.commit(buyer, command).await?;
        let (project, id) = (buyer.point.project_id, placed.order_id);
        let Some(charge) = placed.charge else {
            return Ok(PlacedOutcome::Ready(self.read(project, id).await?));
        };
        match self.charges.open(&charge).await {
            // The order is committed: a storage error now must not look like a failed order.
            Ok(PaymentRequested::OutcomeUnknown) | Err(_) => {
                Ok(PlacedOutcome::PaymentOutcomeUnknown(self.read(project, id).await?))
            }
            Ok(PaymentRequested::Known) => Ok(PlacedOutcome::Ready(self.read(project, id).await?)),
            Ok(PaymentRequested::Refused { reason }) => Err(PlacementError::PaymentRefused { order_id: id, reason }),
        }
    }

    async fn commit(&self, buyer: &Buyer, command: &OrderCommand) -> Result<Placed, PlacementError> {
        let mut last = PlaceRefused::Stale;
        for _ in 0..MAX_ATTEMPTS {
            let snapshot = self
                .carts
                .snapshot(CartQuery {
                    point: buyer.point,
                    customer: buyer.orderer.known(),
                    items: command.cart.items(),
                    promo: command.promo_code.clone(),
                    delivery: Some(command.delivery.clone()),
                    by_staff: matches!(buyer.author, Author::User(_)),
                })
                .await?;
            let has_tickets = snapshot.items.iter().any(|item| item.is_ticket);
            let context = OrderContext {
                buyer,
                key: self.random.uuid(),
                tickets: has_tickets.then(|| TicketReference::generate(&*self.random)),
                return_url: &self.page.return_url,
                allocation: &*self.allocation,
                at: self.clock.now(),
            };
            let order = decide(&snapshot, command, &context)?;
            match self.store.place(order).await {
                Ok(placed) => return Ok(placed),
                Err(PlaceRefused::Store(error)) => return Err(error.into()),
                Err(PlaceRefused::CustomerDeleted) => return Err(PlacementError::CustomerDeleted),
                Err(PlaceRefused::Contact(problem)) => {
                    return Err(OrderRefused { contact: Some(problem), ..OrderRefused::default() }.into());
                }
                Err(PlaceRefused::UnknownManager) => {
                    let parties = Violations::single("manager_id", PlaceRefused::UnknownManager);
                    return Err(OrderRefused { parties, ..OrderRefused::default() }.into());
                }
                // The next snapshot shows the current stock: another warehouse may have the goods.
                Err(refused) => last = refused,
            }
        }
        Err(placement_error(&last))
    }

    /// Reads a committed order. A read error here must not look as if there were no order.
    async fn read(&self, project: ProjectId, id: OrderId) -> Result<Order, StoreError> {
        let found = self.orders.find(id).await.map_err(StoreError::after_commit)?;
        let order = found.and_then(|order| order.within(project));
        order.ok_or_else(|| StoreError::Corrupt(format!("order {id} was stored and cannot be found")))
    }
}

fn placement_error(last: &PlaceRefused) -> PlacementError {
    match last {
        PlaceRefused::OutOfStock { line } => {
            let problem = LineProblem::NotEnough { available: 0 };
            let cart = Some(CartRefused::Lines(vec![LineRefused { line: *line, problem }]));
            OrderRefused { cart, ..OrderRefused::default() }.into()
        }
        PlaceRefused::PromoExhausted => {
            OrderRefused { promo: Some(PromoProblem::LimitReached), ..OrderRefused::default() }.into()
        }
        PlaceRefused::Contact(problem) => OrderRefused { contact: Some(*problem), ..OrderRefused::default() }.into(),
        PlaceRefused::CustomerDeleted => PlacementError::CustomerDeleted,
        PlaceRefused::Stale | PlaceRefused::UnknownManager | PlaceRefused::Store(_) => PlacementError::Busy,
    }
}
