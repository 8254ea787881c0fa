//! Use cases of stored orders, for customers and staff.

use std::sync::Arc;

use kontor_kernel::{
    ApplicationId, Clock, CustomerScope, Edit, Listing, OrderId, Page, PageRequest, Permission, Random, Resource,
    Staff, Stamp, StoreError, UserId,
};
use uuid::Uuid;

use crate::change::{Captured, Comment, ManualPayment, OrderUpdate, OrderedRefund};
use crate::error::{OrderError, OrderRefusal};
use crate::lines::OrderPreview;
use crate::model::{Address, Named, Order, OrderEntry, OrderStatus, PaidEvent, needs_address};
use crate::ports::{OrderReader, OrderStore};
use crate::refund::{self, RefundCommand};

/// Changes to an order, by staff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderChange {
    /// Target status.
    pub status: Edit<OrderStatus>,
    /// Employee in charge.
    pub manager: Edit<Option<UserId>>,
    /// Comment.
    pub comment: Edit<Option<Comment>>,
    /// Address of the handover. It cannot be removed if a courier delivers the order.
    pub address: Edit<Option<Address>>,
}

/// Use cases of stored orders.
pub struct OrderService {
    /// Reads orders.
    pub orders: Arc<dyn OrderReader>,
    /// Writes orders.
    pub store: Arc<dyn OrderStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of event identifiers.
    pub random: Arc<dyn Random>,
}

impl OrderService {
    /// Returns one page of the customer's orders in the calling application, newest first.
    pub async fn of_customer(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Order>, StoreError> {
        self.orders.of_customer(customer, page).await
    }

    /// Returns one of these orders; any other is not found.
    pub async fn one_of_customer(&self, customer: CustomerScope, id: OrderId) -> Result<Order, OrderError> {
        let own = |order: &Order| {
            let here = order.application.as_ref().is_some_and(|made| made.id == customer.app.application_id);
            here && order.customer.id == customer.counterparty_id
        };
        let found = self.orders.find(id).await?.and_then(|order| order.within(customer.app.project_id));
        found.filter(own).ok_or(OrderError::NotFound)
    }

    /// Returns one page of the project's orders, newest first.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Order>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        Ok(self.orders.list(staff.project_id, listing).await?)
    }

    /// Returns one order of the project.
    pub async fn read(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.require_own(self.orders.find(id).await?)
    }

    /// Returns one page of the history of an order, latest first.
    pub async fn history(&self, staff: &Staff, id: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, OrderError> {
        self.read(staff, id).await?;
        Ok(self.orders.history(id, page).await?)
    }

    /// Changes an order.
    pub async fn update(&self, staff: &Staff, id: OrderId, change: OrderChange) -> Result<Order, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let (event_id, stamp, editor) = (self.random.uuid(), Stamp::of(staff, self.clock.now()), staff.clone());
        let decide = move |found| decide(&editor.require_own(Some(found))?, &change, stamp, event_id);
        self.store.change(id, Box::new(decide)).await?;
        self.reread(staff, id).await
    }

