//! Content pages.

use std::cmp::Reverse;

use async_trait::async_trait;
use chrono::DateTime;
use kontor_kernel::{
    DeletableRepository, Edit, ListedRepository, Listing, Name, Page, PageId, PageRequest, PageTypeId, ProjectId,
    ProjectScoped, RecordRepository, Stamp, StoreError,
};

use super::{Guard, InMemoryContent, State, free_slug, list_of};
use crate::model::{
    self, PageChange, PageContent, PageDraft, PageFilter, PageOrder, PageTag, PageType, Slug, TagNames,
};
use crate::ports::PageReader;
use crate::{PageError, PageRefusal};

/// Types of content pages in a new installation.
#[expect(clippy::expect_used, reason = "the numbers and names are valid")]
fn page_types() -> Vec<PageType> {
    let named = |(id, name): (i64, &str)| PageType {
        id: PageTypeId::new(id).expect("a number from 1"),
        name: Name::parse(name).expect("a valid name"),
        photo: None,
        created_at: DateTime::UNIX_EPOCH,
    };
    [(1, "Page"), (2, "Article"), (3, "News"), (4, "Document")].map(named).into()
}

/// Returns the type with its name.
fn typed(id: Option<PageTypeId>) -> Result<Option<(PageTypeId, Name)>, PageRefusal> {
    let Some(id) = id else { return Ok(None) };
    let found = page_types().into_iter().find(|page_type| page_type.id == id);
    Ok(Some((id, found.ok_or(PageRefusal::UnknownType)?.name)))
}

impl State {
    /// Content pages of the project, oldest first.
    fn pages_of(&self, project: ProjectId) -> impl Iterator<Item = &model::Page> {
        self.pages.values().filter(move |(owner, _)| self.owns(*owner, project)).map(|(_, page)| page)
    }

    /// Content pages that customers of the project see, oldest first.
    fn shown(&self, project: ProjectId) -> impl Iterator<Item = &model::Page> {
        self.pages_of(project).filter(move |page| page.content.is_active || !self.guards.has(Guard::Active))
    }

    fn own_page(&self, stamp: Stamp, id: PageId) -> Result<model::Page, PageError> {
        let found = self.pages.get(&id).filter(|(owner, _)| self.owns(*owner, stamp.project_id));
        found.map(|(_, page)| page.clone()).ok_or(PageError::NotFound)
    }

    fn has_page(&self, project: ProjectId, but: Option<PageId>, slug: &Slug) -> bool {
        self.pages_of(project).any(|page| Some(page.id) != but && page.content.slug == *slug)
    }

    /// Returns these tags, creating new ones.
    fn tagged(&mut self, stamp: Stamp, names: &TagNames) -> Vec<PageTag> {
        let mut tags = Vec::new();
        for name in names.names() {
            let mut known = self.tags.values().filter(|(owner, _)| *owner == stamp.project_id);
            let known = known.find(|(_, tag)| tag.name.key() == name.key()).map(|(_, tag)| tag.clone());
            tags.push(known.unwrap_or_else(|| {
                let new = PageTag { id: self.ids.id(), name: name.clone(), created_at: stamp.at };
                self.tags.insert(new.id, (stamp.project_id, new.clone()));
                new
            }));
        }
        tags
    }

    /// Stores a content page. A fallback page replaces the previous one.
    fn store_page(&mut self, stamp: Stamp, page: &model::Page) -> Result<(), PageError> {
        if self.guards.has(Guard::Unique) && self.has_page(stamp.project_id, Some(page.id), &page.content.slug) {
            return Err(PageRefusal::SlugTaken.into());
        }
        if page.content.is_fallback && self.guards.has(Guard::Fallback) {
            for (owner, other) in self.pages.values_mut() {
                if *owner == stamp.project_id && other.content.is_fallback && other.id != page.id {
                    other.content.is_fallback = false;
                    other.version += 1;
                    other.updated_at = stamp.at;
                }
            }
        }
        self.pages.insert(page.id, (stamp.project_id, page.clone()));
        Ok(())
    }

