//! Content: files and how nothing of them is left behind, pages, and the blocks and menus of applications.
//!
//! **Owns** the records of files, which contents each type of file takes, how a file is named, and the order in which
//! record and content come and go; pages with their tags and views; the trees of blocks and menu items.
//!
//! **Invariants**
//! - What a file is, its content says; the name it came with is a label and never a path.
//! - A record is shown only after its whole content is stored: a record that waits stands there first, then the content
//!   is stored, then the record is ready. Whatever dies in between is swept.
//! - A deleted file is gone for everybody with the commit; its content follows and is tried for until it is gone.
//! - The key of a file cannot be guessed. Only avatars are shown to whoever has it.
//! - A smaller copy of a picture is shown to those who may see the picture, and goes with it.
//!
//! - No block and no menu item lies below itself; no tree is deeper than [`model::Tree::DEEPEST`].
//! - What staff wrote is kept as they wrote it; customers see what a cleaner leaves of it.
//!
//! **Ports**: [`ports::FileRepository`], [`ports::FileStore`], [`ports::ContentInspector`], [`ports::PictureResizer`],
//! [`ports::PageReader`], [`ports::PartRepository`], [`ports::MenuOrder`], [`ports::PartReader`], and [`kontor_kernel::TabledRepository`] of pages.
//!
//! What a type of file takes is decided without any storage:
//!
//! ```
//! use kontor_content::model::{FileType, MediaType, Sighting};
//!
//! let photo = Sighting::Image { media: MediaType::Jpeg, width: 800, height: 600 };
//! assert!(FileType::Avatar.admit(photo).is_ok());
//! let contract = FileType::Avatar.admit(Sighting::Document(MediaType::Pdf));
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

use kontor_kernel::{RecordHistory, RecordService, TabledRepository};

pub use error::{ContentError, FileError, FileRefusal, PageError, PageRefusal, PartError, PartRefusal};
pub use files::{FileService, FoundFile, Upload};
pub use pages::{PageShelf, ShownPage};
pub use parts::{MenuOrderService, PartService, PartShelf, ShownBlock};
pub use sweeper::{FileSweeper, SweepRound};

/// What staff do with pages.
pub type PageService = RecordService<model::Page, dyn TabledRepository<model::Page>>;

/// What happened to pages.
pub type PageHistory = RecordHistory<model::Page, dyn TabledRepository<model::Page>>;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-content.md")]
struct ReuseGuide;