    /// Returns the effect of a change without writing it.
    pub async fn preview_update(
        &self,
        staff: &Staff,
        id: OrderId,
        change: &OrderChange,
    ) -> Result<(Order, OrderPreview), OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let order = staff.require_own(self.orders.find(id).await?)?;
        let update = decide(&order, change, Stamp::of(staff, self.clock.now()), Uuid::nil())?;
        if let Some(manager) = update.manager.set_value()
            && !self.orders.has_employee(staff.project_id, *manager).await?
        {
            return Err(OrderRefusal::UnknownManager.into());
        }
        let preview = OrderPreview::of_move(&order, update.transition);
        Ok((order, preview))
    }

    /// Cancels an order. Orders are never deleted.
    pub async fn cancel(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        self.update(staff, id, OrderChange { status: Edit::Set(OrderStatus::Canceled), ..OrderChange::default() }).await
    }

    /// Records that an employee took the money of an order. The order becomes paid; an issued order stays
    /// issued.
    pub async fn record_payment(
        &self,
        staff: &Staff,
        id: OrderId,
        payment: ManualPayment,
    ) -> Result<Order, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let (event_id, stamp, editor) = (self.random.uuid(), Stamp::of(staff, self.clock.now()), staff.clone());
        let decide = move |found| {
            let order: Order = editor.require_own(Some(found))?;
            let transition = order.transition_context().move_when_paid_manually().map_err(OrderRefusal::Unpayable)?;
            let captured = Some(captured(&order, stamp, event_id));
            Ok(OrderUpdate { transition, captured, by_hand: Some(payment.clone()), ..OrderUpdate::of(stamp) })
        };
        self.store.change(id, Box::new(decide)).await?;
        self.reread(staff, id).await
    }

    /// Refunds money, with or without goods. For an order paid online, a worker requests the refund at the
    /// acquirer later. Money paid otherwise counts as refunded at once.
    pub async fn refund(&self, staff: &Staff, id: OrderId, command: RefundCommand) -> Result<Order, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let (key, stamp, editor) = (self.random.uuid(), Stamp::of(staff, self.clock.now()), staff.clone());
        let decide = move |found| {
            let decided = refund::decide(&editor.require_own(Some(found))?, &command).map_err(OrderRefusal::from)?;
            let (reason, restock) = (command.reason.to_string(), command.restock);
            let transition = decided.transition;
            let ends_period = command.ends_period;
            let refund = Some(OrderedRefund { key, decided, reason, restock, ends_period });
            Ok(OrderUpdate { transition, refund, ..OrderUpdate::of(stamp) })
        };
        self.store.change(id, Box::new(decide)).await?;
        self.reread(staff, id).await
    }

    /// Returns the effect of a refund without writing it.
    pub async fn preview_refund(
        &self,
        staff: &Staff,
        id: OrderId,
        command: &RefundCommand,
    ) -> Result<(Order, OrderPreview), OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        let order = staff.require_own(self.orders.find(id).await?)?;
        let decided = refund::decide(&order, command).map_err(OrderRefusal::from)?;
        let preview = OrderPreview::of_refund(&order, &decided);
        Ok((order, preview))
    }

    /// Reads an order after a commit. A read error here must not look as if nothing was written.
    async fn reread(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        let found = self.orders.find(id).await.map_err(StoreError::after_commit)?;
        staff.require_own(found)
    }
}

/// The whole amount of an order, taken by an employee.
fn captured(order: &Order, stamp: Stamp, event_id: Uuid) -> Captured {
    let event = |application: &Named<ApplicationId>| PaidEvent {
        event_id,
        order_id: order.id,
        application_id: application.id,
        project_id: stamp.project_id,
        amount: order.amount_due(),
        currency: order.currency.clone(),
        paid_at: stamp.at,
    };
    Captured { amount: order.amount_due(), event: order.application.as_ref().map(event) }
}

fn decide(order: &Order, change: &OrderChange, stamp: Stamp, event_id: Uuid) -> Result<OrderUpdate, OrderError> {
    let to = change.status.as_set().filter(|status| **status != order.status);
    let transition = to.map(|status| order.transition_context().move_to(*status)).transpose();
    let transition = transition.map_err(OrderRefusal::from)?;
    let subtype = order.delivery_subtype.as_ref().map(|subtype| subtype.id);
    if matches!(change.address, Edit::Set(None)) && needs_address(order.delivery_type.id, subtype) {
        return Err(OrderRefusal::AddressRequired.into());
    }
    let captured = transition.filter(|step| step.pays).map(|_| captured(order, stamp, event_id));
    Ok(OrderUpdate {
        transition,
        captured,
        manager: change.manager,
        comment: change.comment.clone(),
        address: change.address.clone(),
        ..OrderUpdate::of(stamp)
    })
}

#[cfg(test)]
mod tests;
