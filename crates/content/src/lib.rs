//! Files: what may be uploaded, who sees it, and how nothing is left behind.
//!
//! **Owns** the records of files, which contents each type of file takes, how a file is named, and the order in which
//! record and content come and go.
//!
//! **Invariants**
//! - What a file is, its content says; the name it came with is a label and never a path.
//! - A record is shown only after its whole content is stored: a record that waits stands there first, then the content
//!   is stored, then the record is ready. Whatever dies in between is swept.
//! - A deleted file is gone for everybody with the commit; its content follows and is tried for until it is gone.
//! - The key of a file cannot be guessed. Only avatars are shown to whoever has it.
//!
//! **Ports**: [`ports::FileRepository`], [`ports::FileStore`], [`ports::ContentInspector`].
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
pub mod ports;
mod sweeper;

pub use error::{FileError, FileRefusal};
pub use files::{FileService, FoundFile, Upload};
pub use sweeper::{FileSweeper, SweepRound};

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-content.md")]
struct ReuseGuide;
