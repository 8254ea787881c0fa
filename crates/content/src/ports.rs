//! Ports of content.

use std::fs::File;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kontor_kernel::{
    AppScope, ApplicationId, FileId, Listing, MoveDirection, OrderId, Page, PageId, PageRequest, ProjectId,
    ProjectScoped, Stamp, StoreError,
};

use crate::model::{
    self, ApplicationPart, Block, FileKey, Inspection, ListedFile, MediaType, Menu, NewFile, Node, PageFilter,
    PageOrder, PageTag, PageType, PartCode, PictureWidth, Slug, StoredContent, StoredFile,
};
use crate::{FileError, PartError};

/// Error: the storage of contents cannot be reached, or fails. The same call may succeed later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file storage is unavailable: {0}")]
pub struct StorageFailed(pub String);

/// Content as a stream of chunks.
pub type ContentStream = BoxStream<'static, Result<Bytes, StorageFailed>>;

/// Record whose content is to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrphanedFile {
    /// Identifier of the record.
    pub id: FileId,
    /// Project of the file.
    pub project_id: ProjectId,
    /// Key of the content, which may not be stored.
    pub key: FileKey,
}

/// Storage of the records of files.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FileRepository: Send + Sync {
    /// Stores a record that waits for its content. It is not visible yet.
    async fn insert_pending(&self, file: NewFile) -> Result<FileId, StoreError>;

    /// Completes a waiting record of the project after its content is stored. Returns `None` if the record was
    /// abandoned in the meantime.
    async fn complete(
        &self,
        stamp: Stamp,
        id: FileId,
        content: StoredContent,
    ) -> Result<Option<StoredFile>, StoreError>;

    /// Abandons a waiting record: any content stored for it can be swept from this time on.
    async fn give_up(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns the order with this identifier, of any project.
    async fn find_order(&self, id: OrderId) -> Result<Option<ProjectScoped<OrderId>>, StoreError>;

    /// Returns one page of the files of an order of the project. Fields: `id`, `name`, `size`, `created_at`.
    async fn of_order(
        &self,
        project: ProjectId,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ListedFile>, StoreError>;

    /// Returns one page of the files of the project, found by a part of the name. Fields: `id`, `size`, `created_at`,
    /// `file_type_id`, `creator_id`, `order_id`.
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<ListedFile>, StoreError>;

    /// Returns a file of any project.
    async fn find(&self, id: FileId) -> Result<Option<ProjectScoped<StoredFile>>, StoreError>;

    /// Returns the file with this key, of any project.
    async fn find_by_key(&self, key: FileKey) -> Result<Option<StoredFile>, StoreError>;

    /// Deletes a file of the project. Its content can be swept from this time on.
    async fn delete(&self, stamp: Stamp, id: FileId) -> Result<(), FileError>;

    /// Leases records whose content is to be removed: deleted ones, and those that waited too long and can no longer be
    /// completed. They are leased again at `again_at` unless they are removed before. Records that cannot be decoded
    /// are set aside and do not block others.
    async fn take_orphaned_files(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        again_at: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<OrphanedFile>, StoreError>;

    /// Removes a record whose content is removed, also as the picture of employees and customers.
    async fn forget(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError>;
}

/// Storage of contents.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FileStore: Send + Sync {
    /// Stores a whole content, read from its start in chunks, or fails. [`FileStore::remove`] removes the remains of a
    /// failure. A stored content survives a power failure of the machine.
    async fn put(&self, project: ProjectId, key: FileKey, content: File) -> Result<StoredContent, StorageFailed>;

    /// Returns a part of a content; `None` if nothing is stored.
    async fn get(
        &self,
        project: ProjectId,
        key: FileKey,
        part: Range<u64>,
    ) -> Result<Option<ContentStream>, StorageFailed>;

    /// Stores a smaller copy of a picture and replaces an earlier one.
    async fn put_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
        picture: Bytes,
    ) -> Result<(), StorageFailed>;

    /// Returns a smaller copy of a picture; `None` if there is none, or only an incomplete one.
    async fn get_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
    ) -> Result<Option<ResizedPicture>, StorageFailed>;

    /// Removes a content, its smaller copies and the remains of failed writes. Idempotent.
    async fn remove(&self, project: ProjectId, key: FileKey) -> Result<(), StorageFailed>;
}

/// Stored smaller copy of a picture, as WebP.
pub struct ResizedPicture {
    /// Size in bytes.
    pub size: u64,
    /// Content as a stream of chunks.
    pub pieces: ContentStream,
}

