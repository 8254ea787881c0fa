//! Request bodies for content pages.

use deserr::Deserr;
use kontor_content::model::{PageChange, PageDraft, TagNames};
use kontor_kernel::Edit;
use utoipa::ToSchema;

use kontor_web::ApiError;
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch, ZeroIsNull};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewPage {
    title: wire::Name,
    /// Unique in the project. By default, derived from the title.
    #[deserr(default)]
    slug: Option<wire::Slug>,
    #[deserr(default)]
    description: Option<wire::Line500>,
    /// URL of a picture.
    #[deserr(default)]
    preview: Option<wire::PhotoUrl>,
    /// HTML. Customers get it without scripts, styles and frames of other sites.
    #[deserr(default)]
    content: Option<wire::Prose>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PageTypeId>)]
    page_type_id: ZeroIsNull<wire::PageTypeId>,
    /// Names of tags, at most 20. New tags are created.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::Line100>>)]
    tags: Option<Vec<wire::Named<wire::Line100>>>,
    /// `true` if customers can see the page. `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
    /// `true` if customers get this page instead of pages that do not exist. The previous fallback page loses this
    /// role.
    #[deserr(default)]
    is_fallback: Option<wire::Flag>,
}

fn tags(names: Vec<wire::Named<wire::Line100>>) -> Result<TagNames, ApiError> {
    TagNames::new(names.into_iter().map(|name| name.0.0).collect()).map_err(|error| ApiError::invalid("tags", error))
}

impl NewPage {
    /// Returns the draft of the page.
    pub fn draft(self) -> Result<PageDraft, ApiError> {
        Ok(PageDraft {
            slug: self.slug.map(|slug| slug.0),
            title: self.title.0,
            description: self.description.map(|text| text.0),
            preview: self.preview.map(|url| url.0),
            html: self.content.map(|html| html.0),
            page_type_id: self.page_type_id.0.map(|id| id.0),
            tags: tags(self.tags.unwrap_or_default())?,
            is_active: self.is_active.is_none_or(|flag| flag.0),
            is_fallback: self.is_fallback.is_some_and(|flag| flag.0),
        })
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ChangedPage {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    title: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Slug>, nullable = false)]
    slug: NonNullPatch<wire::Slug>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    description: Patch<wire::Line500>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    preview: Patch<wire::PhotoUrl>,
    /// HTML.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Prose>)]
    content: Patch<wire::Prose>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PageTypeId>)]
    page_type_id: Patch<ZeroIsNull<wire::PageTypeId>>,
    /// Replaces all tags of the page.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::Line100>>, nullable = false)]
    tags: NonNullPatch<Vec<wire::Named<wire::Line100>>>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    is_active: NonNullPatch<wire::Flag>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    is_fallback: NonNullPatch<wire::Flag>,
}

impl ChangedPage {
    /// Returns the change of the page.
    pub fn change(self) -> Result<PageChange, ApiError> {
        Ok(PageChange {
            slug: self.slug.into(),
            title: self.title.into(),
            description: self.description.into(),
            preview: self.preview.into(),
            html: self.content.into(),
            page_type_id: self.page_type_id.into(),
            tags: self.tags.0.map(tags).transpose()?.map_or(Edit::Keep, Edit::Set),
            is_active: self.is_active.into(),
            is_fallback: self.is_fallback.into(),
        })
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct PagePreviewInput {
    /// HTML as written by staff.
    #[deserr(default)]
    pub content: Option<wire::Prose>,
}
