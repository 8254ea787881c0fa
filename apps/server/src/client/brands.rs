//! Brands the application shows.

use actix_web::get;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::storefront::{ShelfBrand, StorefrontService};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use super::categories::limit;
use crate::http::wire::{self, InputErrors, PhotoRecord};
use crate::http::{ApiError, CallingApp, Query};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_brands);
}

#[derive(Serialize, ToSchema)]
struct ShelfBrandRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<ShelfBrand> for ShelfBrandRecord {
    fn from(brand: ShelfBrand) -> Self {
        let photo = brand.photo.as_ref().map(Into::into);
        Self { id: brand.id.get(), name: brand.name.into(), photo, created_at: brand.created_at }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ShelfBrandList {
    brands: Vec<ShelfBrandRecord>,
    brands_count: usize,
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShelfBrandQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    limit: Option<wire::Integer>,
}

/// The brands of the application, highest priority first.
#[utoipa::path(
    tag = "Client: dictionaries",
    security(("app_token" = [])),
    params(ShelfBrandQuery),
    responses((status = 200, body = ShelfBrandList)),
)]
#[get("/api/counterparty/brands")]
async fn list_brands(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Query<ShelfBrandQuery>,
) -> Result<Json<ShelfBrandList>, ApiError> {
    let brands = service.brands(*app, limit(query.0.limit.as_ref())?).await?;
    let brands: Vec<ShelfBrandRecord> = brands.into_iter().map(Into::into).collect();
    Ok(Json(ShelfBrandList { brands_count: brands.len(), brands }))
}
