//! Warehouses of a project.

use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::WarehouseService;
use kontor_catalog::model::{Warehouse, WarehouseChange, WarehouseDraft};
use kontor_kernel::BranchId;
use kontor_kernel::listing::Sort;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::table::{Asked, Cell, Column, Filter, Table, TableAnswer, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(create_warehouse)
        .service(show_warehouse)
        .service(update_warehouse)
        .service(delete_warehouse)
        .service(warehouse_history);
}

/// Registers the table, whose path is outside the prefix of the other routes.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(warehouses_table);
}

#[derive(Serialize, ToSchema)]
struct WarehouseRecord {
    id: i64,
    name: String,
    address: Option<String>,
    branch: NamedRecord,
    /// Applications that sell from the warehouse.
    applications: Vec<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Warehouse> for WarehouseRecord {
    fn from(warehouse: Warehouse) -> Self {
        Self {
            id: warehouse.id.get(),
            name: warehouse.name.into(),
            address: warehouse.address.map(Into::into),
            branch: warehouse.branch.into(),
            applications: warehouse.applications.into_iter().map(Into::into).collect(),
            created_at: warehouse.created_at,
            updated_at: warehouse.updated_at,
        }
    }
}

one!(OneWarehouse { warehouse: WarehouseRecord });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewWarehouse {
    name: wire::Name,
    branch_id: wire::BranchId,
    #[deserr(default)]
    address: Option<wire::Line500>,
    /// Ids of applications that sell from the warehouse. By default, all applications of the branch.
    #[deserr(default)]
    application_ids: Option<Vec<wire::ApplicationId>>,
}

/// Create a warehouse
#[utoipa::path(
    tag = "Warehouses",
    request_body = NewWarehouse,
    responses((status = 201, body = OneWarehouse)),
)]
#[post("/api/warehouses")]
async fn create_warehouse(
    staff: SignedInStaff,
    service: Data<WarehouseService>,
    body: Body<NewWarehouse>,
) -> Created<OneWarehouse> {
    let new = body.0;
    let draft = WarehouseDraft {
        name: new.name.0,
        address: new.address.map(|address| address.0),
        branch_id: new.branch_id.0,
        application_ids: new.application_ids.map(|ids| ids.into_iter().map(|id| id.0).collect()),
    };
    created(service.create(&staff, draft).await?)
}

/// Get a warehouse
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path)),
    responses((status = 200, body = OneWarehouse)),
)]
#[get("/api/warehouses/{id}")]
async fn show_warehouse(
    staff: SignedInStaff,
    service: Data<WarehouseService>,
    id: Path<PathId>,
) -> Answer<OneWarehouse> {
    answer(service.read(&staff, id.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedWarehouse {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BranchId>, nullable = false)]
    branch_id: NonNullPatch<wire::BranchId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    address: Patch<wire::Line500>,
    /// Ids of applications that sell from the warehouse. Replaces the whole list.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::ApplicationId>>, nullable = false)]
    application_ids: NonNullPatch<Vec<wire::ApplicationId>>,
}

/// Update a warehouse
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path)),
    request_body = ChangedWarehouse,
    responses((status = 200, body = OneWarehouse)),
)]
#[put("/api/warehouses/{id}")]
async fn update_warehouse(
    staff: SignedInStaff,
    service: Data<WarehouseService>,
    id: Path<PathId>,
    body: Body<ChangedWarehouse>,
) -> Answer<OneWarehouse> {
    let changed = body.0;
    let change = WarehouseChange {
        name: changed.name.into(),
        address: changed.address.into(),
        branch_id: changed.branch_id.into(),
        application_ids: changed.application_ids.into(),
    };
    answer(service.update(&staff, id.parse()?, change).await?)
}

/// Delete a warehouse
///
/// The warehouse must be empty.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path)),
    responses((status = 200, body = Message), (status = 422, description = "The warehouse has stock.")),
)]
#[delete("/api/warehouses/{id}")]
async fn delete_warehouse(staff: SignedInStaff, service: Data<WarehouseService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    Ok(Json(Message::new("The warehouse was deleted.")))
}

/// List the history of a warehouse
///
/// Newest first.
#[utoipa::path(
    tag = "Warehouses",
    params(("id" = i64, Path), PageQuery),
    responses((status = 200, body = HistoryList)),
)]
#[get("/api/warehouses/{id}/history")]
async fn warehouse_history(
    staff: SignedInStaff,
    service: Data<WarehouseService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}

/// List warehouses as a table
#[utoipa::path(
    tag = "Warehouses",
    params(WarehouseParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/warehouses")]
async fn warehouses_table(staff: SignedInStaff, service: Data<WarehouseService>, asked: Asked) -> Answer<TableAnswer> {
    Ok(Json(TABLE.render(&service.list(&staff, TABLE.listing(asked, 15)?).await?)))
}

const TABLE: Table<Warehouse> = Table {
    id: 11,
    resource: "warehouses",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |place| Cell::plain(place.id.get())),
        Column::with_icon("name", "Name", |place| {
            Cell::linked(place.name.as_str(), format!("/api/warehouses/{}", place.id))
        }),
        Column::new("address", "Address", |place| Cell::plain(place.address.as_deref())),
        Column::with_icon("branch", "Branch", |place| {
            Cell::linked(place.branch.name.as_str(), format!("/api/branches/{}", place.branch.id))
        }),
        Column::new("applications", "Applications", |place| {
            let names: Vec<&str> = place.applications.iter().map(|one| one.name.as_str()).collect();
            Cell::plain(names.join(", "))
        }),
        Column::new("created_at", "Created", |place| Cell::moment(place.created_at)),
        Column::new("updated_at", "Changed", |place| Cell::moment(place.updated_at)),
    ],
    sorts: &["id", "name", "created_at", "updated_at"],
    filters: &[Filter::id::<BranchId>("branch_id", "Of these branches.")],
    search: None,
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/warehouses`.
    WarehouseParams of TABLE
}
