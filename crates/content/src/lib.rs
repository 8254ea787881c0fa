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
//! - `testing` adds `testing::contract`, the promises of the stores: completion, sweeping, unique codes, trees and their
//!   order, slides, and content pages, as functions that the tests of an adapter run; and `testing::memory`, a storage in
//!   memory.
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
//! A file is uploaded, read and deleted, and its content is swept, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::fs::File;
//! use std::io::{Read, Write};
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use chrono::DateTime;
//! use kontor_content::model::{FileType, Inspection, MediaType, PictureWidth};
//! use kontor_content::ports::{ContentInspector, PictureResizer, Published, StorageFailed};
//! use kontor_content::testing::memory::InMemoryContent;
//! use kontor_content::{FileError, FileRefusal, FileService, FileSweeper};
//! use kontor_kernel::testing::{CountingRandom, staff_with};
//! use kontor_kernel::{FixedClock, Permission, Resource};
//!
//! // 1. An inspector that recognizes a content by its first bytes alone. It recognizes no pictures.
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
//!         Ok(None)
//!     }
//! }
//!
//! impl PictureResizer for FirstBytes {
//!     fn resize(&self, _: &[u8], _: MediaType, _: PictureWidth) -> Option<Bytes> {
//!         None
//!     }
//! }
//!
//! // 2. The use cases. The path of the uploaded name is dropped; the content determines the extension.
//! let store = Arc::new(InMemoryContent::default());
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let service = FileService {
//!     files: store.clone(),
//!     contents: store.clone(),
//!     inspector: Arc::new(FirstBytes),
//!     resizer: Arc::new(FirstBytes),
//!     clock: clock.clone(),
//!     random: Arc::new(CountingRandom::new()),
//! };
//! let content = |bytes: &[u8]| -> std::io::Result<File> {
//!     let mut file = tempfile::NamedTempFile::new()?;
//!     file.write_all(bytes)?;
//!     file.reopen()
//! };
//! let clerk = staff_with([Permission::edit(Resource::Files), Permission::view(Resource::Files)]);
//!
//! let upload = service.inspect(FileType::OrderFile, Some("C:\\orders\\41.exe"), content(b"%PDF-1.7\n")?)?;
//! let file = service.store(&clerk, upload).await?;
//! assert_eq!(file.name.as_str(), "41.exe.pdf");
//! assert_eq!(service.whole(&file).await?, &b"%PDF-1.7\n"[..]);
//!
//! let refused = service.inspect(FileType::OrderFile, None, content(b"MZ\x90")?);
//! assert!(matches!(refused, Err(FileError::Refused(FileRefusal::Content(_)))));
//!
//! // 3. A deleted file is inaccessible at once. A worker removes its content.
//! service.delete(&clerk, file.id).await?;
//! assert!(matches!(service.read(&clerk, file.id).await, Err(FileError::NotFound)));
//! let sweeper = FileSweeper { files: store.clone(), contents: store.clone(), clock };
//! assert_eq!(sweeper.sweep("worker 1").await?.removed, 1);
//! assert!(service.whole(&file).await.is_err());
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
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

mod error;
mod files;
pub mod model;
mod pages;
mod parts;
pub mod ports;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of use cases and of adapters.

    pub mod contract;
    pub mod memory;
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
