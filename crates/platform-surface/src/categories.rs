//! Categories of a project.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::CategoryService;
use kontor_catalog::model::{Category, CategoryChange, CategoryDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch, PhotoRecord, ZeroIsNull, into_domain};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_categories).service(create_category);
    below(config, "/api/categories", |config| {
        config.service(update_category).service(list_category_history);
    });
}

/// Category as shown to staff.
#[derive(Serialize, ToSchema)]
pub(super) struct CategoryRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    /// Parent category. `null` for a root category.
    parent: Option<NamedRecord>,
    /// Code of the category, unique in the project.
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

list!(/// Categories.
    pub(super) CategoryList { categories: [CategoryRecord], categories_count });
one!(/// Category.
    pub(super) CategoryResponse { category: CategoryRecord });

/// List categories
///
/// Returns every category of the project.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = CategoryList)))]
#[get("/api/categories")]
async fn list_categories(staff: SignedInStaff, service: Data<CategoryService>) -> Answer<CategoryList> {
    answer(service.list(&staff).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewCategory {
    name: wire::Name,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    /// Parent category. Without it, the category is a root.
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryId>)]
    parent_id: ZeroIsNull<wire::CategoryId>,
    /// Unique code. By default, one more than the largest code.
    #[deserr(default)]
    code: Option<wire::CategoryCode>,
    /// HTML.
    #[deserr(default)]
    description: Option<wire::Prose>,
}

into_domain!(NewCategory => CategoryDraft { name, photo, parent_id, code, description });

/// Create a category
#[utoipa::path(
    tag = "Catalog",
    request_body = NewCategory,
    responses((status = 201, body = CategoryResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[post("/api/categories")]
async fn create_category(
    staff: SignedInStaff,
    service: Data<CategoryService>,
    body: Body<NewCategory>,
) -> Created<CategoryResponse> {
    created(service.create(&staff, body.0.into()).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedCategory {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    photo: Patch<wire::PhotoUrl>,
    /// `null` makes the category a root.
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryId>)]
    parent_id: Patch<ZeroIsNull<wire::CategoryId>>,
    /// Unique code.
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryCode>, nullable = false)]
    code: NonNullPatch<wire::CategoryCode>,
    /// HTML.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Prose>)]
    description: Patch<wire::Prose>,
}

into_domain!(ChangedCategory => CategoryChange { name, photo, parent_id, code, description });

/// Update a category
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Catalog",
    params(("id" = i64, Path)),
    request_body = ChangedCategory,
    responses((status = 200, body = CategoryResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[put("/api/categories/{id}")]
async fn update_category(
    staff: SignedInStaff,
    service: Data<CategoryService>,
    id: Path<PathId>,
    body: Body<ChangedCategory>,
) -> Answer<CategoryResponse> {
    answer(service.update(&staff, id.parse()?, body.0.into()).await?)
}

/// List the history of a category
///
/// Newest first.
#[utoipa::path(
    tag = "Catalog",
    params(("id" = i64, Path), PageQuery),
    responses((status = 200, body = HistoryList)),
)]
#[get("/api/categories/{id}/history")]
async fn list_category_history(
    staff: SignedInStaff,
    service: Data<CategoryService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}
