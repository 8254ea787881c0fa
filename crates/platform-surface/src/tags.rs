//! Tags of a project.

use actix_web::get;
use chrono::{DateTime, Utc};
use kontor_catalog::TagService;
use kontor_catalog::model::Tag;
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::envelope::list;
use kontor_web::wire::PhotoRecord;

handlers! {
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
