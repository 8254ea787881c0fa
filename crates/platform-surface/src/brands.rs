//! Brands and tags of a project.

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::model::{Brand, BrandChange, BrandDraft, Tag};
use kontor_catalog::{BrandService, TagService};
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, PhotoRecord, change_body, into_domain};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;

handlers! {
    BrandService, "Dictionaries";

    /// List brands
    ///
    /// Returns every brand of the project.
    list "/api/brands" as list_brands -> BrandList;

    /// Create a brand
    create "/api/brands" as create_brand(NewBrand) -> BrandResponse;

    /// Get a brand
    read "/api/brands/{id}" as show_brand -> BrandResponse;

    /// Update a brand
    ///
    /// Fields that are not sent keep their values.
    update "/api/brands/{id}" as update_brand(ChangedBrand) -> BrandResponse;
}

one!(pub(super) BrandResponse { brand: BrandRecord });
list!(pub(super) BrandList { brands: [BrandRecord], brands_count });

/// Brand.
#[derive(Serialize, ToSchema)]
pub(super) struct BrandRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Brand> for BrandRecord {
    fn from(brand: Brand) -> Self {
        Self {
            id: brand.id.get(),
            name: brand.name.into(),
            photo: brand.photo.map(Into::into),
            created_at: brand.created_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBrand {
    /// Unique in the project, ignoring case.
    name: wire::Name,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
}

into_domain!(NewBrand => BrandDraft { name, photo });

change_body! {
    ChangedBrand => BrandChange {
        /// Unique in the project, ignoring case.
        name: wire::Name,
        photo: wire::PhotoUrl | null,
    }
}

handlers! {
    fn tag_routes;
    TagService, "Catalog";

    /// List tags
    ///
    /// Returns every tag of the project.
    list "/api/tags" as list_tags -> StaffTagList;
}

list!(StaffTagList { tags: [StaffTagRecord], tags_count });

#[derive(Serialize, ToSchema)]
struct StaffTagRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Tag> for StaffTagRecord {
    fn from(tag: Tag) -> Self {
        Self { id: tag.id.get(), name: tag.name.into(), photo: tag.photo.map(Into::into), created_at: tag.created_at }
    }
}
