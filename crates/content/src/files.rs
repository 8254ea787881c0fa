use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use chrono::TimeDelta;
use futures_util::TryStreamExt;
use kontor_kernel::{
    Clock, FileId, Listing, Name, OrderId, Page, Permission, ProjectScoped, Random, Resource, Staff, Stamp, StoreError,
};

use crate::model::{
    ContentRefusal, Dimensions, FileKey, FileType, ListedFile, MediaType, NewFile, PictureWidth, StoredFile,
};
use crate::ports::{
    ContentInspector, ContentStream, FileRepository, FileStore, OrphanedFile, PictureResizer, ResizedPicture,
    StorageFailed,
};
use crate::{FileError, FileRefusal};

/// Time limit for storing a content. A record that waits longer is swept.
const UPLOAD_TIME_LIMIT: TimeDelta = TimeDelta::hours(1);

/// Checked content, ready to be stored.
#[derive(Debug)]
pub struct Upload {
    content: File,
    file_type: FileType,
    name: Name,
    media: MediaType,
    dimensions: Option<Dimensions>,
}

/// File found by its key.
#[derive(Debug)]
pub enum FoundFile {
    /// Public file.
    Public(StoredFile),
    /// File for staff of its project only; [`FileService::show`] opens it.
    Private(ProjectScoped<StoredFile>),
}

/// Use cases of files.
pub struct FileService {
    /// Storage of the records.
    pub files: Arc<dyn FileRepository>,
    /// Storage of the contents.
    pub contents: Arc<dyn FileStore>,
    /// Inspects contents.
    pub inspector: Arc<dyn ContentInspector>,
    /// Makes smaller copies of pictures.
    pub resizer: Arc<dyn PictureResizer>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random keys.
    pub random: Arc<dyn Random>,
}

impl FileService {
    /// Returns an error if the employee may not upload. Callers check it before they receive a file.
    pub fn may_upload(&self, staff: &Staff) -> Result<(), FileError> {
        Ok(staff.require(Permission::create(Resource::Files))?)
    }

    /// Examines an upload and refuses content that the type of file does not accept. Metadata is removed from public
    /// pictures. Works on the calling thread; the server calls it where blocking is allowed.
    pub fn inspect(&self, file_type: FileType, name: Option<&str>, mut content: File) -> Result<Upload, FileError> {
        let seen = self.inspector.inspect(&content).map_err(FileRefusal::Storage)?;
        let (media, mut dimensions) = file_type.admit(seen).map_err(FileRefusal::Content)?;
        if file_type.is_public() && dimensions.is_some() {
            let published = self.inspector.publish(&content, media).map_err(FileRefusal::Storage)?;
            let published = published.ok_or(FileRefusal::Content(ContentRefusal::Damaged(media)))?;
            let size = Dimensions::new(published.width, published.height);
            dimensions = Some(size.map_err(|refused| FileRefusal::Content(refused.into()))?);
            content = published.content;
        }
        let name = media.label(name).map_err(|error| FileRefusal::Content(error.into()))?;
        Ok(Upload { content, file_type, name, media, dimensions })
    }

    /// Stores a file of the employee's project.
    pub async fn store(&self, staff: &Staff, upload: Upload) -> Result<StoredFile, FileError> {
        self.may_upload(staff)?;
        self.keep(staff, upload, None).await
    }

    /// Returns an error if the employee may not add files to an order, or if the order belongs to another project.
    /// Callers check it before they receive a file.
    pub async fn may_add_to_order(&self, staff: &Staff, order: OrderId) -> Result<(), FileError> {
        staff.require(Permission::edit(Resource::Orders))?;
        staff.require_own(self.files.find_order(order).await?).map(drop)
    }

    /// Stores a file of an order of the employee's project.
    pub async fn add_to_order(&self, staff: &Staff, order: OrderId, upload: Upload) -> Result<StoredFile, FileError> {
        self.may_add_to_order(staff, order).await?;
        self.keep(staff, upload, Some(order)).await
    }

    /// Returns one page of the files of an order, with the fields of [`FileRepository::of_order`].
    pub async fn of_order(
        &self,
        staff: &Staff,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ListedFile>, FileError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.require_own(self.files.find_order(order).await?)?;
        Ok(self.files.of_order(staff.project_id, order, listing).await?)
    }

