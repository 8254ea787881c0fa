//! Orders as customers and staff see and change them.

use std::sync::Arc;

use kontor_kernel::{
    Clock, CustomerScope, Edit, Listing, OrderId, Page, Permission, Random, Resource, Staff, Stamp, StoreError, UserId,
};

use crate::change::{Comment, OrderUpdate};
use crate::error::{OrderError, OrderRefusal};
use crate::model::{Address, Order, OrderStatus, PaidEvent, TransitionRefused};
use crate::ports::{ChangeRefused, OrderReader, OrderStore};

/// What staff change about an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderChange {
    /// Where the order is to move.
    pub status: Edit<OrderStatus>,
    /// Who takes care of it.
    pub manager: Edit<Option<UserId>>,
    /// The remark.
    pub comment: Edit<Option<Comment>>,
    /// Where the goods are handed over.
    pub address: Edit<Option<Address>>,
}

/// Use cases of stored orders.
pub struct OrderService {
    /// Where they are read.
    pub orders: Arc<dyn OrderReader>,
    /// Where they are written.
    pub store: Arc<dyn OrderStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Randomness for the identifiers of events.
    pub random: Arc<dyn Random>,
}

/// How often a change is decided anew when the order changes meanwhile.
const TRIES: u32 = 5;

impl OrderService {
    /// The customer's orders in the calling application, newest first.
    pub async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError> {
        self.orders.of_customer(customer).await
    }

    /// One of these orders; any other is not found.
    pub async fn one_of_customer(&self, customer: CustomerScope, id: OrderId) -> Result<Order, OrderError> {
        let own = |order: &Order| {
            order.customer.id == customer.counterparty_id && order.application.id == customer.app.application_id
        };
        let found = self.orders.find(id).await?.and_then(|order| order.within(customer.app.project_id));
        found.filter(own).ok_or(OrderError::NotFound)
    }

    /// One page of the project's orders, newest first.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Order>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        Ok(self.orders.list(staff.project_id, listing).await?)
    }

    /// One order of the project.
    pub async fn read(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.own(self.orders.find(id).await?)
    }

    /// Changes an order. What was decided on a state that others changed meanwhile is decided anew.
    pub async fn update(&self, staff: &Staff, id: OrderId, change: &OrderChange) -> Result<Order, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        for _ in 0..TRIES {
            let order = staff.own(self.orders.find(id).await?)?;
            let update = self.decide(staff, &order, change).map_err(OrderRefusal::from)?;
            match self.store.update(update).await {
                Ok(()) => return staff.own(self.orders.find(id).await?),
                Err(ChangeRefused::Stale) => {}
                Err(ChangeRefused::UnknownManager) => return Err(OrderRefusal::UnknownManager.into()),
                Err(ChangeRefused::Store(error)) => return Err(error.into()),
            }
        }
        Err(OrderRefusal::Busy.into())
    }

    fn decide(&self, staff: &Staff, order: &Order, change: &OrderChange) -> Result<OrderUpdate, TransitionRefused> {
        let at = self.clock.now();
        let to = change.status.as_set().filter(|status| **status != order.status);
        let transition = to.map(|status| order.transition_context().move_to(*status)).transpose()?;
        let paid = transition.filter(|step| step.pays).map(|_| PaidEvent {
            event_id: self.random.uuid(),
            order_id: order.id,
            application_id: order.application.id,
            project_id: staff.project_id,
            amount: order.final_price,
            currency: order.currency.clone(),
            paid_at: at,
        });
        Ok(OrderUpdate {
            stamp: Stamp::of(staff, at),
            order_id: order.id,
            version: order.version,
            transition,
            paid,
            manager: change.manager,
            comment: change.comment.clone(),
            address: change.address.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
