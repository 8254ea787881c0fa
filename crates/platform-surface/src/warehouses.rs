//! Warehouses of a project.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::WarehouseService;
use kontor_catalog::model::{Warehouse, WarehouseChange, WarehouseDraft};
use kontor_kernel::BranchId;
use kontor_kernel::listing::Sort;
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::HistoryList;
use kontor_web::envelope::one;
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};

handlers! {
    fn table_routes; WarehouseService, "Warehouses";

    /// List warehouses as a table
    table "/api/tables/warehouses" as list_warehouses_table(WarehouseParams) = list() -> TABLE;
}

handlers! {
    WarehouseService, "Warehouses";

    /// Create a warehouse
    create "/api/warehouses" as create_warehouse(NewWarehouse) -> WarehouseResponse;

    /// Get a warehouse
    read "/api/warehouses/{id}" as show_warehouse -> WarehouseResponse;

    /// Update a warehouse
    ///
    /// Fields that are not sent keep their values.
    update "/api/warehouses/{id}" as update_warehouse(ChangedWarehouse) -> WarehouseResponse;

    /// Delete a warehouse
    ///
    /// The warehouse must be empty.
    delete "/api/warehouses/{id}" as delete_warehouse -> "The warehouse was deleted.",
        422 "The warehouse has stock.";

    /// List the history of a warehouse
    ///
    /// Newest first.
    history "/api/warehouses/{id}/history" as list_warehouse_history -> HistoryList;
}

one!(WarehouseResponse { warehouse: WarehouseRecord });

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

into_domain!(NewWarehouse => WarehouseDraft { name, branch_id, address, application_ids });

change_body! {
    ChangedWarehouse => WarehouseChange {
        name: wire::Name,
        branch_id: wire::BranchId,
        address: wire::Line500 | null,
        /// Ids of applications that sell from the warehouse. Replaces the whole list.
        application_ids: Vec<wire::ApplicationId>,
    }
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
