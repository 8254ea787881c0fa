//! Orders in memory, for examples and for tests of use cases.

mod charges;
mod orders;
mod stock;
#[cfg(test)]
mod tests;
mod tickets;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, DeliveryTypeId, DiscountId, DiscountStatus, DiscountTarget,
    InvalidId, Listing, Money, NomenclatureId, OrderId, Page, PageRequest, Phone, ProjectId, ProjectScoped, ShopId,
    StoreError, TokenId, UserId,
};
use kontor_payments::model::ChargePurpose;
use kontor_payments::testing::memory::ChargeBook;
#[cfg(test)]
use kontor_payments::testing::memory::ChargeGuard;

use crate::model::{
    DeliveryRequest, Discount, Order, OrderEntry, PaidEvent, Promo, References, ShopReference, TypeReference,
};
use crate::placement::{CartSnapshot, ItemKind, Missing, OfferedItem, Packaging, WarehouseStock};
use crate::ports::{CartQuery, CartReader, OrderReader};
use tickets::KnownScan;

/// Storage of one application in memory: prices, places, pays and cancels orders.
///
/// It implements [`CartReader`], [`OrderStore`](crate::ports::OrderStore), [`OrderReader`],
/// [`TicketStore`](crate::ports::TicketStore) and [`ChargeStore`](kontor_payments::ports::ChargeStore), and fulfills the
/// [contract](crate::testing::contract) of these ports. Clones share their data. A write changes a copy of the data, which replaces the data if the write succeeds.
///
/// Limits: it does not change lines of stored orders, reads no filtered lists, saves no payment methods and sends no
/// refunds. A call that needs one of these returns [`StoreError::Failed`] or the refusal of its port.
#[derive(Clone)]
pub struct InMemoryOrders {
    app: AppScope,
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Stock never falls below zero.
    Stock,
    /// An order reserves all of its lines or none.
    Whole,
    /// Promo codes have limits.
    PromoLimit,
    /// A use of a promo code is returned with its order.
    PromoReturn,
    /// Prices are those that the order was decided from.
    Price,
    /// Deleted customers order nothing.
    Customer,
    /// Unconfirmed orders of one phone have bounds.
    Contact,
    /// Stock of canceled orders is released.
    Release,
    /// Units that were taken back are not released again.
    UnitsLeft,
    /// A decision gets the current order.
    Current,
    /// Changes are in the history.
    History,
    /// Only employees of the project are in charge of an order.
    Manager,
    /// One of charges.
    #[cfg(test)]
    Charge(ChargeGuard),
    /// No more tickets are redeemed than an order has.
    Tickets,
    /// A scan is judged once.
    Scan,
}

#[derive(Clone)]
struct State {
    project: ProjectId,
    ids: Sequence,
    items: BTreeMap<NomenclatureId, OfferedItem>,
    discounts: BTreeMap<DiscountId, Discount>,
    /// Discount and customer of every order that uses a promo code.
    uses: BTreeMap<OrderId, (DiscountId, CounterpartyId)>,
    customers: BTreeMap<CounterpartyId, Option<Phone>>,
    employees: BTreeSet<UserId>,
    orders: BTreeMap<OrderId, Order>,
    histories: BTreeMap<OrderId, Vec<OrderEntry>>,
    charges: ChargeBook,
    events: Vec<PaidEvent>,
    scans: Vec<KnownScan>,
    guards: Guards<Guard>,
}

/// Delivery type pickup, with its only shop.
const PICKUP: (i64, i64) = (1, 1);

impl InMemoryOrders {
    /// Creates the storage of an application, without items and customers.
    pub fn new(app: AppScope) -> Self {
        let state = State {
            project: app.project_id,
            ids: Sequence::default(),
            items: BTreeMap::new(),
            discounts: BTreeMap::new(),
            uses: BTreeMap::new(),
            customers: BTreeMap::new(),
            employees: BTreeSet::new(),
            orders: BTreeMap::new(),
            histories: BTreeMap::new(),
            charges: ChargeBook::default(),
            events: Vec::new(),
            scans: Vec::new(),
            guards: Guards::default(),
        };
        Self { app, state: Shared::new(state) }
    }

