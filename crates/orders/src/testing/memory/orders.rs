//! Placement and changes of orders in memory.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::{Author, HistoryAction, HistoryEntry};
use kontor_kernel::{
    ChargeId, CounterpartyId, Edit, Money, NomenclatureId, OrderId, ProjectScoped, StoreError, UserId,
};
use kontor_payments::model::{Charge, ChargePurpose, ChargeState, NewCharge};

use super::{Guard, InMemoryOrders, State};
use crate::change::{OrderUpdate, OrderedRefund, Orderer, PlacedLine, PlacedOrder};
use crate::charge_outcome::EffectEntry;
use crate::error::{OrderError, OrderRefusal};
use crate::model::{
    Customer, DeliveryOptionRef, Named, Order, OrderEntry, OrderEvent, OrderLine, OrderRefund, OrderRefundState,
    OrderStatus, Place, ReservationState, StockEffect, Transition,
};
use crate::placement::{ItemKind, Unconfirmed};
use crate::ports::{Decision, OrderStore, PlaceRefused, Placed};
use crate::refund::{RefundRefused, ReturnEffect};
use crate::tickets::Tickets;

#[async_trait]
impl OrderStore for InMemoryOrders {
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused> {
        self.write(|state| state.place(&order))
    }

    async fn change(&self, id: OrderId, decide: Decision) -> Result<Option<Charge>, OrderError> {
        self.write(|state| state.change(id, &decide))
    }
}

/// Sum of two amounts.
fn plus(left: Money, right: Money) -> Money {
    left.checked_add(right).unwrap_or(Money::MAX)
}

impl State {
    fn place(&mut self, order: &PlacedOrder) -> Result<Placed, PlaceRefused> {
        let customer = self.orderer(order)?;
        if order.manager_id.is_some_and(|manager| !self.employs(manager)) {
            return Err(PlaceRefused::UnknownManager);
        }
        self.admit(order)?;
        for line in &order.lines {
            self.reserve(line)?;
        }
        let items: Vec<NomenclatureId> = order.lines.iter().map(|line| line.item).collect();
        self.check_automatic(&items, &order.automatic)?;
        if let Some(promo) = &order.promo {
            self.take_promo_use(promo, customer)?;
        }
        let id: OrderId = self.ids.id();
        if let Some(promo) = &order.promo {
            self.uses.insert(id, (promo.discount_id, customer));
        }
        let stored = self.stored(id, order, customer);
        self.orders.insert(id, stored);
        let created = EffectEntry { event: OrderEvent::Created, status: order.status, detail: None, changes: vec![] };
        self.log(id, HistoryAction::Created, order.author, created, order.at);
        let charge = match order.charge(id, customer) {
            Some(new) => Some(self.charges.store(&new).ok_or_else(|| clash(id))?),
            None => None,
        };
        Ok(Placed { order_id: id, charge })
    }

    fn employs(&self, user: UserId) -> bool {
        self.employees.contains(&user) || !self.guards.has(Guard::Manager)
    }

    /// Returns the customer of an order. A person without an account gets one.
    fn orderer(&mut self, order: &PlacedOrder) -> Result<CounterpartyId, PlaceRefused> {
        match &order.orderer {
            Orderer::Customer(id) if self.customers.contains_key(id) || !self.guards.has(Guard::Customer) => Ok(*id),
            Orderer::Customer(_) => Err(PlaceRefused::CustomerDeleted),
            Orderer::Contact(person) => {
                let known = self.customers.iter().find(|(_, phone)| phone.as_ref() == Some(&person.phone));
                let known = known.map(|(id, _)| *id);
                let id = known.unwrap_or_else(|| self.ids.id());
                self.customers.insert(id, Some(person.phone.clone()));
                Ok(id)
            }
        }
    }

    /// Refuses an order from the contact form if the unconfirmed orders of its phone exceed a bound.
    fn admit(&self, order: &PlacedOrder) -> Result<(), PlaceRefused> {
        let Some(terms) = order.contact.filter(|_| self.guards.has(Guard::Contact)) else { return Ok(()) };
        let phone = order.phone.as_ref().map(ToString::to_string);
        let same = self.orders.values().filter(|known| known.reserved_until.is_some() && known.customer.phone == phone);
        let sum = same.fold(order.unconfirmed(), |sum, known| {
            let lines = known.lines.iter().map(|line| (line.inventory, line.quantity));
            sum.plus(Unconfirmed::of(lines, known.final_price))
        });
        terms.admit(sum).map_err(PlaceRefused::Contact)
    }

