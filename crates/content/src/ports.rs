//! What files need from the outside.

use std::fs::File;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kontor_kernel::{
    AppScope, ApplicationId, FileId, Listing, MenuItemId, OfProject, OrderId, Page, PageId, PageRequest, ProjectId,
    Shift, Stamp, StoreError,
};

use crate::model::{
    self, ApplicationPart, Block, FileKey, MediaType, Menu, MenuItem, NewFile, Node, OrderFile, PageFilter, PageOrder,
    PageTag, PageType, PartCode, PictureWidth, Sighting, Slug, StoredFile, Written,
};
use crate::{FileError, PartError};

/// The place where contents are kept cannot be reached, or fails. The same call may succeed later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("contents of files cannot be stored or read now: {0}")]
pub struct StorageFailed(pub String);

/// A content, piece by piece.
pub type Pieces = BoxStream<'static, Result<Bytes, StorageFailed>>;

/// A record whose content is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The record.
    pub id: FileId,
    /// The project it belonged to.
    pub project_id: ProjectId,
    /// Where its content is, or would be.
    pub key: FileKey,
}

/// The records of files.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FileRepository: Send + Sync {
    /// Stores a record that waits for its content; nobody sees it.
    async fn announce(&self, file: NewFile) -> Result<FileId, StoreError>;

    /// Shows a record of the project that waits, now that its content is stored. `None` when it was given up meanwhile.
    async fn complete(&self, stamp: Stamp, id: FileId, content: Written) -> Result<Option<StoredFile>, StoreError>;

    /// Gives a record up that waits: whatever came of its content is swept from this moment on.
    async fn give_up(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Whether there is an order with this number, of any project.
    async fn find_order(&self, id: OrderId) -> Result<Option<OfProject<OrderId>>, StoreError>;

    /// One page of the files of an order of the project. Fields: `id`, `name`, `size`, `created_at`.
    async fn of_order(
        &self,
        project: ProjectId,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<OrderFile>, StoreError>;

    /// A file of any project.
    async fn find(&self, id: FileId) -> Result<Option<OfProject<StoredFile>>, StoreError>;

    /// The file with this key, of any project.
    async fn find_by_key(&self, key: FileKey) -> Result<Option<StoredFile>, StoreError>;

    /// Deletes a file of the project for everybody; its content is swept from this moment on.
    async fn delete(&self, stamp: Stamp, id: FileId) -> Result<(), FileError>;

    /// Leases some records whose content is to go by now: deleted ones, and those that waited too long, which nobody can
    /// complete from then on. They are taken again at `again_at`, unless they are forgotten before. What cannot be read is
    /// put aside and stops nobody.
    async fn take_leftovers(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        again_at: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<Leftover>, StoreError>;

    /// Forgets a record whose content is gone.
    async fn forget(&self, id: FileId) -> Result<(), StoreError>;
}

/// Where contents are kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FileStore: Send + Sync {
    /// Stores a whole content, read from its start piece by piece, or fails; what is left of a failure disappears with
    /// [`FileStore::remove`]. What was stored outlives the machine's next power cut.
    async fn put(&self, project: ProjectId, key: FileKey, content: File) -> Result<Written, StorageFailed>;

    /// A part of a content. `None` when nothing is stored there.
    async fn get(&self, project: ProjectId, key: FileKey, part: Range<u64>) -> Result<Option<Pieces>, StorageFailed>;

    /// Stores a smaller copy of a picture beside its content, in the place of an earlier one.
    async fn put_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
        picture: Bytes,
    ) -> Result<(), StorageFailed>;

    /// A smaller copy of a picture. `None` when there is none, or one that is not whole.
    async fn get_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
    ) -> Result<Option<ResizedPicture>, StorageFailed>;

    /// Removes a content, its smaller copies and what is left of storing them. That there is none is no failure.
    async fn remove(&self, project: ProjectId, key: FileKey) -> Result<(), StorageFailed>;
}

/// A stored smaller copy of a picture, as WebP.
pub struct ResizedPicture {
    /// Its size in bytes.
    pub size: u64,
    /// The whole of it.
    pub pieces: Pieces,
}

