//! Orders as customers and staff see and change them.

use std::sync::Arc;

use kontor_kernel::{
    AccessDenied, Clock, CustomerScope, Listing, OrderId, Page, Permission, Random, Resource, Staff, StoreError, UserId,
};

use crate::change::{Comment, OrderChange};
use crate::error::OrderError;
use crate::model::{Address, Order, OrderStatus, PaidEvent, Transition};
use crate::ports::{ChangeRefused, OrderReader, OrderStore};

/// What an employee changes about an order. `None` leaves a part as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderEdit {
    /// Where the order is to move.
    pub status: Option<OrderStatus>,
    /// Who takes care of it; `Some(None)` takes the manager away.
    pub manager: Option<Option<UserId>>,
    /// The remark; `Some(None)` removes it.
    pub comment: Option<Option<Comment>>,
    /// Where the goods are handed over.
    pub address: Option<Option<Address>>,
}

/// Use cases of stored orders.
pub struct OrderService {
    orders: Arc<dyn OrderReader>,
    store: Arc<dyn OrderStore>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

/// How often a change is decided anew when the order changes meanwhile.
const TRIES: u32 = 5;

impl OrderService {
    /// Wires the ports.
    pub fn new(
        orders: Arc<dyn OrderReader>,
        store: Arc<dyn OrderStore>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { orders, store, clock, random }
    }

    /// The customer's orders in the calling application, newest first.
    pub async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError> {
        self.orders.of_customer(customer).await
    }

    /// One of these orders; any other is not found.
    pub async fn one_of_customer(&self, customer: CustomerScope, id: OrderId) -> Result<Order, OrderError> {
        let own = |order: &Order| {
            order.customer.id == customer.counterparty_id && order.application.id == customer.app.application_id
        };
        self.orders.find(id).await?.filter(own).ok_or(OrderError::NotFound)
    }

    /// One page of the project's orders, newest first.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Order>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        Ok(self.orders.list(staff.project_id, listing).await?)
    }

    /// One order of the project.
    pub async fn read(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        self.own(staff, id).await
    }

    /// Changes an order. What was decided on a state that others changed meanwhile is decided anew.
    pub async fn edit(&self, staff: &Staff, id: OrderId, edit: &OrderEdit) -> Result<Order, OrderError> {
        staff.require(Permission::edit(Resource::Orders))?;
        for _ in 0..TRIES {
            let order = self.own(staff, id).await?;
            let transition = edit
                .status
                .filter(|status| *status != order.status)
                .map(|status| order.transition_context().move_to(status))
                .transpose()?;
            let paid = transition.filter(|step| step.pays).map(|_| self.paid(&order));
            let change = self.decide(staff, &order, edit, transition, paid);
            match self.store.change(change).await {
                Ok(()) => return self.own(staff, id).await,
                Err(ChangeRefused::Stale) => {}
                Err(ChangeRefused::UnknownManager) => return Err(OrderError::UnknownManager),
                Err(ChangeRefused::Store(error)) => return Err(error.into()),
            }
        }
        Err(OrderError::Busy)
    }

    async fn own(&self, staff: &Staff, id: OrderId) -> Result<Order, OrderError> {
        let order = self.orders.find(id).await?.ok_or(OrderError::NotFound)?;
        staff.require_project(order.project_id).map_err(|denied: AccessDenied| OrderError::Denied(denied))?;
        Ok(order)
    }

    fn decide(
        &self,
        staff: &Staff,
        order: &Order,
        edit: &OrderEdit,
        transition: Option<Transition>,
        paid: Option<PaidEvent>,
    ) -> OrderChange {
        OrderChange {
            order_id: order.id,
            project_id: order.project_id,
            version: order.version,
            user_id: staff.user_id,
            transition,
            paid,
            manager: edit.manager,
            comment: edit.comment.clone(),
            address: edit.address.clone(),
            at: self.clock.now(),
        }
    }

    fn paid(&self, order: &Order) -> PaidEvent {
        PaidEvent {
            event_id: self.random.uuid(),
            order_id: order.id,
            application_id: order.application.id,
            project_id: order.project_id,
            amount: order.final_price,
            currency: order.currency.clone(),
            paid_at: self.clock.now(),
        }
    }
}
