//! Content page records that both surfaces share.

use kontor_content::model::PageTag;
use serde::Serialize;
use utoipa::ToSchema;

/// Tag of a content page.
#[derive(Serialize, ToSchema)]
pub struct PageTagRecord {
    id: i64,
    name: String,
}

impl From<PageTag> for PageTagRecord {
    fn from(tag: PageTag) -> Self {
        Self { id: tag.id.get(), name: tag.name.into() }
    }
}
