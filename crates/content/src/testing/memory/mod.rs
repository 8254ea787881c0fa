//! Content in memory, for examples and for tests of use cases.

mod files;
mod pages;
mod parts;
mod slides;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::Bytes;
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    ApplicationId, BlockId, FileId, Listing, MenuItemId, Page, PageId, PageTagId, ProjectId, SlideId, StoreError,
};

use crate::model::{self, Block, FileKey, MenuItem, PageTag, PictureWidth, Slide, Slug};
use files::Record;

/// Storage of the content of any number of projects, in memory.
///
/// It implements [`FileRepository`](crate::ports::FileRepository), [`FileStore`](crate::ports::FileStore),
/// [`PageReader`](crate::ports::PageReader), the repositories of content pages, menu items, blocks and slides,
/// [`PartOrder`](crate::ports::PartOrder) of menu items and slides, and [`PartReader`](crate::ports::PartReader), and
/// fulfills their [contract](crate::testing::contract). Clones share their data.
///
/// Limits: it keeps no histories, and knows no orders, employees and addresses of applications. Every content has the
/// same checksum. Every block type exists, and content pages have the four types of a new installation. Lists for staff
/// have no filters and are ordered by identifier.
#[derive(Clone, Default)]
pub struct InMemoryContent {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// A file is completed once.
    Completion,
    /// A file whose content is swept is not completed.
    Swept,
    /// An orphaned file has one lease at a time.
    Lease,
    /// Records belong to one project, parts to one application.
    Owner,
    /// Codes and slugs are unique.
    Unique,
    /// A tree has no cycles.
    Tree,
    /// A record with children stays.
    Children,
    /// A move changes the positions of both neighbours.
    Neighbour,
    /// A project has one fallback page.
    Fallback,
    /// Customers see active pages.
    Active,
    /// An application has a limited number of slides.
    Limit,
}

#[derive(Default)]
struct State {
    ids: Sequence,
    applications: BTreeMap<ApplicationId, ProjectId>,
    files: BTreeMap<FileId, Record>,
    contents: BTreeMap<(ProjectId, String), Content>,
    pages: BTreeMap<PageId, (ProjectId, model::Page)>,
    tags: BTreeMap<PageTagId, (ProjectId, PageTag)>,
    menu_items: BTreeMap<MenuItemId, (ProjectId, MenuItem)>,
    blocks: BTreeMap<BlockId, (ProjectId, Block)>,
    slides: BTreeMap<SlideId, (ProjectId, Slide)>,
    guards: Guards<Guard>,
}

/// Content of a file, with its smaller copies.
#[derive(Default)]
struct Content {
    whole: Option<Bytes>,
    resized: Vec<(PictureWidth, Bytes)>,
}

impl InMemoryContent {
    /// Adds an application to a project. A project needs no other record.
    pub fn add_application(&self, project: ProjectId) -> ApplicationId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.applications.insert(id, project);
            id
        })
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

impl State {
    /// Returns `true` if a record of the first project may be used by the second one.
    fn owns(&self, owner: ProjectId, project: ProjectId) -> bool {
        owner == project || !self.guards.has(Guard::Owner)
    }
}

/// Content of this key.
fn content_key(project: ProjectId, key: &FileKey) -> (ProjectId, String) {
    (project, key.as_str().to_owned())
}

/// Returns the slug, with a number if it is taken.
fn free_slug(wanted: &Slug, is_taken: impl Fn(&Slug) -> bool) -> Slug {
    let numbered = (2..=u32::MAX).map(|number| wanted.numbered(number));
    let mut all = std::iter::once(wanted.clone()).chain(numbered);
    all.find(|slug| !is_taken(slug)).unwrap_or_else(|| wanted.clone())
}

/// Returns one page of records that are ordered by identifier.
fn list_of<T>(mut all: Vec<T>, listing: &Listing) -> Result<Page<T>, StoreError> {
    if listing.sort.descending {
        all.reverse();
    }
    listing.page_of(all)
}
