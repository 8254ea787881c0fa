//! Changes of lists, for programs that keep a copy of them.

use actix_web::get;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::{InventoryService, NomenclatureService};
use kontor_customers::StaffCustomerService;
use kontor_kernel::listing::Sort;
use kontor_kernel::{ChangeCursor, ChangeService, ChangedList, Changes, CursorRefusal, Listing, Staff, Violations};
use kontor_orders::OrderService;
use kontor_subscriptions::StaffSubscriptions;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::customers::StaffCustomerRecord;
use crate::inventories::InventoryRecord;
use crate::nomenclatures::NomenclatureRecord;
use crate::orders::StaffOrder;
use crate::subscriptions::StaffSubscription;
use kontor_web::envelope::{Answer, answer};
use kontor_web::paging::{PageSize, page_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Query, Service, Settings, SignedInStaff};

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
    log: Service<ChangeService>,
    service: Service<StaffCustomerService>,
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
    log: Service<ChangeService>,
    service: Service<InventoryService>,
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
    log: Service<ChangeService>,
    service: Service<NomenclatureService>,
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
    log: Service<ChangeService>,
    service: Service<OrderService>,
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
    log: Service<ChangeService>,
    service: Service<StaffSubscriptions>,
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

/// Start position and page size.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChangesQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[deserr(default)]
    #[param(value_type = Option<String>, format = DateTime)]
    updated_since: Option<wire::Moment>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    cursor: Option<wire::Line250>,
    /// At most 100, 100 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl ChangesQuery {
    /// Reads the changes of the list, and the records that still exist.
    async fn read(
        &self,
        staff: &Staff,
        service: &ChangeService,
        list: ChangedList,
    ) -> Result<(Changes, Option<Listing>), ApiError> {
        let page = page_of(None, self.per_page.as_ref(), 100)?;
        let limit = u32::try_from(page.limit()).unwrap_or(u32::MAX);
        let changes = match (&self.cursor, &self.updated_since) {
            (None, since) => service.since(staff, list, since.as_ref().map(|since| since.0), limit).await?,
            (Some(cursor), None) => service.after(staff, list, place(cursor)?, limit).await?,
            (Some(_), Some(_)) => {
                return Err(ApiError::invalid("updated_since", "must not be sent together with a cursor"));
            }
        };
        let listing = (!changes.changed.is_empty())
            .then(|| Listing::unfiltered(Sort::ascending("id"), page).among("id", changes.changed.iter().copied()));
        Ok((changes, listing))
    }
}

fn place(cursor: &wire::Line250) -> Result<ChangeCursor, Violations> {
    cursor.0.parse().map_err(|refusal: CursorRefusal| Violations::single("cursor", refusal))
}

/// Defines the response of one record type: `changed_records!(ChangedOrders [StaffOrder]);`.
macro_rules! changed_records {
    ($name:ident [$record:ty]) => {
        /// Part of the changes of a list.
        #[derive(Serialize, ToSchema)]
        struct $name {
            /// Current records, ordered by the time of change, oldest first.
            data: Vec<$record>,
            /// Ids of deleted records.
            deleted: Vec<i64>,
            /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
            next_cursor: String,
            /// `true` if more changes are available now.
            has_more: bool,
            /// Deletions before this time are not reported.
            deletions_since: DateTime<Utc>,
        }

        impl $name {
            /// Builds the response. `records` may be in any order. Records deleted in the meantime are missing and are
            /// reported with the next part.
            fn new<R>(changes: Changes, mut records: Vec<R>, id: fn(&R) -> i64, record: impl Fn(R) -> $record) -> Self {
                records.sort_by_cached_key(|record| changes.changed.iter().position(|changed| *changed == id(record)));
                Self {
                    data: records.into_iter().map(record).collect(),
                    deleted: changes.deleted,
                    next_cursor: changes.next.to_string(),
                    has_more: changes.has_more,
                    deletions_since: changes.deletions_since,
                }
            }
        }
    };
}

changed_records!(ChangedCounterparties[StaffCustomerRecord]);
changed_records!(ChangedInventories[InventoryRecord]);
changed_records!(ChangedNomenclatures[NomenclatureRecord]);
changed_records!(ChangedOrders[StaffOrder]);
changed_records!(ChangedSubscriptions[StaffSubscription]);