    fn stored(&mut self, id: OrderId, order: &PlacedOrder, customer: CounterpartyId) -> Order {
        let lines: Vec<OrderLine> = order.lines.iter().map(|line| self.line(line)).collect();
        let tickets: u32 = lines.iter().filter(|line| line.is_ticket).map(OrderLine::units_left).sum();
        let delivery = &order.delivery;
        Order {
            id,
            application: order.application_id.map(|id| Named { id, name: "Shop".to_owned() }),
            customer: Customer {
                id: customer,
                name: String::new(),
                phone: order.phone.as_ref().map(ToString::to_string),
            },
            manager: order.manager_id.map(|id| Named { id, name: String::new() }),
            status: order.status,
            status_name: order.status.to_string(),
            currency: order.payment.as_ref().map_or_else(|| "RUB".to_owned(), |payment| payment.currency.clone()),
            original_price: order.original_price,
            product_discount: order.product_discount,
            promo_discount: order.promo_discount,
            final_price: order.final_price,
            delivery_charge: order.delivery_charge,
            promo_code: order.promo.as_ref().map(|promo| promo.code.clone()),
            delivery_type: option(delivery.type_id),
            delivery_subtype: delivery.subtype_id.map(option),
            delivery_subtype_param: delivery.subtype_param_id.map(|id| Place {
                id,
                name: String::new(),
                address: delivery.address.clone(),
            }),
            shop: delivery.shop_id.map(|id| Place { id, name: String::new(), address: delivery.address.clone() }),
            address: delivery.address.clone(),
            payment_type: None,
            payment_method: order.payment_method(),
            payment_link: None,
            comment: order.comment.as_ref().map(|comment| comment.as_str().to_owned()),
            reserved_until: order.reserved_until(),
            lines,
            payment_open: false,
            is_recurring: false,
            paid_at: None,
            captured: Money::ZERO,
            refunded: Money::ZERO,
            refunding: Money::ZERO,
            refunds: Vec::new(),
            tickets: Tickets { reference: order.tickets.clone(), total: tickets, redeemed: 0, last_redeemed_at: None },
            version: 1,
            created_at: order.at,
            updated_at: order.at,
        }
    }

    fn line(&mut self, line: &PlacedLine) -> OrderLine {
        let warehouse = self.items.get(&line.item).and_then(|item| match &item.kind {
            ItemKind::Goods { places } => places.iter().find(|place| Some(place.inventory) == line.inventory),
            ItemKind::Service { .. } => None,
        });
        let warehouse = warehouse.map(|place| Named { id: place.warehouse, name: "Warehouse".to_owned() });
        OrderLine {
            id: self.ids.id(),
            item: Named { id: line.item, name: line.name.clone() },
            article: None,
            photos: Vec::new(),
            warehouse,
            inventory: line.inventory,
            quantity: line.quantity,
            unit_price: line.unit_price,
            product_discount: line.price.product_discount,
            promo_discount: line.price.promo_discount,
            total: line.price.total(),
            vat: line.vat,
            is_ticket: line.is_ticket,
            refunded_quantity: 0,
            refunded_amount: Money::ZERO,
            state: ReservationState::Held,
        }
    }

    /// Adds a history entry.
    pub(super) fn log(
        &mut self,
        order: OrderId,
        action: HistoryAction,
        author: Author,
        entry: EffectEntry,
        at: DateTime<Utc>,
    ) {
        if !self.guards.has(Guard::History) {
            return;
        }
        let line =
            HistoryEntry { id: self.ids.number(), action, author, author_name: None, changes: entry.changes, at };
        let entry = OrderEntry { line, event: entry.event, status: entry.status, detail: entry.detail };
        self.histories.entry(order).or_default().push(entry);
    }

    fn change(&mut self, id: OrderId, decide: &Decision) -> Result<Option<Charge>, OrderError> {
        let before = self.order(id).ok_or(OrderError::NotFound)?;
        let seen = if self.guards.has(Guard::Current) { before.clone() } else { as_placed(before.clone()) };
        let update = decide(ProjectScoped::new(self.project, seen))?;
        if update.stamp.project_id != self.project {
            return Err(OrderError::NotFound);
        }
        if update.is_empty(&before) {
            return Ok(None);
        }
        if update.rework.is_some() {
            return Err(StoreError::Failed("the storage in memory changes no lines".to_owned()).into());
        }
        if update.manager.set_value().is_some_and(|manager| !self.employs(*manager)) {
            return Err(OrderRefusal::UnknownManager.into());
        }
        let at = update.stamp.at;
        if let Some(refund) = &update.refund {
            if refund.ends_period {
                return Err(OrderRefusal::Refund(RefundRefused::NoPeriod).into());
            }
            let purpose = ChargePurpose::Order(id);
            let paid =
                self.charges.find(|charge| charge.purpose() == purpose && charge.state == ChargeState::Succeeded);
            let paid = paid.map(|charge| charge.id).filter(|_| !refund.decided.amount.is_zero());
            self.refund(id, refund, paid, at).map_err(OrderRefusal::Refund)?;
        }
        self.apply(id, &before, &update)?;
        let Some(payment) = &update.payment else { return Ok(None) };
        let new = NewCharge {
            project_id: self.project,
            application_id: before.application.as_ref().map(|application| application.id),
            counterparty_id: before.customer.id,
            request: payment.request(id),
            next_check_at: payment.next_check_at,
            at,
        };
        Ok(Some(self.charges.store(&new).ok_or_else(|| clash(id))?))
    }

