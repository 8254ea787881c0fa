//! Categories of a project.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json};
use actix_web::{get, post};
use deserr::Deserr;
use kontor_catalog::model::{Category, CategoryDraft};
use kontor_catalog::{CategoryError, CategoryService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::wire::{self, InputErrors, NamedRecord, PhotoRecord, ZeroIsNull};
use crate::http::{ApiError, Body, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_categories).service(create_category);
}

impl From<CategoryError> for ApiError {
    fn from(error: CategoryError) -> Self {
        match error {
            CategoryError::Denied(denied) => denied.into(),
            CategoryError::UnknownParent => Self::invalid("parent_id", "names no category of the project"),
            CategoryError::CodeTaken => Self::invalid("code", "is the code of another category"),
            CategoryError::Store(error) => error.into(),
        }
    }
}

/// A category as staff see it.
#[derive(Serialize, ToSchema)]
pub(super) struct CategoryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    parent: Option<NamedRecord>,
    code: i64,
    /// HTML.
    description: Option<String>,
}

impl From<Category> for CategoryRecord {
    fn from(category: Category) -> Self {
        Self {
            id: category.id.get(),
            name: category.name.into(),
            photo: category.photo.as_ref().map(Into::into),
            parent: category.parent.map(Into::into),
            code: category.code.get(),
            description: category.description.map(Into::into),
        }
    }
}

/// A list of categories.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CategoryList {
    categories: Vec<CategoryRecord>,
    categories_count: usize,
}

impl From<Vec<Category>> for CategoryList {
    fn from(categories: Vec<Category>) -> Self {
        Self { categories_count: categories.len(), categories: categories.into_iter().map(Into::into).collect() }
    }
}

/// One category.
#[derive(Serialize, ToSchema)]
pub(super) struct OneCategory {
    category: CategoryRecord,
}

impl From<Category> for OneCategory {
    fn from(category: Category) -> Self {
        Self { category: category.into() }
    }
}

/// Every category of the project.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = CategoryList)))]
#[get("/api/categories")]
async fn list_categories(staff: SignedInStaff, service: Data<CategoryService>) -> Result<Json<CategoryList>, ApiError> {
    Ok(Json(service.list(&staff).await?.into()))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewCategory {
    name: wire::Name,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryId>)]
    parent_id: ZeroIsNull<wire::CategoryId>,
    /// Without a code the category gets the next after the largest.
    #[deserr(default)]
    code: Option<wire::CategoryCode>,
    /// HTML.
    #[deserr(default)]
    description: Option<wire::Prose>,
}

/// Adds a category.
#[utoipa::path(
    tag = "Catalog",
    request_body = NewCategory,
    responses((status = 201, body = OneCategory)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[post("/api/categories")]
async fn create_category(
    staff: SignedInStaff,
    service: Data<CategoryService>,
    body: Body<NewCategory>,
) -> Result<(Json<OneCategory>, StatusCode), ApiError> {
    let new = body.0;
    let draft = CategoryDraft {
        name: new.name.0,
        photo: new.photo.map(|photo| photo.0),
        parent_id: new.parent_id.0.map(|parent| parent.0),
        code: new.code.map(|code| code.0),
        description: new.description.map(|description| description.0),
    };
    Ok((Json(service.create(&staff, draft).await?.into()), StatusCode::CREATED))
}
