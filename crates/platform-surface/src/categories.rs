//! Categories of a project, and tables of categories and brands: of the project, of a parent category, of an
//! application.

use actix_web::web::Path;
use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::model::{Brand, Category, CategoryChange, CategoryDraft};
use kontor_catalog::{AssortmentService, CategoryService};
use kontor_kernel::CategoryId;
use kontor_kernel::listing::Sort;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::path::below;
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, ZeroIsNull, change_body, into_domain};
use kontor_web::{HistoryList, PathId, Service, SignedInStaff};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, TableAnswer, TableRequest, list_params};

handlers! {
    CategoryService, "Catalog";

    /// List categories
    ///
    /// Returns every category of the project.
    list "/api/categories" as list_categories -> CategoryList;

    /// Create a category
    create "/api/categories" as create_category(NewCategory) -> CategoryResponse zero ["parent_id"];

    /// Update a category
    ///
    /// Fields that are not sent keep their values.
    update "/api/categories/{id}" as update_category(ChangedCategory) -> CategoryResponse zero ["parent_id"];

    /// List the history of a category
    ///
    /// Newest first.
    history "/api/categories/{id}/history" as list_category_history -> HistoryList;
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

change_body! {
    ChangedCategory => CategoryChange {
        name: wire::Name,
        photo: wire::PhotoUrl | null,
        /// `null` makes the category a root.
        parent_id: wire::CategoryId | null | 0,
        /// Unique code.
        code: wire::CategoryCode,
        /// HTML.
        description: wire::Prose | null,
    }
}

pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    below(config, "/api/tables/categories", |config| {
        config.service(list_categories_table).service(list_subcategories_table);
    });
    config.service(list_application_categories_table).service(list_application_brands_table);
}

fn named(category: &Category) -> Cell {
    Cell::Linked {
        value: category.name.as_str().into(),
        icon: category.photo.as_ref().map(ToString::to_string),
        link: Some(format!("/api/tables/categories/{}", category.id)),
    }
}

fn parent(category: &Category) -> Cell {
    Cell::plain(category.parent.as_ref().map(|parent| parent.name.as_str()))
}

/// Table of `GET /api/tables/categories`.
const CATEGORIES: Table<Category> = Table {
    id: 31,
    resource: "categories",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |category| Cell::plain(category.id.get())),
        Column::new("code", "Code", |category| Cell::plain(category.code.get())),
        Column::with_icon("name", "Name", named),
        Column::new("parent", "In", parent),
        Column::new("created_at", "Created", |category| Cell::moment(category.created_at)),
        Column::new("updated_at", "Changed", |category| Cell::moment(category.updated_at)),
    ],
    sorts: &["id", "code", "name", "created_at", "updated_at"],
    filters: &[Filter::id::<CategoryId>("parent_id", "Right below these categories.")],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/categories`.
    CategoryParams of CATEGORIES
}

/// List categories as a table
#[utoipa::path(tag = "Catalog", params(CategoryParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/categories")]
async fn list_categories_table(
    staff: SignedInStaff,
    service: Service<CategoryService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    answer(CATEGORIES.render(&service.page(&staff, CATEGORIES.listing(asked, 15)?).await?))
}

/// Table of `GET /api/tables/categories/{id}`.
const CHILDREN: Table<Category> = Table { id: 32, filters: &[], ..CATEGORIES };

list_params! {
    /// Query parameters of `GET /api/tables/categories/{id}`.
    ChildParams of CHILDREN
}

/// List the direct children of a category as a table
#[utoipa::path(tag = "Catalog", params(ChildParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/categories/{id}")]
async fn list_subcategories_table(
    staff: SignedInStaff,
    service: Service<CategoryService>,
    id: Path<PathId>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    let listing = CHILDREN.listing(asked, 15)?;
    answer(CHILDREN.render(&service.children(&staff, id.parse()?, listing).await?))
}

/// Table of `GET /api/tables/applications/{id}/categories`.
const APPLICATION_CATEGORIES: Table<Category> = Table {
    id: 33,
    resource: "categories",
    version: None,
    columns: CATEGORIES.columns,
    sorts: &["position", "id", "name"],
    filters: &[],
    search: CATEGORIES.search,
    period: None,
    order: Sort::ascending("position"),
};

list_params! {
    /// Query parameters of `GET /api/tables/applications/{id}/categories`.
    ShownCategoryParams of APPLICATION_CATEGORIES
}

/// List an application's categories as a table
///
/// Ordered as in the application.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(ShownCategoryParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/applications/{id}/categories")]
async fn list_application_categories_table(
    staff: SignedInStaff,
    service: Service<AssortmentService<Category>>,
    id: Path<PathId>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    let listing = APPLICATION_CATEGORIES.listing(asked, 15)?;
    answer(APPLICATION_CATEGORIES.render(&service.page(&staff, id.parse()?, listing).await?))
}

/// Table of `GET /api/tables/applications/{id}/brands`.
const APPLICATION_BRANDS: Table<Brand> = Table {
    id: 34,
    resource: "brands",
    version: None,
    columns: &[
        Column::new("id", "No.", |brand| Cell::plain(brand.id.get())),
        Column::with_icon("name", "Name", |brand| Cell::Linked {
            value: brand.name.as_str().into(),
            icon: brand.photo.as_ref().map(ToString::to_string),
            link: Some(format!("/api/brands/{}", brand.id)),
        }),
        Column::new("created_at", "Created", |brand| Cell::moment(brand.created_at)),
        Column::new("updated_at", "Changed", |brand| Cell::moment(brand.updated_at)),
    ],
    sorts: &["priority", "id", "name"],
    filters: &[],
    search: Some("Part of the name, in any case."),
    period: None,
    order: Sort::descending("priority"),
};

list_params! {
    /// Query parameters of `GET /api/tables/applications/{id}/brands`.
    ShownBrandParams of APPLICATION_BRANDS
}

/// List an application's brands as a table
///
/// Ordered as in the application.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(ShownBrandParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/applications/{id}/brands")]
async fn list_application_brands_table(
    staff: SignedInStaff,
    service: Service<AssortmentService<Brand>>,
    id: Path<PathId>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    let listing = APPLICATION_BRANDS.listing(asked, 15)?;
    answer(APPLICATION_BRANDS.render(&service.page(&staff, id.parse()?, listing).await?))
}
