//! Tags of a project.

use actix_web::get;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use kontor_catalog::model::Tag;
use kontor_catalog::{TagError, TagService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::wire::PhotoRecord;
use crate::http::{ApiError, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_tags);
}

impl From<TagError> for ApiError {
    fn from(error: TagError) -> Self {
        match error {
            TagError::Denied(denied) => denied.into(),
            TagError::UnknownProject => Self::not_found(),
            TagError::NameTaken => Self::invalid("name", "is the name of another tag"),
            TagError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct StaffTagRecord {
    id: i64,
    name: String,
    photo: Option<PhotoRecord>,
    created_at: DateTime<Utc>,
}

impl From<Tag> for StaffTagRecord {
    fn from(tag: Tag) -> Self {
        Self {
            id: tag.id.get(),
            name: tag.details.name.into(),
            photo: tag.details.photo.as_ref().map(Into::into),
            created_at: tag.created_at,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StaffTagList {
    tags: Vec<StaffTagRecord>,
    tags_count: usize,
}

/// Every tag of the project.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = StaffTagList)))]
#[get("/api/tags")]
async fn list_tags(staff: SignedInStaff, service: Data<TagService>) -> Result<Json<StaffTagList>, ApiError> {
    let tags: Vec<StaffTagRecord> = service.list(&staff).await?.into_iter().map(Into::into).collect();
    Ok(Json(StaffTagList { tags_count: tags.len(), tags }))
}