    async fn keep(&self, staff: &Staff, upload: Upload, order_id: Option<OrderId>) -> Result<StoredFile, FileError> {
        let Upload { content, file_type, name, media, dimensions } = upload;
        let now = self.clock.now();
        let key = FileKey::generate(&*self.random);
        let file = NewFile {
            project_id: staff.project_id,
            file_type,
            key: key.clone(),
            name,
            media,
            dimensions,
            order_id,
            creator_id: staff.user_id,
            created_at: now,
            expires_at: now + UPLOAD_TIME_LIMIT,
        };
        let id = self.files.insert_pending(file).await?;
        match self.contents.put(staff.project_id, key.clone(), content).await {
            Ok(written) => {
                if let Some(stored) = self.files.complete(Stamp::of(staff, self.clock.now()), id, written).await? {
                    return Ok(stored);
                }
                // The record was swept, perhaps before the content was stored: then no sweep finds the content.
                if self.files.find_by_key(key.clone()).await?.is_none() {
                    self.contents.remove(staff.project_id, key).await.map_err(FileRefusal::Storage)?;
                }
                Err(FileRefusal::TooSlow.into())
            }
            Err(failed) => {
                // If this fails too, the record is swept after its time limit.
                self.files.give_up(id, self.clock.now()).await?;
                Err(FileRefusal::Storage(failed).into())
            }
        }
    }

    /// Returns one page of the files of the employee's project, with the fields of [`FileRepository::page`].
    pub async fn page(&self, staff: &Staff, listing: Listing) -> Result<Page<ListedFile>, FileError> {
        staff.require(Permission::view(Resource::Files))?;
        Ok(self.files.page(staff.project_id, listing).await?)
    }

    /// Returns one file of the employee's project.
    pub async fn read(&self, staff: &Staff, id: FileId) -> Result<StoredFile, FileError> {
        staff.require(Permission::view(Resource::Files))?;
        staff.require_own(self.files.find(id).await?)
    }

    /// Deletes a file of the employee's project. Its content is swept later.
    pub async fn delete(&self, staff: &Staff, id: FileId) -> Result<(), FileError> {
        staff.require(Permission::edit(Resource::Files))?;
        staff.require_own(self.files.find(id).await?)?;
        self.files.delete(Stamp::of(staff, self.clock.now()), id).await
    }

    /// Returns the file with this key.
    pub async fn find(&self, key: FileKey) -> Result<FoundFile, FileError> {
        let file = self.files.find_by_key(key).await?.ok_or(FileError::NotFound)?;
        let is_public = file.file_type.is_public();
        Ok(if is_public {
            FoundFile::Public(file)
        } else {
            FoundFile::Private(ProjectScoped::new(file.project_id, file))
        })
    }

    /// Returns a file that is not public, if the employee may see it.
    pub fn show(&self, staff: &Staff, file: ProjectScoped<StoredFile>) -> Result<StoredFile, FileError> {
        staff.require(Permission::view(Resource::Files))?;
        Ok(file.open(staff)?)
    }

    /// Returns a part of the content of a file.
    pub async fn content(&self, file: &StoredFile, part: Range<u64>) -> Result<ContentStream, FileError> {
        let pieces = self.contents.get(file.project_id, file.key.clone(), part).await.map_err(FileRefusal::Storage)?;
        pieces.ok_or(FileError::NotFound)
    }

    /// Returns the stored smaller copy of a picture, if there is one.
    pub async fn resized(&self, file: &StoredFile, width: PictureWidth) -> Result<Option<ResizedPicture>, FileError> {
        if !file.media.is_image() {
            return Err(FileRefusal::NotAPicture.into());
        }
        let found = self.contents.get_resized(file.project_id, file.key.clone(), width).await;
        Ok(found.map_err(FileRefusal::Storage)?)
    }

    /// Returns the whole content of a file, for resizing.
    pub async fn whole(&self, file: &StoredFile) -> Result<Bytes, FileError> {
        let pieces = self.content(file, 0..file.content.size).await?;
        let whole: Vec<Bytes> = pieces.try_collect().await.map_err(FileRefusal::Storage)?;
        Ok(whole.concat().into())
    }

    /// Creates a smaller copy of a picture. Works on the calling thread; the server calls it where blocking is allowed.
    pub fn resize(&self, content: &[u8], file: &StoredFile, width: PictureWidth) -> Result<Bytes, FileError> {
        let made = self.resizer.resize(content, file.media, width);
        Ok(made.ok_or(FileRefusal::Undecodable)?)
    }

