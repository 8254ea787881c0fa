//! Stock: how many pieces of an item lie in a warehouse, and what one costs there.

mod query;
mod record;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{get, post};
use deserr::Deserr;
use kontor_catalog::model::InventoryDraft;
use kontor_catalog::{InventoryError, InventoryReference, InventoryService};
use kontor_kernel::Violations;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::query::InventoryQuery;
use self::record::{InventoryList, OneInventory, TABLE};
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, Query, SignedInStaff};
use crate::table::TableAnswer;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_inventories).service(inventories_table).service(create_inventory);
}

impl From<InventoryError> for ApiError {
    fn from(error: InventoryError) -> Self {
        match error {
            InventoryError::Denied(denied) => denied.into(),
            InventoryError::NotFound => Self::not_found(),
            InventoryError::UnknownReferences(references) => {
                let mut violations = Violations::default();
                for reference in references {
                    match reference {
                        InventoryReference::Warehouse => {
                            violations.add("warehouse_id", "names no warehouse of the project");
                        }
                        InventoryReference::Nomenclature => {
                            violations.add("nomenclature_id", "names no item of the project");
                        }
                    }
                }
                violations.into()
            }
            InventoryError::NotStocked => Self::invalid("nomenclature_id", "must name goods"),
            InventoryError::AlreadyStocked => Self::invalid("nomenclature_id", "already has stock in this warehouse"),
            InventoryError::BelowReserved { .. } => Self::invalid("quantity", error),
            InventoryError::Store(error) => error.into(),
        }
    }
}

/// The stock of the project.
#[utoipa::path(
    tag = "Stock",
    params(InventoryQuery),
    responses((status = 200, body = InventoryList)),
)]
#[get("/api/inventories")]
async fn list_inventories(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    query: Query<InventoryQuery>,
) -> Result<Json<InventoryList>, ApiError> {
    let page = query.0.page(100)?;
    Ok(Json(service.list(&staff, query.0.into(), page).await?.into()))
}

/// The stock of the project as a table.
#[utoipa::path(
    tag = "Stock",
    params(InventoryQuery),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/inventories")]
async fn inventories_table(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    query: Query<InventoryQuery>,
) -> Result<Json<TableAnswer>, ApiError> {
    let page = query.0.page(15)?;
    Ok(Json(TABLE.render(&service.list(&staff, query.0.into(), page).await?)))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewInventory {
    warehouse_id: wire::WarehouseId,
    /// Goods.
    nomenclature_id: wire::NomenclatureId,
    quantity: wire::StockLevel,
    /// The price of one piece.
    price: wire::Money,
}

/// Adds stock of goods to a warehouse that has none of them.
#[utoipa::path(
    tag = "Stock",
    request_body = NewInventory,
    responses((status = 201, body = OneInventory)),
)]
#[post("/api/inventories")]
async fn create_inventory(
    staff: SignedInStaff,
    service: Data<InventoryService>,
    body: Body<NewInventory>,
) -> Result<(Json<OneInventory>, StatusCode), ApiError> {
    let new = body.0;
    let draft = InventoryDraft {
        warehouse_id: new.warehouse_id.0,
        nomenclature_id: new.nomenclature_id.0,
        quantity: new.quantity.0,
        price: new.price.0,
    };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}
