//! Brands of the storefront.

use actix_web::get;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use kontor_catalog::storefront::{StorefrontBrand, StorefrontService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::queries::{StorefrontBrandQuery, limit};
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::wire::PhotoRecord;
use kontor_web::{CallingApp, Unpaged};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_brands);
}

#[derive(Serialize, ToSchema)]
pub(super) struct StorefrontBrandRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<StorefrontBrand> for StorefrontBrandRecord {
    fn from(brand: StorefrontBrand) -> Self {
        let photo = brand.photo.as_ref().map(Into::into);
        Self { id: brand.id.get(), name: brand.name.into(), photo, created_at: brand.created_at }
    }
}

list!(StorefrontBrandList { brands: [StorefrontBrandRecord], brands_count });

/// List the application's brands
///
/// Brands are ordered by priority, highest first.
#[utoipa::path(
    tag = "Client: dictionaries",
    params(StorefrontBrandQuery),
    responses((status = 200, body = StorefrontBrandList)),
)]
#[get("/api/counterparty/brands")]
async fn list_brands(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Unpaged<StorefrontBrandQuery>,
) -> Answer<StorefrontBrandList> {
    answer(service.brands(*app, limit(query.0.limit.as_ref())?).await?)
}
