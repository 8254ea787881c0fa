//! Records of files, and their contents.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::StreamExt as _;
use futures_util::stream;
use kontor_kernel::{FileId, Listing, OrderId, Page, ProjectId, ProjectScoped, Stamp, StoreError};

use super::{Guard, InMemoryContent, State, content_key, list_of};
use crate::FileError;
use crate::model::{FileKey, ListedFile, NewFile, PictureWidth, Sha256, StoredContent, StoredFile};
use crate::ports::{ContentStream, FileRepository, FileStore, OrphanedFile, ResizedPicture, StorageFailed};

/// Record of a file with the fields that only the storage reads.
pub(super) struct Record {
    file: NewFile,
    /// Content of a file that is complete and not deleted.
    content: Option<StoredContent>,
    is_waiting: bool,
    sweep_at: Option<DateTime<Utc>>,
    leased_until: Option<DateTime<Utc>>,
}

impl Record {
    fn ready(&self, id: FileId) -> Option<StoredFile> {
        let file = self.file.clone();
        Some(StoredFile {
            id,
            project_id: file.project_id,
            file_type: file.file_type,
            key: file.key,
            name: file.name,
            media: file.media,
            dimensions: file.dimensions,
            content: self.content.clone()?,
            order_id: file.order_id,
            creator_id: file.creator_id,
            created_at: file.created_at,
        })
    }

    fn delete(&mut self, at: DateTime<Utc>) {
        self.is_waiting = false;
        self.content = None;
        self.sweep_at = Some(at);
    }
}

impl State {
    fn complete(&mut self, project: ProjectId, id: FileId, content: StoredContent) -> Option<StoredFile> {
        let (again, foreign) = (!self.guards.has(Guard::Completion), !self.guards.has(Guard::Owner));
        let record = self.files.get_mut(&id)?;
        let may_complete = (record.is_waiting || again) && (record.file.project_id == project || foreign);
        if !may_complete {
            return None;
        }
        record.is_waiting = false;
        record.content = Some(content);
        record.sweep_at = None;
        record.ready(id)
    }

    /// Files of the project that are complete, oldest first.
    fn ready_files(&self, project: ProjectId) -> Vec<StoredFile> {
        let own = self.files.iter().filter(|(_, record)| self.owns(record.file.project_id, project));
        own.filter_map(|(id, record)| record.ready(*id)).collect()
    }

    fn take_orphaned(&mut self, now: DateTime<Utc>, again_at: DateTime<Utc>, most: usize) -> Vec<OrphanedFile> {
        let (exclusive, swept) = (self.guards.has(Guard::Lease), self.guards.has(Guard::Swept));
        let is_due = |record: &Record| {
            let free = !exclusive || record.leased_until.is_none_or(|until| until <= now);
            free && record.sweep_at.is_some_and(|at| at <= now)
        };
        let due = self.files.iter_mut().filter(|(_, record)| is_due(record)).take(most);
        let leased = due.map(|(id, record)| {
            record.is_waiting = record.is_waiting && !swept;
            record.leased_until = Some(again_at);
            OrphanedFile { id: *id, project_id: record.file.project_id, key: record.file.key.clone() }
        });
        leased.collect()
    }
}

fn listed(files: Vec<StoredFile>) -> Vec<ListedFile> {
    files.into_iter().map(|file| ListedFile { file, creator_name: None }).collect()
}

#[async_trait]
impl FileRepository for InMemoryContent {
    async fn insert_pending(&self, file: NewFile) -> Result<FileId, StoreError> {
        Ok(self.state.with(|state| {
            let (id, sweep_at) = (state.ids.id(), Some(file.expires_at));
            let record = Record { file, content: None, is_waiting: true, sweep_at, leased_until: None };
            state.files.insert(id, record);
            id
        }))
    }

    async fn complete(
        &self,
        stamp: Stamp,
        id: FileId,
        content: StoredContent,
    ) -> Result<Option<StoredFile>, StoreError> {
        Ok(self.state.with(|state| state.complete(stamp.project_id, id, content)))
    }

