//! Categories the application shows.

use actix_web::get;
use actix_web::web::{Data, Json};
use deserr::Deserr;
use kontor_catalog::storefront::{ShelfCategory, StorefrontService};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::wire::{self, InputErrors, NamedRecord, PhotoRecord};
use crate::http::{ApiError, CallingApp, Query};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_categories);
}

/// The most records a list can be limited to: a whole number of at least 1.
pub(super) fn limit(limit: Option<&wire::Integer>) -> Result<Option<u32>, ApiError> {
    let checked = limit.map(|limit| match u32::try_from(limit.0) {
        Ok(limit) if limit >= 1 => Ok(limit),
        _ => Err(ApiError::invalid("limit", "must be a whole number of at least 1")),
    });
    checked.transpose()
}

#[derive(Serialize, ToSchema)]
struct ShelfCategoryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    parent: Option<NamedRecord>,
}

impl From<ShelfCategory> for ShelfCategoryRecord {
    fn from(category: ShelfCategory) -> Self {
        Self {
            id: category.id.get(),
            name: category.name.into(),
            photo: category.photo.as_ref().map(Into::into),
            parent: category.parent.map(Into::into),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ShelfCategoryList {
    categories: Vec<ShelfCategoryRecord>,
    categories_count: usize,
}

#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShelfCategoryQuery {
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    limit: Option<wire::Integer>,
    /// Without it the root categories of the application.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    parent_id: Option<wire::CategoryId>,
}

/// The root categories of the application by position, or those right below a category by name.
#[utoipa::path(
    tag = "Client: dictionaries",
    security(("app_token" = [])),
    params(ShelfCategoryQuery),
    responses((status = 200, body = ShelfCategoryList)),
)]
#[get("/api/counterparty/categories")]
async fn list_categories(
    app: CallingApp,
    service: Data<StorefrontService>,
    query: Query<ShelfCategoryQuery>,
) -> Result<Json<ShelfCategoryList>, ApiError> {
    let limit = limit(query.0.limit.as_ref())?;
    let categories = service.categories(*app, query.0.parent_id.map(|id| id.0), limit).await?;
    let categories: Vec<ShelfCategoryRecord> = categories.into_iter().map(Into::into).collect();
    Ok(Json(ShelfCategoryList { categories_count: categories.len(), categories }))
}
