//! Records of content pages as shown to staff.

use chrono::{DateTime, Utc};
use kontor_content::model::{Page, PageTag};
use kontor_kernel::SafeHtml;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{list, one};
use kontor_web::page_record::PageTagRecord;
use kontor_web::wire::{NamedRecord, PhotoRecord};

#[derive(Serialize, ToSchema)]
pub(super) struct PageRecord {
    id: i64,
    slug: String,
    title: String,
    description: Option<String>,
    preview: Option<PhotoRecord>,
    /// HTML as written by staff, not sanitized.
    content: Option<String>,
    page_type: Option<NamedRecord>,
    tags: Vec<PageTagRecord>,
    author: Option<NamedRecord>,
    views_count: u64,
    is_active: bool,
    is_fallback: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Page> for PageRecord {
    fn from(page: Page) -> Self {
        let content = page.content;
        Self {
            id: page.id.get(),
            slug: content.slug.into(),
            title: content.title.into(),
            description: content.description.map(Into::into),
            preview: content.preview.map(Into::into),
            content: content.html.map(Into::into),
            page_type: page.page_type.map(|(id, name)| NamedRecord::new(id.get(), name)),
            tags: page.tags.into_iter().map(Into::into).collect(),
            author: page.author.map(|(id, name)| NamedRecord::new(id.get(), name)),
            views_count: page.views_count,
            is_active: content.is_active,
            is_fallback: content.is_fallback,
            created_at: page.created_at,
            updated_at: page.updated_at,
        }
    }
}

one!(/// Content page.
    pub(super) PageResponse { page: PageRecord });

#[derive(Serialize, ToSchema)]
pub(super) struct DatedTagRecord {
    #[serde(flatten)]
    tag: PageTagRecord,
    created_at: DateTime<Utc>,
}

impl From<PageTag> for DatedTagRecord {
    fn from(tag: PageTag) -> Self {
        Self { created_at: tag.created_at, tag: tag.into() }
    }
}

list!(/// Tags of content pages.
    pub(super) PageTagList { page_tags: [DatedTagRecord], page_tags_count });

/// HTML of a content page as customers see it.
#[derive(Serialize, ToSchema)]
pub(super) struct PagePreview {
    /// Sanitized HTML. Empty if nothing is left.
    content: String,
}

impl From<Option<SafeHtml>> for PagePreview {
    fn from(html: Option<SafeHtml>) -> Self {
        Self { content: html.map(Into::into).unwrap_or_default() }
    }
}
