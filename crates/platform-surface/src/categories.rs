//! Categories of a project.

use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::CategoryService;
use kontor_catalog::model::{Category, CategoryChange, CategoryDraft};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::HistoryList;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, ZeroIsNull, change_body, into_domain};

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