    fn insert_page(&mut self, stamp: Stamp, draft: PageDraft) -> Result<model::Page, PageError> {
        let is_taken = |slug: &Slug| self.has_page(stamp.project_id, None, slug);
        let slug = draft.slug.unwrap_or_else(|| free_slug(&Slug::of(&draft.title, "page"), is_taken));
        let page = model::Page {
            id: self.ids.id(),
            content: PageContent {
                slug,
                title: draft.title,
                description: draft.description,
                preview: draft.preview,
                html: draft.html,
                is_active: draft.is_active,
                is_fallback: draft.is_fallback,
            },
            page_type: typed(draft.page_type_id)?,
            tags: self.tagged(stamp, &draft.tags),
            author: None,
            views_count: 0,
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        self.store_page(stamp, &page)?;
        Ok(page)
    }

    fn update_page(&mut self, stamp: Stamp, id: PageId, change: PageChange) -> Result<model::Page, PageError> {
        let before = self.own_page(stamp, id)?;
        let old = before.content;
        let after = model::Page {
            content: PageContent {
                slug: change.slug.or(old.slug),
                title: change.title.or(old.title),
                description: change.description.or(old.description),
                preview: change.preview.or(old.preview),
                html: change.html.or(old.html),
                is_active: change.is_active.or(old.is_active),
                is_fallback: change.is_fallback.or(old.is_fallback),
            },
            page_type: match change.page_type_id {
                Edit::Keep => before.page_type,
                Edit::Set(page_type) => typed(page_type)?,
            },
            tags: match change.tags {
                Edit::Keep => before.tags,
                Edit::Set(names) => self.tagged(stamp, &names),
            },
            version: before.version + 1,
            updated_at: stamp.at,
            id: before.id,
            author: before.author,
            views_count: before.views_count,
            created_at: before.created_at,
        };
        self.store_page(stamp, &after)?;
        Ok(after)
    }
}

#[async_trait]
impl RecordRepository<model::Page> for InMemoryContent {
    async fn list(&self, project: ProjectId) -> Result<Vec<model::Page>, StoreError> {
        Ok(self.state.with(|state| state.pages_of(project).cloned().collect()))
    }

    async fn find(&self, id: PageId) -> Result<Option<ProjectScoped<model::Page>>, StoreError> {
        Ok(self.state.with(|state| state.pages.get(&id).map(|(owner, page)| ProjectScoped::new(*owner, page.clone()))))
    }

    async fn insert(&self, stamp: Stamp, draft: PageDraft) -> Result<model::Page, PageError> {
        self.state.with(|state| state.insert_page(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: PageId, change: PageChange) -> Result<model::Page, PageError> {
        self.state.with(|state| state.update_page(stamp, id, change))
    }
}

#[async_trait]
impl DeletableRepository<model::Page> for InMemoryContent {
    async fn delete(&self, stamp: Stamp, id: PageId) -> Result<(), PageError> {
        self.state.with(|state| {
            state.own_page(stamp, id)?;
            state.pages.remove(&id);
            Ok(())
        })
    }
}

#[async_trait]
impl ListedRepository<model::Page> for InMemoryContent {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<model::Page>, StoreError> {
        list_of(self.state.with(|state| state.pages_of(project).cloned().collect()), &listing)
    }
}

#[async_trait]
impl PageReader for InMemoryContent {
    async fn list(
        &self,
        project: ProjectId,
        filter: PageFilter,
        order: PageOrder,
        page: PageRequest,
    ) -> Result<Page<model::Page>, StoreError> {
        let query = filter.query.as_ref().map(|text| text.line().to_lowercase());
        let matches = |page: &&model::Page| {
            let of_type = filter.page_type_id.is_none_or(|id| page.page_type.as_ref().is_some_and(|own| own.0 == id));
            let is_found = |query: &String| {
                page.content.readable().iter().any(|text| text.to_lowercase().contains(query.as_str()))
            };
            of_type && query.as_ref().is_none_or(is_found)
        };
        let mut found: Vec<model::Page> =
            self.state.with(|state| state.shown(project).filter(matches).cloned().collect());
        match order {
            PageOrder::DateAsc => found.sort_by_key(|page| (page.created_at, page.id)),
            PageOrder::DateDesc => found.sort_by_key(|page| Reverse((page.created_at, page.id))),
            PageOrder::PopularityAsc => found.sort_by_key(|page| (page.views_count, page.id)),
            PageOrder::PopularityDesc => found.sort_by_key(|page| Reverse((page.views_count, page.id))),
        }
        Ok(Page::of(found, page))
    }

    async fn find(&self, project: ProjectId, slug: Option<Slug>) -> Result<Option<model::Page>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.shown(project).find(|page| slug.as_ref() == Some(&page.content.slug));
            own.or_else(|| state.shown(project).find(|page| page.content.is_fallback)).cloned()
        }))
    }

    async fn types(&self) -> Result<Vec<PageType>, StoreError> {
        Ok(page_types())
    }

    async fn tags(&self, project: ProjectId) -> Result<Vec<PageTag>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.tags.values().filter(|(owner, _)| state.owns(*owner, project));
            let mut tags: Vec<PageTag> = own.map(|(_, tag)| tag.clone()).collect();
            tags.sort_by_key(|tag| (tag.name.key(), tag.id));
            tags
        }))
    }

    async fn add_views(&self, views: Vec<(PageId, u64)>) -> Result<(), StoreError> {
        self.state.with(|state| {
            for (id, count) in views {
                if let Some((_, page)) = state.pages.get_mut(&id) {
                    page.views_count = page.views_count.saturating_add(count);
                }
            }
        });
        Ok(())
    }
}