impl From<Bytes> for ResizedPicture {
    fn from(picture: Bytes) -> Self {
        let size = u64::try_from(picture.len()).unwrap_or(u64::MAX);
        Self { size, pieces: stream::once(std::future::ready(Ok(picture))).boxed() }
    }
}

/// Makes smaller copies of pictures. Works on the calling thread, which may block, in bounded memory.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait PictureResizer: Send + Sync {
    /// Returns the picture as WebP, at most this wide, never enlarged, upright and without metadata; of an animation its
    /// first frame. `None` if it cannot be decoded.
    fn resize(&self, picture: &[u8], media: MediaType, width: PictureWidth) -> Option<Bytes>;
}

/// Finds out what a content is, and whether it is whole. Works on the calling thread, which may block, in bounded memory.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ContentInspector: Send + Sync {
    /// Looks at a content, from its start.
    fn inspect(&self, content: &File) -> Result<Sighting, StorageFailed>;

    /// The picture as everybody may see it: upright, without place, camera, previews and texts. `None` when it cannot be
    /// made.
    fn publish(&self, content: &File, media: MediaType) -> Result<Option<Published>, StorageFailed>;
}

/// A picture that everybody may see.
#[derive(Debug)]
pub struct Published {
    /// The picture, read from its start.
    pub content: File,
    /// In pixels, as people see it.
    pub width: u64,
    /// In pixels, as people see it.
    pub height: u64,
}

/// What customers see of pages, and how often.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PageReader: Send + Sync {
    /// One page of the active pages of the project.
    async fn list(
        &self,
        project: ProjectId,
        filter: PageFilter,
        order: PageOrder,
        page: PageRequest,
    ) -> Result<Page<model::Page>, StoreError>;

    /// The active page with this slug, else the one that is shown in its place, if the project has one.
    async fn find(&self, project: ProjectId, slug: Option<Slug>) -> Result<Option<model::Page>, StoreError>;

    /// Every type of pages.
    async fn types(&self) -> Result<Vec<PageType>, StoreError>;

    /// Every tag of the project's pages, by name.
    async fn tags(&self, project: ProjectId) -> Result<Vec<PageTag>, StoreError>;

    /// Adds to the views of these pages; a page that is gone is passed over.
    async fn add_views(&self, views: Vec<(PageId, u64)>) -> Result<(), StoreError>;
}

/// Where the parts of applications are kept. Each change is one commit with its line of the history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PartRepository<P: ApplicationPart>: Send + Sync {
    /// The project of an application.
    async fn owner(&self, application: ApplicationId) -> Result<Option<OfProject<()>>, StoreError>;

    /// One page of the parts of an application of the project.
    async fn page(
        &self,
        project: ProjectId,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<P>, StoreError>;

    /// A part of any application.
    async fn find(&self, id: P::Id) -> Result<Option<OfProject<P>>, StoreError>;

    /// Stores a new part, as [`crate::model::Tree::admit`] allows.
    async fn insert(&self, stamp: Stamp, application: ApplicationId, draft: P::Draft) -> Result<P, PartError>;

    /// Changes a part of the application, as [`crate::model::Tree::accept`] allows.
    async fn update(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, PartError>;

    /// Deletes a part of the application that none lie below.
    async fn delete(&self, stamp: Stamp, application: ApplicationId, id: P::Id) -> Result<(), PartError>;
}

/// Moves menu items among those beside them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait MenuOrder: Send + Sync {
    /// Has an item of the application change places with its neighbour, if it has one.
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: MenuItemId,
        shift: Shift,
    ) -> Result<MenuItem, PartError>;
}

/// By what customers ask for a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKey {
    /// Its code.
    Code(PartCode),
    /// Its identifier.
    Identifier(Slug),
}

/// What customers see of the parts of an application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PartReader: Send + Sync {
    /// A block of the application with those below it, each level by code.
    async fn block(&self, app: AppScope, key: BlockKey) -> Result<Option<Node<Block>>, StoreError>;

    /// A menu item of the application with those below it, each level in its order.
    async fn menu(&self, app: AppScope, slug: Slug) -> Result<Option<Menu>, StoreError>;
}