    /// Changes the data, or nothing if the result is an error.
    fn write<T, E>(&self, write: impl FnOnce(&mut State) -> Result<T, E>) -> Result<T, E> {
        self.state.with(|state| {
            let mut next = state.clone();
            let done = write(&mut next);
            if done.is_ok() || !state.guards.has(Guard::Whole) {
                *state = next;
            }
            done
        })
    }

    /// Adds goods with this many units in a warehouse of the application.
    pub fn add_goods(&self, name: &str, units: u32, price: Money) -> NomenclatureId {
        self.state.with(|state| {
            let place =
                WarehouseStock { inventory: state.ids.id(), warehouse: state.ids.id(), price, available: units };
            state.add_item(name, ItemKind::Goods { places: vec![place] })
        })
    }

    /// Adds an item whose units are tickets, with this stock.
    pub fn add_tickets(&self, name: &str, units: u32, price: Money) -> NomenclatureId {
        let id = self.add_goods(name, units, price);
        self.state.with(|state| {
            if let Some(item) = state.items.get_mut(&id) {
                item.is_ticket = true;
            }
        });
        id
    }

    /// Adds a service.
    pub fn add_service(&self, name: &str, price: Money) -> NomenclatureId {
        self.state.with(|state| state.add_item(name, ItemKind::Service { price }))
    }

    /// Adds a discount under a new identifier. A promo code is a discount with a code.
    pub fn add_discount(&self, discount: Discount) -> DiscountId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.discounts.insert(id, Discount { id, ..discount });
            id
        })
    }

    /// Adds a customer, signed in to the application.
    pub fn add_customer(&self) -> CustomerScope {
        self.state.with(|state| {
            let (counterparty_id, token_id): (_, TokenId) = (state.ids.id(), state.ids.id());
            state.customers.insert(counterparty_id, None);
            CustomerScope { app: self.app, counterparty_id, token_id }
        })
    }

    /// Deletes a customer. Their orders stay.
    pub fn delete_customer(&self, id: CounterpartyId) {
        self.state.with(|state| state.customers.remove(&id));
    }

    /// Adds an employee of the project.
    pub fn add_employee(&self) -> UserId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.employees.insert(id);
            id
        })
    }

    /// Returns the delivery that every order may choose: pickup from the only shop.
    pub fn pickup(&self) -> DeliveryRequest {
        let (delivery_type, shop) = PICKUP;
        DeliveryRequest {
            type_id: numbered::<DeliveryTypeId>(delivery_type),
            subtype_id: None,
            subtype_param_id: None,
            shop_id: Some(numbered::<ShopId>(shop)),
            address: None,
            payment_type_id: None,
        }
    }

    /// Returns the events of paid orders, oldest first.
    pub fn events(&self) -> Vec<PaidEvent> {
        self.state.with(|state| state.events.clone())
    }

    /// Returns a storage of the same application without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let shop = Self::new(kontor_kernel::testing::app_scope(1, 1));
        shop.state.with(|state| {
            state.guards = Guards::without(guard);
            if let Guard::Charge(guard) = guard {
                state.charges.remove_guard(guard);
            }
        });
        shop
    }
}

/// Returns the identifier with a number from 1.
#[expect(clippy::expect_used, reason = "the numbers count from 1")]
fn numbered<Id: TryFrom<i64, Error = InvalidId>>(number: i64) -> Id {
    Id::try_from(number).expect("a number from 1")
}

impl State {
    fn add_item(&mut self, name: &str, kind: ItemKind) -> NomenclatureId {
        let id = self.ids.id();
        let item = OfferedItem {
            id,
            name: name.to_owned(),
            categories: Vec::new(),
            kind,
            packaging: Packaging { wholesale: false, pieces_per_pack: 1 },
            vat: None,
            is_ticket: false,
        };
        self.items.insert(id, item);
        id
    }