    async fn give_up(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| {
            if let Some(record) = state.files.get_mut(&id).filter(|record| record.is_waiting) {
                record.delete(at);
            }
        });
        Ok(())
    }

    async fn find_order(&self, _: OrderId) -> Result<Option<ProjectScoped<OrderId>>, StoreError> {
        Ok(None)
    }

    async fn of_order(
        &self,
        project: ProjectId,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ListedFile>, StoreError> {
        let mut own = self.state.with(|state| state.ready_files(project));
        own.retain(|file| file.order_id == Some(order));
        list_of(listed(own), &listing)
    }

    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<ListedFile>, StoreError> {
        list_of(listed(self.state.with(|state| state.ready_files(project))), &listing)
    }

    async fn find(&self, id: FileId) -> Result<Option<ProjectScoped<StoredFile>>, StoreError> {
        let found = self.state.with(|state| state.files.get(&id).and_then(|record| record.ready(id)));
        Ok(found.map(|file| ProjectScoped::new(file.project_id, file)))
    }

    async fn find_by_key(&self, key: FileKey) -> Result<Option<StoredFile>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.files.iter().find(|(_, record)| record.file.key == key);
            found.and_then(|(id, record)| record.ready(*id))
        }))
    }

    async fn delete(&self, stamp: Stamp, id: FileId) -> Result<(), FileError> {
        self.state.with(|state| {
            let foreign = !state.guards.has(Guard::Owner);
            let found = state.files.get_mut(&id).filter(|record| record.content.is_some());
            let own = found.filter(|record| record.file.project_id == stamp.project_id || foreign);
            own.map(|record| record.delete(stamp.at)).ok_or(FileError::NotFound)
        })
    }

    async fn take_orphaned_files(
        &self,
        _: &str,
        now: DateTime<Utc>,
        again_at: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<OrphanedFile>, StoreError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(self.state.with(|state| state.take_orphaned(now, again_at, most)))
    }

    async fn forget(&self, id: FileId, _: DateTime<Utc>) -> Result<(), StoreError> {
        let stays = |record: &Record| record.is_waiting || record.content.is_some();
        self.state.with(|state| state.files.retain(|known, record| *known != id || stays(record)));
        Ok(())
    }
}

/// Reads a content from its start.
fn read_whole(mut content: File) -> std::io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    content.rewind()?;
    content.read_to_end(&mut whole)?;
    Ok(whole)
}

#[async_trait]
impl FileStore for InMemoryContent {
    async fn put(&self, project: ProjectId, key: FileKey, content: File) -> Result<StoredContent, StorageFailed> {
        let whole = read_whole(content).map_err(|error| StorageFailed(error.to_string()))?;
        let size = u64::try_from(whole.len()).unwrap_or(u64::MAX);
        let sha256 = Sha256::parse(&"0".repeat(64)).map_err(|error| StorageFailed(error.to_string()))?;
        self.state
            .with(|state| state.contents.entry(content_key(project, &key)).or_default().whole = Some(whole.into()));
        Ok(StoredContent { size, sha256 })
    }

    async fn get(
        &self,
        project: ProjectId,
        key: FileKey,
        part: Range<u64>,
    ) -> Result<Option<ContentStream>, StorageFailed> {
        let whole = self.state.with(|state| state.contents.get(&content_key(project, &key))?.whole.clone());
        Ok(whole.map(|whole| {
            let end = usize::try_from(part.end).unwrap_or(usize::MAX).min(whole.len());
            let start = usize::try_from(part.start).unwrap_or(usize::MAX).min(end);
            stream::once(std::future::ready(Ok(whole.slice(start..end)))).boxed()
        }))
    }

    async fn put_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
        picture: Bytes,
    ) -> Result<(), StorageFailed> {
        self.state.with(|state| {
            let copies = &mut state.contents.entry(content_key(project, &key)).or_default().resized;
            copies.retain(|(known, _)| *known != width);
            copies.push((width, picture));
        });
        Ok(())
    }

    async fn get_resized(
        &self,
        project: ProjectId,
        key: FileKey,
        width: PictureWidth,
    ) -> Result<Option<ResizedPicture>, StorageFailed> {
        let found = self.state.with(|state| {
            let copies = &state.contents.get(&content_key(project, &key))?.resized;
            copies.iter().find(|(known, _)| *known == width).map(|(_, picture)| picture.clone())
        });
        Ok(found.map(ResizedPicture::from))
    }

    async fn remove(&self, project: ProjectId, key: FileKey) -> Result<(), StorageFailed> {
        self.state.with(|state| state.contents.remove(&content_key(project, &key)));
        Ok(())
    }
}
