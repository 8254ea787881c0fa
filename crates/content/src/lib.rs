//! Content: files, content pages, and the blocks and menus of applications.
//!
//! **Owns** the records of files, the contents each type of file accepts, the names of files, and the order in which
//! records and contents are stored and removed; content pages with their tags and views; the trees of blocks and menu
//! items.
//!
//! **Invariants**
//! - The content determines the media type of a file. The uploaded name is a label and never a path.
//! - A record is visible only after its whole content is stored. First a waiting record is stored, then the content,
//!   then the record is completed. Whatever fails in between is swept.
//! - A deleted file is inaccessible from the commit on. Removal of its content is retried until it succeeds.
//! - The key of a file cannot be guessed. Only avatars are accessible by key alone.
//! - A smaller copy of a picture is visible to those who may see the picture, and is removed with it.
//! - No block or menu item is its own descendant. No tree is deeper than [`model::Tree::DEEPEST`].
//! - HTML of staff is stored unchanged. Customers see the cleaned form.
//!
//! **Ports**: [`ports::FileRepository`], [`ports::FileStore`], [`ports::ContentInspector`], [`ports::PictureResizer`],
//! [`ports::PageReader`], [`ports::PartRepository`], [`ports::MenuOrder`], [`ports::PartReader`], and
//! [`kontor_kernel::ListedDeletableRepository`] of pages.
//!
//! A type of file accepts or refuses a content without any storage:
//!
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
mod sweeper;

use kontor_kernel::{ListedDeletableRepository, RecordHistory, RecordService};

pub use error::{ContentError, FileError, FileRefusal, PageError, PageRefusal, PartError, PartRefusal};
pub use files::{FileService, FoundFile, Upload};
pub use pages::{PageViewer, ShownPage};
pub use parts::{MenuOrderService, PartService, PartViewer, ShownBlock};
pub use sweeper::{FileSweeper, SweepRound};

/// Use cases of content pages for staff.
pub type PageService = RecordService<model::Page, dyn ListedDeletableRepository<model::Page>>;

/// History of content pages.
pub type PageHistory = RecordHistory<model::Page, dyn ListedDeletableRepository<model::Page>>;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-content.md")]
struct ReuseGuide;
