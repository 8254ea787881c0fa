use std::sync::Arc;

use kontor_kernel::{
    AppScope, HtmlCleaner, Page, PageId, PageRequest, PendingViews, Permission, Prose, RateLimiter, Resource, SafeHtml,
    Staff, StoreError,
};

use crate::model::{self, PageFilter, PageOrder, PageTag, PageType, Slug};
use crate::ports::PageReader;
use crate::{ContentError, PageError};

/// Content page as customers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownPage {
    /// Content page.
    pub page: model::Page,
    /// Cleaned HTML.
    pub html: Option<SafeHtml>,
    /// Part of the views that is not stored yet.
    pub unstored_views: u64,
}

/// Use cases of content pages for customers.
pub struct PageViewer {
    pages: Arc<dyn PageReader>,
    limiter: Arc<dyn RateLimiter>,
    cleaner: Arc<dyn HtmlCleaner>,
    pending: PendingViews<PageId>,
}

impl PageViewer {
    /// Creates the service from its ports.
    pub fn new(pages: Arc<dyn PageReader>, limiter: Arc<dyn RateLimiter>, cleaner: Arc<dyn HtmlCleaner>) -> Self {
        Self { pages, limiter, cleaner, pending: PendingViews::default() }
    }

    /// Returns every type of content pages.
    pub async fn types(&self) -> Result<Vec<PageType>, StoreError> {
        self.pages.types().await
    }

    /// Returns one page of the active content pages of the project.
    pub async fn list(
        &self,
        app: AppScope,
        filter: PageFilter,
        order: PageOrder,
        page: PageRequest,
    ) -> Result<Page<ShownPage>, StoreError> {
        let found = self.pages.list(app.project_id, filter, order, page).await?;
        Ok(found.map(|page| self.shown(page, 0)))
    }

    /// Returns the content page with this slug, or the project's fallback page, and counts a view from this address.
    /// `viewer` is the address in the form in which addresses are counted.
    pub async fn read(&self, app: AppScope, slug: Option<Slug>, viewer: &str) -> Result<ShownPage, ContentError> {
        let mut page = self.pages.find(app.project_id, slug).await?.ok_or(ContentError::NotFound)?;
        let unstored = self.count_view(page.id, viewer).await;
        page.views_count += unstored;
        Ok(self.shown(page, unstored))
    }

    /// Counts a view of a shown page from this address. Returns its views that are not stored yet.
    pub async fn count_view(&self, id: PageId, viewer: &str) -> u64 {
        self.pending.count_view(&*self.limiter, "page-view", id, viewer).await
    }

    /// Stores the views counted since the last time. They stay counted if the storage fails. Returns the number of
    /// viewed pages.
    pub async fn store_views(&self) -> Result<usize, StoreError> {
        self.pending.store(async |views| self.pages.add_views(views).await).await
    }

    fn shown(&self, page: model::Page, unstored_views: u64) -> ShownPage {
        ShownPage { html: page.content.cleaned(&*self.cleaner), page, unstored_views }
    }

    /// Returns HTML as customers would see it in a content page. Stores nothing.
    pub fn preview(&self, staff: &Staff, html: Option<&Prose>) -> Result<Option<SafeHtml>, PageError> {
        staff.require(Permission::view(Resource::Pages))?;
        Ok(html.and_then(|html| SafeHtml::of(html, &*self.cleaner)))
    }

    /// Returns every tag of the content pages of the employee's project.
    pub async fn tags(&self, staff: &Staff) -> Result<Vec<PageTag>, PageError> {
        staff.require(Permission::view(Resource::Pages))?;
        Ok(self.pages.tags(staff.project_id).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockPageReader;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, MockRateLimiter, RecordError};

    struct NoTags;

    impl HtmlCleaner for NoTags {
        fn clean(&self, html: &str) -> String {
            html.replace("<b>", "")
        }
    }

    #[test]
    fn a_preview_is_cleaned_and_needs_no_storage() {
        let viewer =
            PageViewer::new(Arc::new(MockPageReader::new()), Arc::new(MockRateLimiter::new()), Arc::new(NoTags));
        let html = Prose::parse("<b>Tea").unwrap();
        let staff = staff_with([Permission::view(Resource::Pages)]);
        let shown = viewer.preview(&staff, Some(&html)).unwrap();
        assert_eq!(shown.map(String::from).as_deref(), Some("Tea"));
        let nothing = Prose::parse("<b>").unwrap();
        assert_eq!(viewer.preview(&staff, Some(&nothing)).unwrap(), None);
        assert_eq!(viewer.preview(&staff, None).unwrap(), None);
        let refused = viewer.preview(&staff_with([]), Some(&html));
        assert!(matches!(refused, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