impl From<Bytes> for ResizedPicture {
    fn from(picture: Bytes) -> Self {
        let size = u64::try_from(picture.len()).unwrap_or(u64::MAX);
        Self { size, pieces: stream::once(std::future::ready(Ok(picture))).boxed() }
    }
}

/// Creates smaller copies of pictures. Works on the calling thread, which may block, in bounded memory.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait PictureResizer: Send + Sync {
    /// Returns the picture as WebP, at most this wide, never enlarged, upright and without metadata. Of an animation it
    /// returns the first frame. `None` if the picture cannot be decoded.
    fn resize(&self, picture: &[u8], media: MediaType, width: PictureWidth) -> Option<Bytes>;
}

/// Detects the media type of a content and checks that it is not damaged. Works on the calling thread, which may block,
/// in bounded memory.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ContentInspector: Send + Sync {
    /// Inspects a content from its start.
    fn inspect(&self, content: &File) -> Result<Inspection, StorageFailed>;

    /// Returns the picture in public form: upright, without location, camera, previews and texts. `None` if it cannot
    /// be created.
    fn publish(&self, content: &File, media: MediaType) -> Result<Option<Published>, StorageFailed>;
}

/// Picture in public form.
#[derive(Debug)]
pub struct Published {
    /// Picture, read from its start.
    pub content: File,
    /// Width in pixels, as displayed.
    pub width: u64,
    /// Height in pixels, as displayed.
    pub height: u64,
}

/// Storage of content pages for customers, and of their view counts.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PageReader: Send + Sync {
    /// Returns one page of the active content pages of the project.
    async fn list(
        &self,
        project: ProjectId,
        filter: PageFilter,
        order: PageOrder,
        page: PageRequest,
    ) -> Result<Page<model::Page>, StoreError>;

    /// Returns the active content page with this slug, or the fallback page of the project, if it has one.
    async fn find(&self, project: ProjectId, slug: Option<Slug>) -> Result<Option<model::Page>, StoreError>;

    /// Returns every type of content pages.
    async fn types(&self) -> Result<Vec<PageType>, StoreError>;

    /// Returns every tag of the project's content pages, by name.
    async fn tags(&self, project: ProjectId) -> Result<Vec<PageTag>, StoreError>;

    /// Adds to the views of these content pages; deleted pages are skipped.
    async fn add_views(&self, views: Vec<(PageId, u64)>) -> Result<(), StoreError>;
}

/// Storage of blocks, menu items and slides. Each change is one commit together with its history entry.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PartRepository<P: ApplicationPart>: Send + Sync {
    /// Returns the project of an application.
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError>;

    /// Returns one page of the records of an application of the project.
    async fn page(
        &self,
        project: ProjectId,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<P>, StoreError>;

    /// Returns a record of any application.
    async fn find(&self, id: P::Id) -> Result<Option<ProjectScoped<P>>, StoreError>;

    /// Stores a new record, behind its siblings if they have an order. The commit checks that the application belongs
    /// to the project and has fewer than [`ApplicationPart::MAX_PER_APPLICATION`] records. A place in a tree is checked
    /// by [`crate::model::Tree::admit`].
    async fn insert(&self, stamp: Stamp, application: ApplicationId, draft: P::Draft) -> Result<P, PartError>;

    /// Changes a record of the application. Its place in a tree is checked by [`crate::model::Tree::accept`]. Refuses a
    /// slide that would end before it begins.
    async fn update(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, PartError>;

    /// Deletes a record of the application. Refuses one with children.
    async fn delete(&self, stamp: Stamp, application: ApplicationId, id: P::Id) -> Result<(), PartError>;
}

/// Storage of the order of menu items and slides.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PartOrder<P: ApplicationPart>: Send + Sync {
    /// Swaps a record of the application with its neighbour, if it has one. Concurrent moves lose no position.
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        shift: MoveDirection,
    ) -> Result<P, PartError>;
}

/// Key by which customers request a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKey {
    /// Code.
    Code(PartCode),
    /// Identifier of the contract.
    Identifier(Slug),
}

/// Reads blocks and menus for customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PartReader: Send + Sync {
    /// Returns a block of the application with its descendants, each level by code.
    async fn block(&self, app: AppScope, key: BlockKey) -> Result<Option<Node<Block>>, StoreError>;

    /// Returns a menu item of the application with its descendants, each level in its order.
    async fn menu(&self, app: AppScope, slug: Slug) -> Result<Option<Menu>, StoreError>;
}
