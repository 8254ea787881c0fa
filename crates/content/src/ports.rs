//! What files need from the outside.

use std::fs::File;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;
use kontor_kernel::{FileId, Listing, OfProject, OrderId, Page, ProjectId, Stamp, StoreError};

use crate::FileError;
use crate::model::{FileKey, NewFile, OrderFile, Sighting, StoredFile, Written};

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

    /// Removes a content and what is left of storing it. That there is none is no failure.
    async fn remove(&self, project: ProjectId, key: FileKey) -> Result<(), StorageFailed>;
}

/// Finds out what a content is, and whether it is whole. Works on the calling thread, which may block, in bounded memory.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ContentInspector: Send + Sync {
    /// Looks at a content, from its start.
    fn inspect(&self, content: &File) -> Result<Sighting, StorageFailed>;
}
