//! Contents of files in a local folder or an S3-compatible bucket, and recognition of their types.
//!
//! **Owns** the location of contents and of copies of the database, their transfer in pieces, the recognition of types,
//! and the files of imports and exports.
//!
//! **Invariants**
//! - For contents of any size, only a few pieces are in memory, at most [`PART_BYTES`] bytes each, or a 10,000th of a
//!   content that is larger than 10,000 such pieces.
//! - A content is stored completely or not at all. A stored content has reached the disk, or the bucket has confirmed
//!   it.
//! - Names of contents consist of numbers and keys; client input is never part of a path.
//! - The type of a content is derived from its bytes. The content must be complete: pictures are decoded, archives are
//!   unpacked without storing, and the end of a PDF must lead to its objects. Unpacking is bounded. One picture at a
//!   time is completely in memory, with at most 16 bytes a pixel.
//! - Smaller copies of a picture are stored beside its content and removed with it.
//! - A copy of the database has its checksum in its name, and is verified when it is read.
//!
//! **Implements** [`kontor_content::ports::FileStore`], [`kontor_content::ports::ContentInspector`],
//! [`kontor_content::ports::PictureResizer`] and [`kontor_catalog::bulk::ports::UploadStore`].
//!
//! ```
//! use std::io::Write;
//! use kontor_adapter_files::Inspector;
//! use kontor_content::model::{MediaType, Inspection};
//! use kontor_content::ports::ContentInspector;
//!
//! let mut file = tempfile::tempfile()?;
//! file.write_all(b"%PDF-1.7\n")?;
//! assert_eq!(Inspector.inspect(&file)?, Inspection::Damaged(MediaType::Pdf));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backups;
mod inspect;
mod location;
mod picture;
mod store;
mod uploads;

pub use backups::StoredBackup;
pub use inspect::Inspector;
pub use location::{Bucket, FileStorage, InvalidBucket};
pub use store::PART_BYTES;
pub use uploads::FolderUploads;
