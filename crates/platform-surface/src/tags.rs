//! Tags of a project.

use actix_web::get;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use kontor_catalog::TagService;
use kontor_catalog::model::Tag;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::SignedInStaff;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::wire::PhotoRecord;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_tags);
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
        Self { id: tag.id.get(), name: tag.name.into(), photo: tag.photo.map(Into::into), created_at: tag.created_at }
    }
}

list!(StaffTagList { tags: [StaffTagRecord], tags_count });

/// List tags
///
/// Returns every tag of the project.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = StaffTagList)))]
#[get("/api/tags")]
async fn list_tags(staff: SignedInStaff, service: Data<TagService>) -> Answer<StaffTagList> {
    answer(service.list(&staff).await?)
}