    /// Stores a smaller copy of a picture. If the file was deleted in the meantime, no copy is kept: its content may
    /// already be removed, and then no sweep would remove the copy.
    pub async fn keep_resized(&self, file: &StoredFile, width: PictureWidth, picture: Bytes) -> Result<(), FileError> {
        let (project, key) = (file.project_id, &file.key);
        self.contents.put_resized(project, key.clone(), width, picture).await.map_err(FileRefusal::Storage)?;
        if self.files.find_by_key(key.clone()).await?.is_some() {
            return Ok(());
        }
        self.contents.remove(project, key.clone()).await.map_err(FileRefusal::Storage)?;
        Err(FileError::NotFound)
    }
}

/// Time until the removal of a content is retried.
const RETRY_AFTER: TimeDelta = TimeDelta::minutes(5);
/// Maximum number of contents per round.
const BATCH: u32 = 50;

/// Result of one round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepRound {
    /// Number of contents removed together with their records.
    pub removed: usize,
    /// Contents that could not be removed, with the error; they are retried.
    pub failed: Vec<(OrphanedFile, StorageFailed)>,
}

/// Removes the contents of deleted files and of failed uploads. Any number of processes may sweep.
pub struct FileSweeper {
    /// Storage of the records.
    pub files: Arc<dyn FileRepository>,
    /// Storage of the contents.
    pub contents: Arc<dyn FileStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl FileSweeper {
    /// Runs one round. The record is removed after the content, so that a crash in between leaves a record that is
    /// found again. `owner` must be unique to this process.
    pub async fn sweep(&self, owner: &str) -> Result<SweepRound, StoreError> {
        let now = self.clock.now();
        let mut round = SweepRound::default();
        for leftover in self.files.take_orphaned_files(owner, now, now + RETRY_AFTER, BATCH).await? {
            match self.contents.remove(leftover.project_id, leftover.key.clone()).await {
                Ok(()) => {
                    self.files.forget(leftover.id, now).await?;
                    round.removed += 1;
                }
                Err(failed) => round.failed.push((leftover, failed)),
            }
        }
        Ok(round)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use chrono::DateTime;
    use kontor_kernel::listing::Sort;
    use kontor_kernel::testing::{CountingRandom, staff_with};
    use kontor_kernel::{FileId, FixedClock, PageRequest, ProjectId};

    use super::*;
    use crate::model::{FileKey, Inspection, Sha256, StoredContent};
    use crate::ports::{MockContentInspector, MockFileRepository, MockFileStore, MockPictureResizer, StorageFailed};

    fn service(files: MockFileRepository, contents: MockFileStore, seen: Inspection) -> FileService {
        let mut inspector = MockContentInspector::new();
        inspector.expect_inspect().returning(move |_| Ok(seen));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let random = Arc::new(CountingRandom::new());
        FileService {
            files: Arc::new(files),
            contents: Arc::new(contents),
            inspector: Arc::new(inspector),
            resizer: Arc::new(MockPictureResizer::new()),
            clock,
            random,
        }
    }

    const PDF: Inspection = Inspection::Document(MediaType::Pdf);

    fn seller() -> Staff {
        staff_with([Permission::create(Resource::Files)])
    }

    fn written() -> StoredContent {
        StoredContent { size: 3, sha256: Sha256::parse(&"0".repeat(64)).unwrap() }
    }

    fn stored(file: &NewFile) -> StoredFile {
        StoredFile {
            id: FileId::new(7).unwrap(),
            project_id: file.project_id,
            file_type: file.file_type,
            key: file.key.clone(),
            name: file.name.clone(),
            media: file.media,
            dimensions: file.dimensions,
            content: written(),
            order_id: file.order_id,
            creator_id: file.creator_id,
            created_at: file.created_at,
        }
    }

    fn content() -> File {
        tempfile::tempfile().unwrap()
    }

    #[tokio::test]
    async fn files_are_listed_for_those_who_may_see_them() {
        let mut files = MockFileRepository::new();
        files
            .expect_page()
            .times(1)
            .returning(|_, listing| Ok(Page { items: Vec::new(), total: 0, request: listing.page }));
        let service = service(files, MockFileStore::new(), PDF);
        let listing = || Listing::unfiltered(Sort::descending("id"), PageRequest::new(1, 15, 100).unwrap());
        let viewer = staff_with([Permission::view(Resource::Files)]);
        assert_eq!(service.page(&viewer, listing()).await.unwrap().total, 0);
        assert!(matches!(service.page(&seller(), listing()).await, Err(FileError::Denied(_))));
    }

    #[tokio::test]
    async fn the_record_is_stored_before_the_content_and_shown_after_it() {
        let steps = Arc::new(Mutex::new(Vec::new()));
        let note = |step: &'static str| {
            let steps = steps.clone();
            move || steps.lock().unwrap().push(step)
        };
        let (announced, put, completed) = (note("announced"), note("put"), note("completed"));
        let shown = Arc::new(Mutex::new(None));
        let mut files = MockFileRepository::new();
        let kept = shown.clone();
        files.expect_insert_pending().times(1).returning(move |file| {
            announced();
            *kept.lock().unwrap() = Some(stored(&file));
            Ok(FileId::new(7).unwrap())
        });
        files.expect_complete().times(1).returning(move |_, _, content| {
            completed();
            assert_eq!(content, written());
            Ok(shown.lock().unwrap().clone())
        });
        let mut contents = MockFileStore::new();
        contents.expect_put().times(1).returning(move |_, _, _| {
            put();
            Ok(written())
        });
        let service = service(files, contents, PDF);
        let upload = service.inspect(FileType::OrderFile, Some("a/b"), content()).unwrap();
        let file = service.store(&seller(), upload).await.unwrap();
        assert_eq!((file.name.as_str(), file.media), ("b.pdf", MediaType::Pdf));
        assert_eq!(*steps.lock().unwrap(), ["announced", "put", "completed"]);
    }

    #[tokio::test]
    async fn a_content_that_cannot_be_stored_is_given_up() {
        let mut files = MockFileRepository::new();
        files.expect_insert_pending().returning(|_| Ok(FileId::new(7).unwrap()));
        files.expect_give_up().times(1).returning(|_, _| Ok(()));
        let mut contents = MockFileStore::new();
        contents.expect_put().returning(|_, _, _| Err(StorageFailed("full".to_owned())));
        let service = service(files, contents, PDF);
        let upload = service.inspect(FileType::OrderFile, None, content()).unwrap();
        assert!(matches!(service.store(&seller(), upload).await, Err(FileError::Refused(FileRefusal::Storage(_)))));
    }

    #[tokio::test]
    async fn the_content_of_a_record_that_was_swept_meanwhile_is_removed() {
        for (ready, removed) in [(None, 1), (Some(foreign_file(MediaType::Pdf)), 0)] {
            let mut files = MockFileRepository::new();
            files.expect_insert_pending().returning(|_| Ok(FileId::new(7).unwrap()));
            files.expect_complete().returning(|_, _, _| Ok(None));
            files.expect_find_by_key().times(1).returning(move |_| Ok(ready.clone()));
            let mut contents = MockFileStore::new();
            contents.expect_put().returning(|_, _, _| Ok(written()));
            contents.expect_remove().withf(|project, _| project.get() == 1).times(removed).returning(|_, _| Ok(()));
            let service = service(files, contents, PDF);
            let upload = service.inspect(FileType::OrderFile, None, content()).unwrap();
            assert!(matches!(service.store(&seller(), upload).await, Err(FileError::Refused(FileRefusal::TooSlow))));
        }
    }

    #[tokio::test]
    async fn a_refusal_leaves_nothing_in_storage() {
        // No port may be called.
        let service = service(MockFileRepository::new(), MockFileStore::new(), Inspection::Unknown);
        let refused = service.inspect(FileType::Avatar, None, content()).unwrap_err();
        assert!(matches!(refused, FileError::Refused(FileRefusal::Content(ContentRefusal::TypeNotAccepted(_)))));
        let viewer = staff_with([Permission::view(Resource::Files)]);
        assert!(matches!(service.may_upload(&viewer), Err(FileError::Denied(_))));
        let id = FileId::new(7).unwrap();
        assert!(matches!(service.delete(&viewer, id).await, Err(FileError::Denied(_))));
        assert!(matches!(service.read(&seller(), id).await, Err(FileError::Denied(_))));
    }

    #[tokio::test]
    async fn files_of_an_order_are_of_its_project() {
        let order = OrderId::new(5).unwrap();
        let mut files = MockFileRepository::new();
        files.expect_find_order().returning(|id| Ok(Some(ProjectScoped::new(ProjectId::new(2).unwrap(), id))));
        let service = service(files, MockFileStore::new(), PDF);
        let admin = staff_with(Permission::all());
        assert!(matches!(service.may_add_to_order(&admin, order).await, Err(FileError::Denied(_))));
        let upload = service.inspect(FileType::OrderFile, None, content()).unwrap();
        assert!(matches!(service.add_to_order(&admin, order, upload).await, Err(FileError::Denied(_))));
        let page = PageRequest::new(1, 15, 100).unwrap();
        let all = Listing::unfiltered(Sort::ascending("id"), page);
        assert!(matches!(service.of_order(&admin, order, all).await, Err(FileError::Denied(_))));
        let viewer = staff_with([Permission::view(Resource::Orders)]);
        assert!(matches!(service.may_add_to_order(&viewer, order).await, Err(FileError::Denied(_))));
    }

    fn foreign_file(media: MediaType) -> StoredFile {
        stored(&NewFile {
            project_id: ProjectId::new(2).unwrap(),
            file_type: FileType::OrderFile,
            key: FileKey::generate(&CountingRandom::new()),
            name: media.label(None).unwrap(),
            media,
            dimensions: None,
            order_id: None,
            creator_id: seller().user_id,
            created_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
        })
    }

    #[tokio::test]
    async fn only_pictures_have_smaller_copies() {
        let service = service(MockFileRepository::new(), MockFileStore::new(), PDF);
        let refused = service.resized(&foreign_file(MediaType::Pdf), PictureWidth::ALL[0]).await;
        assert!(matches!(refused, Err(FileError::Refused(FileRefusal::NotAPicture))));
    }

    #[tokio::test]
    async fn a_file_that_was_deleted_meanwhile_keeps_no_smaller_copy() {
        let mut files = MockFileRepository::new();
        files.expect_find_by_key().times(1).returning(|_| Ok(None));
        let mut contents = MockFileStore::new();
        contents.expect_put_resized().times(1).returning(|_, _, _, _| Ok(()));
        contents.expect_remove().times(1).returning(|_, _| Ok(()));
        let service = service(files, contents, PDF);
        let kept = service.keep_resized(&foreign_file(MediaType::Png), PictureWidth::ALL[0], Bytes::new()).await;
        assert!(matches!(kept, Err(FileError::NotFound)));
    }

    #[tokio::test]
    async fn staff_of_another_project_see_nothing() {
        let foreign = foreign_file(MediaType::Pdf);
        let mut files = MockFileRepository::new();
        let found = foreign.clone();
        files.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(found.project_id, found.clone()))));
        let found = foreign.clone();
        files.expect_find_by_key().returning(move |_| Ok(Some(found.clone())));
        let service = service(files, MockFileStore::new(), PDF);
        let admin = staff_with(Permission::all());
        assert!(matches!(service.read(&admin, foreign.id).await, Err(FileError::Denied(_))));
        assert!(matches!(service.delete(&admin, foreign.id).await, Err(FileError::Denied(_))));
        let FoundFile::Private(closed) = service.find(foreign.key).await.unwrap() else { panic!("it is public") };
        assert!(matches!(service.show(&admin, closed), Err(FileError::Denied(_))));
    }

    #[tokio::test]
    async fn a_record_is_deleted_only_after_its_content() {
        let leftover = |id| OrphanedFile {
            id: FileId::new(id).unwrap(),
            project_id: ProjectId::new(id).unwrap(),
            key: FileKey::generate(&CountingRandom::new()),
        };
        let mut files = MockFileRepository::new();
        files.expect_take_orphaned_files().returning(move |_, _, _, _| Ok(vec![leftover(1), leftover(2)]));
        files.expect_forget().times(1).withf(|id, _| id.get() == 2).returning(|_, _| Ok(()));
        let mut contents = MockFileStore::new();
        contents.expect_remove().returning(|project, _| match project.get() {
            1 => Err(StorageFailed("gone fishing".to_owned())),
            _ => Ok(()),
        });
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let sweeper = FileSweeper { files: Arc::new(files), contents: Arc::new(contents), clock };
        let round = sweeper.sweep("me").await.unwrap();
        assert_eq!((round.removed, round.failed.len()), (1, 1));
    }
}
