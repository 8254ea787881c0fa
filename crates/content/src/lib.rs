//! Content: files, content pages, and the blocks and menus of applications.
//!
//! **Owns** the records of files, the contents each type of file accepts, the names of files, and the order in which
//! records and contents are stored and removed; content pages with their tags and views; the trees of blocks and menu
//! items; the slides of applications.
//!
//! **Invariants**
//! - The content determines the media type of a file. The uploaded name is a label and never a path.
//! - A record is visible only after its whole content is stored. First a waiting record is stored, then the content,
//!   then the record is completed. Whatever fails in between is swept.
//! - A deleted file is inaccessible from the commit on. Removal of its content is retried until it succeeds.
//! - The key of a file cannot be guessed. Only avatars are accessible by key alone.
//! - A smaller copy of a picture is visible to those who may see the picture, and is removed with it.
//! - No block or menu item is its own descendant. No tree is deeper than [`model::Tree::MAX_DEPTH`].
//! - HTML of staff is stored unchanged. Customers see the cleaned form.
//!
//! **Refusals**: [`FileError`], [`PageError`] and [`PartError`] are each a [`kontor_kernel::RecordError`] of the
//! business refusals: [`FileRefusal`], [`PageRefusal`] and [`PartRefusal`]. Reads for customers fail with
//! [`ContentError`].
//!
//! **Ports**: [`ports::FileRepository`], [`ports::FileStore`], [`ports::ContentInspector`], [`ports::PictureResizer`],
//! [`ports::PageReader`], [`ports::PartRepository`], [`ports::PartOrder`], [`ports::PartReader`], and
//! [`kontor_kernel::ListedDeletableRepository`] of pages.
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`FileService`] | `FileRepository`, `FileStore`, `ContentInspector`, `PictureResizer` |
//! | [`FileSweeper`] | `FileRepository`, `FileStore` |
//! | [`PageViewer`] | `PageReader`, `RateLimiter` and `HtmlCleaner` of the kernel |
//! | [`PartService`] | `PartRepository`, `Histories` of the kernel |
//! | [`PartOrderService`] | `PartRepository`, `PartOrder` |
//! | [`PartViewer`] | `PartReader`, `HtmlCleaner` of the kernel |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port in [`ports`].
//! - `testing` adds `testing::contract`, the promises of the stores of files and menu items: completion, sweeping, unique
//!   codes, trees and their order, as functions that the tests of an adapter run.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-content = { path = "../kontor/crates/content" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-content = { path = "../kontor/crates/content", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Pages in several languages: a page has one text.
//! - Versions of a content: a file is not overwritten, it is deleted and another one is stored.
//!
//! A type of file accepts or refuses a content without any storage:
//! ```
//! use kontor_content::model::{FileType, MediaType, Inspection};
//!
//! let photo = Inspection::Image { media: MediaType::Jpeg, width: 800, height: 600 };
//! assert!(FileType::Avatar.admit(photo).is_ok());
//! let contract = FileType::Avatar.admit(Inspection::Document(MediaType::Pdf));
//! assert_eq!(contract.unwrap_err().to_string(), "must be a JPEG, PNG, GIF or WebP file");
//! assert_eq!(MediaType::Pdf.label(Some("C:\\work\\..\\Договор.exe"))?.as_str(), "Договор.exe.pdf");
//! # Ok::<(), kontor_kernel::TextError>(())
//! ```
//!
//! An upload stores the record and the content in the order given above:
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::fs::File;
//! use std::io::{Read, Write};
//! use std::sync::{Arc, Mutex};
//!
//! use chrono::DateTime;
//! use kontor_content::model::{FileType, MediaType, Sha256, Inspection, StoredFile, StoredContent};
//! use kontor_content::ports::{
//!     ContentInspector, MockFileRepository, MockFileStore, MockPictureResizer, Published, StorageFailed,
//! };
//! use kontor_content::{FileError, FileRefusal, FileService};
//! use kontor_kernel::testing::{CountingRandom, staff_with};
//! use kontor_kernel::{FileId, FixedClock, Permission, Resource};
//!
//! // 1. An inspector that recognizes a content by its first bytes alone.
//! struct FirstBytes;
//!
//! impl ContentInspector for FirstBytes {
//!     fn inspect(&self, mut content: &File) -> Result<Inspection, StorageFailed> {
//!         let mut start = [0; 5];
//!         let read = content.read(&mut start).map_err(|error| StorageFailed(error.to_string()))?;
//!         Ok(if &start[..read] == b"%PDF-" { Inspection::Document(MediaType::Pdf) } else { Inspection::Unknown })
//!     }
//!
//!     fn publish(&self, _: &File, _: MediaType) -> Result<Option<Published>, StorageFailed> {
//!         Ok(None) // It recognizes no pictures, so it publishes none.
//!     }
//! }
//!
//! // 2. Storage, here mocks that record their calls.
//! let steps = Arc::new(Mutex::new(Vec::new()));
//! let note = |step: &'static str| {
//!     let steps = steps.clone();
//!     move || steps.lock().unwrap().push(step)
//! };
//! let (announced, put, completed) = (note("a record that waits"), note("the content"), note("the record is shown"));
//! let written = || StoredContent { size: 9, sha256: Sha256::parse(&"0".repeat(64)).unwrap() };
//! let waiting = Arc::new(Mutex::new(None));
//! let mut files = MockFileRepository::new();
//! let record = waiting.clone();
//! files.expect_insert_pending().returning(move |file| {
//!     announced();
//!     *record.lock().unwrap() = Some(file);
//!     Ok(FileId::new(7).unwrap())
//! });
//! files.expect_complete().returning(move |_, id, content| {
//!     completed();
//!     let file = waiting.lock().unwrap().take();
//!     Ok(file.map(|file| StoredFile {
//!         id,
//!         project_id: file.project_id,
//!         file_type: file.file_type,
//!         key: file.key,
//!         name: file.name,
//!         media: file.media,
//!         dimensions: file.dimensions,
//!         content,
//!         order_id: file.order_id,
//!         creator_id: file.creator_id,
//!         created_at: file.created_at,
//!     }))
//! });
//! let mut contents = MockFileStore::new();
//! contents.expect_put().returning(move |_, _, _| {
//!     put();
//!     Ok(written())
//! });
//!
//! // 3. The use cases. The path of the uploaded name is dropped; the content determines the extension.
//! let service = FileService {
//!     files: Arc::new(files),
//!     contents: Arc::new(contents),
//!     inspector: Arc::new(FirstBytes),
//!     resizer: Arc::new(MockPictureResizer::new()),
//!     clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
//!     random: Arc::new(CountingRandom::new()),
//! };
//! let content = |bytes: &[u8]| -> std::io::Result<File> {
//!     let mut file = tempfile::NamedTempFile::new()?;
//!     file.write_all(bytes)?;
//!     file.reopen()
//! };
//! let clerk = staff_with([Permission::create(Resource::Files)]);
//!
//! let upload = service.inspect(FileType::OrderFile, Some("C:\\orders\\41.exe"), content(b"%PDF-1.7\n")?)?;
//! let file = service.store(&clerk, upload).await?;
//! assert_eq!(file.name.as_str(), "41.exe.pdf");
//! assert_eq!(*steps.lock().unwrap(), ["a record that waits", "the content", "the record is shown"]);
//!
//! let refused = service.inspect(FileType::OrderFile, None, content(b"MZ\x90")?);
//! assert!(matches!(refused, Err(FileError::Refused(FileRefusal::Content(_)))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

mod error;
mod files;
pub mod model;
mod pages;
mod parts;
pub mod ports;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of adapters.

    pub mod contract;
}

use kontor_kernel::{ListedDeletableRepository, RecordHistory, RecordService};

pub use error::{ContentError, FileError, FileRefusal, PageError, PageRefusal, PartError, PartRefusal};
pub use files::{FileService, FileSweeper, FoundFile, SweepRound, Upload};
pub use pages::{PageViewer, ShownPage};
pub use parts::{PartOrderService, PartService, PartViewer, ShownBlock};

/// Use cases of content pages for staff.
pub type PageService = RecordService<model::Page, dyn ListedDeletableRepository<model::Page>>;

/// History of content pages.
pub type PageHistory = RecordHistory<model::Page, dyn ListedDeletableRepository<model::Page>>;