    /// Automatic discounts that may apply to these items.
    fn automatic(&self, items: &[NomenclatureId]) -> impl Iterator<Item = &Discount> {
        self.discounts.values().filter(move |discount| {
            let of_items = match discount.target {
                DiscountTarget::Product(item) => items.contains(&item),
                DiscountTarget::Cart | DiscountTarget::Category(_) => true,
            };
            discount.code.is_none() && discount.status == DiscountStatus::Active && of_items
        })
    }

    /// Number of the customer's orders that use the discount.
    fn used_by(&self, discount: DiscountId, customer: CounterpartyId) -> u64 {
        let uses = self.uses.values().filter(|used| **used == (discount, customer));
        u64::try_from(uses.count()).unwrap_or(u64::MAX)
    }

    /// Order as it is read: with the state of its payment.
    fn order(&self, id: OrderId) -> Option<Order> {
        let payment_open = self.charges.open_for(ChargePurpose::Order(id)).is_some();
        self.orders.get(&id).map(|order| Order { payment_open, ..order.clone() })
    }

    fn snapshot(&self, query: &CartQuery, app: AppScope) -> CartSnapshot {
        let is_sold = |id: ApplicationId| id == app.application_id;
        let sells = query.point.project_id == app.project_id && query.point.application_id.is_none_or(is_sold);
        let named = |item: &&OfferedItem| sells && query.items.contains(&item.id);
        let promo = query.promo.as_ref().map(|code| {
            let coded = |discount: &&Discount| discount.code.as_deref() == Some(code.as_str());
            let discount = self.discounts.values().find(coded).cloned();
            let used = discount.as_ref().zip(query.customer);
            Promo { used_by_customer: used.map_or(0, |(discount, by)| self.used_by(discount.id, by)), discount }
        });
        let (delivery_type, shop) = PICKUP;
        let delivery = query.delivery.as_ref();
        let references = References {
            delivery_type: delivery.filter(|chosen| chosen.type_id.get() == delivery_type).map(|_| TypeReference {
                name: "Pickup".to_owned(),
                price: Money::ZERO,
                is_active: true,
            }),
            shop: delivery
                .filter(|chosen| chosen.shop_id.is_some_and(|id| id.get() == shop))
                .map(|_| ShopReference { is_active: true, address: "Square 1".to_owned() }),
            ..References::default()
        };
        CartSnapshot {
            currency: "RUB".to_owned(),
            items: self.items.values().filter(named).cloned().collect(),
            automatic: self.automatic(&query.items).cloned().collect(),
            promo,
            references,
            missing: Missing {
                application: query.by_staff && !sells,
                customer: query.by_staff && query.customer.is_some_and(|id| !self.customers.contains_key(&id)),
            },
            phone: query.customer.and_then(|id| self.customers.get(&id).cloned().flatten()),
            ..CartSnapshot::default()
        }
    }
}

#[async_trait]
impl CartReader for InMemoryOrders {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        Ok(self.state.with(|state| state.snapshot(&query, self.app)))
    }
}

#[async_trait]
impl OrderReader for InMemoryOrders {
    async fn find(&self, id: OrderId) -> Result<Option<ProjectScoped<Order>>, StoreError> {
        Ok(self.state.with(|state| state.order(id).map(|order| ProjectScoped::new(state.project, order))))
    }

    async fn of_customer(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Order>, StoreError> {
        let own = |order: &Order| {
            let application = order.application.as_ref().map(|application| application.id);
            order.customer.id == customer.counterparty_id && application == Some(customer.app.application_id)
        };
        let newest =
            self.state.with(|state| state.orders.keys().rev().filter_map(|id| state.order(*id)).filter(own).collect());
        Ok(Page::of(newest, page))
    }

    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.project == project && state.employees.contains(&user)))
    }

    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError> {
        let entries = self.state.with(|state| state.histories.get(&order).cloned().unwrap_or_default());
        Ok(Page::of(entries.into_iter().rev().collect(), page))
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError> {
        let newest = self.state.with(|state| {
            let own = state.orders.keys().rev().filter(|_| state.project == project);
            own.filter_map(|id| state.order(*id)).collect()
        });
        listing.page_of(newest)
    }
}