    /// Writes an update, except its refund and its payment.
    fn apply(&mut self, id: OrderId, before: &Order, update: &OrderUpdate) -> Result<(), StoreError> {
        let at = update.stamp.at;
        let order = self.orders.get_mut(&id).ok_or_else(|| StoreError::corrupt("the order is missing"))?;
        order.reserved_until = None;
        order.updated_at = at;
        order.version += 1;
        if let Some(captured) = &update.captured {
            (order.captured, order.paid_at) = (captured.amount, Some(at));
        }
        if let Edit::Set(manager) = update.manager {
            order.manager = manager.map(|id| Named { id, name: String::new() });
        }
        if let Edit::Set(comment) = &update.comment {
            order.comment = comment.as_ref().map(|comment| comment.as_str().to_owned());
        }
        if let Edit::Set(address) = &update.address {
            order.address = address.as_ref().map(|address| address.as_str().to_owned());
        }
        if let Some(step) = update.transition {
            self.transition(id, step);
        }
        self.events.extend(update.captured.iter().filter_map(|captured| captured.event.clone()));
        let entry = EffectEntry {
            event: update.event(),
            status: update.status(before),
            detail: update.detail(),
            changes: update.changes(before),
        };
        self.log(id, HistoryAction::Changed, update.stamp.author, entry, at);
        Ok(())
    }

    /// Changes the status of an order and its stock.
    pub(super) fn transition(&mut self, id: OrderId, step: Transition) {
        if let Some(order) = self.orders.get_mut(&id) {
            (order.status, order.status_name, order.reserved_until) = (step.to, step.to.to_string(), None);
            if step.to == OrderStatus::Canceled {
                order.payment_link = None;
            }
        }
        match step.stock {
            StockEffect::Keep => {}
            StockEffect::Release => self.release(id),
            StockEffect::Sell => {
                self.leave(id, ReservationState::Sold);
            }
        }
    }

    /// Stores a refund of an order. Its money is reserved on the charge; without a charge it is refunded at once.
    pub(super) fn refund(
        &mut self,
        id: OrderId,
        refund: &OrderedRefund,
        charge: Option<ChargeId>,
        at: DateTime<Utc>,
    ) -> Result<(), RefundRefused> {
        let decided = &refund.decided;
        if let Some(charge) = charge {
            self.charges.reserve(charge, decided.amount).map_err(|left| RefundRefused::ExceedsPaid { left })?;
        }
        let number = self.ids.id();
        let Some(order) = self.orders.get_mut(&id) else { return Ok(()) };
        let mut returned = Vec::new();
        for back in &decided.lines {
            let Some(line) = order.lines.iter_mut().find(|line| line.id == back.line) else { continue };
            line.refunded_quantity += back.quantity;
            line.refunded_amount = plus(line.refunded_amount, back.amount);
            if line.state == ReservationState::Held && line.units_left() == 0 {
                line.state = ReservationState::Released;
            }
            if line.is_ticket {
                order.tickets.total = order.tickets.total.saturating_sub(back.quantity);
            }
            if matches!(back.effect, ReturnEffect::Release | ReturnEffect::Restock) {
                returned.push((line.inventory, back.quantity));
            }
        }
        let pending = charge.is_some();
        let money = if pending { &mut order.refunding } else { &mut order.refunded };
        *money = plus(*money, decided.amount);
        order.version += 1;
        order.refunds.push(OrderRefund {
            id: number,
            amount: decided.amount,
            delivery: decided.delivery,
            state: if pending { OrderRefundState::Pending } else { OrderRefundState::Succeeded },
            reason: refund.reason.clone(),
            restock: refund.restock,
            created_at: at,
            settled_at: (!pending).then_some(at),
        });
        for (inventory, units) in returned {
            self.restock(inventory, units);
        }
        Ok(())
    }
}

/// Order without what has happened since it was placed.
fn as_placed(order: Order) -> Order {
    let status = if order.payment_method.is_some() { OrderStatus::WaitingForPayment } else { OrderStatus::Created };
    Order { status, payment_open: false, paid_at: None, captured: Money::ZERO, ..order }
}

fn option<Id>(id: Id) -> DeliveryOptionRef<Id> {
    DeliveryOptionRef { id, name: String::new(), price: Money::ZERO, is_active: true }
}

fn clash(order: OrderId) -> StoreError {
    StoreError::corrupt(format!("the key of the charge of order {order} is already in use"))
}
