//! Changes of lists, for programs that keep a copy of them.

mod query;
mod record;

use actix_web::get;
use actix_web::web::Data;
use kontor_catalog::{InventoryService, NomenclatureService};
use kontor_customers::StaffCustomerService;
use kontor_kernel::{ChangeService, ChangedList};
use kontor_orders::OrderService;
use kontor_subscriptions::StaffSubscriptions;
use utoipa_actix_web::service_config::ServiceConfig;

use self::query::ChangesQuery;
use self::record::{
    ChangedCounterparties, ChangedInventories, ChangedNomenclatures, ChangedOrders, ChangedSubscriptions,
};
use super::customers::StaffCustomerRecord;
use kontor_web::Settings;
use kontor_web::envelope::{Answer, answer};
use kontor_web::{Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_changed_counterparties).service(list_changed_inventories).service(list_changed_nomenclatures);
    config.service(list_changed_orders).service(list_changed_subscriptions);
}

/// Reads the records of `$service` whose ids are in the changes.
macro_rules! changed {
    ($staff:ident, $log:ident, $query:ident, $list:ident, $service:ident, $answer:ident, $id:expr, $record:expr) => {{
        let (changes, listing) = $query.0.read(&$staff, &$log, ChangedList::$list).await?;
        let records = match listing {
            Some(listing) => $service.list(&$staff, listing).await?.items,
            None => Vec::new(),
        };
        answer($answer::new(changes, records, $id, $record))
    }};
}

/// List changed customers
///
/// Ordered by the time of change, oldest first.
#[utoipa::path(tag = "Customers", params(ChangesQuery), responses((status = 200, body = ChangedCounterparties)))]
#[get("/api/changes/counterparties")]
async fn list_changed_counterparties(
    staff: SignedInStaff,
    log: Data<ChangeService>,
    service: Data<StaffCustomerService>,
    config: Data<Settings>,
    query: Query<ChangesQuery>,
) -> Answer<ChangedCounterparties> {
    let record = |customer| StaffCustomerRecord::of(customer, &config);
    changed!(
        staff,
        log,
        query,
        Counterparties,
        service,
        ChangedCounterparties,
        |customer| customer.record.id.get(),
        record
    )
}

/// List changed stock
///
/// Ordered by the time of change, oldest first.
#[utoipa::path(tag = "Stock", params(ChangesQuery), responses((status = 200, body = ChangedInventories)))]
#[get("/api/changes/inventories")]
async fn list_changed_inventories(
    staff: SignedInStaff,
    log: Data<ChangeService>,
    service: Data<InventoryService>,
    query: Query<ChangesQuery>,
) -> Answer<ChangedInventories> {
    changed!(staff, log, query, Inventories, service, ChangedInventories, |stock| stock.id.get(), Into::into)
}

/// List changed items
///
/// Ordered by the time of change, oldest first.
#[utoipa::path(tag = "Catalog", params(ChangesQuery), responses((status = 200, body = ChangedNomenclatures)))]
#[get("/api/changes/nomenclatures")]
async fn list_changed_nomenclatures(
    staff: SignedInStaff,
    log: Data<ChangeService>,
    service: Data<NomenclatureService>,
    query: Query<ChangesQuery>,
) -> Answer<ChangedNomenclatures> {
    changed!(staff, log, query, Nomenclatures, service, ChangedNomenclatures, |item| item.id.get(), Into::into)
}

/// List changed orders
///
/// Ordered by the time of change, oldest first.
#[utoipa::path(tag = "Orders", params(ChangesQuery), responses((status = 200, body = ChangedOrders)))]
#[get("/api/changes/orders")]
async fn list_changed_orders(
    staff: SignedInStaff,
    log: Data<ChangeService>,
    service: Data<OrderService>,
    query: Query<ChangesQuery>,
) -> Answer<ChangedOrders> {
    changed!(staff, log, query, Orders, service, ChangedOrders, |order| order.id.get(), Into::into)
}

/// List changed subscriptions
///
/// Ordered by the time of change, oldest first.
#[utoipa::path(tag = "Subscriptions", params(ChangesQuery), responses((status = 200, body = ChangedSubscriptions)))]
#[get("/api/changes/subscriptions")]
async fn list_changed_subscriptions(
    staff: SignedInStaff,
    log: Data<ChangeService>,
    service: Data<StaffSubscriptions>,
    query: Query<ChangesQuery>,
) -> Answer<ChangedSubscriptions> {
    changed!(
        staff,
        log,
        query,
        Subscriptions,
        service,
        ChangedSubscriptions,
        |one| one.view.subscription.id.get(),
        Into::into
    )
}
