//! What both surfaces tell of pages.

use kontor_content::model::PageTag;
use serde::Serialize;
use utoipa::ToSchema;

/// A tag of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageTagRecord {
    id: i64,
    name: String,
}

impl From<PageTag> for PageTagRecord {
    fn from(tag: PageTag) -> Self {
        Self { id: tag.id.get(), name: tag.name.into() }
    }
}
