//! Categories of the storefront.

use actix_web::get;
use actix_web::web::Data;
use kontor_catalog::storefront::{StorefrontCategory, StorefrontService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::queries::{StorefrontCategoryQuery, limit};
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::wire::{NamedRecord, PhotoRecord};
use kontor_web::{CallingApp, Unpaged};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_categories);
}

#[derive(Serialize, ToSchema)]
pub(super) struct StorefrontCategoryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    /// Parent category. `null` for a root category.
    parent: Option<NamedRecord>,
}

impl From<StorefrontCategory> for StorefrontCategoryRecord {
    fn from(category: StorefrontCategory) -> Self {
        Self {
            id: category.id.get(),
            name: category.name.into(),
            photo: category.photo.as_ref().map(Into::into),
            parent: category.parent.map(Into::into),
        }
    }
}

list!(StorefrontCategoryList { categories: [StorefrontCategoryRecord], categories_count });

/// List the application's categories
///
/// Without `parent_id`, returns the root categories, ordered by position. With it, returns the direct children of that
/// category, ordered by name.
#[utoipa::path(
    tag = "Client: dictionaries",
    params(StorefrontCategoryQuery),
    responses((status = 200, body = StorefrontCategoryList)),
)]
#[get("/api/counterparty/categories")]
async fn list_categories(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Unpaged<StorefrontCategoryQuery>,
) -> Answer<StorefrontCategoryList> {
    let limit = limit(query.0.limit.as_ref())?;
    answer(service.categories(*app, query.0.parent_id.map(|id| id.0), limit).await?)
}
